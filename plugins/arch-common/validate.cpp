// SPDX-License-Identifier: Apache-2.0
#include "arch-common/validate.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "arch-common/record_checks.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

namespace opennrt::arch_common {
namespace {

constexpr std::uint8_t kWords = 0x10;  // length byte of every record but one
constexpr std::uint32_t kRegisters = 64;
constexpr std::uint32_t kLanes = 128;
// Operand addresses: 29 bits and a marker. Markers: a register holds the
// address (its number in byte 0), a shape register, an indirect pattern.
constexpr std::uint32_t kAddressBits = 0x1FFFFFFF;
constexpr std::uint32_t kRegisterMarker = 0x80000000;
constexpr std::uint32_t kPartitionAlign = 32;  // operands begin at a quadrant
// Bytes of an element by data type; codes above are packed: at least one byte.
constexpr std::array<std::uint8_t, 16> kTypeBytes = {1, 8, 1, 1, 2, 2, 2, 2,
                                                     4, 4, 4, 4, 8, 1, 1, 1};

// One record under check. A check returns false after it wrote the reason.
class RecordCheck {
 public:
  RecordCheck(const ArchFacts& f, std::uint32_t engine, const std::uint8_t* record,
              std::uint32_t slot, nrtp_diag* out)
      : f_(f), engine_(engine), r_(record), slot_(slot), out_(out) {}

  bool run() {
    const isa::Instruction* instruction = isa::find_instruction(r_[0]);
    if (instruction == nullptr || instruction->kind == isa::Kind::kInvalid ||
        !instruction->exists_on(generation_of(f_))) {
      return refuse("not an instruction of %s", f_.name);
    }
    if (!instruction->runs_on(engine_)) return refuse("this engine does not execute it");
    if (r_[1] != kWords && r_[0] != isa::op::PSEUDO_EXTENSION) {
      return refuse("length byte is 0x%02x, not 0x10", r_[1]);
    }
    layout_ = &instruction->layout(generation_of(f_));
    const RecordChecks& checks = record_checks(generation_of(f_));
    if (!header(checks)) return false;
    const LayoutCheck& layout = checks.of(*layout_);
    // A family without a layout of its own shows that of another one.
    const bool own = (layout_->generations & isa::generation_bit(generation_of(f_))) != 0;
    return !own || !layout.prepared ||
           (codes(checks, layout) && registers(layout) && reserved(layout) && lanes(layout) &&
            patterns(layout) && special());
  }

  bool refuse(const char* format, ...) __attribute__((format(printf, 2, 3))) {
    static constexpr std::array<const char*, kEngines> kNames = {"PE", "ACT", "POOL", "DVE", "SP"};
    if (out_ == nullptr) return false;
    out_->slot = slot_;
    out_->opcode = r_[0];
    const int n =
        std::snprintf(out_->msg, sizeof out_->msg, "slot %u, opcode 0x%02x %s on %s: ", slot_,
                      r_[0], isa::opcode_name(r_[0]), kNames[engine_]);
    if (n < 0 || static_cast<std::size_t>(n) >= sizeof out_->msg) return false;
    std::va_list args;
    va_start(args, format);
    std::vsnprintf(out_->msg + n, sizeof out_->msg - static_cast<std::size_t>(n), format, args);
    va_end(args);
    return false;
  }

 private:
  const char* field_at(std::size_t offset) const {
    for (const isa::Field& field : layout_->fields()) {
      if (offset - field.offset < std::size_t{field.width} * field.count) {
        return field.name;
      }
    }
    return "?";
  }

  template <typename T>
  T load(std::size_t offset) const {
    T value;
    std::memcpy(&value, r_ + offset, sizeof value);
    return value;
  }

  bool header(const RecordChecks& checks) {
    const auto h = load<isa::Header>(0);
    if (!checks.wait_modes.has(h.wait_mode)) return refuse("no wait mode 0x%02x", h.wait_mode);
    if (!checks.update_modes.has(h.update_mode)) {
      return refuse("no update mode 0x%02x", h.update_mode);
    }
    // Waits on a register's value name the register there.
    const bool by_register =
        (h.wait_mode & isa::kWaitRegisterBit) != 0 && (h.wait_mode & 0x70) == 0;
    if (by_register && h.value >= kRegisters) {
      return refuse("wait on register %u of %u", h.value, kRegisters);
    }
    return true;
  }

  bool codes(const RecordChecks& checks, const LayoutCheck& layout) {
    for (std::size_t i = 0; i < layout.n_codes; ++i) {
      const CodeCheck& c = layout.codes[i];
      const std::uint8_t value = r_[c.offset];
      const CodeSet& set = checks.sets[c.set];
      const bool good = c.pair ? set.has(value & 0xF) && set.has(value >> 4) : set.has(value);
      if (!good) return refuse("%s has no code 0x%02x on %s", field_at(c.offset), value, f_.name);
    }
    return true;
  }

