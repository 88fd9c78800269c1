// SPDX-License-Identifier: Apache-2.0
//
// Steps: semaphores, rings, copy queues, notification queues.
#include "sequence.h"

namespace opennrt::sequences {

void Sequence::sync(std::uint32_t pid, int fd) {
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  const std::uint32_t core =
      below(16) == 0 ? pick({8u, 200u}) : static_cast<std::uint32_t>(below(2));
  const std::uint32_t index =
      below(16) == 0 ? pick({256u, 65536u, UINT32_MAX}) : static_cast<std::uint32_t>(below(256));
  std::uint32_t* value = nullptr;
  if (below(3) == 0) {
    emu::abi::Event a;
    a.nc_id = core;
    a.event_index = index;
    a.value = static_cast<std::uint32_t>(below(2));
    const bool set = below(2);
    const std::int64_t r = send(pid, fd, set ? emu::abi::kEventSet : emu::abi::kEventGet, a);
    say() << pid << " fd " << fd << (set ? " set" : " get") << " event " << core << ":" << index
          << " = " << r;
    note();
    if (expected == 0) expected = model_.event(fd, core, index, &value);
    same("event", expected, r);
    if (r == 0 && set) *value = a.value;
    if (r == 0) same("event value", *value, a.value);
    return;
  }
  static constexpr std::uint32_t kCodes[] = {emu::abi::kSemaphoreIncrement,
                                             emu::abi::kSemaphoreDecrement,
                                             emu::abi::kSemaphoreWrite, emu::abi::kSemaphoreRead};
  const std::size_t what = below(4);
  emu::abi::Semaphore a;
  a.nc_id = core;
  a.semaphore_index = index;
  a.value = static_cast<std::uint32_t>(below(100));
  const std::int64_t r = send(pid, fd, kCodes[what], a);
  say() << pid << " fd " << fd << " semaphore " << what << " " << core << ":" << index << " value "
        << a.value << " = " << r;
  note();
  if (expected == 0) expected = model_.semaphore(fd, core, index, &value);
  same("semaphore", expected, r);
  if (r != 0) return;
  if (what == 0) *value += a.value;
  if (what == 1) *value -= a.value;
  if (what == 2) *value = a.value;
  if (what == 3) same("semaphore value", *value, a.value);
}

void Sequence::ring(std::uint32_t pid, int fd) {
  emu::abi::DmaQueueInit a;
  const std::uint32_t last = model_.family().copy_engine.back();
  a.eng_id = pick({0u, 1u, 17u, last, 132u, UINT32_MAX});
  a.qid = pick({0u, 1u, 2u, 3u, 15u, 16u});
  a.tx_desc_count = a.rx_desc_count = 64;
  if (below(6) == 0) a.tx_desc_count = pick({0u, 31u, 16u, 32u, 48u, 16777216u});
  if (below(6) == 0) a.rx_desc_count = pick({0u, 33u, 16u, 128u});
  a.tx_handle = below(3) ? any_handle(fd) : 0;
  a.rx_handle = below(3) ? any_handle(fd) : 0;
  const std::int64_t r = send(pid, fd, emu::abi::kDmaQueueInit, a);
  say() << pid << " fd " << fd << " DMA_QUEUE_INIT " << a.eng_id << "/" << a.qid << " counts "
        << a.tx_desc_count << " " << a.rx_desc_count << " memory " << a.tx_handle << " "
        << a.rx_handle << " = " << r;
  note();
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kAttached);
  if (expected == 0)
    expected = model_.ring_init(pid, fd, a.eng_id, a.qid, a.tx_desc_count, a.rx_desc_count,
                                a.tx_handle, a.rx_handle);
  same("DMA_QUEUE_INIT", expected, r);
  if (r != 0) return;
  emu::abi::DmaQueueGetState get;
  get.eng_id = a.eng_id;
  get.qid = a.qid;
  get.tx = out_pointer();
  get.rx = out_pointer() + 256;
  same("DMA_QUEUE_GET_STATE", 0, send(pid, fd, emu::abi::kDmaQueueGetState, get));
  const auto state = out<emu::abi::DmaQueueState>();
  const Block* tx = model_.find(fd, a.tx_handle);
  same("ring length", a.tx_desc_count, state.length);
  same("ring base", tx ? tx->pa : 0, state.base_addr);
  same("ring head", 0, state.head_pointer);
  same("ring tail", 0, state.tail_pointer);
  // Starts that must be refused.
  emu::abi::DmaQueueCopyStart start;
  start.eng_id = a.eng_id;
  start.qid = a.qid;
  start.tx_desc_count = 1;
  start.rx_desc_count = 0;
  same("start without receive descriptors", -1, send(pid, fd, emu::abi::kDmaQueueCopyStart, start));
  start.rx_desc_count = a.rx_desc_count + 1;
  same("start of too many", -1, send(pid, fd, emu::abi::kDmaQueueCopyStart, start));
  if (model_.find(fd, a.rx_handle)) return;
  start.rx_desc_count = 1;
  same("start without ring memory", -EINVAL, send(pid, fd, emu::abi::kDmaQueueCopyStart, start));
}

