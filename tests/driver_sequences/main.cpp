// SPDX-License-Identifier: Apache-2.0
//
// driver_sequences --count N [--seed S] [--length L] [--only K] [--verbose]
// Random sequences of requests by several processes: each outcome is predicted by
// the model and compared with the emulated driver. The first difference is
// printed with the sequence that leads to it. Exit status 1: there was one.
#include "sequence.h"

namespace opennrt::sequences {
namespace {

int main_of(int argc, char** argv) {
  std::uint64_t count = 100, seed = 1, length = 200, only = UINT64_MAX;
  bool verbose = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto number = [&](std::uint64_t* out) {
      char* end = nullptr;
      if (i + 1 >= argc) return false;
      *out = std::strtoull(argv[++i], &end, 0);
      return end != argv[i] && *end == '\0';
    };
    const bool good = option == "--count"    ? number(&count)
                      : option == "--seed"   ? number(&seed)
                      : option == "--length" ? number(&length)
                      : option == "--only"   ? number(&only)
                                             : option == "--verbose" && (verbose = true);
    if (good) continue;
    std::fprintf(stderr, "usage: %s --count N [--seed S] [--length L] [--only K] [--verbose]\n",
                 argv[0]);
    return 2;
  }
  std::uint64_t sequences = 0, requests = 0, differences = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (only != UINT64_MAX && i != only) continue;
    ++sequences;
    try {
      Sequence sequence(seed * 1000003 + i, verbose);
      requests += sequence.run(static_cast<std::uint32_t>(length));
    } catch (const Difference& d) {
      if (differences++ == 0)
        std::printf("sequence %llu of seed %llu:\n%s\n", static_cast<unsigned long long>(i),
                    static_cast<unsigned long long>(seed), d.text.c_str());
    }
  }
  std::printf("%llu sequences, %llu requests, %llu differences\n",
              static_cast<unsigned long long>(sequences), static_cast<unsigned long long>(requests),
              static_cast<unsigned long long>(differences));
  return differences ? 1 : 0;
}

}  // namespace
}  // namespace opennrt::sequences

int main(int argc, char** argv) { return opennrt::sequences::main_of(argc, argv); }
