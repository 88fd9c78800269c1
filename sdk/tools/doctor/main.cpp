// SPDX-License-Identifier: Apache-2.0
//
// opennrt-doctor, which `opennrt doctor` runs: why programs do not get what they
// ask for. It is no client of the library, so that it starts whatever libnrt is in
// the way.

#include <algorithm>
#include <cstdio>

#include "command_line.h"
#include "doctor/context.h"
#include "json_text.h"
#include "log/log.h"

namespace {

using namespace opennrt::tools;
using namespace opennrt::tools::doctor;

// In the order of the causes: what is told first explains what follows.
constexpr Check kChecks[] = {
    {"settings", "configuration files and OPENNRT_* variables", check_settings},
    {"variables", "misspelt NEURON_* variables", check_variables},
    {"directories", "places that the settings name can be written to", check_directories},
    {"library", "the libnrt that programs of this shell find", check_library},
    {"program", "the libnrt that PROGRAM gets", check_program},
    {"plugins", "every plugin is usable, and those that are needed are there", check_plugins},
    {"driver", "the kernel driver is loaded and new enough", check_driver},
    {"nodes", "device nodes exist and may be opened", check_nodes},
    {"daemon", "the software device of all processes can be reached", check_daemon},
    {"recording", "what device: replay answers from can be read", check_recording},
    {"limits", "limits of this shell", check_limits},
    {"holders", "cores that are asked for are not another process'", check_holders},
    {"models", "model files are whole and fit the device", check_models},
    {"start", "the device is found as nrt_init finds it", check_start},
};

CommandLine command_line() {
  std::string header =
      "Looks for what keeps programs from running with this runtime, changes nothing and starts "
      "nothing, and says for each finding what it is, where, and what to do. Looked at: ";
  for (const Check& check : kChecks)
    header += std::string(&check == kChecks ? "" : "; ") + check.name + ": " + check.summary;
  return {{.command = "opennrt doctor",
           .usage = "[options] [-- PROGRAM [ARGUMENT ...]]",
           .header = header + ".",
           .footer = "Exit code: 0 no finding, 1 findings, 2 wrong options."},
          {Option("json", "j", "for programs: a list of {check, where, what, fix}"),
           Option("neff", "", "a model file, or a directory with *.neff; may be given again")
               .repeatable(true)
               .argument("PATH")}};
}

void print_text(const Findings& findings) {
  for (const Finding& f : findings)
    std::printf("%-11s %s: %s\n%-11s fix: %s\n", f.check.c_str(), plain_text(f.where).c_str(),
                plain_text(f.what).c_str(), "", plain_text(f.fix).c_str());
  if (findings.empty())
    std::printf("no findings (%zu checks)\n", std::size(kChecks));
  else
    std::printf("%zu finding%s\n", findings.size(), findings.size() == 1 ? "" : "s");
}

void print_json(const Findings& findings) {
  std::printf("[");
  const char* separator = "\n";
  for (const Finding& f : findings) {
    std::printf("%s {\"check\": %s, \"where\": %s, \"what\": %s, \"fix\": %s}", separator,
                json_string(f.check).c_str(), json_string(f.where).c_str(),
                json_string(f.what).c_str(), json_string(f.fix).c_str());
    separator = ",\n";
  }
  std::printf("\n]\n");
}

int examine(Request request, bool json) {
  Context context(std::move(request));
  Findings findings;
  for (const Check& check : kChecks) {
    const std::size_t before = findings.size();
    check.run(context, findings);
    for (std::size_t i = before; i < findings.size(); ++i) findings[i].check = check.name;
  }
  json ? print_json(findings) : print_text(findings);
  return findings.empty() ? 0 : 1;
}

int run(const Words& words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  return command_line().run({words.begin(), dashes}, [&](const Arguments& arguments) {
    if (!arguments.words.empty())
      throw UsageError("unexpected argument " + arguments.words[0] +
                       ": a program stands behind --, a model in --neff");
    Request request;
    for (const Argument& argument : arguments.all)
      if (argument.option == "neff") request.models.push_back(argument.value);
    if (dashes != words.end()) request.program.assign(dashes + 1, words.end());
    if (dashes != words.end() && request.program.empty())
      throw UsageError("PROGRAM is missing behind --");
    return examine(std::move(request), arguments.has("json"));
  });
}

}  // namespace

int main(int argc, char** argv) {
  // What the runtime's parts find is told once, as findings.
  opennrt::log::set_level(opennrt::log::Level::kDisabled);
  return tool_main(argc, argv, run);
}
