// SPDX-License-Identifier: Apache-2.0
//
// Chunks: device pools, host memory, handles.
#include <algorithm>
#include <cerrno>

#include "driver/machine.h"
#include "opennrt/plugin.h"

namespace opennrt::emu {

namespace {

constexpr std::uint64_t kSmallMax = 512 << 10;     // tries the small pool first
constexpr std::uint64_t kDiscardAlways = 4 << 20;  // pages given back at once when freed
constexpr std::uint64_t kDiscardAtExit = 64 << 10;
constexpr std::uint32_t kMemTypeContiguous = 19;

}  // namespace

bool Machine::take_budget(const DeviceNode& node, std::uint64_t bytes) {
  const std::uint64_t used = allocated_.fetch_add(bytes, std::memory_order_relaxed);
  if (config_.memory_limit == 0 || used + bytes <= config_.memory_limit) return true;
  allocated_.fetch_sub(bytes, std::memory_order_relaxed);
  log(NRTP_LOG_ERROR,
      "device %u: %llu bytes refused: %llu bytes are allocated and %s allows %llu; raise that "
      "limit or free memory",
      node.index, static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(used),
      config_.memory_limit_name, static_cast<unsigned long long>(config_.memory_limit));
  return false;
}

void Machine::set_memory_limits(DeviceNode& node) {
  for (const Fault& fault : config_.faults) {
    if (fault.point != Fault::Point::kMemoryExhausted || fault.device != node.index) continue;
    const bool each = !fault.host && fault.channel == Fault::kNone;
    if (fault.host || each) node.host_limit = std::min(node.host_limit, fault.after_bytes);
    for (std::uint32_t c = 0; c < node.channels.size(); ++c)
      if (each || fault.channel == c)
        node.channels[c].limit = std::min(node.channels[c].limit, fault.after_bytes);
  }
}

bool Machine::alloc_device(DeviceNode& node, const AllocRequest& request, std::uint64_t bytes,
                           Chunk* chunk) {
  ChannelPools& pools = node.channels[request.channel];
  if (pools.used > pools.limit || bytes > pools.limit - pools.used) return false;
  if (request.mem_type == kMemTypeContiguous) {
    // Grows downward, each piece below all earlier ones. Only the bytes are
    // counted, so a wrong order of frees makes the next piece collide.
    if (bytes > pools.main.end() - pools.main.base() - pools.contiguous) return false;
    const std::uint64_t address = pools.main.end() - pools.contiguous - bytes;
    if (!pools.main.alloc_at(address, bytes)) return false;
    pools.contiguous += bytes;
    pools.used += bytes;
    chunk->pa = address;
    chunk->pool = Pool::kContiguous;
    return true;
  }
  const bool small_first = bytes <= kSmallMax;
  for (bool small : {small_first, !small_first}) {
    RangePool& pool = small ? pools.small : pools.main;
    if (!pool.alloc(bytes, request.align, &chunk->pa)) continue;
    chunk->pool = small ? Pool::kSmall : Pool::kMain;
    pools.used += bytes;
    return true;
  }
  return false;
}

bool Machine::alloc_host(DeviceNode& node, std::uint64_t bytes, Chunk* chunk) {
  std::uint64_t address = 0;
  if (node.host_used > node.host_limit || bytes > node.host_limit - node.host_used) return false;
  {
    std::lock_guard lock(host_mutex_);
    if (!host_pool_.alloc(bytes, 0, &address)) return false;
  }
  node.host_used += bytes;
  chunk->pool = Pool::kHost;
  chunk->pa = facts_.host_window | address;
  chunk->backing->machine = this;
  chunk->backing->address = address;
  chunk->backing->bytes = bytes;
  return true;
}

int Machine::allocate(DeviceNode& node, const AllocRequest& request, Chunk** out) {
  if (request.bytes > INT64_MAX) return -EINVAL;
  if (request.core >= kMaxCores || request.channel >= node.channels.size()) return -EINVAL;
  if (request.host ? request.align != 0 : request.align > INT32_MAX) return -EINVAL;
  if (request.bytes == 0) return -ENOMEM;
  const std::uint64_t bytes = round_page(request.bytes);
  if (!take_budget(node, bytes)) return -ENOMEM;

  auto chunk = std::make_unique<Chunk>();
  chunk->backing = std::make_shared<Backing>();
  chunk->bytes = bytes;
  chunk->owner = request.owner;
  chunk->mem_type = request.mem_type;
  chunk->channel = request.channel;
  chunk->core = request.core;
  chunk->lifespan = request.lifespan;
  chunk->driver_owned = !request.handle;
  const bool ok = request.host ? alloc_host(node, bytes, chunk.get())
                               : alloc_device(node, request, bytes, chunk.get());
  if (!ok) {
    allocated_.fetch_sub(bytes, std::memory_order_relaxed);
    log(NRTP_LOG_DEBUG, "device %u: no room for %llu bytes of %s memory (%s)", node.index,
        static_cast<unsigned long long>(bytes), request.host ? "host" : "device",
        request.host ? "emulator.host_bytes" : "emulator.hbm_bytes");
    return -ENOMEM;
  }
  if (!request.host) node.device->memory_allocated(chunk->pa, bytes);
  node.usage.add(*chunk, static_cast<std::int64_t>(bytes));
  chunk->sequence = ++node.sequence;
  Chunk* raw = chunk.get();
  node.chunks[raw->pa] = std::move(chunk);
  if (request.handle) {
    raw->handle = node.handles.add(raw);
    if (raw->handle == 0) {
      free_chunk(node, raw);
      return -ENOMEM;
    }
  }
  *out = raw;
  return 0;
}

void Machine::free_chunk(DeviceNode& node, Chunk* chunk, bool discard_small) {
  if (chunk->handle) node.handles.remove(chunk->handle);
  chunk->handle = 0;
  if (chunk->pins != 0) {
    chunk->condemned = true;
    chunk->discards_small = discard_small;
    return;
  }
  allocated_.fetch_sub(chunk->bytes, std::memory_order_relaxed);
  node.usage.add(*chunk, -static_cast<std::int64_t>(chunk->bytes));
  if (chunk->host())
    node.host_used -= chunk->bytes;
  else
    node.device->memory_freed(chunk->pa, chunk->bytes);
  if (!chunk->host() && chunk->pool != Pool::kReserved) {
    ChannelPools& pools = node.channels[chunk->channel];
    (chunk->pool == Pool::kSmall ? pools.small : pools.main).release(chunk->pa, chunk->bytes);
    if (chunk->pool == Pool::kContiguous) pools.contiguous -= chunk->bytes;
    pools.used -= chunk->bytes;
    const bool mapped = chunk->backing.use_count() > 1;
    if (!mapped && chunk->bytes >= (discard_small ? kDiscardAtExit : kDiscardAlways))
      node.memory->hbm(chunk->channel).discard(chunk->pa - pools.base, chunk->bytes);
  }
  node.chunks.erase(chunk->pa);
}

void Machine::unpin(DeviceNode& node, Chunk* chunk) {
  std::lock_guard lock(node.mutex);
  if (--chunk->pins == 0 && chunk->condemned) free_chunk(node, chunk, chunk->discards_small);
}

// Host memory is handed out as zeros: pages go back to the kernel here.
void Machine::release_host(std::uint64_t address, std::uint64_t bytes) {
  host_region_->discard(address, bytes);
  std::lock_guard lock(host_mutex_);
  host_pool_.release(address, bytes);
}

std::uint64_t Machine::reach(const DeviceNode& node, const Chunk& chunk) {
  if (chunk.pool == Pool::kContiguous) return node.channels[chunk.channel].main.end() - chunk.pa;
  return chunk.bytes;
}

}  // namespace opennrt::emu
