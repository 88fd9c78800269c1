// SPDX-License-Identifier: Apache-2.0
//
// Descriptors of a DMA ring (aws-neuron-driver 2.24.7.0, udma descriptor
// layout) and the released part of a ring.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "dma/fabric.h"

namespace opennrt::emu {

struct Descriptor {
  std::uint32_t len_ctrl;
  std::uint32_t meta_ctrl;
  std::uint64_t address;

  std::uint64_t bytes() const {
    const std::uint32_t n = len_ctrl & 0xFFFF;
    return n == 0 ? 65536 : n;
  }
};
static_assert(sizeof(Descriptor) == 16);

// len_ctrl
inline constexpr std::uint32_t kDescReserved = 0x7F << 16;
inline constexpr std::uint32_t kDescMeta = 1u << 23;
inline constexpr std::uint32_t kDescRingIdShift = 24;
inline constexpr std::uint32_t kDescFirst = 1u << 26;
inline constexpr std::uint32_t kDescLast = 1u << 27;
inline constexpr std::uint32_t kDescStrongOrder = 1u << 29;  // RX
inline constexpr std::uint32_t kDescDataBarrier = 1u << 30;  // TX
inline constexpr std::uint32_t kDescConcat = 1u << 31;

// meta_ctrl of a TX data descriptor: a plain copy, its write barrier and its
// notification mask; the other bits ask for byte swaps, checksums, operations.
inline constexpr std::uint32_t kMetaPlainCopy = 0x01080003;
inline constexpr std::uint32_t kMetaByteSwap = 0xFF << 6;
inline constexpr std::uint32_t kMetaChecksum = 0x1F << 14;
inline constexpr std::uint32_t kMetaWriteBarrier = 1u << 26;
inline constexpr std::uint32_t kMetaNotificationMask = 1u << 28;

// The released descriptors of one side as one or two runs of memory. Taken once
// per walk: only the holder of the queue's lock moves the ring.
class RingView {
 public:
  RingView(const AddressMap& map, const DmaRing& ring)
      : length_(ring.length.load(std::memory_order_acquire)),
        next_(ring.next.load(std::memory_order_relaxed)),
        ring_id_(ring.ring_id.load(std::memory_order_relaxed)),
        pending_(ring.pending.load(std::memory_order_relaxed)),
        base_(ring.base()) {
    if (pending_ == 0 || next_ >= length_) return;  // the length may shrink under a ring
    first_count_ = std::min(pending_, length_ - next_);
    first_ = map.memory(base_ + 16ull * next_, 16ull * first_count_);
    if (pending_ > first_count_) second_ = map.memory(base_, 16ull * (pending_ - first_count_));
    readable_ = first_ && (pending_ == first_count_ || second_);
  }

  // Of the descriptors not yet taken; k counts from the first of them.
  std::uint32_t pending() const { return pending_ - taken_; }
  bool readable() const { return readable_; }
  std::uint64_t address(std::uint32_t k) const {
    k += taken_;
    return k < first_count_ ? base_ + 16ull * (next_ + k) : base_ + 16ull * (k - first_count_);
  }
  Descriptor at(std::uint32_t k) const {
    k += taken_;
    Descriptor d;
    std::memcpy(&d, k < first_count_ ? first_ + 16ull * k : second_ + 16ull * (k - first_count_),
                sizeof d);
    return d;
  }
  std::uint32_t ring_id(std::uint32_t k) const {
    return (ring_id_ + (k + taken_ >= first_count_)) & 3;
  }

  // Takes n descriptors and moves the ring's registers.
  void advance(DmaRing& ring, std::uint32_t n) {
    taken_ += n;
    const std::uint64_t next = std::uint64_t{next_} + taken_;
    const bool wrapped = next >= length_;
    ring.ring_id.store((ring_id_ + wrapped) & 3, std::memory_order_release);
    ring.next.store(static_cast<std::uint32_t>(wrapped ? next - length_ : next),
                    std::memory_order_release);
    ring.pending.store(pending_ - taken_, std::memory_order_release);
  }

 private:
  std::uint32_t length_, next_, ring_id_, pending_;
  std::uint64_t base_;
  std::uint32_t taken_ = 0;
  std::uint32_t first_count_ = 0;
  const std::uint8_t* first_ = nullptr;
  const std::uint8_t* second_ = nullptr;
  bool readable_ = false;
};

}  // namespace opennrt::emu
