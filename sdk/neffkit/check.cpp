// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "data_types.h"
#include "opennrt/neffkit/neffkit.h"

namespace opennrt::neffkit {
namespace {

constexpr const char* kStateBuffer = "SB";
constexpr std::uint32_t kSbufPartitions = 128;
constexpr std::uint64_t kSbufPartitionStride = 0x40000;
constexpr std::uint32_t kSemaphores = 256;  // that a record can name
// Bytes of a partition that exist, by generation.
constexpr std::array<std::uint64_t, isa::kGenerations> kSbufPartitionBytes = {0x30000, 0x38000,
                                                                              0x40000};

// Product of the sizes; false when it does not fit 64 bits.
bool total(const std::vector<std::uint64_t>& sizes, std::uint64_t* out) {
  *out = 1;
  for (std::uint64_t size : sizes) {
    if (__builtin_mul_overflow(*out, size, out)) return false;
  }
  return true;
}

class Checker {
 public:
  Checker(const Program& program, std::string* error)
      : program_(program), silicon_(silicon_of(program)), error_(error) {}

  bool run() {
    if (program_.outputs.empty()) return fail(0, "the program has no outputs");
    if (program_.subgraphs.empty() || program_.subgraphs.size() > 2) {
      return fail(0, "the program needs one subgraph per physical core, one or two");
    }
    std::set<std::string> names;
    for (const Subgraph& sg : program_.subgraphs) {
      if (!names.insert(sg.name).second) return fail(0, "two subgraphs are called " + sg.name);
    }
    return std::all_of(program_.subgraphs.begin(), program_.subgraphs.end(),
                       [this](const Subgraph& sg) { return subgraph(sg); });
  }

 private:
  static Silicon silicon_of(const Program& program) {
    if (program.silicon) return *program.silicon;
    Silicon family;
    family.sbuf_partitions = kSbufPartitions;
    family.sbuf_partition_stride = kSbufPartitionStride;
    family.sbuf_partition_bytes = kSbufPartitionBytes[static_cast<std::size_t>(program.target)];
    family.semaphores = kSemaphores;
    return family;
  }

  const isa::Instruction* find_instruction(std::uint8_t opcode) const {
    for (const isa::Instruction& i : silicon_.instructions)
      if (i.opcode == opcode) return &i;
    return isa::find_instruction(opcode);
  }

  bool fail(int line, const std::string& message) const {
    *error_ = program_.source + ":" + std::to_string(line) + ": " + message;
    return false;
  }

  bool subgraph(const Subgraph& sg) {
    sizes_.clear();
    queues_.clear();
    blocks_.clear();
    triggered_.clear();
    raised_.fill(0);
    sizes_[kStateBuffer] = silicon_.sbuf_partitions * silicon_.sbuf_partition_stride;
    for (const auto* list : {&program_.inputs, &program_.outputs}) {
      for (const Tensor& t : *list) {
        if (!add_variable(t.name, t.bytes, t.line)) return false;
      }
    }
    for (const Variable& v : sg.variables) {
      if (!add_variable(v.name, v.size, v.line)) return false;
      if ((v.alignment & (v.alignment - 1)) != 0) {
        return fail(v.line, "variable " + v.name + ": alignment must be a power of two");
      }
    }
    for (const QueueSet& q : sg.queues) {
      if (!queue(sg, q)) return false;
    }
    for (const Block& b : sg.blocks) {
      if (!block(b)) return false;
    }
    for (std::size_t e = 0; e < kEngines; ++e) {
      if (!stream(sg, e)) return false;
    }
    return waits_can_be_met(sg);
  }

  bool add_variable(const std::string& name, std::uint64_t bytes, int line) {
    if (!sizes_.emplace(name, bytes).second) {
      return fail(line, "variable " + name + " is declared twice");
    }
    return true;
  }

  bool queue(const Subgraph& sg, const QueueSet& q) {
    if (!queues_.emplace(q.name, &q).second) {
      return fail(q.line, "queue " + q.name + " is declared twice");
    }
    if (q.semaphores.empty() || q.semaphores.size() > 32) {
      return fail(q.line, "queue " + q.name + " needs 1..32 semaphores");
    }
    for (std::uint32_t s : q.semaphores) {
      if (s < sg.runtime_semaphores || s >= silicon_.semaphores) {
        return fail(q.line, "queue " + q.name + ": semaphore " + std::to_string(s) + " is not in " +
                                std::to_string(sg.runtime_semaphores) + ".." +
                                std::to_string(silicon_.semaphores - 1));
      }
    }
    return true;
  }

  bool block(const Block& b) {
    const std::string what = "block " + std::to_string(b.id) + " of " + b.queue;
    const auto found = queues_.find(b.queue);
    if (found == queues_.end()) return fail(b.line, what + ": unknown queue");
    const QueueSet& q = *found->second;
    if (q.type == "dynamic") return fail(b.line, what + ": a dynamic queue has no blocks");
    if (!blocks_[b.queue].emplace(b.id, &b).second) return fail(b.line, what + " exists twice");
    const std::uint32_t expected = q.semaphores[b.id % q.semaphores.size()];
    if (!b.semaphore || *b.semaphore != expected) {
      return fail(b.line, what + ": semaphore must be entry id modulo " +
                              std::to_string(q.semaphores.size()) + " of the queue's set, " +
                              std::to_string(expected));
    }
    if (b.descriptors.empty()) return fail(b.line, what + " has no descriptors");
    return std::all_of(b.descriptors.begin(), b.descriptors.end(),
                       [this](const Descriptor& d) { return descriptor(d); });
  }

