// SPDX-License-Identifier: Apache-2.0
#include "tdrv/image/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace opennrt::tdrv::image {

namespace {

using isa::kRecordBytes;

constexpr std::uint8_t kFirstPseudo = 0xC0, kLastPseudo = 0xDF;
constexpr std::size_t kMaxLoweredRecords = 16;  // of one pseudo-instruction

bool is_pseudo(std::uint8_t opcode) { return opcode >= kFirstPseudo && opcode <= kLastPseudo; }

// Names of the pseudo-instructions 0xC0..0xDF; they exist in compiled programs
// only, so the device tables do not list them.
std::string_view pseudo_name(std::uint8_t opcode) {
  constexpr std::array<std::string_view, 32> kNames = {
      "",
      "PSEUDO_DMATRIGGER",
      "PSEUDO_DMAREARM",
      "PSEUDO_DMABARRIER",
      "PSEUDO_DMAMEMCPY_FULL_IND",
      "PSEUDO_SEMAPHORE_SET",
      "PSEUDO_LOAD_ACT_FUNC_SET",
      "PSEUDO_TRIGGER_ALL_REDUCE",
      "PSEUDO_TRIGGER_COLLECTIVE",
      "PSEUDO_READ_VAR_ADDR",
      "PSEUDO_EMBEDDING_UPDATE",
      "PSEUDO_SEND_RECV",
      "PSEUDO_BRANCH_LABEL",
      "PSEUDO_TENSOR_STORE",
      "PSEUDO_TENSOR_LOAD",
      "PSEUDO_DMASWAP_QUEUE_SET",
      "PSEUDO_SET_RNG_SEED",
      "PSEUDO_FUNCTION_BEGIN",
      "PSEUDO_FUNCTION_RETURN",
      "PSEUDO_FUNCTION_CALL",
      "PSEUDO_DMA_DIRECT2D",
      "PSEUDO_SYNC_BARRIER",
      "PSEUDO_RANGE_CHECK",
      "PSEUDO_JPEG_DECODE",
      "PSEUDO_CORE_BARRIER",
      "PSEUDO_TRIGGER_COLLECTIVE2",
      "PSEUDO_EXTENSION",
      "PSEUDO_CUR_PROCESSING_RANK_ID",
      "PSEUDO_GID_LOAD",
      "PSEUDO_BRANCH_PREFETCH_HINT",
      "PSEUDO_TENSOR_COMPLETION",
      "PSEUDO_INST",
  };
  const std::string_view name = kNames[opcode - kFirstPseudo];
  return name.empty() ? "unknown pseudo-instruction" : name;
}

// The lowering of one stream.
class StreamLowering {
 public:
  StreamLowering(const CorePlan& plan, const nrtp_ib_env& env, TriggerLedger& ledger,
                 std::vector<std::uint8_t>& bytes, std::vector<Patch>& patches)
      : in_(*plan.inputs),
        arch_(*plan.inputs->arch),
        env_(env),
        ledger_(ledger),
        out_(bytes),
        patches_(patches),
        at_(*plan.inputs),
        stream_(plan.inputs->subgraph->streams[env.engine]) {}

  Status run() {
    if (stream_.size() % kRecordBytes != 0) {
      return Status::invalid("{}: {} bytes are no whole number of {}-byte instructions", member(),
                             stream_.size(), kRecordBytes);
    }
    const std::size_t n = stream_.size() / kRecordBytes;
    slot_of_.reserve(n + 1);
    for (index_ = 0; index_ < n; ++index_) {
      slot_of_.push_back(out_.slot());
      std::memcpy(record_.data(), stream_.data() + index_ * kRecordBytes, kRecordBytes);
      ONRT_TRY(lower_record());
    }
    slot_of_.push_back(out_.slot());
    return retarget_branches();
  }

