// SPDX-License-Identifier: Apache-2.0
//
// One execution: from tensor sets to tensors in the model's order, through the
// unit of its core, and back. Nothing is allocated once a slot has seen a model
// with as many tensors, and nothing is formatted unless it fails.
#include <span>

#include "kmgr/completions.h"
#include "kmgr/manager.h"
#include "log/log.h"
#include "trace/trace.h"

namespace opennrt::kmgr {

namespace {

Status bad_input(std::string_view direction, const neff::TensorInfo& info, std::string_view what) {
  return Status::make(NRT_EXEC_BAD_INPUT, "{} tensor {} ({} bytes): {}", direction, info.name,
                      info.size, what);
}

// Both lists are in byte order of the name, so one walk finds all. device[i]
// stays nullptr where host[i] is a host tensor.
Status match(const TensorSet& set, const std::vector<neff::TensorInfo>& wanted,
             std::string_view direction, std::vector<tdrv::Tensor*>& device,
             std::vector<tdrv::Tensor*>& host, std::vector<Tensors::Pin>& pins,
             bool* out_any_host) {
  const Tensors& tensors = Tensors::instance();
  device.assign(wanted.size(), nullptr);
  host.assign(wanted.size(), nullptr);
  auto entry = set.entries().begin();
  const auto end = set.entries().end();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const neff::TensorInfo& info = wanted[i];
    int order = -1;
    while (entry != end && (order = entry->name.compare(info.name)) < 0) ++entry;
    if (entry == end || order != 0) return bad_input(direction, info, "is missing in the set");
    pins.push_back(tensors.pin(entry->tensor));
    tdrv::Tensor* const tensor = pins.back().get();
    if (tensor == nullptr) return bad_input(direction, info, "has been freed");
    if (!tensor->has_storage()) return bad_input(direction, info, "has no storage");
    if (tensor->size() < info.size)
      return bad_input(direction, info, fmt::format("the tensor has {} bytes", tensor->size()));
    if (tensor->is_device()) {
      device[i] = tensor;
    } else {
      host[i] = tensor;
      *out_any_host = true;
    }
  }
  return {};
}

// The tensors stay alive until the execution is over.
struct Unpin {
  std::vector<Tensors::Pin>& pins;
  ~Unpin() { pins.clear(); }
};

void use_stand_ins(std::span<tdrv::Tensor* const> stand_ins, std::vector<tdrv::Tensor*>& device) {
  for (std::size_t i = 0; i < device.size(); ++i)
    if (device[i] == nullptr) device[i] = stand_ins[i];
}

}  // namespace

Status Manager::execute(ModelId id, TensorSetHandle inputs, TensorSetHandle outputs) {
  const Models::Reference record = models_.find(id);
  if (!record) return Status::make(NRT_INVALID_HANDLE, "model {} is not loaded", id);
  const std::uint32_t core = record->model->logical_core();
  const trace::Span call(trace::EventType::kExecuteApi, core, {id});
  const Tensors::SetPin input_set = Tensors::instance().pin_set(inputs);
  const Tensors::SetPin output_set = Tensors::instance().pin_set(outputs);
  if (!input_set || !output_set)
    return Status::invalid("{} is not a live tensor set", !input_set ? "input_set" : "output_set");
  const neff::Program& program = record->program();
  if (input_set->entries().size() != program.inputs.size())
    return Status::invalid("the input set has {} tensors, model {} has {} inputs",
                           input_set->entries().size(), program.name, program.inputs.size());

  Unit& unit = *units_[core];
  ONRT_LOG(kKmgr, kDebug, "model {} on logical core {}", id, core);
  const trace::Span run(trace::EventType::kRuntimeExecute, core, {id});
  const Unit::Lease slot(unit);
  slot->exec_id = unit.next_exec_id();
  slot->model_id = id;
  trace::Span pre(trace::EventType::kExecPre, core, {slot->exec_id, id});
  const Unpin unpin{slot->pins};
  bool host_inputs = false, host_outputs = false;
  ONRT_TRY(match(*input_set, program.inputs, "input", slot->inputs, slot->host_inputs, slot->pins,
                 &host_inputs));
  ONRT_TRY(match(*output_set, program.outputs, "output", slot->outputs, slot->host_outputs,
                 slot->pins, &host_outputs));
  StagingPool::Lease staging;
  if (host_inputs || host_outputs) {
    ONRT_ASSIGN(staging, record->staging.take());
    use_stand_ins(staging->inputs(), slot->inputs);
    use_stand_ins(staging->outputs(), slot->outputs);
  }
  if (host_inputs) ONRT_TRY(staging->copy_in(slot->host_inputs));
  record->submitted.store(true, std::memory_order_relaxed);
  pre.stop();
  Status status = unit.run(*slot, *record->model, record->timeout_ms);
  const trace::Span post(trace::EventType::kExecPost, core, {slot->exec_id, id});
  // With numerical errors the results are there, with NaN or Inf in them.
  const bool has_results = status.is_ok() || status.code() == NRT_EXEC_COMPLETED_WITH_NUM_ERR;
  if (host_outputs && has_results) {
    Status copied = staging->copy_out(slot->host_outputs);
    if (!copied) return copied;
  }
  if (has_results)
    for (std::size_t i = program.inputs.size(); i < slot->pins.size(); ++i)
      note_completion(*slot->pins[i]);
  return status;
}

}  // namespace opennrt::kmgr