  bool descriptor(const Descriptor& d) {
    const bool one_source = d.op == "copy" || d.op == "cast";
    if (d.from.size() > 16 || (one_source ? d.from.size() != 1 : d.from.empty())) {
      return fail(d.line, d.op + " takes " + (one_source ? "one source" : "1..16 sources"));
    }
    if (d.op == "fma" ? d.scale.size() != d.from.size() : !d.scale.empty()) {
      return fail(d.line, "scale: fma takes one per source, other operations none");
    }
    if (d.constant && d.op != "min" && d.op != "max") {
      return fail(d.line, "constant belongs to min and max");
    }
    std::uint64_t elements = 0;
    if (!pattern(d.to, d.op, &elements)) return false;
    for (const Pattern& p : d.from) {
      std::uint64_t source = 0;
      if (!pattern(p, d.op, &source)) return false;
      if (source != elements) {
        const std::string unit = d.op == "copy" ? " bytes" : " elements";
        return fail(d.line, "source has " + std::to_string(source) + unit + ", destination " +
                                std::to_string(elements));
      }
      if (d.op == "copy" && data_type_bytes(p.dtype) != data_type_bytes(d.to.dtype)) {
        return fail(d.line, "copy between types of different size; use cast");
      }
    }
    return true;
  }

  // *count: bytes for a copy, else elements.
  bool pattern(const Pattern& p, const std::string& op, std::uint64_t* count) {
    const auto found = sizes_.find(p.variable);
    if (found == sizes_.end()) return fail(p.line, "unknown variable '" + p.variable + "'");
    if (p.sizes.empty() || p.sizes.size() > 4 || p.sizes.size() != p.steps.size()) {
      return fail(p.line, "sizes and steps must have the same length, 1..4");
    }
    if (p.steps[0] != 1) return fail(p.line, "steps[0] must be 1: sizes[0] is a run of bytes");
    const std::uint32_t width = data_type_bytes(p.dtype);
    if (width == 0) return fail(p.line, "unknown data type '" + p.dtype + "'");
    if (std::find(p.sizes.begin(), p.sizes.end(), 0) != p.sizes.end()) {
      return fail(p.line, "a size is 0");
    }
    if (!total(p.sizes, count)) return fail(p.line, "the sizes are too large");
    if (op != "copy") {
      if (p.sizes[0] % width != 0) {
        return fail(p.line, "sizes[0] is not a multiple of " + p.dtype);
      }
      *count /= width;
    }
    return inside(p, found->second);
  }

  bool inside(const Pattern& p, std::uint64_t bytes) {
    std::int64_t low = static_cast<std::int64_t>(p.offset);
    std::int64_t high = low;
    for (std::size_t d = 0; d < p.sizes.size(); ++d) {
      std::int64_t reach = 0;
      const auto last = static_cast<std::int64_t>(p.sizes[d]) - 1;
      if (__builtin_mul_overflow(last, p.steps[d], &reach) ||
          __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) {
        return fail(p.line, "the pattern is too large");
      }
    }
    if (low < 0 || static_cast<std::uint64_t>(high) >= bytes) {
      return fail(p.line, "the pattern covers bytes " + std::to_string(low) + ".." +
                              std::to_string(high) + " of " + p.variable + ", which has " +
                              std::to_string(bytes));
    }
    return p.variable != kStateBuffer || inside_partition(p);
  }

  bool inside_partition(const Pattern& p) {
    const std::uint64_t stride = silicon_.sbuf_partition_stride;
    std::uint64_t end = p.offset % stride + p.sizes[0];
    for (std::size_t d = 1; d < p.sizes.size(); ++d) {
      const auto step = static_cast<std::uint64_t>(std::max<std::int64_t>(p.steps[d], 0));
      if (step % stride != 0) end += (p.sizes[d] - 1) * step;
    }
    const std::uint64_t limit = silicon_.sbuf_partition_bytes;
    if (end <= limit) return true;
    return fail(p.line, "the pattern ends at byte " + std::to_string(end) +
                            " of an SBUF partition, which has " + std::to_string(limit));
  }

