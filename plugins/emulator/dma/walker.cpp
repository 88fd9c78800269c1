// SPDX-License-Identifier: Apache-2.0
//
// Descriptor processing: packet by packet, the data of the TX side through the
// packet's operation to the RX side.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "dma/convert.h"
#include "dma/descriptor.h"
#include "dma/packet.h"
#include "dma/stream.h"
#include "verify/verifier.h"

namespace opennrt::emu {

namespace {

// Descriptors [next, end) of a ring.
class DescriptorList final : public SegmentList {
 public:
  DescriptorList(const RingView& view, std::uint32_t first, std::uint32_t count)
      : view_(&view), next_(first), end_(first + count) {}
  bool next(Segment* out) override {
    if (next_ == end_) return false;
    const Descriptor d = view_->at(next_);
    *out = {d.address, d.bytes(), view_->address(next_)};
    ++next_;
    return true;
  }

 private:
  const RingView* view_;
  std::uint32_t next_, end_;
};

class Walker {
 public:
  static constexpr std::uint32_t kMostPieces = 32;
  static constexpr std::uint64_t kBytesAhead = 512;  // of a piece

  Walker(Bus& bus, DmaQueue& queue, Origin& who)
      : bus_(bus),
        queue_(queue),
        who_(who),
        flags_(bus.map().arch().dma->flags),
        tx_(bus.map(), queue.ring[kDirTx]),
        rx_(bus.map(), queue.ring[kDirRx]),
        from_windows_(bus.map()),
        to_windows_(bus.map()) {}

  // Performs one packet; false when the queue waits or has stopped.
  bool step() {
    if (tx_.pending() == 0) return false;
    if (!tx_.readable()) return stop(tx_.address(0), "TX ring is not in memory");
    if (copy_pieces()) return true;
    std::uint32_t at = 0;
    std::string error;
    switch (read_packet(tx_, flags_, &packet_, &at, &error)) {
      case PacketState::kIncomplete:
        return false;  // the rest of the packet comes later
      case PacketState::kWrong:
        return stop(tx_.address(at), error);
      case PacketState::kComplete:
        break;
    }
    const std::uint64_t bytes = packet_.output_bytes;
    if (rx_.pending() == 0) return false;
    if (!rx_.readable()) return stop(rx_.address(0), "RX ring is not in memory");
    std::uint64_t room = 0;
    std::uint32_t rx_count = 0;
    while (room < bytes) {
      if (rx_count == rx_.pending()) return false;  // armed later
      const Descriptor d = rx_.at(rx_count);
      if (!check_rx(d, rx_count)) return false;
      room += d.bytes();
      ++rx_count;
    }
    if (room != bytes)
      return stop(rx_.address(rx_count - 1), "packet of " + std::to_string(bytes) +
                                                 " bytes ends inside an RX descriptor (" +
                                                 std::to_string(room) + " bytes received)");
    if (Verifier* v = bus_.verifier()) {
      v->doorbell_taken(who_.unit, who_.queue);
      who_.slot = tx_.address(0);
      v->begin(who_);
    }
    perform(rx_count);
    tx_.advance(queue_.ring[kDirTx], packet_.descriptors);
    rx_.advance(queue_.ring[kDirRx], rx_count);
    return true;
  }

 private:
  // Most packets copy pieces of memory, as many on one side as on the other. All
  // are looked up and asked for before the first moves: they go to as many
  // partitions, far apart, where the CPU does not look ahead by itself. False: this
  // packet is not such a one, or something is wrong with it; nothing has happened.
  bool copy_pieces() {
    if (bus_.verifier()) return false;  // it watches the streams
    if (!rx_.readable()) return false;
    struct Piece {
      std::uint8_t* to;
      const std::uint8_t* from;
      std::uint64_t bytes;
    } pieces[kMostPieces];
    constexpr std::uint32_t kCommon = kDescReserved | kDescMeta | 3u << kDescRingIdShift;
    constexpr std::uint32_t kTxMask = kCommon | kDescFirst | kDescStrongOrder;
    const std::uint32_t rx_mask =
        kCommon | kDescDataBarrier |
        ((flags_ & NRTP_DMA_STRONG_ORDER_WRITE) != 0 ? 0 : kDescStrongOrder);
    std::uint32_t n = 0;
    for (bool last = false; !last; ++n) {
      if (n == kMostPieces || n >= tx_.pending() || n >= rx_.pending()) return false;
      const Descriptor t = tx_.at(n), r = rx_.at(n);
      const std::uint32_t tx_want = tx_.ring_id(n) << kDescRingIdShift | (n == 0 ? kDescFirst : 0);
      last = (t.len_ctrl & kDescLast) != 0;
      if ((t.len_ctrl & kTxMask) != tx_want || (last && (t.len_ctrl & kDescConcat) != 0) ||
          (t.meta_ctrl & ~(kMetaPlainCopy | kMetaWriteBarrier)) != 0)
        return false;
      if ((r.len_ctrl & rx_mask) != rx_.ring_id(n) << kDescRingIdShift || r.meta_ctrl != 0)
        return false;
      Piece& piece = pieces[n];
      piece.bytes = t.bytes();
      if (r.bytes() != piece.bytes) return false;
      piece.from = from_windows_.find(t.address, piece.bytes);
      piece.to = to_windows_.find(r.address, piece.bytes);
      if (!piece.from || !piece.to) return false;
      if (last && n == 0) break;
      for (std::uint64_t i = 0; i < std::min(piece.bytes, kBytesAhead); i += 64) {
        __builtin_prefetch(piece.from + i, 0, 2);
        __builtin_prefetch(piece.to + i, 0, 2);
      }
    }
    n = std::max(n, 1u);
    for (std::uint32_t i = 0; i < n; ++i)
      std::memmove(pieces[i].to, pieces[i].from, pieces[i].bytes);
    tx_.advance(queue_.ring[kDirTx], n);
    rx_.advance(queue_.ring[kDirRx], n);
    return true;
  }

