// SPDX-License-Identifier: Apache-2.0
#include "image_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "opennrt/isa/records.h"

namespace opennrt::test {

namespace {

using isa::kRecordBytes;

constexpr std::uint64_t kRingAlignment = 4096;

std::string hex_bytes(const std::uint8_t* p, std::size_t n) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += fmt::format("{:02x}", p[i]);
  return out;
}

std::optional<nrtp_addr_class> decode(const CompareContext& c, std::uint64_t address) {
  nrtp_addr_class k{};
  k.size = sizeof k;
  if (c.arch->address->classify(c.product, address, &k) != NRTP_OK) return std::nullopt;
  return k;
}

std::string show(const CompareContext& c, std::uint64_t address) {
  const auto k = decode(c, address);
  if (!k) return fmt::format("{:#x} (decodes to nothing)", address);
  return fmt::format("{:#x} (kind {} core {} unit {} queue {} dir {} reg {:#x} local {:#x})",
                     address, k->kind, k->core, k->unit, k->queue, k->dir, k->reg, k->local);
}

// Lowest HBM address that the runtime's part of an image loads from: the
// request buffer.
std::uint64_t request_base(const CompareContext& c, const std::vector<std::uint8_t>& image) {
  std::uint64_t lowest = UINT64_MAX;
  for (std::size_t at = 0; at + kRecordBytes <= image.size(); at += kRecordBytes) {
    if (image[at] != isa::kOpTensorLoad) continue;
    const auto r = isa::load_record<isa::MemRecord>(image.data() + at);
    const auto k = decode(c, r.address);
    if (k && k->kind == NRTP_ADDR_HBM) lowest = std::min(lowest, r.address);
  }
  return lowest;
}

class ImageComparison {
 public:
  ImageComparison(const CompareContext& c, std::uint32_t engine, const tdrv::Image& ours,
                  const NtffEngine& theirs, std::size_t limit)
      : c_(c), engine_(engine), ours_(ours), theirs_(theirs), limit_(limit) {}

  std::vector<std::string> run() {
    their_request_ = request_base(c_, theirs_.image);
    if (ours_.bytes.size() != theirs_.image.size()) {
      out_.push_back(fmt::format("{}: image length ours {} slots, theirs {}", name(),
                                 ours_.bytes.size() / kRecordBytes,
                                 theirs_.image.size() / kRecordBytes));
    }
    const std::size_t n = std::min(ours_.bytes.size(), theirs_.image.size()) / kRecordBytes;
    for (slot_ = 0; slot_ < n && out_.size() < limit_; ++slot_) compare_record();
    return std::move(out_);
  }

 private:
  const char* name() const {
    constexpr const char* kNames[] = {"PE", "ACT", "POOL", "DVE", "SP"};
    return kNames[engine_];
  }
  const char* region() const {
    const std::size_t at = slot_ * kRecordBytes;
    if (at < ours_.gate_offset) return "SWITCH";
    if (at < ours_.main_offset) return "GATE/PROLOGUE";
    return at < ours_.postamble_offset ? "MAIN" : "POSTAMBLE";
  }
  void differ(const char* field, const std::string& ours, const std::string& theirs) {
    out_.push_back(fmt::format("{} slot {} ({}), opcode {:#04x}, {}: ours {}, theirs {}", name(),
                               slot_, region(), ours_.bytes[slot_ * kRecordBytes], field, ours,
                               theirs));
  }
  void bytes_equal(const char* field, std::size_t first, std::size_t count) {
    const std::uint8_t* a = ours_.bytes.data() + slot_ * kRecordBytes + first;
    const std::uint8_t* b = theirs_.image.data() + slot_ * kRecordBytes + first;
    if (std::memcmp(a, b, count) != 0) {
      differ(fmt::format("bytes {}..{} ({})", first, first + count - 1, field).c_str(),
             hex_bytes(a, count), hex_bytes(b, count));
    }
  }

  void compare_record() {
    const std::uint8_t* a = ours_.bytes.data() + slot_ * kRecordBytes;
    const std::uint8_t* b = theirs_.image.data() + slot_ * kRecordBytes;
    if (a[0] != b[0]) {
      differ("opcode", fmt::format("{:#04x}", a[0]), fmt::format("{:#04x}", b[0]));
      return;
    }
    switch (a[0]) {
      case isa::kOpWrite: {
        const auto x = isa::load_record<isa::WriteRecord>(a);
        const auto y = isa::load_record<isa::WriteRecord>(b);
        bytes_equal("header and sizes", 0, 16);
        address_equal("address 0", x.address0, y.address0, false);
        if (y.size1 == 0) {
          bytes_equal("address 1 of a single write", 24, 8);
        } else {
          address_equal("address 1", x.address1, y.address1, false);
        }
        bytes_equal("data", 32, 32);
        break;
      }
      case isa::kOpTensorLoad: {
        const auto x = isa::load_record<isa::MemRecord>(a);
        const auto y = isa::load_record<isa::MemRecord>(b);
        bytes_equal("header and counts", 0, 16);
        if (y.reg[0] == isa::kRegArgTableLo) {
          hbm_on_both_sides("argument table cell", x.address, y.address);
        } else {
          address_equal("address", x.address, y.address, true);
        }
        bytes_equal("steps and registers", 24, 40);
        break;
      }
      case isa::kOpTensorStore: {
        const auto x = isa::load_record<isa::MemRecord>(a);
        const auto y = isa::load_record<isa::MemRecord>(b);
        bytes_equal("header and counts", 0, 16);
        address_equal("address", x.address, y.address, false);
        bytes_equal("steps", 24, 8);
        if (is_ring_base(y)) {
          ring_bases_alike(x, y);
        } else {
          bytes_equal("data", 32, 32);
        }
        break;
      }
      case isa::kOpPoolConfig:  // address and length of the library are free
        bytes_equal("header and operation", 0, 16);
        break;
      case isa::kOpDmaMemcpy:
        // Memory addresses follow placement; table references are kept.
        bytes_equal("header and source shape", 0, 16);
        copy_address_alike("source", 16);
        bytes_equal("source pattern", 24, 16);
        copy_address_alike("destination", 40);
        bytes_equal("destination pattern", 48, 16);
        break;
      default:
        bytes_equal("whole record", 0, kRecordBytes);
    }
  }

