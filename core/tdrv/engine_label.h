// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iterator>

namespace opennrt::tdrv {

// Name of an engine for messages.
inline const char* engine_label(std::uint32_t engine) {
  constexpr const char* kNames[] = {"PE", "ACT", "POOL", "DVE", "SP"};
  return engine < std::size(kNames) ? kNames[engine] : "?";
}

}  // namespace opennrt::tdrv
