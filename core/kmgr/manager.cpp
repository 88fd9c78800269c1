// SPDX-License-Identifier: Apache-2.0
#include "kmgr/manager.h"

#include <algorithm>
#include <vector>

#include "dump/core_dump.h"
#include "log/context.h"
#include "log/log.h"
#include "strings/interned.h"
#include "trace/names.h"
#include "trace/profile.h"
#include "trace/trace.h"

namespace opennrt::kmgr {

namespace {

// Deepest queue of a core's request ring.
constexpr std::uint32_t kMaxDepth = 63;
// The ready program answers at once; this bounds a core that never does.
constexpr std::uint64_t kStopTimeoutMs = 30'000;
constexpr std::uint64_t kMaxHostTensorBytes = 4ull << 20;
constinit std::atomic<std::uint32_t> g_last_device_model{1000};  // runtime logs begin with 1001

}  // namespace

Result<std::unique_ptr<Manager>> Manager::over(std::unique_ptr<tdrv::Tdrv> tdrv,
                                               std::uint32_t logical_cores,
                                               std::uint32_t queue_depth,
                                               std::vector<std::uint32_t> devices) {
  std::unique_ptr<Manager> out(new Manager(std::move(tdrv)));
  const std::uint32_t depth = std::clamp(queue_depth, 1u, kMaxDepth);
  for (std::uint32_t core = 0; core < logical_cores; ++core) {
    ONRT_ASSIGN(auto unit, Unit::create(*out->tdrv_, core, depth));
    out->units_.push_back(std::move(unit));
  }
  out->usage_.assign(logical_cores, 0);
  devices.resize(logical_cores, 0);
  out->devices_ = std::move(devices);
  out->async_ = std::make_unique<AsyncEngine>(*out, logical_cores, depth);
  return out;
}

Manager::~Manager() {
  async_.reset();
  for (const ModelId id : models_.ids())
    if (Status s = unload(id); !s)
      ONRT_LOG(kKmgr, kWarn, "unloading model {} at close: {}", id, s.message());
  stuck_.clear();
  units_.clear();
  if (tdrv_) tdrv_->tear_down();
}

Status Manager::check_core(std::int64_t wanted) const {
  if (wanted >= 0 && static_cast<std::uint64_t>(wanted) < units_.size()) return {};
  return Status::invalid("could not find VNC id {}: this process has the logical cores 0 to {}",
                         wanted, units_.size() - 1);
}

Result<TensorHandle> Manager::allocate_tensor(nrt_tensor_placement_t placement,
                                              std::int32_t logical_core, std::uint64_t bytes,
                                              std::string_view name) {
  if (placement != NRT_TENSOR_PLACEMENT_DEVICE && placement != NRT_TENSOR_PLACEMENT_HOST &&
      placement != NRT_TENSOR_PLACEMENT_VIRTUAL)
    return Status::invalid("tensor_placement is {}, must be 0 to 2", static_cast<int>(placement));
  if (bytes == 0) return Status::invalid("tensor {}: size is 0", name);
  if (placement == NRT_TENSOR_PLACEMENT_HOST && bytes > kMaxHostTensorBytes)
    return Status::resource(
        "tensor {}: {} bytes of host memory, {} are possible; use placement "
        "DEVICE or VIRTUAL",
        name, bytes, kMaxHostTensorBytes);
  if (placement != NRT_TENSOR_PLACEMENT_VIRTUAL || logical_core != -1)
    ONRT_TRY(check_core(logical_core));
  ONRT_ASSIGN(auto tensor,
              tdrv_->allocate_tensor(
                  placement, static_cast<std::uint32_t>(std::max(logical_core, 0)), bytes, name));
  ONRT_ASSIGN(const TensorHandle handle, Tensors::instance().add(std::move(tensor)));
  // Its time is that of the memory event; only now it has a number.
  const trace::Span span(trace::EventType::kTensorAlloc, trace::core_or_first(logical_core),
                         {handle, bytes});
  return handle;
}

Status Manager::copy_batches(std::span<const nrt_tensor_batch_t> batches,
                             tdrv::CopyDirection direction, bool unchecked) {
  std::vector<Tensors::Pin> pins;
  std::vector<tdrv::TensorRanges> ranges;
  pins.reserve(batches.size());
  ranges.reserve(batches.size());
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const nrt_tensor_batch_t& batch = batches[i];
    if (batch.tensor == nullptr) return Status::invalid("batch {}: tensor is NULL", i);
    if (batch.ops == nullptr && batch.num_ops != 0)
      return Status::invalid("batch {}: ops is NULL, num_ops is {}", i, batch.num_ops);
    const auto handle = reinterpret_cast<TensorHandle>(batch.tensor);
    pins.push_back(Tensors::instance().pin(handle));
    if (!pins.back())
      return Status::invalid("batch {}: tensor {:#x} is not a live tensor", i, handle);
    ranges.push_back({pins.back().get(), {batch.ops, batch.num_ops}});
  }
  const std::int32_t core = pins.empty() ? -1 : pins.front()->logical_core();
  const trace::Span span(direction == tdrv::CopyDirection::kToTensor
                             ? trace::EventType::kTensorWriteBatch
                             : trace::EventType::kTensorReadBatch,
                         trace::core_or_first(core), {batches.size()});
  return tdrv_->copy_ranges(ranges, direction, !unchecked);
}

