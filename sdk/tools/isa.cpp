// SPDX-License-Identifier: Apache-2.0
//
// opennrt isa: which instructions the software device executes.
#include "command.h"
#include "opennrt/isa/support.h"
#include "output.h"

namespace opennrt::tools {

int isa_command(const Words& words) {
  const CommandLine line(
      {.command = "opennrt isa",
       .usage = "[--summary | --markdown | --json]",
       .header =
           "Lists every instruction with its engines and silicon families, and whether programs "
           "run with it on the software device or why they are refused. Pseudo-instructions "
           "execute when the loader lowers or removes them."},
      {Option("summary", "s", "the count alone"), Option("markdown", "m", "as sdk/isa/SUPPORT.md"),
       Option(
           "json", "j",
           "for programs: {instructions: a list of {code, name, kind, engines, families, executes, "
           "reason, reading}, executes, decodes}")});
  return line.run(words, [](const Arguments& arguments) {
    arguments.want_words(0, 0);
    if (arguments.all.size() > 1) throw UsageError("one option at most");
    if (arguments.has("markdown"))
      print(isa::support_markdown());
    else if (arguments.has("json"))
      print(isa::support_json());
    else
      print((arguments.has("summary") ? "" : isa::support_listing()) + isa::support_summary() +
            "\n");
    return kDone;
  });
}

}  // namespace opennrt::tools
