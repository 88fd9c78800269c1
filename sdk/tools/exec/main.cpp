// SPDX-License-Identifier: Apache-2.0
//
// opennrt-exec, which `opennrt exec` runs: a program with this libnrt. It is no
// client of the library, so that it starts whatever libnrt is in the way.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "exec/choose.h"
#include "json_text.h"

namespace {

using namespace opennrt::tools;
using opennrt::emu::launcher::Verdict;

constexpr int kCannotRun = 126, kNotFound = 127;  // as of a shell

struct Options {
  bool dry_run = false, json = false;
  std::optional<Way> way;
  Words program;
};

void say(const std::string& text) { std::fprintf(stderr, "opennrt exec: %s\n", text.c_str()); }

CommandLine command_line() {
  return {
      {.command = "opennrt exec",
       .usage = "[options] [--] PROGRAM [ARGUMENT ...]",
       .header =
           "Runs a program with this libnrt, in the first way that the loader confirms: "
           "nothing, when it finds this library by itself; library-path (LD_LIBRARY_PATH); "
           "preload (LD_PRELOAD), when an RPATH leads elsewhere; redirect (LD_AUDIT), when it "
           "names another libnrt by a path. What a script or an interpreted program opens "
           "later is not seen before it runs: when it opens a libnrt by its path, say --how "
           "redirect. One line on standard error says the way.",
       .footer = "Exit code: the program's; 126 when it cannot be run with this library, 127 when "
                 "it is not found, 2 for wrong options."},
      {Option("dry-run", "n", "say what would be done and run nothing"),
       Option("json", "j",
              "for programs: with --dry-run, {program, way, variables, reason} on standard "
              "output"),
       Option("how", "",
              "the way to take instead of the first that works: nothing, library-path, "
              "preload, redirect; nothing is refused where it is not enough")
           .argument("WAY")},
      CommandLine::Behind::kProgram};
}

Options options_of(const Arguments& arguments) {
  Options out;
  out.dry_run = arguments.has("dry-run");
  out.json = arguments.has("json");
  if (const auto how = arguments.value("how")) {
    out.way = find_way(*how);
    if (!out.way) bad_value("how", *how, "nothing, library-path, preload or redirect");
  }
  out.program = arguments.words;
  if (out.program.empty()) throw UsageError("no program to run");
  if (out.json && !out.dry_run)
    throw UsageError("--json needs --dry-run: standard output is the program's");
  return out;
}

void print_json(const std::string& path, const Choice& choice) {
  std::printf("{\"program\": %s, \"way\": \"%s\", \"variables\": {", json_string(path).c_str(),
              way_name(choice.way));
  const char* separator = "";
  for (const auto& [name, value] : choice.variables) {
    std::printf("%s%s: %s", separator, json_string(name).c_str(), json_string(value).c_str());
    separator = ", ";
  }
  std::printf("}, \"reason\": %s}\n", json_string(choice.reason).c_str());
}

std::string sentence(const Choice& choice) {
  std::string text = std::string(way_name(choice.way));
  for (const auto& [name, value] : choice.variables) text += ": " + name + "=" + value;
  if (choice.way == Way::kNothing) text += ": it finds " + own_library() + " by itself";
  if (!choice.reason.empty()) text += " (" + choice.reason + " without)";
  return text;
}

int execute(Options options) {
  const std::string path = opennrt::emu::launcher::find_program(options.program[0]);
  if (path.empty()) {
    say(options.program[0] + ": not found on PATH");
    return kNotFound;
  }
  Program program;
  std::string error;
  const Verdict verdict = opennrt::emu::launcher::inspect(path, &program, &error);
  if (verdict != Verdict::kFits) {
    if (program.is_static)
      error = program.file + " is linked statically: it takes no library from outside";
    say(error);
    return verdict == Verdict::kMissing ? kNotFound : kCannotRun;
  }
  Choice choice;
  const bool chosen = options.way ? choose(program, *options.way, &choice, &error)
                                  : choose(program, &choice, &error);
  if (!chosen) {
    say(path + " cannot be made to use this library: " + error);
    return kCannotRun;
  }
  if (options.dry_run && options.json)
    print_json(path, choice);
  else if (options.dry_run)
    std::printf("%s\n", sentence(choice).c_str());
  else
    say(sentence(choice));
  if (options.dry_run) return kDone;
  for (const auto& [name, value] : choice.variables) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (std::string& word : options.program) words.push_back(word.data());
  words.push_back(nullptr);
  restore_closed_pipes();
  execv(path.c_str(), words.data());
  const int failed = errno;
  say(path + ": " + std::strerror(failed));
  return failed == ENOENT ? kNotFound : kCannotRun;
}

int run(const Words& words) {
  return command_line().run(
      words, [](const Arguments& arguments) { return execute(options_of(arguments)); });
}

}  // namespace

int main(int argc, char** argv) { return tool_main(argc, argv, run); }
