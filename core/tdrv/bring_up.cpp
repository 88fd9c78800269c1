// SPDX-License-Identifier: Apache-2.0
//
// Bring-up and tear-down as one table of steps.
#include <algorithm>
#include <set>

#include "log/log.h"
#include "tdrv/tdrv_impl.h"
#include "trace/names.h"

namespace opennrt::tdrv {
namespace {

constexpr std::uint32_t kMaxQueueDepth = 63;
constexpr std::uint64_t kStopTimeoutMs = 2000;

}  // namespace

// Order matters: memory exists before anything allocates on a core, a device's
// registers before the arch plugin programs them, and the halt stands above
// everything the engines may read.
std::span<const TdrvImpl::Step> TdrvImpl::steps() {
  using T = TdrvImpl;
  static constexpr Step kSteps[] = {
      {"check options", Scope::kProcess, &T::check_options, nullptr},
      {"open device", Scope::kDevice, &T::open_device, &T::close_device},
      {"reset cores", Scope::kDevice, &T::reset_device, nullptr},
      {"memory allocator", Scope::kCore, &T::create_allocator, &T::release_core},
      {"register windows", Scope::kDevice, &T::register_regions, nullptr},
      {"arch plugin", Scope::kDevice, &T::attach_arch, &T::detach_arch},
      {"core hardware", Scope::kCore, &T::initialise_hal, &T::finish_hal},
      {"notification queues", Scope::kCore, &T::create_notification_queues,
       &T::destroy_notification_queues},
      {"exec queue", Scope::kCore, &T::create_exec_queue, nullptr},
      {"scratchpad", Scope::kCore, &T::create_scratchpad, nullptr},
      {"ready program", Scope::kCore, &T::place_ready_program, nullptr},
      {"halt on the way back", Scope::kDevice, &T::guard_halt, &T::halt_device},
      {"start and self test", Scope::kLogicalCore, &T::start_ready_program, &T::stop_logical_core},
  };
  return kSteps;
}

std::size_t TdrvImpl::items(Scope scope) const {
  switch (scope) {
    case Scope::kProcess:
      return 1;
    case Scope::kDevice:
      return devices_.size();
    case Scope::kCore:
      return cores_.size();
    case Scope::kLogicalCore:
      return logical_.size();
  }
  return 0;
}

Result<std::unique_ptr<Tdrv>> Tdrv::bring_up(const Bindings& bindings,
                                             const BringUpOptions& options) {
  auto tdrv = std::make_unique<TdrvImpl>(bindings, options);
  ONRT_TRY(tdrv->run_bring_up());
  return std::unique_ptr<Tdrv>(std::move(tdrv));
}

Status TdrvImpl::run_bring_up() {
  for (const Step& step : steps()) {
    const std::size_t n = items(step.scope);
    for (std::size_t i = 0; i < n; ++i) {
      ONRT_LOG(kTdrv, kDebug, "bring-up: {} {}", step.name, i);
      Status status = (this->*step.up)(i);
      if (!status.is_ok()) {
        tear_down();
        return std::move(status).with_context(fmt::format("bring-up, {}", step.name));
      }
      done_.push_back({&step, i});
    }
  }
  return Status::ok();
}

void TdrvImpl::tear_down() {
  release_models();
  while (!done_.empty()) {
    const Done last = done_.back();
    done_.pop_back();
    if (last.step->down == nullptr) continue;
    ONRT_LOG(kTdrv, kDebug, "tear-down: {} {}", last.step->name, last.item);
    (this->*last.step->down)(last.item);
  }
}

Status TdrvImpl::check_options(std::size_t) {
  const Bindings& b = bindings_;
  if (b.ndl == nullptr || b.arch == nullptr || b.product == nullptr) {
    return Status::invalid("driver layer, arch plugin or product is missing");
  }
  if (options_.logical_cores.empty()) return Status::invalid("no logical core is requested");
  if (options_.queue_depth == 0 || options_.queue_depth > kMaxQueueDepth) {
    return Status::invalid("queue depth {} is outside 1..{}", options_.queue_depth, kMaxQueueDepth);
  }
  if (options_.scratchpad_page_bytes < (1u << 20) ||
      options_.scratchpad_page_bytes % (1u << 20) != 0) {
    return Status::invalid("scratchpad page of {} bytes: use a multiple of 1 MiB",
                           options_.scratchpad_page_bytes);
  }
  const std::uint32_t lnc = options_.lnc_size;
  if (lnc == 0 || lnc > LogicalCore::kMaxCores ||
      (b.arch->geometry->lnc_mask >> (lnc - 1) & 1) == 0) {
    return Status::invalid("arch {} has no logical cores of {} physical cores", b.arch->name, lnc);
  }
  form_ = options_.form != 0 ? options_.form : b.arch->ib->form_default;
  const std::uint32_t bit = form_ == NRTP_FORM_2_25   ? NRTP_FORM_BIT_2_25
                            : form_ == NRTP_FORM_2_27 ? NRTP_FORM_BIT_2_27
                            : form_ == NRTP_FORM_2_30 ? NRTP_FORM_BIT_2_30
                                                      : 0;
  if ((b.arch->ib->form_mask & bit) == 0) {
    return Status::invalid(
        "exec.runtime_form is {}.{}: arch {} does not run images of "
        "that form; use auto",
        form_ / 100, form_ % 100, b.arch->name);
  }
  trace::name_memory_usages(usage_names());
  const std::uint32_t usable = std::min(b.arch->geometry->tpbs, b.product->cores);
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const auto& group : options_.logical_cores) {
    auto logical = std::make_unique<LogicalCore>();
    logical->software = SoftwareDevice(bindings_);
    logical->index = static_cast<std::uint32_t>(logical_.size());
    logical->form = form_;
    logical->report_numerical = options_.report_numerical_errors;
    logical->share_weights = options_.share_weights;
    if (group.size() != lnc) {
      return Status::invalid("logical core {} has {} physical cores, the LNC size is {}",
                             logical->index, group.size(), lnc);
    }
    for (std::uint32_t rank = 0; rank < lnc; ++rank) {
      const PhysicalCore& core = group[rank];
      if (core.core >= usable) {
        return Status::invalid("core {} of device {}: {} has {} cores per device", core.core,
                               core.device, b.product->name, usable);
      }
      if (group[0].device != core.device) {
        return Status::invalid("logical core {} spans devices {} and {}", logical->index,
                               group[0].device, core.device);
      }
      if (!seen.insert({core.device, core.core}).second) {
        return Status::invalid("core {} of device {} is requested twice", core.core, core.device);
      }
      auto device = std::find_if(devices_.begin(), devices_.end(),
                                 [&](const auto& d) { return d->index() == core.device; });
      if (device == devices_.end()) {
        if (devices_.size() == NRTP_MAX_PROCESS_DEVICES) {
          return Status::invalid("more than {} devices are requested", NRTP_MAX_PROCESS_DEVICES);
        }
        devices_.push_back(std::make_unique<DeviceNode>(bindings_, core.device));
        device = devices_.end() - 1;
      }
      CoreEntry entry;
      entry.node = std::make_unique<CoreNode>(**device, core.core);
      entry.device = static_cast<std::size_t>(device - devices_.begin());
      entry.lnc_rank = rank;
      entry.peer_core = group[lnc - 1 - rank].core;
      entry.logical = logical.get();
      logical->cores.push_back(entry.node.get());
      cores_.push_back(std::move(entry));
    }
    logical_.push_back(std::move(logical));
  }
  done_.reserve(steps().size() * (1 + devices_.size() + cores_.size()));
  return Status::ok();
}

