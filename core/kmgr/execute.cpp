// SPDX-License-Identifier: Apache-2.0
//
// One execution: from tensor sets to tensors in the model's order, through the
// unit of its core, and back. Nothing is allocated once a slot has seen a model
// with as many tensors, and nothing is formatted unless it fails.
#include <span>

#include "dump/core_dump.h"
#include "kmgr/manager.h"
#include "log/context.h"
#include "log/log.h"
#include "trace/trace.h"

namespace opennrt::kmgr {

namespace {

// The tensors stay alive until the execution is over.
struct Unbind {
  Binding& binding;
  ~Unbind() { binding.clear(); }
};

void use_stand_ins(std::span<tdrv::Tensor* const> stand_ins, std::vector<tdrv::Tensor*>& device) {
  for (std::size_t i = 0; i < device.size(); ++i)
    if (device[i] == nullptr) device[i] = stand_ins[i];
}

}  // namespace

Status Manager::execute(ModelId id, TensorSetHandle inputs, TensorSetHandle outputs) {
  const Models::Reference record = models_.find(id);
  if (!record) return Status::make(NRT_INVALID_HANDLE, "model {} is not loaded", id);
  const trace::Span call(trace::EventType::kExecuteApi, record->model->logical_core(), {id});
  const Unit::Lease slot(*units_[record->model->logical_core()]);
  const Unbind unbind{slot->binding};
  if (Status bound = slot->binding.fill(inputs, outputs, record->program()); !bound) {
    tdrv_->count_failure(record->model->logical_core(), bound.code());
    return bound;
  }
  return run_on(*slot, *record, slot->binding);
}

Status Manager::run(ModelRecord& record, Binding& binding) {
  const Unit::Lease slot(*units_[record.model->logical_core()]);
  return run_on(*slot, record, binding);
}

Status Manager::run_on(Unit::Slot& slot, ModelRecord& record, Binding& binding) {
  const std::uint32_t core = record.model->logical_core();
  Unit& unit = *units_[core];
  log::set_core(static_cast<std::int32_t>(core));
  ONRT_LOG(kKmgr, kDebug, "model {} on logical core {}", record.id, core);
  const trace::Span run(trace::EventType::kRuntimeExecute, core, {record.id});
  slot.exec_id = unit.next_exec_id();
  slot.model_id = record.id;
  trace::Span pre(trace::EventType::kExecPre, core, {slot.exec_id, record.id});
  StagingPool::Lease staging;
  if (binding.any_host_input || binding.any_host_output) {
    ONRT_ASSIGN(staging, record.staging.take());
    use_stand_ins(staging->inputs(), binding.inputs);
    use_stand_ins(staging->outputs(), binding.outputs);
  }
  if (binding.any_host_input) ONRT_TRY(staging->copy_in(binding.host_inputs));
  record.submitted.store(true, std::memory_order_relaxed);
  pre.stop();
  slot.execution->listener = &binding;
  Status status = unit.run(slot, *record.model, binding.inputs, binding.outputs, record.timeout_ms);
  slot.execution->listener = nullptr;
  const trace::Span post(trace::EventType::kExecPost, core, {slot.exec_id, record.id});
  if (dump::deserves_dump(status.code()))
    dump::blame(static_cast<std::int32_t>(core), record.program().name, record.program().uuid);
  // With numerical errors the results are there, with NaN or Inf in them.
  const bool has_results = status.is_ok() || status.code() == NRT_EXEC_COMPLETED_WITH_NUM_ERR;
  if (binding.any_host_output && has_results) {
    Status copied = staging->copy_out(binding.host_outputs);
    if (!copied) return copied;
  }
  if (has_results) binding.count_the_rest();
  return status;
}

}  // namespace opennrt::kmgr
