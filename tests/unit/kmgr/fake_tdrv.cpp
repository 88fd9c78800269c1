// SPDX-License-Identifier: Apache-2.0
#include "fake_tdrv.h"

#include <algorithm>
#include <thread>

namespace opennrt::tdrv {

Result<std::unique_ptr<Tensor>> make_empty_tensor(std::string_view name) {
  return std::unique_ptr<Tensor>(
      std::make_unique<kmgr::FakeTensor>(std::string(name), 0, false, -1));
}

}  // namespace opennrt::tdrv

namespace opennrt::kmgr {

namespace {

class FakeStaging final : public tdrv::IoStaging {
 public:
  FakeStaging(FakeTdrv& tdrv, const tdrv::Model& model) : tdrv_(tdrv) {
    const auto core = static_cast<std::int32_t>(model.logical_core());
    for (const auto& info : model.program().inputs) add(info, core, inputs_);
    for (const auto& info : model.program().outputs) add(info, core, outputs_);
  }
  std::span<tdrv::Tensor* const> inputs() override { return inputs_; }
  std::span<tdrv::Tensor* const> outputs() override { return outputs_; }
  Status copy_in(std::span<tdrv::Tensor* const> host) override {
    ++tdrv_.copies_in;
    for (std::size_t i = 0; i < host.size(); ++i)
      if (host[i] != nullptr) ONRT_TRY(inputs_[i]->copy_from(*host[i], 0, 0, inputs_[i]->size()));
    return {};
  }
  Status copy_out(std::span<tdrv::Tensor* const> host) override {
    ++tdrv_.copies_out;
    for (std::size_t i = 0; i < host.size(); ++i)
      if (host[i] != nullptr) ONRT_TRY(host[i]->copy_from(*outputs_[i], 0, 0, outputs_[i]->size()));
    return {};
  }

