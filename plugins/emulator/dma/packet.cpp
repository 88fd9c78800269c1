// SPDX-License-Identifier: Apache-2.0
#include "dma/packet.h"

#include <bit>

#include "compute/operand.h"
#include "opennrt/arch.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

// No packet of a compiled program comes near; it bounds the scratch memory.
constexpr std::uint64_t kMaxTransposeBytes = 64 << 20;

constexpr std::uint32_t kMetaOpMask = 0x3F00000;  // type and selector
constexpr std::uint32_t kMetaCodeMask = 0xFFF;

// Operations that the hardware has but whose fields are not published.
const char* unknown_operation(std::uint32_t word) {
  switch (word & kMetaOpMask) {
    case 0x0800000:
      return "striding split";
    case 0x0A00000:
      return "replication";
    case 0x2400000:
      return "extension";
    case 0x2500000:
      return "gradient";
    default:
      return nullptr;
  }
}

std::string dtype_text(const char* side, std::uint32_t dtype) {
  return std::string(side) + " data type " + std::to_string(dtype) +
         " is not implemented by the DMA data path";
}

class Reader {
 public:
  Reader(const RingView& view, std::uint32_t flags, Packet& packet, std::string* error)
      : view_(view), flags_(flags), p_(packet), error_(error) {}

  PacketState run(std::uint32_t* at) {
    bool last = false;
    std::uint32_t& k = p_.descriptors;
    for (k = 0; !last; ++k) {
      *at = k;
      if (k == view_.pending()) return PacketState::kIncomplete;
      const Descriptor d = view_.at(k);
      if (!check(d, k)) return PacketState::kWrong;
      if (!((d.len_ctrl & kDescMeta) != 0 ? meta(d, k) : data(d, k))) return PacketState::kWrong;
      last = (d.len_ctrl & kDescLast) != 0;
    }
    return finish() ? PacketState::kComplete : PacketState::kWrong;
  }

 private:
  bool fail(std::string text) {
    *error_ = std::move(text);
    return false;
  }

  bool check(const Descriptor& d, std::uint32_t k) {
    const std::uint32_t id = d.len_ctrl >> kDescRingIdShift & 3;
    if (id != view_.ring_id(k))
      return fail("stale TX descriptor: ring id " + std::to_string(id) + ", expected " +
                  std::to_string(view_.ring_id(k)));
    if ((d.len_ctrl & kDescReserved) != 0)
      return fail("TX word 0 " + hex(d.len_ctrl) + " has reserved bits");
    if ((d.len_ctrl & kDescStrongOrder) != 0)
      return fail("strong-ordered write asked for on the TX side");
    if (((d.len_ctrl & kDescFirst) != 0) != (k == 0))
      return fail(k == 0 ? "packet begins without FIRST"
                         : "FIRST inside a packet that has no LAST");
    if ((d.len_ctrl & kDescLast) != 0 && (d.len_ctrl & kDescConcat) != 0)
      return fail("descriptor is LAST and asks to continue (CONCAT)");
    return true;
  }

  bool data(const Descriptor& d, std::uint32_t k) {
    const std::uint32_t allowed =
        kMetaPlainCopy | kMetaWriteBarrier |
        ((flags_ & NRTP_DMA_NOTIFICATION_MASK) != 0 ? kMetaNotificationMask : 0);
    const std::uint32_t extra = d.meta_ctrl & ~allowed;
    if (extra != 0) {
      const std::string text = "TX meta word " + hex(d.meta_ctrl) +
                               " asks for more than a plain copy (" + hex(kMetaPlainCopy) + "): ";
      if ((extra & kMetaByteSwap) != 0) return fail(text + "byte swaps are not implemented");
      if ((extra & kMetaChecksum) != 0) return fail(text + "CRC operations are not implemented");
      if (extra == kMetaNotificationMask)
        return fail(text + "this silicon has no notification mask");
      return fail(text + "unknown bits " + hex(extra));
    }
    if (k == 0) {  // a packet without META descriptors has one source, copied
      p_.kind = Packet::Kind::kCopy;
      p_.sources = 1;
      p_.source[0] = {};
    }
    if (p_.sources == 0) return fail("data of a constant source");
    PacketSource& s = p_.source[p_.sources - 1];
    if (s.count == 0) s.first = k;
    if (s.first + s.count != k) return fail("data descriptor belongs to no source");
    ++s.count;
    s.bytes += d.bytes();
    return true;
  }

  bool meta(const Descriptor& d, std::uint32_t k) {
    const std::uint32_t word = d.meta_ctrl;
    const auto low = static_cast<std::uint32_t>(d.address);
    const auto high = static_cast<std::uint32_t>(d.address >> 32);
    if (k == 0) {
      if (!begin(word)) return false;
    } else if (p_.kind == Packet::Kind::kCopy) {
      return fail("META descriptor inside a plain copy");
    } else if (p_.kind != Packet::Kind::kCombine) {
      return fail("second META descriptor of a cast or transpose");
    } else if ((word & ~kSourceDtype) != (operation_ & ~kSourceDtype)) {
      return fail("META operation " + hex(word) + " in a packet of operation " + hex(operation_));
    }
    const std::uint32_t number = d.len_ctrl & 0xFFFF;
    if (p_.kind == Packet::Kind::kTranspose) return begin_transpose(number, d);
    const float value = std::bit_cast<float>(high);
    if (number == kConstantSource) return constant(low, value);
    if (number != p_.sources)
      return fail("META source number " + std::to_string(number) + ", expected " +
                  std::to_string(p_.sources) +
                  (p_.sources == kMaxPacketSources ? "; a packet has at most 16 sources" : ""));
    if (p_.sources == kMaxPacketSources) return fail("a packet has at most 16 sources");
    PacketSource& s = p_.source[p_.sources++];
    s = {};
    s.first = k + 1;
    s.elements = low;
    s.dtype = word >> 12 & 0xF;
    s.scale = value;
    if (low == 0) return fail("META source of 0 elements");
    // Casts between equal types move any bits.
    const bool cast = p_.kind == Packet::Kind::kCast;
    if (!(cast && s.dtype == p_.dtype && element_bytes(s.dtype) != 0)) {
      if (!can_convert(s.dtype, isa::kDtFloat32)) return fail(dtype_text("source", s.dtype));
      if (!can_convert(isa::kDtFloat32, p_.dtype)) return fail(dtype_text("destination", p_.dtype));
    }
    if (cast) {
      if (high != 0) return fail("cast with parameter " + hex(high));
      s.scale = 1;
    } else if (p_.combine != Combine::kFma && value != 1.0f) {
      return fail("scale of an operation that is not fma");
    }
    return true;
  }

