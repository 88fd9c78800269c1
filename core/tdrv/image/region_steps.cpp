// SPDX-License-Identifier: Apache-2.0
#include "tdrv/image/region_steps.h"

#include <algorithm>
#include <array>

namespace opennrt::tdrv::image {

namespace {

constexpr std::uint32_t kPe = NRTP_ENGINE_PE;
constexpr std::uint32_t kAct = NRTP_ENGINE_ACT;
constexpr std::uint32_t kDve = NRTP_ENGINE_DVE;
constexpr std::uint8_t kRuntimeOrdering = 1;
constexpr std::uint32_t kRequestDescriptors = 2;  // the request and its event
constexpr std::uint32_t kStartControlRun = 1;

// General registers of the runtime parts.
constexpr std::uint8_t kRegSwitch = 0, kRegTargetLo = 1, kRegTargetHi = 2, kRegReload = 3,
                       kRegTables = 4;

constexpr std::size_t kStepBytes = 64 * 1024;  // enough for one step of a plugin

}  // namespace

const char* engine_text(std::uint32_t engine) {
  constexpr const char* kNames[] = {"PE", "ACT", "POOL", "DVE", "SP"};
  return engine < std::size(kNames) ? kNames[engine] : "?";
}

void append_engine_barrier(RecordBuilder& out, const nrtp_arch_plugin& arch, std::uint32_t engine,
                           std::uint8_t drain_count) {
  const std::uint8_t sem = arch.sync->id[NRTP_SYNC_SYNC_BARRIER];
  out.drain(drain_count);
  // The engines pass the barrier semaphore from the first to the last and back;
  // every arrow is one record. The last write returns it to 0.
  const std::uint32_t last = 2 * (program_engines(arch) - 1);
  for (std::uint32_t value = 0; value <= last && last != 0; ++value) {
    if (std::min(value, last - value) != engine) continue;
    if (value == 0) {
      out.semaphore(sem, isa::kWaitNone, 0, isa::kUpdateSemAdd, 1);
    } else if (value == last) {
      out.semaphore(sem, isa::kWaitSemEq, value, isa::kUpdateSemWrite, 0);
    } else {
      out.semaphore(sem, isa::kWaitSemEq, value, isa::kUpdateSemInc, 1);
    }
  }
  out.drain();
}

RegionWriter::RegionWriter(const CorePlan& plan, std::uint32_t engine,
                           std::vector<std::uint8_t>& bytes)
    : plan_(plan),
      in_(*plan.inputs),
      arch_(*plan.inputs->arch),
      engine_(engine),
      out_(bytes),
      at_(*plan.inputs),
      env_(plan.env) {
  env_.engine = engine;
  // Every engine resets its share of the semaphores that belong to programs.
  const std::uint32_t first = arch_.sync->id[NRTP_SYNC_RESERVED_SEMAPHORES];
  const std::uint32_t count = arch_.geometry->semaphores - first;
  const std::uint32_t engines = program_engines(arch_);
  const std::uint32_t share = (count + engines - 1) / engines;
  env_.sem_first = first + engine * share;
  env_.sem_last = std::min(env_.sem_first + share, arch_.geometry->semaphores) - 1;
}

std::uint8_t RegionWriter::sync_id(std::uint32_t entry) const { return arch_.sync->id[entry]; }

std::uint64_t RegionWriter::request(std::uint32_t offset) const { return in_.request_pa + offset; }

const TableRing& RegionWriter::table_ring() const {
  static constexpr TableRing kNone{};
  return engine_ == kDve ? in_.dve : engine_ == kAct ? in_.act : kNone;
}

Status RegionWriter::append_preamble(std::vector<Patch>& patches) {
  return append_rows(preamble_rows(), Section::kPreamble, patches);
}

Status RegionWriter::append_postamble(std::vector<Patch>& patches) {
  return append_rows(postamble_rows(), Section::kPostamble, patches);
}

Status RegionWriter::append_rows(std::span<const Row> rows, Section section,
                                 std::vector<Patch>& patches) {
  std::uint32_t patch_start = out_.offset();
  const auto close_patch = [&] {
    const std::uint32_t bytes = out_.offset() - patch_start;
    if (bytes != 0) {
      patches.push_back({.offset = patch_start,
                         .slots = bytes / static_cast<std::uint32_t>(isa::kRecordBytes),
                         .type = PatchType::kInsert,
                         .section = section});
    }
    patch_start = out_.offset();
  };
  for (const Row& row : rows) {
    if ((row.forms & plan_.form->bit) == 0) continue;
    if (row.starts_patch && plan_.form->split_patches) close_patch();
    ONRT_TRY(append(row.step));
  }
  close_patch();
  return Status::ok();
}

Status RegionWriter::append(Step step) {
  const auto land = [this](std::vector<std::uint32_t>& branches) {
    for (const std::uint32_t slot : branches) out_.set_target(slot, out_.slot());
    branches.clear();
  };
  switch (step) {
    case Step::kNotifySwitchStart:
      out_.notify(isa::kNotifyModelSwitchStart);
      break;
    case Step::kOrder:
      out_.order(kRuntimeOrdering);
      break;
    case Step::kQueueSetup:
      return append_queue_sets(true);
    case Step::kTableRing:
      return append_table_ring();
    case Step::kReloadTest:
    case Step::kClearTest:
      out_.load(request(kRequestReload), kRegReload);
      pending_.push_back(out_.branch_if_zero(kRegReload));
      break;
    case Step::kNxSetup:
      ONRT_TRY(append_arch_step(NRTP_STEP_NX_SETUP));
      return append_arch_step(NRTP_STEP_MODEL_CONFIG);
    case Step::kBarrier:
      append_barrier(0);
      break;
    case Step::kBarrierAfterMain:
      append_barrier(1);
      break;
    case Step::kReload:
      // In the gate the test skips the clear writes only, never the reload.
      if (gate_slot_ != 0) land(pending_);
      out_.write(
          {arch_.address->nx_device(in_.product, in_.core, engine_) + arch_.ib->nx_start_ctrl,
           kStartControlRun});
      out_.halt();
      break;
    case Step::kReloadSkipped:
      land(pending_);
      break;
    case Step::kRoundMode:
      return append_arch_step(NRTP_STEP_ROUND_MODE);
    case Step::kLibraryLoad:
      return append_arch_step(NRTP_STEP_LIBRARY_LOAD);
    case Step::kTableWait:
      if (table_ring().present) {
        out_.nop_wait_event(
            sync_id(engine_ == kDve ? NRTP_SYNC_DVE_TABLES_LOAD : NRTP_SYNC_ACT_TABLES_LOAD));
      }
      break;
    case Step::kNotifySwitchEnd:
      out_.notify(isa::kNotifyModelSwitchEnd);
      break;
    case Step::kBranchToStart:
      to_start_.push_back(out_.branch_always());
      break;
    case Step::kGateEntry:
      gate_slot_ = out_.slot();
      break;
    case Step::kGateWait:
      append_gate_wait();
      break;
    case Step::kSwitchTest:
      out_.load(request(kRequestSwitch), kRegSwitch);
      if (engine_ != kPe) out_.drain();
      to_start_.push_back(out_.branch_if_zero(kRegSwitch));
      break;
    case Step::kLoadTarget:
      out_.load(request(request_address_lo(*plan_.form, engine_)), kRegTargetLo);
      out_.load(request(request_address_hi(*plan_.form, engine_)), kRegTargetHi);
      break;
    case Step::kLibraryClear:
      return append_arch_step(NRTP_STEP_LIBRARY_CLEAR);
    case Step::kNxClear:
      return append_arch_step(NRTP_STEP_NX_CLEAR);
    case Step::kBranchToTarget:
      out_.branch_register(kRegTargetLo, kRegTargetHi);
      break;
    case Step::kStart:
      land(to_start_);
      out_.notify(isa::kNotifyStart);
      break;
    case Step::kIoSwitch:
      if (engine_ == kPe) {
        append_doorbell(out_, at_, plan_.exec, plan_.io_count);
        out_.nop_wait_event(sync_id(NRTP_SYNC_IOQ_CODE_SWITCH));
      }
      break;
    case Step::kArgumentTable:
      if (plan_.has_argument_table) {
        out_.load_pair(in_.argument_table_pa, isa::kRegArgTableLo, isa::kRegArgTableHi);
      }
      break;
    case Step::kPeerBarrier:
      if (in_.lnc_size < 2) break;
      if (engine_ == kPe) {
        const std::uint8_t sem = sync_id(NRTP_SYNC_CORE_BARRIER);
        out_.write({arch_.address->sem_addr(in_.product, in_.peer_core, sem, NRTP_SEM_INC), 1});
        out_.semaphore(sem, isa::kWaitSemGe, 1, isa::kUpdateSemDec, 1);
      }
      append_barrier(0);
      break;
    case Step::kBoundCheck:
      return append_arch_step(NRTP_STEP_BOUND_CHECK);
    case Step::kSemaphoreReset:
      return append_arch_step(NRTP_STEP_SEM_RESET);
    case Step::kQueueReset:
      return append_queue_sets(false);
    case Step::kNotifyEnd:
      out_.notify(isa::kNotifyEnd);
      break;
    case Step::kBranchToGate:
      out_.set_target(out_.branch_always(), gate_slot_);
      break;
  }
  return Status::ok();
}

void RegionWriter::append_barrier(std::uint8_t drain_count) {
  append_engine_barrier(out_, arch_, engine_, drain_count);
}

Status RegionWriter::append_queue_sets(bool setup) {
  for (const QueuePlacement& queue : in_.queues) {
    if (queue.set->type == neff::QueueType::kDynamic) continue;  // programmed by its generator
    if (static_cast<std::uint32_t>(*queue.set->owner) != engine_) continue;
    // Between runs, a set with several instances returns to its first.
    if (setup || !queue.more.empty()) {
      append_queue_setup(out_, at_, arch_.geometry->dma_per_core, queue);
    } else {
      append_queue_reset(out_, at_, queue);
    }
  }
  return Status::ok();
}

Status RegionWriter::append_table_ring() {
  const TableRing& ring = table_ring();
  if (!ring.present) return Status::ok();
  const bool dve = engine_ == kDve;
  nrtp_dma_slot slot{};
  if (arch_.dma->runtime_ring(in_.product, in_.core,
                              dve ? NRTP_RING_DVE_TABLES : NRTP_RING_ACT_TABLES,
                              &slot) != NRTP_OK) {
    return Status::failure("arch {} names no DMA ring for the {} tables of core {}", arch_.name,
                           engine_text(engine_), in_.core);
  }
  std::uint32_t index = 0;
  while (index < arch_.geometry->dma_per_core &&
         arch_.dma->core_engine(in_.product, in_.core, index) != slot.engine) {
    ++index;
  }
  if (index == arch_.geometry->dma_per_core) {
    return Status::failure("arch {}: DMA engine {} of the {} tables does not belong to core {}",
                           arch_.name, slot.engine, engine_text(engine_), in_.core);
  }
  append_table_ring_setup(out_, at_, slot, index, ring);
  const std::uint32_t usual = dve ? arch_.tables->dve_kick : arch_.tables->act_kick;
  const std::uint32_t kick = ring.descriptors != 0 ? ring.descriptors : usual;
  if (!plan_.form->conditional_reload) {
    append_doorbell(out_, at_, slot, kick);
    return Status::ok();
  }
  // The host may know that the tables are still in place: then only the event
  // that the ring would have set is set.
  out_.load(request(kRequestLoadTables), kRegTables);
  const std::uint32_t keep = out_.branch_if_zero(kRegTables);
  append_doorbell(out_, at_, slot, kick);
  const std::uint32_t done = out_.branch_always();
  out_.set_target(keep, out_.slot());
  out_.nop_set_event(sync_id(dve ? NRTP_SYNC_DVE_TABLES_LOAD : NRTP_SYNC_ACT_TABLES_LOAD));
  out_.set_target(done, out_.slot());
  return Status::ok();
}

void RegionWriter::append_gate_wait() {
  const std::uint32_t first = sync_id(NRTP_SYNC_INF_INIT_START);
  if (engine_ != kPe) {
    out_.nop_wait_event(static_cast<std::uint8_t>(first + engine_ - 1));
    return;
  }
  out_.semaphore(sync_id(NRTP_SYNC_INFERENCE_START), isa::kWaitSemGt, 0, isa::kUpdateSemDec, 1);
  append_doorbell(out_, at_, plan_.exec, kRequestDescriptors);
  out_.nop_wait_event(sync_id(NRTP_SYNC_REQUEST_LOAD));
  out_.drain();
  for (std::uint32_t event = first; event <= sync_id(NRTP_SYNC_INF_INIT_LAST); ++event) {
    out_.nop_set_event(static_cast<std::uint8_t>(event));
  }
}

Status RegionWriter::append_arch_step(std::uint32_t step) {
  std::array<std::uint8_t, kStepBytes> scratch;
  nrtp_ibuf buffer{.p = scratch.data(), .cap = scratch.size(), .len = 0};
  const int rc = arch_.ib->step(step, &env_, &buffer);
  if (rc != NRTP_OK || buffer.len > buffer.cap || buffer.len % isa::kRecordBytes != 0) {
    return Status::failure("arch {}: image step {} of {} failed (status {}, {} bytes)", arch_.name,
                           step, engine_text(engine_), rc, buffer.len);
  }
  out_.append_bytes(std::span(scratch).first(buffer.len));
  return Status::ok();
}

}  // namespace opennrt::tdrv::image
