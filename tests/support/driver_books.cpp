// SPDX-License-Identifier: Apache-2.0
#include "support/driver_books.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace opennrt::emu {

namespace {

// First contradiction of the node's own tables. Node locked.
std::string check_node(const DeviceNode& node) {
  std::ostringstream out;
  const auto say = [&](const auto&... parts) {
    out << "device " << node.index << ": ";
    (out << ... << parts);
    return out.str();
  };

  // Chunks: no two overlap; each has the handle that leads to it.
  std::uint64_t handles = 0, host = 0, end = 0;
  std::vector<std::uint64_t> main(node.channels.size()), small(main), contiguous(main);
  for (const auto& [pa, chunk] : node.chunks) {
    if (chunk->pa != pa) return say("a chunk is filed under another address, ", pa);
    if (pa < end) return say("two chunks overlap at ", pa);
    end = pa + chunk->bytes;
    if (chunk->bytes == 0 || chunk->bytes % kPage || pa % kPage)
      return say("chunk at ", pa, " is not made of pages");
    if (chunk->handle) {
      ++handles;
      if (node.handles.find(chunk->handle) != chunk.get())
        return say("handle ", chunk->handle, " does not lead to its chunk");
    }
    if (chunk->host()) {
      host += chunk->bytes;
      continue;
    }
    if (chunk->channel >= node.channels.size()) return say("chunk of channel ", chunk->channel);
    const ChannelPools& pools = node.channels[chunk->channel];
    if (pa < pools.base || end > pools.base + pools.bytes)
      return say("chunk at ", pa, " is outside its channel");
    if (chunk->pool == Pool::kMain) main[chunk->channel] += chunk->bytes;
    if (chunk->pool == Pool::kSmall) small[chunk->channel] += chunk->bytes;
    if (chunk->pool == Pool::kContiguous) contiguous[chunk->channel] += chunk->bytes;
    if (chunk->lifespan == Lifespan::kProcess && chunk->owner != 0 &&
        std::none_of(node.attached.begin(), node.attached.end(),
                     [&](const Attach& a) { return a.count && a.pid == chunk->owner; }))
      return say("chunk at ", pa, " belongs to ", chunk->owner, ", which is not attached");
  }
  if (handles != node.handles.live())
    return say(node.handles.live(), " handles, ", handles, " chunks that have one");
  for (std::size_t c = 0; c < node.channels.size(); ++c) {
    const ChannelPools& pools = node.channels[c];
    if (pools.main.free_bytes() + main[c] + contiguous[c] != pools.main.end() - pools.main.base())
      return say("main pool of channel ", c, ": ", pools.main.free_bytes(), " free, ",
                 main[c] + contiguous[c], " used");
    if (pools.small.free_bytes() + small[c] != pools.small.end() - pools.small.base())
      return say("small pool of channel ", c, ": ", pools.small.free_bytes(), " free, ", small[c],
                 " used");
    if (pools.contiguous != contiguous[c])
      return say("contiguous part of channel ", c, ": ", pools.contiguous, " counted, ",
                 contiguous[c], " used");
    if (pools.used != main[c] + small[c] + contiguous[c])
      return say("channel ", c, ": ", pools.used, " counted, ", main[c] + small[c] + contiguous[c],
                 " used");
  }
  if (node.host_used != host)
    return say("host memory: ", node.host_used, " counted, ", host, " used");

  // Statistics.
  std::uint64_t device_total = 0, host_total = 0, by_type = 0, host_by_type = 0, all = 0;
  for (std::uint32_t core = 0; core < kMaxCores; ++core) {
    device_total += node.usage.device_of_core[core].present;
    host_total += node.usage.host_of_core[core].present;
    for (const Usage& usage : node.usage.device[core]) by_type += usage.present;
  }
  for (const Usage& usage : node.usage.host) host_by_type += usage.present;
  for (std::size_t c = 0; c < node.channels.size(); ++c) all += node.channels[c].used;
  if (device_total != all || by_type != all || host_total != host || host_by_type != host)
    return say("memory statistics: ", device_total, " and ", by_type, " of ", all, " device, ",
               host_total, " and ", host_by_type, " of ", host, " host bytes");

  // What points at chunks points at live ones.
  std::set<const Chunk*> live;
  for (const auto& [pa, chunk] : node.chunks) live.insert(chunk.get());
  for (const auto* table : {&node.core_queues, &node.topsp_queues})
    for (const auto& queues : *table)
      for (const Chunk* queue : queues)
        if (queue && (!live.count(queue) || queue->lifespan != Lifespan::kDevice))
          return say("a notification queue has lost its memory");
  std::set<std::uint32_t> owners;
  for (const DataStore& store : node.stores) {
    if (store.chunk &&
        (!live.count(store.chunk) || store.chunk->bytes != kStoreBytes || !store.chunk->host()))
      return say("a data store has lost its memory");
    if (store.pid && !store.chunk) return say("a data store of ", store.pid, " has no memory");
    if (store.pid && !owners.insert(store.pid).second) return say("two data stores of ", store.pid);
  }
  if (node.dummy_ring && !live.count(node.dummy_ring)) return say("the dummy ring is gone");

  // Attach.
  std::set<std::uint32_t> pids;
  for (const Attach& slot : node.attached) {
    if ((slot.count == 0) != (slot.pid == 0))
      return say("attach slot of ", slot.pid, " with count ", slot.count);
    if (slot.count && !pids.insert(slot.pid).second) return say(slot.pid, " is attached twice");
  }
  if (node.descriptors == 0 && !pids.empty()) return say("attached without a descriptor");
  for (const CoreLock& lock : node.locks) {
    if (lock.writing && lock.readers) return say("a lock is held for reading and writing");
    if ((lock.writing || lock.readers) && !lock.writer_pid) return say("a lock of nobody");
  }
  for (const auto& engine : node.queues)
    for (const Queue& queue : engine)
      if (queue.rx_length > 16777200 || queue.tx_length > 16777200)
        return say("a ring of ", queue.rx_length, " descriptors");
  return "";
}

}  // namespace

