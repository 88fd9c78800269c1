// SPDX-License-Identifier: Apache-2.0
#include "tdrv/exec_queue.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "hal/barriers.h"

namespace opennrt::tdrv {
namespace {

constexpr std::uint32_t kSlotBytes = 64;  // slot 0 holds constants, 1.. requests
constexpr std::uint32_t kRingGap = 16;    // entries that always stay free
// Descriptors one request may need: 14 queue sets with both sides.
constexpr std::uint32_t kPerRequest = 1024;

}  // namespace

RequestWords encode_request(std::uint32_t form, const RequestFields& f) {
  RequestWords w{};
  w[0] = f.model_switch ? 1 : 0;
  const bool flat = form >= NRTP_FORM_2_30;
  for (std::size_t e = 0; e < neff::kEngines; ++e) {
    const auto lo = static_cast<std::uint32_t>(f.engine_address[e]);
    const auto hi = static_cast<std::uint32_t>(f.engine_address[e] >> 32);
    w[flat ? 1 + e : 1 + 2 * e] = lo;
    w[flat ? 6 + e : 2 + 2 * e] = hi;
  }
  if (flat) {
    w[11] = f.reload_sequencer ? 1 : 0;
    w[12] = f.load_tables ? 1 : 0;
  }
  return w;
}

Status ExecQueue::create(const Config& c) {
  dma_ = c.arch->dma;
  capacity_ = c.descriptors != 0 ? c.descriptors
                                 : std::bit_ceil(std::max(4096u, (c.depth + 1) * kPerRequest));
  slot_count_ = c.depth;
  nrtp_dma_slot slot{};
  if (dma_->runtime_ring(c.product, c.core, NRTP_RING_EXEC, &slot) != NRTP_OK) {
    return Status::failure("core {}: arch {} names no exec ring", c.core, c.arch->name);
  }
  const auto& id = c.arch->sync->id;
  const auto& address = *c.arch->address;
  request_loaded_ = address.event_addr(c.product, c.core, id[NRTP_SYNC_REQUEST_LOAD]);
  io_switched_ = address.event_addr(c.product, c.core, id[NRTP_SYNC_IOQ_CODE_SWITCH]);
  constant_one_ = dma_->event_const_addr[1];
  if (request_loaded_ == UINT64_MAX || io_switched_ == UINT64_MAX) {
    return Status::failure("core {}: arch {} names no exec queue events", c.core, c.arch->name);
  }

  const std::uint64_t ring_bytes = static_cast<std::uint64_t>(capacity_) * sizeof(DmaDescriptor);
  const auto host = [&](std::uint64_t bytes, Usage usage, const char* hint) {
    return c.allocator->allocate(
        {.bytes = bytes, .location = Location::kHost, .usage = usage, .hint = hint});
  };
  ONRT_ASSIGN(tx_memory_, host(ring_bytes, Usage::kDmaRing, "exec ring tx"));
  ONRT_ASSIGN(rx_memory_, host(ring_bytes, Usage::kDmaRing, "exec ring rx"));
  ONRT_ASSIGN(staging_, host(static_cast<std::uint64_t>(slot_count_ + 1) * kSlotBytes,
                             Usage::kGeneric, "exec requests"));
  ONRT_ASSIGN(request_, c.allocator->allocate({.bytes = kSlotBytes,
                                               .location = Location::kDevice,
                                               .usage = Usage::kGeneric,
                                               .hint = "exec request buffer"}));
  void* mapped = nullptr;
  ONRT_ASSIGN(mapped, tx_memory_->map());
  tx_ = static_cast<DmaDescriptor*>(mapped);
  ONRT_ASSIGN(mapped, rx_memory_->map());
  rx_ = static_cast<DmaDescriptor*>(mapped);
  ONRT_ASSIGN(mapped, staging_->map());
  slots_ = static_cast<std::byte*>(mapped);
  std::memcpy(slots_, &dma_->ring_length_written, sizeof(std::uint32_t));

  const nrtp_ndl_queue queue{.engine = slot.engine,
                             .queue = slot.queue,
                             .tx_descs = capacity_,
                             .rx_descs = capacity_,
                             .tx_mem = tx_memory_->handle(),
                             .rx_mem = rx_memory_->handle()};
  MemoryPool& pool = *c.allocator->pool();
  const int rc = pool.ndl().dma->queue_init(pool.ctx(), pool.dev(), &queue);
  if (rc != 0) {
    return Status::failure("[ND {}][NC {}] exec ring on DMA engine {} queue {}: {}",
                           pool.device_index(), c.core, slot.engine, slot.queue,
                           std::strerror(-rc));
  }
  next_ = 0;
  ring_id_ = 1;
  return Status::ok();
}

void ExecQueue::release() {
  tx_ = rx_ = nullptr;
  slots_ = nullptr;
  tx_memory_.reset();
  rx_memory_.reset();
  staging_.reset();
  request_.reset();
}

void ExecQueue::append(std::uint64_t src, std::uint64_t dst, std::uint32_t bytes, bool barrier) {
  CopyPair pair = copy_packet(src, dst, bytes, *dma_, barrier);
  pair.tx = with_ring_id(pair.tx, ring_id_);
  pair.rx = with_ring_id(pair.rx, ring_id_);
  hal::al_copy_descriptor(&rx_[next_], &pair.rx);
  hal::al_copy_descriptor(&tx_[next_], &pair.tx);
  if (++next_ == capacity_) {
    next_ = 0;
    ring_id_ = (ring_id_ + 1) & 3;
  }
}

Status ExecQueue::stage(const RequestWords& request, std::span<const Transfer> io,
                        std::uint32_t& out_descriptors) {
  const std::uint64_t busy = staged_requests_ - retired_requests_.load(std::memory_order_acquire);
  if (busy >= slot_count_) {
    return Status::make(NRT_QUEUE_FULL, "{} executions are in flight on this core, the limit is {}",
                        busy, slot_count_);
  }
  const std::uint32_t needed = 3 + static_cast<std::uint32_t>(io.size());
  const std::uint64_t used =
      staged_descriptors_ - retired_descriptors_.load(std::memory_order_acquire);
  if (used + needed + kRingGap > capacity_) {
    return Status::make(NRT_QUEUE_FULL, "exec ring: {} descriptors needed, {} of {} are in use",
                        needed, used, capacity_);
  }
  const std::size_t slot = static_cast<std::size_t>(1 + staged_requests_ % slot_count_);
  std::memcpy(slots_ + slot * kSlotBytes, request.data(), kRequestBytes);
  append(staging_->address() + slot * kSlotBytes, request_->address(), kRequestBytes, false);
  append(constant_one_, request_loaded_, 4, true);
  for (const Transfer& t : io) append(t.src, t.dst, t.bytes, false);
  append(constant_one_, io_switched_, 4, true);
  // The kick that follows must not pass these stores.
  hal::al_data_memory_barrier();
  ++staged_requests_;
  staged_descriptors_ += needed;
  out_descriptors = needed;
  return Status::ok();
}

void ExecQueue::retire(std::uint32_t descriptors) {
  retired_descriptors_.fetch_add(descriptors, std::memory_order_release);
  retired_requests_.fetch_add(1, std::memory_order_release);
}

}  // namespace opennrt::tdrv