  bool begin(std::uint32_t word) {
    operation_ = word;
    p_.sources = 0;
    p_.has_constant = false;
    if ((word & kMetaOpMask) == kMetaOpTranspose && (word >> 26) == 0) {
      p_.kind = Packet::Kind::kTranspose;
      return true;
    }
    p_.dtype = word >> 16 & 0xF;
    const std::uint32_t code = word & kMetaCodeMask;
    if ((word & ~0xFFFFFu) == (kMetaOpCast & ~0xFFFFFu) && code == 1) {
      p_.kind = Packet::Kind::kCast;
    } else if ((word & ~0xFFFFFu) == kMetaOpCombine && code <= 3) {
      p_.kind = Packet::Kind::kCombine;
      p_.combine = static_cast<Combine>(code);
    } else {
      const char* name = unknown_operation(word);
      return fail("META operation " + hex(word) +
                  (name ? std::string(" (") + name + ")" : std::string()) +
                  ": compute packets of this form are not implemented");
    }
    return true;
  }

  bool begin_transpose(std::uint32_t number, const Descriptor& d) {
    if (number != 0) return fail("META source number " + std::to_string(number) + ", expected 0");
    Transpose& t = p_.shape;
    t.element_bytes = d.meta_ctrl & 0x1F;
    if ((d.meta_ctrl & 0xE0) != 0 || (d.meta_ctrl & 0xF0000) != 0)
      return fail("transpose word " + hex(d.meta_ctrl) + " has unknown bits");
    if (t.element_bytes == 0) return fail("transpose of elements of 0 bytes");
    std::uint32_t seen = 0;
    std::uint64_t bytes = t.element_bytes;
    for (std::uint32_t i = 0; i < 4; ++i) {
      t.size[i] = d.address >> (16 * i) & 0xFFFF;
      t.order[i] = d.meta_ctrl >> (8 + 2 * i) & 3;
      seen |= 1u << t.order[i];
      if (t.size[i] == 0) return fail("transpose size 0 in dimension " + std::to_string(i));
      bytes *= t.size[i];
      if (bytes > kMaxTransposeBytes)
        return fail("transpose of more than " + std::to_string(kMaxTransposeBytes) +
                    " bytes in one packet");
    }
    if (seen != 0xF) return fail("transpose order names a dimension twice");
    p_.sources = 1;
    p_.source[0] = {};
    p_.output_bytes = bytes;
    return true;
  }

  bool constant(std::uint32_t elements, float value) {
    if (p_.kind != Packet::Kind::kCombine ||
        (p_.combine != Combine::kMax && p_.combine != Combine::kMin))
      return fail("constant source of an operation that is not min or max");
    if (p_.has_constant) return fail("second constant source");
    if (elements != 0) return fail("constant source with an element count");
    p_.has_constant = true;
    p_.constant = value;
    return true;
  }

  // The parameters and the descriptors agree.
  bool finish() {
    if (p_.kind == Packet::Kind::kCopy) {
      p_.output_bytes = p_.source[0].bytes;
      return true;
    }
    if (p_.kind == Packet::Kind::kTranspose) {
      if (p_.source[0].bytes == p_.output_bytes) return true;
      return fail("transpose of " + std::to_string(p_.output_bytes) + " bytes with " +
                  std::to_string(p_.source[0].bytes) + " bytes of source descriptors");
    }
    if (p_.sources == 0) return fail("operation without a source");
    for (std::uint32_t i = 0; i < p_.sources; ++i) {
      const PacketSource& s = p_.source[i];
      if (s.elements != p_.source[0].elements)
        return fail("source " + std::to_string(i) + " has " + std::to_string(s.elements) +
                    " elements, source 0 has " + std::to_string(p_.source[0].elements));
      const std::uint64_t bytes = s.elements * element_bytes(s.dtype);
      if (s.bytes != bytes)
        return fail("source " + std::to_string(i) + " of " + std::to_string(s.elements) +
                    " elements needs " + std::to_string(bytes) + " bytes, its descriptors have " +
                    std::to_string(s.bytes));
    }
    p_.output_bytes = p_.source[0].elements * element_bytes(p_.dtype);
    return true;
  }

  static constexpr std::uint32_t kSourceDtype = 0xF000;

  const RingView& view_;
  std::uint32_t flags_;
  Packet& p_;
  std::string* error_;
  std::uint32_t operation_ = 0;
};

}  // namespace

PacketState read_packet(const RingView& view, std::uint32_t arch_flags, Packet* packet,
                        std::uint32_t* at, std::string* error) {
  return Reader(view, arch_flags, *packet, error).run(at);
}

}  // namespace opennrt::emu
