// SPDX-License-Identifier: Apache-2.0
//
// A small model of the kernel driver, written from the description of its
// interface and the recorded transcripts, sharing nothing with the emulated
// driver: what each request returns, and what it leaves behind. Where the
// description leaves something open (addresses of host memory, which of two
// numbers comes first) the model is told what the driver chose, and holds it to
// that from then on.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace opennrt::sequences {

// What the description says of a silicon family.
struct Family {
  std::uint32_t cores = 2, topsps = 6;
  std::vector<std::uint64_t> channel_base;
  std::uint64_t channel_bytes = 0, host_window = 0;
  std::vector<std::uint32_t> copy_engine, copy_queue;  // of each core
};

constexpr std::uint64_t kPageBytes = 4096;

class Pages {  // free ranges, lowest first
 public:
  Pages() = default;
  Pages(std::uint64_t base, std::uint64_t bytes) : base_(base), end_(base + bytes) {}
  std::optional<std::uint64_t> first_fit(std::uint64_t bytes, std::uint64_t align) const;
  bool is_free(std::uint64_t at, std::uint64_t bytes) const;
  void take(std::uint64_t at, std::uint64_t bytes) { used_[at] = bytes; }
  void give(std::uint64_t at) { used_.erase(at); }
  std::uint64_t end() const { return end_; }

 private:
  std::uint64_t base_ = 0, end_ = 0;
  std::map<std::uint64_t, std::uint64_t> used_;
};

struct Block {
  std::uint64_t handle = 0, pa = 0, bytes = 0, order = 0;
  std::uint32_t owner = 0, type = 0, channel = 0, core = 0;
  bool host = false, small = false, contiguous = false, stays = false;
  std::map<std::uint64_t, std::uint8_t> known;  // content by offset, as far as it is known
};

struct Lock {
  std::uint32_t writer = 0, readers = 0, uuid = 0;
  bool writing = false;
};

struct Store {
  std::uint32_t pid = 0;
  std::uint64_t cleared = 0, cookie = 0;
  std::map<std::uint32_t, std::uint64_t> counters;  // core << 8 | counter
};

struct Ring {
  std::uint32_t owner = 0, tx = 0, rx = 0, taken_by = 0;
  bool memory = false;
};

struct Notification {
  std::uint64_t handle = 0;
};

struct DeviceModel {
  std::map<std::uint32_t, std::uint32_t> attached;  // pid -> count
  std::vector<std::uint64_t> free_handles;
  std::uint64_t next_handle = 1, order = 0, cleared = 0;
  std::map<std::uint64_t, Block> blocks;  // by handle
  struct Channel {
    Pages main, small;
    std::uint64_t contiguous = 0;
  };
  std::vector<Channel> channels;
  std::array<Lock, 8> locks;
  std::array<Store, 16> stores;
  std::map<std::uint32_t, std::uint64_t> totals;  // of stores that are gone
  std::array<std::array<bool, 3>, 8> slots{};
  std::array<std::uint32_t, 8> init{};
  std::map<std::uint32_t, bool> resets;
  std::map<std::uint32_t, std::uint32_t> semaphores, events;  // core << 16 | index
  std::map<std::uint32_t, Ring> rings;                        // engine << 8 | queue
  std::map<std::uint32_t, Notification> notifications;        // type << 24 | id << 8 | slot
  bool in_reset = false;
};

struct FileModel {
  std::uint32_t device = 0, open_file = 0;
  bool misc = false, readable = false, writable = false;
};

class Model {
 public:
  Model(const Family& family, std::uint32_t devices, bool copy_queues_are_owned);

  // --- descriptors -----------------------------------------------------------
  // 0 or an error; the descriptor is what the driver chose.
  int open_result(std::uint32_t pid, std::uint32_t device, std::uint32_t flags) const;
  void opened(std::uint32_t pid, std::uint32_t device, std::uint32_t flags, int fd);
  void duplicated(int fd, int copy) { files_[copy] = files_.at(fd); }
  int close(std::uint32_t pid, int fd);
  bool is_open(int fd) const { return files_.count(fd) != 0; }
  const FileModel& file(int fd) const { return files_.at(fd); }
  DeviceModel& device(int fd) { return devices_[files_.at(fd).device]; }

  enum Gate { kOpen, kAttached };
  enum Lane { kDeviceLane, kBothLanes };
  // What decides before the request itself: 0 to go on.
  int enter(std::uint32_t pid, int fd, Lane lane, Gate gate) const;

