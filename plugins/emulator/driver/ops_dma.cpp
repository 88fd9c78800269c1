// SPDX-License-Identifier: Apache-2.0
//
// DMA engines, queues and descriptors.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "driver/operations.h"
#include "opennrt/plugin.h"

namespace opennrt::emu {

namespace {

constexpr std::uint32_t kTx = 0, kRx = 1;  // dma_queue_type; 2 is the completion ring
constexpr std::uint32_t kMinDescs = 32, kMaxDescs = 16777200, kDescStep = 16;
constexpr std::uint64_t kDescBytes = 16, kRingAlign = 256;
constexpr std::uint64_t kPiece = 65536;  // descriptors are copied in pieces of these bytes
constexpr std::uint32_t kBatchMax = 256;
constexpr std::uint32_t kQueueEnabled = 2, kQueueAborted = 3;  // sw_status
constexpr std::uint32_t kUdmaRevision = 4;

// Engine states of the interface and what GET_STATE shows for them; others
// are ignored.
struct StateName {
  std::uint32_t set, shown;
};
constexpr StateName kStates[] = {{0, 1}, {2, 2}, {3, 3}};

bool exists(const Call& call, std::uint32_t engine) {
  return engine < call.machine.geometry().dma_total;
}
std::uint32_t queues(const Call& call) { return call.machine.geometry().dma_queues_per_engine; }

// Owned by the copy service of the driver: the default queue of a core or one
// that a process took.
bool copy_queue(const Call& call, std::uint32_t engine, std::uint32_t queue) {
  if (call.node.queues[engine][queue].h2t_owner) return true;
  const nrtp_arch_dma& dma = *call.machine.config().arch->dma;
  const nrtp_product* product = call.machine.config().product;
  for (std::uint32_t core = 0; core < call.machine.cores(); ++core)
    if (dma.host_engine(product, core) == engine && dma.host_queue(product, core) == queue)
      return true;
  return false;
}

int check_count(std::uint32_t count) {
  if (count % kDescStep) return static_cast<int>(kFailed);
  return count < kMinDescs || count > kMaxDescs ? -EINVAL : 0;
}

std::int64_t queue_init(Call& call, const abi::DmaQueueInit& a) {
  if (a.eng_id >= kMaxEngines || a.qid >= queues(call) || !exists(call, a.eng_id)) return -EINVAL;
  std::lock_guard lock(call.node.mutex);
  if (call.node.abandoned()) return -EBADF;
  if (call.machine.at_least(kDriver2_25) && copy_queue(call, a.eng_id, a.qid)) return -EALREADY;
  if (int r = check_count(a.tx_desc_count)) return r;
  if (int r = check_count(a.rx_desc_count)) return r;
  if (a.rxc_handle) return kFailed;
  std::uint64_t base[2] = {0, 0};
  const std::uint64_t handles[2] = {a.tx_handle, a.rx_handle};
  for (int i = 0; i < 2; ++i) {
    if (handles[i] == 0) continue;
    if (const Chunk* chunk = call.node.handles.find(handles[i]))
      base[i] = chunk->pa;
    else
      call.machine.log(NRTP_LOG_WARN,
                       "device %u, DMA engine %u, queue %u: handle %llu of the %s ring is unknown, "
                       "the queue gets no ring memory",
                       call.node.index, a.eng_id, a.qid,
                       static_cast<unsigned long long>(handles[i]), i == 0 ? "send" : "receive");
    if (base[i] % kRingAlign) return kFailed;
  }
  Queue& queue = call.node.queues[a.eng_id][a.qid];
  queue.owner = call.client.pid;
  queue.tx_length = a.tx_desc_count;
  queue.rx_length = a.rx_desc_count;
  queue.rx_memory = base[1] != 0 || a.rx_handle != 0;
  if (a.rx_handle && !call.node.handles.find(a.rx_handle)) queue.rx_memory = false;
  call.node.device->queue_init(a.eng_id, a.qid, RingConfig{base[0], a.tx_desc_count},
                               RingConfig{base[1], a.rx_desc_count});
  return 0;
}

abi::DmaQueueState show(const RingState& ring) {
  abi::DmaQueueState state;
  state.sw_status = ring.aborted ? kQueueAborted : kQueueEnabled;
  state.base_addr = ring.base;
  state.length = ring.length;
  state.head_pointer = ring.head;
  state.tail_pointer = ring.tail;
  return state;
}

std::int64_t copy_descriptors(Call& call, std::uint64_t handle, std::uint64_t user,
                              std::uint64_t offset, std::uint32_t count, std::uint32_t type) {
  std::uint64_t pa = 0;
  const std::uint64_t bytes = count * kDescBytes;
  {
    std::lock_guard lock(call.node.mutex);
    const Chunk* chunk = call.node.handles.find(handle);
    if (!chunk) return -EINVAL;
    const std::uint64_t reach = Machine::reach(call.node, *chunk);
    if (offset > reach || bytes > reach - offset) return -EINVAL;
    pa = chunk->pa + offset;
  }
  if (bytes == 0) return 0;
  if (type != kTx && type != kRx) {
    std::uint8_t first = 0;
    return call.memory.read(user, &first, sizeof first) != 0 ? -EFAULT : kFailed;
  }
  const ArchFacts& facts = call.machine.facts();
  std::vector<std::uint8_t> descs(std::min(bytes, kPiece));
  for (std::uint64_t done = 0; done < bytes; done += kPiece) {
    const std::uint64_t n = std::min(kPiece, bytes - done);
    if (call.memory.read(user + done, descs.data(), n) != 0) return -EFAULT;
    // A descriptor that names host memory must name memory of the driver, or a
    // program could reach any page of the host.
    for (std::uint64_t at = 0; at < n; at += kDescBytes) {
      std::uint64_t buffer = 0;
      std::memcpy(&buffer, descs.data() + at + 8, sizeof buffer);
      if ((buffer & facts.host_window_mask) != facts.host_window) continue;
      if (!call.machine.owns_reachable(call.client.pid, buffer)) return -EINVAL;
    }
    if (int r = call.node.device->write(pa + done, descs.data(), n)) return r;
  }
  return 0;
}

}  // namespace

std::int64_t dma_eng_set_state(Call& call, abi::DmaEngSetState& a) {
  if (a.eng_id >= kMaxEngines) return -EINVAL;
  std::lock_guard lock(call.node.mutex);
  for (const StateName& name : kStates)
    if (name.set == a.state) call.node.engine_state[a.eng_id] = name.shown;
  return 0;
}

std::int64_t dma_eng_get_state(Call& call, abi::DmaEngGetState& a) {
  if (a.eng_id >= kMaxEngines) return -EINVAL;
  abi::DmaEngState state;
  state.revision_id = kUdmaRevision;
  state.max_queues = state.num_queues = queues(call);
  {
    std::lock_guard lock(call.node.mutex);
    state.tx_state = state.rx_state = call.node.engine_state[a.eng_id];
  }
  return call.memory.write(a.state, &state, sizeof state);
}

std::int64_t dma_queue_init(Call& call, abi::DmaQueueInit& a) { return queue_init(call, a); }

std::int64_t dma_queue_init_batch(Call& call) {
  // The whole structure is the argument, 12 KiB of it.
  auto batch = std::make_unique<abi::DmaQueueInitBatch>();
  if (call.memory.read(call.arg, batch.get(), sizeof *batch) != 0) return -EACCES;
  if (batch->count >= kBatchMax) return -E2BIG;
  for (std::uint32_t i = 0; i < batch->count; ++i)
    if (std::int64_t r = queue_init(call, batch->entries[i])) return r;
  return 0;
}

std::int64_t dma_queue_release(Call&, abi::DmaQueueRelease&) { return 0; }

std::int64_t dma_queue_copy_start(Call& call, abi::DmaQueueCopyStart& a) {
  if (a.eng_id >= kMaxEngines) return -EINVAL;
  if (a.qid >= queues(call)) return kFailed;
  if (!exists(call, a.eng_id)) return -EINVAL;
  {
    std::lock_guard lock(call.node.mutex);
    const Queue& queue = call.node.queues[a.eng_id][a.qid];
    if (a.tx_desc_count > queue.tx_length || a.rx_desc_count > queue.rx_length) return kFailed;
    if (a.rx_desc_count == 0) return kFailed;
    if (!queue.rx_memory) return -EINVAL;
  }
  return call.node.device->queue_start(a.eng_id, a.qid, a.tx_desc_count, a.rx_desc_count);
}

std::int64_t dma_ack_completed(Call& call, abi::DmaAckCompleted& a) {
  return a.eng_id >= kMaxEngines || a.qid >= queues(call) ? -EINVAL : 0;
}

std::int64_t dma_queue_get_state(Call& call, abi::DmaQueueGetState& a) {
  if (a.eng_id >= kMaxEngines || a.qid >= queues(call) || !exists(call, a.eng_id)) return -EINVAL;
  RingState tx, rx;
  call.node.device->queue_state(a.eng_id, a.qid, &tx, &rx);
  const abi::DmaQueueState shown[2] = {show(tx), show(rx)};
  if (int r = call.memory.write(a.tx, &shown[0], sizeof shown[0])) return r;
  return call.memory.write(a.rx, &shown[1], sizeof shown[1]);
}

std::int64_t dma_copy_descriptors(Call& call, abi::DmaCopyDescriptors& a) {
  return copy_descriptors(call, a.mem_handle, a.buffer, a.offset, a.num_descs, a.queue_type);
}

std::int64_t dma_copy_descriptors64(Call& call, abi::DmaCopyDescriptors64& a) {
  return copy_descriptors(call, a.mem_handle, a.buffer, a.offset, a.num_descs, a.queue_type);
}

std::int64_t dma_descriptor_copyout(Call& call, abi::DmaDescriptorCopyout& a) {
  if (a.eng_id >= kMaxEngines || a.qid >= queues(call) || !exists(call, a.eng_id)) return -EINVAL;
  if (a.count == 0 || (a.type != kTx && a.type != kRx)) return -EINVAL;
  RingState tx, rx;
  call.node.device->queue_state(a.eng_id, a.qid, &tx, &rx);
  const RingState& ring = a.type == kTx ? tx : rx;
  if (std::uint64_t{a.start_index} + a.count > ring.length) return -EFBIG;
  const std::uint64_t bytes = a.count * kDescBytes;
  std::uint64_t pa = ring.base;
  {
    std::lock_guard lock(call.node.mutex);
    const Chunk* chunk = call.node.find_chunk(ring.base);
    if (!chunk) return -EINVAL;
    // The driver ignores the start for rings in device memory.
    if (chunk->host()) pa += a.start_index * kDescBytes;
    if (pa - chunk->pa > chunk->bytes || bytes > chunk->bytes - (pa - chunk->pa)) return -EINVAL;
  }
  std::vector<std::uint8_t> descs(std::min(bytes, kPiece));
  for (std::uint64_t done = 0; done < bytes; done += kPiece) {
    const std::uint64_t n = std::min(kPiece, bytes - done);
    if (int r = call.node.device->read(pa + done, descs.data(), n)) return r;
    if (int r = call.memory.write(a.buffer + done, descs.data(), n)) return r;
  }
  return 0;
}

std::int64_t h2t_alloc(Call& call, abi::H2tDmaAllocQueues& a) {
  const std::uint32_t wanted = std::uint32_t{a.copy_queue_cnt} + a.service_queue_cnt;
  if (a.nc_id >= call.machine.cores() || wanted >= queues(call)) return -E2BIG;
  const nrtp_arch_dma& dma = *call.machine.config().arch->dma;
  const nrtp_product* product = call.machine.config().product;
  const std::uint32_t engine = dma.host_engine(product, a.nc_id);
  a.copy_queue_bmap = a.service_queue_bmap = 0;
  a.copy_default_queue = dma.host_queue(product, a.nc_id);
  {
    std::lock_guard lock(call.node.mutex);
    if (call.node.abandoned()) return -EBADF;
    std::uint32_t taken[kMaxQueues], n = 0;
    for (std::uint32_t q = 0; q < queues(call) && n < wanted; ++q)
      if (!copy_queue(call, engine, q)) taken[n++] = q;
    if (n < wanted) return kFailed;
    for (std::uint32_t i = 0; i < n; ++i) {
      call.node.queues[engine][taken[i]].h2t_owner = call.client.pid;
      (i < a.copy_queue_cnt ? a.copy_queue_bmap : a.service_queue_bmap) |= 1u << taken[i];
    }
  }
  return call.reply(a);
}

std::int64_t h2t_free(Call& call, abi::H2tDmaFreeQueues& a) {
  if (a.nc_id >= call.machine.cores()) return -E2BIG;
  const std::uint32_t engine =
      call.machine.config().arch->dma->host_engine(call.machine.config().product, a.nc_id);
  std::lock_guard lock(call.node.mutex);
  for (std::uint32_t q = 0; q < 32; ++q)
    if ((a.queue_bmap >> q & 1) && (q >= queues(call) || !copy_queue(call, engine, q)))
      return -ENXIO;
  for (std::uint32_t q = 0; q < queues(call); ++q)
    if (a.queue_bmap >> q & 1) call.node.queues[engine][q].h2t_owner = 0;
  return 0;
}

}  // namespace opennrt::emu