  bool registers(const LayoutCheck& layout) {
    for (std::size_t i = 0; i < layout.n_registers; ++i) {
      const std::uint8_t at = layout.registers[i];
      if (r_[at] >= kRegisters) {
        return refuse("%s is %u; there are %u registers", field_at(at), r_[at], kRegisters);
      }
    }
    return true;
  }

  bool reserved(const LayoutCheck& layout) {
    for (std::size_t i = 0; i < layout.zero.size(); ++i) {
      const std::uint64_t wrong = load<std::uint64_t>(8 * i) & layout.zero[i];
      if (wrong == 0) continue;
      std::size_t byte = 8 * i;
      while (r_[byte] == 0 || (layout.zero[i] >> (8 * (byte % 8)) & 1) == 0) ++byte;
      return refuse("reserved byte %zu is 0x%02x, not 0", byte, r_[byte]);
    }
    return true;
  }

  bool lanes(const LayoutCheck& layout) {
    for (std::size_t i = 0; i < layout.n_lanes; ++i) {
      const std::uint8_t n = r_[layout.lanes[i]];
      if (n >= 1 && n <= kLanes) continue;
      return refuse("%s is %u, allowed are 1 to %u", field_at(layout.lanes[i]), n, kLanes);
    }
    return true;
  }

  bool patterns(const LayoutCheck& layout) {
    for (std::size_t i = 0; i < layout.n_patterns; ++i) {
      if (!pattern(layout.patterns[i])) return false;
    }
    return true;
  }

  bool pattern(const PatternCheck& p) {
    const auto address = load<std::uint32_t>(p.offset);
    const char* name = field_at(p.offset);
    if ((address & ~kAddressBits) != 0) {
      const bool number_wrong = (address & kRegisterMarker) != 0 && (address & 0xFF) >= kRegisters;
      return !number_wrong ||
             refuse("%s names register %u of %u", name, address & 0xFF, kRegisters);
    }
    std::int64_t lowest = 0, highest = 0;
    for (std::size_t d = 0; d < p.dims; ++d) {
      const auto step = load<std::int16_t>(p.offset + 4 + 2 * d);
      const auto count = load<std::uint16_t>(p.offset + 4 + 2 * (p.dims + d));
      if (count == 0) return refuse("%s: count %zu is 0", name, d);
      (step < 0 ? lowest : highest) += std::int64_t{step} * (count - 1);
    }
    std::int64_t bytes = 1;
    if (p.dtype_offset != 0) {
      const std::size_t type = r_[p.dtype_offset] >> p.dtype_shift & 0x1F;
      bytes = type < kTypeBytes.size() ? kTypeBytes[type] : 1;
    }
    const std::uint32_t partitions = p.lanes_offset != 0 ? r_[p.lanes_offset] : 1;
    return window(name, address, lowest * bytes, (highest + 1) * bytes, partitions);
  }

  // [lowest, end) in bytes from the address, in each of `n` partitions.
  bool window(const char* name, std::uint32_t address, std::int64_t lowest, std::int64_t end,
              std::uint32_t n) {
    const nrtp_arch_geometry& g = *f_.geometry;
    const bool psum = address >= g.psum_local_base;
    const std::uint64_t base = psum ? g.psum_local_base : 0;
    const std::uint64_t stride = psum ? g.psum_partition_stride : g.sbuf_partition_stride;
    const std::uint64_t usable = psum ? g.psum_partition_bytes : g.sbuf_partition_bytes;
    const std::uint64_t partitions = psum ? g.psum_partitions : g.sbuf_partitions;
    const std::uint64_t first = (address - base) / stride;
    const auto offset = static_cast<std::int64_t>((address - base) % stride);
    if (first >= partitions) return refuse("%s 0x%x is neither SBUF nor PSUM", name, address);
    if (offset + lowest < 0 || offset + end > static_cast<std::int64_t>(usable)) {
      return refuse("%s 0x%x reaches bytes %lld to %lld of a partition of %llu", name, address,
                    static_cast<long long>(offset + lowest), static_cast<long long>(offset + end),
                    static_cast<unsigned long long>(usable));
    }
    if (first % kPartitionAlign != 0 || first + n > partitions) {
      return refuse("%s 0x%x: %u lanes from partition %llu", name, address, n,
                    static_cast<unsigned long long>(first));
    }
    return true;
  }

  // Limits that the tables do not express.
  bool special() {
    switch (r_[0]) {
      case isa::op::MATMUL:
        return matmul();
      case isa::op::TENSOR_LOAD:
      case isa::op::TENSOR_STORE:
        return memory_access();
      case isa::op::EVENT_SEMAPHORE_RANGE_CLEAR: {
        const auto range = load<isa::RangeClearRecord>(0);
        return range.mode != 1 || range.first <= range.last ||
               refuse("range %u to %u is empty", range.first, range.last);
      }
      default:
        return true;
    }
  }

