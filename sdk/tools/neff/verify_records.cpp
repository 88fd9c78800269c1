// SPDX-License-Identifier: Apache-2.0
//
// Every record against the instruction table.
#include <algorithm>
#include <array>
#include <map>

#include "neff/listing.h"
#include "neff/operands.h"
#include "neff/text.h"
#include "neff/verify.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::tools {
namespace {

constexpr std::uint8_t kWordLength = 16;
constexpr std::size_t kRecordHeaderBytes = 12;  // of every record, before its fields

// Bytes that neither the header nor a field covers.
using Uncovered = std::array<bool, isa::kRecordBytes>;

class RecordChecker {
 public:
  RecordChecker(const Model& model, std::size_t engine, const std::string& member,
                Findings& findings)
      : model_(model),
        generation_(model.generation),
        engine_(engine),
        member_(member),
        findings_(findings),
        operands_(model.generation, model.on_chip) {}

  void check(std::uint64_t number, isa::RecordView record) {
    number_ = number;
    if (executed_by_plugin(record)) return;
    const isa::Instruction* instruction = isa::find_instruction(record[0]);
    name_ = instruction != nullptr ? instruction->name : "";
    if (instruction == nullptr || instruction->kind == isa::Kind::kInvalid)
      return error(fmt::format("opcode 0x{:02X} is no instruction", record[0]));
    if (!instruction->exists_on(generation_))
      return error(fmt::format("does not exist on {}", isa::generation_name(generation_)));
    if (!instruction->runs_on(static_cast<std::uint32_t>(engine_)))
      error(fmt::format("does not run on {}", kEngineNames[engine_]));
    if (instruction->kind == isa::Kind::kDeprecated)
      warn("is deprecated, compilers no longer emit it");
    const isa::RecordLayout& layout = instruction->layout(generation_);
    header(record);
    fields(layout, record);
    reserved(layout, record);
    channels(layout, record);
    if (layout.confidence != isa::Confidence::kUnknown) memory(*instruction, record);
  }

 private:
  // An instruction of the silicon's own: what its plugin says of the record.
  bool executed_by_plugin(isa::RecordView record) {
    const nrtp_arch_plugin* arch = model_.arch;
    if (arch == nullptr || arch->semantics == nullptr || arch->semantics->claims == nullptr)
      return false;
    const auto engine = static_cast<std::uint32_t>(engine_);
    if (arch->semantics->claims(engine, record[0]) == 0) return false;
    name_ = arch->name;
    header(record);
    nrtp_diag why{};
    why.size = sizeof why;
    if (arch->ib->validate_inst != nullptr &&
        arch->ib->validate_inst(engine, record.data(), &why) != NRTP_OK) {
      why.msg[sizeof why.msg - 1] = '\0';
      error(fmt::format("opcode 0x{:02X}: {}", record[0], why.msg));
    }
    return true;
  }

  void error(std::string text) { findings_.error(member_, number_, prefixed(std::move(text))); }
  void warn(std::string text) { findings_.warn(member_, number_, prefixed(std::move(text))); }
  std::string prefixed(std::string text) const {
    return name_.empty() ? text : fmt::format("{}: {}", name_, text);
  }

  void header(isa::RecordView record) {
    const std::uint8_t length = record[0] == isa::op::PSEUDO_EXTENSION ? 0 : kWordLength;
    if (record[1] != length) error(fmt::format("word_len is {}, must be {}", record[1], length));
    static const isa::EnumTable& waits = *isa::find_enumeration("wait_mode");
    static const isa::EnumTable& updates = *isa::find_enumeration("update_mode");
    if (waits.find(record[4]) == nullptr)
      error(fmt::format("wait mode 0x{:02X} is unknown", record[4]));
    if (updates.find(record[6]) == nullptr)
      error(fmt::format("update mode 0x{:02X} is unknown", record[6]));
  }

  void fields(const isa::RecordLayout& layout, isa::RecordView record) {
    for (const isa::Field& field : layout.fields()) {
      if (field.values == nullptr) continue;
      for (std::size_t i = 0; i < field.count; ++i) {
        const auto raw = static_cast<std::uint32_t>(field_value(field, record, i));
        if (field.kind != isa::FieldKind::kTypePair) {
          code(field, raw);
          continue;
        }
        code(field, raw & 15);
        code(field, raw >> 4);
      }
    }
  }

