// SPDX-License-Identifier: Apache-2.0
//
// Arguments of the DMA, semaphore, event and notification queue requests. Conventions:
// request_layout.h.
#pragma once

#include "ndl-common/request_layout.h"

namespace opennrt::ndl {

// --- DMA engines and queues

struct ndl_dma_engine_init {
  uint32_t engine;
};
static_assert(sizeof(ndl_dma_engine_init) == 4);

struct ndl_dma_engine_set {
  uint32_t engine;
  uint32_t state;
};
static_assert(sizeof(ndl_dma_engine_set) == 8);
static_assert(ONRT_NDL_AT(ndl_dma_engine_set, state, 4));

struct ndl_dma_engine_state {
  uint32_t revision_id;
  uint32_t max_queues;
  uint32_t num_queues;
  uint32_t tx_state;
  uint32_t rx_state;
};
static_assert(sizeof(ndl_dma_engine_state) == 20);
static_assert(ONRT_NDL_AT(ndl_dma_engine_state, max_queues, 4) &&
              ONRT_NDL_AT(ndl_dma_engine_state, num_queues, 8) &&
              ONRT_NDL_AT(ndl_dma_engine_state, tx_state, 12) &&
              ONRT_NDL_AT(ndl_dma_engine_state, rx_state, 16));

struct ndl_dma_engine_query {
  uint32_t engine;
  uint32_t reserved0;
  ndl_dma_engine_state* out_state;
};
static_assert(sizeof(ndl_dma_engine_query) == 16);
static_assert(ONRT_NDL_AT(ndl_dma_engine_query, out_state, 8));

// Handle 0: ring base 0, memory attached later.
struct ndl_dma_queue_init {
  uint32_t engine;
  uint32_t queue;
  uint32_t tx_count;
  uint32_t rx_count;
  uint64_t tx;
  uint64_t rx;
  uint64_t completion;
  uint32_t axi_port;
  uint32_t reserved0;
};
static_assert(sizeof(ndl_dma_queue_init) == 48);
static_assert(ONRT_NDL_AT(ndl_dma_queue_init, queue, 4) &&
              ONRT_NDL_AT(ndl_dma_queue_init, tx_count, 8) &&
              ONRT_NDL_AT(ndl_dma_queue_init, rx_count, 12) &&
              ONRT_NDL_AT(ndl_dma_queue_init, tx, 16) && ONRT_NDL_AT(ndl_dma_queue_init, rx, 24) &&
              ONRT_NDL_AT(ndl_dma_queue_init, completion, 32) &&
              ONRT_NDL_AT(ndl_dma_queue_init, axi_port, 40));

// count: at most 255.
struct ndl_dma_queue_init_batch {
  uint32_t count;
  uint32_t reserved0;
  ndl_dma_queue_init entries[256];
};
static_assert(sizeof(ndl_dma_queue_init_batch) == 12296);
static_assert(ONRT_NDL_AT(ndl_dma_queue_init_batch, entries, 8));

struct ndl_dma_queue_release {
  uint32_t engine;
  uint32_t queue;
};
static_assert(sizeof(ndl_dma_queue_release) == 8);
static_assert(ONRT_NDL_AT(ndl_dma_queue_release, queue, 4));

// Doorbell: descriptors added to each direction.
struct ndl_dma_start {
  uint32_t engine;
  uint32_t queue;
  uint32_t tx_count;
  uint32_t rx_count;
};
static_assert(sizeof(ndl_dma_start) == 16);
static_assert(ONRT_NDL_AT(ndl_dma_start, queue, 4) && ONRT_NDL_AT(ndl_dma_start, tx_count, 8) &&
              ONRT_NDL_AT(ndl_dma_start, rx_count, 12));

struct ndl_dma_ack {
  uint32_t engine;
  uint32_t queue;
  uint32_t count;
};
static_assert(sizeof(ndl_dma_ack) == 12);
static_assert(ONRT_NDL_AT(ndl_dma_ack, queue, 4) && ONRT_NDL_AT(ndl_dma_ack, count, 8));

struct ndl_dma_queue_state {
  uint32_t hw_status;
  uint32_t sw_status;
  uint64_t base;
  uint32_t length;
  uint32_t head;
  uint32_t tail;
  uint32_t reserved0;
  uint64_t completion_base;
  uint32_t completion_head;
  uint32_t reserved1;
};
static_assert(sizeof(ndl_dma_queue_state) == 48);
static_assert(ONRT_NDL_AT(ndl_dma_queue_state, sw_status, 4) &&
              ONRT_NDL_AT(ndl_dma_queue_state, base, 8) &&
              ONRT_NDL_AT(ndl_dma_queue_state, length, 16) &&
              ONRT_NDL_AT(ndl_dma_queue_state, head, 20) &&
              ONRT_NDL_AT(ndl_dma_queue_state, tail, 24) &&
              ONRT_NDL_AT(ndl_dma_queue_state, completion_base, 32) &&
              ONRT_NDL_AT(ndl_dma_queue_state, completion_head, 40));

struct ndl_dma_queue_query {
  uint32_t engine;
  uint32_t queue;
  ndl_dma_queue_state* out_tx;
  ndl_dma_queue_state* out_rx;
};
static_assert(sizeof(ndl_dma_queue_query) == 24);
static_assert(ONRT_NDL_AT(ndl_dma_queue_query, queue, 4) &&
              ONRT_NDL_AT(ndl_dma_queue_query, out_tx, 8) &&
              ONRT_NDL_AT(ndl_dma_queue_query, out_rx, 16));

struct ndl_desc_write32 {
  uint64_t handle;
  const void* buffer;
  uint32_t count;
  uint32_t offset;
  uint32_t queue_type;
  uint32_t reserved0;
};
static_assert(sizeof(ndl_desc_write32) == 32);
static_assert(ONRT_NDL_AT(ndl_desc_write32, buffer, 8) &&
              ONRT_NDL_AT(ndl_desc_write32, count, 16) &&
              ONRT_NDL_AT(ndl_desc_write32, offset, 20) &&
              ONRT_NDL_AT(ndl_desc_write32, queue_type, 24));

struct ndl_desc_write {
  uint64_t handle;
  const void* buffer;
  uint32_t count;
  uint32_t reserved0;
  uint64_t offset;
  uint32_t queue_type;
  uint32_t reserved1;
};
static_assert(sizeof(ndl_desc_write) == 40);
static_assert(ONRT_NDL_AT(ndl_desc_write, buffer, 8) && ONRT_NDL_AT(ndl_desc_write, count, 16) &&
              ONRT_NDL_AT(ndl_desc_write, offset, 24) &&
              ONRT_NDL_AT(ndl_desc_write, queue_type, 32));

struct ndl_desc_read {
  uint32_t engine;
  uint32_t queue;
  uint32_t type;
  uint32_t first;
  uint32_t count;
  uint32_t reserved0;
  void* buffer;
};
static_assert(sizeof(ndl_desc_read) == 32);
static_assert(ONRT_NDL_AT(ndl_desc_read, queue, 4) && ONRT_NDL_AT(ndl_desc_read, type, 8) &&
              ONRT_NDL_AT(ndl_desc_read, first, 12) && ONRT_NDL_AT(ndl_desc_read, count, 16) &&
              ONRT_NDL_AT(ndl_desc_read, buffer, 24));

struct ndl_dma_quiesce {
  uint32_t core;
  uint32_t count;
  uint32_t queue_mask[64];
};
static_assert(sizeof(ndl_dma_quiesce) == 264);
static_assert(ONRT_NDL_AT(ndl_dma_quiesce, count, 4) &&
              ONRT_NDL_AT(ndl_dma_quiesce, queue_mask, 8));

struct ndl_h2t_alloc {
  uint16_t bytes;
  uint16_t core;
  uint16_t copy_count;
  uint16_t service_count;
  uint32_t copy_bitmap;
  uint32_t service_bitmap;
  uint32_t default_queue;
};
static_assert(sizeof(ndl_h2t_alloc) == 20);
static_assert(ONRT_NDL_AT(ndl_h2t_alloc, core, 2) && ONRT_NDL_AT(ndl_h2t_alloc, copy_count, 4) &&
              ONRT_NDL_AT(ndl_h2t_alloc, service_count, 6) &&
              ONRT_NDL_AT(ndl_h2t_alloc, copy_bitmap, 8) &&
              ONRT_NDL_AT(ndl_h2t_alloc, service_bitmap, 12) &&
              ONRT_NDL_AT(ndl_h2t_alloc, default_queue, 16));

struct ndl_h2t_free {
  uint16_t bytes;
  uint8_t core;
  uint8_t fill0;
  uint32_t bitmap;
};
static_assert(sizeof(ndl_h2t_free) == 8);
static_assert(ONRT_NDL_AT(ndl_h2t_free, core, 2) && ONRT_NDL_AT(ndl_h2t_free, fill0, 3) &&
              ONRT_NDL_AT(ndl_h2t_free, bitmap, 4));

struct ndl_completion_queue {
  uint64_t cookie;
  uint32_t mmap_size;
  uint32_t reserved0;
};
static_assert(sizeof(ndl_completion_queue) == 16);
static_assert(ONRT_NDL_AT(ndl_completion_queue, mmap_size, 8));

struct ndl_completion_queues {
  uint32_t core;
  uint32_t queue_bitmap;
  ndl_completion_queue queues[16];
};
static_assert(sizeof(ndl_completion_queues) == 264);
static_assert(ONRT_NDL_AT(ndl_completion_queues, queue_bitmap, 4) &&
              ONRT_NDL_AT(ndl_completion_queues, queues, 8));

struct ndl_completion_ring {
  uint32_t capacity;
  uint32_t head;
  uint32_t tail;
};
static_assert(sizeof(ndl_completion_ring) == 12);
static_assert(ONRT_NDL_AT(ndl_completion_ring, head, 4) &&
              ONRT_NDL_AT(ndl_completion_ring, tail, 8));

struct ndl_completion_entry {
  uint64_t sequence_num;
  int64_t result;
  void* context;
};
static_assert(sizeof(ndl_completion_entry) == 24);
static_assert(ONRT_NDL_AT(ndl_completion_entry, result, 8) &&
              ONRT_NDL_AT(ndl_completion_entry, context, 16));

// --- Synchronisation, notification queues

struct ndl_semaphore {
  uint32_t core;
  uint32_t index;
  uint32_t value;
};
static_assert(sizeof(ndl_semaphore) == 12);
static_assert(ONRT_NDL_AT(ndl_semaphore, index, 4) && ONRT_NDL_AT(ndl_semaphore, value, 8));

struct ndl_event {
  uint32_t core;
  uint32_t index;
  uint32_t value;
};
static_assert(sizeof(ndl_event) == 12);
static_assert(ONRT_NDL_AT(ndl_event, index, 4) && ONRT_NDL_AT(ndl_event, value, 8));

struct ndl_nq_init_v1 {
  uint32_t core;
  uint32_t nq_type;
  uint32_t engine_index;
  uint32_t bytes;
  uint64_t cookie;
};
static_assert(sizeof(ndl_nq_init_v1) == 24);
static_assert(ONRT_NDL_AT(ndl_nq_init_v1, nq_type, 4) &&
              ONRT_NDL_AT(ndl_nq_init_v1, engine_index, 8) &&
              ONRT_NDL_AT(ndl_nq_init_v1, bytes, 12) && ONRT_NDL_AT(ndl_nq_init_v1, cookie, 16));

struct ndl_nq_destroy_v1 {
  uint64_t cookie;
};
static_assert(sizeof(ndl_nq_destroy_v1) == 8);

struct ndl_nq_init_v2 {
  uint32_t device_id;
  uint32_t device_type;
  uint32_t nq_type;
  uint32_t engine_index;
  uint32_t bytes;
  uint32_t host;
  uint32_t channel;
  uint32_t region;
  uint64_t cookie;
  uint64_t handle;
};
static_assert(sizeof(ndl_nq_init_v2) == 48);
static_assert(ONRT_NDL_AT(ndl_nq_init_v2, device_type, 4) &&
              ONRT_NDL_AT(ndl_nq_init_v2, nq_type, 8) &&
              ONRT_NDL_AT(ndl_nq_init_v2, engine_index, 12) &&
              ONRT_NDL_AT(ndl_nq_init_v2, bytes, 16) && ONRT_NDL_AT(ndl_nq_init_v2, host, 20) &&
              ONRT_NDL_AT(ndl_nq_init_v2, channel, 24) && ONRT_NDL_AT(ndl_nq_init_v2, region, 28) &&
              ONRT_NDL_AT(ndl_nq_init_v2, cookie, 32) && ONRT_NDL_AT(ndl_nq_init_v2, handle, 40));

struct ndl_nq_init {
  uint32_t device_id;
  uint32_t device_type;
  uint32_t nq_type;
  uint32_t engine_index;
  uint32_t bytes;
  uint32_t host;
  uint32_t channel;
  uint32_t region;
  uint32_t force;
  uint32_t reserved0;
  uint64_t cookie;
  uint64_t handle;
};
static_assert(sizeof(ndl_nq_init) == 56);
static_assert(ONRT_NDL_AT(ndl_nq_init, device_type, 4) && ONRT_NDL_AT(ndl_nq_init, nq_type, 8) &&
              ONRT_NDL_AT(ndl_nq_init, engine_index, 12) && ONRT_NDL_AT(ndl_nq_init, bytes, 16) &&
              ONRT_NDL_AT(ndl_nq_init, host, 20) && ONRT_NDL_AT(ndl_nq_init, channel, 24) &&
              ONRT_NDL_AT(ndl_nq_init, region, 28) && ONRT_NDL_AT(ndl_nq_init, force, 32) &&
              ONRT_NDL_AT(ndl_nq_init, cookie, 40) && ONRT_NDL_AT(ndl_nq_init, handle, 48));

struct ndl_nq_info {
  uint8_t device_id;
  uint8_t device_type;
  uint8_t nq_type;
  uint8_t engine_index;
  uint32_t head;
  uint32_t phase_bit;
};
static_assert(sizeof(ndl_nq_info) == 12);
static_assert(ONRT_NDL_AT(ndl_nq_info, device_type, 1) && ONRT_NDL_AT(ndl_nq_info, nq_type, 2) &&
              ONRT_NDL_AT(ndl_nq_info, engine_index, 3) && ONRT_NDL_AT(ndl_nq_info, head, 4) &&
              ONRT_NDL_AT(ndl_nq_info, phase_bit, 8));

}  // namespace opennrt::ndl
