// SPDX-License-Identifier: Apache-2.0
//
// The request tables and argument layouts of both sides against golden data, and
// that against the description of the driver's interface, when it is at hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "driver/abi.h"
#include "ndl-common/normalise.h"
#include "ndl-common/requests.h"

namespace opennrt::ndl {
namespace {

struct Field {
  size_t offset, bytes;
};
struct Layout {
  const char* driver_name;
  size_t bytes;
  std::vector<Field> fields;  // in order, without reserved ones
};

#define F(type, member) \
  Field { offsetof(type, member), sizeof(type::member) }

// clang-format off
const Layout kLayouts[] = {
    {"neuron_ioctl_device_info", sizeof(ndl_device_info), {F(ndl_device_info, arch), F(ndl_device_info, revision), F(ndl_device_info, n_connected), F(ndl_device_info, connected), F(ndl_device_info, bar_address), F(ndl_device_info, bar_size)}},
    {"neuron_ioctl_device_basic_info", sizeof(ndl_board_info), {F(ndl_board_info, arch), F(ndl_board_info, revision)}},
    {"neuron_ioctl_device_driver_info", sizeof(ndl_driver_info), {F(ndl_driver_info, arch), F(ndl_driver_info, revision), F(ndl_driver_info, version), F(ndl_driver_info, bytes), F(ndl_driver_info, features)}},
    {"neuron_ioctl_compatible_version", sizeof(ndl_compat_window), {F(ndl_compat_window, max), F(ndl_compat_window, min)}},
    {"neuron_ioctl_device_bdf", sizeof(ndl_bdf), {F(ndl_bdf, bus), F(ndl_bdf, slot), F(ndl_bdf, function)}},
    {"neuron_ioctl_device_bdf_ext", sizeof(ndl_bdf_ext), {F(ndl_bdf_ext, index), F(ndl_bdf_ext, domain), F(ndl_bdf_ext, bus), F(ndl_bdf_ext, slot), F(ndl_bdf_ext, function)}},
    {"neuron_ioctl_host_device_id", sizeof(ndl_host_device_id), {F(ndl_host_device_id, id)}},
    {"neuron_ioctl_host_device_id_to_rid_map", sizeof(ndl_rid_map), {F(ndl_rid_map, count), F(ndl_rid_map, rid)}},
    {"neuron_ioctl_nc_map_entry", sizeof(ndl_core_map_entry), {F(ndl_core_map_entry, device), F(ndl_core_map_entry, core)}},
    {"neuron_ioctl_nc_map", sizeof(ndl_core_map), {F(ndl_core_map, count)}},
    {"neuron_ioctl_get_logical_to_physical_nc_map", sizeof(ndl_core_map_query), {F(ndl_core_map_query, entries), F(ndl_core_map_query, capacity), F(ndl_core_map_query, version)}},
    {"neuron_ioctl_device_init", sizeof(ndl_device_init), {F(ndl_device_init, regions)}},
    {"neuron_uuid", sizeof(ndl_uuid), {F(ndl_uuid, bytes)}},
    {"neuron_app_info", sizeof(ndl_app_info), {F(ndl_app_info, pid), F(ndl_app_info, lock_map), F(ndl_app_info, uuid), F(ndl_app_info, host_bytes), F(ndl_app_info, device_bytes)}},
    {"neuron_ioctl_get_apps_info", sizeof(ndl_apps_info), {F(ndl_apps_info, flags), F(ndl_apps_info, capacity), F(ndl_apps_info, count)}},
    {"neuron_ioctl_bar_rw", sizeof(ndl_bar_access), {F(ndl_bar_access, bar), F(ndl_bar_access, addresses), F(ndl_bar_access, values), F(ndl_bar_access, count)}},
    {"neuron_ioctl_read_hw_counters", sizeof(ndl_hw_counters), {F(ndl_hw_counters, addresses), F(ndl_hw_counters, values), F(ndl_hw_counters, count)}},
    {"neuron_ioctl_resource_mmap_info", sizeof(ndl_resource), {F(ndl_resource, block), F(ndl_resource, block_id), F(ndl_resource, resource), F(ndl_resource, offset), F(ndl_resource, bytes)}},
    {"neuron_ioctl_post_metric", sizeof(ndl_post_metric), {F(ndl_post_metric, data), F(ndl_post_metric, bytes)}},
    {"neuron_ioctl_mem_alloc", sizeof(ndl_mem_alloc_v1), {F(ndl_mem_alloc_v1, bytes), F(ndl_mem_alloc_v1, host), F(ndl_mem_alloc_v1, channel), F(ndl_mem_alloc_v1, region), F(ndl_mem_alloc_v1, core), F(ndl_mem_alloc_v1, out_handle)}},
    {"neuron_ioctl_mem_alloc_v2", sizeof(ndl_mem_alloc_v2), {F(ndl_mem_alloc_v2, bytes), F(ndl_mem_alloc_v2, align), F(ndl_mem_alloc_v2, host), F(ndl_mem_alloc_v2, channel), F(ndl_mem_alloc_v2, region), F(ndl_mem_alloc_v2, core), F(ndl_mem_alloc_v2, out_handle)}},
    {"neuron_ioctl_mem_alloc_v2_mem_type", sizeof(ndl_mem_alloc_v2mt), {F(ndl_mem_alloc_v2mt, bytes), F(ndl_mem_alloc_v2mt, align), F(ndl_mem_alloc_v2mt, host), F(ndl_mem_alloc_v2mt, channel), F(ndl_mem_alloc_v2mt, region), F(ndl_mem_alloc_v2mt, core), F(ndl_mem_alloc_v2mt, type), F(ndl_mem_alloc_v2mt, out_handle)}},
    {"neuron_ioctl_mem_alloc_v2_mem_type64", sizeof(ndl_mem_alloc_v2mt64), {F(ndl_mem_alloc_v2mt64, bytes), F(ndl_mem_alloc_v2mt64, align), F(ndl_mem_alloc_v2mt64, host), F(ndl_mem_alloc_v2mt64, channel), F(ndl_mem_alloc_v2mt64, region), F(ndl_mem_alloc_v2mt64, core), F(ndl_mem_alloc_v2mt64, type), F(ndl_mem_alloc_v2mt64, out_handle), F(ndl_mem_alloc_v2mt64, unread)}},
    {"neuron_ioctl_mem_free", sizeof(ndl_mem_free), {F(ndl_mem_free, handle)}},
    {"neuron_ioctl_mem_get_pa", sizeof(ndl_mem_pa), {F(ndl_mem_pa, handle), F(ndl_mem_pa, out_pa)}},
    {"neuron_ioctl_mem_get_info", sizeof(ndl_mem_info), {F(ndl_mem_info, handle), F(ndl_mem_info, out_cookie), F(ndl_mem_info, out_pa)}},
    {"neuron_ioctl_mem_get_extended_info", sizeof(ndl_mem_extended_info), {F(ndl_mem_extended_info, handle), F(ndl_mem_extended_info, version), F(ndl_mem_extended_info, host), F(ndl_mem_extended_info, cookie), F(ndl_mem_extended_info, pa), F(ndl_mem_extended_info, pid), F(ndl_mem_extended_info, bytes)}},
    {"neuron_ioctl_mem_get_mc_mmap_info", sizeof(ndl_chunk_info_v1), {F(ndl_chunk_info_v1, pa), F(ndl_chunk_info_v1, cookie), F(ndl_chunk_info_v1, bytes)}},
    {"neuron_ioctl_mem_get_mc_mmap_info_v2", sizeof(ndl_chunk_info), {F(ndl_chunk_info, pa), F(ndl_chunk_info, cookie), F(ndl_chunk_info, bytes), F(ndl_chunk_info, handle)}},
    {"neuron_ioctl_mem_chunk_info", sizeof(ndl_mem_chunk), {F(ndl_mem_chunk, pa), F(ndl_mem_chunk, bytes), F(ndl_mem_chunk, type)}},
    {"neuron_ioctl_dump_mem_chunks", sizeof(ndl_mem_dump), {F(ndl_mem_dump, hbm), F(ndl_mem_dump, capacity), F(ndl_mem_dump, count), F(ndl_mem_dump, chunks)}},
    {"neuron_ioctl_dmabuf_fd", sizeof(ndl_dmabuf), {F(ndl_dmabuf, va), F(ndl_dmabuf, bytes), F(ndl_dmabuf, out_fd)}},
    {"neuron_ioctl_get_va_placement", sizeof(ndl_va_placement), {F(ndl_va_placement, va), F(ndl_va_placement, device), F(ndl_va_placement, hbm)}},
    {"neuron_ioctl_mem_copy", sizeof(ndl_mem_copy32), {F(ndl_mem_copy32, src), F(ndl_mem_copy32, dst), F(ndl_mem_copy32, bytes), F(ndl_mem_copy32, src_offset), F(ndl_mem_copy32, dst_offset)}},
    {"neuron_ioctl_mem_copy64", sizeof(ndl_mem_copy), {F(ndl_mem_copy, src), F(ndl_mem_copy, dst), F(ndl_mem_copy, bytes), F(ndl_mem_copy, src_offset), F(ndl_mem_copy, dst_offset)}},
    {"neuron_ioctl_mem_copy_async", sizeof(ndl_mem_copy_async32), {F(ndl_mem_copy_async32, src), F(ndl_mem_copy_async32, dst), F(ndl_mem_copy_async32, bytes), F(ndl_mem_copy_async32, src_offset), F(ndl_mem_copy_async32, dst_offset), F(ndl_mem_copy_async32, prefetch_va), F(ndl_mem_copy_async32, wait_in), F(ndl_mem_copy_async32, wait_out)}},
    {"neuron_ioctl_mem_copy_async64", sizeof(ndl_mem_copy_async), {F(ndl_mem_copy_async, src), F(ndl_mem_copy_async, dst), F(ndl_mem_copy_async, bytes), F(ndl_mem_copy_async, src_offset), F(ndl_mem_copy_async, dst_offset), F(ndl_mem_copy_async, prefetch_va), F(ndl_mem_copy_async, wait_in), F(ndl_mem_copy_async, wait_out)}},
    {"neuron_ioctl_mem_copy_async_wait", sizeof(ndl_mem_copy_wait), {F(ndl_mem_copy_wait, src), F(ndl_mem_copy_wait, dst), F(ndl_mem_copy_wait, wait_in)}},
    {"neuron_ioctl_mem_buf_copy", sizeof(ndl_buf_copy32), {F(ndl_buf_copy32, handle), F(ndl_buf_copy32, buffer), F(ndl_buf_copy32, bytes), F(ndl_buf_copy32, offset), F(ndl_buf_copy32, to_device)}},
    {"neuron_ioctl_mem_buf_copy64", sizeof(ndl_buf_copy), {F(ndl_buf_copy, handle), F(ndl_buf_copy, buffer), F(ndl_buf_copy, bytes), F(ndl_buf_copy, offset), F(ndl_buf_copy, to_device)}},
    {"neuron_ioctl_mem_buf_copy64zc", sizeof(ndl_buf_zerocopy), {F(ndl_buf_zerocopy, handle), F(ndl_buf_zerocopy, buffer), F(ndl_buf_zerocopy, bytes), F(ndl_buf_zerocopy, offset), F(ndl_buf_zerocopy, to_device), F(ndl_buf_zerocopy, bar4_threshold), F(ndl_buf_zerocopy, queue), F(ndl_buf_zerocopy, unused)}},
    {"nrt_tensor_batch_op", sizeof(ndl_zerocopy_op), {F(ndl_zerocopy_op, offset), F(ndl_zerocopy_op, bytes), F(ndl_zerocopy_op, buffer)}},
    {"neuron_memcpy_batch", sizeof(ndl_zerocopy_batch), {F(ndl_zerocopy_batch, handle), F(ndl_zerocopy_batch, offset), F(ndl_zerocopy_batch, ops), F(ndl_zerocopy_batch, count), F(ndl_zerocopy_batch, bar4_threshold), F(ndl_zerocopy_batch, flags), F(ndl_zerocopy_batch, context)}},
    {"neuron_ioctl_mem_buf_copy64zc_batches", sizeof(ndl_zerocopy_batches), {F(ndl_zerocopy_batches, sequence_num), F(ndl_zerocopy_batches, batches), F(ndl_zerocopy_batches, count), F(ndl_zerocopy_batches, to_device), F(ndl_zerocopy_batches, queue), F(ndl_zerocopy_batches, flags)}},
    {"neuron_ioctl_memset", sizeof(ndl_mem_set32), {F(ndl_mem_set32, handle), F(ndl_mem_set32, offset), F(ndl_mem_set32, value), F(ndl_mem_set32, bytes)}},
    {"neuron_ioctl_memset64", sizeof(ndl_mem_set), {F(ndl_mem_set, handle), F(ndl_mem_set, offset), F(ndl_mem_set, value), F(ndl_mem_set, bytes)}},
    {"neuron_ioctl_program_engine", sizeof(ndl_program_engine_v1), {F(ndl_program_engine_v1, dst), F(ndl_program_engine_v1, buffer), F(ndl_program_engine_v1, bytes), F(ndl_program_engine_v1, offset)}},
    {"neuron_ioctl_program_engine_nc", sizeof(ndl_program_engine32), {F(ndl_program_engine32, core), F(ndl_program_engine32, dst), F(ndl_program_engine32, buffer), F(ndl_program_engine32, bytes), F(ndl_program_engine32, offset)}},
    {"neuron_ioctl_program_engine_nc64", sizeof(ndl_program_engine), {F(ndl_program_engine, core), F(ndl_program_engine, dst), F(ndl_program_engine, buffer), F(ndl_program_engine, bytes), F(ndl_program_engine, offset)}},
    {"neuron_ioctl_dma_eng_init", sizeof(ndl_dma_engine_init), {F(ndl_dma_engine_init, engine)}},
    {"neuron_ioctl_dma_eng_set_state", sizeof(ndl_dma_engine_set), {F(ndl_dma_engine_set, engine), F(ndl_dma_engine_set, state)}},
    {"neuron_dma_eng_state", sizeof(ndl_dma_engine_state), {F(ndl_dma_engine_state, revision_id), F(ndl_dma_engine_state, max_queues), F(ndl_dma_engine_state, num_queues), F(ndl_dma_engine_state, tx_state), F(ndl_dma_engine_state, rx_state)}},
    {"neuron_ioctl_dma_eng_get_state", sizeof(ndl_dma_engine_query), {F(ndl_dma_engine_query, engine), F(ndl_dma_engine_query, out_state)}},
    {"neuron_ioctl_dma_queue_init", sizeof(ndl_dma_queue_init), {F(ndl_dma_queue_init, engine), F(ndl_dma_queue_init, queue), F(ndl_dma_queue_init, tx_count), F(ndl_dma_queue_init, rx_count), F(ndl_dma_queue_init, tx), F(ndl_dma_queue_init, rx), F(ndl_dma_queue_init, completion), F(ndl_dma_queue_init, axi_port)}},
    {"neuron_ioctl_dma_queue_init_batch", sizeof(ndl_dma_queue_init_batch), {F(ndl_dma_queue_init_batch, count), F(ndl_dma_queue_init_batch, entries)}},
    {"neuron_ioctl_dma_queue_release", sizeof(ndl_dma_queue_release), {F(ndl_dma_queue_release, engine), F(ndl_dma_queue_release, queue)}},
    {"neuron_ioctl_dma_queue_copy_start", sizeof(ndl_dma_start), {F(ndl_dma_start, engine), F(ndl_dma_start, queue), F(ndl_dma_start, tx_count), F(ndl_dma_start, rx_count)}},
    {"neuron_ioctl_dma_ack_completed", sizeof(ndl_dma_ack), {F(ndl_dma_ack, engine), F(ndl_dma_ack, queue), F(ndl_dma_ack, count)}},
    {"neuron_dma_queue_state", sizeof(ndl_dma_queue_state), {F(ndl_dma_queue_state, hw_status), F(ndl_dma_queue_state, sw_status), F(ndl_dma_queue_state, base), F(ndl_dma_queue_state, length), F(ndl_dma_queue_state, head), F(ndl_dma_queue_state, tail), F(ndl_dma_queue_state, completion_base), F(ndl_dma_queue_state, completion_head)}},
    {"neuron_ioctl_dma_queue_get_state", sizeof(ndl_dma_queue_query), {F(ndl_dma_queue_query, engine), F(ndl_dma_queue_query, queue), F(ndl_dma_queue_query, out_tx), F(ndl_dma_queue_query, out_rx)}},
    {"neuron_ioctl_dma_copy_descriptors", sizeof(ndl_desc_write32), {F(ndl_desc_write32, handle), F(ndl_desc_write32, buffer), F(ndl_desc_write32, count), F(ndl_desc_write32, offset), F(ndl_desc_write32, queue_type)}},
    {"neuron_ioctl_dma_copy_descriptors64", sizeof(ndl_desc_write), {F(ndl_desc_write, handle), F(ndl_desc_write, buffer), F(ndl_desc_write, count), F(ndl_desc_write, offset), F(ndl_desc_write, queue_type)}},
    {"neuron_ioctl_dma_descriptor_copyout", sizeof(ndl_desc_read), {F(ndl_desc_read, engine), F(ndl_desc_read, queue), F(ndl_desc_read, type), F(ndl_desc_read, first), F(ndl_desc_read, count), F(ndl_desc_read, buffer)}},
    {"neuron_ioctl_dma_quiesce_queues", sizeof(ndl_dma_quiesce), {F(ndl_dma_quiesce, core), F(ndl_dma_quiesce, count), F(ndl_dma_quiesce, queue_mask)}},
    {"neuron_ioctl_h2t_dma_alloc_queues", sizeof(ndl_h2t_alloc), {F(ndl_h2t_alloc, bytes), F(ndl_h2t_alloc, core), F(ndl_h2t_alloc, copy_count), F(ndl_h2t_alloc, service_count), F(ndl_h2t_alloc, copy_bitmap), F(ndl_h2t_alloc, service_bitmap), F(ndl_h2t_alloc, default_queue)}},
    {"neuron_ioctl_h2t_dma_free_queues", sizeof(ndl_h2t_free), {F(ndl_h2t_free, bytes), F(ndl_h2t_free, core), F(ndl_h2t_free, fill0), F(ndl_h2t_free, bitmap)}},
    {"neuron_ioctl_compl_queue_info", sizeof(ndl_completion_queue), {F(ndl_completion_queue, cookie), F(ndl_completion_queue, mmap_size)}},
    {"neuron_ioctl_get_async_h2t_dma_compl_queues", sizeof(ndl_completion_queues), {F(ndl_completion_queues, core), F(ndl_completion_queues, queue_bitmap), F(ndl_completion_queues, queues)}},
    {"neuron_h2d_dma_compl_queue", sizeof(ndl_completion_ring), {F(ndl_completion_ring, capacity), F(ndl_completion_ring, head), F(ndl_completion_ring, tail)}},
    {"neuron_h2d_dma_compl_queue_entry", sizeof(ndl_completion_entry), {F(ndl_completion_entry, sequence_num), F(ndl_completion_entry, result), F(ndl_completion_entry, context)}},
    {"neuron_ioctl_semaphore", sizeof(ndl_semaphore), {F(ndl_semaphore, core), F(ndl_semaphore, index), F(ndl_semaphore, value)}},
    {"neuron_ioctl_event", sizeof(ndl_event), {F(ndl_event, core), F(ndl_event, index), F(ndl_event, value)}},
    {"neuron_ioctl_notifications_init_v1", sizeof(ndl_nq_init_v1), {F(ndl_nq_init_v1, core), F(ndl_nq_init_v1, nq_type), F(ndl_nq_init_v1, engine_index), F(ndl_nq_init_v1, bytes), F(ndl_nq_init_v1, cookie)}},
    {"neuron_ioctl_notifications_destroy", sizeof(ndl_nq_destroy_v1), {F(ndl_nq_destroy_v1, cookie)}},
    {"neuron_ioctl_notifications_init_v2", sizeof(ndl_nq_init_v2), {F(ndl_nq_init_v2, device_id), F(ndl_nq_init_v2, device_type), F(ndl_nq_init_v2, nq_type), F(ndl_nq_init_v2, engine_index), F(ndl_nq_init_v2, bytes), F(ndl_nq_init_v2, host), F(ndl_nq_init_v2, channel), F(ndl_nq_init_v2, region), F(ndl_nq_init_v2, cookie), F(ndl_nq_init_v2, handle)}},
    {"neuron_ioctl_notifications_init_with_realloc_v2", sizeof(ndl_nq_init), {F(ndl_nq_init, device_id), F(ndl_nq_init, device_type), F(ndl_nq_init, nq_type), F(ndl_nq_init, engine_index), F(ndl_nq_init, bytes), F(ndl_nq_init, host), F(ndl_nq_init, channel), F(ndl_nq_init, region), F(ndl_nq_init, force), F(ndl_nq_init, cookie), F(ndl_nq_init, handle)}},
    {"neuron_ioctl_notifications_queue_info", sizeof(ndl_nq_info), {F(ndl_nq_info, device_id), F(ndl_nq_info, device_type), F(ndl_nq_info, nq_type), F(ndl_nq_info, engine_index), F(ndl_nq_info, head), F(ndl_nq_info, phase_bit)}},
    {"neuron_ioctl_device_reset", sizeof(ndl_core_reset), {F(ndl_core_reset, core_mask), F(ndl_core_reset, request_id)}},
    {"neuron_ioctl_device_ready", sizeof(ndl_core_ready), {F(ndl_core_ready, request_id), F(ndl_core_ready, result)}},
    {"neuron_ioctl_cinit_set", sizeof(ndl_core_init_state), {F(ndl_core_init_state, core), F(ndl_core_init_state, state), F(ndl_core_init_state, new_state)}},
    {"neuron_ioctl_nc_model_started_count", sizeof(ndl_started_count), {F(ndl_started_count, core), F(ndl_started_count, started_count)}},
    {"neuron_ioctl_hbm_scrub_start", sizeof(ndl_scrub_start), {F(ndl_scrub_start, core), F(ndl_scrub_start, hbm), F(ndl_scrub_start, axi_port), F(ndl_scrub_start, value)}},
    {"neuron_ioctl_hbm_scrub_wait", sizeof(ndl_scrub_wait), {F(ndl_scrub_wait, core), F(ndl_scrub_wait, hbm)}},
    {"neuron_ioctl_neuron_ds_info", sizeof(ndl_data_store), {F(ndl_data_store, pid), F(ndl_data_store, cookie), F(ndl_data_store, bytes)}},
    {"neuron_ioctl_crwl", sizeof(ndl_core_lock), {F(ndl_core_lock, core), F(ndl_core_lock, uuid)}},
    {"neuron_ioctl_crwl_nc_map", sizeof(ndl_core_range64), {F(ndl_core_range64, count), F(ndl_core_range64, first), F(ndl_core_range64, last), F(ndl_core_range64, longest_free), F(ndl_core_range64, bitmap)}},
    {"neuron_ioctl_crwl_nc_map_ext", sizeof(ndl_core_range512), {F(ndl_core_range512, count), F(ndl_core_range512, first), F(ndl_core_range512, last), F(ndl_core_range512, longest_free), F(ndl_core_range512, bitmap)}},
    {"neuron_ioctl_pod_info", sizeof(ndl_pod_info), {F(ndl_pod_info, bytes), F(ndl_pod_info, type), F(ndl_pod_info, pod_id), F(ndl_pod_info, nodes)}},
    {"neuron_ioctl_pod_status", sizeof(ndl_pod_status_v1), {F(ndl_pod_status_v1, bytes), F(ndl_pod_status_v1, pod_id), F(ndl_pod_status_v1, state), F(ndl_pod_status_v1, type), F(ndl_pod_status_v1, nodes), F(ndl_pod_status_v1, node_id)}},
    {"neuron_ioctl_pod_status_v2", sizeof(ndl_pod_status), {F(ndl_pod_status, v1), F(ndl_pod_status, mode), F(ndl_pod_status, modes)}},
    {"neuron_ioctl_pod_ctrl", sizeof(ndl_pod_ctrl_v1), {F(ndl_pod_ctrl_v1, bytes), F(ndl_pod_ctrl_v1, ctrl), F(ndl_pod_ctrl_v1, timeout), F(ndl_pod_ctrl_v1, state)}},
    {"neuron_ioctl_pod_ctrl_v2", sizeof(ndl_pod_ctrl), {F(ndl_pod_ctrl, v1), F(ndl_pod_ctrl, mode)}},
    {"neuron_ioctl_printk", sizeof(ndl_printk), {F(ndl_printk, buffer), F(ndl_printk, bytes), F(ndl_printk, action)}},
    {"neuron_ioctl_nc_pid_state_dump", sizeof(ndl_pid_dump), {F(ndl_pid_dump, bytes), F(ndl_pid_dump, core), F(ndl_pid_dump, filter_owner), F(ndl_pid_dump, limit)}},
    {"neuron_ioctl_power_profile", sizeof(ndl_perf_profile), {F(ndl_perf_profile, bytes), F(ndl_perf_profile, ctrl), F(ndl_perf_profile, profile)}},
    {"neuron_ioctl_available_perf_profiles", sizeof(ndl_perf_profiles), {F(ndl_perf_profiles, feature), F(ndl_perf_profiles, count), F(ndl_perf_profiles, bitmap)}},
    {"neuron_ioctl_metrics_ctrl", sizeof(ndl_metrics_ctrl), {F(ndl_metrics_ctrl, mode)}},
    {"neuron_ioctl_throttling_notifications", sizeof(ndl_throttling), {F(ndl_throttling, enable)}},
};
// clang-format on
#undef F

std::filesystem::path spec_file() {
  const char* folder = std::getenv("OPENNRT_SPEC");
  return std::filesystem::path(folder ? folder : OPENNRT_SPEC_DEFAULT) / "kernel-abi.yaml";
}

class DriverInterface : public ::testing::Test {
 protected:
  void SetUp() override { spec = YAML::LoadFile(OPENNRT_DRIVER_GOLDEN); }
  YAML::Node spec;
};

TEST_F(DriverInterface, EveryLayoutMatches) {
  size_t compared = 0;
  for (const Layout& ours : kLayouts) {
    SCOPED_TRACE(ours.driver_name);
    const YAML::Node theirs = spec["structs"][ours.driver_name];
    ASSERT_TRUE(theirs);
    EXPECT_EQ(ours.bytes, theirs["size"].as<size_t>());
    std::vector<Field> fields;
    for (const YAML::Node& field : theirs["fields"])
      if (field["size"].as<size_t>())  // flexible arrays follow the header
        fields.push_back({field["offset"].as<size_t>(), field["size"].as<size_t>()});
    ASSERT_EQ(ours.fields.size(), fields.size());
    for (size_t i = 0; i < fields.size(); ++i) {
      EXPECT_EQ(ours.fields[i].offset, fields[i].offset) << "field " << i;
      EXPECT_EQ(ours.fields[i].bytes, fields[i].bytes) << "field " << i;
    }
    ++compared;
  }
  EXPECT_GT(compared, 80u);
  std::printf("%zu layouts of the driver layer compared\n", compared);
}

TEST_F(DriverInterface, EveryRequestMatches) {
  std::map<std::string, const RequestInfo*> ours;
  for (const RequestInfo& info : kRequests) ours[info.name] = &info;
  EXPECT_EQ(ours.size(), std::size(kRequests)) << "a name appears twice";
  std::set<std::string> known;
  for (const YAML::Node& theirs : spec["ioctls"]) {
    const auto name = theirs["name"].as<std::string>();
    SCOPED_TRACE(name);
    known.insert(name);
    const auto since = theirs["since"].as<std::string>();
    if (!ours.count(name)) {
      // Only what no released driver of ours understands may be missing.
      EXPECT_TRUE(since.starts_with("dev") || since == "2.24.7.0 only" ||
                  name == "DRIVER_INFO_SET");
      continue;
    }
    const RequestInfo& info = *ours[name];
    EXPECT_EQ(info.code, theirs["code"].as<uint32_t>());
    EXPECT_EQ(info.arg_bytes, theirs["arg_size"].as<uint32_t>());
    EXPECT_EQ(info.lane == Lane::kMisc, theirs["lane"].as<std::string>() == "misc");
    EXPECT_EQ(info.attached, theirs["gate"].as<std::string>() == "attached");
    EXPECT_EQ(find_request(info.code), &info) << "the code appears twice";
  }
  for (const auto& [name, info] : ours) EXPECT_TRUE(known.count(name)) << name;
}

TEST_F(DriverInterface, LimitsMatch) {
  const YAML::Node constants = spec["constants"];
  EXPECT_EQ(kMaxDevices, constants["MAX_NEURON_DEVICE_COUNT"].as<uint32_t>());
  EXPECT_EQ(kMaxCoresPerDevice, constants["MAX_NC_PER_DEVICE"].as<uint32_t>());
  EXPECT_EQ(kMaxProcessesPerDevice, constants["NEURON_MAX_PROCESS_PER_DEVICE"].as<uint32_t>());
  EXPECT_EQ(kMaxBarReads, constants["BAR_RW_MAX_REGS"].as<uint32_t>());
  EXPECT_EQ(kMaxQueueBatch + 1, constants["MAX_DMA_QUEUE_INIT_BATCH"].as<uint32_t>());
  EXPECT_EQ(kMaxPrintk, constants["PRINTK_MAX"].as<uint32_t>());
  EXPECT_EQ(kMaxCoreMap, constants["NEURON_NC_MAP_MAX_ENTRIES"].as<uint32_t>());
  EXPECT_EQ(kMaxDmaEngines, constants["NUM_DMA_ENG_PER_DEVICE"].as<uint32_t>());
  EXPECT_EQ(kMaxDmaQueues, constants["DMA_MAX_Q"].as<uint32_t>());
  EXPECT_EQ(kMaxAsyncCopy, constants["ASYNC_MAX_TRANSFER"].as<uint64_t>());
  EXPECT_EQ(kDataStoreBytes, constants["NEURON_DATASTORE_SIZE"].as<uint64_t>());
}

// The golden data says what the description says.
TEST_F(DriverInterface, GoldenDataIsCurrent) {
  if (!std::filesystem::exists(spec_file()))
    GTEST_SKIP() << spec_file() << " is absent; set OPENNRT_SPEC";
  const YAML::Node theirs = YAML::LoadFile(spec_file().string());
  ASSERT_EQ(spec["structs"].size(), theirs["structs"].size());
  for (const auto& item : theirs["structs"]) {
    const auto name = item.first.as<std::string>();
    SCOPED_TRACE(name);
    const YAML::Node ours = spec["structs"][name];
    ASSERT_TRUE(ours);
    EXPECT_EQ(ours["size"].as<size_t>(), item.second["size"].as<size_t>());
    ASSERT_EQ(ours["fields"].size(), item.second["fields"].size());
    for (size_t i = 0; i < ours["fields"].size(); ++i)
      for (const char* key : {"name", "offset", "size"})
        EXPECT_EQ(ours["fields"][i][key].as<std::string>(),
                  item.second["fields"][i][key].as<std::string>());
  }
  ASSERT_EQ(spec["ioctls"].size(), theirs["ioctls"].size());
  for (size_t i = 0; i < theirs["ioctls"].size(); ++i) {
    SCOPED_TRACE(theirs["ioctls"][i]["name"].as<std::string>());
    EXPECT_EQ(spec["ioctls"][i]["code"].as<uint32_t>(), theirs["ioctls"][i]["code"].as<uint32_t>());
    for (const char* key : {"name", "arg_size", "lane", "gate", "since"})
      EXPECT_EQ(spec["ioctls"][i][key].as<std::string>(),
                theirs["ioctls"][i][key].as<std::string>());
  }
  for (const auto& item : theirs["constants"])
    EXPECT_EQ(spec["constants"][item.first.as<std::string>()].as<int64_t>(),
              item.second.as<int64_t>());
}

// --- the emulated driver's side, whose names are those of the driver

namespace abi = emu::abi;

struct Row {
  const char* what;
  size_t ours, theirs;
};
#include "driver_abi_rows.inc"

TEST(EmulatedDriver, EveryLayoutAndCodeMatches) {
  for (const Row& row : kRows) EXPECT_EQ(row.ours, row.theirs) << row.what;
  std::printf("%zu sizes, offsets and codes of the emulated driver compared; not in it:",
              std::size(kRows));
  for (const char* name : kUnknown) std::printf(" %s", name);
  std::printf("\n");
  EXPECT_GT(std::size(kRows), 800u);
}

// Codes written out, so that the table is checked without the description too.
TEST(Requests, KnownCodes) {
  EXPECT_EQ(kMemAllocV2Mt64, 0x80384E66u);
  EXPECT_EQ(kSemaphoreIncrement, 0x80084E29u);
  EXPECT_EQ(kDmaQueueInitBatch, 0xB0084E85u);
  EXPECT_EQ(kDriverInfo, 0x80184E6Eu);
  EXPECT_EQ(request_number(kDmaQueueInitBatch), 133u);
  EXPECT_EQ(request_bytes(kDmaQueueInitBatch), 12296u);
  EXPECT_EQ(find_request(0x12345678), nullptr);
}

TEST(Normalise, ResultsBecomeErrno) {
  constexpr uint32_t kBarReadCode = 0x80084E0B, kResetCode = 0x80084E67, kExtendedCode = 0x80084E1D;
  EXPECT_EQ(normalise(kBarReadCode, 0), 0);
  EXPECT_EQ(normalise(kBarReadCode, -22), -EINVAL);
  EXPECT_EQ(normalise(kBarReadCode, -524), -524);
  EXPECT_EQ(normalise(kBarReadCode, 32), -EFAULT);
  EXPECT_EQ(normalise(kBarReadCode, 1), -EFAULT);
  EXPECT_EQ(normalise(kBarReadCode, 22), -EFAULT);
  EXPECT_EQ(normalise(kResetCode, 1), -EBUSY);
  EXPECT_EQ(normalise(kResetCode, 8), -EFAULT);
  EXPECT_EQ(normalise(kExtendedCode, 22), -EINVAL);
  EXPECT_EQ(normalise(kExtendedCode, 48), -EFAULT);
  EXPECT_EQ(normalise(kBarReadCode, -1000000), -EIO);
}

}  // namespace
}  // namespace opennrt::ndl
