// SPDX-License-Identifier: Apache-2.0
//
// Many ranges of many tensors in few driver requests.
#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include "tdrv/tdrv_impl.h"
#include "tdrv/tensor.h"
#include "trace/trace.h"

namespace opennrt::tdrv {
namespace {

// Every Tensor is one of ours.
TensorImpl& impl(Tensor& tensor) { return static_cast<TensorImpl&>(tensor); }

Status check(const TensorRanges& ranges, const char* what) {
  for (const nrt_tensor_batch_op_t& op : ranges.ops) {
    ONRT_TRY(impl(*ranges.tensor).check(what, op.offset, op.size));
    if (op.buffer == nullptr && op.size != 0)
      return Status::invalid("{} tensor '{}': the buffer of a range is NULL", what,
                             ranges.tensor->name());
  }
  return Status::ok();
}

Status copy_one_by_one(const TensorRanges& ranges, CopyDirection direction) {
  const TensorImpl& tensor = impl(*ranges.tensor);
  for (const nrt_tensor_batch_op_t& op : ranges.ops) {
    if (op.size == 0) continue;
    const std::uint64_t at = tensor.offset() + op.offset;
    ONRT_TRY(direction == CopyDirection::kToTensor
                 ? tensor.storage()->copy_in(at, op.buffer, op.size)
                 : tensor.storage()->copy_out(at, op.buffer, op.size));
  }
  return Status::ok();
}

// The device ranges of one device, in the form of the driver layer.
struct DeviceBatch {
  std::vector<nrtp_copy_batch> batches;
  std::vector<nrtp_copy_op> ops;          // of all batches, in their order
  std::vector<const TensorRanges*> from;  // for the way without batches

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const nrtp_copy_op& op : ops) sum += op.size;
    return sum;
  }
  void add(const TensorRanges& ranges) {
    const TensorImpl& tensor = impl(*ranges.tensor);
    const Dmem& memory = *tensor.storage()->memory();
    const std::size_t before = ops.size();
    // An empty range is an error for the driver.
    for (const nrt_tensor_batch_op_t& op : ranges.ops)
      if (op.size != 0) ops.push_back({op.offset, op.size, op.buffer});
    if (ops.size() == before) return;
    from.push_back(&ranges);
    batches.push_back({.mem = memory.handle(),
                       .mem_offset = memory.align_offset() + tensor.offset(),
                       .ops = nullptr,
                       .n_ops = static_cast<std::uint32_t>(ops.size() - before),
                       .bar4_threshold = 0});
  }

  int run(MemoryPool& pool, CopyDirection direction) {
    const nrtp_copy_op* next = ops.data();
    for (nrtp_copy_batch& batch : batches) {
      batch.ops = next;
      next += batch.n_ops;
    }
    return pool.ndl().copy->batch(pool.ctx(), pool.dev(), batches.data(),
                                  static_cast<std::uint32_t>(batches.size()),
                                  static_cast<std::uint32_t>(direction), -1);
  }
};

}  // namespace

Status TdrvImpl::copy_ranges(std::span<const TensorRanges> tensors, CopyDirection direction,
                             bool wait) {
  const bool write = direction == CopyDirection::kToTensor;
  for (const TensorRanges& ranges : tensors) {
    ONRT_TRY(check(ranges, write ? "writing" : "reading"));
    const TensorImpl& tensor = impl(*ranges.tensor);
    if (tensor.is_device() && !tensor.storage()->memory()->alive())
      return Status::make(NRT_CLOSED, "tensor '{}': its device has been closed", tensor.name());
  }
  if (wait) {
    for (const TensorRanges& ranges : tensors) {
      if (ranges.ops.empty()) continue;
      Storage& storage = *impl(*ranges.tensor).storage();
      write ? storage.wait_for_all(ranges.tensor->trace_id)
            : storage.wait_for_writers(ranges.tensor->trace_id);
    }
  }
  std::map<MemoryPool*, DeviceBatch> devices;
  for (const TensorRanges& ranges : tensors) {
    if (ranges.ops.empty()) continue;
    const TensorImpl& tensor = impl(*ranges.tensor);
    if (tensor.is_device() && !batch_copy_refused_->load(std::memory_order_relaxed))
      devices[&tensor.storage()->memory()->pool()].add(ranges);
    else
      ONRT_TRY(copy_one_by_one(ranges, direction));
  }
  for (auto& [pool, device] : devices) {
    if (device.batches.empty()) continue;
    const auto type =
        write ? trace::EventType::kDmemBufBatchCopyin : trace::EventType::kDmemBufBatchCopyout;
    const trace::Span span(
        type, trace::core_or_first(device.from.front()->tensor->logical_core()),
        {1, device.batches.size(), device.ops.size(), trace::wanted(type) ? device.bytes() : 0});
    const int rc = device.run(*pool, direction);
    if (rc == 0) continue;
    if (rc != -EINVAL)
      return Status::make(status_of_errno(rc), "[ND {}] copying {} ranges of {} tensors failed: {}",
                          pool->device_index(), device.ops.size(), device.batches.size(),
                          std::strerror(-rc));
    // The driver has no batches on this silicon.
    batch_copy_refused_->store(true, std::memory_order_relaxed);
    for (const TensorRanges* ranges : device.from) ONRT_TRY(copy_one_by_one(*ranges, direction));
  }
  return Status::ok();
}

std::optional<MappedMemory> TdrvImpl::mapped_memory(const void* address) {
  for (const auto& logical : logical_)
    for (CoreNode* core : logical->cores)
      if (auto found = core->allocator()->mapped(address)) return found;
  return std::nullopt;
}

}  // namespace opennrt::tdrv