 private:
  std::uint8_t opcode() const { return record_[0]; }
  std::string member() const {
    const std::string& name = in_.subgraph->stream_members[env_.engine];
    return name.empty()
               ? fmt::format("{} stream of {}", engine_text(env_.engine), in_.subgraph->name)
               : name;
  }
  // "sg00/PE.bin record 12"
  std::string place(std::size_t index) const {
    return fmt::format("{} record {}", member(), index);
  }

  Status lower_record() {
    if (is_pseudo(opcode())) return lower_pseudo();
    if (arch_.ib->validate_inst != nullptr) {
      nrtp_diag diag{};
      diag.size = sizeof diag;
      if (arch_.ib->validate_inst(env_.engine, record_.data(), &diag) != NRTP_OK) {
        diag.msg[sizeof diag.msg - 1] = '\0';
        return Status::invalid("{}: arch {} refuses opcode {:#04x} on {}{}{}", place(index_),
                               arch_.name, opcode(), engine_text(env_.engine),
                               diag.msg[0] != '\0' ? ": " : "", diag.msg);
      }
    }
    if (opcode() == isa::kOpCompareBranch) ONRT_TRY(note_branch());
    out_.append_bytes(record_);
    return Status::ok();
  }

  Status lower_pseudo() {
    const std::uint32_t start = out_.offset();
    bool lowered = false;
    ONRT_TRY(lower_by_arch(lowered));
    if (!lowered) {
      switch (opcode()) {
        case isa::kOpPseudoDmaTrigger:
          ONRT_TRY(lower_dma_trigger());
          break;
        case isa::kOpPseudoCoreBarrier:
          ONRT_TRY(lower_core_barrier());
          break;
        case isa::kOpPseudoBranchLabel:
          break;  // nothing is left of a label
        default:
          return Status::invalid("{}: {} ({:#04x}) is not supported by this release", place(index_),
                                 pseudo_name(opcode()), opcode());
      }
    }
    const std::uint32_t slots = (out_.offset() - start) / static_cast<std::uint32_t>(kRecordBytes);
    if (slots == 0) {
      patches_.push_back({start, 1, PatchType::kDelete, Section::kMain});
    } else if (slots > 1) {
      patches_.push_back({start, slots - 1, PatchType::kInsert, Section::kMain});
    }
    return Status::ok();
  }

  // An arch may bring its own rule for a pseudo-instruction.
  Status lower_by_arch(bool& lowered) {
    if (arch_.ib->lower_pseudo == nullptr) return Status::ok();
    std::array<std::uint8_t, kMaxLoweredRecords * kRecordBytes> scratch;
    nrtp_ibuf buffer{.p = scratch.data(), .cap = scratch.size(), .len = 0};
    const int rc = arch_.ib->lower_pseudo(record_.data(), &env_, &buffer);
    if (rc == NRTP_INVALID) return Status::ok();
    if (rc != NRTP_OK || buffer.len > buffer.cap || buffer.len % kRecordBytes != 0) {
      return Status::failure("{}: arch {} failed to lower {} (status {}, {} bytes)", place(index_),
                             arch_.name, pseudo_name(opcode()), rc, buffer.len);
    }
    out_.append_bytes(std::span(scratch).first(buffer.len));
    lowered = true;
    return Status::ok();
  }