std::uint32_t TdrvImpl::core_mask(std::size_t device) const {
  std::uint32_t mask = 0;
  for (const CoreEntry& core : cores_) {
    if (core.device == device) mask |= 1u << core.node->core();
  }
  return mask;
}

Status TdrvImpl::open_device(std::size_t device) {
  return devices_[device]->open(options_.process);
}
void TdrvImpl::close_device(std::size_t device) { devices_[device]->close(); }

Status TdrvImpl::reset_device(std::size_t device) {
  if (!options_.reset_cores) return Status::ok();
  return devices_[device]->reset(core_mask(device));
}

Status TdrvImpl::create_allocator(std::size_t core) {
  const CoreEntry& entry = cores_[core];
  devices_[entry.device]->pool()->set_logical_core(entry.node->core(), entry.logical->index);
  return cores_[core].node->create_allocator();
}

void TdrvImpl::release_core(std::size_t core) {
  if (cores_[core].lnc_rank == 0) cores_[core].logical->shared_scratchpad.release();
  cores_[core].node->release();
}

Status TdrvImpl::register_regions(std::size_t device) {
  return devices_[device]->register_regions();
}

Status TdrvImpl::attach_arch(std::size_t device) { return devices_[device]->attach_arch(); }
void TdrvImpl::detach_arch(std::size_t device) { devices_[device]->detach_arch(); }

