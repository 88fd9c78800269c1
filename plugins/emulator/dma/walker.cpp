// SPDX-License-Identifier: Apache-2.0
//
// Descriptor processing: packet discovery on both rings, then one byte stream
// from the TX descriptors to the RX descriptors.
#include <algorithm>
#include <cstring>
#include <string>

#include "dma/fabric.h"

namespace opennrt::emu {

namespace {

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

constexpr std::uint32_t kMeta = 1u << 23;
constexpr std::uint32_t kRingIdShift = 24;
constexpr std::uint32_t kFirst = 1u << 26;
constexpr std::uint32_t kLast = 1u << 27;
constexpr std::uint32_t kStrongOrder = 1u << 29;  // RX
// Meta word of a plain copy, its write barrier and notification mask; other
// bits ask for byte swaps, checksums or operations.
constexpr std::uint32_t kPlainCopy = 0x01080003;
constexpr std::uint32_t kWriteBarrier = 1u << 26;
constexpr std::uint32_t kNotificationMask = 1u << 28;

// The released descriptors of one side as one or two runs of memory.
class View {
 public:
  View(const AddressMap& map, const DmaRing& ring)
      : length_(ring.length.load(std::memory_order_acquire)),
        next_(ring.next.load(std::memory_order_relaxed)),
        ring_id_(ring.ring_id.load(std::memory_order_relaxed)),
        pending_(ring.pending.load(std::memory_order_relaxed)),
        base_(ring.base()) {
    if (pending_ == 0) return;
    if (next_ >= length_) return;  // the length shrank under the ring
    first_count_ = std::min(pending_, length_ - next_);
    first_ = map.memory(base_ + 16ull * next_, 16ull * first_count_);
    if (pending_ > first_count_) second_ = map.memory(base_, 16ull * (pending_ - first_count_));
    readable_ = first_ && (pending_ == first_count_ || second_);
  }

  std::uint32_t pending() const { return pending_; }
  bool readable() const { return readable_; }
  std::uint64_t address(std::uint32_t k) const {
    return k < first_count_ ? base_ + 16ull * (next_ + k) : base_ + 16ull * (k - first_count_);
  }
  Descriptor at(std::uint32_t k) const {
    Descriptor d;
    std::memcpy(&d, k < first_count_ ? first_ + 16ull * k : second_ + 16ull * (k - first_count_),
                sizeof d);
    return d;
  }
  std::uint32_t ring_id(std::uint32_t k) const { return (ring_id_ + (k >= first_count_)) & 3; }

  void advance(DmaRing& ring, std::uint32_t n) const {
    std::uint32_t next = next_ + n;
    if (next >= length_) {
      next -= length_;
      ring.ring_id.store((ring_id_ + 1) & 3, std::memory_order_release);
    }
    ring.next.store(next, std::memory_order_release);
    ring.pending.store(pending_ - n, std::memory_order_release);
  }

 private:
  std::uint32_t length_, next_, ring_id_, pending_;
  std::uint64_t base_;
  std::uint32_t first_count_ = 0;
  const std::uint8_t* first_ = nullptr;
  const std::uint8_t* second_ = nullptr;
  bool readable_ = false;
};

// Source side of a packet as one byte stream.
class Source {
 public:
  Source(Bus& bus, const View& view, Origin& who) : bus_(bus), view_(view), who_(who) {}

  // Moves `bytes` of the stream to `to`.
  void read(std::uint8_t* to, std::uint64_t bytes) {
    while (bytes != 0) {
      if (left_ == 0) open();
      const std::uint64_t n = std::min(bytes, left_);
      if (memory_) {
        std::memmove(to, memory_, n);
        memory_ += n;
      } else if (constant_) {
        for (std::uint64_t i = 0; i < n; ++i, phase_ = (phase_ + 1) & 3)
          to[i] = phase_ == 0 ? value_ : 0;
      } else if (dead_ || !bus_.bus_read(address_, to, n, who_)) {
        dead_ = true;  // reported once per descriptor
        std::memset(to, 0, n);
      } else {
        address_ += n;
      }
      to += n;
      left_ -= n;
      bytes -= n;
    }
  }

 private:
  void open() {
    const Descriptor d = view_.at(next_);
    who_.slot = view_.address(next_++);
    left_ = d.bytes();
    address_ = d.address;
    memory_ = bus_.map().memory(address_, left_);
    constant_ = dead_ = false;
    if (memory_) return;
    nrtp_addr_class c;
    if (bus_.map().classify(address_, &c) && c.kind == NRTP_ADDR_CONST) {
      constant_ = true;
      value_ = static_cast<std::uint8_t>(c.local);
      phase_ = 0;
    }
  }

