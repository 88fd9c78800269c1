// SPDX-License-Identifier: Apache-2.0
//
// Semaphores, events and notification queues. A semaphore increment starts
// every execution: no allocation, no lock, one request.
#include <cerrno>

#include "ndl-common/ops.h"

namespace opennrt::ndl {
namespace {

// Of a core. The driver cuts indexes to 16 bits and admits event 256.
constexpr uint32_t kSemaphores = 256;
constexpr uint32_t kEvents = 256;

template <uint32_t kCode>
int semaphore(void* ctx, uint64_t dev, uint32_t core, uint32_t index, uint32_t value) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (index >= kSemaphores) return -EINVAL;
  ndl_semaphore arg{core, index, value};
  return at.request<kCode>(arg);
}

int sem_read(void* ctx, uint64_t dev, uint32_t core, uint32_t index, uint32_t* out) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (index >= kSemaphores || !out) return -EINVAL;
  ndl_semaphore arg{core, index, 0};
  if (const int error = at.request<kSemaphoreRead>(arg)) return error;
  *out = arg.value;
  return 0;
}

// The driver does not check the core of an event.
int check_event(uint32_t core, uint32_t index) {
  if (core >= kMaxCoresPerDevice) return -E2BIG;
  return index < kEvents ? 0 : -EINVAL;
}

int event_get(void* ctx, uint64_t dev, uint32_t core, uint32_t index, uint32_t* out) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!out) return -EINVAL;
  if (const int error = check_event(core, index)) return error;
  ndl_event arg{core, index, 0};
  if (const int error = at.request<kEventGet>(arg)) return error;
  *out = arg.value;
  return 0;
}

int event_set(void* ctx, uint64_t dev, uint32_t core, uint32_t index, uint32_t value) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (const int error = check_event(core, index)) return error;
  ndl_event arg{core, index, value};
  return at.request<kEventSet>(arg);
}

// --- notification queues

struct OnQueue {
  int error;
  Context* ndl;
  uint64_t mem;
  uint32_t bytes;
};

OnQueue on_queue(void* ctx, uint64_t nq) {
  const OnContext at = on_context(ctx);
  if (at.error) return {at.error, nullptr, 0, 0};
  Queue* queue = at.ndl->queues.find(nq);
  if (!queue) return {-EINVAL, nullptr, 0, 0};
  const OnQueue found{0, at.ndl, queue->mem.load(std::memory_order_acquire),
                      queue->bytes.load(std::memory_order_acquire)};
  return at.ndl->queues.still(nq) ? found : OnQueue{-EINVAL, nullptr, 0, 0};
}

int nq_init(void* ctx, uint64_t dev, const nrtp_ndl_nq_config* config, uint64_t* out_nq) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!config || !out_nq || config->size < sizeof *config) return -EINVAL;
  // The driver cuts both to 8 bits.
  if (config->device_id > UINT8_MAX || config->engine_index > UINT8_MAX) return -EINVAL;
  ndl_nq_init arg{};
  arg.device_id = config->device_id;
  arg.device_type = config->device_type;
  arg.nq_type = config->nq_type;
  arg.engine_index = config->engine_index;
  arg.bytes = config->bytes;
  arg.host = config->host_memory;
  arg.channel = config->channel;
  arg.region = config->region;
  arg.force = config->force_alloc;
  if (const int error = at.request<kNqInit>(arg)) return error;
  return at.ndl->adopt_queue(dev, *at.device, arg.handle, arg.cookie, *config, out_nq);
}

int nq_handle(void* ctx, uint64_t nq, uint64_t* out_mem) noexcept {
  const OnQueue at = on_queue(ctx, nq);
  if (at.error) return at.error;
  if (!out_mem) return -EINVAL;
  *out_mem = at.mem;
  return 0;
}

int nq_bytes(void* ctx, uint64_t nq, uint32_t* out) noexcept {
  const OnQueue at = on_queue(ctx, nq);
  if (at.error) return at.error;
  if (!out) return -EINVAL;
  *out = at.bytes;
  return 0;
}

int nq_map(void* ctx, uint64_t nq, void** out_va) noexcept {
  const OnQueue at = on_queue(ctx, nq);
  if (at.error) return at.error;
  return out_va ? at.ndl->map_memory(at.mem, 0, out_va) : -EINVAL;
}

int nq_destroy(void* ctx, uint64_t nq) noexcept {
  const OnContext at = on_context(ctx);
  return at.error ? at.error : at.ndl->destroy_queue(nq);
}

}  // namespace

constexpr nrtp_ndl_sync kSyncOps = {
    .size = sizeof(nrtp_ndl_sync),
    .reserved = 0,
    .sem_inc = semaphore<kSemaphoreIncrement>,
    .sem_dec = semaphore<kSemaphoreDecrement>,
    .sem_read = sem_read,
    .sem_write = semaphore<kSemaphoreWrite>,
    .event_get = event_get,
    .event_set = event_set,
};

constexpr nrtp_ndl_nq kNqOps = {
    .size = sizeof(nrtp_ndl_nq),
    .reserved = 0,
    .init = nq_init,
    .handle = nq_handle,
    .bytes = nq_bytes,
    .map = nq_map,
    .destroy = nq_destroy,
};

}  // namespace opennrt::ndl
