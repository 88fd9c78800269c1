// SPDX-License-Identifier: Apache-2.0
#include "tdrv/tensor.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "trace/trace.h"

namespace opennrt::tdrv {

// --- storage ------------------------------------------------------------------

void Storage::end(bool write) {
  // Sequentially consistent with wait_until(): either the waiter sees the
  // counter at zero, or we see the waiter.
  if ((write ? writers_ : readers_).fetch_sub(1) != 1) return;
  if (waiting_.load() == 0) return;
  const std::lock_guard lock(mutex_);
  idle_.notify_all();
}

template <typename Idle>
void Storage::wait_until(Idle idle, std::uint64_t tensor) {
  if (idle()) return;
  const trace::Span span(trace::EventType::kTensorBlockWhileExec,
                         trace::core_or_first(logical_core_),
                         {tensor, readers_.load(), writers_.load()});
  std::unique_lock lock(mutex_);
  waiting_.fetch_add(1);
  idle_.wait(lock, idle);
  waiting_.fetch_sub(1);
}

void Storage::wait_for_writers(std::uint64_t tensor) {
  wait_until([this] { return writers_.load() == 0; }, tensor);
}

void Storage::wait_for_all(std::uint64_t tensor) {
  wait_until([this] { return writers_.load() == 0 && readers_.load() == 0; }, tensor);
}

Status Storage::copy_in(std::uint64_t offset, const void* in, std::uint64_t n) {
  if (memory_) return memory_->copy_in(offset, in, n);
  if (n != 0) std::memmove(base_ + offset, in, n);
  return Status::ok();
}

Status Storage::copy_out(std::uint64_t offset, void* out, std::uint64_t n) {
  if (memory_) return memory_->copy_out(offset, out, n);
  if (n != 0) std::memmove(out, base_ + offset, n);
  return Status::ok();
}

Status Storage::fill(std::uint64_t offset, std::uint8_t value, std::uint64_t n) {
  if (memory_) return memory_->set(offset, value, n);
  if (n != 0) std::memset(base_ + offset, value, n);
  return Status::ok();
}

// --- view ---------------------------------------------------------------------

void* TensorImpl::va() {
  if (!storage_) return nullptr;
  if (!storage_->memory()) return storage_->base() + offset_;
  Result<void*> mapped = storage_->memory()->map();
  return mapped ? static_cast<void*>(static_cast<std::byte*>(*mapped) + offset_) : nullptr;
}

Result<std::uint64_t> TensorImpl::device_address() const {
  if (!is_device()) {
    return Status::invalid("tensor '{}' has no device memory: allocate it with placement DEVICE",
                           name_);
  }
  if (!storage_->memory()->alive()) {
    return Status::make(NRT_CLOSED, "tensor '{}': its device has been closed", name_);
  }
  return storage_->memory()->address() + offset_;
}

Result<Allocation> TensorImpl::allocation() const {
  ONRT_ASSIGN(const std::uint64_t address, device_address());
  return Allocation{
      .address = address, .bytes = storage_->bytes(), .hbm = storage_->memory()->channel()};
}

Status TensorImpl::check(const char* what, std::uint64_t offset, std::uint64_t bytes) const {
  if (!storage_) {
    return Status::invalid("{} tensor '{}': it has no storage; attach a buffer first", what, name_);
  }
  if (offset > size_ || bytes > size_ - offset) {
    return Status::invalid("{} tensor '{}': range [{}, +{}) is outside its {} bytes", what, name_,
                           offset, bytes, size_);
  }
  return Status::ok();
}

Status TensorImpl::read(void* out, std::uint64_t offset, std::uint64_t bytes) {
  ONRT_TRY(check("reading", offset, bytes));
  if (bytes == 0) return Status::ok();
  if (out == nullptr) return Status::invalid("reading tensor '{}': buffer is NULL", name_);
  storage_->wait_for_writers(trace_id);
  return storage_->copy_out(offset_ + offset, out, bytes);
}

Status TensorImpl::write(const void* in, std::uint64_t offset, std::uint64_t bytes) {
  ONRT_TRY(check("writing", offset, bytes));
  if (bytes == 0) return Status::ok();
  if (in == nullptr) return Status::invalid("writing tensor '{}': buffer is NULL", name_);
  storage_->wait_for_all(trace_id);
  return storage_->copy_in(offset_ + offset, in, bytes);
}

Status TensorImpl::set(std::uint8_t value, std::uint64_t offset, std::uint64_t bytes) {
  ONRT_TRY(check("filling", offset, bytes));
  if (bytes == 0) return Status::ok();
  storage_->wait_for_all(trace_id);
  return storage_->fill(offset_ + offset, value, bytes);
}

Status TensorImpl::copy_from(Tensor& source_tensor, std::uint64_t source_offset,
                             std::uint64_t offset, std::uint64_t bytes) {
  auto& source = static_cast<TensorImpl&>(source_tensor);  // every Tensor is one of ours
  ONRT_TRY(source.check("copying from", source_offset, bytes));
  ONRT_TRY(check("copying to", offset, bytes));
  if (bytes == 0) return Status::ok();
  source.storage_->wait_for_writers(source.trace_id);
  storage_->wait_for_all(trace_id);
  const std::uint64_t from = source.offset_ + source_offset;
  const std::uint64_t to = offset_ + offset;
  if (source.is_device() && is_device()) {
    const Dmem& s = *source.storage_->memory();
    Dmem& t = *storage_->memory();
    if (&s.pool() != &t.pool() || s.channel() != t.channel()) {
      return Status::invalid(
          "copy from tensor '{}' (device {}, HBM {}) to '{}' (device {}, HBM {}): both must be "
          "allocated on the same HBM; copy through a host buffer instead",
          source.name_, s.pool().device_index(), s.channel(), name_, t.pool().device_index(),
          t.channel());
    }
    const bool overlap = &s == &t && from < to + bytes && to < from + bytes;
    if (!overlap) return Dmem::copy(t, to, s, from, bytes);
  }
  if (std::byte* base = storage_->base(); base != nullptr) {
    return source.storage_->copy_out(from, base + to, bytes);
  }
  if (const std::byte* base = source.storage_->base(); base != nullptr) {
    return storage_->copy_in(to, base + from, bytes);
  }
  // Both sides need the driver (one of them DMA-able host memory, or one
  // storage overlapping itself): whole range through the heap.
  std::unique_ptr<std::byte[]> block(new (std::nothrow) std::byte[bytes]);
  if (!block) return Status::resource("copying {} bytes between tensors: out of memory", bytes);
  ONRT_TRY(source.storage_->copy_out(from, block.get(), bytes));
  return storage_->copy_in(to, block.get(), bytes);
}

Result<std::unique_ptr<Tensor>> TensorImpl::slice(std::uint64_t offset, std::uint64_t bytes,
                                                  std::string_view name) {
  ONRT_TRY(check("slicing", offset, bytes));
  return std::unique_ptr<Tensor>(
      std::make_unique<TensorImpl>(name, storage_, offset_ + offset, bytes));
}

Status TensorImpl::attach(void* buffer, std::uint64_t bytes) {
  if (buffer == nullptr || bytes == 0) {
    return Status::invalid("attaching to tensor '{}': buffer {} of {} bytes", name_,
                           static_cast<const void*>(buffer), bytes);
  }
  if (storage_) storage_->wait_for_all(trace_id);
  storage_ = std::make_shared<Storage>(buffer, bytes);
  offset_ = 0;
  size_ = bytes;
  return Status::ok();
}

void TensorImpl::begin_access(bool write) {
  if (storage_) storage_->begin(write);
}

void TensorImpl::end_access(bool write) {
  if (storage_) storage_->end(write);
}

Result<std::unique_ptr<Tensor>> make_empty_tensor(std::string_view name) {
  return std::unique_ptr<Tensor>(std::make_unique<TensorImpl>(name, nullptr, 0, 0));
}

}  // namespace opennrt::tdrv