Result<tdrv::MemoryUse> Manager::memory_use(std::int64_t logical_core) {
  ONRT_TRY(check_core(logical_core));
  return tdrv_->memory_use(static_cast<std::uint32_t>(logical_core));
}

Status Manager::drain(std::int64_t logical_core) {
  ONRT_TRY(check_core(logical_core));
  units_[static_cast<std::size_t>(logical_core)]->settle();
  return {};
}

Result<std::uint32_t> Manager::take_core(std::int32_t wanted) {
  if (wanted != -1) ONRT_TRY(check_core(wanted));
  const std::lock_guard lock(usage_mutex_);
  const auto core = wanted != -1
                        ? static_cast<std::uint32_t>(wanted)
                        : static_cast<std::uint32_t>(
                              std::min_element(usage_.begin(), usage_.end()) - usage_.begin());
  ++usage_[core];
  return core;
}

void Manager::give_core_back(std::uint32_t core) {
  const std::lock_guard lock(usage_mutex_);
  --usage_[core];
}

namespace {

// What recordings of the model and its tensors mean by numbers.
void intern_names(ModelId id, const neff::Program& program, std::int32_t core) {
  trace::name_model(id, program.name, core);
  for (const auto* variables : {&program.inputs, &program.outputs})
    for (const auto& variable : *variables) strings::intern(core, variable.name);
}

}  // namespace

Result<ModelId> Manager::place(std::shared_ptr<const neff::Program> program,
                               const LoadOptions& options) {
  ONRT_ASSIGN(const std::uint32_t core, take_core(options.logical_core));
  log::set_core(static_cast<std::int32_t>(core));
  auto model = tdrv_->stage(program, core, ++g_last_device_model);
  if (!model.is_ok()) {
    give_core_back(core);
    dump::blame(static_cast<std::int32_t>(core), program->name, program->uuid);
    return std::move(model).status();
  }
  const ModelId id = Models::next_id();
  intern_names(id, *program, static_cast<std::int32_t>(core));
  models_.insert(
      std::make_unique<ModelRecord>(*tdrv_, id, *std::move(model), options.exec_timeout_s * 1000));
  return id;
}

Status Manager::unload(ModelId id) {
  std::unique_ptr<ModelRecord> record = models_.erase(id);
  if (record == nullptr) return Status::make(NRT_INVALID_HANDLE, "model {} is not loaded", id);
  trace::forget_model(id);
  trace::profile::forget_model(id);
  const std::shared_ptr<tdrv::Model> model = record->model;
  const bool submitted = record->submitted.load(std::memory_order_relaxed);
  record.reset();  // its staging memory goes first
  const std::uint32_t core = model->logical_core();
  Unit& unit = *units_[core];
  give_core_back(core);
  Status stopped;
  // After its end a program waits in its own code for the next request, and
  // leaves it while that request runs: the memory is free once both are over.
  if (submitted && !unit.is_fatal()) {
    if (tdrv_->is_current(*model))
      stopped = unit.stop(kStopTimeoutMs);
    else
      unit.settle();
  }
  if (submitted && unit.is_fatal()) {
    ONRT_LOG(kKmgr, kWarn,
             "model {}: logical core {} is in an unknown state, the model's device memory is kept "
             "until nrt_close",
             id, core);
    const std::lock_guard lock(stuck_mutex_);
    stuck_.push_back(model);
    return stopped;
  }
  Status unstaged = tdrv_->unstage(model);
  return stopped.is_ok() ? std::move(unstaged) : std::move(stopped);
}

}  // namespace opennrt::kmgr
