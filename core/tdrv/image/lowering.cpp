// SPDX-License-Identifier: Apache-2.0
#include "tdrv/image/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "tdrv/image/function_table.h"
#include "tdrv/image/pseudo_records.h"
#include "tdrv/image/variable_records.h"

namespace opennrt::tdrv::image {

namespace {

using isa::kRecordBytes;

constexpr std::uint8_t kFirstPseudo = 0xC0, kLastPseudo = 0xDF;
constexpr std::size_t kMaxLoweredRecords = 16;  // of one pseudo-instruction

bool is_pseudo(std::uint8_t opcode) { return opcode >= kFirstPseudo && opcode <= kLastPseudo; }

}  // namespace

// The lowering of one stream.
class StreamLowering {
 public:
  StreamLowering(const CorePlan& plan, const nrtp_ib_env& env, TriggerLedger& ledger, Image& image)
      : in_(*plan.inputs),
        arch_(*plan.inputs->arch),
        env_(env),
        ledger_(ledger),
        out_(image.bytes),
        image_(image),
        patches_(image.patches),
        at_(*plan.inputs),
        stream_(plan.inputs->subgraph->streams[env.engine]) {}

  Status append_main() {
    if (stream_.size() % kRecordBytes != 0) {
      return Status::invalid("{}: {} bytes are no whole number of {}-byte instructions", member(),
                             stream_.size(), kRecordBytes);
    }
    records_ = stream_.size() / kRecordBytes;
    slot_of_.resize(records_);
    ONRT_ASSIGN(functions_,
                read_functions(stream_, [this](std::size_t index) { return place(index); }));
    main_end_ = functions_.main_records;
    ONRT_TRY(lower_range(0, main_end_));
    main_end_slot_ = out_.slot();
    return Status::ok();
  }

  Status append_functions(std::uint32_t postamble_slot) {
    section_ = Section::kFunction;
    for (const Function& function : functions_.list) {
      function_ = &function;
      slot_of_[function.begin] = out_.slot();
      // FUNCTION_BEGIN leaves no record.
      patches_.push_back({out_.offset(), 1, PatchType::kDelete, section_});
      ONRT_TRY(lower_range(function.begin + 1, function.end));
    }
    function_ = nullptr;
    for (const std::uint32_t slot : exits_) out_.set_target(slot, postamble_slot);
    resolve_calls();
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

  Status lower_range(std::size_t first, std::size_t last) {
    for (index_ = first; index_ < last; ++index_) {
      slot_of_[index_] = out_.slot();
      std::memcpy(record_.data(), stream_.data() + index_ * kRecordBytes, kRecordBytes);
      ONRT_TRY(lower_record());
    }
    return Status::ok();
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
          ONRT_TRY(lower_other());
      }
    }
    const std::uint32_t slots = (out_.offset() - start) / static_cast<std::uint32_t>(kRecordBytes);
    if (slots == 0) {
      patches_.push_back({start, 1, PatchType::kDelete, section_});
    } else if (slots > 1) {
      patches_.push_back({start, slots - 1, PatchType::kInsert, section_});
    }
    if (skip_next_) {
      // An extension went into the record before it.
      skip_next_ = false;
      slot_of_[++index_] = out_.slot();
      patches_.push_back({out_.offset(), 1, PatchType::kDelete, section_});
    }
    return Status::ok();
  }

  Status lower_other() {
    Status status = Status::ok();
    switch (opcode()) {
      case isa::kOpPseudoDmaDirect2d:
        status = lower_generated_dma();
        break;
      case kOpPseudoTensorLoad:
      case kOpPseudoTensorStore:
        status = lower_variable_mem(in_, isa::load_record<VariableMemRecord>(record_.data()), out_);
        break;
      case kOpPseudoDmaRearm:
        status = lower_rearm();
        break;
      case kOpPseudoFunctionCall:
        status = lower_call();
        break;
      case kOpPseudoFunctionReturn:
        status = lower_return();
        break;
      case kOpPseudoPrefetchHint:
        keep_events();  // nothing is left of a hint but its events
        break;
      case kOpPseudoInst:
        status = lower_exit();
        break;
      case kOpPseudoExtension:
        status = Status::invalid("follows no record that it extends");
        break;
      default:
        status = Status::invalid("is not supported by this release");
        break;
    }
    if (status.is_ok()) return status;
    return std::move(status).with_context(
        fmt::format("{}: {} ({:#04x})", place(index_), pseudo_name(opcode()), opcode()));
  }

