// SPDX-License-Identifier: Apache-2.0
//
// The event and semaphore block of a core: 0x2000 bytes, same layout on all
// silicon families.
#pragma once

#include <cstdint>

#include "opennrt/arch.h"

namespace opennrt::arch_common {

inline constexpr std::uint64_t kSyncBlockBytes = 0x2000;
inline constexpr std::uint32_t kEvents = 256;
inline constexpr std::uint32_t kSemaphores = 256;

// Offsets inside the block; UINT64_MAX for an out-of-range argument.
std::uint64_t event_offset(std::uint32_t event);
std::uint64_t semaphore_offset(std::uint32_t semaphore, std::uint32_t op);  // nrtp_sem_op

}  // namespace opennrt::arch_common
