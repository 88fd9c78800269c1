// SPDX-License-Identifier: Apache-2.0
//
// DMA queues and blocks, and whether every wait can be met: no semaphore may be
// waited for beyond what all records and DMA blocks add to it.
#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "neff/listing.h"
#include "neff/operands.h"
#include "neff/stats.h"
#include "neff/text.h"
#include "neff/verify.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::tools {
namespace {

namespace wait = isa::code::wait_mode;
namespace update = isa::code::update_mode;

constexpr std::size_t kSemaphores = 256;

struct Semaphore {
  std::uint64_t added = 0;
  bool unknown = false;  // set, lowered or raised by an amount not known here
};

struct Core {
  std::array<Semaphore, kSemaphores> semaphores;
  // Triggers per queue and block.
  std::map<std::pair<std::string_view, std::uint32_t>, std::uint64_t> triggers;
  // A record may run more than once: sums of records are lower bounds only.
  bool repeats = false;
};

std::string_view queue_name(isa::RecordView record) {
  const char* text = reinterpret_cast<const char*>(record.data()) + 12;
  return {text, strnlen(text, 32)};
}

void apply_update(Core& core, std::uint8_t mode, std::uint8_t index, std::uint32_t value) {
  Semaphore& semaphore = core.semaphores[index];
  switch (mode) {
    case update::SEM_INC_READ:
    case update::SEM_INC_COMPLETE:
      ++semaphore.added;
      break;
    case update::SEM_ADD_IMM_READ:
    case update::SEM_ADD_IMM_COMPLETE:
      semaphore.added += value;
      break;
    case update::NONE:
    case update::EVT_SET_READ:
    case update::EVT_CLR_READ:
    case update::EVT_SET_COMPLETE:
    case update::EVT_CLR_COMPLETE:
      break;
    default:
      semaphore.unknown = true;
  }
}

void count_record(Core& core, const neff::Subgraph& graph, isa::RecordView record) {
  const std::uint8_t* r = record.data();
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | r[8 + i];
  apply_update(core, r[6], r[7], value);
  switch (r[0]) {
    case isa::op::EVENT_SEMAPHORE: {
      // The second block of conditions: bytes 32 to 43.
      std::uint32_t second = 0;
      for (std::size_t i = 4; i-- > 0;) second = second << 8 | r[40 + i];
      apply_update(core, r[34], r[35], second);
      break;
    }
    case isa::op::PSEUDO_DMATRIGGER: {
      const neff::QueueSet* queue = graph.find_queue_or_instance(queue_name(record));
      const auto block = isa::layout::PSEUDO_DMA_TRIGGER::block_id(r);
      if (queue != nullptr) ++core.triggers[{queue->name, block}];
      break;
    }
    case isa::op::PSEUDO_DMA_DIRECT2D:
      core.semaphores[r[13]].added += r[14];
      break;
    case isa::op::DMA_INDIRECT:
      core.semaphores[r[12]].added += r[13];
      break;
    case isa::op::PSEUDO_CORE_BARRIER:
      // Raises a semaphore of the core that no field names in full.
      for (Semaphore& s : core.semaphores) s.added += 1;
      break;
    case isa::op::COMPARE_BRANCH:
    case isa::op::PSEUDO_FUNCTION_CALL:
      core.repeats = true;
      break;
    case isa::op::WRITE:
    case isa::op::EVENT_SEMAPHORE_RANGE_CLEAR:
    case isa::op::DMAMEMCPY:
    case isa::op::PSEUDO_TRIGGER_COLLECTIVE:
    case isa::op::PSEUDO_TRIGGER_COLLECTIVE2:
    case isa::op::PSEUDO_TRIGGER_ALL_REDUCE:
    case isa::op::PSEUDO_SEND_RECV:
    case isa::op::PSEUDO_SEMAPHORE_SET:
    case isa::op::PSEUDO_DMAMEMCPY_FULL_IND:
    case isa::op::PSEUDO_EMBEDDING_UPDATE:
    case isa::op::PSEUDO_TENSOR_COMPLETION:
      for (Semaphore& s : core.semaphores) s.unknown = true;
      break;
    default:
      break;
  }
}

// DMA blocks raise their semaphore once per ring.
void count_blocks(std::vector<Core>& cores, std::size_t index, const neff::Subgraph& graph) {
  for (const neff::QueueSet& queue : graph.queues) {
    for (const neff::Block& block : queue.blocks) {
      const auto it = cores[index].triggers.find({queue.name, block.id});
      const std::uint64_t times = it == cores[index].triggers.end() ? 0 : it->second;
      const std::uint64_t added = times * queue.num_queues;
      if (block.semaphore && *block.semaphore < kSemaphores)
        cores[index].semaphores[*block.semaphore].added += added;
      for (const std::uint32_t remote : block.remote_semaphores)
        for (std::size_t other = 0; other < cores.size(); ++other)
          if (other != index && remote < kSemaphores)
            cores[other].semaphores[remote].added += added;
    }
  }
}

class WaitChecker {
 public:
  WaitChecker(const Core& core, const neff::Subgraph& graph, Findings& findings)
      : core_(core), graph_(graph), findings_(findings) {}

