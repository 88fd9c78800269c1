// SPDX-License-Identifier: Apache-2.0
//
// Operations on DMA engines and queues. Most go through the cached descriptor.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ndl-common/ops.h"

namespace opennrt::ndl {
namespace {

// Checked here because not every driver request checks both.
bool valid_queue(uint32_t engine, uint32_t queue) {
  return engine < kMaxDmaEngines && queue < kMaxDmaQueues;
}

int eng_set_state(void* ctx, uint64_t dev, uint32_t engine, uint32_t state) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  ndl_dma_engine_set arg{engine, state};
  return at.cached_request<kDmaEngineSet>(arg);
}

// out: the first `bytes` bytes of ndl_dma_engine_state.
int eng_get_state(void* ctx, uint64_t dev, uint32_t engine, void* out, uint32_t bytes) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!out) return -EINVAL;
  ndl_dma_engine_state state{};
  ndl_dma_engine_query arg{};
  arg.engine = engine;
  arg.out_state = &state;
  if (const int error = at.cached_request<kDmaEngineGet>(arg)) return error;
  std::memcpy(out, &state, std::min<size_t>(bytes, sizeof state));
  return 0;
}

// The driver takes an unknown handle for "no memory"; we refuse it.
int ring_handle(void* ctx, uint64_t dev, uint64_t mem, uint64_t* out) {
  *out = 0;
  if (!mem) return 0;
  const OnMemory at = on_memory(ctx, mem);
  if (at.error) return at.error;
  if (at.dev != dev) return -EINVAL;
  *out = at.driver_handle;
  return 0;
}

int fill_queue(void* ctx, uint64_t dev, const nrtp_ndl_queue& from, ndl_dma_queue_init* to) {
  if (!valid_queue(from.engine, from.queue)) return -EINVAL;
  *to = {};
  to->engine = from.engine;
  to->queue = from.queue;
  to->tx_count = from.tx_descs;
  to->rx_count = from.rx_descs;
  if (const int error = ring_handle(ctx, dev, from.tx_mem, &to->tx)) return error;
  return ring_handle(ctx, dev, from.rx_mem, &to->rx);
}

int queue_init(void* ctx, uint64_t dev, const nrtp_ndl_queue* queue) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!queue) return -EINVAL;
  ndl_dma_queue_init arg;
  if (const int error = fill_queue(ctx, dev, *queue, &arg)) return error;
  return at.cached_request<kDmaQueueInit>(arg);
}

int queue_init_batch(void* ctx, uint64_t dev, const nrtp_ndl_queue* queues, uint32_t n) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (n && !queues) return -EINVAL;
  ndl_dma_queue_init_batch arg{};
  for (uint32_t done = 0; done < n; done += arg.count) {
    arg.count = std::min(n - done, kMaxQueueBatch);
    for (uint32_t i = 0; i < arg.count; ++i)
      if (const int error = fill_queue(ctx, dev, queues[done + i], &arg.entries[i])) return error;
    if (const int error = at.cached_request<kDmaQueueInitBatch>(arg)) return error;
  }
  return 0;
}

int queue_release(void* ctx, uint64_t dev, uint32_t engine, uint32_t queue) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!valid_queue(engine, queue)) return -EINVAL;
  ndl_dma_queue_release arg{engine, queue};
  return at.cached_request<kDmaQueueRelease>(arg);
}

int queue_start(void* ctx, uint64_t dev, uint32_t engine, uint32_t queue, uint32_t tx_count,
                uint32_t rx_count) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  // rx_count 0 stops the kernel up to driver 2.25.4.0.
  if (!valid_queue(engine, queue) || !rx_count) return -EINVAL;
  ndl_dma_start arg{engine, queue, tx_count, rx_count};
  return at.cached_request<kDmaStart>(arg);
}

int queue_ack(void* ctx, uint64_t dev, uint32_t engine, uint32_t queue, uint32_t count) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!valid_queue(engine, queue)) return -EINVAL;
  ndl_dma_ack arg{engine, queue, count};
  return at.cached_request<kDmaAck>(arg);
}

