// SPDX-License-Identifier: Apache-2.0
//
// opennrt-trace, which `opennrt trace` runs: shows a recording of the calls at the
// system port.
#include <cstdio>
#include <stdexcept>
#include <string>

#include "output.h"
#include "trace/show.h"

namespace {

using namespace opennrt::tools;

int show(const TraceOptions& options) {
  opennrt::trace::Trace recording;
  std::string error;
  if (opennrt::trace::read_trace(options.file, &recording, &error) != 0)
    throw std::runtime_error(error);
  if (recording.cut)
    std::fprintf(stderr, "opennrt trace: %s: the last line is not whole: its process ended there\n",
                 options.file.c_str());
  print(show_trace(recording, options));
  return kDone;
}

int run(const Words& words) {
  return trace_command_line().run(
      words, [](const Arguments& arguments) { return show(trace_options(arguments)); });
}

}  // namespace

int main(int argc, char** argv) { return tool_main(argc, argv, run); }
