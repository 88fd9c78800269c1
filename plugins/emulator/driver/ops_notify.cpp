// SPDX-License-Identifier: Apache-2.0
//
// Notification queues: memory that outlives the process, and the registers that
// point the hardware at it.
#include <cerrno>

#include "driver/operations.h"

namespace opennrt::emu {

namespace {

enum : std::uint32_t { kNeuronCore = 0, kTopsp = 1 };
constexpr std::uint32_t kTraceDma = 4;
constexpr std::uint32_t kSlotsPerType = 16;
constexpr std::uint64_t kFirstQueue = 0x100, kQueueStride = 0x28;  // in a notification block
constexpr std::uint64_t kBaseLow = 0x0, kBaseHigh = 0x4, kBytes = 0x8;

struct QueueId {
  std::uint32_t device_type = 0, device = 0, type = 0, engine = 0;
};

// BAR 0 offset of the registers of the queue, UINT64_MAX if they are not known.
std::uint64_t registers_of(const Machine& machine, const QueueId& id) {
  const nrtp_arch_plugin& arch = *machine.config().arch;
  const nrtp_product* product = machine.config().product;
  if (id.type == kTraceDma) {
    if (id.device_type != kNeuronCore || id.engine >= machine.geometry().dma_per_core)
      return UINT64_MAX;
    const std::uint32_t engine = arch.dma->core_engine(product, id.device, id.engine);
    const std::uint64_t block = arch.dma->notific_bar0(product, engine);
    return block == UINT64_MAX ? block : block + kFirstQueue;
  }
  std::uint64_t block = UINT64_MAX;
  if (id.device_type == kNeuronCore)
    block = arch.address->notific_bar0(product, id.device);
  else if (machine.facts().topsp_notific_stride)
    block = machine.facts().topsp_notific_bar0 + id.device * machine.facts().topsp_notific_stride;
  return block == UINT64_MAX ? block : block + kFirstQueue + id.engine * kQueueStride;
}

void program(const Machine& machine, DeviceNode& node, const QueueId& id, std::uint64_t pa,
             std::uint32_t bytes) {
  const std::uint64_t base = registers_of(machine, id);
  if (base == UINT64_MAX) return;
  // A queue number beyond the hardware's has memory but no registers.
  (void)node.device->bar0_write32(base + kBaseHigh, static_cast<std::uint32_t>(pa >> 32));
  (void)node.device->bar0_write32(base + kBaseLow, static_cast<std::uint32_t>(pa));
  (void)node.device->bar0_write32(base + kBytes, bytes);
}

struct InitRequest {
  QueueId id;
  std::uint32_t bytes = 0;
  bool host = false, force = false, handle = true;
  std::uint32_t channel = 0;
};

std::int64_t init(Call& call, InitRequest r, std::uint64_t* pa, std::uint64_t* handle) {
  // The driver keeps ids in bytes.
  r.id.device &= 0xFF;
  r.id.type &= 0xFF;
  r.id.engine &= 0xFF;
  if (r.id.device_type > kTopsp) return -ENOSYS;
  if (r.bytes == 0 || (r.bytes & (r.bytes - 1))) return -EINVAL;
  auto& table = r.id.device_type == kNeuronCore ? call.node.core_queues : call.node.topsp_queues;
  const std::uint32_t slot = (r.id.type * kSlotsPerType + r.id.engine) & 0xFF;
  if (r.id.device >= table.size() || slot >= kQueueSlots) return -EINVAL;

  std::lock_guard lock(call.node.mutex);
  Chunk*& queue = table[r.id.device][slot];
  if (!queue || r.force) {
    Machine::AllocRequest request;
    request.bytes = r.bytes;
    request.host = r.host;
    request.align = r.host ? 0 : r.bytes;
    request.channel = r.channel;
    request.core = r.id.device_type == kNeuronCore ? r.id.device : 0;
    request.mem_type = r.host ? 6 : 16;  // NOTIFICATION_HOST, NOTIFICATION_DEVICE
    request.owner = call.client.pid;
    request.lifespan = Lifespan::kDevice;
    request.handle = false;
    Chunk* fresh = nullptr;
    if (int error = call.machine.allocate(call.node, request, &fresh)) return error;
    if (r.handle && call.node.handles.full() && !(queue && queue->handle)) {
      call.machine.free_chunk(call.node, fresh);
      return -ENOMEM;
    }
    if (queue) call.machine.free_chunk(call.node, queue);
    queue = fresh;
    if (r.handle) {
      queue->handle = call.node.handles.add(queue);
      queue->driver_owned = false;
    }
    program(call.machine, call.node, r.id, queue->pa, r.bytes);
  }
  *pa = queue->host() ? queue->pa : UINT64_MAX;  // device memory is mapped by its handle
  *handle = queue->handle;
  return 0;
}

template <typename T>
InitRequest common(const T& a) {
  InitRequest r;
  r.id = QueueId{a.nq_dev_type, a.nq_dev_id, a.nq_type, a.engine_index};
  r.bytes = a.size;
  r.host = a.on_host_memory != 0;
  r.channel = a.dram_channel;
  return r;
}

}  // namespace

std::int64_t notifications_init_v1(Call& call, abi::NotificationsInitV1& a) {
  InitRequest r;
  r.id = QueueId{kNeuronCore, a.nc_id, a.nq_type, a.engine_index};
  r.bytes = a.size;
  r.host = true;
  r.handle = false;
  std::uint64_t handle = 0;
  if (std::int64_t error = init(call, r, &a.mmap_offset, &handle)) return error;
  return call.reply(a);
}

std::int64_t notifications_init_v2(Call& call, abi::NotificationsInitV2& a) {
  if (std::int64_t error = init(call, common(a), &a.mmap_offset, &a.mem_handle)) return error;
  return call.reply(a);
}

std::int64_t notifications_init_realloc(Call& call, abi::NotificationsInitWithReallocV2& a) {
  InitRequest r = common(a);
  r.force = a.force_alloc_mem != 0;
  if (std::int64_t error = init(call, r, &a.mmap_offset, &a.mem_handle)) return error;
  return call.reply(a);
}

void free_notification_queues(Machine& machine, DeviceNode& node, std::uint32_t core_mask,
                              bool topsps) {
  const auto clear = [&](auto& table, std::uint32_t device_type, std::uint32_t device) {
    for (std::uint32_t slot = 0; slot < kQueueSlots; ++slot) {
      Chunk*& queue = table[device][slot];
      if (!queue) continue;
      program(machine, node,
              QueueId{device_type, device, slot / kSlotsPerType, slot % kSlotsPerType}, 0, 0);
      machine.free_chunk(node, queue);
      queue = nullptr;
    }
  };
  for (std::uint32_t core = 0; core < node.core_queues.size(); ++core)
    if (core_mask >> core & 1) clear(node.core_queues, kNeuronCore, core);
  for (std::uint32_t id = 0; topsps && id < node.topsp_queues.size(); ++id)
    clear(node.topsp_queues, kTopsp, id);
}

}  // namespace opennrt::emu