  void code(const isa::Field& field, std::uint32_t value) {
    // 0 is what a field that a form does not use holds.
    if (value == 0 || field.values->find(value, generation_) != nullptr) return;
    // Address modes and activation functions combine or come with the tables
    // of a program.
    const std::string_view table = field.values->name;
    const bool open = table == "activation_function" || table == "variable_address_mode";
    const char* elsewhere = field.values->find(value);
    const std::string text = elsewhere != nullptr
                                 ? fmt::format("{}={} does not exist on {}", field.name, elsewhere,
                                               isa::generation_name(generation_))
                                 : fmt::format("{}=0x{:02X} is no {}", field.name, value, table);
    open ? warn(text) : error(text);
  }

  void reserved(const isa::RecordLayout& layout, isa::RecordView record) {
    const auto [it, fresh] = uncovered_.try_emplace(&layout);
    if (fresh) {
      std::fill(it->second.begin() + kRecordHeaderBytes, it->second.end(), true);
      for (const isa::Field& f : layout.fields())
        std::fill_n(it->second.begin() + f.offset, f.width * f.count, false);
    }
    for (std::size_t i = kRecordHeaderBytes; i < isa::kRecordBytes; ++i) {
      if (!it->second[i] || record[i] == 0) continue;
      const std::string text =
          fmt::format("byte {} is 0x{:02X}; it is reserved and must be 0", i, record[i]);
      // Where a layout is not confirmed the byte may have a meaning.
      const bool sure = layout.confidence == isa::Confidence::kObserved ||
                        layout.confidence == isa::Confidence::kDocumented;
      sure ? error(text) : warn(text);
      return;
    }
  }

  void channels(const isa::RecordLayout& layout, isa::RecordView record) {
    for (const char* name : {"num_active_channels", "num_active_rows", "num_active_cols"}) {
      const isa::Field* field = layout.find(name);
      if (field == nullptr) continue;
      const std::uint64_t value = field_value(*field, record);
      if (value < 1 || value > model_.on_chip.partitions)
        error(fmt::format("{}={}, must be 1..{}", name, value, model_.on_chip.partitions));
    }
  }

  // Partitions an operand covers, 0 when the record does not tell.
  static std::uint64_t lanes(const isa::RecordLayout& layout, isa::RecordView record,
                             std::string_view operand) {
    const char* name = "num_active_channels";
    if (layout.find("num_active_rows") != nullptr)
      name = operand == "src" ? "num_active_rows" : "num_active_cols";
    const isa::Field* field = layout.find(name);
    return field == nullptr ? 0 : field_value(*field, record);
  }

  // Engines reach 32 partitions from each quadrant, 64 from each half.
  void start_partition(const isa::RecordLayout& layout, isa::RecordView record,
                       const Operand& operand) {
    const std::uint64_t count = lanes(layout, record, operand.name);
    if (count == 0 || count > model_.on_chip.partitions) return;
    const std::uint64_t unit = count > 64 ? 128 : (count > 32 ? 64 : 32);
    if (operand.partition % unit != 0)
      error(fmt::format("{} begins at partition {}; {} partitions begin at a multiple of {}",
                        operand.name, operand.partition, count, unit));
  }

  void memory(const isa::Instruction& instruction, isa::RecordView record) {
    for (const Operand& operand : operands_.read(instruction, record)) {
      if (!operand.resolved) continue;
      if (operand.empty) {
        error(fmt::format("{} holds a count of 0", operand.count));
        continue;
      }
      if (operand.space == Space::kNone) {
        error(
            fmt::format("{}.addr=0x{:x} is neither SBUF nor PSUM", operand.name, operand.address));
        continue;
      }
      start_partition(instruction.layout(generation_), record, operand);
      const bool psum = operand.space == Space::kPsum;
      const auto limit = static_cast<std::int64_t>(psum ? model_.on_chip.psum_partition_bytes
                                                        : model_.on_chip.sbuf_partition_bytes);
      if (operand.begin < 0 || operand.end > limit)
        error(fmt::format("{} covers bytes {}..{} of a {} partition, which has {}", operand.name,
                          operand.begin, operand.end - 1, psum ? "PSUM" : "SBUF", limit));
    }
  }

  const Model& model_;
  isa::Generation generation_;
  std::size_t engine_;
  const std::string& member_;
  Findings& findings_;
  OperandReader operands_;
  std::map<const isa::RecordLayout*, Uncovered> uncovered_;
  std::uint64_t number_ = 0;
  std::string_view name_;
};

}  // namespace

void verify_records(const Model& model, const neff::Subgraph& graph, Findings& findings) {
  for (std::size_t e = 0; e < neff::kEngines; ++e) {
    RecordChecker checker(model, e, graph.stream_members[e], findings);
    const auto stream = graph.streams[e];
    for (std::size_t i = 0; i < stream.size() / isa::kRecordBytes; ++i)
      checker.check(i + 1, record_at(stream, i));
  }
}

}  // namespace opennrt::tools
