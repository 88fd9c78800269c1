// SPDX-License-Identifier: Apache-2.0
//
// Arguments of the memory and copy requests. Conventions:
// request_layout.h.
#pragma once

#include "ndl-common/request_layout.h"

namespace opennrt::ndl {

// --- Memory

struct ndl_mem_alloc_v1 {
  uint64_t bytes;
  uint32_t host;
  uint32_t channel;
  uint32_t region;
  uint32_t core;
  uint64_t* out_handle;
};
static_assert(sizeof(ndl_mem_alloc_v1) == 32);
static_assert(ONRT_NDL_AT(ndl_mem_alloc_v1, host, 8) &&
              ONRT_NDL_AT(ndl_mem_alloc_v1, channel, 12) &&
              ONRT_NDL_AT(ndl_mem_alloc_v1, region, 16) &&
              ONRT_NDL_AT(ndl_mem_alloc_v1, core, 20) &&
              ONRT_NDL_AT(ndl_mem_alloc_v1, out_handle, 24));

struct ndl_mem_alloc_v2 {
  uint64_t bytes;
  uint64_t align;
  uint32_t host;
  uint32_t channel;
  uint32_t region;
  uint32_t core;
  uint64_t* out_handle;
};
static_assert(sizeof(ndl_mem_alloc_v2) == 40);
static_assert(ONRT_NDL_AT(ndl_mem_alloc_v2, align, 8) && ONRT_NDL_AT(ndl_mem_alloc_v2, host, 16) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2, channel, 20) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2, region, 24) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2, core, 28) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2, out_handle, 32));

struct ndl_mem_alloc_v2mt {
  uint64_t bytes;
  uint64_t align;
  uint32_t host;
  uint32_t channel;
  uint32_t region;
  uint32_t core;
  uint32_t type;
  uint32_t reserved0;
  uint64_t* out_handle;
};
static_assert(sizeof(ndl_mem_alloc_v2mt) == 48);
static_assert(ONRT_NDL_AT(ndl_mem_alloc_v2mt, align, 8) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2mt, host, 16) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2mt, channel, 20) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2mt, region, 24) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2mt, core, 28) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2mt, type, 32) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2mt, out_handle, 40));

// unread: never looked at, makes the size distinct.
struct ndl_mem_alloc_v2mt64 {
  uint64_t bytes;
  uint64_t align;
  uint32_t host;
  uint32_t channel;
  uint32_t region;
  uint32_t core;
  uint32_t type;
  uint32_t reserved0;
  uint64_t* out_handle;
  uint32_t unread;
  uint32_t reserved1;
};
static_assert(sizeof(ndl_mem_alloc_v2mt64) == 56);
static_assert(ONRT_NDL_AT(ndl_mem_alloc_v2mt64, align, 8) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2mt64, host, 16) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2mt64, channel, 20) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2mt64, region, 24) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2mt64, core, 28) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2mt64, type, 32) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2mt64, out_handle, 40) &&
              ONRT_NDL_AT(ndl_mem_alloc_v2mt64, unread, 48));

struct ndl_mem_free {
  uint64_t handle;
};
static_assert(sizeof(ndl_mem_free) == 8);

struct ndl_mem_pa {
  uint64_t handle;
  uint64_t* out_pa;
};
static_assert(sizeof(ndl_mem_pa) == 16);
static_assert(ONRT_NDL_AT(ndl_mem_pa, out_pa, 8));

// out_cookie may be null, out_pa may not.
struct ndl_mem_info {
  uint64_t handle;
  uint64_t* out_cookie;
  uint64_t* out_pa;
};
static_assert(sizeof(ndl_mem_info) == 24);
static_assert(ONRT_NDL_AT(ndl_mem_info, out_cookie, 8) && ONRT_NDL_AT(ndl_mem_info, out_pa, 16));

struct ndl_mem_extended_info {
  uint64_t handle;
  uint32_t version;
  uint32_t host;
  uint64_t cookie;
  uint64_t pa;
  uint64_t pid;
  uint64_t bytes;
};
static_assert(sizeof(ndl_mem_extended_info) == 48);
static_assert(ONRT_NDL_AT(ndl_mem_extended_info, version, 8) &&
              ONRT_NDL_AT(ndl_mem_extended_info, host, 12) &&
              ONRT_NDL_AT(ndl_mem_extended_info, cookie, 16) &&
              ONRT_NDL_AT(ndl_mem_extended_info, pa, 24) &&
              ONRT_NDL_AT(ndl_mem_extended_info, pid, 32) &&
              ONRT_NDL_AT(ndl_mem_extended_info, bytes, 40));

