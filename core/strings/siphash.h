// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace opennrt::strings {

struct SipKey {
  std::uint64_t k0 = 0, k1 = 0;
};

// SipHash with one round per block and three at the end.
std::uint64_t siphash13(SipKey key, std::string_view bytes, std::string_view more = {});

}  // namespace opennrt::strings
