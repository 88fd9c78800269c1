// SPDX-License-Identifier: Apache-2.0
//
// opennrt isa: which instructions the software device executes.
#include <cstdio>
#include <string>
#include <vector>

#include "command.h"
#include "opennrt/isa/support.h"

namespace opennrt::tools {

int isa_command(const std::vector<std::string>& args) {
  static constexpr char kUsage[] =
      "usage: opennrt isa [--summary | --markdown | --json]\n"
      "Lists every instruction with its engines and silicon families, and whether programs run\n"
      "with it on the software device or why they are refused. Pseudo-instructions execute when\n"
      "the loader lowers or removes them.\n"
      "  --summary   the count alone\n"
      "  --markdown  as sdk/isa/SUPPORT.md\n"
      "  --json      for programs\n";
  std::string text;
  if (args.empty()) {
    text = isa::support_listing() + isa::support_summary() + "\n";
  } else if (args.size() == 1 && (args[0] == "--help" || args[0] == "-h")) {
    text = kUsage;
  } else if (args.size() == 1 && args[0] == "--summary") {
    text = isa::support_summary() + "\n";
  } else if (args.size() == 1 && args[0] == "--markdown") {
    text = isa::support_markdown();
  } else if (args.size() == 1 && args[0] == "--json") {
    text = isa::support_json();
  } else {
    if (args.size() > 1)
      std::fprintf(stderr, "opennrt isa: one option at most\n%s", kUsage);
    else
      std::fprintf(stderr, "opennrt isa: unknown argument '%s'\n%s", args[0].c_str(), kUsage);
    return 2;
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace opennrt::tools