  void check(const std::string& member, std::uint64_t number, isa::RecordView record) {
    const std::uint8_t* r = record.data();
    condition(member, number, record, r[4], r[5], value(r + 8));
    runtime_semaphore(member, number, record, r[6], r[7]);
    if (r[0] == isa::op::EVENT_SEMAPHORE) {
      condition(member, number, record, r[32], r[33], value(r + 36));
      runtime_semaphore(member, number, record, r[34], r[35]);
    }
  }

 private:
  static std::uint32_t value(const std::uint8_t* p) {
    return static_cast<std::uint32_t>(p[0] | p[1] << 8 | p[2] << 16) | std::uint32_t{p[3]} << 24;
  }

  void condition(const std::string& member, std::uint64_t number, isa::RecordView record,
                 std::uint8_t mode, std::uint8_t index, std::uint32_t threshold) {
    // Comparisons are signed.
    const auto wanted = static_cast<std::int64_t>(static_cast<std::int32_t>(threshold));
    const bool beyond = mode == wait::SEM_GT_IMM;
    if (mode != wait::SEM_GE_IMM && mode != wait::SEM_EQ_IMM && !beyond) return;
    const Semaphore& semaphore = core_.semaphores[index];
    if (semaphore.unknown || core_.repeats || index < graph_.runtime_semaphore_count) return;
    if (wanted + beyond <= static_cast<std::int64_t>(semaphore.added)) return;
    findings_.error(member, number,
                    fmt::format("{}: waits for semaphore {} {} {}, which never exceeds {}",
                                isa::opcode_name(record[0]), index,
                                beyond ? ">" : (mode == wait::SEM_EQ_IMM ? "==" : ">="), wanted,
                                semaphore.added));
  }

  void runtime_semaphore(const std::string& member, std::uint64_t number, isa::RecordView record,
                         std::uint8_t mode, std::uint8_t index) {
    static const isa::EnumTable& updates = *isa::find_enumeration("update_mode");
    const std::uint8_t kind = mode & 0x0F;
    if (kind == 0 || updates.find(mode) == nullptr) return;
    const bool event = kind == update::EVT_SET_READ || kind == update::EVT_CLR_READ;
    const std::uint32_t reserved =
        event ? graph_.runtime_event_count : graph_.runtime_semaphore_count;
    if (index >= reserved) return;
    findings_.error(member, number,
                    fmt::format("{}: updates {} {}, which belongs to the runtime (0..{})",
                                isa::opcode_name(record[0]), event ? "event" : "semaphore", index,
                                reserved - 1));
  }