void Sequence::h2t(std::uint32_t pid, int fd) {
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  const auto core = static_cast<std::uint16_t>(below(12) == 0 ? 8 : below(2));
  if (below(2)) {
    emu::abi::H2tDmaFreeQueues a;
    a.nc_id = static_cast<std::uint8_t>(core);
    a.queue_bmap = below(4) == 0 ? 0x8000u : 1u << below(6);
    const std::int64_t r = send(pid, fd, emu::abi::kH2tDmaFreeQueues, a);
    say() << pid << " fd " << fd << " H2T free " << core << " " << a.queue_bmap << " = " << r;
    note();
    if (!modern_) expected = expected == -EBADF ? -EBADF : -EINVAL;
    if (expected == 0) expected = model_.h2t_free(fd, core, a.queue_bmap);
    same("H2T_DMA_FREE_QUEUES", expected, r);
    return;
  }
  emu::abi::H2tDmaAllocQueues a;
  a.nc_id = core;
  a.copy_queue_cnt = static_cast<std::uint16_t>(below(12) == 0 ? 14 : below(3));
  a.service_queue_cnt = static_cast<std::uint16_t>(below(3));
  const std::int64_t r = send(pid, fd, emu::abi::kH2tDmaAllocQueues, a);
  say() << pid << " fd " << fd << " H2T take " << core << " " << a.copy_queue_cnt << "+"
        << a.service_queue_cnt << " = " << r;
  note();
  if (!modern_) expected = expected == -EBADF ? -EBADF : -EINVAL;
  std::uint32_t copies = 0, services = 0;
  if (expected == 0)
    expected =
        model_.h2t_take(pid, fd, core, a.copy_queue_cnt, a.service_queue_cnt, &copies, &services);
  same("H2T_DMA_ALLOC_QUEUES", expected, r);
  if (r != 0) return;
  same("copy queues", copies, a.copy_queue_bmap);
  same("service queues", services, a.service_queue_bmap);
  same("default queue", model_.family().copy_queue[core], a.copy_default_queue);
}

void Sequence::notification(std::uint32_t pid, int fd) {
  Model::Queue q;
  q.kind = below(16) == 0 ? 2 : static_cast<std::uint32_t>(below(2));
  q.id = below(16) == 0 ? 16 : static_cast<std::uint32_t>(below(2));
  q.type = below(16) == 0 ? 6 : static_cast<std::uint32_t>(below(6));
  q.engine = static_cast<std::uint32_t>(below(3));
  q.bytes = below(10) == 0 ? pick({0u, 3u, 4097u}) : pick({1u, 4096u, 8192u, 65536u, 1u << 20});
  q.channel = below(16) == 0 ? 4 : static_cast<std::uint32_t>(below(2));
  q.host = below(2);
  q.force = below(4) == 0;
  emu::abi::NotificationsInitWithReallocV2 a;
  a.nq_dev_type = q.kind;
  a.nq_dev_id = q.id;
  a.nq_type = q.type;
  a.engine_index = q.engine;
  a.size = q.bytes;
  a.dram_channel = q.channel;
  a.on_host_memory = q.host;
  a.force_alloc_mem = q.force;
  const std::int64_t r = send(pid, fd, emu::abi::kNotificationsInitWithReallocV2, a);
  say() << pid << " fd " << fd << " NOTIFICATIONS_INIT " << q.kind << ":" << q.id << " type "
        << q.type << " engine " << q.engine << " size " << q.bytes << (q.host ? " host" : " device")
        << (q.force ? " force" : "") << " = " << r << " handle " << a.mem_handle;
  note();
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kAttached);
  Block* known = nullptr;
  if (expected == 0) expected = model_.notification(fd, q, &known);
  // Whether there is room for it is told by the driver; the place is checked.
  if (expected == 0 && !known && r == -ENOMEM) return;
  same("NOTIFICATIONS_INIT", expected, r);
  if (r != 0) return;
  if (!known) {
    const std::uint64_t pa = pa_of(pid, fd, a.mem_handle);
    model_.notification_made(pid, fd, q, a.mem_handle, pa);
    if (!model_.wrong.empty()) differ(model_.wrong);
    known = model_.find(fd, a.mem_handle);
    if (q.host) place_host(fd, *known, pa);
  }
  same("queue handle", known->handle, a.mem_handle);
  same("queue cookie", known->host ? known->pa : UINT64_MAX, a.mmap_offset);
}

}  // namespace opennrt::sequences
