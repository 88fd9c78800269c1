// SPDX-License-Identifier: Apache-2.0
#include "kmgr/binding.h"

#include "kmgr/completions.h"

namespace opennrt::kmgr {

namespace {

Status bad_input(std::string_view direction, const neff::TensorInfo& info, std::string_view what) {
  return Status::make(NRT_EXEC_BAD_INPUT, "{} tensor {} ({} bytes): {}", direction, info.name,
                      info.size, what);
}

// Both lists are in byte order of the name, so one walk finds all.
Status match(const TensorSet& set, const std::vector<neff::TensorInfo>& wanted,
             std::string_view direction, std::vector<tdrv::Tensor*>& device,
             std::vector<tdrv::Tensor*>& host, std::vector<Tensors::Pin>& pins, bool* any_host) {
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
      *any_host = true;
    }
  }
  return {};
}

}  // namespace

Status Binding::fill(TensorSetHandle input_set, TensorSetHandle output_set,
                     const neff::Program& program) {
  const Tensors::SetPin in = Tensors::instance().pin_set(input_set);
  const Tensors::SetPin out = Tensors::instance().pin_set(output_set);
  if (!in || !out)
    return Status::invalid("{} is not a live tensor set", !in ? "input_set" : "output_set");
  if (in->entries().size() != program.inputs.size())
    return Status::invalid("the input set has {} tensors, model {} has {} inputs",
                           in->entries().size(), program.name, program.inputs.size());
  any_host_input = any_host_output = false;
  finished.assign(program.outputs.size(), false);
  ONRT_TRY(match(*in, program.inputs, "input", inputs, host_inputs, pins, &any_host_input));
  return match(*out, program.outputs, "output", outputs, host_outputs, pins, &any_host_output);
}

Status Binding::check_core(const neff::Program& program, std::int32_t logical_core) const {
  const auto check = [&](const std::vector<tdrv::Tensor*>& tensors,
                         const std::vector<neff::TensorInfo>& infos,
                         std::string_view direction) -> Status {
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i] != nullptr && tensors[i]->logical_core() != logical_core)
        return bad_input(direction, infos[i],
                         fmt::format("the tensor is on logical core {}, the model on {}",
                                     tensors[i]->logical_core(), logical_core));
    return {};
  };
  ONRT_TRY(check(inputs, program.inputs, "input"));
  return check(outputs, program.outputs, "output");
}

void Binding::output_finished(std::size_t output) {
  if (output >= finished.size() || host_outputs[output] != nullptr || finished[output]) return;
  finished[output] = true;
  note_completion(*pins[inputs.size() + output]);
}

void Binding::count_the_rest() {
  for (std::size_t i = 0; i < finished.size(); ++i)
    if (!finished[i]) note_completion(*pins[inputs.size() + i]);
}

}  // namespace opennrt::kmgr
