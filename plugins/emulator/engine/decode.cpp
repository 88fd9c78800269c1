// SPDX-License-Identifier: Apache-2.0
//
// From 64 bytes to a handler: what the instruction table says about an opcode,
// then what its family says about the record.
#include "engine/decode.h"

#include <algorithm>
#include <array>

#include "compute/operand.h"
#include "engine/own_instruction.h"
#include "engine/sequencer.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/table.h"

namespace opennrt::emu {

namespace {

std::array<const RecordEntry*, 256> join_records() {
  std::array<const RecordEntry*, 256> all{};
  for (const auto table : {synchronisation_records(), register_records(), memory_records(),
                           dma_records(), indirect_dma_records()})
    for (const RecordEntry& e : table) all[e.opcode] = &e;
  return all;
}

const RecordEntry* find_record(std::uint8_t opcode) {
  static const std::array<const RecordEntry*, 256> all = join_records();
  return all[opcode];
}

// Why an instruction of the table has no implementation.
std::string missing(const isa::Instruction& i, isa::Generation generation) {
  const std::string name = std::string(i.name) + " is not implemented by the software device";
  if (i.kind == isa::Kind::kDeprecated) return name + ": deprecated, compilers do not emit it";
  if (i.layout(generation).confidence == isa::Confidence::kUnknown)
    return name + ": the layout of its record is not published";
  return name;
}

// Bytes of the payload that no field of the layout covers must be zero.
bool check_unused_bytes(const isa::RecordLayout& layout, const std::uint8_t* raw,
                        std::string* error) {
  std::uint64_t used = (1u << sizeof(isa::Header)) - 1;
  for (const isa::Field& f : layout.fields()) {
    const std::uint64_t bytes = std::uint64_t{f.width} * f.count;
    used |= ((std::uint64_t{1} << bytes) - 1) << f.offset;  // at most 52 bytes
  }
  for (std::size_t i = 0; i < isa::kRecordBytes; ++i)
    if ((used >> i & 1) == 0 && raw[i] != 0)
      return refuse(
          error, "byte " + std::to_string(i) + " is " + hex(raw[i]) + ", no field is known there");
  return true;
}

}  // namespace

bool refuse(std::string* error, std::string text) {
  *error = std::move(text);
  return false;
}

bool known_register(std::uint32_t number) {
  return number < Sequencer::kRegisters || number == isa::kRegArgTableLo ||
         number == isa::kRegArgTableHi;
}

bool check_semaphore(const nrtp_arch_geometry& geometry, std::uint32_t index, std::string* error) {
  return index < geometry.semaphores ||
         refuse(error, "semaphore " + std::to_string(index) + ", a core has " +
                           std::to_string(geometry.semaphores));
}

bool check_event(const nrtp_arch_geometry& geometry, std::uint32_t index, std::string* error) {
  return index < geometry.events ||
         refuse(error, "event " + std::to_string(index) + ", a core has " +
                           std::to_string(geometry.events));
}

bool check_wait(const nrtp_arch_geometry& geometry, std::uint32_t mode, std::uint32_t index,
                std::uint32_t value, std::string* error) {
  if (!valid_wait_mode(mode)) return refuse(error, "unknown wait mode " + hex(mode));
  if (mode == isa::kWaitNone || mode == isa::kWaitUnordered) return true;
  if ((mode & isa::kWaitRegisterBit) != 0 && !known_register(value))
    return refuse(error, "wait on register " + std::to_string(value) + ", which does not exist");
  const bool event = (mode & 0xF) > isa::kWaitSemGe;
  return event ? check_event(geometry, index, error) : check_semaphore(geometry, index, error);
}

bool check_update(const nrtp_arch_geometry& geometry, std::uint32_t mode, std::uint32_t index,
                  std::uint32_t value, std::string* error) {
  if (!valid_update_mode(mode)) return refuse(error, "unknown update mode " + hex(mode));
  const std::uint32_t action = mode & 0xF;
  const bool from_register =
      (mode & isa::kWaitRegisterBit) != 0 || action == 6 || action == 8 || action == 10;
  if (from_register && !known_register(value))
    return refuse(error,
                  "update from register " + std::to_string(value) + ", which does not exist");
  if (mode == isa::kUpdateNone) return true;
  const bool event = action == (isa::kUpdateEvtSet & 0xF) || action == (isa::kUpdateEvtClear & 0xF);
  return event ? check_event(geometry, index, error) : check_semaphore(geometry, index, error);
}

bool check_header(const nrtp_arch_geometry& geometry, const isa::Header& h, std::string* error) {
  return check_wait(geometry, h.wait_mode, h.wait_index, h.value, error) &&
         check_update(geometry, h.update_mode, h.update_index, h.value, error);
}

bool is_sequencer_opcode(std::uint8_t opcode) { return find_record(opcode) != nullptr; }

Outcome execute_plan(Sequencer& s, const Decoded& d) {
  std::string error;
  return d.plan->execute(s.state(), &error) ? Outcome::kNext : s.fail(d.raw[0], error);
}

std::uint64_t record_weight(const Decoded& decoded, EngineState& state) {
  constexpr std::uint64_t kElements = 4096, kBytes = 65536;  // about as long as a small record
  struct Largest final : OperandVisitor {
    void visit(const char*, const Operand& operand, std::uint32_t partitions, Access) override {
      elements = std::max(elements, operand.pattern.total * partitions);
    }
    std::uint64_t elements = 0;
  };
  if (decoded.plan) {
    Largest largest;
    decoded.plan->visit_operands(state, largest);
    return 1 + largest.elements / kElements;
  }
  if (decoded.raw[0] == isa::op::DMAMEMCPY) {
    namespace D2 = isa::layout::DMA_DIRECT2D;
    const std::uint64_t runs =
        std::uint64_t{D2::src_num_0(decoded.raw)} * D2::src_num_1(decoded.raw) +
        std::uint64_t{D2::dst_num_0(decoded.raw)} * D2::dst_num_1(decoded.raw);
    return 1 + runs / kElements +
           std::uint64_t{D2::src_num_0(decoded.raw)} * D2::src_num_1(decoded.raw) *
               D2::src_elem_size(decoded.raw) / kBytes;
  }
  if (decoded.raw[0] == isa::op::DMA_INDIRECT) {
    namespace DI = isa::layout::DMA_INDIRECT1D;
    // An index costs more than a run.
    const std::uint64_t runs = DI::src_num(decoded.raw);
    return 1 + runs / 256 + runs * DI::src_elem_size(decoded.raw) / kBytes;
  }
  return 1;
}

bool decode_record(const PlanContext& context, Decoded* out, std::string* error) {
  out->plan.reset();
  const isa::Header h = out->header();
  if (claimed(context.map.arch(), context.engine, h.opcode)) {
    if (!check_header(context.map.geometry(), h, error)) return false;
    out->handler = execute_own;
    return true;
  }
  const isa::Instruction* i = isa::find_instruction(h.opcode);
  if (!i || i->kind == isa::Kind::kInvalid) return refuse(error, "no instruction has this opcode");
  if (i->kind == isa::Kind::kPseudo)
    return refuse(error, std::string(i->name) +
                             ": a pseudo-instruction must not appear in an image, it is lowered "
                             "when the program is loaded");
  if (!i->exists_on(context.generation))
    return refuse(error, std::string(i->name) + " does not exist on " +
                             isa::generation_name(context.generation));
  if (!i->runs_on(context.engine))
    return refuse(error,
                  std::string(i->name) + " does not exist on " + engine_name(context.engine));
  if (!check_header(context.map.geometry(), h, error)) return false;
  if (const RecordEntry* e = find_record(h.opcode)) {
    if (!check_unused_bytes(i->layout(context.generation), out->raw, error) ||
        (e->check && !e->check(context, *out, error)))
      return false;
    out->handler = e->choose ? e->choose(*out) : e->handler;
    return true;
  }
  if (find_plan_maker(h.opcode)) {
    out->handler = execute_plan;
    out->plan = plan_compute(context, out->raw, error);
    return out->plan != nullptr;
  }
  return refuse(error, missing(*i, context.generation));
}

}  // namespace opennrt::emu
