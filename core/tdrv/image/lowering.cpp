// SPDX-License-Identifier: Apache-2.0
#include "tdrv/image/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "opennrt/isa/layouts.h"
#include "opennrt/isa/support.h"
#include "tdrv/image/function_table.h"
#include "tdrv/image/pseudo_records.h"
#include "tdrv/image/sequencing_records.h"
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
    namespace layout = isa::layout;
    if (opcode() == isa::op::DMAMEMCPY) {
      progress_.started(layout::DMA_DIRECT2D::semaphore(record_.data()),
                        layout::DMA_DIRECT2D::sem_increment(record_.data()));
    } else if (opcode() == isa::op::DMA_INDIRECT) {
      progress_.started(layout::DMA_INDIRECT1D::semaphore(record_.data()),
                        layout::DMA_INDIRECT1D::sem_increment(record_.data()));
    }
    out_.append_bytes(record_);
    return Status::ok();
  }

  Status lower_pseudo() {
    const std::uint32_t start = out_.offset();
    auto& readings = image_.readings;
    if (isa::device_reading(opcode()) != nullptr &&
        std::find(readings.begin(), readings.end(), opcode()) == readings.end()) {
      readings.push_back(opcode());
    }
    bool lowered = false;
    ONRT_TRY(lower_by_arch(lowered));
    if (!lowered) {
      switch (opcode()) {
        case isa::kOpPseudoDmaTrigger:
          ONRT_TRY(lower_dma_trigger());
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
      case isa::kOpPseudoCoreBarrier:
        status =
            lower_core_barrier(in_, isa::load_record<isa::CoreBarrierRecord>(record_.data()), out_);
        break;
      case kOpPseudoDmaRearm:
        status = lower_rearm();
        break;
      case kOpPseudoDmaBarrier:
        status = lower_dma_barrier();
        break;
      case kOpPseudoSyncBarrier:
        status = lower_sync_barrier();
        break;
      case kOpPseudoSwapQueueSet:
        status = lower_swap();
        break;
      case kOpPseudoLoadActFuncSet:
        status = lower_act_func_set(in_, env_.engine,
                                    isa::load_record<ActFuncSetRecord>(record_.data()), out_);
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
      progress_.started(record.semaphore, record.increment);
      return lower_direct2d(in_, env_.engine, record, &extension, out_);
    }
    progress_.started(record.semaphore, record.increment);
    return lower_direct2d(in_, env_.engine, record, nullptr, out_);
  }

  isa::Header header() const { return isa::load_record<isa::ControlRecord>(record_.data()).h; }

  // A NOP for the waits and updates of a record of which nothing else is left.
  void keep_events() {
    if (header().wait_mode == isa::kWaitNone && header().update_mode == isa::kUpdateNone) return;
    out_.append(isa::zero_record<isa::ControlRecord>(isa::kOpNop));
    out_.take_events(out_.slot() - 1, header());
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
    const auto queue_index = static_cast<std::size_t>(queue - in_.queues.begin());
    const auto refusal = ledger_.rearm(queue_index, env_.engine);
    if (refusal) return Status::invalid("of queue set '{}' {}", name, *refusal);
    triggers_.push_back(index_);
    append_wait_of(record.h, out_);
    append_queue_reset(out_, at_, *queue, ledger_.instance(queue_index));
    append_update_of(record.h, out_);
    return Status::ok();
  }

  // The rings of another instance take the queue, between DRAINs of the engine:
  // the program has waited for the DMA of the one before.
  Status lower_swap() {
    const auto record = isa::load_record<SwapQueueSetRecord>(record_.data());
    ONRT_ASSIGN(const QueueName target, swapped_instance(in_, record));
    const QueuePlacement& queue = in_.queues[target.queue];
    if (function_ != nullptr) return Status::invalid("is not supported inside a function");
    const auto refusal = ledger_.swap(target.queue, *target.instance, env_.engine);
    if (refusal) return Status::invalid("of queue set '{}' {}", queue.set->name, *refusal);
    triggers_.push_back(index_);
    append_wait_of(record.h, out_);
    out_.drain();
    append_queue_setup(out_, at_, arch_.geometry->dma_per_core, queue, *target.instance);
    out_.drain();
    append_update_of(record.h, out_);
    return Status::ok();
  }

  Status check_plain() const {
    const auto bad = std::find_if(record_.begin() + sizeof(isa::Header), record_.end(),
                                  [](std::uint8_t b) { return b != 0; });
    if (bad != record_.end()) {
      return Status::invalid("byte {} is {:#04x}, no field is known there", bad - record_.begin(),
                             *bad);
    }
    if (function_ != nullptr) return Status::invalid("is not supported inside a function");
    return Status::ok();
  }

  Status lower_sync_barrier() {
    ONRT_TRY(check_plain());
    ledger_.add_barrier(env_.engine);
    append_wait_of(header(), out_);
    append_engine_barrier(out_, arch_, env_.engine, 0);
    append_update_of(header(), out_);
    return Status::ok();
  }

  Status lower_dma_barrier() {
    ONRT_TRY(check_plain());
    if (!dma_barrier_) dma_barrier_ = index_;
    append_wait_of(header(), out_);
    ONRT_TRY(progress_.append_waits(in_, env_.engine, out_));
    append_update_of(header(), out_);
    return Status::ok();
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
    const auto found = find_queue_name(in_, name);
    if (!found) {
      return Status::invalid("{}: {} names queue set '{}', which {} does not define", place(index_),
                             pseudo_name(opcode()), name, in_.subgraph->name);
    }
    const QueuePlacement& queue = in_.queues[found->queue];
    const std::size_t active = ledger_.instance(found->queue);
    if (found->instance && *found->instance != active && !queue.more.empty()) {
      return Status::invalid("{}: {} names queue instance '{}' while '{}' is active", place(index_),
                             pseudo_name(opcode()), name, queue.set->instances[active]);
    }
    const RingPlacement& rings = queue.instance(active);
    if (function_ != nullptr) {
      return Status::invalid(
          "{}: {} of queue set '{}' inside function '{}': its rings would run once only, which is "
          "not supported by this release",
          place(index_), pseudo_name(opcode()), name, function_->name);
    }
    // Blocks lie in ascending order of their ids.
    const auto block =
        std::lower_bound(rings.blocks.begin(), rings.blocks.end(), trigger.block_id,
                         [](const BlockCounts& b, std::uint32_t id) { return b.block_id < id; });
    if (block == rings.blocks.end() || block->block_id != trigger.block_id) {
      return Status::invalid("{}: queue set '{}' has no block {}", place(index_), name,
                             trigger.block_id);
    }
    const auto refusal = ledger_.take(
        found->queue, static_cast<std::size_t>(block - rings.blocks.begin()), env_.engine);
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
    note_started(queue, active, trigger.block_id);
    auto write = isa::zero_record<isa::WriteRecord>(isa::kOpWrite);
    write.h = trigger.h;
    write.h.opcode = isa::kOpWrite;
    write.size0 = 4;
    const std::uint32_t q = queue.hardware_queue;
    const std::uint64_t m2s = at_.broadcast(q, QueueAddresses::kM2s, NRTP_QREG_TAIL_INC);
    if (queue.is_io()) {
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

  // What completion of the block adds to its semaphore: 1 per ring.
  void note_started(const QueuePlacement& queue, std::size_t instance, std::uint32_t id) {
    const neff::QueueSet& set = *queue.set;
    const auto block = std::find_if(set.blocks.begin(), set.blocks.end(), [&](const auto& b) {
      return b.id == id && (queue.more.empty() || b.instance_name == set.instances[instance]);
    });
    if (block != set.blocks.end() && block->semaphore) {
      progress_.started(*block->semaphore, set.num_queues);
    } else {
      progress_.started_unseen(fmt::format("block {} of queue set '{}'", id, set.name));
    }
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
    if (dma_barrier_ && (!branches_.empty() || !calls_.empty())) {
      return Status::invalid(
          "{}: {} in a stream with {}: how often the DMA before it runs is not known when loading",
          place(*dma_barrier_), pseudo_name(kOpPseudoDmaBarrier),
          branches_.empty() ? "function calls" : "branches");
    }
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
  DmaProgress progress_;
  std::optional<std::size_t> dma_barrier_;  // the first one
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

std::optional<std::string> TriggerLedger::swap(std::size_t queue, std::size_t instance,
                                               std::uint32_t engine) {
  const auto refusal = rearm(queue, engine);
  if (!refusal) instance_[queue] = instance;
  return refusal;
}

Status TriggerLedger::check_barriers(std::uint32_t engines) const {
  const auto end = barriers_.begin() + engines;
  const auto least = std::min_element(barriers_.begin(), end);
  const auto most = std::max_element(barriers_.begin(), end);
  if (*least == *most) return Status::ok();
  return Status::invalid(
      "{} meets the others in {} of its PSEUDO_SYNC_BARRIER, {} in {}: all engines must have the "
      "same number",
      engine_text(static_cast<std::uint32_t>(most - barriers_.begin())), *most,
      engine_text(static_cast<std::uint32_t>(least - barriers_.begin())), *least);
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
