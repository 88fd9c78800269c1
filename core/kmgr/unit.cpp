// SPDX-License-Identifier: Apache-2.0
#include "kmgr/unit.h"

#include <string>

#include "log/log.h"
#include "trace/trace.h"

namespace opennrt::kmgr {

namespace {

// The program ended and said what was wrong: the core is fine. After anything
// else (a hang, a hardware fault, records out of order) its state is unknown.
bool leaves_core_usable(NRT_STATUS code) {
  switch (code) {
    case NRT_EXEC_BAD_INPUT:
    case NRT_EXEC_COMPLETED_WITH_NUM_ERR:
    case NRT_EXEC_COMPLETED_WITH_ERR:
    case NRT_EXEC_NC_BUSY:
    case NRT_EXEC_OOB:
      return true;
    default:
      return false;
  }
}

constexpr std::uint32_t kEagerSteps = 2000;  // then the poll interval grows
constexpr std::uint32_t kEagerUs = 1, kPatientUs = 50;

}  // namespace

Result<std::unique_ptr<Unit>> Unit::create(tdrv::Tdrv& tdrv, std::uint32_t logical_core,
                                           std::uint32_t depth) {
  std::unique_ptr<Unit> unit(new Unit(tdrv, logical_core));
  for (std::uint32_t i = 0; i < depth; ++i) {
    auto slot = std::make_unique<Slot>();
    ONRT_ASSIGN(slot->execution, tdrv.make_execution(logical_core));
    slot->next = unit->free_;
    unit->free_ = slot.get();
    unit->slots_.push_back(std::move(slot));
  }
  return unit;
}

Unit::Slot& Unit::acquire() {
  std::unique_lock lock(queue_mutex_);
  if (free_ == nullptr) {
    const trace::Span span(trace::EventType::kAsyncSemaWait, logical_core_, {0, 1});
    slot_free_.wait(lock, [&] { return free_ != nullptr; });
  }
  Slot& slot = *free_;
  free_ = slot.next;
  slot.next = nullptr;
  return slot;
}

void Unit::release(Slot& slot) {
  {
    const std::lock_guard lock(queue_mutex_);
    slot.next = free_;
    free_ = &slot;
  }
  slot_free_.notify_one();
}

Status Unit::unrecoverable() const {
  return Status::make(NRT_EXEC_UNIT_UNRECOVERABLE,
                      "logical core {} is in an unknown state after an earlier failure; call "
                      "nrt_close and nrt_init to reset it",
                      logical_core_);
}

Status Unit::run(Slot& slot, tdrv::Model& model, std::span<tdrv::Tensor* const> inputs,
                 std::span<tdrv::Tensor* const> outputs, std::uint64_t timeout_ms) {
  if (is_fatal()) return unrecoverable();
  ONRT_TRY(tdrv_.bind(*slot.execution, model, inputs, outputs));
  tdrv_.label(*slot.execution, slot.exec_id, slot.model_id);
  trace::Span core(trace::EventType::kExecCore, logical_core_, {slot.exec_id, slot.model_id});
  Status status = submit(slot);
  core.stop();
  if (status.is_ok()) status = complete(slot, timeout_ms);
  tdrv_.finish(*slot.execution);
  return status;
}

Status Unit::stop(std::uint64_t timeout_ms) {
  if (is_fatal()) return unrecoverable();
  const Lease slot(*this);
  slot->execution->listener = nullptr;
  ONRT_TRY(tdrv_.bind_stop(*slot->execution));
  slot->exec_id = slot->model_id = 0;
  tdrv_.label(*slot->execution, 0, 0);
  Status status = submit(*slot);
  if (status.is_ok()) {
    status = complete(*slot, timeout_ms);
    // Where the engines stand after a stop that failed is not known.
    if (!status.is_ok()) fatal_.store(true, std::memory_order_release);
  }
  tdrv_.finish(*slot->execution);
  return status;
}

void Unit::settle() {
  std::uint64_t until = 0;
  {
    // One that is armed and not yet in the queue counts as well.
    const std::lock_guard submit_lock(submit_mutex_);
    const std::lock_guard queue_lock(queue_mutex_);
    until = submitted_;
  }
  std::unique_lock lock(queue_mutex_);
  one_ended_.wait(lock, [&] { return ended_ >= until; });
}

Status Unit::submit(Slot& slot) {
  const trace::Span span(trace::EventType::kModelSubmit, logical_core_, {slot.model_id});
  const std::lock_guard submit_lock(submit_mutex_);
  if (is_fatal()) return unrecoverable();
  if (Status armed = tdrv_.arm(*slot.execution); !armed) {
    // Armed on one physical core of several: the others will never follow.
    if (tdrv_.is_lost(logical_core_)) fatal_.store(true, std::memory_order_release);
    return armed;
  }
  if (Status kicked = tdrv_.kick(*slot.execution); !kicked) {
    // Some of the physical cores may have started.
    fatal_.store(true, std::memory_order_release);
    return kicked;
  }
  const std::lock_guard queue_lock(queue_mutex_);
  slot.next = nullptr;
  (newest_ != nullptr ? newest_->next : oldest_) = &slot;
  newest_ = &slot;
  ++submitted_;
  return {};
}

Status Unit::complete(Slot& slot, std::uint64_t timeout_ms) {
  const trace::Span span(trace::EventType::kExecWait, logical_core_, {slot.exec_id, slot.model_id});
  {
    std::unique_lock lock(queue_mutex_);
    slot.turn.wait(lock, [&] { return oldest_ == &slot; });
  }
  Status status = drive(slot, timeout_ms);
  const std::lock_guard lock(queue_mutex_);
  oldest_ = slot.next;
  if (oldest_ == nullptr)
    newest_ = nullptr;
  else
    oldest_->turn.notify_one();
  slot.next = nullptr;
  ++ended_;
  one_ended_.notify_all();
  return status;
}

Status Unit::drive(Slot& slot, std::uint64_t timeout_ms) {
  if (is_fatal()) return unrecoverable();
  for (std::uint32_t steps = 0;; ++steps) {
    switch (tdrv_.step(*slot.execution, timeout_ms)) {
      case tdrv::StepResult::kDone:
        return {};
      case tdrv::StepResult::kInFlight:
        tdrv_.relax(steps < kEagerSteps ? kEagerUs : kPatientUs);
        break;
      case tdrv::StepResult::kFailed: {
        const Status& reason = tdrv_.status(*slot.execution);
        const NRT_STATUS code = reason.is_ok() ? NRT_FAILURE : reason.code();
        if (!leaves_core_usable(code) || tdrv_.is_lost(logical_core_))
          fatal_.store(true, std::memory_order_release);
        return Status(code, std::string(reason.message())).because(reason.cause());
      }
    }
  }
}

}  // namespace opennrt::kmgr