  void perform(std::uint32_t rx_count) {
    DescriptorList to_list(rx_, 0, rx_count);
    WriteStream to(bus_, to_windows_, to_list, who_);
    if (packet_.kind == Packet::Kind::kCombine) return combine(to);
    const PacketSource& source = packet_.source[0];
    DescriptorList from_list(tx_, source.first, source.count);
    ReadStream from(bus_, from_windows_, from_list, who_);
    switch (packet_.kind) {
      case Packet::Kind::kCast:
        return cast_stream(from, source.dtype, to, packet_.dtype, source.elements);
      case Packet::Kind::kTranspose:
        return transpose_packet(from, to);
      default:
        return copy_stream(from, to, source.bytes);
    }
  }

  void combine(WriteStream& to) {
    struct Input {
      DescriptorList list;
      ReadStream stream;
      Input(Walker& w, const PacketSource& s)
          : list(w.tx_, s.first, s.count), stream(w.bus_, w.from_windows_, list, w.who_) {}
      Input(const Input&) = delete;
    };
    std::array<std::optional<Input>, kMaxPacketSources> inputs;
    std::array<CombineSource, kMaxPacketSources> sources;
    for (std::uint32_t i = 0; i < packet_.sources; ++i) {
      const PacketSource& s = packet_.source[i];
      inputs[i].emplace(*this, s);
      sources[i] = {&inputs[i]->stream, s.dtype, s.scale};
    }
    combine_streams(packet_.combine, {sources.data(), packet_.sources},
                    packet_.has_constant ? &packet_.constant : nullptr, to, packet_.dtype,
                    packet_.source[0].elements);
  }

  void transpose_packet(ReadStream& from, WriteStream& to) {
    const std::uint64_t bytes = packet_.output_bytes;
    const std::uint8_t* in = from.take(bytes, 1);
    std::uint8_t* out = to.take(bytes, 1);
    const bool overlap = in && out && in < out + bytes && out < in + bytes;
    const std::uint64_t in_scratch = !in || overlap ? bytes : 0;
    const std::uint64_t need = in_scratch + (out ? 0 : bytes);
    if (queue_.scratch.size() < need) queue_.scratch.resize(need);
    std::uint8_t* scratch = queue_.scratch.data();
    if (!in)
      from.read(scratch, bytes);
    else if (overlap)
      std::memcpy(scratch, in, bytes);
    std::uint8_t* result = out ? out : scratch + in_scratch;
    transpose(in_scratch != 0 ? scratch : in, result, packet_.shape);
    if (!out) to.write(result, bytes);
  }

  bool check_rx(const Descriptor& d, std::uint32_t k) {
    const std::uint64_t slot = rx_.address(k);
    const std::uint32_t id = d.len_ctrl >> kDescRingIdShift & 3;
    if (id != rx_.ring_id(k))
      return stop(slot, "stale RX descriptor: ring id " + std::to_string(id) + ", expected " +
                            std::to_string(rx_.ring_id(k)));
    if ((d.len_ctrl & kDescMeta) != 0) return stop(slot, "META descriptor on the RX ring");
    if ((d.len_ctrl & kDescReserved) != 0)
      return stop(slot, "RX word 0 " + hex(d.len_ctrl) + " has reserved bits");
    if ((d.len_ctrl & kDescDataBarrier) != 0)
      return stop(slot, "data barrier asked for on the RX side");
    if ((d.len_ctrl & kDescStrongOrder) != 0 && (flags_ & NRTP_DMA_STRONG_ORDER_WRITE) == 0)
      return stop(slot, "RX asks for a strong-ordered write, which this silicon lacks");
    if (d.meta_ctrl != 0)
      return stop(slot, "RX word 1 is " + hex(d.meta_ctrl) +
                            ": embedded semaphores are not implemented, their layout is not "
                            "published; use a 4-byte packet to the semaphore");
    return true;
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
  std::uint32_t flags_;
  RingView tx_, rx_;
  WindowCache from_windows_, to_windows_;
  Packet packet_;
};

}  // namespace

bool walk_queue(Bus& bus, DmaQueue& queue, Origin& who, std::uint64_t packets) {
  Walker walker(bus, queue, who);
  for (std::uint64_t done = 0;; ++done) {
    if (done == packets) return true;
    if (done != 0 && queue.wanted.load(std::memory_order_relaxed) != 0) return true;
    if (!walker.step()) return false;
  }
}

}  // namespace opennrt::emu
