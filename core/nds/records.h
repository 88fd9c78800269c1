// SPDX-License-Identifier: Apache-2.0
//
// How the runtime's facts become counters and records.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "nds/layout.h"
#include "nrt/nrt.h"

namespace opennrt::nds {

// Who a process is.
struct Process {
  std::int8_t framework_type = 0;  // nrt_framework_type_t
  std::string_view tag;            // cut to 31 bytes, and to 255 in the extended record
  nds_version_info_t framework{}, fal{}, runtime{};
};
ProcessInfoRecord process_record(const Process& process);
ProcessInfoExtRecord extended_process_record(const Process& process);

// "2.31.24" or "1.13.1+cpu": major, minor and the number after them; what is
// missing or no number is 0.
nds_version_info_t parse_version(std::string_view text);
// As the device counters hold it; kind: bits 63..48.
std::uint64_t packed(const nds_version_info_t& version, std::uint16_t kind = 0);

// Counter of a final status; UINT32_MAX: it has none.
std::uint32_t counter_of(NRT_STATUS status);

// Kinds of errors that the device reported during an execution, one bit each.
enum ErrorKind : std::uint32_t {
  kTransient = 1u << 0,
  kMemoryCorrected = 1u << 1,
  kMemoryUncorrected = 1u << 2,
  kSemaphore = 1u << 3,
  kEvent = 1u << 4,
  kPsumCollision = 1u << 5,
  kSequencer = 1u << 6,
};
// Counters of the kinds, at most as many as `out` holds; returns how many.
std::size_t counters_of(std::uint32_t kinds, std::span<std::uint32_t> out);
inline constexpr std::size_t kErrorKinds = 7;

}  // namespace opennrt::nds
