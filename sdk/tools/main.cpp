// SPDX-License-Identifier: Apache-2.0
//
// opennrt: one command with subcommands. A name that is not built in is looked
// up as an executable `opennrt-<name>` beside this one, then on PATH.
#include <unistd.h>

#include <Poco/File.h>
#include <Poco/Path.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "command.h"

namespace {

struct Subcommand {
  const char* name;
  int (*run)(const std::vector<std::string>&);
  const char* summary;
};

constexpr Subcommand kSubcommands[] = {
    {"run", opennrt::tools::run_command, "load a model, fill its inputs, execute it"},
    {"config", opennrt::tools::config_command,
     "list every setting with its value and where it comes from"},
    {"plugins", opennrt::tools::plugins_command, "list every plugin candidate with its verdict"},
    {"isa", opennrt::tools::isa_command, "list the instructions the software device executes"},
    {"link", opennrt::tools::link_command,
     "links for programs that look for the library in the vendor's directory"},
};

void usage(std::FILE* to) {
  std::fprintf(to, "usage: opennrt SUBCOMMAND [options]   (opennrt SUBCOMMAND --help)\n");
  for (const Subcommand& s : kSubcommands) std::fprintf(to, "  %-10s %s\n", s.name, s.summary);
  std::fprintf(to, "  %-10s %s\n", "ls", "list devices, cores, who has them, driver, plugins");
  std::fprintf(to, "  %-10s %s\n", "top", "show what processes do on the devices, live");
  std::fprintf(to, "  %-10s %s\n", "monitor", "the same as JSON lines and for Prometheus");
  std::fprintf(to, "  %-10s %s\n", "doctor", "say why programs do not get what they ask for");
  std::fprintf(to, "  %-10s %s\n", "exec", "make a program use this library");
  std::fprintf(to, "  %-10s %s\n", "emu", "run an unmodified program on the software device");
  std::fprintf(to, "  %-10s %s\n", "neff", "look into model files, take them apart, build them");
  std::fprintf(to, "  %-10s %s\n", "conform", "try the interface rules on a plugin");
  std::fprintf(to, "  %-10s %s\n", "trace", "show a recording of the calls at the system port");
  std::fprintf(to, "  %-10s any other name runs the program opennrt-NAME\n", "NAME");
  std::fprintf(to, "  %-10s the help of one of them\n", "help NAME");
}

// The exit code when all that was printed has arrived; a line that did not stays
// known to the stream.
int finished(const std::string& name, int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fprintf(stderr, "opennrt %s: standard output: cannot write\n", name.c_str());
  return code == 0 ? 1 : code;
}

// Package of a subcommand that is not in that of this program; nullptr: none is known.
const char* package_of(const std::string& name) {
  return name == "conform" ? "opennrt-dev" : name == "emu" ? "opennrt-emulator" : nullptr;
}

int external(const std::string& name, std::vector<std::string>& words) {
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
    std::fprintf(stderr, "opennrt: no subcommand '%s' and no program %s\n", name.c_str(),
                 program.c_str());
  else
    std::fprintf(stderr, "opennrt: %s: %s\n", program.c_str(), std::strerror(errno));
  usage(stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    usage(stderr);
    return 2;
  }
  // Lines stay in order with the runtime's log when both go to one file.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::string name = argv[1];
  std::vector<std::string> words(argv + 2, argv + argc);
  if (name == "--help" || name == "-h" || name == "help") {
    if (words.empty()) {
      usage(stdout);
      return finished("help", 0);
    }
    // The words behind the name choose a subcommand of it: help neff info.
    name = words[0];
    words.erase(words.begin());
    words.push_back("--help");
  }
  if (name == "--version") {
    std::printf("opennrt %s\n", OPENNRT_VERSION);
    return finished(name, 0);
  }
  if (name.empty() || name[0] == '-') {
    std::fprintf(stderr, "opennrt: unknown option '%s'\n", name.c_str());
    usage(stderr);
    return 2;
  }
  try {
    for (const Subcommand& s : kSubcommands)
      if (name == s.name) return finished(name, s.run(words));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "opennrt %s: %s\n", name.c_str(), e.what());
    return 1;
  }
  return external(name, words);
}
