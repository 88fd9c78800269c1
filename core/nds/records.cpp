// SPDX-License-Identifier: Apache-2.0
#include "nds/records.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace opennrt::nds {

namespace {

// The last byte stays zero.
template <std::size_t N>
void copy_text(char (&out)[N], std::string_view text) {
  std::memset(out, 0, N);
  text.copy(out, N - 1);
}

struct StatusCounter {
  NRT_STATUS status;
  CoreCounter counter;
};
constexpr StatusCounter kStatusCounters[] = {
    {NRT_SUCCESS, kCompleted},
    {NRT_FAILURE, kGenericFail},
    {NRT_INVALID, kErrorInvalid},
    {NRT_RESOURCE, kErrorResource},
    {NRT_TIMEOUT, kTimedOut},
    {NRT_HW_ERROR, kErrorHardware},
    {NRT_QUEUE_FULL, kFailedToQueue},
    {NRT_LOAD_NOT_ENOUGH_NC, kErrorResourceCore},
    {NRT_UNSUPPORTED_NEFF_VERSION, kErrorNeffVersion},
    {NRT_EXEC_BAD_INPUT, kIncorrectInput},
    {NRT_EXEC_COMPLETED_WITH_NUM_ERR, kCompletedWithNumericalErrors},
    {NRT_EXEC_COMPLETED_WITH_ERR, kCompletedWithErrors},
    {NRT_EXEC_OOB, kOutOfBounds},
    {NRT_EXEC_HW_ERR_COLLECTIVES, kHardwareCollectives},
    {NRT_EXEC_HW_ERR_HBM_UE, kHardwareHbm},
    {NRT_EXEC_HW_ERR_NC_UE, kHardwareCore},
    {NRT_EXEC_HW_ERR_DMA_ABORT, kHardwareDmaAbort},
    {NRT_EXEC_SW_NQ_OVERFLOW, kQueueOverflow},
    {NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE, kHardwareRepairableHbm},
};

struct KindCounter {
  ErrorKind kind;
  CoreCounter counter;
};
constexpr KindCounter kKindCounters[] = {
    {kTransient, kErrorTransient},
    {kMemoryCorrected, kErrorTransient},
    {kMemoryUncorrected, kErrorHardware},
    {kSemaphore, kSoftwareSemaphore},
    {kEvent, kSoftwareEvent},
    {kPsumCollision, kSoftwarePsumCollision},
    {kSequencer, kSoftwareSequencerFatal},
};
static_assert(std::size(kKindCounters) == kErrorKinds);

}  // namespace

ProcessInfoRecord process_record(const Process& process) {
  ProcessInfoRecord out{};
  out.info.framework_type = process.framework_type;
  copy_text(out.info.tag, process.tag);
  out.info.framework_version = process.framework;
  out.info.fal_version = process.fal;
  out.info.runtime_version = process.runtime;
  return out;
}

ProcessInfoExtRecord extended_process_record(const Process& process) {
  ProcessInfoExtRecord out{};
  copy_text(out.info.tag, process.tag);
  return out;
}

nds_version_info_t parse_version(std::string_view text) {
  std::uint32_t parts[3] = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::uint32_t& part : parts) {
    const auto [next, error] = std::from_chars(at, end, part);
    if (error != std::errc()) {
      part = 0;
      break;
    }
    at = next;
    if (at == end || *at != '.') break;
    ++at;
  }
  constexpr std::uint32_t kMost = 255;
  return {.major = static_cast<std::uint8_t>(std::min(parts[0], kMost)),
          .minor = static_cast<std::uint8_t>(std::min(parts[1], kMost)),
          .build = parts[2]};
}

std::uint64_t packed(const nds_version_info_t& version, std::uint16_t kind) {
  return std::uint64_t{kind} << 48 | std::uint64_t{version.major} << 40 |
         std::uint64_t{version.minor} << 32 | version.build;
}

std::uint32_t counter_of(NRT_STATUS status) {
  for (const StatusCounter& row : kStatusCounters)
    if (row.status == status) return row.counter;
  return UINT32_MAX;
}

std::size_t counters_of(std::uint32_t kinds, std::span<std::uint32_t> out) {
  std::size_t n = 0;
  for (const KindCounter& row : kKindCounters)
    if ((kinds & row.kind) != 0 && n < out.size()) out[n++] = row.counter;
  return n;
}

}  // namespace opennrt::nds
