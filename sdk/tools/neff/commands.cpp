// SPDX-License-Identifier: Apache-2.0
#include "neff/commands.h"

namespace opennrt::tools {
namespace {

struct Command {
  const char* name;
  int (*run)(const Words&);
  const char* summary;
};

constexpr Command kCommands[] = {
    {"info", neff_info, "what a model is and what it needs"},
    {"tree", neff_tree, "members of the archive with size and kind"},
    {"disasm", neff_disasm, "instruction streams as text"},
    {"asm", neff_asm, "text back to instruction streams"},
    {"verify", neff_verify, "check a model without running it"},
    {"diff", neff_diff, "compare two models by meaning"},
    {"unpack", neff_unpack, "write all members into a new directory"},
    {"pack", neff_pack, "the inverse of unpack, with the hash made right"},
    {"build", neff_build, "build a model from a readable source"},
};

CommandLine command_line() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Command& c : kCommands) rows.emplace_back(c.name, c.summary);
  return {{.command = "opennrt neff",
           .usage = "COMMAND [options] ...",
           .header = "Looks into model files, takes them apart and builds them, without running "
                     "them. `opennrt neff COMMAND --help` is the help of one.",
           .footer = table_text("commands", rows)},
          {}};
}

}  // namespace

int neff_command(const Words& words) {
  Words rest = words;
  const std::string first = words.empty() ? "" : words[0];
  if (first == "help" || first == "--help" || first == "-h") {
    if (words.size() == 1) return command_line().run({"--help"}, nullptr);
    rest.erase(rest.begin());
    rest.push_back("--help");
  }
  for (const Command& c : kCommands)
    if (!rest.empty() && rest[0] == c.name) return c.run({rest.begin() + 1, rest.end()});
  if (!rest.empty() && !rest[0].starts_with('-'))
    return command_line().run(
        {}, [&](const Arguments&) -> int { throw UsageError("no command '" + rest[0] + "'"); });
  return command_line().run(
      rest, [](const Arguments&) -> int { throw UsageError("COMMAND is missing"); });
}

}  // namespace opennrt::tools
