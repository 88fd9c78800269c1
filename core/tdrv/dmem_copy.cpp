// SPDX-License-Identifier: Apache-2.0
//
// Copies between the CPU and device memory. Host memory of the driver is copied
// directly; HBM goes through the staging buffer of its core, double-buffered
// when it does not fit one chunk. Large copies to and from a software device are
// left to its driver.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tdrv/dmem.h"
#include "trace/trace.h"

namespace opennrt::tdrv {
namespace {

constexpr std::uint64_t kSmall = 0x4000, kLarge = 0x100000;

// Chunk by size: small copies in one, middle ones in two halves, large ones in
// 1 MiB steps (behaviour of the original's copy path).
std::uint64_t chunk_bytes(std::uint64_t bytes, std::uint64_t half) {
  std::uint64_t chunk = kLarge;
  if (bytes < kSmall) {
    chunk = kSmall;
  } else if (bytes <= kLarge) {
    chunk = ((bytes / 2) + 0xFFF) & ~0xFFFull;
  }
  return std::min(chunk, half);
}

}  // namespace

const nrtp_ndl_copy_buf& MemoryPool::ask_buffer(Bounce& bounce, std::uint32_t core) {
  if (!bounce.asked) {
    bounce.asked = true;
    if (ndl_->mem->copy_buf(ctx_, dev_, core, &bounce.buffer) != 0) bounce.buffer = {};
  }
  return bounce.buffer;
}

Status Dmem::transfer(std::uint64_t src, std::uint64_t dst, std::uint64_t src_offset,
                      std::uint64_t dst_offset, std::uint64_t bytes) const {
  const nrtp_ndl_copy& copy = *pool_->ndl().copy;
  if (!pool_->no_copy_.load(std::memory_order_relaxed)) {
    const int rc = copy.copy(pool_->ctx(), src, dst, src_offset, dst_offset, bytes);
    if (rc == 0) return Status::ok();
    if (rc != -EINVAL) return failed("copying", dst_offset, bytes, rc);
    pool_->no_copy_.store(true, std::memory_order_relaxed);  // ranges are checked: no such member
  }
  std::int32_t wait = -1;
  int rc = copy.copy_async(pool_->ctx(), src, dst, src_offset, dst_offset, bytes, 0, &wait);
  if (rc == 0 && wait != 0) rc = copy.copy_wait(pool_->ctx(), handle_, wait);
  return rc == 0 ? Status::ok() : failed("copying", dst_offset, bytes, rc);
}

Status Dmem::staged_in(std::uint64_t offset, const char* source, std::uint64_t bytes) {
  const nrtp_ndl_copy& copy = *pool_->ndl().copy;
  MemoryPool::Bounce& bounce = pool_->bounce(core_);
  const std::lock_guard lock(bounce.mutex);
  const nrtp_ndl_copy_buf& b = pool_->ask_buffer(bounce, core_);
  if (b.va == nullptr || b.bytes < 2 * kSmall) {
    const int rc = copy.in(pool_->ctx(), handle_, offset + align_offset_, source, bytes);
    return rc == 0 ? Status::ok() : failed("writing", offset, bytes, rc);
  }
  const std::uint64_t half = b.bytes / 2;
  const std::uint64_t chunk = chunk_bytes(bytes, half);
  char* const stage = static_cast<char*>(b.va);
  const std::uint64_t device = offset + align_offset_;
  if (bytes <= chunk) {
    std::memcpy(stage, source, bytes);
    return transfer(b.mem, handle_, 0, device, bytes);
  }
  // Fill one half while the other is in flight.
  std::int32_t wait = -1;
  int rc = 0;
  std::uint64_t done = 0;
  for (std::uint32_t i = 0; done < bytes && rc == 0; ++i) {
    const std::uint64_t n = std::min(chunk, bytes - done);
    const std::uint64_t at = (i & 1u) * half;
    std::memcpy(stage + at, source + done, n);
    // Passing the previous handle also waits for that transfer.
    rc = copy.copy_async(pool_->ctx(), b.mem, handle_, at, device + done, n, 0, &wait);
    done += n;
  }
  if (wait > 0) {
    const int last = copy.copy_wait(pool_->ctx(), handle_, wait);
    if (rc == 0) rc = last;
  }
  return rc == 0 ? Status::ok() : failed("writing", offset, bytes, rc);
}

Status Dmem::staged_out(std::uint64_t offset, char* target, std::uint64_t bytes) {
  const nrtp_ndl_copy& copy = *pool_->ndl().copy;
  MemoryPool::Bounce& bounce = pool_->bounce(core_);
  const std::lock_guard lock(bounce.mutex);
  const nrtp_ndl_copy_buf& b = pool_->ask_buffer(bounce, core_);
  if (b.va == nullptr || b.bytes < 2 * kSmall) {
    const int rc = copy.out(pool_->ctx(), handle_, offset + align_offset_, target, bytes);
    return rc == 0 ? Status::ok() : failed("reading", offset, bytes, rc);
  }
  const std::uint64_t half = b.bytes / 2;
  const std::uint64_t chunk = chunk_bytes(bytes, half);
  const char* const stage = static_cast<const char*>(b.va);
  const std::uint64_t device = offset + align_offset_;
  if (bytes <= chunk) {
    ONRT_TRY(transfer(handle_, b.mem, device, 0, bytes));
    std::memcpy(target, stage, bytes);
    return Status::ok();
  }
  std::int32_t wait = -1;
  int rc = 0;
  std::uint64_t started = 0, delivered = 0, pending = 0;
  for (std::uint32_t i = 0; started < bytes && rc == 0; ++i) {
    const std::uint64_t n = std::min(chunk, bytes - started);
    const std::int32_t previous = wait;
    rc = copy.copy_async(pool_->ctx(), handle_, b.mem, device + started, (i & 1u) * half, n, 0,
                         &wait);
    if (rc != 0 && previous > 0) copy.copy_wait(pool_->ctx(), handle_, previous);
    // The chunk before this one has arrived: deliver it even when this one failed.
    if (pending != 0) {
      std::memcpy(target + delivered, stage + ((i + 1) & 1u) * half, pending);
      delivered += pending;
      pending = 0;
    }
    if (rc == 0) {
      pending = n;
      started += n;
    }
  }
  if (rc == 0 && wait > 0) rc = copy.copy_wait(pool_->ctx(), handle_, wait);
  if (rc != 0) return failed("reading", offset + delivered, bytes - delivered, rc);
  const std::uint64_t chunks = (bytes + chunk - 1) / chunk;
  std::memcpy(target + delivered, stage + ((chunks - 1) & 1u) * half, pending);
  return Status::ok();
}

Status Dmem::copy_in(std::uint64_t offset, const void* source, std::uint64_t bytes) {
  ONRT_TRY(check(offset, bytes));
  if (bytes == 0) return Status::ok();
  const trace::Span span(trace::EventType::kDmemBufCopyin, pool_->logical_core(core_),
                         {location_ == Location::kDevice, handle_, offset, bytes});
  if (location_ == Location::kDevice && !(pool_->driver_copies_ && bytes > kLarge)) {
    return staged_in(offset, static_cast<const char*>(source), bytes);
  }
  if (void* va = va_.load(std::memory_order_acquire); va != nullptr) {
    std::memcpy(static_cast<char*>(va) + align_offset_ + offset, source, bytes);
    return Status::ok();
  }
  const int rc =
      pool_->ndl().copy->in(pool_->ctx(), handle_, offset + align_offset_, source, bytes);
  return rc == 0 ? Status::ok() : failed("writing", offset, bytes, rc);
}

Status Dmem::copy_out(std::uint64_t offset, void* target, std::uint64_t bytes) {
  ONRT_TRY(check(offset, bytes));
  if (bytes == 0) return Status::ok();
  const trace::Span span(trace::EventType::kDmemBufCopyout, pool_->logical_core(core_),
                         {location_ == Location::kDevice, handle_, offset, bytes});
  if (location_ == Location::kDevice && !(pool_->driver_copies_ && bytes > kLarge)) {
    return staged_out(offset, static_cast<char*>(target), bytes);
  }
  if (const void* va = va_.load(std::memory_order_acquire); va != nullptr) {
    std::memcpy(target, static_cast<const char*>(va) + align_offset_ + offset, bytes);
    return Status::ok();
  }
  const int rc =
      pool_->ndl().copy->out(pool_->ctx(), handle_, offset + align_offset_, target, bytes);
  return rc == 0 ? Status::ok() : failed("reading", offset, bytes, rc);
}

Status Dmem::set(std::uint64_t offset, std::uint8_t value, std::uint64_t bytes) {
  ONRT_TRY(check(offset, bytes));
  if (bytes == 0) return Status::ok();
  const int rc =
      pool_->ndl().copy->set(pool_->ctx(), handle_, offset + align_offset_, value, bytes);
  if (rc == 0) return Status::ok();
  if (rc != -EINVAL) return failed("filling", offset, bytes, rc);
  // No such member: through the copy path.
  char block[4096];
  std::memset(block, value, sizeof(block));
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t n = std::min<std::uint64_t>(sizeof(block), bytes - done);
    ONRT_TRY(copy_in(offset + done, block, n));
    done += n;
  }
  return Status::ok();
}

Status Dmem::copy(Dmem& target, std::uint64_t target_offset, const Dmem& source,
                  std::uint64_t source_offset, std::uint64_t bytes) {
  ONRT_TRY(target.check(target_offset, bytes));
  ONRT_TRY(source.check(source_offset, bytes));
  if (bytes == 0) return Status::ok();
  if (target.pool_ != source.pool_) {
    return Status::invalid("copy between devices {} and {}: go through the host",
                           source.pool_->device_index(), target.pool_->device_index());
  }
  return target.transfer(source.handle_, target.handle_, source_offset + source.align_offset_,
                         target_offset + target.align_offset_, bytes);
}

}  // namespace opennrt::tdrv