  const Core& core_;
  const neff::Subgraph& graph_;
  Findings& findings_;
};

template <typename Visit>
void for_each_record(const neff::Subgraph& graph, Visit visit) {
  for (std::size_t e = 0; e < neff::kEngines; ++e)
    for (std::size_t i = 0; i < graph.streams[e].size() / isa::kRecordBytes; ++i)
      visit(graph.stream_members[e], i + 1, record_at(graph.streams[e], i));
}

// The loader knows the state buffer as a whole; here each partition counts.
void verify_reach(const Model& model, const neff::Subgraph& graph, const std::string& place,
                  const neff::Block& block, Findings& findings) {
  const std::uint64_t limit = model.on_chip.sbuf_partition_bytes;
  const auto check = [&](const neff::AccessPattern& walk) {
    if (graph.variables[walk.var_id].type != neff::VariableType::kStateBuffer) return;
    if (const std::uint64_t reach = partition_reach(walk, model.on_chip); reach > limit)
      findings.error(place, std::nullopt,
                     fmt::format("block {} touches byte {} of an SBUF partition, which has {}",
                                 block.id, reach - 1, limit));
  };
  for (const neff::Descriptor& descriptor : block.descriptors) {
    check(descriptor.to);
    for (const neff::AccessPattern& from : descriptor.from) check(from);
  }
}

}  // namespace

void verify_queues(const Model& model, const neff::Subgraph& graph, Findings& findings) {
  Core core;
  for_each_record(graph, [&](const std::string&, std::uint64_t, const isa::RecordBytes& record) {
    if (record[0] == isa::op::PSEUDO_DMATRIGGER || record[0] == isa::op::COMPARE_BRANCH ||
        record[0] == isa::op::PSEUDO_FUNCTION_CALL)
      count_record(core, graph, record);
  });
  for (const neff::QueueSet& queue : graph.queues) {
    const std::string place = fmt::format("{}: queue {}", graph.name, neff::printable(queue.name));
    if (queue.blocks.empty() && queue.type != neff::QueueType::kDynamic)
      findings.warn(place, std::nullopt, "has no blocks");
    // Instances number their blocks on their own, and each run of one triggers all.
    const bool divided = queue.instances.size() > 1;
    for (std::size_t i = 0; i < queue.blocks.size() && !divided; ++i) {
      const neff::Block& block = queue.blocks[i];
      if (block.id != i) {
        findings.error(
            place, std::nullopt,
            fmt::format("block ids must be 0..{}; {} is missing", queue.blocks.size() - 1, i));
        break;
      }
    }
    for (const neff::Block& block : queue.blocks) {
      verify_reach(model, graph, place, block, findings);
      if (block.semaphore && !queue.semaphores.empty()) {
        const std::uint32_t due = queue.semaphores[block.id % queue.semaphores.size()];
        if (*block.semaphore != due)
          findings.error(place, std::nullopt,
                         fmt::format("block {} raises semaphore {}; its turn in the set is {}",
                                     block.id, *block.semaphore, due));
      }
      const auto it = core.triggers.find({queue.name, block.id});
      const std::uint64_t times = it == core.triggers.end() ? 0 : it->second;
      if (divided) continue;
      if (times == 0)
        findings.warn(place, std::nullopt, fmt::format("block {} is never triggered", block.id));
      if (times > 1 && !core.repeats)
        findings.warn(place, std::nullopt,
                      fmt::format("block {} is triggered by {} records", block.id, times));
    }
  }
}

void verify_waits(const Model& model, Findings& findings) {
  const auto& graphs = model.program.subgraphs;
  std::vector<Core> cores(graphs.size());
  for (std::size_t g = 0; g < graphs.size(); ++g)
    for_each_record(graphs[g],
                    [&](const std::string&, std::uint64_t, const isa::RecordBytes& record) {
                      count_record(cores[g], graphs[g], record);
                    });
  for (std::size_t g = 0; g < graphs.size(); ++g) count_blocks(cores, g, graphs[g]);
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    WaitChecker checker(cores[g], graphs[g], findings);
    for_each_record(graphs[g],
                    [&](const std::string& member, std::uint64_t number,
                        const isa::RecordBytes& record) { checker.check(member, number, record); });
  }
}

}  // namespace opennrt::tools
