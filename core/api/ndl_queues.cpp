// SPDX-License-Identifier: Apache-2.0
//
// ndl/ndl.h: DMA engines, rings, notification queues.
#include <vector>

#include "api/ndl_gateway.h"

using namespace opennrt::api;

namespace {

// A ring as the driver layer takes it. Completion rings do not exist, and the
// AXI port is the driver's choice.
int ring_of(NdlGateway& g, const ndl_queue_init& from, nrtp_ndl_queue* to) {
  if (from.rxc_handle != 0 || from.axi_port != 0) return -EINVAL;
  *to = {from.eng_id, from.qid, from.tx_desc_count, from.rx_desc_count, 0, 0};
  ndl_mem_info_t info;
  if (from.tx_handle != 0) {
    if (const int error = g.memory_of(from.tx_handle, &info)) return error;
    to->tx_mem = info.driver_handle;
  }
  if (from.rx_handle != 0) {
    if (const int error = g.memory_of(from.rx_handle, &info)) return error;
    to->rx_mem = info.driver_handle;
  }
  return 0;
}

void fill_state(const nrtp_ndl_queue_state& from, neuron_dma_queue_state* to) {
  if (to == nullptr) return;
  *to = {};
  to->hw_status = from.hw_status;
  to->sw_status = from.sw_status;
  to->base_addr = from.base;
  to->length = from.length;
  to->head_pointer = from.head;
  to->tail_pointer = from.tail;
}

template <typename Call>
int on_queue(std::uint64_t context, Call&& call) {
  return on_ndl([&](NdlGateway& g) {
    std::uint64_t handle = 0;
    ndl_notification_context_t queue;
    const int error = g.queue_of(context, &handle, &queue);
    return error != 0 ? error : call(g, handle, queue);
  });
}

}  // namespace

extern "C" {

int ndl_dma_eng_set_state(int device_index, uint32_t eng_id, uint32_t state) {
  return on_ndl_index(device_index, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.dma->eng_set_state(ctx, handle, eng_id, state);
  });
}

int ndl_dma_eng_get_state(int device_index, uint32_t eng_id, struct neuron_dma_eng_state* state) {
  return on_ndl_index(device_index, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.dma->eng_get_state(ctx, handle, eng_id, state, sizeof *state);
  });
}

int ndl_dma_queue_init(int device_index, uint32_t eng_id, uint32_t qid, uint32_t tx_desc_count,
                       uint32_t rx_desc_count, uint64_t tx_handle, uint64_t rx_handle,
                       uint64_t rxc_handle, uint32_t axi_port) {
  return on_ndl([&](NdlGateway& g) {
    std::uint64_t handle = 0;
    if (const int error = g.handle_at(device_index, &handle)) return error;
    nrtp_ndl_queue queue;
    const ndl_queue_init from = {eng_id,    qid,       tx_desc_count, rx_desc_count,
                                 tx_handle, rx_handle, rxc_handle,    axi_port};
    if (const int error = ring_of(g, from, &queue)) return error;
    return g.ops().dma->queue_init(g.ctx(), handle, &queue);
  });
}

int ndl_dma_queue_init_batch(int device_idx, struct ndl_queue_init_batch* batch) {
  return on_ndl([&](NdlGateway& g) {
    std::uint64_t handle = 0;
    if (const int error = g.handle_at(device_idx, &handle)) return error;
    if (batch == nullptr) return -EINVAL;
    if (batch->count >= MAX_NDL_QUEUE_INIT_BATCH) return -E2BIG;
    std::vector<nrtp_ndl_queue> queues(batch->count);
    for (std::uint32_t i = 0; i < batch->count; ++i)
      if (const int error = ring_of(g, batch->entries[i], &queues[i])) return error;
    return g.ops().dma->queue_init_batch(g.ctx(), handle, queues.data(), batch->count);
  });
}

int ndl_dma_queue_release(int device_index, uint32_t eng_id, uint32_t qid) {
  return on_ndl_index(device_index, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.dma->queue_release(ctx, handle, eng_id, qid);
  });
}

int ndl_dma_queue_copy_start(int device_index, uint32_t eng_id, uint32_t qid,
                             uint32_t tx_desc_count, uint32_t rx_desc_count) {
  return on_ndl_index(device_index, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.dma->queue_start(ctx, handle, eng_id, qid, tx_desc_count, rx_desc_count);
  });
}

int ndl_dma_ack_completed_desc(int device_index, uint32_t eng_id, uint32_t qid, uint32_t count) {
  return on_ndl_index(device_index, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.dma->queue_ack(ctx, handle, eng_id, qid, count);
  });
}

int ndl_dma_queue_get_state(int device_index, uint8_t eng_id, uint8_t qid,
                            struct neuron_dma_queue_state* tx, struct neuron_dma_queue_state* rx) {
  return on_ndl_index(device_index, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    nrtp_ndl_queue_state tx_state{}, rx_state{};
    if (const int error = ops.dma->queue_state(ctx, handle, eng_id, qid, &tx_state, &rx_state))
      return error;
    fill_state(tx_state, tx);
    fill_state(rx_state, rx);
    return 0;
  });
}