struct ndl_chunk_info_v1 {
  uint64_t pa;
  uint64_t cookie;
  uint64_t bytes;
};
static_assert(sizeof(ndl_chunk_info_v1) == 24);
static_assert(ONRT_NDL_AT(ndl_chunk_info_v1, cookie, 8) &&
              ONRT_NDL_AT(ndl_chunk_info_v1, bytes, 16));

struct ndl_chunk_info {
  uint64_t pa;
  uint64_t cookie;
  uint64_t bytes;
  uint64_t handle;
};
static_assert(sizeof(ndl_chunk_info) == 32);
static_assert(ONRT_NDL_AT(ndl_chunk_info, cookie, 8) && ONRT_NDL_AT(ndl_chunk_info, bytes, 16) &&
              ONRT_NDL_AT(ndl_chunk_info, handle, 24));

struct ndl_mem_chunk {
  uint64_t pa;
  uint64_t bytes;
  uint32_t type;
  uint32_t reserved0;
};
static_assert(sizeof(ndl_mem_chunk) == 24);
static_assert(ONRT_NDL_AT(ndl_mem_chunk, bytes, 8) && ONRT_NDL_AT(ndl_mem_chunk, type, 16));

struct ndl_mem_dump {
  uint32_t hbm;
  uint32_t capacity;
  uint32_t count;
  uint32_t reserved0;
  ndl_mem_chunk* chunks;
};
static_assert(sizeof(ndl_mem_dump) == 24);
static_assert(ONRT_NDL_AT(ndl_mem_dump, capacity, 4) && ONRT_NDL_AT(ndl_mem_dump, count, 8) &&
              ONRT_NDL_AT(ndl_mem_dump, chunks, 16));

struct ndl_dmabuf {
  uint64_t va;
  uint64_t bytes;
  int32_t* out_fd;
};
static_assert(sizeof(ndl_dmabuf) == 24);
static_assert(ONRT_NDL_AT(ndl_dmabuf, bytes, 8) && ONRT_NDL_AT(ndl_dmabuf, out_fd, 16));

struct ndl_va_placement {
  uint64_t va;
  int32_t device;
  int32_t hbm;
};
static_assert(sizeof(ndl_va_placement) == 16);
static_assert(ONRT_NDL_AT(ndl_va_placement, device, 8) && ONRT_NDL_AT(ndl_va_placement, hbm, 12));

// --- Copies

struct ndl_mem_copy32 {
  uint64_t src;
  uint64_t dst;
  uint32_t bytes;
  uint32_t src_offset;
  uint32_t dst_offset;
  uint32_t reserved0;
};
static_assert(sizeof(ndl_mem_copy32) == 32);
static_assert(ONRT_NDL_AT(ndl_mem_copy32, dst, 8) && ONRT_NDL_AT(ndl_mem_copy32, bytes, 16) &&
              ONRT_NDL_AT(ndl_mem_copy32, src_offset, 20) &&
              ONRT_NDL_AT(ndl_mem_copy32, dst_offset, 24));

struct ndl_mem_copy {
  uint64_t src;
  uint64_t dst;
  uint64_t bytes;
  uint64_t src_offset;
  uint64_t dst_offset;
};
static_assert(sizeof(ndl_mem_copy) == 40);
static_assert(ONRT_NDL_AT(ndl_mem_copy, dst, 8) && ONRT_NDL_AT(ndl_mem_copy, bytes, 16) &&
              ONRT_NDL_AT(ndl_mem_copy, src_offset, 24) &&
              ONRT_NDL_AT(ndl_mem_copy, dst_offset, 32));

