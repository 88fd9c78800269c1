// SPDX-License-Identifier: Apache-2.0
//
// Number of calls of operator new in this process.
#pragma once

#include <cstdint>

namespace opennrt::tdrv::test {
std::uint64_t allocation_count();
}  // namespace opennrt::tdrv::test
