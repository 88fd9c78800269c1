// SPDX-License-Identifier: Apache-2.0
//
// Reads the device images out of a recorded profile (NTFF, container versions 4
// and 5: instruction bytes inline).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace opennrt::arch_test {

struct ProfileImage {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
};

// Engine index -> image; empty when the file is not such a profile.
std::map<std::uint32_t, ProfileImage> read_profile_images(const std::filesystem::path& file);

// OPENNRT_CORPUS or the folder beside the repository; empty when there is none.
std::filesystem::path corpus_folder();

}  // namespace opennrt::arch_test