  // Registers: the same thing by the arch's decoding. HBM: the same word of the
  // request.
  void address_equal(const char* field, std::uint64_t ours, std::uint64_t theirs, bool request) {
    const auto x = decode(c_, ours);
    const auto y = decode(c_, theirs);
    bool equal = x && y && x->kind == y->kind;
    if (equal && x->kind == NRTP_ADDR_HBM) {
      equal = request && ours - c_.our_request == theirs - their_request_;
    } else if (equal) {
      equal = x->core == y->core && x->unit == y->unit && x->queue == y->queue &&
              x->dir == y->dir && x->reg == y->reg && x->local == y->local;
    }
    if (!equal) differ(field, show(c_, ours), show(c_, theirs));
  }

  void hbm_on_both_sides(const char* field, std::uint64_t ours, std::uint64_t theirs) {
    const auto x = decode(c_, ours);
    const auto y = decode(c_, theirs);
    if (!x || !y || x->kind != NRTP_ADDR_HBM || y->kind != NRTP_ADDR_HBM) {
      differ(field, show(c_, ours), show(c_, theirs));
    }
  }

  // A reference to the argument table (mode byte 0x20) stays as compiled.
  void copy_address_alike(const char* field, std::size_t at) {
    constexpr std::uint8_t kTableReference = 0x20;
    if (theirs_.image[slot_ * kRecordBytes + at + 7] == kTableReference) bytes_equal(field, at, 8);
  }

  bool is_ring_base(const isa::MemRecord& r) const {
    const auto k = decode(c_, r.address);
    if (!k || k->kind != NRTP_ADDR_UDMA || r.immediate != 1) return false;
    const std::uint64_t page = c_.arch->dma->queue_reg(k->queue, k->dir, NRTP_QREG_BASE_LO);
    const std::uint64_t window = c_.arch->dma->udma_device(c_.product, k->unit);
    return r.address == window + page;
  }

  void ring_bases_alike(const isa::MemRecord& x, const isa::MemRecord& y) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint64_t ours = x.data[2 * i] | std::uint64_t{x.data[2 * i + 1]} << 32;
      const std::uint64_t theirs = y.data[2 * i] | std::uint64_t{y.data[2 * i + 1]} << 32;
      const bool alike = (ours == 0) == (theirs == 0) && ours % kRingAlignment == 0 &&
                         theirs % kRingAlignment == 0;
      if (!alike) {
        differ(fmt::format("ring base {}", i).c_str(), fmt::format("{:#x}", ours),
               fmt::format("{:#x}", theirs));
      }
    }
  }

  const CompareContext& c_;
  std::uint32_t engine_;
  const tdrv::Image& ours_;
  const NtffEngine& theirs_;
  std::size_t limit_;
  std::size_t slot_ = 0;
  std::uint64_t their_request_ = 0;
  std::vector<std::string> out_;
};

std::string show_patch(std::uint64_t offset, std::uint64_t slots, std::uint64_t type) {
  return fmt::format("{{slot {}, {} slots, type {}}}", offset / kRecordBytes, slots, type);
}

}  // namespace

std::vector<std::string> compare_image(const CompareContext& context, std::uint32_t engine,
                                       const tdrv::Image& ours, const NtffEngine& theirs,
                                       std::size_t limit) {
  return ImageComparison(context, engine, ours, theirs, limit).run();
}

std::vector<std::string> compare_patches(const tdrv::Image& ours, const NtffEngine& theirs) {
  std::vector<std::string> out;
  if (ours.patches.size() != theirs.patches.size()) {
    out.push_back(fmt::format("{} patches, theirs {}", ours.patches.size(), theirs.patches.size()));
  }
  for (std::size_t i = 0; i < std::min(ours.patches.size(), theirs.patches.size()); ++i) {
    const tdrv::Patch& a = ours.patches[i];
    const NtffPatch& b = theirs.patches[i];
    if (a.offset != b.offset || a.slots != b.slots ||
        static_cast<std::uint64_t>(a.type) != b.type) {
      out.push_back(fmt::format("patch {}: ours {}, theirs {}", i,
                                show_patch(a.offset, a.slots, static_cast<std::uint64_t>(a.type)),
                                show_patch(b.offset, b.slots, b.type)));
    }
  }
  return out;
}

}  // namespace opennrt::test
