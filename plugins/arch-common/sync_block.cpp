// SPDX-License-Identifier: Apache-2.0
#include "arch-common/sync_block.h"

namespace opennrt::arch_common {
namespace {

// Four windows of 256 words: read, set, increment, decrement.
constexpr std::uint64_t kSemaphoreBase = 0x1000;
constexpr std::uint64_t kSemaphoreWindow = 0x400;

}  // namespace

std::uint64_t event_offset(std::uint32_t event) {
  return event < kEvents ? event * std::uint64_t{4} : UINT64_MAX;
}

std::uint64_t semaphore_offset(std::uint32_t semaphore, std::uint32_t op) {
  if (semaphore >= kSemaphores || op > NRTP_SEM_DEC) return UINT64_MAX;
  return kSemaphoreBase + op * kSemaphoreWindow + semaphore * std::uint64_t{4};
}

}  // namespace opennrt::arch_common
