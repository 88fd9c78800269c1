// SPDX-License-Identifier: Apache-2.0
//
// Copies between host buffers, device memory and engine memories. A length of
// zero is answered here: the driver would move one descriptor of 64 KiB.
#include <algorithm>
#include <cerrno>
#include <new>

#include "ndl-common/ops.h"

namespace opennrt::ndl {
namespace {

// Drivers up to 2.26.5.0 count the bytes of a copy in 32 bits.
constexpr uint64_t kPieceBytes = uint64_t{1} << 30;

uint8_t* advance(const void* buffer, uint64_t bytes) {
  return static_cast<uint8_t*>(const_cast<void*>(buffer)) + bytes;
}

// Calls f(done, count) for every piece of `bytes`; stops at the first error.
template <typename F>
int in_pieces(uint64_t bytes, F&& f) {
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t count = std::min(bytes - done, kPieceBytes);
    if (const int error = f(done, count)) return error;
    done += count;
  }
  return 0;
}

int buffer_copy(void* ctx, uint64_t mem, uint64_t offset, const void* buffer, uint64_t bytes,
                bool to_device) noexcept {
  const OnMemory at = on_memory(ctx, mem);
  if (at.error) return at.error;
  if (!at.holds(offset, bytes) || (bytes && !buffer)) return -EINVAL;
  return in_pieces(bytes, [&](uint64_t done, uint64_t count) {
    ndl_buf_copy arg{};
    arg.handle = at.driver_handle;
    arg.buffer = advance(buffer, done);
    arg.bytes = count;
    arg.offset = offset + done;
    arg.to_device = to_device;
    return at.request<kBufCopy>(arg);
  });
}

int in(void* ctx, uint64_t mem, uint64_t offset, const void* buffer, uint64_t bytes) noexcept {
  return buffer_copy(ctx, mem, offset, buffer, bytes, true);
}

int out(void* ctx, uint64_t mem, uint64_t offset, void* buffer, uint64_t bytes) noexcept {
  return buffer_copy(ctx, mem, offset, buffer, bytes, false);
}

int zerocopy(void* ctx, uint64_t mem, uint64_t offset, const void* buffer, uint64_t bytes,
             int32_t queue, uint32_t bar4_threshold, bool to_device) noexcept {
  const OnMemory at = on_memory(ctx, mem);
  if (at.error) return at.error;
  if (!at.holds(offset, bytes) || (bytes && !buffer)) return -EINVAL;
  return in_pieces(bytes, [&](uint64_t done, uint64_t count) {
    ndl_buf_zerocopy arg{};
    arg.handle = at.driver_handle;
    arg.buffer = advance(buffer, done);
    arg.bytes = count;
    arg.offset = offset + done;
    arg.to_device = to_device;
    arg.bar4_threshold = bar4_threshold;
    arg.queue = queue;
    return at.request<kBufZerocopy>(arg);
  });
}

int zc_in(void* ctx, uint64_t mem, uint64_t offset, const void* buffer, uint64_t bytes,
          int32_t queue, uint32_t bar4_threshold) noexcept {
  return zerocopy(ctx, mem, offset, buffer, bytes, queue, bar4_threshold, true);
}

int zc_out(void* ctx, uint64_t mem, uint64_t offset, void* buffer, uint64_t bytes,
           int32_t queue) noexcept {
  return zerocopy(ctx, mem, offset, buffer, bytes, queue, 0, false);
}

static_assert(sizeof(nrtp_copy_op) == sizeof(ndl_zerocopy_op) &&
              offsetof(nrtp_copy_op, offset) == offsetof(ndl_zerocopy_op, offset) &&
              offsetof(nrtp_copy_op, bytes) == offsetof(ndl_zerocopy_op, bytes) &&
              offsetof(nrtp_copy_op, buffer) == offsetof(ndl_zerocopy_op, buffer));

int fill_batch(void* ctx, uint64_t dev, const nrtp_copy_batch& from, ndl_zerocopy_batch* to) {
  const OnMemory at = on_memory(ctx, from.mem);
  if (at.error) return at.error;
  if (at.dev != dev || !from.ops || !from.n_ops) return -EINVAL;
  for (uint32_t i = 0; i < from.n_ops; ++i) {
    const nrtp_copy_op& op = from.ops[i];
    if (op.offset > UINT64_MAX - from.mem_offset ||
        !at.holds(from.mem_offset + op.offset, op.bytes) || !op.bytes || !op.buffer)
      return -EINVAL;
  }
  *to = {};
  to->handle = at.driver_handle;
  to->offset = from.mem_offset;
  to->ops = reinterpret_cast<const ndl_zerocopy_op*>(from.ops);
  to->count = from.n_ops;
  to->bar4_threshold = static_cast<uint16_t>(std::min<uint32_t>(from.bar4_threshold, UINT16_MAX));
  return 0;
}

int batch(void* ctx, uint64_t dev, const nrtp_copy_batch* batches, uint32_t n, uint32_t direction,
          int32_t queue) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!batches || !n || direction > 1) return -EINVAL;
  constexpr uint32_t kOnStack = 16;
  ndl_zerocopy_batch few[kOnStack];
  ndl_zerocopy_batch* list = n <= kOnStack ? few : new (std::nothrow) ndl_zerocopy_batch[n];
  if (!list) return -ENOMEM;
  int error = 0;
  for (uint32_t i = 0; i < n && !error; ++i) error = fill_batch(ctx, dev, batches[i], &list[i]);
  if (!error) {
    ndl_zerocopy_batches arg{};
    arg.batches = list;
    arg.count = n;
    arg.to_device = direction == 0;
    arg.queue = queue;
    error = at.request<kZerocopyBatches>(arg);
  }
  if (list != few) delete[] list;
  return error;
}

