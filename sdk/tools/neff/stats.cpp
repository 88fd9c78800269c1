// SPDX-License-Identifier: Apache-2.0
#include "neff/stats.h"

#include <algorithm>

#include "neff/listing.h"
#include "neff/operands.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::tools {
namespace {

constexpr std::uint64_t kDescriptorBytes = 16;
constexpr std::uint64_t kPointerBytes = 8;

std::uint64_t elements_of(const neff::AccessPattern& p) {
  std::uint64_t runs = 1;
  for (std::uint32_t d = 1; d < p.dims; ++d) runs *= p.sizes[d];
  return runs;
}
std::uint64_t bytes_of(const neff::AccessPattern& p) { return elements_of(p) * p.sizes[0]; }

void count_variables(const neff::Subgraph& graph, GraphFigures& out) {
  for (const neff::Variable& v : graph.variables) {
    switch (v.type) {
      case neff::VariableType::kFile:
        out.memory.constants += v.size;
        break;
      case neff::VariableType::kTmpBuf:
      case neff::VariableType::kPointer:
        out.memory.buffers += v.size;
        break;
      case neff::VariableType::kDgeTable:
        out.memory.buffers += v.list.size() * kPointerBytes;
        break;
      default:
        break;
    }
  }
  out.memory.scratchpad = graph.scratchpad_bytes;
  for (const neff::ActTableSet& set : graph.act_sets)
    out.memory.tables += set.buckets.size() + set.control.size();
  for (const neff::NamedBlob& table : graph.dve_tables) out.memory.tables += table.data.size();
}

void count_queues(const neff::Subgraph& graph, const OnChip& memories, GraphFigures& out) {
  const auto is_sbuf = [&](std::uint32_t id) {
    return graph.variables[id].type == neff::VariableType::kStateBuffer;
  };
  const auto reach = [&](const neff::AccessPattern& p) {
    if (is_sbuf(p.var_id))
      out.memory.sbuf_partition = std::max(out.memory.sbuf_partition, partition_reach(p, memories));
  };
  for (const neff::QueueSet& queue : graph.queues) {
    QueueFigures figures{.queue = &queue, .blocks = queue.blocks.size()};
    for (const neff::Block& block : queue.blocks) {
      for (const neff::Descriptor& d : block.descriptors) {
        ++figures.descriptors;
        figures.bytes_written += bytes_of(d.to);
        reach(d.to);
        std::uint64_t runs = elements_of(d.to);
        for (const neff::AccessPattern& from : d.from) {
          figures.bytes_read += bytes_of(from);
          runs += elements_of(from);
          reach(from);
        }
        out.memory.descriptors += runs * kDescriptorBytes;
      }
    }
    out.queues.push_back(figures);
  }
}

void count_record(const isa::Instruction& instruction, isa::RecordView record,
                  OperandReader& reader, isa::Generation generation, GraphFigures& out) {
  std::uint64_t channels = 1;
  const isa::RecordLayout& layout = instruction.layout(generation);
  const isa::Field* rows = layout.find("num_active_rows");
  const isa::Field* columns = layout.find("num_active_cols");
  const isa::Field* active = layout.find("num_active_channels");
  if (active != nullptr) channels = field_value(*active, record);
  for (const Operand& operand : reader.read(instruction, record)) {
    if (!operand.resolved) {
      ++out.unresolved_operands;
      continue;
    }
    std::uint64_t lanes = channels;
    if (rows != nullptr && operand.name == "src") lanes = field_value(*rows, record);
    if (columns != nullptr && operand.name == "dst") lanes = field_value(*columns, record);
    out.engine_bytes += lanes * operand.bytes;
    const auto end = static_cast<std::uint64_t>(std::max<std::int64_t>(operand.end, 0));
    if (operand.space == Space::kSbuf)
      out.memory.sbuf_partition = std::max(out.memory.sbuf_partition, end);
    if (operand.space == Space::kPsum)
      out.memory.psum_partition = std::max(out.memory.psum_partition, end);
    if (instruction.opcode == isa::op::MATMUL && operand.name == "src" && rows && columns)
      out.multiply_accumulates +=
          field_value(*rows, record) * field_value(*columns, record) * operand.elements;
  }
}

void count_dynamic(isa::RecordView record, GraphFigures& out) {
  namespace at = isa::layout::PSEUDO_DMA_DIRECT2D;
  // A count of 0 stands for 65536.
  const auto times = [](std::uint32_t n) { return n == 0 ? std::uint64_t{65536} : n; };
  ++out.dynamic_copies;
  out.dynamic_bytes += times(at::dst_num_0(record.data())) * times(at::dst_num_1(record.data())) *
                       at::dst_elem_size(record.data());
}

void count_streams(const neff::Subgraph& graph, isa::Generation generation, const OnChip& memories,
                   GraphFigures& out) {
  OperandReader reader(generation, memories);
  for (std::size_t e = 0; e < neff::kEngines; ++e) {
    const auto stream = graph.streams[e];
    out.engines[e].records = stream.size() / isa::kRecordBytes;
    out.memory.instructions += stream.size();
    for (std::size_t i = 0; i < out.engines[e].records; ++i) {
      const isa::RecordBytes record = record_at(stream, i);
      ++out.engines[e].opcodes[record[0]];
      const isa::Instruction* instruction = isa::find_instruction(record[0]);
      if (instruction == nullptr || !instruction->exists_on(generation)) continue;
      if (record[0] == isa::op::PSEUDO_DMA_DIRECT2D)
        count_dynamic(record, out);
      else
        count_record(*instruction, record, reader, generation, out);
    }
  }
}

}  // namespace

std::uint64_t partition_reach(const neff::AccessPattern& p, const OnChip& memories) {
  const auto stride = static_cast<std::int64_t>(memories.sbuf_partition_stride);
  std::int64_t reach = static_cast<std::int64_t>(p.offset % memories.sbuf_partition_stride);
  for (std::uint32_t d = 0; d < p.dims; ++d) {
    if (p.steps[d] > 0 && p.steps[d] % stride != 0)
      reach += static_cast<std::int64_t>(p.sizes[d] - 1) * p.steps[d];
  }
  return static_cast<std::uint64_t>(reach) + 1;
}

Figures count(const Model& model) {
  Figures figures;
  for (const neff::TensorInfo& t : model.program.inputs) figures.input_bytes += t.size;
  for (const neff::TensorInfo& t : model.program.outputs) figures.output_bytes += t.size;
  for (const neff::Subgraph& graph : model.program.subgraphs) {
    GraphFigures& out = figures.graphs.emplace_back();
    count_variables(graph, out);
    count_queues(graph, model.on_chip, out);
    count_streams(graph, model.generation, model.on_chip, out);
  }
  return figures;
}

std::uint64_t Figures::largest_device_memory() const {
  std::uint64_t largest = 0;
  for (const GraphFigures& graph : graphs) largest = std::max(largest, graph.memory.device());
  return largest + input_bytes + output_bytes;
}

const char* queue_type_name(neff::QueueType type) {
  switch (type) {
    case neff::QueueType::kIn:
      return "in";
    case neff::QueueType::kOut:
      return "out";
    case neff::QueueType::kData:
      return "data";
    case neff::QueueType::kDynamic:
      return "dynamic";
    case neff::QueueType::kEmbeddingUpdate:
      return "embedding_update";
    case neff::QueueType::kActLoad:
      return "act_load";
  }
  return "?";
}

}  // namespace opennrt::tools