  bool stream(const Subgraph& sg, std::size_t engine) {
    const auto& records = sg.streams[engine];
    if (records.empty() || records[0].bytes[0] != isa::kOpSetOrderingMode) {
      const int line = records.empty() ? 0 : records[0].line;
      return fail(line, std::string(kEngineNames[engine]) +
                            ": the first instruction must be SET_ORDERING_MODE");
    }
    for (const Record& r : records) {
      const isa::Instruction* i = find_instruction(r.bytes[0]);
      if (i == nullptr || i->kind == isa::Kind::kInvalid || !i->exists_on(program_.target)) {
        return fail(r.line, "not an instruction of " +
                                (program_.silicon ? program_.silicon->target
                                                  : isa::generation_name(program_.target)));
      }
      if (!i->runs_on(static_cast<std::uint32_t>(engine))) {
        return fail(r.line, std::string(i->name) + " does not run on " + kEngineNames[engine]);
      }
      has_branch_ = has_branch_ || r.bytes[0] == isa::kOpCompareBranch;
      if (!conditions(sg, r)) return false;
      if (r.bytes[0] == isa::kOpPseudoDmaTrigger && !trigger(r, engine)) return false;
    }
    return true;
  }

  // Semaphores of the runtime are not the program's; counts what is raised.
  bool conditions(const Subgraph& sg, const Record& r) {
    const auto h = isa::load_record<isa::ControlRecord>(r.bytes.data()).h;
    const bool waits = h.wait_mode >= isa::kWaitSemEq && h.wait_mode <= isa::kWaitSemGe;
    const bool updates = h.update_mode >= 3 && (h.update_mode & 0x0F) >= 3;
    for (const auto& [used, index] :
         {std::pair(waits, h.wait_index), std::pair(updates, h.update_index)}) {
      if (used && index >= silicon_.semaphores) {
        return fail(r.line, "semaphore " + std::to_string(index) + " does not exist, the last is " +
                                std::to_string(silicon_.semaphores - 1));
      }
      if (used && index < sg.runtime_semaphores) {
        return fail(r.line, "semaphore " + std::to_string(index) + " belongs to the runtime (0.." +
                                std::to_string(sg.runtime_semaphores - 1) + ")");
      }
    }
    const int action = h.update_mode & 0x0F;
    if (action == 3) raised_[h.update_index] += 1;
    if (action == 5) raised_[h.update_index] += h.value;
    if (action > 5) raised_[h.update_index] = UINT32_MAX;  // not tracked
    if (r.bytes[0] == isa::kOpPseudoDmaDirect2d || r.bytes[0] == isa::kOpDmaMemcpy) {
      raised_[r.bytes[13]] += r.bytes[14];
    }
    if (r.bytes[0] == isa::kOpEventSemaphore && r.bytes[34] != 0) {
      raised_[r.bytes[35]] = UINT32_MAX;
    }
    return true;
  }

  // The rings hold a queue's blocks in order of their ids, so triggers must
  // come in that order, each once.
  bool trigger(const Record& r, std::size_t engine) {
    const auto t = isa::load_record<isa::DmaTriggerRecord>(r.bytes.data());
    const std::string name(t.queue, std::find(t.queue, t.queue + sizeof t.queue, '\0'));
    const auto found = queues_.find(name);
    if (found == queues_.end()) return fail(r.line, "trigger of unknown queue '" + name + "'");
    const QueueSet& q = *found->second;
    if (q.owner != engine) {
      return fail(r.line, "queue " + name + " is owned by " + kEngineNames[q.owner] + ", not " +
                              kEngineNames[engine]);
    }
    const auto& blocks = blocks_[name];
    const auto block = blocks.find(t.block_id);
    if (block == blocks.end()) {
      return fail(r.line, "queue " + name + " has no block " + std::to_string(t.block_id));
    }
    const std::size_t position = triggered_[name]++;
    const auto expected = std::next(
        blocks.begin(), static_cast<std::ptrdiff_t>(std::min(position, blocks.size() - 1)));
    if (!has_branch_ && (position >= blocks.size() || expected != block)) {
      return fail(r.line, "blocks of " + name +
                              " must be triggered once each, in order of their ids; expected " +
                              (position < blocks.size() ? std::to_string(expected->first)
                                                        : std::string("no further trigger")));
    }
    raised_[*block->second->semaphore] += q.num_queues;
    return true;
  }

  // A wait above everything that is ever added never ends. Programs with
  // branches may raise a semaphore any number of times.
  bool waits_can_be_met(const Subgraph& sg) {
    if (has_branch_) return true;
    for (std::size_t e = 0; e < kEngines; ++e) {
      for (const Record& r : sg.streams[e]) {
        const auto h = isa::load_record<isa::ControlRecord>(r.bytes.data()).h;
        if (h.wait_mode != isa::kWaitSemGe || h.value <= raised_[h.wait_index]) continue;
        return fail(r.line, "waits for " + std::to_string(h.value) + " on semaphore " +
                                std::to_string(h.wait_index) + ", which reaches " +
                                std::to_string(raised_[h.wait_index]));
      }
    }
    return true;
  }

  const Program& program_;
  const Silicon silicon_;
  std::string* error_;
  std::map<std::string, std::uint64_t> sizes_;  // variable -> bytes
  std::map<std::string, const QueueSet*> queues_;
  std::map<std::string, std::map<std::uint32_t, const Block*>> blocks_;
  std::map<std::string, std::size_t> triggered_;
  std::array<std::uint64_t, kSemaphores> raised_{};
  bool has_branch_ = false;
};

}  // namespace

bool check_program(const Program& program, std::string* error) {
  return Checker(program, error).run();
}

}  // namespace opennrt::neffkit