  bool matmul() {
    const std::uint8_t flags = isa::layout::S3D3_MM::cayman::psum_accumulate_flags(r_);
    if ((flags & 4) != 0 && generation_of(f_) != isa::Generation::kMariana) {
      return refuse("psum_accumulate_flags has no code 0x%02x on %s", flags, f_.name);
    }
    const auto src = load<std::uint32_t>(16);
    const auto dst = load<std::uint32_t>(48);
    const std::uint64_t psum = f_.geometry->psum_local_base;
    if ((src & ~kAddressBits) == 0 && src >= psum) return refuse("its source is not SBUF");
    if ((dst & ~kAddressBits) == 0 && dst < psum) return refuse("its destination is not PSUM");
    return true;
  }

  // Registers, except the argument table's pair, or immediate words.
  bool memory_access() {
    const auto access = load<isa::MemRecord>(0);
    const std::uint32_t elements = std::uint32_t{access.count_inner} * access.count_outer;
    const bool immediate = access.immediate == 1;
    const std::size_t most = immediate ? std::size(access.data) : std::size(access.reg);
    if (access.immediate > 1 || (immediate && r_[0] == isa::op::TENSOR_LOAD)) {
      return refuse("data mode %u is not known", access.immediate);
    }
    if (elements == 0 || elements > most) {
      return refuse("%u elements; the record holds 1 to %zu", elements, most);
    }
    for (std::uint32_t i = 0; !immediate && i < elements; ++i) {
      const std::uint8_t number = access.reg[i];
      if (number >= kRegisters && number != isa::kRegArgTableLo && number != isa::kRegArgTableHi) {
        return refuse("element %u is register %u of %u", i, number, kRegisters);
      }
    }
    return true;
  }

  const ArchFacts& f_;
  std::uint32_t engine_;
  const std::uint8_t* r_;
  std::uint32_t slot_;
  nrtp_diag* out_;
  const isa::RecordLayout* layout_ = nullptr;
};

// What holds for images only.
bool lowered(RecordCheck& check, const std::uint8_t* record, std::uint64_t at,
             std::uint64_t bytes) {
  if (isa::find_instruction(record[0])->kind == isa::Kind::kPseudo) {
    // The exit sentinel is the one pseudo-instruction an image may hold.
    const bool exit =
        record[0] == isa::op::PSEUDO_INST && record[12] == isa::code::pseudo_opcode::EXIT_EXECUTION;
    return exit || check.refuse("pseudo-instruction was not lowered");
  }
  if (record[0] != isa::op::COMPARE_BRANCH) return true;
  const auto branch = isa::load_record<isa::CompareBranchRecord>(record);
  if (branch.target_mode != isa::kTargetRelative) return true;
  const std::int64_t target = static_cast<std::int64_t>(at) + branch.offset;
  const bool inside = target >= 0 && target < static_cast<std::int64_t>(bytes);
  return (inside && target % static_cast<std::int64_t>(isa::kRecordBytes) == 0) ||
         check.refuse("branch to byte %lld of %llu", static_cast<long long>(target),
                      static_cast<unsigned long long>(bytes));
}

}  // namespace

int validate_inst(const ArchFacts& f, std::uint32_t engine, const std::uint8_t in[64],
                  nrtp_diag* out) {
  if (engine >= kEngines || in == nullptr) return NRTP_INVALID;
  return RecordCheck(f, engine, in, 0, out).run() ? NRTP_OK : NRTP_INVALID;
}

int validate_image(const ArchFacts& f, std::uint32_t engine, const std::uint8_t* image,
                   std::uint64_t bytes, nrtp_diag* out) {
  if (engine >= kEngines || (image == nullptr && bytes != 0)) return NRTP_INVALID;
  const std::uint64_t whole = bytes / isa::kRecordBytes * isa::kRecordBytes;
  for (std::uint64_t at = 0; at < whole; at += isa::kRecordBytes) {
    const std::uint8_t* record = image + at;
    RecordCheck check(f, engine, record, static_cast<std::uint32_t>(at / isa::kRecordBytes), out);
    if (!check.run() || !lowered(check, record, at, bytes)) return NRTP_INVALID;
  }
  if (whole == bytes) return NRTP_OK;
  if (out != nullptr) {
    out->slot = static_cast<std::uint32_t>(whole / isa::kRecordBytes);
    out->opcode = image[whole];
    std::snprintf(out->msg, sizeof out->msg, "slot %u: the image ends inside a record", out->slot);
  }
  return NRTP_INVALID;
}

}  // namespace opennrt::arch_common
