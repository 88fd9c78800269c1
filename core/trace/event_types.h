// SPDX-License-Identifier: Apache-2.0
//
// Names, groups and payload fields of the event types.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "base/status.h"
#include "trace/event.h"

namespace opennrt::trace {

enum class FieldForm : std::uint8_t {
  kNumber,
  kFlag,        // true or false
  kHex,         // "0x1f"
  kModel,       // number, followed by model_name when that is known
  kMemoryType,  // "host" or "device"
  kUsage,       // name given by name_memory_usages()
  // Number that also takes the place of the event's own time stamp.
  kDeviceTime,
};

struct Field {
  std::string_view name;
  FieldForm form = FieldForm::kNumber;
};

// Public name. Names that clients know are used; the others are the
// enumerator's name in lower case.
std::string_view name_of(EventType type);
// By public name or one of the second names that documents use.
std::optional<EventType> type_of(std::string_view name);
// Payload of the events of that phase; empty: none.
std::span<const Field> fields_of(EventType type, Phase phase);
std::string_view name_of(Phase phase);

// Events told by the device; all others come from the host.
inline constexpr std::uint64_t kHardwareTypes =
    bit_of(EventType::kCcExecBarrier) | bit_of(EventType::kDeviceExec) |
    bit_of(EventType::kCcExec) | bit_of(EventType::kNumErr) | bit_of(EventType::kHwNotify) |
    bit_of(EventType::kTimestampSync) | bit_of(EventType::kNcModelSwitch);

// Types of a filter text: names, "hardware", "software", "all", and any of them
// with ^ in front to take it out. Only exclusions: from all. NRT_INVALID: an
// unknown name.
Result<std::uint64_t> types_of_filter(std::span<const std::string> items);

}  // namespace opennrt::trace