  // One broadcast write serves the rings of the set; sets whose receive side is
  // armed as a whole need the TX count only.
  Status lower_dma_trigger() {
    const auto trigger = isa::load_record<isa::DmaTriggerRecord>(record_.data());
    const std::size_t length = ::strnlen(trigger.queue, sizeof trigger.queue);
    if (length == sizeof trigger.queue) {
      return Status::invalid("{}: the queue name of {} has no end within {} bytes", place(index_),
                             pseudo_name(opcode()), sizeof trigger.queue);
    }
    const std::string_view name(trigger.queue, length);
    const auto queue = std::find_if(in_.queues.begin(), in_.queues.end(),
                                    [&](const QueuePlacement& q) { return q.set->name == name; });
    if (queue == in_.queues.end()) {
      return Status::invalid("{}: {} names queue set '{}', which {} does not define", place(index_),
                             pseudo_name(opcode()), name, in_.subgraph->name);
    }
    const auto block =
        std::find_if(queue->blocks.begin(), queue->blocks.end(),
                     [&](const BlockCounts& b) { return b.block_id == trigger.block_id; });
    if (block == queue->blocks.end()) {
      return Status::invalid("{}: queue set '{}' has no block {}", place(index_), name,
                             trigger.block_id);
    }
    const auto refusal =
        ledger_.take(static_cast<std::size_t>(queue - in_.queues.begin()),
                     static_cast<std::size_t>(block - queue->blocks.begin()), env_.engine);
    if (refusal) {
      return Status::invalid("{}: trigger of block {} of queue set '{}' {}", place(index_),
                             trigger.block_id, name, *refusal);
    }
    if (block->m2s > kMaxBroadcastValue || block->s2m > kMaxBroadcastValue) {
      return Status::invalid(
          "{}: block {} of queue set '{}' has {} source and {} destination descriptors on a ring; "
          "one trigger releases at most {}",
          place(index_), trigger.block_id, name, block->m2s, block->s2m, kMaxBroadcastValue);
    }
    triggers_.push_back(index_);
    auto write = isa::zero_record<isa::WriteRecord>(isa::kOpWrite);
    write.h = trigger.h;
    write.h.opcode = isa::kOpWrite;
    write.size0 = 4;
    const std::uint32_t q = queue->hardware_queue;
    const std::uint64_t m2s = at_.broadcast(q, QueueAddresses::kM2s, NRTP_QREG_TAIL_INC);
    if (queue->is_io()) {
      write.size1 = 4;
      write.address0 = at_.broadcast(q, QueueAddresses::kS2m, NRTP_QREG_TAIL_INC);
      write.data0 = block->s2m;
      write.address1 = m2s;
      write.data1 = block->m2s;
    } else {
      write.address0 = m2s;
      write.data0 = block->m2s;
    }
    out_.append(write);
    return Status::ok();
  }

  // Rendezvous of the two cores of a logical core, in the form of the runtime's
  // own at the start of a run: raise the peer's semaphore, wait for the peer's
  // raise and take it back. The wait of the source comes first, its update last.
  Status lower_core_barrier() {
    const auto barrier = isa::load_record<isa::CoreBarrierRecord>(record_.data());
    if (in_.lnc_size < 2) {
      return Status::invalid("{}: {} needs a program on two physical cores, this one has one",
                             place(index_), pseudo_name(opcode()));
    }
    if (barrier.semaphore < arch_.sync->id[NRTP_SYNC_RESERVED_SEMAPHORES] ||
        barrier.semaphore >= arch_.geometry->semaphores) {
      return Status::invalid("{}: {} uses semaphore {}; programs have {} to {}", place(index_),
                             pseudo_name(opcode()), barrier.semaphore,
                             arch_.sync->id[NRTP_SYNC_RESERVED_SEMAPHORES],
                             arch_.geometry->semaphores - 1);
    }
    const auto semaphore = static_cast<std::uint8_t>(barrier.semaphore);
    auto arrive = isa::zero_record<isa::WriteRecord>(isa::kOpWrite);
    arrive.h = barrier.h;
    arrive.h.opcode = isa::kOpWrite;
    arrive.h.update_mode = isa::kUpdateNone;
    arrive.h.update_index = 0;
    arrive.size0 = 4;
    arrive.address0 =
        arch_.address->sem_addr(in_.product, in_.peer_core, barrier.semaphore, NRTP_SEM_INC);
    arrive.data0 = 1;
    if (arrive.address0 == UINT64_MAX) {
      return Status::failure("{}: arch {} has no window for semaphore {} of core {}", place(index_),
                             arch_.name, barrier.semaphore, in_.peer_core);
    }
    out_.append(arrive);
    out_.semaphore(semaphore, isa::kWaitSemGe, 1, isa::kUpdateSemDec, 1);
    if (barrier.h.update_mode == isa::kUpdateNone) return Status::ok();
    auto passed = isa::zero_record<isa::ControlRecord>(isa::kOpNop);
    passed.h.update_mode = barrier.h.update_mode;
    passed.h.update_index = barrier.h.update_index;
    const bool has_operand = barrier.h.update_mode == isa::kUpdateSemAdd ||
                             barrier.h.update_mode == isa::kUpdateSemSub ||
                             barrier.h.update_mode == isa::kUpdateSemWrite;
    if (has_operand) passed.h.value = barrier.h.value;
    out_.append(passed);
    return Status::ok();
  }

