// SPDX-License-Identifier: Apache-2.0
//
// Completion of an execution: records of the status queues move each engine
// from START_PENDING over END_PENDING to COMPLETE; the error queue is swept at
// the end and while nothing moves.
#include <algorithm>
#include <chrono>

#include "log/log.h"
#include "tdrv/engine_label.h"
#include "tdrv/execution.h"
#include "tdrv/execution_errors.h"
#include "trace/trace.h"

namespace opennrt::tdrv {
namespace {

constexpr int kRecordsPerStep = 16;  // of one engine
// An engine that reported a fatal error will not finish: no need to wait for
// the whole timeout, only for what is still on its way.
constexpr std::uint64_t kAfterFatalMs = 500;
constexpr std::uint64_t kAskAfterMs = 5;  // without progress, before a software device is asked

// A marker that some records were read.
void trace_consumed(trace::EventType type, std::uint32_t core, std::uint64_t exec_id,
                    std::uint32_t model_id) {
  if (trace::wanted(type)) trace::emit({.type = type, .core = core, .data = {exec_id, model_id}});
}

}  // namespace

std::uint64_t ExecutionImpl::now_ns() const {
  const nrtp_host* host = logical_->cores.front()->bindings().host;
  if (host != nullptr && host->now_ns != nullptr) return host->now_ns(host->self);
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

void ExecutionImpl::record(std::size_t core, NRT_STATUS code, std::string message) {
  NRT_STATUS& own = cores_[core].outcome.status;
  if (outranks(code, own)) own = code;
  if (outranks(code, status_.code())) status_ = Status(code, std::move(message));
}

bool ExecutionImpl::consume(std::size_t core_index, std::uint32_t engine, const Notification& n) {
  EngineState& state = cores_[core_index].engines[engine];
  CoreOutcome& outcome = cores_[core_index].outcome;
  CoreNode& core = *logical_->cores[core_index];
  switch (static_cast<NotificationKind>(n.kind)) {
    case NotificationKind::kStart:
      if (state != EngineState::kStartPending) break;
      state = EngineState::kEndPending;
      device_start_ = std::min(device_start_, n.timestamp);
      outcome.start = std::min(outcome.start, n.timestamp);
      return true;
    case NotificationKind::kEnd:
      if (state != EngineState::kEndPending) break;
      state = EngineState::kComplete;
      device_end_ = std::max(device_end_, n.timestamp);
      outcome.end = std::max(outcome.end, n.timestamp);
      return true;
    case NotificationKind::kSwitchStart:
    case NotificationKind::kSwitchEnd:
      if (state != EngineState::kStartPending) break;
      if (n.kind == static_cast<std::uint16_t>(NotificationKind::kSwitchEnd))
        switch_end_ = std::max(switch_end_, n.timestamp);
      else if (switch_start_ == 0 || n.timestamp < switch_start_)
        switch_start_ = n.timestamp;
      return true;
    case NotificationKind::kCustom: {
      if (trace::wanted(trace::EventType::kHwNotify))
        trace::emit({.type = trace::EventType::kHwNotify,
                     .core = logical_->index,
                     .data = {core.core(), n.debug_hint, n.sub_id, exec_id_, device_ns(n.timestamp),
                              trace::now_ns()}});
      consume_custom(core_index, engine, n);
      return true;
    }
    default:
      break;
  }
  order_broken_ = true;
  record(
      core_index, NRT_FAILURE,
      fmt::format("[ND {}][NC {}] model '{}': {} reported kind {} while {} was expected",
                  core.device().index(), core.core(), program_name(), engine_label(engine), n.kind,
                  state == EngineState::kStartPending ? "START"
                  : state == EngineState::kEndPending ? "END"
                                                      : "nothing"));
  return false;
}

void ExecutionImpl::consume_custom(std::size_t core_index, std::uint32_t engine,
                                   const Notification& n) {
  const CoreNode& core = *logical_->cores[core_index];
  const CustomRecord custom = classify_custom(n.sub_id);
  if (custom.status != NRT_SUCCESS) {
    // A loop may report the same thousands of times.
    if (!outranks(custom.status, cores_[core_index].outcome.status)) return;
    record(core_index, custom.status,
           fmt::format("[ND {}][NC {}] model '{}': {} on {} (sub-id {}, record at {:#x})",
                       core.device().index(), core.core(), program_name(), custom.name,
                       engine_label(engine), n.sub_id, n.location * 64));
    return;
  }
  ONRT_LOG(kTdrv, kDebug, "[ND {}][NC {}] {}: {}", core.device().index(), core.core(),
           engine_label(engine), custom.name);
  // Where a record says which tensor it means is not published.
  if (!model_ || !logical_->software.present()) return;
  if (n.debug_hint >= model_->program().outputs.size()) return;
  if (custom.kind == CustomKind::kOutputFinished && listener != nullptr)
    listener->output_finished(n.debug_hint);
  if (custom.kind == CustomKind::kDebugTensor) publish_debug_tensor(core_index, engine, n);
}

bool ExecutionImpl::collect() {
  bool progress = false;
  for (std::size_t c = 0; c < used_; ++c) {
    for (std::uint32_t e = 0; e < neff::kEngines; ++e) {
      NotificationQueue& queue = logical_->cores[c]->status_queue(e);
      Notification n;
      // Records after END belong to the next execution.
      for (int i = 0;
           i < kRecordsPerStep && cores_[c].engines[e] != EngineState::kComplete && queue.pop(n);
           ++i) {
        const EngineState before = cores_[c].engines[e];
        if (!consume(c, e, n)) return true;
        // A loop that only sends custom records must reach its limit of time.
        progress = progress || cores_[c].engines[e] != before;
      }
    }
  }
  if (progress)
    trace_consumed(trace::EventType::kConsumeTpbStatusNotifications, logical_->index, exec_id_,
                   model_id_);
  return progress;
}

void ExecutionImpl::sweep_errors() {
  for (std::size_t c = 0; c < logical_->cores.size(); ++c) {
    Notification n;
    while (logical_->cores[c]->error_queue().pop(n)) {
      trace_consumed(trace::EventType::kConsumeErrorNotifications, logical_->index, exec_id_,
                     model_id_);
      consume_error(c, n);
    }
  }
}

void ExecutionImpl::consume_error(std::size_t core_index, const Notification& n) {
  const CoreNode& core = *logical_->cores[core_index];
  const DeviceError error = classify_error(n, logical_->report_numerical);
  if (error.numerical() && trace::wanted(trace::EventType::kNumErr))
    trace::emit(
        {.type = trace::EventType::kNumErr,
         .core = logical_->index,
         .data = {core.core(), exec_id_, device_ns(n.timestamp), trace::now_ns(), model_id_}});
  engine_stopped_ = engine_stopped_ || error.stops_engine;
  // One text per kind of error of an execution.
  std::uint32_t& seen = cores_[core_index].outcome.errors;
  if ((seen & error.bit()) != 0) return;
  seen |= error.bit();
  if (error.status == NRT_SUCCESS && !error.corrected) return;
  std::string text =
      fmt::format("[ND {}][NC {}] model '{}': {} on {} (type {}, detail {}, record at {:#x})",
                  core.device().index(), core.core(), program_name(), error.name,
                  engine_label(error.engine), error.raw_type, error.detail, n.location * 64);
  if (error.corrected) {
    ONRT_LOG(kTdrv, kWarn, "{}", text);
    return;
  }
  ONRT_LOG(kTdrv, kDebug, "{}", text);
  if (error.subtype == ErrorSubtype::kMemory) core.tell_kernel_log("SRAM_UNCORRECTABLE_ERROR");
  record(core_index, error.status, std::move(text));
}

bool ExecutionImpl::complete() const {
  for (std::size_t c = 0; c < used_; ++c) {
    for (const EngineState e : cores_[c].engines) {
      if (e != EngineState::kComplete) return false;
    }
  }
  return true;
}

void ExecutionImpl::trace_run(bool ended) const {
  using trace::EventType;
  const std::uint32_t core = logical_->index;
  const std::uint64_t unit = logical_->cores.front()->core(), now = trace::now_ns();
  const auto span = [&](EventType type, std::uint64_t to, const trace::Payload& start) {
    const std::uint64_t tracking = trace::next_tracking(core);
    trace::emit({.type = type,
                 .phase = trace::Phase::kStart,
                 .core = core,
                 .tracking = tracking,
                 .data = start});
    if (to == 0) return;
    trace::emit({.type = type,
                 .phase = trace::Phase::kStop,
                 .core = core,
                 .tracking = tracking,
                 .data = {device_ns(to), now}});
  };
  if (switch_start_ != 0 && trace::wanted(EventType::kNcModelSwitch))
    span(EventType::kNcModelSwitch, switch_end_,
         {unit, model_id_, exec_id_, device_ns(switch_start_), now});
  if (device_start_ == UINT64_MAX || !model_) return;  // the ready program is no model's run
  if (trace::wanted(EventType::kDeviceExec))
    span(EventType::kDeviceExec, ended ? device_end_ : 0,
         {unit, exec_id_, device_ns(device_start_), now, model_id_});
  if (ended && trace::wanted(EventType::kTimestampSync))
    trace::emit({.type = EventType::kTimestampSync,
                 .core = core,
                 .data = {exec_id_, device_ns(device_end_), now}});
}

StepResult ExecutionImpl::finish_ok() {
  sweep_errors();
  trace_run(true);
  if (logical_->software.checks_coverage() && model_) check_outputs();
  for (std::size_t c = 0; c < used_; ++c) {
    CoreNode& core = *logical_->cores[c];
    core.exec().retire(cores_[c].descriptors);
    const Status status = core.publish_heads();
    if (!status.is_ok()) record(c, status.code(), std::string(status.message()));
  }
  tell_store();
  state_ = status_.is_ok() ? State::kDone : State::kFailed;
  return status_.is_ok() ? StepResult::kDone : StepResult::kFailed;
}

StepResult ExecutionImpl::step(std::uint64_t timeout_ms) {
  if (state_ == State::kDone) return StepResult::kDone;
  if (state_ == State::kFailed) return StepResult::kFailed;
  if (state_ != State::kRunning) {
    status_ = Status::invalid("execution: step without a preceding kick");
    return StepResult::kFailed;
  }
  const bool progress = collect();
  if (order_broken_) return lose(NRT_FAILURE, "notifications came in a wrong order");
  if (complete()) return finish_ok();
  if (progress) {
    idle_since_ns_ = 0;
    return StepResult::kInFlight;
  }
  const std::uint64_t now = now_ns();
  if (idle_since_ns_ == 0) {
    idle_since_ns_ = now;
    return StepResult::kInFlight;
  }
  sweep_errors();
  // A software device knows at once that nothing will come. It is asked twice,
  // as a notification may have been written after the last look at the queues.
  constexpr std::uint64_t kAskAfterNs = kAskAfterMs * 1'000'000;
  if (logical_->software.present() && now - idle_since_ns_ >= kAskAfterNs &&
      now - stuck_asked_ns_ >= kAskAfterNs) {
    stuck_asked_ns_ = now;
    const SoftwareDevice::Motion motion = logical_->software.motion();
    if (motion.progress != progress_seen_) idle_since_ns_ = now;  // slow, not lost
    progress_seen_ = motion.progress;
    if (motion.stuck && was_stuck_ && !collect())
      return lose(
          engine_stopped_ ? NRT_EXEC_COMPLETED_WITH_ERR : NRT_TIMEOUT,
          fmt::format("the timeout of {} ms need not pass, deadlock: {}", timeout_ms, deadlock()));
    was_stuck_ = motion.stuck;
  }
  const std::uint64_t idle_ms = (now - idle_since_ns_) / 1'000'000;
  if (idle_ms >= timeout_ms) {
    return lose(NRT_TIMEOUT,
                fmt::format("no progress for {} ms{}", timeout_ms,
                            logical_->software.present() ? ": " + deadlock() : std::string()));
  }
  if (engine_stopped_ && idle_ms >= kAfterFatalMs) {
    return lose(
        NRT_EXEC_COMPLETED_WITH_ERR,
        fmt::format("an engine stopped with an error, no progress for {} ms (timeout {} ms)",
                    idle_ms, timeout_ms));
  }
  return StepResult::kInFlight;
}

}  // namespace opennrt::tdrv
