// SPDX-License-Identifier: Apache-2.0
//
// mmap: which ranges of a device a process may see, and the record of what it
// sees.
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "driver/machine.h"

namespace opennrt::emu {

namespace {

constexpr std::uint32_t kWrite = 2;  // of prot

std::uint64_t number(const void* p) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(p));
}

}  // namespace

void Machine::map_range(DeviceNode& node, Region& region, std::uint64_t offset, std::uint64_t bytes,
                        bool writable, Mapping* mapping) {
  mapping->node = &node;
  mapping->bytes = bytes;
  mapping->region = &region;
  mapping->memory_offset = offset;
  mapping->writable = writable;
}

// A writable mapping is a view into the backing itself; a read-only one is
// mapped again, so that a store faults as it does on the kernel's mapping.
int Machine::map_here(Mapping* mapping) {
  if (mapping->writable) {
    mapping->address = number(mapping->region->data() + mapping->memory_offset);
    return 0;
  }
  void* view = ::mmap(nullptr, mapping->bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE,
                      mapping->region->fd(), static_cast<off_t>(mapping->memory_offset));
  if (view == MAP_FAILED) return -ENOMEM;
  madvise(view, mapping->bytes, MADV_DONTFORK);
  madvise(view, mapping->bytes, MADV_DONTDUMP);
  mapping->address = number(view);
  mapping->own = true;
  return 0;
}

int Machine::map_special(DeviceNode& node, std::uint64_t bytes, std::uint32_t prot,
                         std::uint64_t offset, Mapping* mapping) {
  for (const nrtp_driver_map& map : facts_.special) {
    if (map.device != offset || map.bytes != bytes) continue;
    if (map.resource == NRTP_DRIVER_SBUF) {
      map_range(node, node.memory->sbuf(map.id), 0, bytes, (prot & kWrite) != 0, mapping);
      return 0;
    }
    if (map.resource == NRTP_DRIVER_DMEM) {
      mapping->channel = static_cast<int>(map.id);
      map_range(node, node.memory->hbm(map.id), 0, bytes, (prot & kWrite) != 0, mapping);
      return 0;
    }
    // Stores to a mapped register page would go unseen, and registers have no
    // page that could be shown.
    return -EPERM;
  }
  return -EPERM;
}

int Machine::decide_map(const Client& client, int fd, std::uint64_t bytes, std::uint32_t prot,
                        std::uint64_t offset, Mapping* out) {
  File file;
  if (!find_file(fd, &file)) return -EBADF;
  if (bytes == 0 || bytes > INT64_MAX || offset % kPage) return -EINVAL;
  if (!file.readable || file.lane == Lane::kMisc) return -EACCES;
  if ((prot & kWrite) && !file.writable) return -EACCES;
  bytes = round_page(bytes);
  DeviceNode& node = *file.node;
  Mapping mapping;
  mapping.pid = client.pid;
  int result = 0;
  {
    std::lock_guard lock(node.mutex);
    const Chunk* chunk = node.find_chunk(offset);
    const bool whole = chunk && chunk->pa == offset && chunk->bytes == bytes;
    const bool piece = chunk && chunk->pool == Pool::kContiguous && chunk->pa == offset &&
                       bytes <= reach(node, *chunk);
    if (whole || piece) {
      // Other processes only look, except at what outlives its owner.
      const bool foreign = chunk->owner != client.pid && chunk->lifespan != Lifespan::kDevice;
      const bool writable = (prot & kWrite) && !foreign;
      mapping.backing = chunk->backing;
      if (chunk->host()) {
        map_range(node, *host_region_, chunk->backing->address, bytes, writable, &mapping);
      } else {
        mapping.channel = static_cast<int>(chunk->channel);
        map_range(node, node.memory->hbm(chunk->channel),
                  chunk->pa - node.channels[chunk->channel].base, bytes, writable, &mapping);
        if (writable) node.device->memory_mapped(chunk->pa, bytes);
      }
    } else {
      result = map_special(node, bytes, prot, offset, &mapping);
    }
  }
  if (result == 0) *out = std::move(mapping);
  return result;
}

void Machine::record_mapping(Mapping mapping, std::uint64_t address) {
  mapping.address = address;
  std::lock_guard lock(mappings_mutex_);
  mappings_.push_back(std::move(mapping));
}

int Machine::mmap(const Client& client, int fd, std::uint64_t bytes, std::uint32_t prot,
                  std::uint64_t offset, void** out) {
  Mapping mapping;
  if (int r = decide_map(client, fd, bytes, prot, offset, &mapping)) return r;
  if (int r = map_here(&mapping)) return r;
  const std::uint64_t address = mapping.address;
  *out = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
  record_mapping(std::move(mapping), address);
  return 0;
}

int Machine::munmap(const Client& client, void* address, std::uint64_t bytes) {
  bytes = round_page(bytes);
  Mapping gone;
  {
    std::lock_guard lock(mappings_mutex_);
    auto it = std::find_if(mappings_.begin(), mappings_.end(), [&](const Mapping& m) {
      return m.pid == client.pid && m.address == number(address) && m.bytes == bytes;
    });
    if (it == mappings_.end()) return -EINVAL;
    gone = std::move(*it);
    *it = std::move(mappings_.back());
    mappings_.pop_back();
  }
  if (gone.own) ::munmap(address, bytes);
  return 0;
}

void Machine::forget_mappings(std::uint32_t pid) {
  std::vector<Mapping> gone;  // gives memory back, after the lock
  std::lock_guard lock(mappings_mutex_);
  for (std::size_t i = 0; i < mappings_.size();) {
    if (mappings_[i].pid != pid) {
      ++i;
      continue;
    }
    gone.push_back(std::move(mappings_[i]));
    mappings_[i] = std::move(mappings_.back());
    mappings_.pop_back();
  }
}

bool Machine::find_mapping(std::uint32_t pid, std::uint64_t address, Mapping* out) {
  std::lock_guard lock(mappings_mutex_);
  for (const Mapping& m : mappings_) {
    if (!m.tracked || m.pid != pid || address - m.address >= m.bytes) continue;
    *out = m;
    return true;
  }
  return false;
}

void Machine::drop_mappings(const DeviceNode& node, std::uint32_t pid) {
  std::lock_guard lock(mappings_mutex_);
  for (Mapping& m : mappings_)
    if (m.node == &node && m.pid == pid) m.tracked = false;
}

}  // namespace opennrt::emu