std::string MachineBooks::check_files(Machine& m) {
  const std::lock_guard lock(m.files_mutex_);
  std::map<std::uint32_t, std::uint32_t> references;
  std::map<const DeviceNode*, std::set<std::uint32_t>> open;
  for (std::uint32_t slot = 0; slot < Machine::kDescriptors; ++slot) {
    File file;
    if (!m.find_file(Machine::kFirstDescriptor + static_cast<int>(slot), &file)) continue;
    ++references[file.id];
    if (file.lane == Lane::kDevice) open[file.node].insert(file.id);
  }
  for (std::uint32_t id = 0; id < m.references_.size(); ++id)
    if (m.references_[id] != references[id])
      return "open file " + std::to_string(id) + ": " + std::to_string(m.references_[id]) +
             " references, " + std::to_string(references[id]) + " descriptors";
  for (const auto& node : m.nodes_)
    if (node->descriptors != open[node.get()].size())
      return "device " + std::to_string(node->index) + ": " + std::to_string(node->descriptors) +
             " open files counted, there are " + std::to_string(open[node.get()].size());
  return "";
}

// Host memory belongs to chunks, and to mappings that have outlived theirs.
std::string MachineBooks::check_host(Machine& m) {
  std::map<std::uint64_t, std::uint64_t> ranges;
  std::uint64_t all = 0;
  const auto add = [&](const std::shared_ptr<Backing>& backing) {
    if (backing && backing->machine) ranges[backing->address] = backing->bytes;
  };
  for (const auto& node : m.nodes_)
    for (const auto& [pa, chunk] : node->chunks) {
      add(chunk->backing);
      if (chunk->pool != Pool::kReserved) all += chunk->bytes;
      if (chunk->host() && (chunk->pa & ~m.facts_.host_window) != chunk->backing->address)
        return "host chunk at " + std::to_string(pa) + " has memory elsewhere";
    }
  for (const Machine::Mapping& mapping : m.mappings_) {
    add(mapping.backing);
    if (!mapping.node || mapping.bytes == 0 || mapping.bytes % kPage)
      return "a mapping of " + std::to_string(mapping.bytes) + " bytes";
  }
  std::uint64_t used = 0, end = 0;
  for (const auto& [address, bytes] : ranges) {
    if (address < end) return "host memory at " + std::to_string(address) + " is given out twice";
    end = address + bytes;
    used += bytes;
  }
  const std::uint64_t size = m.host_pool_.end() - m.host_pool_.base();
  if (m.host_pool_.free_bytes() + used != size)
    return "host pool: " + std::to_string(m.host_pool_.free_bytes()) + " free, " +
           std::to_string(used) + " used of " + std::to_string(size);
  if (m.allocated_ != all)
    return std::to_string(m.allocated_) + " bytes counted as allocated, there are " +
           std::to_string(all);
  return "";
}