 private:
  void add(const neff::TensorInfo& info, std::int32_t core, std::vector<tdrv::Tensor*>& to) {
    owned_.push_back(std::make_unique<FakeTensor>(info.name, info.size, true, core));
    to.push_back(owned_.back().get());
  }
  FakeTdrv& tdrv_;
  std::vector<std::unique_ptr<FakeTensor>> owned_;
  std::vector<tdrv::Tensor*> inputs_, outputs_;
};

FakeExecution& fake(tdrv::Execution& e) { return static_cast<FakeExecution&>(e); }

}  // namespace

Result<std::unique_ptr<tdrv::Tensor>> FakeTdrv::allocate_tensor(nrt_tensor_placement_t placement,
                                                                std::uint32_t core,
                                                                std::uint64_t bytes,
                                                                std::string_view name) {
  const bool device = placement == NRT_TENSOR_PLACEMENT_DEVICE;
  return std::unique_ptr<tdrv::Tensor>(std::make_unique<FakeTensor>(
      std::string(name), bytes, device, device ? static_cast<std::int32_t>(core) : -1));
}

Status FakeTdrv::copy_ranges(std::span<const tdrv::TensorRanges> tensors,
                             tdrv::CopyDirection direction, bool wait) {
  if (wait) ++waited_batches;
  for (const auto& ranges : tensors)
    for (const auto& op : ranges.ops)
      ONRT_TRY(direction == tdrv::CopyDirection::kToTensor
                   ? ranges.tensor->write(op.buffer, op.offset, op.size)
                   : ranges.tensor->read(op.buffer, op.offset, op.size));
  return {};
}

Result<std::shared_ptr<tdrv::Model>> FakeTdrv::stage(std::shared_ptr<const neff::Program> program,
                                                     std::uint32_t core, std::uint32_t id) {
  if (on_stage) ONRT_TRY(on_stage());
  ++live_models;
  return std::shared_ptr<tdrv::Model>(std::make_shared<FakeModel>(std::move(program), core, id));
}

Status FakeTdrv::unstage(std::shared_ptr<tdrv::Model> model) {
  if (is_current(*model)) ++misuse;
  --live_models;
  return on_unstage ? on_unstage() : Status();
}

bool FakeTdrv::is_current(const tdrv::Model& model) const {
  const std::lock_guard lock(core_mutex_);
  const auto core = cores_.find(model.logical_core());
  return core != cores_.end() && core->second.current == &model;
}

Result<std::unique_ptr<tdrv::Execution>> FakeTdrv::make_execution(std::uint32_t core) {
  auto e = std::make_unique<FakeExecution>();
  e->core = core;
  return std::unique_ptr<tdrv::Execution>(std::move(e));
}

Status FakeTdrv::bind(tdrv::Execution& execution, tdrv::Model& model,
                      std::span<tdrv::Tensor* const> inputs,
                      std::span<tdrv::Tensor* const> outputs) {
  if (on_bind) ONRT_TRY(on_bind());
  ++binds;
  FakeExecution& e = fake(execution);
  e.model = static_cast<FakeModel*>(&model);
  e.inputs.assign(inputs.begin(), inputs.end());
  e.outputs.assign(outputs.begin(), outputs.end());
  if (std::count(inputs.begin(), inputs.end(), nullptr) != 0) ++misuse;
  return {};
}

Status FakeTdrv::bind_stop(tdrv::Execution& execution) {
  ++stops;
  ++binds;
  fake(execution).model = nullptr;
  return {};
}

Status FakeTdrv::arm(tdrv::Execution& execution) {
  if (on_arm) ONRT_TRY(on_arm());
  const std::lock_guard lock(core_mutex_);
  Core& core = cores_[fake(execution).core];
  if (core.armed != nullptr) ++misuse;  // arm and kick of one execution go together
  core.armed = &fake(execution);
  return {};
}

Status FakeTdrv::kick(tdrv::Execution& execution) {
  FakeExecution& e = fake(execution);
  const std::lock_guard lock(core_mutex_);
  Core& core = cores_[e.core];
  if (core.armed != &e) ++misuse;
  core.armed = nullptr;
  if (on_kick) ONRT_TRY(on_kick());
  e.number = ++core.kicked;
  e.steps_left = steps_per_execution;
  e.status = {};
  core.current = e.model;
  return {};
}

tdrv::StepResult FakeTdrv::step(tdrv::Execution& execution, std::uint64_t) {
  FakeExecution& e = fake(execution);
  const std::lock_guard lock(core_mutex_);
  Core& core = cores_[e.core];
  if (e.number != core.finished + 1) ++misuse;  // oldest first
  if (e.steps_left == steps_per_execution && e.model != nullptr && e.listener != nullptr)
    for (const std::size_t output : reports) e.listener->output_finished(output);
  if (--e.steps_left > 0) return tdrv::StepResult::kInFlight;
  ++core.finished;
  if (outcome) e.status = outcome(e.number);
  if (e.model != nullptr &&
      (e.status.is_ok() || e.status.code() == NRT_EXEC_COMPLETED_WITH_NUM_ERR))
    for (std::size_t i = 0; i < e.outputs.size(); ++i) {
      auto* out = static_cast<std::uint8_t*>(e.outputs[i]->va());
      const auto* in = static_cast<const std::uint8_t*>(e.inputs[i % e.inputs.size()]->va());
      for (std::uint64_t b = 0; b < e.model->program().outputs[i].size; ++b)
        out[b] = static_cast<std::uint8_t>(in[b] + 1);
    }
  return e.status.is_ok() ? tdrv::StepResult::kDone : tdrv::StepResult::kFailed;
}

void FakeTdrv::relax(std::uint32_t) { std::this_thread::yield(); }

Result<std::unique_ptr<tdrv::IoStaging>> FakeTdrv::make_io_staging(const tdrv::Model& model) {
  if (on_staging) ONRT_TRY(on_staging());
  ++stagings;
  return std::unique_ptr<tdrv::IoStaging>(std::make_unique<FakeStaging>(*this, model));
}

std::shared_ptr<const neff::Program> fake_program(
    const std::string& name, const std::map<std::string, std::uint64_t>& inputs,
    const std::map<std::string, std::uint64_t>& outputs) {
  auto program = std::make_shared<neff::Program>();
  program->name = name;
  for (const auto& [n, bytes] : inputs)
    program->inputs.push_back({.name = n, .dtype = NRT_DTYPE_UINT8, .shape = {}, .size = bytes});
  for (const auto& [n, bytes] : outputs)
    program->outputs.push_back({.name = n, .dtype = NRT_DTYPE_UINT8, .shape = {}, .size = bytes});
  return program;
}

}  // namespace opennrt::kmgr
