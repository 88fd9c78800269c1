// SPDX-License-Identifier: Apache-2.0
//
// Copies on older drivers: 32-bit forms, no asynchronous slots, no zero copy.
#include <algorithm>
#include <cerrno>

#include "detect.h"

namespace opennrt::ndl::compat {
namespace {

// A memory object and whether the driver has the 64-bit forms.
struct Forms {
  int error;
  OnMemory at;
  bool wide;
};
Forms forms_of(void* ctx, uint64_t mem) noexcept {
  Forms forms{0, on_memory(ctx, mem), false};
  forms.error = forms.at.error;
  if (!forms.error) forms.error = has_feature(*forms.at.ndl, NRTP_FEATURE_MEM_ALLOC64, &forms.wide);
  return forms;
}

int old_buffer_copy(const OnMemory& at, uint64_t offset, const void* buffer, uint64_t bytes,
                    bool to_device) noexcept {
  if (!at.holds(offset, bytes) || (bytes && !buffer)) return -EINVAL;
  if (!bytes) return 0;
  ndl_buf_copy32 old{};
  old.handle = at.driver_handle;
  old.buffer = const_cast<void*>(buffer);
  if (!fits(bytes, &old.bytes) || !fits(offset, &old.offset)) return -EINVAL;
  old.to_device = to_device;
  return at.request<kBufCopy32>(old);
}

int in(void* ctx, uint64_t mem, uint64_t offset, const void* buffer, uint64_t bytes) noexcept {
  const Forms forms = forms_of(ctx, mem);
  if (forms.error) return forms.error;
  return forms.wide ? kCopyOps.in(ctx, mem, offset, buffer, bytes)
                    : old_buffer_copy(forms.at, offset, buffer, bytes, true);
}

int out(void* ctx, uint64_t mem, uint64_t offset, void* buffer, uint64_t bytes) noexcept {
  const Forms forms = forms_of(ctx, mem);
  if (forms.error) return forms.error;
  return forms.wide ? kCopyOps.out(ctx, mem, offset, buffer, bytes)
                    : old_buffer_copy(forms.at, offset, buffer, bytes, false);
}

// `zerocopy`, or `buffered` where the driver or the silicon has none.
template <typename Zerocopy, typename Buffered>
int with_zerocopy(Context& ndl, Op op, Zerocopy&& zerocopy, Buffered&& buffered) noexcept {
  bool has = false;
  if (const int error = has_feature(ndl, NRTP_FEATURE_ZEROCOPY, &has)) return error;
  if (!has || is_old(ndl, op)) return buffered();
  const int refused = zerocopy();
  // The bit does not say whether this silicon has it.
  if (refused != -EINVAL) return refused;
  const int error = buffered();
  if (!error) latch(ndl, op);
  return error;
}

int zc_in(void* ctx, uint64_t mem, uint64_t offset, const void* buffer, uint64_t bytes,
          int32_t queue, uint32_t bar4_threshold) noexcept {
  const OnMemory at = on_memory(ctx, mem);
  if (at.error) return at.error;
  return with_zerocopy(
      *at.ndl, Op::kZerocopy,
      [&] { return kCopyOps.zc_in(ctx, mem, offset, buffer, bytes, queue, bar4_threshold); },
      [&] { return in(ctx, mem, offset, buffer, bytes); });
}

int zc_out(void* ctx, uint64_t mem, uint64_t offset, void* buffer, uint64_t bytes,
           int32_t queue) noexcept {
  const OnMemory at = on_memory(ctx, mem);
  if (at.error) return at.error;
  return with_zerocopy(
      *at.ndl, Op::kZerocopy,
      [&] { return kCopyOps.zc_out(ctx, mem, offset, buffer, bytes, queue); },
      [&] { return out(ctx, mem, offset, buffer, bytes); });
}

// One copy for each operation. All are checked before the first is done.
int one_by_one(void* ctx, uint64_t dev, const nrtp_copy_batch* batches, uint32_t n,
               uint32_t direction) noexcept {
  if (!batches || !n || direction > 1) return -EINVAL;
  for (uint32_t b = 0; b < n; ++b) {
    const Forms forms = forms_of(ctx, batches[b].mem);
    if (forms.error) return forms.error;
    if (forms.at.dev != dev || !batches[b].ops || !batches[b].n_ops) return -EINVAL;
    for (uint32_t i = 0; i < batches[b].n_ops; ++i) {
      const nrtp_copy_op& op = batches[b].ops[i];
      uint32_t narrow = 0;
      if (!op.bytes || !op.buffer || op.offset > UINT64_MAX - batches[b].mem_offset ||
          !forms.at.holds(batches[b].mem_offset + op.offset, op.bytes) ||
          (!forms.wide &&
           (!fits(op.bytes, &narrow) || !fits(batches[b].mem_offset + op.offset, &narrow))))
        return -EINVAL;
    }
  }
  for (uint32_t b = 0; b < n; ++b)
    for (uint32_t i = 0; i < batches[b].n_ops; ++i) {
      const nrtp_copy_op& op = batches[b].ops[i];
      const uint64_t offset = batches[b].mem_offset + op.offset;
      const int error = direction == 0 ? in(ctx, batches[b].mem, offset, op.buffer, op.bytes)
                                       : out(ctx, batches[b].mem, offset, op.buffer, op.bytes);
      if (error) return error;
    }
  return 0;
}

int batch(void* ctx, uint64_t dev, const nrtp_copy_batch* batches, uint32_t n, uint32_t direction,
          int32_t queue) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  return with_zerocopy(
      *at.ndl, Op::kBatch, [&] { return kCopyOps.batch(ctx, dev, batches, n, direction, queue); },
      [&] { return one_by_one(ctx, dev, batches, n, direction); });
}

// Both ends of a copy, checked as far as the request needs it.
struct Ends {
  int error;
  OnMemory src, dst;
  uint32_t bytes, src_offset, dst_offset;
};
Ends narrow_ends(void* ctx, uint64_t src, uint64_t dst, uint64_t src_offset, uint64_t dst_offset,
                 uint64_t bytes) noexcept {
  Ends ends{0, on_memory(ctx, src), on_memory(ctx, dst), 0, 0, 0};
  ends.error = ends.src.error ? ends.src.error : ends.dst.error;
  if (!ends.error && (ends.src.device != ends.dst.device || !ends.src.holds(src_offset, bytes) ||
                      !ends.dst.holds(dst_offset, bytes) || !fits(bytes, &ends.bytes) ||
                      !fits(src_offset, &ends.src_offset) || !fits(dst_offset, &ends.dst_offset)))
    ends.error = -EINVAL;
  return ends;
}

int copy(void* ctx, uint64_t src, uint64_t dst, uint64_t src_offset, uint64_t dst_offset,
         uint64_t bytes) noexcept {
  const Forms forms = forms_of(ctx, dst);
  if (forms.error) return forms.error;
  if (forms.wide) return kCopyOps.copy(ctx, src, dst, src_offset, dst_offset, bytes);
  const Ends ends = narrow_ends(ctx, src, dst, src_offset, dst_offset, bytes);
  if (ends.error || !bytes) return ends.error;
  ndl_mem_copy32 old{};
  old.src = ends.src.driver_handle;
  old.dst = ends.dst.driver_handle;
  old.bytes = ends.bytes;
  old.src_offset = ends.src_offset;
  old.dst_offset = ends.dst_offset;
  return ends.dst.request<kMemCopy32>(old);
}

int old_copy_async(const Ends& ends, uint64_t prefetch_va, int32_t* inout_wait) noexcept {
  // A slot takes no more than this; the pieces continue one chain.
  for (uint32_t done = 0; done < ends.bytes;) {
    const uint32_t count = std::min<uint32_t>(ends.bytes - done, kMaxAsyncCopy);
    ndl_mem_copy_async32 old{};
    old.src = ends.src.driver_handle;
    old.dst = ends.dst.driver_handle;
    old.bytes = count;
    if (!fits(uint64_t{ends.src_offset} + done, &old.src_offset) ||
        !fits(uint64_t{ends.dst_offset} + done, &old.dst_offset))
      return -EINVAL;
    old.prefetch_va = prefetch_va ? prefetch_va + done : 0;
    old.wait_in = *inout_wait;
    if (const int error = ends.dst.request<kMemCopyAsync32>(old)) return error;
    *inout_wait = old.wait_out;
    done += count;
  }
  return 0;
}

int copy_async(void* ctx, uint64_t src, uint64_t dst, uint64_t src_offset, uint64_t dst_offset,
               uint64_t bytes, uint64_t prefetch_va, int32_t* inout_wait) noexcept {
  const Forms forms = forms_of(ctx, dst);
  if (forms.error) return forms.error;
  bool slots = false;
  if (const int error = has_feature(*forms.at.ndl, NRTP_FEATURE_ASYNC_DMA, &slots)) return error;
  if (slots && forms.wide)
    return kCopyOps.copy_async(ctx, src, dst, src_offset, dst_offset, bytes, prefetch_va,
                               inout_wait);
  if (!inout_wait || *inout_wait < -1 || *inout_wait > 2 || !bytes) return -EINVAL;
  if (!slots) {
    if (const int error = copy(ctx, src, dst, src_offset, dst_offset, bytes)) return error;
    *inout_wait = 0;
    return 0;
  }
  const Ends ends = narrow_ends(ctx, src, dst, src_offset, dst_offset, bytes);
  // Checked for the last piece too, before the first is on its way.
  const uint64_t last = bytes - 1;
  if (!ends.error && (src_offset > UINT32_MAX - last || dst_offset > UINT32_MAX - last))
    return -EINVAL;
  return ends.error ? ends.error : old_copy_async(ends, prefetch_va, inout_wait);
}

int copy_wait(void* ctx, uint64_t mem, int32_t wait) noexcept {
  const OnMemory at = on_memory(ctx, mem);
  if (at.error) return at.error;
  bool slots = false;
  if (const int error = has_feature(*at.ndl, NRTP_FEATURE_ASYNC_DMA, &slots)) return error;
  if (slots) return kCopyOps.copy_wait(ctx, mem, wait);
  return wait == 0 ? 0 : -EINVAL;  // copies were done when they returned
}

int set(void* ctx, uint64_t mem, uint64_t offset, uint8_t value, uint64_t bytes) noexcept {
  const Forms forms = forms_of(ctx, mem);
  if (forms.error) return forms.error;
  if (forms.wide) return kCopyOps.set(ctx, mem, offset, value, bytes);
  if (!forms.at.holds(offset, bytes)) return -EINVAL;
  if (!bytes) return 0;
  ndl_mem_set32 old{};
  old.handle = forms.at.driver_handle;
  old.offset = offset;
  old.value = value;
  if (!fits(bytes, &old.bytes)) return -EINVAL;
  return forms.at.request<kMemSet32>(old);
}

int program_engine(void* ctx, uint64_t dev, uint32_t core, uint64_t device_address,
                   const void* buffer, uint64_t offset, uint64_t bytes) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  bool wide = false;
  if (const int error = has_feature(*at.ndl, NRTP_FEATURE_MEM_ALLOC64, &wide)) return error;
  if (wide) return kCopyOps.program_engine(ctx, dev, core, device_address, buffer, offset, bytes);
  if (bytes && !buffer) return -EINVAL;
  if (!bytes) return 0;
  ndl_program_engine32 old{};
  old.core = core;
  old.dst = device_address;
  old.buffer = buffer;
  if (!fits(bytes, &old.bytes) || !fits(offset, &old.offset)) return -EINVAL;
  return at.request<kProgramEngine32>(old);
}

}  // namespace

nrtp_ndl_copy copy_ops() noexcept {
  nrtp_ndl_copy group = kCopyOps;
  group.in = in;
  group.out = out;
  group.zc_in = zc_in;
  group.zc_out = zc_out;
  group.batch = batch;
  group.copy = copy;
  group.copy_async = copy_async;
  group.copy_wait = copy_wait;
  group.set = set;
  group.program_engine = program_engine;
  return group;
}

}  // namespace opennrt::ndl::compat