  // --- memory ----------------------------------------------------------------
  struct Allocation {
    std::uint64_t bytes = 0, align = 0;
    bool host = false;
    std::uint32_t channel = 0, core = 0, type = 0;
  };
  // On success *out is the new block. A host block has no address yet.
  int allocate(std::uint32_t pid, int fd, const Allocation& a, Block** out);
  int release(int fd, std::uint64_t handle);
  Block* find(int fd, std::uint64_t handle);
  // Bytes that (block, offset) may name.
  std::uint64_t reach(int fd, const Block& block) const;
  // 0 or -EINVAL.
  int range(int fd, std::uint64_t handle, std::uint64_t offset, std::uint64_t bytes, Block** out);
  static void copied(const Block& from, std::uint64_t at, Block& to, std::uint64_t where,
                     std::uint64_t bytes);
  int map_result(std::uint32_t pid, int fd, std::uint64_t bytes, bool write, std::uint64_t pa,
                 bool* writable) const;

  // --- everything else: result, outputs through pointers ----------------------
  int async_start(int fd, Block& from, Block& to, std::uint64_t bytes, std::int32_t previous,
                  std::uint32_t* slot);
  int async_wait(int fd, Block& from, Block& to, std::int32_t slot);
  int lock(std::uint32_t pid, int fd, int what, std::uint32_t core, std::uint32_t uuid);
  int mark(std::uint32_t pid, int fd, std::uint32_t count, std::uint32_t start, std::uint32_t end,
           std::uint32_t* max, std::array<std::uint64_t, 8>* bitmap);
  void unmark(std::uint32_t pid, int fd, const std::array<std::uint64_t, 8>& bitmap);
  bool range_has_free(int fd, std::uint32_t start, std::uint32_t end) const;
  int store_acquire(std::uint32_t pid, int fd, std::int32_t which, Store** out);
  void store_release(std::uint32_t pid, int fd, std::int32_t which);
  // Of all stores, and of those that are gone too.
  static std::uint64_t present(const DeviceModel& d, std::uint32_t counter);
  static std::uint64_t total(const DeviceModel& d, std::uint32_t counter);
  int init_state(int fd, std::uint32_t core, std::uint32_t state, std::uint32_t* now);
  int reset(std::uint32_t pid, int fd, std::uint32_t map);
  int ready(int fd, std::uint32_t id);
  int semaphore(int fd, std::uint32_t core, std::uint32_t index, std::uint32_t** value);
  int event(int fd, std::uint32_t core, std::uint32_t index, std::uint32_t** value);
  int ring_init(std::uint32_t pid, int fd, std::uint32_t engine, std::uint32_t queue,
                std::uint32_t tx, std::uint32_t rx, std::uint64_t tx_handle,
                std::uint64_t rx_handle);
  int h2t_take(std::uint32_t pid, int fd, std::uint32_t core, std::uint32_t copies,
               std::uint32_t services, std::uint32_t* copy_map, std::uint32_t* service_map);
  int h2t_free(int fd, std::uint32_t core, std::uint32_t map);
  struct Queue {
    std::uint32_t kind = 0, id = 0, type = 0, engine = 0, bytes = 0, channel = 0;
    bool host = false, force = false;
  };
  // *known: the block that is kept; nullptr: a new one, whose place is told next.
  int notification(int fd, const Queue& queue, Block** known);
  void notification_made(std::uint32_t pid, int fd, const Queue& queue, std::uint64_t handle,
                         std::uint64_t pa);

  const Family& family() const { return family_; }
  std::string wrong;  // first thing the driver chose that it may not

 private:
  bool is_default(std::uint32_t engine, std::uint32_t queue) const;
  void leave(DeviceModel& d, std::uint32_t pid);
  void drop(DeviceModel& d, Block& block);
  void drop_blocks(DeviceModel& d, const std::function<bool(const Block&)>& which);
  void drop_handle(DeviceModel& d, std::uint64_t handle) { d.free_handles.push_back(handle); }
  static void fold(DeviceModel& d, Store& store);

  Family family_;
  bool copy_queues_are_owned_;  // from 2.25.4.0 on
  std::vector<DeviceModel> devices_;
  std::map<int, FileModel> files_;
  std::uint32_t next_file_ = 0;
  std::array<std::uint32_t, 512> marks_{};
};

}  // namespace opennrt::sequences
