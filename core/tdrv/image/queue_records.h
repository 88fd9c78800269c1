// SPDX-License-Identifier: Apache-2.0
//
// Records that program DMA queue registers from an image: set-up and reset of
// queue sets, table rings, triggers and doorbells.
#pragma once

#include <cstdint>

#include "tdrv/image.h"
#include "tdrv/image/records_builder.h"

namespace opennrt::tdrv::image {

// Addresses of queue registers, from the arch tables.
class QueueAddresses {
 public:
  enum Direction : std::uint32_t { kM2s = 0, kS2m = 1 };

  explicit QueueAddresses(const ImageInputs& inputs);

  // Register in the window that all DMA engines of the core listen to.
  std::uint64_t broadcast(std::uint32_t queue, Direction dir, std::uint32_t reg) const;
  // Register of the core's engine `index` (0..15).
  std::uint64_t of_engine(std::uint32_t index, std::uint32_t queue, Direction dir,
                          std::uint32_t reg) const;
  // Register of a global engine id.
  std::uint64_t of_global(std::uint32_t engine, std::uint32_t queue, Direction dir,
                          std::uint32_t reg) const;

  const nrtp_arch_dma& dma() const { return *dma_; }

 private:
  const nrtp_arch_dma* dma_;
  const nrtp_product* product_;
  std::uint32_t core_;
};

// The data word of a broadcast write holds the value in its low half.
inline constexpr std::uint32_t kMaxBroadcastValue = 0xFFFF;

// With the rings of one instance; the reset keeps the bases that are set.
void append_queue_setup(RecordBuilder& out, const QueueAddresses& at, std::uint32_t dma_engines,
                        const QueuePlacement& queue, std::size_t instance = 0);
void append_queue_reset(RecordBuilder& out, const QueueAddresses& at, const QueuePlacement& queue,
                        std::size_t instance = 0);
// RX first, then TX, the same register on both sides of one engine's queue.
void append_doorbell(RecordBuilder& out, const QueueAddresses& at, nrtp_dma_slot slot,
                     std::uint32_t count);
// index: the ring's DMA engine within the core.
void append_table_ring_setup(RecordBuilder& out, const QueueAddresses& at, nrtp_dma_slot slot,
                             std::uint32_t index, const TableRing& ring);

}  // namespace opennrt::tdrv::image
