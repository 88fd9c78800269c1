// SPDX-License-Identifier: Apache-2.0
//
// opennrt: one command with subcommands, each the program `opennrt-<name>` beside
// this one, else on PATH. It is no client of the library, so that it starts whatever
// libnrt is in the way.
#include <unistd.h>

#include <Poco/File.h>
#include <Poco/Path.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/spelling.h"
#include "command_line.h"
#include "output.h"

namespace {

using namespace opennrt::tools;

struct Subcommand {
  const char* name;
  const char* summary;
};

constexpr Subcommand kSubcommands[] = {
    {"run", "load a model, fill its inputs, execute it"},
    {"config", "list every setting with its value and where it comes from"},
    {"plugins", "list every plugin candidate with its verdict"},
    {"isa", "list the instructions the software device executes"},
    {"link", "links for programs that look for the library in the vendor's directory"},
    {"ls", "list devices, cores, who has them, driver, plugins"},
    {"top", "show what processes do on the devices, live"},
    {"monitor", "the same as JSON lines and for Prometheus"},
    {"doctor", "say why programs do not get what they ask for"},
    {"exec", "make a program use this library"},
    {"emu", "run an unmodified program on the software device"},
    {"neff", "look into model files, take them apart, build them"},
    {"conform", "try the interface rules on a plugin"},
    {"trace", "show a recording of the calls at the system port"},
};

CommandLine command_line() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Subcommand& s : kSubcommands) rows.emplace_back(s.name, s.summary);
  rows.emplace_back("NAME", "any other name runs the program opennrt-NAME");
  rows.emplace_back("help NAME", "the help of one of them");
  return {{.command = "opennrt",
           .usage = "SUBCOMMAND [options]",
           .header = "Runs compiled models and looks at what they run on.",
           .footer = table_text("subcommands", rows)},
          {Option("version", "V", "print the version")}};
}

// Package of a subcommand that is not in that of this program; nullptr: none is known.
const char* package_of(const std::string& name) {
  return name == "conform" ? "opennrt-dev" : name == "emu" ? "opennrt-emulator" : nullptr;
}

std::string meant(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Subcommand& s : kSubcommands) names.emplace_back(s.name);
  const std::string_view near = opennrt::nearest_name(name, names);
  return near.empty() ? "" : ", did you mean " + std::string(near) + "?";
}

int dispatch(const std::string& name, Words words) {
  restore_closed_pipes();
  std::string program = "opennrt-" + name;
  std::vector<char*> argv = {program.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  char self[4096];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n > 0) {
    Poco::Path beside(std::string(self, static_cast<std::size_t>(n)));
    beside.setFileName(program);
    if (Poco::File(beside).exists()) execv(beside.toString().c_str(), argv.data());
  }
  execvp(program.c_str(), argv.data());
  if (errno == ENOENT && package_of(name) != nullptr) {
    std::fprintf(stderr, "opennrt: '%s' is in the package %s, which is not installed here\n",
                 name.c_str(), package_of(name));
    return 1;
  }
  if (errno == ENOENT)
    std::fprintf(stderr, "opennrt: no subcommand '%s' and no program %s%s\n", name.c_str(),
                 program.c_str(), meant(name).c_str());
  else
    std::fprintf(stderr, "opennrt: %s: %s\n", program.c_str(), std::strerror(errno));
  std::fputs(command_line().usage_text().c_str(), stderr);
  return kBadUsage;
}

int own_options(const Words& words) {
  return command_line().run(words, [](const Arguments& arguments) {
    if (!arguments.has("version")) throw UsageError("SUBCOMMAND is missing");
    print("opennrt " OPENNRT_VERSION "\n");
    return kDone;
  });
}

int run(const Words& given) {
  Words words = given;
  const std::string first = words.empty() ? "" : words[0];
  if (first == "help" || first == "--help" || first == "-h") {
    if (words.size() == 1) return own_options({"--help"});
    // The words behind the name choose a subcommand of it: help neff info.
    words.erase(words.begin());
    words.push_back("--help");
  } else if (first.empty() || first[0] == '-') {
    return own_options(words);
  }
  return dispatch(words[0], {words.begin() + 1, words.end()});
}

}  // namespace

int main(int argc, char** argv) {
  // Lines stay in order with the runtime's log when both go to one file.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return tool_main(argc, argv, run);
}
