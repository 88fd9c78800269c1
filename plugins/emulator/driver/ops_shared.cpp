// SPDX-License-Identifier: Apache-2.0
//
// What processes share: model locks, core reservations, data stores.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "driver/operations.h"

namespace opennrt::emu {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kReaderPatience{500}, kWriterPatience{2000};

bool same(const abi::Uuid& a, const abi::Uuid& b) {
  return std::memcmp(a.value, b.value, sizeof a.value) == 0;
}

bool mine(const CoreLock& lock, const Call& call, const abi::Crwl& a) {
  return lock.writer_pid == call.client.pid && same(lock.uuid, a.uuid);
}

}  // namespace

std::int64_t reader_enter(Call& call, abi::Crwl& a) {
  if (a.nc_id >= kMaxCores) return -EINVAL;
  std::unique_lock lock(call.node.mutex);
  CoreLock& core = call.node.locks[a.nc_id];
  if (!call.node.changed.wait_for(lock, kReaderPatience, [&] { return !core.writing; }))
    return -EBUSY;
  if (!mine(core, call, a)) return -ENOENT;
  ++core.readers;
  return 0;
}

std::int64_t reader_exit(Call& call, abi::Crwl& a) {
  if (a.nc_id >= kMaxCores) return -EINVAL;
  std::lock_guard lock(call.node.mutex);
  CoreLock& core = call.node.locks[a.nc_id];
  if (!mine(core, call, a)) return -ENOENT;
  if (core.readers == 0) return -EINVAL;
  --core.readers;
  call.node.changed.notify_all();
  return 0;
}

std::int64_t writer_enter(Call& call, abi::Crwl& a) {
  if (a.nc_id >= kMaxCores) return -EINVAL;
  std::unique_lock lock(call.node.mutex);
  CoreLock& core = call.node.locks[a.nc_id];
  if (!call.node.changed.wait_for(lock, kWriterPatience,
                                  [&] { return !core.writing && core.readers == 0; }))
    return -EBUSY;
  const bool again = mine(core, call, a);
  core.writing = true;
  core.writer_pid = call.client.pid;
  core.uuid = a.uuid;
  return again ? -EALREADY : 0;  // the lock is held in both cases
}

std::int64_t writer_downgrade(Call& call, abi::Crwl& a) {
  if (a.nc_id >= kMaxCores) return -EINVAL;
  std::lock_guard lock(call.node.mutex);
  CoreLock& core = call.node.locks[a.nc_id];
  if (!core.writing) return -EINVAL;
  if (!mine(core, call, a)) return -ENOENT;
  core.writing = false;
  core.readers = 1;
  call.node.changed.notify_all();
  return 0;
}

// Core numbers of a caller count from the device whose node it opened.
int Machine::mark_cores(const DeviceNode& node, std::uint32_t pid, std::uint32_t count,
                        std::uint32_t start, std::uint32_t end, std::uint32_t* max,
                        std::uint64_t bitmap[8]) {
  if (start > end || end >= marks_.size()) return -EINVAL;
  const std::uint32_t base = node.index * cores();
  const std::uint32_t limit = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{end} + base, marks_.size() - 1));
  *max = 0;
  std::lock_guard lock(marks_mutex_);
  for (std::uint32_t i = start + base; i <= limit; ++i) {
    if (marks_[i]) continue;
    std::uint32_t j = i;
    while (j <= limit && j - i < count && marks_[j] == 0) ++j;
    if (j - i == count) {
      std::fill(bitmap, bitmap + 8, 0);
      for (std::uint32_t k = i; k < j; ++k) {
        marks_[k] = pid;
        bitmap[(k - base) / 64] |= std::uint64_t{1} << ((k - base) % 64);
      }
      return 0;
    }
    *max = std::max(*max, j - i);
    // The driver goes on two cores past the occupied one.
    i = j + 1;
  }
  return -EBUSY;
}

void Machine::unmark_cores(const DeviceNode& node, std::uint32_t pid,
                           const std::uint64_t bitmap[8]) {
  const std::uint32_t base = node.index * cores();
  std::lock_guard lock(marks_mutex_);
  for (std::uint32_t k = 0; k + base < marks_.size(); ++k)
    if ((bitmap[k / 64] >> (k % 64) & 1) && marks_[k + base] == pid) marks_[k + base] = 0;
}

