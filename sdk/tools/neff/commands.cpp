// SPDX-License-Identifier: Apache-2.0
//
// The commands of `opennrt neff` and their help.
#include "neff/commands.h"

#include <cstdio>

#include "neff/files.h"

namespace opennrt::tools {
namespace {

struct Command {
  const char* name;
  int (*run)(const Words&);
  const char* arguments;
  const char* summary;
  const char* details;
};

constexpr Command kCommands[] = {
    {"info", neff_info, "MODEL.neff [--json]", "what a model is and what it needs",
     "Target, compiler, features, inputs and outputs, memory, instructions, DMA queues, and the\n"
     "products it fits, of the arch plugins that are installed.\n"},
    {"tree", neff_tree, "MODEL.neff [--json]", "members of the archive with size and kind", ""},
    {"disasm", neff_disasm,
     "MODEL.neff [--engine=PE|ACT|POOL|DVE|SP] [--subgraph=N] [--range=FIRST:LAST] "
     "[--output=FILE]\n"
     "       opennrt neff disasm STREAM.bin --target=sunda|cayman|mariana [--range=..] "
     "[--output=FILE]",
     "instruction streams as text", "Records count from 1. The text is what `asm` reads.\n"},
    {"asm", neff_asm, "TEXT OUTPUT [--target=sunda|cayman|mariana]",
     "text back to instruction streams",
     "OUTPUT is a file when the text holds one stream, else a new directory with one file per\n"
     ".stream line. --target is for text without a .target line.\n"},
    {"verify", neff_verify, "MODEL.neff [--strict] [--limit=N] [--json]",
     "check a model without running it",
     "Hash, manifests, every record against the instruction table, memory ranges, DMA blocks,\n"
     "waits. Fails on errors, with --strict on warnings too. --limit: findings shown (100; 0 =\n"
     "all).\n"},
    {"diff", neff_diff, "A.neff B.neff [--context=N] [--limit=N]", "compare two models by meaning",
     "Exit code 0: no difference, 1: differences, 2: trouble. --limit: changed records shown per\n"
     "stream (40).\n"},
    {"unpack", neff_unpack, "MODEL.neff DIRECTORY", "write all members into a new directory",
     "The header goes to DIRECTORY/neff-header.bin. Nothing is written outside DIRECTORY.\n"},
    {"pack", neff_pack, "DIRECTORY OUTPUT.neff [--name=NAME] [--new-uuid]",
     "the inverse of unpack, with the hash made right",
     "The same directory gives the same bytes. --new-uuid derives the identity from the content:\n"
     "runtimes may take two models of one identity for the same.\n"},
    {"build", neff_build, "SOURCE.yaml OUTPUT.neff", "build a model from a readable source", ""},
};

const Command* find_command(std::string_view name) {
  for (const Command& c : kCommands)
    if (name == c.name) return &c;
  return nullptr;
}

void usage(std::FILE* to) {
  std::fputs("usage: opennrt neff COMMAND ...   (opennrt neff COMMAND --help)\n", to);
  for (const Command& c : kCommands) std::fprintf(to, "  %-8s %s\n", c.name, c.summary);
}

void usage(const Command& c, std::FILE* to) {
  std::fprintf(to, "usage: opennrt neff %s %s\n", c.name, c.arguments);
}

int help(const Command& c) {
  usage(c, stdout);
  std::printf("%c%s\n%s", c.summary[0] - 'a' + 'A', c.summary + 1, c.details);
  return finish(c.name);
}

}  // namespace

int neff_command(const Words& words) {
  if (words.empty()) {
    usage(stderr);
    return kBadUsage;
  }
  std::string name = words[0];
  bool wants_help = name == "help" || name == "--help" || name == "-h";
  if (wants_help && words.size() == 1) {
    usage(stdout);
    return finish("help");
  }
  if (wants_help) name = words[1];
  const Command* command = find_command(name);
  if (command == nullptr) {
    std::fprintf(stderr, "opennrt neff: no command '%s'\n", name.c_str());
    usage(stderr);
    return kBadUsage;
  }
  Words rest(words.begin() + 1, words.end());
  for (const std::string& word : rest) {
    if (word == "--") break;
    wants_help = wants_help || word == "--help" || word == "-h";
  }
  return wants_help ? help(*command) : command->run(rest);
}

int fail(std::string_view command, const Status& status) {
  std::fprintf(stderr, "opennrt neff %.*s: %s\n", static_cast<int>(command.size()), command.data(),
               std::string(status.message()).c_str());
  return kFailed;
}

int bad_usage(std::string_view command, const Status& status) {
  fail(command, status);
  if (const Command* c = find_command(command)) usage(*c, stderr);
  return kBadUsage;
}

int finish(std::string_view command, int code) {
  const Status status = finish_output();
  return status.is_ok() ? code : fail(command, status);
}

}  // namespace opennrt::tools