int ndl_dma_copy_descriptors(uint64_t mem_handle, void* buffer, uint64_t offset, uint32_t num_descs,
                             enum neuron_dma_queue_type queue_type) {
  return on_ndl_memory(mem_handle, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t memory) {
    return ops.dma->desc_write(ctx, memory, buffer, offset, num_descs,
                               static_cast<std::uint32_t>(queue_type));
  });
}

int ndl_dma_descriptor_copyout(int device_index, uint8_t eng_id, uint8_t qid,
                               enum neuron_dma_queue_type type, uint32_t start_index,
                               uint32_t count, void* buffer) {
  return on_ndl_index(device_index, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.dma->desc_read(ctx, handle, eng_id, qid, static_cast<std::uint32_t>(type),
                              start_index, count, buffer);
  });
}

int ndl_h2t_dma_queue_alloc(ndl_device_t* device, uint32_t nc_id, uint32_t copy_queue_cnt,
                            uint32_t service_queue_cnt, uint32_t* copy_queue_bmap,
                            uint32_t* service_queue_bmap, uint32_t* copy_default_queue) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.dma->h2t_alloc(ctx, handle, nc_id, copy_queue_cnt, service_queue_cnt,
                              copy_queue_bmap, service_queue_bmap, copy_default_queue);
  });
}

int ndl_h2t_dma_queue_free(ndl_device_t* device, uint32_t nc_id, uint32_t queue_bmap) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.dma->h2t_free(ctx, handle, nc_id, queue_bmap);
  });
}

// --- notification queues

int ndl_notification_init_with_realloc(ndl_device_t* device, int nq_dev_id,
                                       ndl_nq_dev_t nq_dev_type, uint8_t nq_type,
                                       uint8_t engine_index, uint32_t size, bool on_host_memory,
                                       uint32_t dram_channel, uint32_t dram_region,
                                       bool force_alloc_mem, uint64_t* notification_context) {
  return on_ndl([&](NdlGateway& g) {
    std::uint64_t handle = 0, queue = 0;
    if (const int error = g.handle_of(device, &handle)) return error;
    if (notification_context == nullptr || nq_dev_id < 0 || nq_dev_id > UINT8_MAX) return -EINVAL;
    nrtp_ndl_nq_config config{};
    config.size = sizeof config;
    config.device_type = static_cast<std::uint32_t>(nq_dev_type);
    config.device_id = static_cast<std::uint32_t>(nq_dev_id);
    config.nq_type = nq_type;
    config.engine_index = engine_index;
    config.bytes = size;
    config.host_memory = on_host_memory;
    config.channel = dram_channel;
    config.region = dram_region;
    config.force_alloc = force_alloc_mem;
    if (const int error = g.ops().nq->init(g.ctx(), handle, &config, &queue)) return error;
    ndl_mem_info_t info{};
    info.device = device;
    info.host_memory = on_host_memory;
    ndl_notification_context_t context{};
    context.nq_dev_id = static_cast<std::uint8_t>(nq_dev_id);
    context.nq_dev_type = nq_dev_type;
    context.nq_type = nq_type;
    context.engine_index = engine_index;
    context.size = size;
    context.fd = -1;  // descriptors stay in the driver layer
    context.mem_info = &info;
    const int error = g.adopt_queue(queue, context, notification_context);
    if (error != 0) g.ops().nq->destroy(g.ctx(), queue);
    return error;
  });
}

int ndl_notification_init(ndl_device_t* device, int nq_dev_id, ndl_nq_dev_t nq_dev_type,
                          uint8_t nq_type, uint8_t engine_index, uint32_t size, bool on_host_memory,
                          uint32_t dram_channel, uint32_t dram_region,
                          uint64_t* notification_context) {
  return ndl_notification_init_with_realloc(device, nq_dev_id, nq_dev_type, nq_type, engine_index,
                                            size, on_host_memory, dram_channel, dram_region, false,
                                            notification_context);
}

int ndl_notification_get_mem_handle(uint64_t notification_context, uint64_t* mem_handle) {
  return on_queue(notification_context,
                  [&](NdlGateway&, std::uint64_t, const ndl_notification_context_t& queue) {
                    if (mem_handle == nullptr) return -EINVAL;
                    *mem_handle = queue.mem_handle;
                    return 0;
                  });
}

int ndl_notification_get_size(uint64_t notification_context, uint32_t* size) {
  return on_queue(notification_context,
                  [&](NdlGateway&, std::uint64_t, const ndl_notification_context_t& queue) {
                    if (size == nullptr) return -EINVAL;
                    *size = queue.size;
                    return 0;
                  });
}

int ndl_notification_map(uint64_t notification_context, void** va) {
  return on_queue(notification_context,
                  [&](NdlGateway& g, std::uint64_t handle, const ndl_notification_context_t&) {
                    return g.ops().nq->map(g.ctx(), handle, va);
                  });
}

int ndl_notification_destroy(uint64_t notification_context) {
  return on_queue(notification_context,
                  [&](NdlGateway& g, std::uint64_t handle, const ndl_notification_context_t&) {
                    const int error = g.ops().nq->destroy(g.ctx(), handle);
                    return error != 0 ? error : g.forget_queue(notification_context);
                  });
}

}  // extern "C"
