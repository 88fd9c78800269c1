// SPDX-License-Identifier: Apache-2.0
//
// State that the emulated driver keeps per device. Plain data under
// DeviceNode::mutex; the rules live in the request files.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device.h"
#include "device/memory.h"
#include "driver/abi.h"
#include "driver/handle_table.h"
#include "driver/range_pool.h"

namespace opennrt::emu {

class Machine;

inline constexpr std::uint32_t kMaxAttached = 16;
inline constexpr std::uint32_t kMaxCores = 8;      // MAX_NC_PER_DEVICE of the interface
inline constexpr std::uint32_t kMaxEngines = 132;  // DMA engines the interface can name
inline constexpr std::uint32_t kMaxQueues = 16;
inline constexpr std::uint32_t kQueueSlots = 96;  // notification queues per core
inline constexpr std::uint32_t kStores = 16;
inline constexpr std::uint64_t kStoreBytes = 262144;
inline constexpr std::uint32_t kStoreCounters = 95;  // of a core
inline constexpr std::uint32_t kMemTypes = 20;
inline constexpr std::uint32_t kMemTypeDriverHost = 5;  // NCDEV_HOST

enum class Lifespan : std::uint8_t { kProcess, kDevice };
enum class Pool : std::uint8_t { kReserved, kSmall, kMain, kContiguous, kHost };

// The address range under a chunk. Mappings hold it too, so that freed host
// memory is not handed out again below a live mapping.
struct Backing {
  Machine* machine = nullptr;  // set for host memory: gives the range back
  std::uint64_t address = 0, bytes = 0;
  ~Backing();
};

struct Chunk {
  std::uint64_t pa = 0;  // device view: host memory carries the host-window bit
  std::uint64_t bytes = 0;
  std::uint64_t handle = 0;
  std::uint64_t sequence = 0;  // order of allocation
  std::uint32_t owner = 0;     // pid
  std::uint32_t mem_type = 0;
  std::uint32_t channel = 0, core = 0;
  Lifespan lifespan = Lifespan::kProcess;
  Pool pool = Pool::kMain;
  bool driver_owned = false;  // MEM_FREE takes only the handle
  std::shared_ptr<Backing> backing;
  // Copies under way, which hold no lock. Freed meanwhile, it goes with the last.
  std::uint32_t pins = 0;
  bool condemned = false, discards_small = false;

  bool host() const { return pool == Pool::kHost; }
};

struct ChannelPools {
  std::uint64_t base = 0, bytes = 0;
  RangePool main, small;             // small is empty when the channel is not larger than 1 GiB
  std::uint64_t contiguous = 0;      // bytes of type 19 counted below the end of main
  std::uint64_t used = 0;            // by chunks, without the firmware area
  std::uint64_t limit = UINT64_MAX;  // memory_exhausted
};

struct Attach {
  std::uint32_t pid = 0, count = 0;
};

struct CoreLock {
  std::uint32_t writer_pid = 0, readers = 0;
  bool writing = false;
  abi::Uuid uuid;
};

// Bytes allocated, as the statistics tell them.
struct Usage {
  std::uint64_t present = 0, peak = 0;
  std::int64_t last = 0;  // change
  void add(std::int64_t bytes) {
    present += static_cast<std::uint64_t>(bytes);
    peak = present > peak ? present : peak;
    last = bytes;
  }
};
struct MemoryUsage {
  std::array<std::array<Usage, kMemTypes>, kMaxCores> device{};  // by core and type
  std::array<Usage, kMemTypes> host{};                           // by type
  std::array<Usage, kMaxCores> device_of_core{}, host_of_core{};

  void add(const Chunk& chunk, std::int64_t bytes) {
    const std::uint32_t unknown = chunk.host() ? 0 : 7;
    const std::uint32_t type = chunk.mem_type < kMemTypes ? chunk.mem_type : unknown;
    const std::uint32_t core = chunk.core % kMaxCores;
    (chunk.host() ? host[type] : device[core][type]).add(bytes);
    (chunk.host() ? host_of_core : device_of_core)[core].add(bytes);
  }
};

enum class CoreInit : std::uint32_t { kStarted = 1, kCompleted = 2, kInvalid = 3 };

struct DataStore {
  Chunk* chunk = nullptr;
  std::uint32_t pid = 0;      // 0: free
  std::uint64_t cleared = 0;  // sequence of the last clearing, 0: never used
};

struct Queue {
  std::uint32_t owner = 0;
  std::uint32_t tx_length = 0, rx_length = 0;
  bool rx_memory = false;
  std::uint32_t h2t_owner = 0;  // pid that took it with H2T_DMA_ALLOC_QUEUES
};

enum class NodeState : std::uint32_t { kReset = 0, kReady = 1, kInvalid = 2 };

// A reset that somebody asked for, until it is collected.
struct Reset {
  std::chrono::steady_clock::time_point done{};
  bool failed = false, delayed = false;
};

struct DeviceNode {
  Machine* machine = nullptr;
  std::uint32_t index = 0, routing_id = 0;
  std::shared_ptr<DeviceMemory> memory;
  std::unique_ptr<Device> device;

  std::mutex mutex;
  std::condition_variable changed;
  NodeState state = NodeState::kReady;
  Reset full_reset;  // what ends the state kReset
  // Resets so far but for that of start-up, and the time from which the device
  // counts as failed.
  std::uint64_t reset_count = 0;
  std::chrono::steady_clock::time_point fails_at = std::chrono::steady_clock::time_point::max();
  std::uint32_t descriptors = 0;  // open on the device lane
  std::array<Attach, kMaxAttached> attached{};

  std::map<std::uint64_t, std::unique_ptr<Chunk>> chunks;  // by PA, device and host
  HandleTable handles;
  std::vector<ChannelPools> channels;
  std::uint64_t host_used = 0, host_limit = UINT64_MAX;
  std::uint64_t sequence = 0;

  std::vector<std::array<Chunk*, kQueueSlots>> core_queues, topsp_queues;  // notifications
  std::array<DataStore, kStores> stores{};
  std::array<std::array<std::uint64_t, kStoreCounters>, kMaxCores> store_totals{};
  MemoryUsage usage;
  std::array<std::uint64_t, kMaxCores> reset_requests{}, reset_failures{};
  std::array<CoreLock, kMaxCores> locks{};
  std::array<CoreInit, kMaxCores> init;
  std::map<std::uint32_t, Reset> resets;  // by request id
  std::array<std::array<Queue, kMaxQueues>, kMaxEngines> queues{};
  std::array<std::uint32_t, kMaxEngines> engine_state;
  std::array<std::array<bool, 3>, kMaxCores> async_slots{};
  std::vector<bool> scrubbing;
  Chunk* dummy_ring = nullptr;

  // A request that is still under way when its descriptor was the last to close
  // must leave nothing behind.
  bool abandoned() const { return descriptors == 0; }
  Attach* find_attached(std::uint32_t pid) {
    for (Attach& a : attached)
      if (a.count && a.pid == pid) return &a;
    return nullptr;
  }
  // The chunk that contains the address, or nullptr.
  Chunk* find_chunk(std::uint64_t pa) const {
    auto it = chunks.upper_bound(pa);
    if (it == chunks.begin()) return nullptr;
    Chunk* chunk = std::prev(it)->second.get();
    return pa - chunk->pa < chunk->bytes ? chunk : nullptr;
  }
};

}  // namespace opennrt::emu
