// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opennrt::neff {

// Bytes of memory this process may use: the smallest of RAM and the limits of
// its control groups.
std::uint64_t memory_limit_bytes();

}  // namespace opennrt::neff