struct ndl_mem_copy_async32 {
  uint64_t src;
  uint64_t dst;
  uint32_t bytes;
  uint32_t src_offset;
  uint32_t dst_offset;
  uint32_t reserved0;
  uint64_t prefetch_va;
  int32_t wait_in;
  int32_t wait_out;
};
static_assert(sizeof(ndl_mem_copy_async32) == 48);
static_assert(ONRT_NDL_AT(ndl_mem_copy_async32, dst, 8) &&
              ONRT_NDL_AT(ndl_mem_copy_async32, bytes, 16) &&
              ONRT_NDL_AT(ndl_mem_copy_async32, src_offset, 20) &&
              ONRT_NDL_AT(ndl_mem_copy_async32, dst_offset, 24) &&
              ONRT_NDL_AT(ndl_mem_copy_async32, prefetch_va, 32) &&
              ONRT_NDL_AT(ndl_mem_copy_async32, wait_in, 40) &&
              ONRT_NDL_AT(ndl_mem_copy_async32, wait_out, 44));

struct ndl_mem_copy_async {
  uint64_t src;
  uint64_t dst;
  uint64_t bytes;
  uint64_t src_offset;
  uint64_t dst_offset;
  uint64_t prefetch_va;
  int32_t wait_in;
  int32_t wait_out;
};
static_assert(sizeof(ndl_mem_copy_async) == 56);
static_assert(ONRT_NDL_AT(ndl_mem_copy_async, dst, 8) &&
              ONRT_NDL_AT(ndl_mem_copy_async, bytes, 16) &&
              ONRT_NDL_AT(ndl_mem_copy_async, src_offset, 24) &&
              ONRT_NDL_AT(ndl_mem_copy_async, dst_offset, 32) &&
              ONRT_NDL_AT(ndl_mem_copy_async, prefetch_va, 40) &&
              ONRT_NDL_AT(ndl_mem_copy_async, wait_in, 48) &&
              ONRT_NDL_AT(ndl_mem_copy_async, wait_out, 52));

struct ndl_mem_copy_wait {
  uint64_t src;
  uint64_t dst;
  int32_t wait_in;
  uint32_t reserved0;
};
static_assert(sizeof(ndl_mem_copy_wait) == 24);
static_assert(ONRT_NDL_AT(ndl_mem_copy_wait, dst, 8) &&
              ONRT_NDL_AT(ndl_mem_copy_wait, wait_in, 16));

struct ndl_buf_copy32 {
  uint64_t handle;
  void* buffer;
  uint32_t bytes;
  uint32_t offset;
  uint32_t to_device;
  uint32_t reserved0;
};
static_assert(sizeof(ndl_buf_copy32) == 32);
static_assert(ONRT_NDL_AT(ndl_buf_copy32, buffer, 8) && ONRT_NDL_AT(ndl_buf_copy32, bytes, 16) &&
              ONRT_NDL_AT(ndl_buf_copy32, offset, 20) &&
              ONRT_NDL_AT(ndl_buf_copy32, to_device, 24));

struct ndl_buf_copy {
  uint64_t handle;
  void* buffer;
  uint64_t bytes;
  uint64_t offset;
  uint32_t to_device;
  uint32_t reserved0;
};
static_assert(sizeof(ndl_buf_copy) == 40);
static_assert(ONRT_NDL_AT(ndl_buf_copy, buffer, 8) && ONRT_NDL_AT(ndl_buf_copy, bytes, 16) &&
              ONRT_NDL_AT(ndl_buf_copy, offset, 24) && ONRT_NDL_AT(ndl_buf_copy, to_device, 32));

struct ndl_buf_zerocopy {
  uint64_t handle;
  void* buffer;
  uint64_t bytes;
  uint64_t offset;
  uint32_t to_device;
  uint32_t bar4_threshold;
  int32_t queue;
  uint32_t unused;
};
static_assert(sizeof(ndl_buf_zerocopy) == 48);
static_assert(ONRT_NDL_AT(ndl_buf_zerocopy, buffer, 8) &&
              ONRT_NDL_AT(ndl_buf_zerocopy, bytes, 16) &&
              ONRT_NDL_AT(ndl_buf_zerocopy, offset, 24) &&
              ONRT_NDL_AT(ndl_buf_zerocopy, to_device, 32) &&
              ONRT_NDL_AT(ndl_buf_zerocopy, bar4_threshold, 36) &&
              ONRT_NDL_AT(ndl_buf_zerocopy, queue, 40) &&
              ONRT_NDL_AT(ndl_buf_zerocopy, unused, 44));

struct ndl_zerocopy_op {
  uint64_t offset;
  uint64_t bytes;
  void* buffer;
};
static_assert(sizeof(ndl_zerocopy_op) == 24);
static_assert(ONRT_NDL_AT(ndl_zerocopy_op, bytes, 8) && ONRT_NDL_AT(ndl_zerocopy_op, buffer, 16));

