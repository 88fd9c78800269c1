// SPDX-License-Identifier: Apache-2.0
//
// What a trace event is. Numbers and order of the types are part of the ABI:
// clients switch types on and off by the names of event_types.h.
#pragma once

#include <array>
#include <cstdint>

namespace opennrt::trace {

enum class EventType : std::uint8_t {
  kGeneric = 0,
  kModelLoad,
  kPostRequest,
  kExecuteApi,
  kRuntimeExecute,
  kCcLoad,
  kCcExecBarrier,
  kDeviceExec,
  kCcExec,
  kTensorRead,
  kTensorWrite,
  kTensorReadBatch,
  kTensorWriteBatch,
  kNumErr,
  kEncBarrierRecv,
  kEncBarrierSend,
  kEncBarrier,
  kExecPre,
  kExecCore,
  kExecWait,
  kExecPost,
  kModelSwitch,
  kModelSubmit,
  kAsyncSemaWait,
  kHwNotify,
  kTimestampSync,
  kNcModelSwitch,
  kTensorAlloc,
  kTensorFree,
  kTensorBlockWhileExec,
  kDmemBufCopyin,
  kDmemBufCopyout,
  kDmemBufBatchCopyin,
  kDmemBufBatchCopyout,
  kDmaMemAlloc,
  kDmaMemDealloc,
  kConsumeTpbStatusNotifications,
  kConsumeTopspCcNotifications,
  kConsumeErrorNotifications,
  kConsumePoolStdio,
  kCcPrepare,
  kCcSchedule,
  kHostCcBuildContext,
  kHostCcLoad,
  kHostCcExec,
  kHostCcWait,
  kCount
};
inline constexpr std::size_t kEventTypes = static_cast<std::size_t>(EventType::kCount);
static_assert(kEventTypes == 46);

constexpr std::uint64_t bit_of(EventType type) {
  return std::uint64_t{1} << static_cast<unsigned>(type);
}
inline constexpr std::uint64_t kAllTypes = (std::uint64_t{1} << kEventTypes) - 1;

enum class Phase : std::uint8_t { kStart = 0, kStop = 1, kInstant = 2 };

inline constexpr std::size_t kMaxCores = 256;  // logical cores of one process

// Values in the order of fields_of() in event_types.h; unused ones are 0.
inline constexpr std::size_t kPayloadWords = 6;
using Payload = std::array<std::uint64_t, kPayloadWords>;

struct Event {
  EventType type = EventType::kGeneric;
  Phase phase = Phase::kInstant;
  std::uint32_t core = 0;      // process-local logical core; 0 for what belongs to none
  std::uint64_t tracking = 0;  // the same on START and STOP of one span; 0: a fresh one
  std::uint64_t sequence = 0;  // explicit asynchronous request; 0: none
  Payload data{};
};

// An event as it was kept.
struct Record {
  Event event;
  std::uint64_t id = 0;       // in the process
  std::uint64_t core_id = 0;  // in its ring
  std::uint64_t thread = 0;   // kernel thread id
  std::uint64_t time_ns = 0;  // wall clock
};

}  // namespace opennrt::trace
