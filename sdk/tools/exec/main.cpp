// SPDX-License-Identifier: Apache-2.0
//
// opennrt-exec, which `opennrt exec` runs: a program with this libnrt. It is no
// client of the library, so that it starts whatever libnrt is in the way.
#include <Poco/Util/HelpFormatter.h>
#include <Poco/Util/Option.h>
#include <Poco/Util/OptionException.h>
#include <Poco/Util/OptionProcessor.h>
#include <Poco/Util/OptionSet.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "exec/choose.h"
#include "json_text.h"

namespace {

using namespace opennrt::tools;
using opennrt::emu::launcher::Verdict;

constexpr int kCannotRun = 126, kNotFound = 127;  // as of a shell

struct Options {
  bool help = false, dry_run = false, json = false;
  std::optional<Way> way;
  std::vector<std::string> program;
};

void say(const std::string& text) { std::fprintf(stderr, "opennrt exec: %s\n", text.c_str()); }

Poco::Util::OptionSet option_set() {
  using Poco::Util::Option;
  Poco::Util::OptionSet set;
  set.addOption(Option("help", "h", "print this text"));
  set.addOption(Option("dry-run", "n", "say what would be done and run nothing"));
  set.addOption(Option("json", "j",
                       "for programs: with --dry-run, {program, way, variables, reason} on "
                       "standard output"));
  set.addOption(Option("how", "",
                       "the way to take instead of the first that works: nothing, library-path, "
                       "preload, redirect")
                    .argument("WAY"));
  return set;
}

void usage(const Poco::Util::OptionSet& set, std::ostream& to) {
  Poco::Util::HelpFormatter help(set);
  help.setUnixStyle(true);
  help.setWidth(100);
  help.setCommand("opennrt exec");
  help.setUsage("[options] [--] PROGRAM [ARGUMENT ...]");
  help.setHeader(
      "Runs a program with this libnrt, in the first way that the loader confirms: nothing, when "
      "it "
      "finds this library by itself; library-path (LD_LIBRARY_PATH); preload (LD_PRELOAD), when an "
      "RPATH leads elsewhere; redirect (LD_AUDIT), when it names another libnrt by its path. What "
      "a script or an interpreted program opens later is not seen before it runs: when it opens a "
      "libnrt by its path, say --how redirect. One line on standard error says the way.");
  help.setFooter(
      "Exit code: the program's; 126 when it cannot be run with this library, 127 when it is not "
      "found, 2 for wrong options.");
  help.format(to);
}

Options parse(const std::vector<std::string>& words, const Poco::Util::OptionSet& set) {
  Options out;
  Poco::Util::OptionProcessor processor(set);
  processor.setUnixStyle(true);
  std::size_t i = 0;
  for (; i < words.size(); ++i) {
    if (words[i] == "--") {
      ++i;
      break;
    }
    std::string name, value;
    if (!processor.process(words[i], name, value)) break;  // the program
    out.help |= name == "help";
    out.dry_run |= name == "dry-run";
    out.json |= name == "json";
    if (name != "how") continue;
    out.way = find_way(value);
    if (!out.way)
      throw Poco::Util::InvalidArgumentException("--how " + value +
                                                 ": nothing, library-path, preload or redirect");
  }
  if (!out.help) processor.checkRequired();
  out.program.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
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

int run(Options options) {
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
  const bool chosen =
      options.way ? make_choice(*options.way, &choice, &error) : choose(program, &choice, &error);
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
  if (options.dry_run) return std::fflush(stdout) == 0 ? 0 : 1;
  for (const auto& [name, value] : choice.variables) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (std::string& word : options.program) words.push_back(word.data());
  words.push_back(nullptr);
  execv(path.c_str(), words.data());
  const int failed = errno;
  say(path + ": " + std::strerror(failed));
  return failed == ENOENT ? kNotFound : kCannotRun;
}

}  // namespace

int main(int argc, char** argv) {
  const Poco::Util::OptionSet set = option_set();
  try {
    const Options options = parse(std::vector<std::string>(argv + 1, argv + argc), set);
    if (options.help) {
      usage(set, std::cout);
      return 0;
    }
    if (options.program.empty()) {
      say("no program to run");
      usage(set, std::cerr);
      return 2;
    }
    if (options.json && !options.dry_run) {
      say("--json needs --dry-run: standard output is the program's");
      return 2;
    }
    return run(options);
  } catch (const Poco::Util::OptionException& e) {
    say(e.displayText());
    return 2;
  } catch (const std::exception& e) {
    say(e.what());
    return 1;
  }
}