  Status lower_generated_dma() {
    const auto record = isa::load_record<Direct2dRecord>(record_.data());
    const std::size_t limit = function_ != nullptr ? function_->end : main_end_;
    const std::size_t next = index_ + 1;
    if (next < limit &&
        std::to_integer<std::uint8_t>(stream_[next * kRecordBytes]) == kOpPseudoExtension) {
      const auto extension =
          isa::load_record<ExtensionRecord>(stream_.data() + next * kRecordBytes);
      if (extension.h.wait_mode != isa::kWaitNone || extension.h.update_mode != isa::kUpdateNone) {
        return Status::invalid("the PSEUDO_EXTENSION behind it has a wait or an update");
      }
      skip_next_ = true;
      return lower_direct2d(in_, env_.engine, record, &extension, out_);
    }
    return lower_direct2d(in_, env_.engine, record, nullptr, out_);
  }

  // A NOP for the waits and updates of a record of which nothing else is left.
  void keep_events() {
    const auto header = isa::load_record<isa::ControlRecord>(record_.data()).h;
    if (header.wait_mode == isa::kWaitNone && header.update_mode == isa::kUpdateNone) return;
    out_.append(isa::zero_record<isa::ControlRecord>(isa::kOpNop));
    out_.take_events(out_.slot() - 1, header);
  }

  // The set's rings run again from their first block: a queue reset, as between
  // two runs.
  Status lower_rearm() {
    const auto record = isa::load_record<QueueNameRecord>(record_.data());
    const std::string_view name(record.queue, ::strnlen(record.queue, sizeof record.queue));
    const auto queue = std::find_if(in_.queues.begin(), in_.queues.end(),
                                    [&](const QueuePlacement& q) { return q.set->name == name; });
    if (queue == in_.queues.end()) {
      return Status::invalid("names queue set '{}', which {} does not define", name,
                             in_.subgraph->name);
    }
    if (queue->set->type == neff::QueueType::kDynamic) {
      return Status::invalid("queue set '{}' is dynamic; it has no blocks to run again", name);
    }
    if (function_ != nullptr) return Status::invalid("is not supported inside a function");
    const auto refusal =
        ledger_.rearm(static_cast<std::size_t>(queue - in_.queues.begin()), env_.engine);
    if (refusal) return Status::invalid("of queue set '{}' {}", name, *refusal);
    triggers_.push_back(index_);
    keep_wait(record.h);
    append_queue_reset(out_, at_, *queue);
    keep_update(record.h);
    return Status::ok();
  }

  // One record becomes several: its wait comes first, its update last.
  void keep_wait(isa::Header header) {
    if (header.wait_mode == isa::kWaitNone) return;
    header.update_mode = header.update_index = 0;
    out_.append(isa::zero_record<isa::ControlRecord>(isa::kOpNop));
    out_.take_events(out_.slot() - 1, header);
  }
  void keep_update(isa::Header header) {
    if (header.update_mode == isa::kUpdateNone) return;
    // The value belongs to the wait unless the update needs an operand.
    if (header.wait_mode != isa::kWaitNone) header.value = 0;
    header.wait_mode = header.wait_index = 0;
    out_.append(isa::zero_record<isa::ControlRecord>(isa::kOpNop));
    out_.take_events(out_.slot() - 1, header);
  }

  // Return address to the callee's registers, then the branch.
  Status lower_call() {
    const auto call = isa::load_record<FunctionCallRecord>(record_.data());
    const std::string_view name(call.name, ::strnlen(call.name, sizeof call.name));
    const Function* callee = functions_.find(name);
    if (callee == nullptr) {
      return Status::invalid("names function '{}', which the stream does not define", name);
    }
    if (call.args_table_var != 0) {
      const auto& variables = in_.subgraph->variables;
      if (call.args_table_var >= variables.size() ||
          variables[call.args_table_var].type != neff::VariableType::kDgeTable) {
        return Status::invalid("argument table variable {} is no dge-table of {}",
                               call.args_table_var, in_.subgraph->name);
      }
    }
    calls_.push_back({out_.slot(), static_cast<std::size_t>(callee - functions_.list.data())});
    out_.append(move_record(callee->return_lo, 0));
    out_.append(move_record(callee->return_hi, 0));
    out_.take_events(out_.branch_always(), call.h);
    return Status::ok();
  }

  Status lower_return() {
    if (function_ == nullptr) return Status::invalid("stands outside a function");
    out_.branch_register(function_->return_lo, function_->return_hi);
    out_.take_events(out_.slot() - 1, isa::load_record<isa::ControlRecord>(record_.data()).h);
    return Status::ok();
  }

  Status lower_exit() {
    const auto record = isa::load_record<PseudoInstRecord>(record_.data());
    if (record.code != kPseudoInstExit) {
      return Status::invalid("code {} is not supported by this release; {} (exit) is", record.code,
                             int{kPseudoInstExit});
    }
    exits_.push_back(out_.branch_always());
    out_.take_events(exits_.back(), record.h);
    return Status::ok();
  }

