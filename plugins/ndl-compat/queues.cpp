// SPDX-License-Identifier: Apache-2.0
//
// DMA queues, descriptors and notification queues on older drivers.
#include <cerrno>

#include "detect.h"
#include "opennrt/arch.h"

namespace opennrt::ndl::compat {
namespace {

int queue_init_batch(void* ctx, uint64_t dev, const nrtp_ndl_queue* queues, uint32_t n) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  bool has = false;
  if (const int error = has_feature(*at.ndl, NRTP_FEATURE_BATCH_DMAQ_INIT, &has)) return error;
  if (has) return kDmaOps.queue_init_batch(ctx, dev, queues, n);
  if (n && !queues) return -EINVAL;
  for (uint32_t i = 0; i < n; ++i)
    if (const int error = kDmaOps.queue_init(ctx, dev, &queues[i])) return error;
  return 0;
}

int desc_write(void* ctx, uint64_t mem, const void* descs, uint64_t offset, uint32_t n,
               uint32_t queue_type) noexcept {
  const OnMemory at = on_memory(ctx, mem);
  if (at.error) return at.error;
  bool wide = false;
  if (const int error = has_feature(*at.ndl, NRTP_FEATURE_MEM_ALLOC64, &wide)) return error;
  if (wide) return kDmaOps.desc_write(ctx, mem, descs, offset, n, queue_type);
  if (queue_type > 1 || !at.holds(offset, n * kDescriptorBytes) || (n && !descs)) return -EINVAL;
  if (!n) return 0;
  ndl_desc_write32 old{};
  old.handle = at.driver_handle;
  old.buffer = descs;
  old.count = n;
  if (!fits(offset, &old.offset)) return -EINVAL;
  old.queue_type = queue_type;
  return at.request<kDescWrite32>(old);
}

// The copy queue of the host that every core has.
int default_queue(const OnDevice& at, uint32_t core, uint32_t* out) noexcept {
  const nrtp_arch_plugin* arch = arch_table(*at.ndl, at.device->arch);
  if (!arch || !arch->geometry || !arch->dma || !arch->n_products) return -EINVAL;
  if (core >= arch->geometry->tpbs) return -E2BIG;
  *out = arch->dma->host_queue(arch->products, core);
  return 0;
}

int h2t_alloc(void* ctx, uint64_t dev, uint32_t core, uint32_t copy_count, uint32_t service_count,
              uint32_t* out_copy, uint32_t* out_service, uint32_t* out_default) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!is_old(*at.ndl, Op::kHostQueues)) {
    const int error = kDmaOps.h2t_alloc(ctx, dev, core, copy_count, service_count, out_copy,
                                        out_service, out_default);
    if (error != -EINVAL) return error;
  }
  if (!out_copy || !out_service || !out_default) return -EINVAL;
  if (copy_count >= kMaxDmaQueues || service_count >= kMaxDmaQueues - copy_count) return -E2BIG;
  uint32_t queue = 0;
  if (const int error = default_queue(at, core, &queue)) return error;
  latch(*at.ndl, Op::kHostQueues);
  *out_copy = copy_count ? 1u << queue : 0;
  *out_service = 0;
  *out_default = queue;
  return 0;
}

int h2t_free(void* ctx, uint64_t dev, uint32_t core, uint32_t bitmap) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!is_old(*at.ndl, Op::kHostQueues)) return kDmaOps.h2t_free(ctx, dev, core, bitmap);
  uint32_t queue = 0;
  if (const int error = default_queue(at, core, &queue)) return error;
  return bitmap & ~(1u << queue) ? -ENXIO : 0;
}

int nq_init(void* ctx, uint64_t dev, const nrtp_ndl_nq_config* config, uint64_t* out_nq) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!is_old(*at.ndl, Op::kNqInit)) {
    const int error = kNqOps.init(ctx, dev, config, out_nq);
    if (error != -EINVAL) return error;
  }
  if (!config || !out_nq || config->size < sizeof *config || config->device_id > UINT8_MAX ||
      config->engine_index > UINT8_MAX)
    return -EINVAL;
  if (config->force_alloc) return -EINVAL;  // the older request keeps what there is
  ndl_nq_init_v2 old{};
  old.device_id = config->device_id;
  old.device_type = config->device_type;
  old.nq_type = config->nq_type;
  old.engine_index = config->engine_index;
  old.bytes = config->bytes;
  old.host = config->host_memory;
  old.channel = config->channel;
  old.region = config->region;
  if (const int error = at.request<kNqInitV2>(old)) return error;
  latch(*at.ndl, Op::kNqInit);
  return at.ndl->adopt_queue(dev, *at.device, old.handle, old.cookie, *config, out_nq);
}

}  // namespace

nrtp_ndl_dma dma_ops() noexcept {
  nrtp_ndl_dma group = kDmaOps;
  group.queue_init_batch = queue_init_batch;
  group.desc_write = desc_write;
  group.h2t_alloc = h2t_alloc;
  group.h2t_free = h2t_free;
  return group;
}

nrtp_ndl_nq nq_ops() noexcept {
  nrtp_ndl_nq group = kNqOps;
  group.init = nq_init;
  return group;
}

}  // namespace opennrt::ndl::compat
