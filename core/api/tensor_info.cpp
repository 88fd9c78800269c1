// SPDX-License-Identifier: Apache-2.0
#include "api/tensor_info.h"

#include <stdlib.h>
#include <string.h>

#include <algorithm>

namespace opennrt::api {

namespace {

bool fill(const neff::TensorInfo& from, nrt_tensor_usage_t usage, nrt_tensor_info_t* to) {
  // The array is zeroed, so the name ends with NUL.
  memcpy(to->name, from.name.data(),
         std::min<std::size_t>(from.name.size(), NRT_TENSOR_NAME_MAX - 1));
  to->usage = usage;
  to->size = from.size;
  to->dtype = from.dtype;
  to->ndim = static_cast<std::uint32_t>(from.shape.size());
  if (from.shape.empty()) return true;
  const std::size_t bytes = from.shape.size() * sizeof(std::uint32_t);
  to->shape = static_cast<std::uint32_t*>(malloc(bytes));
  if (to->shape == nullptr) return false;
  memcpy(to->shape, from.shape.data(), bytes);
  return true;
}

}  // namespace

Result<nrt_tensor_info_array_t*> make_tensor_info(const neff::Program& program) {
  const std::size_t count = program.inputs.size() + program.outputs.size();
  auto* array = static_cast<nrt_tensor_info_array_t*>(
      calloc(1, sizeof(nrt_tensor_info_array_t) + count * sizeof(nrt_tensor_info_t)));
  bool ok = array != nullptr;
  if (ok) array->tensor_count = count;
  nrt_tensor_info_t* to = ok ? array->tensor_array : nullptr;
  for (const auto& info : program.inputs) ok = ok && fill(info, NRT_TENSOR_USAGE_INPUT, to++);
  for (const auto& info : program.outputs) ok = ok && fill(info, NRT_TENSOR_USAGE_OUTPUT, to++);
  if (ok) return array;
  free_tensor_info(array);
  return Status::resource("out of host memory for {} tensor descriptions", count);
}

void free_tensor_info(nrt_tensor_info_array_t* array) {
  if (array == nullptr) return;
  for (std::uint64_t i = 0; i < array->tensor_count; ++i) free(array->tensor_array[i].shape);
  free(array);
}

}  // namespace opennrt::api
