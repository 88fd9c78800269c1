// SPDX-License-Identifier: Apache-2.0
#include "tdrv/image/variable_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string_view>

namespace opennrt::tdrv::image {

namespace {

constexpr std::uint8_t kBoundEnabled = 0x80;
constexpr std::uint64_t kLongRun = 65536;  // a run of 0 bytes

// Bytes of an element by its ISA dtype code; 0 = no such code.
std::uint64_t dtype_bytes(std::uint8_t code) {
  constexpr std::uint8_t kBytes[] = {0, 8, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8, 1, 1, 1};
  return code < std::size(kBytes) ? kBytes[code] : 0;
}

// One side of a generated DMA.
struct Side {
  std::string_view name;
  PseudoAddress address;
  std::array<std::int32_t, 2> step;
  std::array<std::uint16_t, 2> count;
  std::uint64_t run;

  std::uint64_t bytes() const { return run * count[0] * count[1]; }
};

// Bytes the pattern reaches, relative to its start.
struct Reach {
  std::int64_t first = 0, last = 0;
};
Reach reach_of(const Side& side) {
  Reach reach{0, static_cast<std::int64_t>(side.run) - 1};
  for (std::size_t d = 0; d < side.step.size(); ++d) {
    const std::int64_t extent = std::int64_t{side.step[d]} * (side.count[d] - 1);
    (extent < 0 ? reach.first : reach.last) += extent;
  }
  return reach;
}

const neff::Variable* dge_table(const neff::Subgraph& graph) {
  const auto found =
      std::find_if(graph.variables.begin(), graph.variables.end(),
                   [](const neff::Variable& v) { return v.type == neff::VariableType::kDgeTable; });
  return found == graph.variables.end() ? nullptr : &*found;
}

std::uint64_t size_of(const ImageInputs& in, const neff::Variable& variable) {
  return variable.type == neff::VariableType::kStateBuffer ? in.arch->geometry->sbuf_window_bytes
                                                           : variable.size;
}

Result<std::uint64_t> device_address(const ImageInputs& in, const neff::Variable& variable) {
  if (variable.type == neff::VariableType::kStateBuffer) {
    return in.arch->address->local_to_device(in.product, in.core, 0);
  }
  const std::uint64_t address = variable.var_id < in.variable_address.size()
                                    ? in.variable_address[variable.var_id]
                                    : UINT64_MAX;
  if (address != UINT64_MAX) return address;
  return Status::invalid(
      "variable '{}' has no device address before an execution binds it; a generated DMA reaches "
      "it through the dge-table only",
      variable.name);
}

Status check_reach(const ImageInputs& in, const Side& side, const neff::Variable& variable,
                   std::int64_t offset) {
  const Reach reach = reach_of(side);
  const std::int64_t first = offset + reach.first, last = offset + reach.last;
  const std::uint64_t size = size_of(in, variable);
  if (first >= 0 && static_cast<std::uint64_t>(last) < size) return Status::ok();
  return Status::invalid("the {} reaches bytes {} to {} of '{}', which has {}", side.name, first,
                         last, variable.name, size);
}

// The address as the device reads it.
Result<PseudoAddress> lower_address(const ImageInputs& in, const Side& side) {
  const neff::Subgraph& graph = *in.subgraph;
  const PseudoAddress& from = side.address;
  if (from.mode == kAddressVariable) {
    if (from.id() >= graph.variables.size()) {
      return Status::invalid("the {} names variable {}; there are {}", side.name, from.id(),
                             graph.variables.size());
    }
    const neff::Variable& variable = graph.variables[from.id()];
    ONRT_TRY(check_reach(in, side, variable, from.offset));
    ONRT_ASSIGN(const std::uint64_t base, device_address(in, variable));
    const std::uint64_t address = base + from.offset;
    PseudoAddress to;
    static_assert(sizeof to == sizeof address);
    std::memcpy(&to, &address, sizeof to);
    return to;
  }
  if (from.mode != kAddressTableEntry && from.mode != kAddressTableRegister) {
    return Status::invalid(
        "the {} has address mode {:#04x}; supported are {:#04x} (variable), {:#04x} (dge-table "
        "entry) and {:#04x} (the same with its offset in a register)",
        side.name, from.mode, kAddressVariable, kAddressTableEntry, kAddressTableRegister);
  }
  const neff::Variable* table = dge_table(graph);
  if (table == nullptr || from.id() >= table->list.size()) {
    return Status::invalid("the {} names dge-table entry {}; the table has {}", side.name,
                           from.id(), table == nullptr ? 0 : table->list.size());
  }
  const std::uint32_t id = table->list[from.id()];
  if (id >= graph.variables.size()) {
    return Status::invalid("dge-table entry {} names variable {}; there are {}", from.id(), id,
                           graph.variables.size());
  }
  const neff::Variable& variable = graph.variables[id];
  const bool in_register = from.mode == kAddressTableRegister;
  if (in_register && from.offset >= kRegisters) {
    return Status::invalid("the {} has its offset in register {}; there are {}", side.name,
                           from.offset, int{kRegisters});
  }
  // What a register holds is known when the record runs only.
  ONRT_TRY(check_reach(in, side, variable, in_register ? 0 : from.offset));
  return from;
}

Status check_amount(const Side& from, const Side& to, std::uint8_t from_dtype,
                    std::uint8_t to_dtype) {
  for (const Side* side : {&from, &to}) {
    if (side->count[0] == 0 || side->count[1] == 0) {
      return Status::invalid("the {} has a count of 0", side->name);
    }
  }
  const std::uint64_t from_bytes = from.bytes(), to_bytes = to.bytes();
  if (from_dtype == to_dtype) {
    if (from_bytes == to_bytes) return Status::ok();
    return Status::invalid("copies {} bytes into {}", from_bytes, to_bytes);
  }
  const std::uint64_t from_size = dtype_bytes(from_dtype), to_size = dtype_bytes(to_dtype);
  if (from_size == 0 || to_size == 0) {
    return Status::invalid("dtype code {} is unknown", from_size == 0 ? from_dtype : to_dtype);
  }
  if (from_bytes % from_size == 0 && from_bytes / from_size * to_size == to_bytes) {
    return Status::ok();
  }
  return Status::invalid("converts {} bytes of {}-byte elements into {} bytes of {}-byte elements",
                         from_bytes, from_size, to_bytes, to_size);
}

// The semaphore belongs to a dynamic queue of the engine: it is what counts its
// completions, and the reset between runs covers it.
Status check_semaphore(const ImageInputs& in, std::uint32_t engine, std::uint8_t semaphore) {
  for (const QueuePlacement& queue : in.queues) {
    const neff::QueueSet& set = *queue.set;
    if (set.type != neff::QueueType::kDynamic || !set.owner ||
        static_cast<std::uint32_t>(*set.owner) != engine) {
      continue;
    }
    if (std::find(set.semaphores.begin(), set.semaphores.end(), semaphore) != set.semaphores.end())
      return Status::ok();
  }
  return Status::invalid(
      "semaphore {} is in no semaphore_set of a queue of type dynamic that this engine owns",
      semaphore);
}

}  // namespace

MoveRecord move_record(std::uint8_t reg, std::uint32_t value) {
  auto move = isa::zero_record<MoveRecord>(kOpMove);
  move.count = 1;
  move.dtype = isa::kDtUint32;
  move.immediate = 1;
  move.dst[0] = reg;
  move.data[0] = value;
  return move;
}

Status lower_direct2d(const ImageInputs& in, std::uint32_t engine, const Direct2dRecord& record,
                      const ExtensionRecord* extension, RecordBuilder& out) {
  const Side from{"source",
                  record.src,
                  {record.src_step[0], record.src_step[1]},
                  {record.src_count[0], record.src_count[1]},
                  record.src_bytes == 0 ? kLongRun : record.src_bytes};
  const Side to{"destination",
                record.dst,
                {record.dst_step[0], record.dst_step[1]},
                {record.dst_count[0], record.dst_count[1]},
                record.dst_bytes == 0 ? kLongRun : record.dst_bytes};
  if (record.compute_op != 0) {
    return Status::invalid("compute operation {}: only 0 (copy) is known", record.compute_op);
  }
  ONRT_TRY(check_amount(from, to, record.src_dtype, record.dst_dtype));
  ONRT_TRY(check_semaphore(in, engine, record.semaphore));
  if (record.dst_bound != 0) {
    return Status::invalid("destination bound register {:#04x}: only the source's is supported",
                           record.dst_bound);
  }
  const bool bounded = record.src_bound != 0;
  const std::uint8_t bound_register = record.src_bound & ~kBoundEnabled;
  if (bounded && ((record.src_bound & kBoundEnabled) == 0 || bound_register >= kRegisters)) {
    return Status::invalid("source bound register {:#04x}: must be 0 or 0x80 | 0 to {}",
                           record.src_bound, kRegisters - 1);
  }
  if (bounded && extension == nullptr) {
    return Status::invalid("the source bound needs a PSEUDO_EXTENSION behind it");
  }
  if (!bounded && extension != nullptr) {
    return Status::invalid("a PSEUDO_EXTENSION follows, but no bound register is named");
  }
  Direct2dRecord lowered = record;
  lowered.h.opcode = isa::kOpDmaMemcpy;
  ONRT_ASSIGN(lowered.src, lower_address(in, from));
  ONRT_ASSIGN(lowered.dst, lower_address(in, to));
  if (extension != nullptr) {
    if (std::any_of(std::begin(extension->payload), std::end(extension->payload),
                    [](std::uint8_t b) { return b != 0; })) {
      return Status::invalid(
          "PSEUDO_EXTENSION: bytes beyond the source bound are not zero; their meaning is not "
          "known");
    }
    out.append(move_record(bound_register, extension->bound));
  }
  out.append(lowered);
  return Status::ok();
}

Status lower_variable_mem(const ImageInputs& in, const VariableMemRecord& record,
                          RecordBuilder& out) {
  const neff::Subgraph& graph = *in.subgraph;
  if (record.r0 != 0) return Status::invalid("byte 13 is {}; it must be 0", record.r0);
  if (record.var_id >= graph.variables.size()) {
    return Status::invalid("names variable {}; there are {}", record.var_id,
                           graph.variables.size());
  }
  const std::uint64_t element = dtype_bytes(record.dtype);
  if (element == 0) return Status::invalid("dtype code {} is unknown", record.dtype);
  if (record.count_inner == 0 || record.count_outer == 0) return Status::invalid("a count is 0");
  const std::uint32_t registers = std::uint32_t{record.count_inner} * record.count_outer;
  if (registers > std::size(record.reg)) {
    return Status::invalid("moves {} elements; a record holds {}", registers,
                           std::size(record.reg));
  }
  const neff::Variable& variable = graph.variables[record.var_id];
  const std::int32_t bytes = static_cast<std::int32_t>(element);
  // Steps count elements; sums stay in 64 bits.
  Reach reach{record.offset, std::int64_t{record.offset} + bytes - 1};
  for (const auto& [step, count] : {std::pair{record.step_inner, record.count_inner},
                                    std::pair{record.step_outer, record.count_outer}}) {
    const std::int64_t extent = std::int64_t{step} * bytes * (count - 1);
    (extent < 0 ? reach.first : reach.last) += extent;
  }
  const std::uint64_t size = size_of(in, variable);
  if (reach.first < 0 || static_cast<std::uint64_t>(reach.last) >= size) {
    return Status::invalid("reaches bytes {} to {} of '{}', which has {}", reach.first, reach.last,
                           variable.name, size);
  }
  ONRT_ASSIGN(const std::uint64_t base, device_address(in, variable));
  isa::MemRecord lowered;
  std::memcpy(&lowered, &record, sizeof lowered);
  lowered.h.opcode = record.h.opcode == kOpPseudoTensorLoad ? std::uint8_t{isa::kOpTensorLoad}
                                                            : std::uint8_t{isa::kOpTensorStore};
  lowered.address = base + record.offset;
  out.append(lowered);
  return Status::ok();
}

}  // namespace opennrt::tdrv::image