  Bus& bus_;
  const View& view_;
  Origin& who_;
  std::uint32_t next_ = 0;
  std::uint64_t left_ = 0, address_ = 0;
  const std::uint8_t* memory_ = nullptr;
  bool constant_ = false, dead_ = false;
  std::uint8_t value_ = 0;
  std::uint32_t phase_ = 0;
};

void copy_packet(Bus& bus, const View& tx, const View& rx, std::uint32_t rx_count, Origin& who) {
  Source source(bus, tx, who);
  for (std::uint32_t i = 0; i < rx_count; ++i) {
    const Descriptor d = rx.at(i);
    std::uint64_t left = d.bytes();
    if (std::uint8_t* to = bus.map().memory(d.address, left)) {
      source.read(to, left);
      continue;
    }
    // Registers, semaphores and tables: through a small buffer. Destinations
    // take words, so pieces stay multiples of four.
    std::uint8_t piece[1024];
    bool dead = false;
    std::uint64_t address = d.address;
    while (left != 0) {
      const std::uint64_t n = std::min<std::uint64_t>(left, sizeof piece);
      source.read(piece, n);
      who.slot = rx.address(i);
      if (!dead) dead = !bus.bus_write(address, piece, n, who);  // reported once
      address += n;
      left -= n;
    }
  }
}

class Walker {
 public:
  Walker(Bus& bus, DmaQueue& queue, Origin& who)
      : bus_(bus),
        queue_(queue),
        who_(who),
        strong_order_((bus.map().arch().dma->flags & NRTP_DMA_STRONG_ORDER_WRITE) != 0),
        notification_mask_((bus.map().arch().dma->flags & NRTP_DMA_NOTIFICATION_MASK) != 0) {}

  // Performs one packet; false when the queue waits or has stopped.
  bool step() {
    DmaRing& tx_ring = queue_.ring[kDirTx];
    DmaRing& rx_ring = queue_.ring[kDirRx];
    if (tx_ring.pending.load(std::memory_order_relaxed) == 0) return false;
    const View tx(bus_.map(), tx_ring);
    if (!tx.readable()) return stop(tx.address(0), "TX ring is not in memory");
    std::uint64_t bytes = 0;
    std::uint32_t tx_count = 0;
    bool last = false;
    while (!last) {
      if (tx_count == tx.pending()) return false;  // the rest of the packet comes later
      const Descriptor d = tx.at(tx_count);
      if (!check_tx(d, tx, tx_count)) return false;
      bytes += d.bytes();
      last = (d.len_ctrl & kLast) != 0;
      ++tx_count;
    }

    if (rx_ring.pending.load(std::memory_order_relaxed) == 0) return false;
    const View rx(bus_.map(), rx_ring);
    if (!rx.readable()) return stop(rx.address(0), "RX ring is not in memory");
    std::uint64_t room = 0;
    std::uint32_t rx_count = 0;
    while (room < bytes) {
      if (rx_count == rx.pending()) return false;  // armed later
      const Descriptor d = rx.at(rx_count);
      if (!check_rx(d, rx, rx_count)) return false;
      room += d.bytes();
      ++rx_count;
    }
    if (room != bytes)
      return stop(rx.address(rx_count - 1), "packet of " + std::to_string(bytes) +
                                                " bytes ends inside an RX descriptor (" +
                                                std::to_string(room) + " bytes received)");

    copy_packet(bus_, tx, rx, rx_count, who_);
    tx.advance(tx_ring, tx_count);
    rx.advance(rx_ring, rx_count);
    return true;
  }

 private:
  bool check_tx(const Descriptor& d, const View& view, std::uint32_t k) {
    if (!check_phase(d, view, k, "TX")) return false;
    if ((d.len_ctrl & kMeta) != 0)
      return stop(view.address(k), "META descriptor (operation word " + hex(d.meta_ctrl) +
                                       "): compute packets are not implemented");
    const std::uint32_t allowed =
        kPlainCopy | kWriteBarrier | (notification_mask_ ? kNotificationMask : 0);
    if ((d.meta_ctrl & ~allowed) != 0)
      return stop(view.address(k), "TX meta word " + hex(d.meta_ctrl) +
                                       " asks for more than a plain copy (" + hex(kPlainCopy) +
                                       ")");
    if (((d.len_ctrl & kFirst) != 0) != (k == 0))
      return stop(view.address(k), k == 0 ? "packet begins without FIRST"
                                          : "FIRST inside a packet that has no LAST");
    return true;
  }

  bool check_rx(const Descriptor& d, const View& view, std::uint32_t k) {
    if (!check_phase(d, view, k, "RX")) return false;
    if ((d.len_ctrl & kMeta) != 0) return stop(view.address(k), "META descriptor on the RX ring");
    if ((d.len_ctrl & kStrongOrder) != 0 && !strong_order_)
      return stop(view.address(k), "RX asks for a strong-ordered write, which this silicon lacks");
    if (d.meta_ctrl != 0)
      return stop(view.address(k),
                  "RX word 1 is " + hex(d.meta_ctrl) + ": embedded semaphores are not implemented");
    return true;
  }

  bool check_phase(const Descriptor& d, const View& view, std::uint32_t k, const char* side) {
    const std::uint32_t id = d.len_ctrl >> kRingIdShift & 3;
    if (id == view.ring_id(k)) return true;
    return stop(view.address(k), std::string("stale ") + side + " descriptor: ring id " +
                                     std::to_string(id) + ", expected " +
                                     std::to_string(view.ring_id(k)));
  }

  bool stop(std::uint64_t slot, const std::string& text) {
    queue_.stopped = true;
    who_.slot = slot;
    bus_.report(who_, ErrorType::kUnitStopped, static_cast<std::uint16_t>(who_.queue),
                text + "; the queue stops until it is reset");
    return false;
  }

  Bus& bus_;
  DmaQueue& queue_;
  Origin& who_;
  bool strong_order_, notification_mask_;
};

}  // namespace

void walk_queue(Bus& bus, DmaQueue& queue, Origin& who) {
  Walker walker(bus, queue, who);
  while (walker.step()) {
  }
}

}  // namespace opennrt::emu