  Status note_branch() {
    const auto branch = isa::load_record<isa::CompareBranchRecord>(record_.data());
    if (branch.target_mode != isa::kTargetRelative) {
      return Status::invalid(
          "{}: COMPARE_BRANCH with target mode {} is not supported; relative "
          "targets (mode {}) are",
          place(index_), branch.target_mode, int{isa::kTargetRelative});
    }
    const std::int64_t target = static_cast<std::int64_t>(index_ * kRecordBytes) + branch.offset;
    if (target < 0 || target > static_cast<std::int64_t>(stream_.size()) ||
        target % static_cast<std::int64_t>(kRecordBytes) != 0) {
      return Status::invalid(
          "{}: COMPARE_BRANCH target at byte {} lies outside the stream of {} "
          "bytes or inside an instruction",
          place(index_), target, stream_.size());
    }
    branches_.push_back({index_, static_cast<std::size_t>(target) / kRecordBytes});
    return Status::ok();
  }

  // Lowering changes distances; a branch may not skip or repeat a trigger,
  // since each one releases exactly the next block.
  Status retarget_branches() {
    for (const auto& [from, to] : branches_) {
      const auto [first, last] = std::minmax(from, to);
      const auto crossed = std::lower_bound(triggers_.begin(), triggers_.end(), first);
      if (crossed != triggers_.end() && *crossed < last) {
        return Status::invalid(
            "{}: COMPARE_BRANCH across the DMA trigger of record {} is not "
            "supported by this release",
            place(from), *crossed);
      }
      out_.set_target(slot_of_[from], slot_of_[to]);
    }
    return Status::ok();
  }

  struct Branch {
    std::size_t from, to;
  };

  const ImageInputs& in_;
  const nrtp_arch_plugin& arch_;
  const nrtp_ib_env& env_;
  TriggerLedger& ledger_;
  RecordBuilder out_;
  std::vector<Patch>& patches_;
  QueueAddresses at_;
  std::span<const std::byte> stream_;
  std::size_t index_ = 0;
  std::array<std::uint8_t, kRecordBytes> record_{};
  std::vector<std::uint32_t> slot_of_;  // source record -> slot; one past the end included
  std::vector<std::size_t> triggers_;
  std::vector<Branch> branches_;
};

}  // namespace

std::optional<std::string> TriggerLedger::take(std::size_t queue, std::size_t position,
                                               std::uint32_t engine) {
  if (engine_[queue] && *engine_[queue] != engine) {
    return fmt::format("comes from {} while {} triggers the set; one engine must do it",
                       engine_text(engine), engine_text(*engine_[queue]));
  }
  if (position != next_[queue]) {
    return fmt::format("is out of order: the set's block at position {} is next", next_[queue]);
  }
  engine_[queue] = engine;
  ++next_[queue];
  return std::nullopt;
}

Status append_main(const CorePlan& plan, const nrtp_ib_env& env, TriggerLedger& ledger,
                   std::vector<std::uint8_t>& bytes, std::vector<Patch>& patches) {
  return StreamLowering(plan, env, ledger, bytes, patches).run();
}

}  // namespace opennrt::tdrv::image
