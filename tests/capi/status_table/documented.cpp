// SPDX-License-Identifier: Apache-2.0
//
// The statuses that the description of the ABI of release 2.31 names function by
// function, beyond those of the guard.
#include <array>

#include "table.h"

namespace opennrt::status_table {
namespace {

const std::vector<Documented>& table() {
  static const std::vector<Documented>* const all = new std::vector<Documented>{
      {"nrt_init", {0, 1, 2, 4, 6}},
      {"nrt_get_version", {0, 1, 2}},
      {"nrt_get_total_vnc_count", {0, 2}},
      {"nrt_get_total_nc_count", {0, 2}},
      {"nrt_get_visible_vnc_count", {0, 2}},
      {"nrt_get_visible_nc_count", {0, 2}},
      {"nrt_get_instance_info", {0, 2}},
      {"nrt_host_device_id_get", {0, 2}},
      {"nrt_host_device_id_rid_map_get", {0, 2}},
      {"nrt_get_hbm_mmap_va", {0, 1, 2, 3}},
      {"nrt_get_attached_efa_bdf", {0, 1, 4}},
      {"nrt_get_vnc_memory_stats", {0, 2}},
      {"nrt_load", {0, 2, 4, 9, 10}},
      {"nrt_load_collectives", {0, 1, 2, 4, 5, 9, 10, 1206}},
      {"nrt_unload", {0, 2, 3}},
      {"nrt_get_model_vnc_count", {0}},
      {"nrt_get_model_nc_count", {0}},
      {"nrt_get_model_instance_count", {0}},
      {"nrt_get_model_info", {0, 2}},
      {"nrt_get_model_tensor_info", {0, 2, 3, 4}},
      {"nrt_free_model_tensor_info", {0}},
      {"nrt_tensor_allocate", {0, 2, 4}},
      {"nrt_tensor_allocate_empty", {0, 4}},
      {"nrt_tensor_attach_buffer", {0, 2}},
      {"nrt_tensor_allocate_slice", {0, 2}},
      {"nrt_tensor_read", {0, 1, 2}},
      {"nrt_tensor_write", {0, 1, 2}},
      {"nrt_tensor_memset", {0, 1, 2}},
      {"nrt_tensor_copy", {0, 1, 2}},
      {"nrt_tensor_read_batch", {0, 2}},
      {"nrt_tensor_write_batch", {0, 2}},
      {"nrt_tensor_get_device_allocation_info", {0, 2}},
      {"nrt_tensor_check_output_completion", {0, 1, 2, 5}},
      {"nrt_tensor_reset_output_completion", {0, 2}},
      {"nrt_get_dmabuf_fd", {0, 1, 2, 4}},
      {"nrt_memcpy_to_device", {0}},
      {"nrt_allocate_tensor_set", {0, 2, 4}},
      {"nrt_add_tensor_to_tensor_set", {0, 2, 4}},
      {"nrt_get_tensor_from_tensor_set", {0, 1, 2}},
      {"nrt_execute",
       {0, 1, 2, 3, 5, 6, 101, 1002, 1003, 1004, 1006, 1200, 1201, 1202, 1203, 1204, 1205, 1206}},
      {"nrt_execute_repeat",
       {0, 1, 2, 3, 5, 6, 101, 1002, 1003, 1004, 1006, 1200, 1201, 1202, 1203, 1204, 1205, 1206}},
      {"nrt_register_async_exec_callback", {0}},
      {"nrt_async_drain_queued_execs", {0, 2}},
      {"nrt_set_pool_eng_ucode", {0, 1, 2}},
      {"nrta_tensor_write", {0, 1, 2, 7, 101}},
      {"nrta_tensor_read", {0, 1, 2, 7, 101}},
      {"nrta_tensor_copy", {0, 1, 2, 7, 101}},
      {"nrta_execute_schedule", {0, 1, 2, 3, 7, 101, 1002}},
      {"nrta_cc_prepare", {0, 1, 2, 4}},
      {"nrta_cc_schedule", {0, 1, 2, 7, 101}},
      {"nrta_is_completed", {0, 1, 2}},
      {"nrta_get_sequence", {0, 1, 2}},
      {"nrt_async_sendrecv_get_max_num_communicators_per_lnc", {0, 1}},
      {"nrt_async_sendrecv_get_max_num_pending_request", {0, 1}},
      {"nrt_async_sendrecv_init", {0, 1}},
      {"nrt_async_sendrecv_connect", {0, 1, 4}},
      {"nrt_async_sendrecv_accept", {0, 1, 4}},
      {"nrt_async_sendrecv_test_comm", {0, 1, 3, 5}},
      {"nrt_async_sendrecv_send_tensor", {0, 1, 3, 4}},
      {"nrt_async_sendrecv_recv_tensor", {0, 1, 3, 4}},
      {"nrt_async_sendrecv_test_request", {0, 1, 3, 5}},
      {"nrt_async_sendrecv_flush", {0, 1}},
      {"nrt_async_sendrecv_close", {0, 1}},
      {"nrt_build_global_comm", {0, 1, 2}},
      {"nrt_cc_global_comm_init", {0, 1, 2}},
      {"nrt_cc_create_stream", {0}},
      {"nrt_barrier", {0, 1, 2}},
      {"nrt_all_gather", {0, 1, 2}},
      {"nrt_profile_start", {0, 2}},
      {"nrt_profile_stop", {0, 1, 2}},
      {"nrt_trace_start", {0}},
      {"nrt_trace_stop", {0, 1}},
      {"nrt_profile_session_start", {0, 2}},
      {"nrt_profile_session_stop", {0, 2}},
      {"nrt_profile_session_serialize", {0, 2}},
      {"nrt_profile_session_drop", {0, 2}},
      {"nrt_profile_session_drop_all", {0}},
      {"nrt_profile_continuous_options_allocate", {0, 2}},
      {"nrt_profile_continuous_options_free", {0}},
      {"nrt_profile_continuous_options_set_output_dir", {0, 2}},
      {"nrt_profile_continuous_start", {0, 2}},
      {"nrt_profile_continuous_save", {0, 1, 2}},
      {"nrt_profile_continuous_stop", {0}},
      {"nrt_inspect_config_set_session_id", {0, 2}},
      {"nrt_inspect_config_set_sys_trace_max_events_per_nc", {0, 2}},
      {"nrt_inspect_config_set_enable_inspect", {0, 2}},
      {"nrt_inspect_config_set_enable_inspect_on_fail", {0, 2}},
      {"nrt_inspect_config_set_inspect_device_profile_mode", {0, 2}},
      {"nrt_inspect_config_set_output_dir", {0, 2, 4}},
      {"nrt_inspect_config_set_capture_enabled_for_nc", {0, 2}},
      {"nrt_inspect_config_set_capture_enabled_for_event_type_string", {0, 2}},
      {"nrt_inspect_config_set_activity", {0, 2}},
      {"nrt_inspect_config_get_all_activity_types", {0}},
      {"nrt_inspect_config_get_enabled_activity_types", {0}},
      {"nrt_inspect_begin", {0}},
      {"nrt_inspect_begin_with_options", {0, 2}},
      {"nrt_inspect_stop", {0}},
      {"nrt_inspect_get_instance_output_dir", {0, 2}},
      {"nrt_sys_trace_config_allocate", {0, 2, 4}},
      {"nrt_sys_trace_config_set_capture_enabled_for_event_type", {0, 2}},
      {"nrt_sys_trace_get_event_types", {0, 2, 4}},
      {"nrt_sys_trace_config_get_enabled_event_types", {0, 2, 4}},
      {"nrt_sys_trace_start", {0, 2}},
      {"nrt_sys_trace_stop", {0}},
      {"nrt_sys_trace_fetch_options_allocate", {0}},
      {"nrt_sys_trace_fetch_events", {0, 2}},
      {"nrt_debug_client_connect", {0, 2}},
      {"nrt_debug_client_read_one_event", {0, 2, 15}},
      {"nec_get_virtual_core_size", {0}},
  };
  return *all;
}

constexpr char kNoNtff[] = "device profiles (NTFF files) are not part of this release";
constexpr char kNoRanks[] = "several ranks are not part of this release";

constexpr char kNoDeadUnit[] = "a failed transfer leaves its unit usable";

constexpr Unreached kUnreached[] = {
    {"nrt_get_attached_efa_bdf", 0, "needs a PCI device with an EFA card next to it"},
    {"nrt_get_attached_efa_bdf", 4, "needs a PCI device with an EFA card next to it"},
    {"nrt_get_libnccl_net", 0, "network plugins are not part of this release"},
    {"nec_get_peer_mla_idx", 0, "the wiring of ports is not published"},
    {"nec_get_p2p_pod_peer_node", 0, "the wiring of pods is not published"},
    {"nrt_load_collectives", 5, kNoRanks},
    {"nrt_load_collectives", 1206, kNoRanks},
    {"nrt_execute", 1200, kNoRanks},
    {"nrt_execute", 1206, kNoRanks},
    {"nrt_execute_repeat", 1200, kNoRanks},
    {"nrt_execute_repeat", 1206, kNoRanks},
    {"nrt_tensor_check_output_completion", 1, "a lock that fails"},
    {"nrta_tensor_write", 101, kNoDeadUnit},
    {"nrta_tensor_read", 101, kNoDeadUnit},
    {"nrta_tensor_copy", 101, kNoDeadUnit},
    {"nrta_cc_schedule", 101, kNoDeadUnit},
    {"nrt_profile_stop", 0, kNoNtff},
    {"nrt_profile_stop", 1, kNoNtff},
    {"nrt_profile_session_serialize", 0, kNoNtff},
    {"nrt_profile_continuous_save", 0, kNoNtff},
    {"nrt_debug_client_read_one_event", 0, "no program of these tests sends a debug event"},
};

constexpr Unreached kStatuses[] = {
    {"", NRT_FAIL_HOST_MEM_ALLOC, "retired: NRT_RESOURCE is returned instead"},
    {"", NRT_COLL_PENDING, "no exported function of this release returns it"},
    {"", NRT_EXEC_HW_ERR_COLLECTIVES, kNoRanks},
    {"", NRT_NETWORK_PROXY_FAILURE, kNoRanks},
};

}  // namespace

std::span<const Documented> documented() { return table(); }
std::span<const Unreached> unreached() { return kUnreached; }
std::span<const Unreached> unreached_statuses() { return kStatuses; }

}  // namespace opennrt::status_table