Status TdrvImpl::initialise_hal(std::size_t core) {
  return cores_[core].node->initialise_hal(cores_[core].lnc_rank, options_.lnc_size);
}
void TdrvImpl::finish_hal(std::size_t core) { cores_[core].node->finish_hal(); }

Status TdrvImpl::create_notification_queues(std::size_t core) {
  return cores_[core].node->create_notification_queues();
}
void TdrvImpl::destroy_notification_queues(std::size_t core) {
  cores_[core].node->destroy_notification_queues();
}

Status TdrvImpl::create_exec_queue(std::size_t core) {
  return cores_[core].node->create_exec_queue(options_.queue_depth);
}

Status TdrvImpl::create_scratchpad(std::size_t core) {
  CoreNode& node = *cores_[core].node;
  node.scratchpad().configure(node.allocator());
  if (cores_[core].lnc_rank == 0) {
    cores_[core].logical->shared_scratchpad.configure(node.allocator());
  }
  return Status::ok();
}

Status TdrvImpl::place_ready_program(std::size_t core) {
  const CoreEntry& entry = cores_[core];
  return entry.node->place_ready_program(form_, entry.lnc_rank, options_.lnc_size, entry.peer_core);
}

Status TdrvImpl::guard_halt(std::size_t) { return Status::ok(); }

void TdrvImpl::halt_device(std::size_t device) {
  const Status status = devices_[device]->reset(core_mask(device));
  if (!status.is_ok()) ONRT_LOG(kTdrv, kWarn, "{}", status.message());
}

Status TdrvImpl::start_ready_program(std::size_t index) {
  LogicalCore& logical = *logical_[index];
  logical.errors_at_start = logical.cores.front()->device().memory_errors();
  for (CoreNode* core : logical.cores) ONRT_TRY(core->start_ready_program());
  ExecutionImpl self_test(logical);
  ONRT_TRY(self_test.bind_stop());  // posted is the ready program: no switch
  Status status = run_to_end(self_test, options_.self_test_timeout_ms);
  if (!status.is_ok()) {
    return std::move(status).with_context(fmt::format("self test of logical core {}", index));
  }
  return Status::ok();
}

void TdrvImpl::stop_logical_core(std::size_t index) {
  LogicalCore& logical = *logical_[index];
  if (logical.dead || logical.is_ready()) return;
  ExecutionImpl stop(logical);
  Status status = stop.bind_stop();
  if (status.is_ok()) status = run_to_end(stop, kStopTimeoutMs);
  if (!status.is_ok()) {
    ONRT_LOG(kTdrv, kWarn, "stopping logical core {}: {}", index, status.message());
  }
}

Status TdrvImpl::run_to_end(ExecutionImpl& execution, std::uint64_t timeout_ms) {
  ONRT_TRY(execution.arm());
  ONRT_TRY(execution.kick());
  StepResult result = StepResult::kInFlight;
  while ((result = execution.step(timeout_ms)) == StepResult::kInFlight) relax(1);
  if (result == StepResult::kDone) return Status::ok();
  return {execution.status().code(), std::string(execution.status().message())};
}

void TdrvImpl::release_models() {
  std::vector<std::weak_ptr<ModelImpl>> models;
  {
    const std::lock_guard lock(models_mutex_);
    models.swap(models_);
  }
  if (models.empty()) return;
  // No engine may execute memory about to be freed.
  for (std::size_t i = 0; i < logical_.size(); ++i) stop_logical_core(i);
  for (const auto& weak : models) {
    if (const auto model = weak.lock(); model != nullptr) model->release();
  }
}

}  // namespace opennrt::tdrv
