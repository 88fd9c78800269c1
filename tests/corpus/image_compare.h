// SPDX-License-Identifier: Apache-2.0
//
// Record-by-record comparison of an assembled image with one read from a
// device profile.
#pragma once

#include <string>
#include <vector>

#include "opennrt/arch.h"
#include "support/ntff.h"
#include "tdrv/image.h"

namespace opennrt::test {

struct CompareContext {
  const nrtp_arch_plugin* arch = nullptr;
  const nrtp_product* product = nullptr;
  std::uint64_t our_request = 0;
};

// Readable differences, at most `limit`; empty = equal. Addresses are compared
// by what they decode to, HBM addresses by their role.
std::vector<std::string> compare_image(const CompareContext& context, std::uint32_t engine,
                                       const tdrv::Image& ours, const NtffEngine& theirs,
                                       std::size_t limit = 8);

std::vector<std::string> compare_patches(const tdrv::Image& ours, const NtffEngine& theirs);

}  // namespace opennrt::test