std::string MachineBooks::check(Machine& m) {
  for (const auto& node : m.nodes_) {
    const std::lock_guard lock(node->mutex);
    if (std::string wrong = check_node(*node); !wrong.empty()) return wrong;
  }
  if (std::string wrong = check_files(m); !wrong.empty()) return wrong;
  return check_host(m);
}

std::string MachineBooks::check_idle(Machine& m) {
  if (std::string wrong = check(m); !wrong.empty()) return wrong;
  if (!m.mappings_.empty()) return std::to_string(m.mappings_.size()) + " mappings are left";
  if (free_descriptors(m) != Machine::kDescriptors) return "descriptors are left";
  for (const std::uint32_t owner : m.marks_)
    if (owner) return "a core is marked by " + std::to_string(owner);
  for (const auto& node : m.nodes_) {
    const std::string device = "device " + std::to_string(node->index) + ": ";
    for (const auto& [pa, chunk] : node->chunks)
      if (chunk->lifespan != Lifespan::kDevice)
        return device + "memory of " + std::to_string(chunk->owner) + " is left";
    for (const DataStore& store : node->stores)
      if (store.pid) return device + "a data store of " + std::to_string(store.pid) + " is left";
    for (const CoreLock& lock : node->locks)
      if (lock.writer_pid) return device + "a lock of " + std::to_string(lock.writer_pid);
    for (const Attach& slot : node->attached)
      if (slot.pid) return device + std::to_string(slot.pid) + " is attached";
    for (const auto& engine : node->queues)
      for (const Queue& queue : engine)
        if (queue.owner || queue.h2t_owner) return device + "a queue has an owner";
    if (!node->resets.empty()) return device + "a reset is pending";
  }
  return "";
}

std::string MachineBooks::check_fresh(Machine& m) {
  if (std::string wrong = check_idle(m); !wrong.empty()) return wrong;
  for (const auto& node : m.nodes_) {
    const std::string device = "device " + std::to_string(node->index) + ": ";
    for (const auto& [pa, chunk] : node->chunks) {
      const bool store = std::any_of(node->stores.begin(), node->stores.end(),
                                     [&](const DataStore& s) { return s.chunk == chunk.get(); });
      if (chunk->pool != Pool::kReserved && chunk.get() != node->dummy_ring && !store)
        return device + "a chunk of " + std::to_string(chunk->bytes) + " bytes is left";
    }
    for (const auto& slots : node->async_slots)
      if (slots[1] || slots[2]) return device + "a copy is under way";
    for (std::uint32_t core = 0; core < m.cores(); ++core)
      if (node->init[core] != CoreInit::kInvalid) return device + "a core counts as initialised";
  }
  return "";
}

std::size_t MachineBooks::free_descriptors(const Machine& m) {
  return static_cast<std::size_t>(std::count_if(m.descriptors_.begin(), m.descriptors_.end(),
                                                [](const auto& d) { return d.load() == 0; }));
}

}  // namespace opennrt::emu
