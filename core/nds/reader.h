// SPDX-License-Identifier: Apache-2.0
//
// What another process shows of itself: a slab copied out and checked. The owner
// writes meanwhile and may end at any time, so nothing in the slab is believed
// before it is checked, and nothing is written to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nds/layout.h"

namespace opennrt::nds {

enum class Readable : std::uint8_t {
  kYes,
  kTooSmall,      // of an older layout, or cut
  kNotYet,        // the owner has not begun to write
  kNoStore,       // something else is there
  kOtherVersion,  // a layout of another version
};

// A loaded model on one core.
struct ModelReading {
  std::uint32_t model_id = 0, node_id = 0;
  std::string name;
  std::array<std::uint8_t, 16> uuid{};
  std::uint32_t core = 0, subgraph = 0;  // core: physical, of the device
  // Bytes by place (host, device) and NDS_DMA_MEM_USAGE_SLOT_*.
  std::array<std::array<std::uint64_t, kMemorySlots>, 2> bytes{};
};

struct StoreReading {
  Readable readable = Readable::kNotYet;
  std::uint32_t version = 0;  // of the layout
  std::array<std::uint64_t, kDeviceCounters> device{};
  std::array<std::array<std::uint64_t, kCoreCounters>, kCores> cores{};
  // Of the process; empty or 0 where its record is not there or damaged.
  std::string tag;
  std::optional<std::int8_t> framework_type;
  nds_version_info_t runtime{}, framework{};
  std::vector<ModelReading> models;
  // Records that are no such thing.
  std::uint32_t damaged_models = 0;
  bool damaged_process = false;
};

// Never fails: what could not be read is said in it. Waits at most some
// milliseconds for a writer that is in the middle of a record.
StoreReading read_store(const void* slab, std::size_t bytes);
// Why nothing can be read; empty for kYes.
std::string reason_of(const StoreReading& reading, std::size_t bytes);

// A sum that a writer went below zero with, or that nobody has as much memory for,
// is none.
std::optional<std::uint64_t> plausible_bytes(std::uint64_t counter);

}  // namespace opennrt::nds
