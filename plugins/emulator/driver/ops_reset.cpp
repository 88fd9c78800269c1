// SPDX-License-Identifier: Apache-2.0
//
// Core reset, the collective init guard, memory scrub.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <vector>

#include "driver/operations.h"
#include "opennrt/plugin.h"

namespace opennrt::emu {

namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kWholeDevice = 0xFFFFFFFF;
constexpr std::uint64_t kScrubRingBytes = 512 << 10;  // 32768 descriptors
constexpr std::uint32_t kScrubRingLength = 32768;
constexpr std::uint64_t kScrubBlock = 64 << 10;

// 0, or 1: the process has a request that nobody collected yet.
std::int64_t request_reset(Call& call, std::uint32_t nc_map) {
  std::lock_guard lock(call.node.mutex);
  if (call.node.abandoned()) return -EBADF;
  if (call.node.resets.count(call.client.pid)) return 1;
  const Reset reset = call.machine.begin_reset(call.node, nc_map);
  call.node.resets[call.client.pid] = reset;
  if (reset.failed) call.node.fails_at = std::min(call.node.fails_at, reset.done);
  call.node.changed.notify_all();
  return 0;
}

// A request is collected once. True: it was there and the reset succeeded.
bool collect_reset(Call& call, std::uint32_t id, bool* known) {
  std::unique_lock lock(call.node.mutex);
  Reset reset;
  *known = call.machine.take_reset(call.node, lock, id, &reset);
  return *known && !reset.failed;
}

void fill(DeviceNode& node, std::uint64_t pa, std::uint64_t bytes, std::uint32_t value) {
  const std::vector<std::uint32_t> block(kScrubBlock / sizeof value, value);
  for (std::uint64_t done = 0; done < bytes; done += kScrubBlock)
    (void)node.device->write(pa + done, block.data(),
                             bytes - done < kScrubBlock ? bytes - done : kScrubBlock);
}

// What emulator.faults makes of the number-th reset of the device.
Reset plan_reset(const MachineConfig& config, std::uint32_t device, std::uint64_t number) {
  Reset reset;
  milliseconds delay{0};
  for (const Fault& fault : config.faults) {
    if (fault.point != Fault::Point::kResetFailed && fault.point != Fault::Point::kResetDelayed)
      continue;
    if (fault.device != device || !fault.covers(number)) continue;
    reset.failed = reset.failed || fault.point == Fault::Point::kResetFailed;
    delay += milliseconds(fault.reset_delay_ms);
  }
  reset.delayed = delay.count() != 0;
  reset.done = std::chrono::steady_clock::now() + delay;
  return reset;
}

}  // namespace

void Machine::reset_cores(DeviceNode& node, std::uint32_t nc_map) {
  const std::uint32_t all = (1u << cores()) - 1;
  const bool whole = nc_map == kWholeDevice;
  const std::uint32_t mask = nc_map & all;
  for (std::uint32_t core = 0; core < cores(); ++core) {
    if (!(mask >> core & 1)) continue;
    node.init[core] = CoreInit::kInvalid;
    node.async_slots[core] = {};
  }
  free_notification_queues(*this, node, mask, whole);
  node.device->reset_cores(mask);
  const auto clear = [&](std::uint32_t engine) {
    for (Queue& queue : node.queues[engine]) queue = Queue{0, 0, 0, false, queue.h2t_owner};
  };
  const nrtp_arch_dma& dma = *config_.arch->dma;
  for (std::uint32_t core = 0; core < cores(); ++core)
    for (std::uint32_t i = 0; (mask >> core & 1) && i < geometry().dma_per_core; ++i)
      if (const std::uint32_t engine = dma.core_engine(&product_, core, i); engine < kMaxEngines)
        clear(engine);
  for (std::uint32_t engine = 0; whole && engine < kMaxEngines; ++engine) clear(engine);
}

void Machine::start_reset(DeviceNode& node) {
  node.full_reset = plan_reset(config_, node.index, 0);
  node.state = NodeState::kReset;
  (void)state_of(node, true);
}

Reset Machine::begin_reset(DeviceNode& node, std::uint32_t nc_map) {
  reset_cores(node, nc_map);
  for (std::uint32_t core = 0; core < cores(); ++core)
    if (nc_map >> core & 1) ++node.reset_requests[core];
  const Reset reset = plan_reset(config_, node.index, ++node.reset_count);
  for (std::uint32_t core = 0; reset.failed && core < cores(); ++core)
    if (nc_map >> core & 1) ++node.reset_failures[core];
  if (reset.failed)
    log(NRTP_LOG_WARN, "device %u: reset %llu fails on request of emulator.faults", node.index,
        static_cast<unsigned long long>(node.reset_count));
  return reset;
}

bool Machine::take_reset(DeviceNode& node, std::unique_lock<std::mutex>& lock, std::uint32_t id,
                         Reset* out) {
  for (;;) {
    const auto it = node.resets.find(id);
    if (it == node.resets.end()) return false;
    *out = it->second;
    if (std::chrono::steady_clock::now() >= out->done) {
      node.resets.erase(it);
      (void)state_of(node, false);
      return true;
    }
    node.changed.wait_until(lock, out->done);
  }
}

