// SPDX-License-Identifier: Apache-2.0
#include "tdrv/image/queue_records.h"

#include <algorithm>
#include <array>

namespace opennrt::tdrv::image {

namespace {

constexpr std::uint32_t kEnginesPerStore = 4;
constexpr std::uint32_t kWordBytes = 4;

std::uint32_t low(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
std::uint32_t high(std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); }
std::int32_t words(std::uint64_t bytes) { return static_cast<std::int32_t>(bytes / kWordBytes); }

using Bases = std::array<std::uint64_t, kMaxRings>;
constexpr Bases kNoBases{};

// lo and hi of `count` ring bases, one row of the grid per engine.
void store_bases(RecordBuilder& out, std::uint64_t address, const nrtp_arch_dma& dma,
                 const std::uint64_t* base, std::uint32_t count) {
  std::array<std::uint32_t, 2 * kEnginesPerStore> data{};
  for (std::uint32_t i = 0; i < count; ++i) {
    data[2 * i] = low(base[i]);
    data[2 * i + 1] = high(base[i]);
  }
  out.store({.address = address,
             .count_inner = 2,
             .count_outer = static_cast<std::uint8_t>(count),
             .step_inner = 1,
             .step_outer = words(dma.engine_stride)},
            std::span(data).first(2 * count));
}

// The length registers of both directions of `count` engines.
void store_lengths(RecordBuilder& out, std::uint64_t m2s_address, const nrtp_arch_dma& dma,
                   std::uint32_t count) {
  std::array<std::uint32_t, 2 * kEnginesPerStore> data{};
  std::fill_n(data.begin(), 2 * count, dma.ring_length_written);
  out.store({.address = m2s_address,
             .count_inner = 2,
             .count_outer = static_cast<std::uint8_t>(count),
             .step_inner = words(dma.dir_stride),
             .step_outer = words(dma.engine_stride)},
            std::span(data).first(2 * count));
}

// Releases the whole receive side of a set whose addresses never change.
void arm_receive_side(RecordBuilder& out, const QueueAddresses& at, const QueuePlacement& queue,
                      const RingPlacement& rings) {
  for (std::uint32_t left = rings.total_s2m; left != 0;) {
    const std::uint32_t n = std::min(left, kMaxBroadcastValue);
    out.write({at.broadcast(queue.hardware_queue, QueueAddresses::kS2m, NRTP_QREG_TAIL_INC), n});
    left -= n;
  }
}

}  // namespace

QueueAddresses::QueueAddresses(const ImageInputs& inputs)
    : dma_(inputs.arch->dma), product_(inputs.product), core_(inputs.core) {}

std::uint64_t QueueAddresses::broadcast(std::uint32_t queue, Direction dir,
                                        std::uint32_t reg) const {
  return dma_->bcast_device(product_, core_) + dma_->queue_reg(queue, dir, reg);
}

std::uint64_t QueueAddresses::of_global(std::uint32_t engine, std::uint32_t queue, Direction dir,
                                        std::uint32_t reg) const {
  return dma_->udma_device(product_, engine) + dma_->queue_reg(queue, dir, reg);
}

std::uint64_t QueueAddresses::of_engine(std::uint32_t index, std::uint32_t queue, Direction dir,
                                        std::uint32_t reg) const {
  return of_global(dma_->core_engine(product_, core_, index), queue, dir, reg);
}

void append_queue_reset(RecordBuilder& out, const QueueAddresses& at, const QueuePlacement& queue,
                        std::size_t instance) {
  const std::uint32_t q = queue.hardware_queue;
  const std::uint32_t reset = at.dma().sw_ctrl_reset;
  out.write({at.broadcast(q, QueueAddresses::kS2m, NRTP_QREG_SW_CTRL), reset},
            {at.broadcast(q, QueueAddresses::kM2s, NRTP_QREG_SW_CTRL), reset});
  if (!queue.is_io()) arm_receive_side(out, at, queue, queue.instance(instance));
}

void append_queue_setup(RecordBuilder& out, const QueueAddresses& at, std::uint32_t dma_engines,
                        const QueuePlacement& queue, std::size_t instance) {
  const RingPlacement& rings = queue.instance(instance);
  const std::uint32_t q = queue.hardware_queue;
  const std::uint32_t reset = at.dma().sw_ctrl_reset;
  out.write({at.broadcast(q, QueueAddresses::kS2m, NRTP_QREG_SW_CTRL), reset},
            {at.broadcast(q, QueueAddresses::kM2s, NRTP_QREG_SW_CTRL), reset});
  // A side with tensors of the caller gets its bases from the IO switch.
  const Bases& m2s = queue.caller_sources ? kNoBases : rings.m2s_base;
  const Bases& s2m = queue.caller_destinations ? kNoBases : rings.s2m_base;
  const std::uint32_t engines = std::min(dma_engines, kMaxRings);
  for (std::uint32_t first = 0; first < engines; first += kEnginesPerStore) {
    const std::uint32_t n = std::min(kEnginesPerStore, engines - first);
    store_bases(out, at.of_engine(first, q, QueueAddresses::kM2s, NRTP_QREG_BASE_LO), at.dma(),
                m2s.data() + first, n);
    store_bases(out, at.of_engine(first, q, QueueAddresses::kS2m, NRTP_QREG_BASE_LO), at.dma(),
                s2m.data() + first, n);
    store_lengths(out, at.of_engine(first, q, QueueAddresses::kM2s, NRTP_QREG_LENGTH), at.dma(), n);
  }
  if (!queue.is_io()) arm_receive_side(out, at, queue, queue.instance(instance));
}

void append_doorbell(RecordBuilder& out, const QueueAddresses& at, nrtp_dma_slot slot,
                     std::uint32_t count) {
  out.write(
      {at.of_global(slot.engine, slot.queue, QueueAddresses::kS2m, NRTP_QREG_TAIL_INC), count},
      {at.of_global(slot.engine, slot.queue, QueueAddresses::kM2s, NRTP_QREG_TAIL_INC), count});
}

void append_table_ring_setup(RecordBuilder& out, const QueueAddresses& at, nrtp_dma_slot slot,
                             std::uint32_t index, const TableRing& ring) {
  const nrtp_arch_dma& dma = at.dma();
  // The broadcast resets this engine's queue only: all others are excluded.
  const std::uint32_t exclude = kMaxBroadcastValue & ~(1u << index);
  const std::uint32_t reset = exclude << dma.bcast_exclude_shift | dma.sw_ctrl_reset;
  out.write({at.broadcast(slot.queue, QueueAddresses::kS2m, NRTP_QREG_SW_CTRL), reset},
            {at.broadcast(slot.queue, QueueAddresses::kM2s, NRTP_QREG_SW_CTRL), reset});
  store_bases(out, at.of_global(slot.engine, slot.queue, QueueAddresses::kM2s, NRTP_QREG_BASE_LO),
              dma, &ring.m2s_base, 1);
  store_bases(out, at.of_global(slot.engine, slot.queue, QueueAddresses::kS2m, NRTP_QREG_BASE_LO),
              dma, &ring.s2m_base, 1);
  store_lengths(out, at.of_global(slot.engine, slot.queue, QueueAddresses::kM2s, NRTP_QREG_LENGTH),
                dma, 1);
}

}  // namespace opennrt::tdrv::image
