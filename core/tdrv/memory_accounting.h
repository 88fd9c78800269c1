// SPDX-License-Identifier: Apache-2.0
//
// Who uses how much memory of one device: totals per HBM channel, a row per
// core and usage, and a ring of the latest events for the out-of-memory report.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opennrt/ndl.h"

namespace opennrt::tdrv {

enum class Location : std::uint8_t { kHost = 1, kDevice = 2 };

enum class Usage : std::uint8_t {
  kGeneric = 0,
  kInstructionsPe = 1,
  kInstructionsAct = 2,
  kInstructionsPool = 3,
  kIo = 4,
  kSpill = 5,
  kWeight = 6,
  kNotification = 7,
  kActTable = 8,
  kInstructionsDve = 9,
  kInstructionsSp = 10,
  kScratchpad = 11,
  kTensor = 12,
  kUcodeLibrary = 13,
  kPoolStdio = 14,
  kCollectives = 15,
  kScratchpadNotShared = 16,
  kCodec = 17,
  kDmaRing = 18,
  kDmaRingSpill = 19,
  kDmaRingIo = 20,
  kDmaRingCollectives = 21,
};
inline constexpr std::size_t kUsages = 22;

const char* usage_name(Usage usage);
std::span<const char* const, kUsages> usage_names();  // by number
Usage instruction_usage(std::uint32_t engine);
// Category the driver books the memory under.
nrtp_mem_type driver_memory_type(Usage usage, Location location);

// NDS_DMA_MEM_USAGE_SLOT_* under which monitoring programs see it.
std::uint32_t data_store_slot(Usage usage, Location location);

struct MemoryEvent {
  bool allocated = false;  // else freed
  Location location = Location::kDevice;
  Usage usage = Usage::kGeneric;
  std::uint32_t channel = 0, core = 0;
  std::uint64_t size = 0, pa = 0, align_offset = 0;
  std::uint64_t channel_total = 0;  // after the event
  char hint[32]{};
};

class MemoryAccounting {
 public:
  static constexpr std::uint32_t kChannels = 8, kCores = 8;
  static constexpr std::size_t kEvents = 512;

  // Counts device memory only; the event is kept for both locations.
  void record(MemoryEvent event, std::string_view hint);
  std::uint64_t channel_total(std::uint32_t channel) const;
  std::uint64_t core_total(std::uint32_t core) const;
  std::uint64_t usage_total(std::uint32_t core, Usage usage) const;
  // Oldest first.
  std::vector<MemoryEvent> events() const;
  std::uint64_t dropped_events() const;
  // "HBM 0: 12 MiB (tensor 8 MiB, weight 4 MiB)", one line.
  std::string report(std::uint32_t channel) const;

 private:
  mutable std::mutex mutex_;
  std::array<std::uint64_t, kChannels> channels_{};
  std::array<std::array<std::uint64_t, kUsages + 1>, kCores> rows_{};  // last: total of the row
  std::vector<MemoryEvent> events_;
  std::size_t next_event_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace opennrt::tdrv
