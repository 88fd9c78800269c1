// SPDX-License-Identifier: Apache-2.0
#include "tdrv/execution.h"

#include <cstring>
#include <optional>

#include "log/log.h"
#include "tdrv/dmem.h"
#include "trace/trace.h"

namespace opennrt::tdrv {

ExecutionImpl::ExecutionImpl(LogicalCore& logical)
    : logical_(&logical), cores_(logical.cores.size()) {}

const char* ExecutionImpl::program_name() const {
  return model_ ? model_->program().name.c_str() : "ready program";
}

Status ExecutionImpl::check_tensor(const ModelImpl& model, const Tensor* tensor,
                                   const neff::TensorInfo& info, const char* role) const {
  const auto bad = [&](std::string what) {
    return Status::make(NRT_EXEC_BAD_INPUT, "model '{}', {} '{}': {}", model.program().name, role,
                        info.name, what);
  };
  if (tensor == nullptr) return bad("no tensor is bound");
  if (!tensor->has_storage()) return bad("the tensor has no storage; attach a buffer first");
  if (!tensor->is_device()) return bad("the tensor is in host memory, a device tensor is needed");
  if (tensor->logical_core() != static_cast<std::int32_t>(logical_->index)) {
    return bad(fmt::format("the tensor is on logical core {}, the model on {}",
                           tensor->logical_core(), logical_->index));
  }
  if (tensor->size() < info.size) {
    return bad(
        fmt::format("the tensor has {} bytes, the model needs {}", tensor->size(), info.size));
  }
  return Status::ok();
}

Status ExecutionImpl::bind(ModelImpl& model, std::span<Tensor* const> inputs,
                           std::span<Tensor* const> outputs) {
  if (state_ != State::kIdle) {
    return Status::invalid("execution: bind before finish of the previous run");
  }
  const neff::Program& program = model.program();
  if (&model.logical() != logical_) {
    return Status::invalid("model '{}' is on logical core {}, the execution belongs to {}",
                           program.name, model.logical_core(), logical_->index);
  }
  if (model.released()) {
    return Status::make(NRT_INVALID_HANDLE, "model '{}' has been unstaged", program.name);
  }
  if (inputs.size() != program.inputs.size() || outputs.size() != program.outputs.size()) {
    return Status::make(
        NRT_EXEC_BAD_INPUT, "model '{}' has {} inputs and {} outputs, {} and {} are bound",
        program.name, program.inputs.size(), program.outputs.size(), inputs.size(), outputs.size());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ONRT_TRY(check_tensor(model, inputs[i], program.inputs[i], "input"));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    ONRT_TRY(check_tensor(model, outputs[i], program.outputs[i], "output"));
  }
  key_.clear();
  for (const auto& list : {inputs, outputs}) {
    for (Tensor* tensor : list) {
      ONRT_ASSIGN(const std::uint64_t address, tensor->device_address());
      key_.push_back(address);
    }
  }
  ONRT_ASSIGN(io_, model.io_binding(key_));
  const auto hold = [](std::vector<std::shared_ptr<Storage>>& list,
                       std::span<Tensor* const> tensors) {
    list.clear();
    for (Tensor* tensor : tensors) list.push_back(static_cast<TensorImpl*>(tensor)->storage());
  };
  hold(reads_, inputs);
  hold(writes_, outputs);
  for (const auto& storage : reads_) storage->begin(false);
  for (const auto& storage : writes_) storage->begin(true);
  model_ = model.shared_from_this();
  used_ = model.cores().size();
  model.executions.fetch_add(1, std::memory_order_relaxed);
  stop_ = false;
  status_ = Status::ok();
  state_ = State::kBound;
  return Status::ok();
}

Status ExecutionImpl::bind_stop() {
  if (state_ != State::kIdle) {
    return Status::invalid("execution: bind before finish of the previous run");
  }
  stop_ = true;
  used_ = logical_->cores.size();
  status_ = Status::ok();
  state_ = State::kBound;
  return Status::ok();
}

Status ExecutionImpl::arm() {
  if (state_ != State::kBound) return Status::invalid("execution: arm without a preceding bind");
  if (logical_->dead.load(std::memory_order_relaxed)) {
    return Status::make(NRT_EXEC_UNIT_UNRECOVERABLE,
                        "logical core {} lost an earlier execution; restart the runtime",
                        logical_->index);
  }
  const ModelImpl* target = model_.get();
  for (std::size_t i = 0; i < used_; ++i) {
    CoreNode& core = *logical_->cores[i];
    const bool model_switch = logical_->posted[i].load(std::memory_order_relaxed) != target;
    const PlacedImages& images = stop_ ? core.ready() : model_->cores()[i]->images;
    std::optional<trace::Span> switching;
    if (model_switch && trace::wanted(trace::EventType::kModelSwitch))
      switching.emplace(trace::EventType::kModelSwitch, logical_->index,
                        trace::Payload{core.core(), model_id_, 1});
    const RequestFields fields{.model_switch = model_switch,
                               .engine_address = images.address,
                               .reload_sequencer = model_switch,
                               .load_tables = model_switch};
    const std::span<const Transfer> io =
        stop_ ? std::span<const Transfer>{} : io_->per_core[i]->transfers();
    Status status =
        core.exec().stage(encode_request(logical_->form, fields), io, cores_[i].descriptors);
    if (!status.is_ok()) {
      if (i != 0) logical_->dead.store(true, std::memory_order_relaxed);  // half a request
      return std::move(status).with_context(
          fmt::format("[ND {}][NC {}]", core.device().index(), core.core()));
    }
  }
  for (std::size_t i = 0; i < used_; ++i) {
    logical_->posted[i].store(target, std::memory_order_relaxed);
    // Engines that the silicon lacks have nothing to do.
    const std::uint32_t engines = program_engines(*logical_->cores[i]->bindings().arch);
    std::fill_n(cores_[i].engines.begin(), engines, EngineState::kStartPending);
    std::fill(cores_[i].engines.begin() + engines, cores_[i].engines.end(), EngineState::kComplete);
  }
  for (CoreState& core : cores_) core.outcome = {};
  idle_since_ns_ = stuck_asked_ns_ = 0;
  was_stuck_ = false;
  if (logical_->software.checks_anything() && model_) expect_outputs();
  if (logical_->software.inspects() && model_) announce_tensors();
  device_start_ = UINT64_MAX;
  device_end_ = switch_start_ = switch_end_ = 0;
  engine_stopped_ = order_broken_ = false;
  state_ = State::kArmed;
  return Status::ok();
}

void ExecutionImpl::expect_outputs() const {
  const std::uint32_t device = logical_->cores.front()->device().index();
  const neff::Program& program = model_->program();
  const std::size_t inputs = program.inputs.size();
  for (std::size_t i = 0; i < inputs; ++i)
    logical_->software.name(device, key_[i], program.inputs[i].size, program.inputs[i].name);
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const neff::TensorInfo& out = program.outputs[i];
    const std::uint64_t address = key_[inputs + i];
    logical_->software.name(device, address, out.size, out.name);
    // An output in the place of an input may keep the input's bytes.
    bool shared = false;
    for (std::size_t k = 0; k < inputs; ++k)
      shared |= key_[k] < address + out.size && address < key_[k] + program.inputs[k].size;
    if (!shared) logical_->software.expect_written(device, address, out.size);
  }
}

