// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <algorithm>
#include <cerrno>

namespace opennrt::sequences {

namespace {

constexpr std::uint64_t kMiB = 1 << 20, kGiB = 1 << 30;
constexpr std::uint32_t kContiguous = 19;
constexpr int kBroken = -1;  // what a broken ring rule or a timeout returns

std::uint64_t pages(std::uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

}  // namespace

std::optional<std::uint64_t> Pages::first_fit(std::uint64_t bytes, std::uint64_t align) const {
  align = std::max(align, kPageBytes);
  const auto up = [&](std::uint64_t at) { return (at + align - 1) / align * align; };
  std::uint64_t at = up(base_);
  for (const auto& [used, length] : used_) {
    if (at + bytes <= used) break;
    at = std::max(at, up(used + length));
  }
  if (at + bytes > end_ || at + bytes < at) return {};
  return at;
}

bool Pages::is_free(std::uint64_t at, std::uint64_t bytes) const {
  if (at < base_ || at + bytes > end_) return false;
  return std::none_of(used_.begin(), used_.end(), [&](const auto& u) {
    return u.first < at + bytes && at < u.first + u.second;
  });
}

Model::Model(const Family& family, std::uint32_t devices, bool copy_queues_are_owned)
    : family_(family), copy_queues_are_owned_(copy_queues_are_owned) {
  devices_.resize(devices);
  for (DeviceModel& d : devices_) {
    d.init.fill(3);
    for (const std::uint64_t base : family.channel_base) {
      const std::uint64_t small = family.channel_bytes > kGiB ? kGiB : 0;
      d.channels.push_back({Pages(base + 16 * kMiB, family.channel_bytes - 16 * kMiB - small),
                            Pages(base + family.channel_bytes - small, small)});
    }
  }
}

int Model::open_result(std::uint32_t pid, std::uint32_t device, std::uint32_t flags) const {
  if (device >= devices_.size()) return -ENOENT;
  if (flags & 1) return 0;
  const DeviceModel& d = devices_[device];
  return d.attached.count(pid) == 0 && d.attached.size() >= 16 ? -EBUSY : 0;
}

void Model::opened(std::uint32_t pid, std::uint32_t device, std::uint32_t flags, int fd) {
  FileModel f;
  f.device = device;
  f.open_file = next_file_++;
  f.misc = flags & 1;
  f.readable = flags != 1;
  f.writable = flags != 0;
  if (files_.count(fd)) wrong = "a descriptor is given twice";
  files_[fd] = f;
  if (!f.misc) {
    ++devices_[device].attached[pid];
    devices_[device].in_reset = false;
  }
}

// A close by a process that is attached detaches it once, whoever opened it.
int Model::close(std::uint32_t pid, int fd) {
  const auto it = files_.find(fd);
  if (it == files_.end()) return -EBADF;
  const FileModel gone = it->second;
  files_.erase(it);
  DeviceModel& d = devices_[gone.device];
  if (gone.misc) {
    std::replace(marks_.begin(), marks_.end(), pid, 0u);
  } else if (const auto slot = d.attached.find(pid); slot != d.attached.end()) {
    if (slot->second == 1) leave(d, pid);
    if (--slot->second == 0) d.attached.erase(slot);
  }
  if (files_.empty()) marks_.fill(0);
  if (gone.misc) return 0;
  const bool others = std::any_of(files_.begin(), files_.end(), [&](const auto& f) {
    return !f.second.misc && f.second.device == gone.device;
  });
  if (others) return 0;
  // Nobody has the device open.
  for (Store& store : d.stores)
    if (store.pid) fold(d, store);
  d.locks.fill(Lock{});
  d.resets.clear();
  for (auto& [where, ring] : d.rings) ring.owner = ring.taken_by = 0;
  drop_blocks(d, [](const Block&) { return true; });
  while (!d.attached.empty()) {
    leave(d, d.attached.begin()->first);
    d.attached.erase(d.attached.begin());
  }
  return 0;
}

// Newest first: the transcript close_cleanup hands the numbers out from the oldest.
void Model::drop_blocks(DeviceModel& d, const std::function<bool(const Block&)>& which) {
  std::vector<Block*> gone;
  for (auto& [handle, block] : d.blocks)
    if (!block.stays && which(block)) gone.push_back(&block);
  std::sort(gone.begin(), gone.end(),
            [](const Block* a, const Block* b) { return a->order > b->order; });
  for (Block* block : gone) drop(d, *block);
}

void Model::leave(DeviceModel& d, std::uint32_t pid) {
  d.resets.erase(pid);
  for (auto& [where, ring] : d.rings) {
    if (ring.taken_by == pid) ring.taken_by = 0;
    if (ring.owner != pid) continue;
    ring.owner = 0;
    // Default copy queues stay; the sequences use no instruction rings.
    if (is_default(where >> 8, where & 0xFF)) continue;
    ring.tx = ring.rx = 64;
    ring.memory = true;
  }
  for (Lock& lock : d.locks)
    if (lock.writer == pid) lock = Lock{};
  for (Store& store : d.stores)
    if (store.pid == pid) fold(d, store);
  drop_blocks(d, [pid](const Block& block) { return block.owner == pid; });
}

void Model::drop(DeviceModel& d, Block& block) {
  if (!block.host) {
    DeviceModel::Channel& channel = d.channels[block.channel];
    (block.small ? channel.small : channel.main).give(block.pa);
    if (block.contiguous) channel.contiguous -= block.bytes;
  }
  drop_handle(d, block.handle);
  d.blocks.erase(block.handle);
}

int Model::enter(std::uint32_t pid, int fd, Lane lane, Gate gate) const {
  const auto it = files_.find(fd);
  if (it == files_.end()) return -EBADF;
  if (it->second.misc) return lane == kBothLanes ? 0 : -EINVAL;
  if (gate == kAttached && !devices_[it->second.device].attached.count(pid)) return -EACCES;
  return 0;
}

int Model::allocate(std::uint32_t pid, int fd, const Allocation& a, Block** out) {
  DeviceModel& d = device(fd);
  if (!d.attached.count(pid)) return -EACCES;
  if (a.bytes > INT64_MAX || a.channel >= d.channels.size() || a.core >= 8) return -EINVAL;
  if (a.host ? a.align != 0 : a.align > INT32_MAX) return -EINVAL;
  if (a.bytes == 0) return -ENOMEM;
  Block block;
  block.bytes = pages(a.bytes);
  block.owner = pid;
  block.type = a.type;
  block.channel = a.channel;
  block.core = a.core;
  block.host = a.host;
  DeviceModel::Channel& channel = d.channels[a.channel];
  if (a.host) {
    for (std::uint64_t i = 0; i < 64; ++i) block.known[i] = 0;
  } else if (a.type == kContiguous) {
    const std::uint64_t below = channel.contiguous + block.bytes;
    if (below > channel.main.end() ||
        !channel.main.is_free(channel.main.end() - below, block.bytes))
      return -ENOMEM;
    block.pa = channel.main.end() - below;
    block.contiguous = true;
    channel.contiguous = below;
    channel.main.take(block.pa, block.bytes);
  } else {
    const bool small_first = block.bytes <= 512 * 1024;
    bool found = false;
    for (const bool small : {small_first, !small_first}) {
      Pages& pool = small ? channel.small : channel.main;
      const auto at = pool.first_fit(block.bytes, a.align);
      if (!at) continue;
      block.pa = *at;
      block.small = small;
      pool.take(*at, block.bytes);
      found = true;
      break;
    }
    if (!found) return -ENOMEM;
  }
  block.order = ++d.order;
  if (d.free_handles.empty()) {
    block.handle = d.next_handle++;
  } else {
    block.handle = d.free_handles.back();
    d.free_handles.pop_back();
  }
  *out = &(d.blocks[block.handle] = block);
  return 0;
}

int Model::release(int fd, std::uint64_t handle) {
  Block* block = find(fd, handle);
  if (!block) return -EINVAL;
  drop(device(fd), *block);
  return 0;
}

Block* Model::find(int fd, std::uint64_t handle) {
  DeviceModel& d = device(fd);
  const auto it = d.blocks.find(handle);
  return it == d.blocks.end() ? nullptr : &it->second;
}

std::uint64_t Model::reach(int fd, const Block& block) const {
  if (!block.contiguous) return block.bytes;
  return devices_[files_.at(fd).device].channels[block.channel].main.end() - block.pa;
}

int Model::range(int fd, std::uint64_t handle, std::uint64_t offset, std::uint64_t bytes,
                 Block** out) {
  *out = find(fd, handle);
  if (!*out) return -EINVAL;
  const std::uint64_t end = reach(fd, **out);
  return offset <= end && bytes <= end - offset ? 0 : -EINVAL;
}

// Bytes that lie outside the block itself are not followed.
void Model::copied(const Block& from, std::uint64_t at, Block& to, std::uint64_t where,
                   std::uint64_t bytes) {
  std::map<std::uint64_t, std::uint8_t> moved;
  for (auto it = from.known.lower_bound(at); it != from.known.end() && it->first < at + bytes; ++it)
    moved[it->first - at + where] = it->second;
  to.known.erase(to.known.lower_bound(where), to.known.lower_bound(where + bytes));
  to.known.insert(moved.begin(), moved.end());
}

int Model::map_result(std::uint32_t pid, int fd, std::uint64_t bytes, bool write, std::uint64_t pa,
                      bool* writable) const {
  const auto it = files_.find(fd);
  if (it == files_.end()) return -EBADF;
  if (bytes == 0 || pa % kPageBytes) return -EINVAL;
  if (it->second.misc || (write && !it->second.writable)) return -EACCES;
  const DeviceModel& d = devices_[it->second.device];
  for (const auto& [handle, block] : d.blocks) {
    if (block.pa != pa) continue;
    const bool fits =
        block.contiguous ? pages(bytes) <= reach(fd, block) : pages(bytes) == block.bytes;
    if (!fits) return -EPERM;
    *writable = write && (block.owner == pid || block.stays);
    return 0;
  }
  return -EPERM;
}

int Model::async_start(int fd, Block& from, Block& to, std::uint64_t bytes, std::int32_t previous,
                       std::uint32_t* slot) {
  if (previous < -1 || previous > 2 || bytes > 133169152) return -EINVAL;
  auto& slots = device(fd).slots[from.host ? to.core : from.core];
  if (previous > 0) {
    if (!slots[static_cast<std::size_t>(previous)]) return -EINVAL;
    slots[static_cast<std::size_t>(previous)] = false;
  }
  *slot = previous == 0 ? 0 : previous == 1 ? 2 : 1;
  if (*slot) slots[*slot] = true;
  return 0;
}

int Model::async_wait(int fd, Block& from, Block& to, std::int32_t slot) {
  if (slot != 1 && slot != 2) return -EINVAL;
  bool& busy = device(fd).slots[from.host ? to.core : from.core][static_cast<std::size_t>(slot)];
  if (!busy) return -EINVAL;
  busy = false;
  return 0;
}

int Model::lock(std::uint32_t pid, int fd, int what, std::uint32_t core, std::uint32_t uuid) {
  if (core >= 8) return -EINVAL;
  Lock& lock = device(fd).locks[core];
  const bool same = lock.writer == pid && lock.uuid == uuid;
  switch (what) {
    case 0:  // reader enter
      if (lock.writing) return -EBUSY;
      if (!same) return -ENOENT;
      ++lock.readers;
      return 0;
    case 1:  // reader exit
      if (!same) return -ENOENT;
      if (lock.readers == 0) return -EINVAL;
      --lock.readers;
      return 0;
    case 2:  // writer enter
      if (lock.writing || lock.readers) return -EBUSY;
      lock = Lock{pid, 0, uuid, true};
      return same ? -EALREADY : 0;
    default:  // downgrade
      if (!lock.writing) return -EINVAL;
      if (!same) return -ENOENT;
      lock.writing = false;
      lock.readers = 1;
      return 0;
  }
}

bool Model::range_has_free(int fd, std::uint32_t start, std::uint32_t end) const {
  const std::uint32_t base = files_.at(fd).device * family_.cores;
  for (std::uint32_t core = start + base; core <= end + base && core < marks_.size(); ++core)
    if (!marks_[core]) return true;
  return false;
}

int Model::mark(std::uint32_t pid, int fd, std::uint32_t count, std::uint32_t start,
                std::uint32_t end, std::uint32_t* max, std::array<std::uint64_t, 8>* bitmap) {
  if (start > end || end >= 512) return -EINVAL;
  const std::uint32_t base = files_.at(fd).device * family_.cores;
  const std::uint32_t last = std::min(end + base, 511u);
  *max = 0;
  for (std::uint32_t at = start + base; at <= last;) {
    if (marks_[at]) {
      ++at;
      continue;
    }
    std::uint32_t run = 0;
    while (run < count && at + run <= last && !marks_[at + run]) ++run;
    if (run == count) {
      bitmap->fill(0);
      for (std::uint32_t i = 0; i < run; ++i) {
        marks_[at + i] = pid;
        (*bitmap)[(at + i - base) / 64] |= 1ull << (at + i - base) % 64;
      }
      return 0;
    }
    *max = std::max(*max, run);
    at += run + 2;  // the search resumes two cores past the occupied one
  }
  return -EBUSY;
}

void Model::unmark(std::uint32_t pid, int fd, const std::array<std::uint64_t, 8>& bitmap) {
  const std::uint32_t base = files_.at(fd).device * family_.cores;
  for (std::uint32_t i = 0; i + base < 512; ++i)
    if (bitmap[i / 64] >> i % 64 & 1 && marks_[i + base] == pid) marks_[i + base] = 0;
}

void Model::fold(DeviceModel& d, Store& store) {
  store.pid = 0;
  store.cleared = ++d.cleared;
  for (const auto& [counter, value] : store.counters) d.totals[counter] += value;
  store.counters.clear();
}

std::uint64_t Model::present(const DeviceModel& d, std::uint32_t counter) {
  std::uint64_t sum = 0;
  for (const Store& store : d.stores)
    if (const auto it = store.counters.find(counter); it != store.counters.end()) sum += it->second;
  return sum;
}

std::uint64_t Model::total(const DeviceModel& d, std::uint32_t counter) {
  const auto it = d.totals.find(counter);
  return present(d, counter) + (it == d.totals.end() ? 0 : it->second);
}

int Model::store_acquire(std::uint32_t pid, int fd, std::int32_t which, Store** out) {
  DeviceModel& d = device(fd);
  const std::uint32_t wanted = which == 0 ? pid : static_cast<std::uint32_t>(which);
  for (Store& store : d.stores)
    if (store.pid == wanted) {
      *out = &store;
      return 0;
    }
  if (which != 0) return -ENOENT;
  Store* best = nullptr;
  for (Store& store : d.stores)
    if (store.pid == 0 && (!best || store.cleared < best->cleared)) best = &store;
  if (!best) return -ENOMEM;
  best->pid = pid;
  *out = best;
  return 0;
}

void Model::store_release(std::uint32_t pid, int fd, std::int32_t which) {
  if (which != 0 && static_cast<std::uint32_t>(which) != pid) return;
  DeviceModel& d = device(fd);
  for (Store& store : d.stores)
    if (store.pid == pid) fold(d, store);
}

int Model::init_state(int fd, std::uint32_t core, std::uint32_t state, std::uint32_t* now) {
  if (core >= family_.cores) return -E2BIG;
  std::uint32_t& current = device(fd).init[core];
  if (state == 1 && current == 3) current = 1;
  if (state == 2 && current == 1) current = 2;
  *now = current;
  return 0;
}

int Model::reset(std::uint32_t pid, int fd, std::uint32_t map) {
  DeviceModel& d = device(fd);
  if (d.resets.count(pid)) return 1;
  d.resets[pid] = true;
  for (std::uint32_t core = 0; core < family_.cores; ++core) {
    if (!(map >> core & 1)) continue;
    d.init[core] = 3;
    d.slots[core].fill(false);
    for (auto* all : {&d.semaphores, &d.events})
      all->erase(all->lower_bound(core << 16), all->lower_bound((core + 1) << 16));
  }
  // Notification queues go in the order of their tables.
  std::vector<std::uint32_t> gone;
  for (const auto& [where, queue] : d.notifications) {
    const bool topsp = where >> 24 == 1;
    if (topsp ? map == UINT32_MAX : (map >> (where >> 8 & 0xFFFF) & 1)) gone.push_back(where);
  }
  for (const std::uint32_t where : gone) {
    drop(d, d.blocks.at(d.notifications[where].handle));
    d.notifications.erase(where);
  }
  for (auto& [where, ring] : d.rings) {
    const std::uint32_t engine = where >> 8;
    const bool of_core = engine < 16 * family_.cores && (map >> (engine / 16) & 1);
    if (of_core || map == UINT32_MAX) ring = Ring{0, 0, 0, ring.taken_by, false};
  }
  return 0;
}

int Model::ready(int fd, std::uint32_t id) { return device(fd).resets.erase(id) ? 0 : 1; }

int Model::semaphore(int fd, std::uint32_t core, std::uint32_t index, std::uint32_t** value) {
  if (core >= family_.cores) return -E2BIG;
  if (index >= 256) return -EINVAL;
  *value = &device(fd).semaphores[core << 16 | index];
  return 0;
}

int Model::event(int fd, std::uint32_t core, std::uint32_t index, std::uint32_t** value) {
  if (core >= family_.cores) return -E2BIG;
  if (index >= 256) return -EINVAL;
  *value = &device(fd).events[core << 16 | index];
  return 0;
}

bool Model::is_default(std::uint32_t engine, std::uint32_t queue) const {
  for (std::uint32_t core = 0; core < family_.cores; ++core)
    if (family_.copy_engine[core] == engine && family_.copy_queue[core] == queue) return true;
  return false;
}

int Model::ring_init(std::uint32_t pid, int fd, std::uint32_t engine, std::uint32_t queue,
                     std::uint32_t tx, std::uint32_t rx, std::uint64_t tx_handle,
                     std::uint64_t rx_handle) {
  if (engine >= 132 || queue >= 16) return -EINVAL;
  DeviceModel& d = device(fd);
  Ring& ring = d.rings[engine << 8 | queue];
  if (copy_queues_are_owned_ && (ring.taken_by || is_default(engine, queue))) return -EALREADY;
  for (const std::uint32_t count : {tx, rx}) {
    if (count % 16) return kBroken;
    if (count < 32 || count > 16777200) return -EINVAL;
  }
  (void)tx_handle;
  ring.owner = pid;
  ring.tx = tx;
  ring.rx = rx;
  ring.memory = find(fd, rx_handle) != nullptr;
  return 0;
}

int Model::h2t_take(std::uint32_t pid, int fd, std::uint32_t core, std::uint32_t copies,
                    std::uint32_t services, std::uint32_t* copy_map, std::uint32_t* service_map) {
  if (core >= family_.cores || copies + services >= 16) return -E2BIG;
  DeviceModel& d = device(fd);
  const std::uint32_t engine = family_.copy_engine[core];
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t q = 0; q < 16 && chosen.size() < copies + services; ++q)
    if (!is_default(engine, q) && !d.rings[engine << 8 | q].taken_by) chosen.push_back(q);
  if (chosen.size() < copies + services) return kBroken;
  *copy_map = *service_map = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    (i < copies ? *copy_map : *service_map) |= 1u << chosen[i];
    d.rings[engine << 8 | chosen[i]].taken_by = pid;
  }
  return 0;
}

