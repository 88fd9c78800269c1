// SPDX-License-Identifier: Apache-2.0
//
// opennrt trace: shows a recording of the calls at the system port.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "trace/show.h"

namespace {

int run(const std::vector<std::string>& words) {
  opennrt::tools::TraceOptions options;
  std::string error;
  if (!opennrt::tools::parse_trace_options(words, &options, &error)) {
    std::fprintf(stderr, "opennrt trace: %s\n%s", error.c_str(),
                 opennrt::tools::trace_help().c_str());
    return 2;
  }
  std::string text;
  if (options.help) {
    text = opennrt::tools::trace_help();
  } else {
    opennrt::trace::Trace recording;
    if (opennrt::trace::read_trace(options.file, &recording, &error) != 0) {
      std::fprintf(stderr, "opennrt trace: %s\n", error.c_str());
      return 1;
    }
    text = opennrt::tools::show_trace(recording, options);
    if (recording.cut)
      std::fprintf(stderr,
                   "opennrt trace: %s: the last line is not whole: its process ended there\n",
                   options.file.c_str());
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
  std::fprintf(stderr, "opennrt trace: standard output: cannot write\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "opennrt trace: %s\n", e.what());
    return 1;
  }
}
