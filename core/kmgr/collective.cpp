// SPDX-License-Identifier: Apache-2.0
#include "kmgr/collective.h"

namespace opennrt::kmgr {

namespace {

std::uint64_t bytes_of(nrt_dtype_t dtype) {
  switch (dtype) {
    case NRT_DTYPE_INT8:
    case NRT_DTYPE_UINT8:
      return 1;
    case NRT_DTYPE_FLOAT16:
    case NRT_DTYPE_BFLOAT16:
    case NRT_DTYPE_INT16:
    case NRT_DTYPE_UINT16:
      return 2;
    case NRT_DTYPE_FLOAT32:
    case NRT_DTYPE_FP32R:
    case NRT_DTYPE_INT32:
    case NRT_DTYPE_UINT32:
      return 4;
    case NRT_DTYPE_INT64:
    case NRT_DTYPE_UINT64:
      return 8;
    default:
      return 0;
  }
}

}  // namespace

Status Collective::pin() {
  pins.clear();
  const std::uint64_t element_bytes = bytes_of(dtype);
  if (element_bytes == 0) return Status::invalid("dtype {} is not known", static_cast<int>(dtype));
  for (const auto* list : {&inputs, &outputs})
    for (const TensorHandle handle : *list) {
      pins.push_back(Tensors::instance().pin(handle));
      const tdrv::Tensor* const tensor = pins.back().get();
      if (tensor == nullptr) return Status::invalid("tensor {:#x} is not a live tensor", handle);
      if (!tensor->has_storage() || !tensor->is_device())
        return Status::invalid("tensor {} is no device tensor; collectives need one",
                               tensor->name());
    }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const tdrv::Tensor &in = *pins[i], &out = *pins[inputs.size() + i];
    if (in.size() != out.size())
      return Status::invalid("output {} has {} bytes, with one rank it needs the {} of input {}",
                             out.name(), out.size(), in.size(), in.name());
    if (in.size() % element_bytes != 0)
      return Status::invalid("input {} has {} bytes, which are not whole elements of {}", in.name(),
                             in.size(), element_bytes);
  }
  return {};
}

Status Collective::run() {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    tdrv::Tensor &in = *pins[i], &out = *pins[inputs.size() + i];
    if (inputs[i] != outputs[i]) ONRT_TRY(out.copy_from(in, 0, 0, in.size()));
  }
  return {};
}

}  // namespace opennrt::kmgr