nrtp_ndl_queue_state state_of(const ndl_dma_queue_state& from) {
  return {from.hw_status, from.sw_status, from.base, from.length, from.head, from.tail};
}

int queue_state(void* ctx, uint64_t dev, uint32_t engine, uint32_t queue,
                nrtp_ndl_queue_state* out_tx, nrtp_ndl_queue_state* out_rx) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!valid_queue(engine, queue)) return -EINVAL;
  ndl_dma_queue_state tx{}, rx{};
  ndl_dma_queue_query arg{engine, queue, &tx, &rx};
  if (const int error = at.cached_request<kDmaQueueGet>(arg)) return error;
  if (out_tx) *out_tx = state_of(tx);
  if (out_rx) *out_rx = state_of(rx);
  return 0;
}

int desc_write(void* ctx, uint64_t mem, const void* descs, uint64_t offset, uint32_t n,
               uint32_t queue_type) noexcept {
  const OnMemory at = on_memory(ctx, mem);
  if (at.error) return at.error;
  if (queue_type > 1 || !at.holds(offset, n * kDescriptorBytes) || (n && !descs)) return -EINVAL;
  if (!n) return 0;
  ndl_desc_write arg{};
  arg.handle = at.driver_handle;
  arg.buffer = descs;
  arg.count = n;
  arg.offset = offset;
  arg.queue_type = queue_type;
  return at.request<kDescWrite>(arg);
}

int desc_read(void* ctx, uint64_t dev, uint32_t engine, uint32_t queue, uint32_t queue_type,
              uint32_t first, uint32_t n, void* out) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!valid_queue(engine, queue) || queue_type > 1 || !n || !out) return -EINVAL;
  ndl_desc_read arg{};
  arg.engine = engine;
  arg.queue = queue;
  arg.type = queue_type;
  arg.first = first;
  arg.count = n;
  arg.buffer = out;
  return at.cached_request<kDescRead>(arg);
}

int h2t_alloc(void* ctx, uint64_t dev, uint32_t core, uint32_t copy_count, uint32_t service_count,
              uint32_t* out_copy, uint32_t* out_service, uint32_t* out_default) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!out_copy || !out_service || !out_default) return -EINVAL;
  // The driver's fields are 16 bits wide.
  if (core > UINT16_MAX || copy_count > UINT16_MAX || service_count > UINT16_MAX) return -E2BIG;
  ndl_h2t_alloc arg{};
  arg.bytes = sizeof arg;
  arg.core = static_cast<uint16_t>(core);
  arg.copy_count = static_cast<uint16_t>(copy_count);
  arg.service_count = static_cast<uint16_t>(service_count);
  if (const int error = at.request<kH2tAlloc>(arg)) return error;
  *out_copy = arg.copy_bitmap;
  *out_service = arg.service_bitmap;
  *out_default = arg.default_queue;
  return 0;
}

int h2t_free(void* ctx, uint64_t dev, uint32_t core, uint32_t bitmap) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (core > UINT8_MAX) return -E2BIG;
  ndl_h2t_free arg{};
  arg.bytes = sizeof arg;
  arg.core = static_cast<uint8_t>(core);
  arg.bitmap = bitmap;
  return at.request<kH2tFree>(arg);
}

// inout: ndl_completion_queues.
int compl_queues(void* ctx, uint64_t dev, void* inout, uint32_t bytes) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!inout || bytes != sizeof(ndl_completion_queues)) return -EINVAL;
  return at.request<kCompletionQueues>(*static_cast<ndl_completion_queues*>(inout));
}

}  // namespace

constexpr nrtp_ndl_dma kDmaOps = {
    .size = sizeof(nrtp_ndl_dma),
    .reserved = 0,
    .eng_set_state = eng_set_state,
    .eng_get_state = eng_get_state,
    .queue_init = queue_init,
    .queue_init_batch = queue_init_batch,
    .queue_release = queue_release,
    .queue_start = queue_start,
    .queue_ack = queue_ack,
    .queue_state = queue_state,
    .desc_write = desc_write,
    .desc_read = desc_read,
    .h2t_alloc = h2t_alloc,
    .h2t_free = h2t_free,
    .compl_queues = compl_queues,
};

}  // namespace opennrt::ndl