  void resolve_calls() {
    constexpr auto kData = static_cast<std::uint32_t>(offsetof(MoveRecord, data));
    constexpr auto kBytes = static_cast<std::uint32_t>(kRecordBytes);
    for (const Call& call : calls_) {
      const std::uint32_t branch = call.slot + 2, back = (branch + 1) * kBytes;
      out_.set_target(branch, slot_of_[functions_.list[call.function].begin]);
      image_.relocations.push_back({call.slot * kBytes + kData, back, false});
      image_.relocations.push_back({(call.slot + 1) * kBytes + kData, back, true});
    }
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
    if (function_ != nullptr) {
      return Status::invalid(
          "{}: {} of queue set '{}' inside function '{}': its rings would run once only, which is "
          "not supported by this release",
          place(index_), pseudo_name(opcode()), name, function_->name);
    }
    // Blocks lie in ascending order of their ids.
    const auto block =
        std::lower_bound(queue->blocks.begin(), queue->blocks.end(), trigger.block_id,
                         [](const BlockCounts& b, std::uint32_t id) { return b.block_id < id; });
    if (block == queue->blocks.end() || block->block_id != trigger.block_id) {
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
    const std::size_t to = static_cast<std::size_t>(target) / kRecordBytes;
    // The first record behind MAIN is the POSTAMBLE; nothing lies behind a function.
    const std::size_t first = function_ != nullptr ? function_->begin + 1 : 0;
    const std::size_t last = function_ != nullptr ? function_->end - 1 : main_end_;
    if (to < first || to > last) {
      return Status::invalid(
          "{}: COMPARE_BRANCH to record {} leaves {}, records {} to {}", place(index_), to,
          function_ != nullptr ? fmt::format("function '{}'", function_->name) : "the main program",
          first, last);
    }
    branches_.push_back({index_, to, out_.slot(), function_ == nullptr && to == main_end_});
    return Status::ok();
  }

  // Lowering changes distances; a branch may not skip or repeat a trigger,
  // since each one releases exactly the next block.
  Status retarget_branches() {
    for (const auto& [from, to, slot, to_end] : branches_) {
      const auto [first, last] = std::minmax(from, to);
      const auto crossed = std::lower_bound(triggers_.begin(), triggers_.end(), first);
      if (crossed != triggers_.end() && *crossed < last) {
        return Status::invalid(
            "{}: COMPARE_BRANCH across the DMA trigger of record {} is not "
            "supported by this release",
            place(from), *crossed);
      }
      out_.set_target(slot, to_end ? main_end_slot_ : slot_of_[to]);
    }
    return Status::ok();
  }

  struct Branch {
    std::size_t from, to;  // records
    std::uint32_t slot;
    bool to_end;  // of MAIN
  };
  struct Call {
    std::uint32_t slot;  // of the first of its three records
    std::size_t function;
  };

  const ImageInputs& in_;
  const nrtp_arch_plugin& arch_;
  const nrtp_ib_env& env_;
  TriggerLedger& ledger_;
  RecordBuilder out_;
  Image& image_;
  std::vector<Patch>& patches_;
  QueueAddresses at_;
  std::span<const std::byte> stream_;
  std::size_t index_ = 0;
  std::array<std::uint8_t, kRecordBytes> record_{};
  std::size_t records_ = 0, main_end_ = 0;  // records of the stream and of MAIN
  Section section_ = Section::kMain;
  const Function* function_ = nullptr;  // being lowered
  bool skip_next_ = false;              // the next record was consumed
  FunctionTable functions_;
  std::vector<Call> calls_;
  std::vector<std::uint32_t> exits_;    // branches to POSTAMBLE
  std::vector<std::uint32_t> slot_of_;  // source record -> slot
  std::uint32_t main_end_slot_ = 0;
  std::vector<std::size_t> triggers_;
  std::vector<Branch> branches_;
};

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

std::optional<std::string> TriggerLedger::rearm(std::size_t queue, std::uint32_t engine) {
  if (engine_[queue] && *engine_[queue] != engine) {
    return fmt::format("comes from {} while {} triggers the set; one engine must do it",
                       engine_text(engine), engine_text(*engine_[queue]));
  }
  engine_[queue] = engine;
  next_[queue] = 0;
  return std::nullopt;
}

void StreamLoweringDeleter::operator()(StreamLowering* lowering) const { delete lowering; }

StreamLoweringPtr make_lowering(const CorePlan& plan, const nrtp_ib_env& env, TriggerLedger& ledger,
                                Image& image) {
  return StreamLoweringPtr(new StreamLowering(plan, env, ledger, image));
}

Status append_main(StreamLowering& lowering) { return lowering.append_main(); }

Status append_functions(StreamLowering& lowering, std::uint32_t postamble_slot) {
  return lowering.append_functions(postamble_slot);
}

}  // namespace opennrt::tdrv::image