// Both ends of a copy; handles mean something only on their own device.
struct Ends {
  int error;
  OnMemory src, dst;
};
Ends ends_of(void* ctx, uint64_t src, uint64_t dst, uint64_t src_offset, uint64_t dst_offset,
             uint64_t bytes) {
  Ends ends{0, on_memory(ctx, src), on_memory(ctx, dst)};
  ends.error = ends.src.error ? ends.src.error : ends.dst.error;
  if (!ends.error && (ends.src.device != ends.dst.device || !ends.src.holds(src_offset, bytes) ||
                      !ends.dst.holds(dst_offset, bytes)))
    ends.error = -EINVAL;
  return ends;
}

int copy(void* ctx, uint64_t src, uint64_t dst, uint64_t src_offset, uint64_t dst_offset,
         uint64_t bytes) noexcept {
  const Ends ends = ends_of(ctx, src, dst, src_offset, dst_offset, bytes);
  if (ends.error) return ends.error;
  return in_pieces(bytes, [&](uint64_t done, uint64_t count) {
    ndl_mem_copy arg{};
    arg.src = ends.src.driver_handle;
    arg.dst = ends.dst.driver_handle;
    arg.bytes = count;
    arg.src_offset = src_offset + done;
    arg.dst_offset = dst_offset + done;
    return ends.dst.request<kMemCopy>(arg);
  });
}

// A copy larger than one slot continues its own chain: starting a piece waits
// for the piece before the last, so two are in flight as with any chain.
int copy_async(void* ctx, uint64_t src, uint64_t dst, uint64_t src_offset, uint64_t dst_offset,
               uint64_t bytes, uint64_t prefetch_va, int32_t* inout_wait) noexcept {
  const Ends ends = ends_of(ctx, src, dst, src_offset, dst_offset, bytes);
  if (ends.error) return ends.error;
  if (!inout_wait || *inout_wait < -1 || *inout_wait > 2 || !bytes) return -EINVAL;
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t count = std::min(bytes - done, kMaxAsyncCopy);
    ndl_mem_copy_async arg{};
    arg.src = ends.src.driver_handle;
    arg.dst = ends.dst.driver_handle;
    arg.bytes = count;
    arg.src_offset = src_offset + done;
    arg.dst_offset = dst_offset + done;
    arg.prefetch_va = prefetch_va ? prefetch_va + done : 0;
    arg.wait_in = *inout_wait;
    if (const int error = ends.dst.request<kMemCopyAsync>(arg)) return error;
    *inout_wait = arg.wait_out;
    done += count;
  }
  return 0;
}

int copy_wait(void* ctx, uint64_t mem, int32_t wait) noexcept {
  const OnMemory at = on_memory(ctx, mem);
  if (at.error) return at.error;
  if (wait != 1 && wait != 2) return -EINVAL;
  // The slot is found through the core of the memory; either end will do.
  ndl_mem_copy_wait arg{};
  arg.src = at.driver_handle;
  arg.dst = at.driver_handle;
  arg.wait_in = wait;
  return at.request<kMemCopyWait>(arg);
}

int set(void* ctx, uint64_t mem, uint64_t offset, uint8_t value, uint64_t bytes) noexcept {
  const OnMemory at = on_memory(ctx, mem);
  if (at.error) return at.error;
  if (!at.holds(offset, bytes)) return -EINVAL;
  return in_pieces(bytes, [&](uint64_t done, uint64_t count) {
    ndl_mem_set arg{};
    arg.handle = at.driver_handle;
    arg.offset = offset + done;
    arg.value = value;
    arg.bytes = count;
    return at.request<kMemSet>(arg);
  });
}

int program_engine(void* ctx, uint64_t dev, uint32_t core, uint64_t device_address,
                   const void* buffer, uint64_t offset, uint64_t bytes) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (bytes && !buffer) return -EINVAL;
  if (!bytes) return 0;
  // The driver adds the offset to the buffer and to the address.
  ndl_program_engine arg{};
  arg.core = core;
  arg.dst = device_address;
  arg.buffer = buffer;
  arg.bytes = bytes;
  arg.offset = offset;
  return at.request<kProgramEngine>(arg);
}

}  // namespace

constexpr nrtp_ndl_copy kCopyOps = {
    .size = sizeof(nrtp_ndl_copy),
    .reserved = 0,
    .in = in,
    .out = out,
    .zc_in = zc_in,
    .zc_out = zc_out,
    .batch = batch,
    .copy = copy,
    .copy_async = copy_async,
    .copy_wait = copy_wait,
    .set = set,
    .program_engine = program_engine,
};

}  // namespace opennrt::ndl