NodeState Machine::state_of(DeviceNode& node, bool waits) {
  const auto now = std::chrono::steady_clock::now();
  // A reset without a delay is over as soon as somebody waits for it.
  if (node.state == NodeState::kReset && now >= node.full_reset.done &&
      (waits || node.full_reset.delayed))
    node.state = node.full_reset.failed ? NodeState::kInvalid : NodeState::kReady;
  if (node.state == NodeState::kReady && now >= node.fails_at) node.state = NodeState::kInvalid;
  return node.state;
}

std::int64_t device_reset(Call& call) {
  (void)request_reset(call, kWholeDevice);
  return 0;
}

std::int64_t device_ready(Call& call) {
  bool known = false;
  const bool good = collect_reset(call, call.client.pid, &known);
  const std::uint8_t ready = good || !known;
  return call.reply(ready);
}

std::int64_t nc_reset(Call& call, abi::DeviceReset& a) {
  // A positive result is how the driver says that one is pending.
  if (const std::int64_t r = request_reset(call, a.nc_map)) return r;
  a.request_id = call.client.pid;
  return call.reply(a);
}

std::int64_t nc_reset_ready(Call& call, abi::DeviceReady& a) {
  bool known = false;
  a.result = collect_reset(call, a.request_id, &known) ? 0 : 1;
  return call.reply(a);
}

std::int64_t core_init_set(Call& call, abi::CinitSet& a) {
  if (a.nc_id >= call.machine.cores()) return -E2BIG;
  {
    std::unique_lock lock(call.node.mutex);
    CoreInit& state = call.node.init[a.nc_id];
    const auto wanted = static_cast<CoreInit>(a.state);
    if (wanted == CoreInit::kStarted && state == CoreInit::kInvalid) {
      state = CoreInit::kStarted;
    } else if (wanted == CoreInit::kStarted && state == CoreInit::kStarted) {
      // Somebody else initialises: wait for the end of it.
      call.node.changed.wait_for(lock, call.machine.config().init_patience,
                                 [&] { return state == CoreInit::kCompleted; });
    } else if (wanted == CoreInit::kCompleted && state == CoreInit::kStarted) {
      state = CoreInit::kCompleted;
      call.node.changed.notify_all();
    }
    a.new_state = static_cast<std::uint32_t>(state);
  }
  return call.reply(a);
}

std::int64_t model_started_count(Call& call, abi::NcModelStartedCount& a) {
  if (a.nc_id >= call.machine.cores()) return -E2BIG;
  a.started_count = 0;  // no driver counts on these families
  return call.reply(a);
}

// Overwrites everything above the firmware area, allocated chunks included.
// With value 0 the pages are given back; with another value only allocated
// memory is filled, the rest would have to be real memory.
std::int64_t hbm_scrub_start(Call& call, abi::HbmScrubStart& a) {
  DeviceNode& node = call.node;
  if (a.nc_id >= kMaxCores) return -EINVAL;
  std::lock_guard lock(node.mutex);
  if (a.hbm_index >= node.channels.size()) return kFailed;
  // As for every allocation: its owner must be known.
  if (!node.find_attached(call.client.pid)) return -EACCES;
  const std::vector<std::uint32_t>& engines = call.machine.facts().scrub_engines[a.hbm_index];
  ChannelPools& pools = node.channels[a.hbm_index];
  // The memory of the transfer stays with the caller until it closes, as the
  // driver keeps it: two rings for each engine, sources and markers.
  std::vector<Chunk*> chunks;
  const auto allocate = [&](std::uint64_t bytes) {
    Machine::AllocRequest request;
    request.bytes = bytes;
    request.host = true;
    request.mem_type = kMemTypeDriverHost;
    request.owner = call.client.pid;
    request.handle = false;
    Chunk* chunk = nullptr;
    const int error = call.machine.allocate(node, request, &chunk);
    if (error == 0) chunks.push_back(chunk);
    return error;
  };
  int error = 0;
  for (std::size_t i = 0; i < 2 * engines.size() && error == 0; ++i)
    error = allocate(kScrubRingBytes);
  for (std::uint64_t bytes : {16 * kScrubBlock, kPage})
    if (error == 0) error = allocate(bytes);
  if (error != 0) {
    for (Chunk* chunk : chunks) call.machine.free_chunk(node, chunk);
    return error;
  }
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const std::uint32_t engine = engines[i];
    const RingConfig tx{chunks[2 * i]->pa, kScrubRingLength};
    const RingConfig rx{chunks[2 * i + 1]->pa, kScrubRingLength};
    node.device->queue_init(engine, 0, tx, rx);
    node.queues[engine][0] = Queue{call.client.pid, kScrubRingLength, kScrubRingLength, true, 0};
  }
  const std::uint64_t first = pools.main.base() - pools.base;
  node.memory->hbm(a.hbm_index).discard(first, pools.bytes - first);
  if (a.init_val != 0)
    for (const auto& [pa, chunk] : node.chunks)
      if (!chunk->host() && chunk->pool != Pool::kReserved && chunk->channel == a.hbm_index)
        fill(node, chunk->pa, chunk->bytes, a.init_val);
  node.scrubbing[a.hbm_index] = true;
  return 0;
}

std::int64_t hbm_scrub_wait(Call& call, abi::HbmScrubWait& a) {
  if (a.nc_id >= kMaxCores) return -EINVAL;
  std::lock_guard lock(call.node.mutex);
  if (a.hbm_index >= call.node.scrubbing.size() || !call.node.scrubbing[a.hbm_index])
    return kFailed;
  call.node.scrubbing[a.hbm_index] = false;
  return 0;
}

}  // namespace opennrt::emu
