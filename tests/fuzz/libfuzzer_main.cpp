// SPDX-License-Identifier: Apache-2.0
//
// OPENNRT_FUZZ_TARGET names the entry. Seeds are written into the first corpus
// folder when it has none, so that a run starts from valid inputs.
#include <filesystem>
#include <fstream>

#include "entries.h"

#define ONRT_JOIN_(a, b) a##b
#define ONRT_JOIN(a, b) ONRT_JOIN_(a, b)

extern "C" __attribute__((visibility("default"))) int LLVMFuzzerInitialize(int* argc,
                                                                           char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    const std::filesystem::path folder((*argv)[i]);
    if ((*argv)[i][0] == '-' || !std::filesystem::is_directory(folder)) continue;
    if (std::filesystem::exists(folder / "seed0")) break;
    int number = 0;
    for (const std::string& seed : opennrt::fuzz::ONRT_JOIN(seeds_, OPENNRT_FUZZ_TARGET)())
      std::ofstream(folder / ("seed" + std::to_string(number++)), std::ios::binary) << seed;
    break;
  }
  return 0;
}

extern "C" __attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(
    const std::uint8_t* data, std::size_t size) {
  opennrt::fuzz::ONRT_JOIN(fuzz_, OPENNRT_FUZZ_TARGET)(data, size);
  return 0;
}