int Model::h2t_free(int fd, std::uint32_t core, std::uint32_t map) {
  if (core >= family_.cores) return -E2BIG;
  DeviceModel& d = device(fd);
  const std::uint32_t engine = family_.copy_engine[core];
  for (std::uint32_t q = 0; q < 32; ++q)
    if (map >> q & 1 && (q >= 16 || (!is_default(engine, q) && !d.rings[engine << 8 | q].taken_by)))
      return -ENXIO;
  for (std::uint32_t q = 0; q < 16; ++q)
    if (map >> q & 1) d.rings[engine << 8 | q].taken_by = 0;
  return 0;
}

int Model::notification(int fd, const Queue& queue, Block** known) {
  *known = nullptr;
  if (queue.kind > 1) return -ENOSYS;
  if (queue.bytes == 0 || (queue.bytes & (queue.bytes - 1))) return -EINVAL;
  const std::uint32_t slot = (queue.type * 16 + queue.engine) % 256;
  if (queue.id >= (queue.kind ? family_.topsps : family_.cores) || slot >= 96) return -EINVAL;
  DeviceModel& d = device(fd);
  const auto it = d.notifications.find(queue.kind << 24 | queue.id << 8 | slot);
  if (it != d.notifications.end() && !queue.force) {
    *known = &d.blocks.at(it->second.handle);
    return 0;
  }
  if (queue.channel >= d.channels.size()) return -EINVAL;
  return 0;
}

