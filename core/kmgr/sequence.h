// SPDX-License-Identifier: Apache-2.0
//
// Names of asynchronous requests. 63..56 logical core, 55..52 queue, 51..48
// type of the unit, 47..0 number, 1 for the first request of a queue.
#pragma once

#include <cstdint>

namespace opennrt::kmgr {

enum class XuType : std::uint32_t { kTensorOp = 0, kCompute = 1, kCollectives = 2 };
inline constexpr std::uint32_t kXuTypes = 3;
// Queues of a unit by its type.
inline constexpr std::uint32_t kXuQueues[kXuTypes] = {2, 1, 3};
inline constexpr const char* kXuNames[kXuTypes] = {"TENSOR_OP", "COMPUTE", "COLLECTIVES"};

struct Sequence {
  static constexpr std::uint64_t kMaxNumber = (std::uint64_t{1} << 48) - 1;

  std::uint32_t core = 0;
  std::uint32_t queue = 0;
  std::uint32_t type = 0;  // XuType, unchecked when unpacked
  std::uint64_t number = 0;

  std::uint64_t pack() const {
    return std::uint64_t{core} << 56 | std::uint64_t{queue} << 52 | std::uint64_t{type} << 48 |
           number;
  }
  static Sequence unpack(std::uint64_t id) {
    return {.core = static_cast<std::uint32_t>(id >> 56),
            .queue = static_cast<std::uint32_t>(id >> 52 & 0xF),
            .type = static_cast<std::uint32_t>(id >> 48 & 0xF),
            .number = id & kMaxNumber};
  }
};

}  // namespace opennrt::kmgr