std::vector<std::uint32_t> Machine::core_owners() {
  std::lock_guard lock(marks_mutex_);
  return marks_;
}

namespace {

template <typename T>
std::int64_t mark(Call& call, T& a, std::uint64_t bitmap[8]) {
  const int r = call.machine.mark_cores(call.node, call.client.pid, a.nc_count, a.start_nc_index,
                                        a.end_nc_index, &a.max_nc_available, bitmap);
  if (r != 0 && r != -EBUSY) return r;
  if constexpr (sizeof a.bitmap == sizeof(std::uint64_t)) {
    if (r == 0) a.bitmap = bitmap[0];
  } else {
    if (r == 0) std::copy(bitmap, bitmap + 8, a.bitmap);
  }
  if (int error = call.memory.write(call.arg, &a, sizeof a)) return error;
  return r;
}

}  // namespace

std::int64_t range_mark(Call& call, abi::CrwlNcMap& a) {
  std::uint64_t bitmap[8] = {};
  return mark(call, a, bitmap);
}

std::int64_t range_mark_ext(Call& call, abi::CrwlNcMapExt& a) {
  std::uint64_t bitmap[8] = {};
  return mark(call, a, bitmap);
}

std::int64_t range_unmark(Call& call, abi::CrwlNcMap& a) {
  const std::uint64_t bitmap[8] = {a.bitmap};
  call.machine.unmark_cores(call.node, call.client.pid, bitmap);
  return 0;
}

std::int64_t range_unmark_ext(Call& call, abi::CrwlNcMapExt& a) {
  call.machine.unmark_cores(call.node, call.client.pid, a.bitmap);
  return 0;
}

// Adds the counters of the store to the totals of the device and empties it.
void Machine::fold_store(DeviceNode& node, DataStore& store) {
  constexpr std::uint64_t kCoreCounters = 256, kExtended = 55936;
  constexpr std::uint32_t kCores = 4, kBase = 31, kMore = 64, kPerCore = 96;
  store.pid = 0;
  store.cleared = ++node.sequence;
  if (!store.chunk) return;
  const std::uint64_t address = store.chunk->backing->address;
  const std::uint8_t* data = host_region_->data() + address;
  const auto add = [&](std::uint32_t core, std::uint32_t counter, std::uint64_t offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, data + offset, sizeof value);
    node.store_totals[core * kPerCore + counter] += value;
  };
  for (std::uint32_t core = 0; core < kCores; ++core) {
    for (std::uint32_t i = 0; i < kBase; ++i)
      add(core, i, kCoreCounters + (core * kBase + i) * sizeof(std::uint64_t));
    for (std::uint32_t i = 0; i < kMore; ++i)
      add(core, kBase + i, kExtended + (core * kMore + i) * sizeof(std::uint64_t));
  }
  host_region_->discard(address, kStoreBytes);
}

std::int64_t store_acquire(Call& call, abi::DsInfo& a) {
  const std::uint32_t pid = a.pid == 0 ? call.client.pid : static_cast<std::uint32_t>(a.pid);
  {
    std::lock_guard lock(call.node.mutex);
    DataStore* store = nullptr;
    for (DataStore& s : call.node.stores)
      if (s.pid == pid) store = &s;
    if (!store) {
      if (a.pid != 0) return -ENOENT;
      // Never used ones first, then the one cleared longest ago.
      for (DataStore& s : call.node.stores)
        if (s.pid == 0 && (!store || s.cleared < store->cleared)) store = &s;
      if (!store) return -ENOMEM;
      if (!store->chunk) {
        Machine::AllocRequest request;
        request.bytes = kStoreBytes;
        request.host = true;
        request.lifespan = Lifespan::kDevice;
        request.handle = false;
        if (int error = call.machine.allocate(call.node, request, &store->chunk)) return error;
      }
      store->pid = pid;
    }
    a.mmap_offset = store->chunk->pa;
    a.size = kStoreBytes;
  }
  return call.reply(a);
}

std::int64_t store_release(Call& call, abi::DsInfo& a) {
  std::lock_guard lock(call.node.mutex);
  const std::uint32_t pid = a.pid == 0 ? call.client.pid : static_cast<std::uint32_t>(a.pid);
  if (pid != call.client.pid) return 0;
  for (DataStore& store : call.node.stores)
    if (store.pid == pid) call.machine.fold_store(call.node, store);
  return 0;
}

}  // namespace opennrt::emu