void ExecutionImpl::announce_tensors() const {
  const neff::Program& program = model_->program();
  std::size_t k = 0;
  for (const auto* list : {&program.inputs, &program.outputs}) {
    for (const neff::TensorInfo& tensor : *list) {
      for (std::size_t c = 0; c < used_; ++c) {
        const CoreNode& core = *logical_->cores[c];
        logical_->software.tensor(core.device().index(), core.core(), key_[k], tensor);
      }
      ++k;
    }
  }
}

void ExecutionImpl::check_outputs() {
  const std::uint32_t device = logical_->cores.front()->device().index();
  const neff::Program& program = model_->program();
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const neff::TensorInfo& out = program.outputs[i];
    const auto missing =
        logical_->software.first_unwritten(device, key_[program.inputs.size() + i], out.size);
    if (!missing) continue;
    logical_->software.count_finding(device);
    record(0, NRT_EXEC_COMPLETED_WITH_ERR,
           fmt::format("model '{}': output '{}': byte {} of {} was never written", program.name,
                       out.name, *missing, out.size));
  }
}

Status ExecutionImpl::kick() {
  if (state_ != State::kArmed) return Status::invalid("execution: kick without a preceding arm");
  kicked_ns_ = now_ns();
  for (std::size_t i = 0; i < used_; ++i) {
    CoreNode* const core = logical_->cores[i];
    const Bindings& b = core->bindings();
    ONRT_LOG(kTdrv, kDebug, "[ND {}][NC {}] kick: inference start + 1", core->device().index(),
             core->core());
    const int rc = b.ndl->sync->sem_inc(b.ndl_ctx, core->device().handle(), core->core(),
                                        b.arch->sync->id[NRTP_SYNC_INFERENCE_START], 1);
    if (rc != 0) {
      logical_->dead.store(true, std::memory_order_relaxed);
      return Status::make(status_of_errno(rc), "[ND {}][NC {}] starting the execution failed: {}",
                          core->device().index(), core->core(), std::strerror(-rc));
    }
  }
  state_ = State::kRunning;
  return Status::ok();
}

void ExecutionImpl::finish() {
  if (state_ == State::kIdle) return;
  for (const auto& storage : reads_) storage->end(false);
  for (const auto& storage : writes_) storage->end(true);
  reads_.clear();
  writes_.clear();
  io_.reset();
  if (model_) model_->executions.fetch_sub(1, std::memory_order_release);
  model_.reset();
  state_ = State::kIdle;
}

}  // namespace opennrt::tdrv