// A new queue: memory first, then the old one goes, then the number is taken.
void Model::notification_made(std::uint32_t pid, int fd, const Queue& queue, std::uint64_t handle,
                              std::uint64_t pa) {
  DeviceModel& d = device(fd);
  Block block;
  block.pa = pa;
  block.bytes = pages(queue.bytes);
  block.owner = pid;
  block.host = queue.host;
  block.stays = true;
  block.channel = queue.channel;
  block.core = queue.kind == 0 ? queue.id : 0;
  block.type = queue.host ? 6 : 16;
  block.order = ++d.order;
  if (!queue.host) {
    DeviceModel::Channel& channel = d.channels[queue.channel];
    const bool small_first = block.bytes <= 512 * 1024;
    for (const bool small : {small_first, !small_first}) {
      Pages& pool = small ? channel.small : channel.main;
      const auto at = pool.first_fit(block.bytes, queue.bytes);
      if (!at) continue;
      if (*at != pa) wrong = "a notification queue lies elsewhere than first fit says";
      block.small = small;
      pool.take(pa, block.bytes);
      break;
    }
    if (pa % queue.bytes) wrong = "a notification queue is not aligned to its size";
  }
  const std::uint32_t where =
      queue.kind << 24 | queue.id << 8 | (queue.type * 16 + queue.engine) % 256;
  if (const auto old = d.notifications.find(where); old != d.notifications.end())
    drop(d, d.blocks.at(old->second.handle));
  if (d.free_handles.empty()) {
    block.handle = d.next_handle++;
  } else {
    block.handle = d.free_handles.back();
    d.free_handles.pop_back();
  }
  if (block.handle != handle)
    wrong = "a notification queue has handle " + std::to_string(handle) + ", next is " +
            std::to_string(block.handle);
  d.blocks[block.handle] = block;
  d.notifications[where].handle = block.handle;
}

}  // namespace opennrt::sequences
