// SPDX-License-Identifier: Apache-2.0
//
// A tensor that a program offers to a debugger while it runs.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "log/log.h"
#include "nrt/ndebug_stream.h"
#include "tdrv/execution.h"
#include "tdrv/tensor.h"
#include "trace/debug_stream.h"

namespace opennrt::tdrv {
namespace {

const char* dtype_name(nrt_dtype_t dtype) {
  // Index = nrt_dtype_t.
  static constexpr const char* kNames[] = {
      "unknown", "uint64", "int8",    "uint8",    "int16", "uint16",   "bfloat16", "float16",
      "int32",   "uint32", "float32", "float32r", "int64", "float8e3", "float8e4", "float8e5"};
  const auto i = static_cast<std::size_t>(dtype);
  return i < std::size(kNames) ? kNames[i] : kNames[0];
}

void copy_text(char* to, std::size_t bytes, std::string_view text) {
  std::memcpy(to, text.data(), std::min(text.size(), bytes - 1));
}

}  // namespace

void ExecutionImpl::publish_debug_tensor(std::size_t core_index, std::uint32_t engine,
                                         const Notification& n) {
  namespace stream = trace::debug_stream;
  if (!stream::has_client(logical_->index)) return;
  const std::size_t output = n.debug_hint;
  const neff::TensorInfo& info = model_->program().outputs[output];
  Storage& storage = *writes_[output];
  std::vector<std::byte> data(info.size);
  // Not through the tensor: that would wait for this very execution.
  const std::uint64_t offset =
      key_[model_->program().inputs.size() + output] - storage.memory()->address();
  if (Status read = storage.copy_out(offset, data.data(), data.size()); !read) {
    ONRT_LOG(kTdrv, kWarn, "model '{}', debug tensor '{}': {}", program_name(), info.name,
             read.message());
    return;
  }
  ndebug_stream_payload_debug_tensor_read_t head{};
  copy_text(head.prefix, sizeof head.prefix,
            fmt::format("[NC {}] {}", logical_->cores[core_index]->core(), info.name));
  head.logical_nc_id = logical_->index;
  head.pipe = engine;
  copy_text(head.tensor_dtype, sizeof head.tensor_dtype, dtype_name(info.dtype));
  for (std::size_t d = 0; d < std::min(info.shape.size(), std::size(head.tensor_shape)); ++d)
    head.tensor_shape[d] = info.shape[d];
  head.tensor_data_size = data.size();
  const std::array<std::span<const std::byte>, 2> parts = {std::as_bytes(std::span(&head, 1)),
                                                           std::span<const std::byte>(data)};
  stream::publish(logical_->index, NDEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ, parts);
}

}  // namespace opennrt::tdrv
