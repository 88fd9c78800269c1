// SPDX-License-Identifier: Apache-2.0
//
// One request on its way through the driver, and the table that names them.
#pragma once

#include <cerrno>
#include <cstdint>
#include <span>
#include <string_view>

#include "driver/machine.h"

namespace opennrt::emu {

// ENOTSUPP of the kernel; libc has no name for it.
inline constexpr std::int64_t kNotSupported = -524;
// What the driver returns for a broken ring rule or a timeout; reads as EPERM.
inline constexpr std::int64_t kFailed = -1;

struct RequestEntry;

struct Call {
  Machine& machine;
  DeviceNode& node;
  const Client& client;
  UserMemory& memory;
  std::uint64_t arg;
  const RequestEntry& entry;

  template <typename T>
  std::int64_t reply(const T& value) {
    return memory.write(arg, &value, sizeof value);
  }
};

using Handler = std::int64_t (*)(Call&);

enum class Match : std::uint8_t {
  kCode,    // the whole request
  kNumber,  // number and encoded size; the direction does not matter
  kAtLeast  // direction and number; the encoded size is a minimum
};
enum class Gate : std::uint8_t { kNone, kAttached };

struct RequestEntry {
  const char* name;
  std::uint32_t code;
  Match match;
  Lane lane;  // kMisc: answered on both
  Gate gate;
  DriverVersion since;
  Handler handler;
};

std::span<const RequestEntry> request_table();
// By the name of the row; nullptr: no such request.
inline const RequestEntry* find_request(std::string_view name) {
  for (const RequestEntry& row : request_table())
    if (name == row.name) return &row;
  return nullptr;
}
// nullptr: unknown on this lane.
const RequestEntry* find_request(std::uint32_t request, Lane lane);

// Reads the argument structure, then calls the operation. kFault: what the
// driver answers when the argument itself cannot be read.
template <typename T, std::int64_t (*kOperation)(Call&, T&), int kFault = -EFAULT>
std::int64_t with(Call& call) {
  T argument;
  if (call.memory.read(call.arg, &argument, sizeof argument) != 0) return kFault;
  return kOperation(call, argument);
}

}  // namespace opennrt::emu