// offset is added to that of each operation.
struct ndl_zerocopy_batch {
  uint64_t handle;
  uint64_t offset;
  const ndl_zerocopy_op* ops;
  uint32_t count;
  uint16_t bar4_threshold;
  uint16_t flags;
  void* context;
};
static_assert(sizeof(ndl_zerocopy_batch) == 40);
static_assert(ONRT_NDL_AT(ndl_zerocopy_batch, offset, 8) &&
              ONRT_NDL_AT(ndl_zerocopy_batch, ops, 16) &&
              ONRT_NDL_AT(ndl_zerocopy_batch, count, 24) &&
              ONRT_NDL_AT(ndl_zerocopy_batch, bar4_threshold, 28) &&
              ONRT_NDL_AT(ndl_zerocopy_batch, flags, 30) &&
              ONRT_NDL_AT(ndl_zerocopy_batch, context, 32));

struct ndl_zerocopy_batches {
  uint64_t sequence_num;
  const ndl_zerocopy_batch* batches;
  uint32_t count;
  uint16_t to_device;
  uint16_t reserved0;
  int32_t queue;
  uint16_t flags;
  uint16_t reserved1;
};
static_assert(sizeof(ndl_zerocopy_batches) == 32);
static_assert(ONRT_NDL_AT(ndl_zerocopy_batches, batches, 8) &&
              ONRT_NDL_AT(ndl_zerocopy_batches, count, 16) &&
              ONRT_NDL_AT(ndl_zerocopy_batches, to_device, 20) &&
              ONRT_NDL_AT(ndl_zerocopy_batches, queue, 24) &&
              ONRT_NDL_AT(ndl_zerocopy_batches, flags, 28));

struct ndl_mem_set32 {
  uint64_t handle;
  uint64_t offset;
  uint32_t value;
  uint32_t bytes;
};
static_assert(sizeof(ndl_mem_set32) == 24);
static_assert(ONRT_NDL_AT(ndl_mem_set32, offset, 8) && ONRT_NDL_AT(ndl_mem_set32, value, 16) &&
              ONRT_NDL_AT(ndl_mem_set32, bytes, 20));

struct ndl_mem_set {
  uint64_t handle;
  uint64_t offset;
  uint32_t value;
  uint32_t reserved0;
  uint64_t bytes;
};
static_assert(sizeof(ndl_mem_set) == 32);
static_assert(ONRT_NDL_AT(ndl_mem_set, offset, 8) && ONRT_NDL_AT(ndl_mem_set, value, 16) &&
              ONRT_NDL_AT(ndl_mem_set, bytes, 24));

struct ndl_program_engine_v1 {
  uint64_t dst;
  const void* buffer;
  uint32_t bytes;
  uint32_t offset;
};
static_assert(sizeof(ndl_program_engine_v1) == 24);
static_assert(ONRT_NDL_AT(ndl_program_engine_v1, buffer, 8) &&
              ONRT_NDL_AT(ndl_program_engine_v1, bytes, 16) &&
              ONRT_NDL_AT(ndl_program_engine_v1, offset, 20));

struct ndl_program_engine32 {
  uint32_t core;
  uint32_t reserved0;
  uint64_t dst;
  const void* buffer;
  uint32_t bytes;
  uint32_t offset;
};
static_assert(sizeof(ndl_program_engine32) == 32);
static_assert(ONRT_NDL_AT(ndl_program_engine32, dst, 8) &&
              ONRT_NDL_AT(ndl_program_engine32, buffer, 16) &&
              ONRT_NDL_AT(ndl_program_engine32, bytes, 24) &&
              ONRT_NDL_AT(ndl_program_engine32, offset, 28));

struct ndl_program_engine {
  uint32_t core;
  uint32_t reserved0;
  uint64_t dst;
  const void* buffer;
  uint64_t bytes;
  uint64_t offset;
};
static_assert(sizeof(ndl_program_engine) == 40);
static_assert(ONRT_NDL_AT(ndl_program_engine, dst, 8) &&
              ONRT_NDL_AT(ndl_program_engine, buffer, 16) &&
              ONRT_NDL_AT(ndl_program_engine, bytes, 24) &&
              ONRT_NDL_AT(ndl_program_engine, offset, 32));

}  // namespace opennrt::ndl
