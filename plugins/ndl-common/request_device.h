// SPDX-License-Identifier: Apache-2.0
//
// Arguments of the device, register, life cycle, sharing and diagnostic requests. Conventions:
// request_layout.h.
#pragma once

#include "ndl-common/request_layout.h"

namespace opennrt::ndl {

// --- Device, versions

struct ndl_device_info {
  uint32_t arch;
  uint32_t revision;
  uint32_t n_connected;
  uint32_t connected[8];
  uint32_t reserved0;
  uint64_t bar_address[2];
  uint64_t bar_size[2];
};
static_assert(sizeof(ndl_device_info) == 80);
static_assert(ONRT_NDL_AT(ndl_device_info, revision, 4) &&
              ONRT_NDL_AT(ndl_device_info, n_connected, 8) &&
              ONRT_NDL_AT(ndl_device_info, connected, 12) &&
              ONRT_NDL_AT(ndl_device_info, bar_address, 48) &&
              ONRT_NDL_AT(ndl_device_info, bar_size, 64));

struct ndl_board_info {
  uint32_t arch;
  uint32_t revision;
};
static_assert(sizeof(ndl_board_info) == 8);
static_assert(ONRT_NDL_AT(ndl_board_info, revision, 4));

// bytes: output only; the size the driver goes by is the encoded one.
struct ndl_driver_info {
  uint32_t arch;
  uint32_t revision;
  uint32_t version;
  uint32_t bytes;
  uint64_t features;
};
static_assert(sizeof(ndl_driver_info) == 24);
static_assert(ONRT_NDL_AT(ndl_driver_info, revision, 4) &&
              ONRT_NDL_AT(ndl_driver_info, version, 8) && ONRT_NDL_AT(ndl_driver_info, bytes, 12) &&
              ONRT_NDL_AT(ndl_driver_info, features, 16));

// Compatibility ids that the driver accepts.
struct ndl_compat_window {
  uint32_t max;
  uint32_t min;
};
static_assert(sizeof(ndl_compat_window) == 8);
static_assert(ONRT_NDL_AT(ndl_compat_window, min, 4));

struct ndl_bdf {
  uint32_t bus;
  uint8_t slot;
  uint8_t function;
  uint16_t reserved0;
};
static_assert(sizeof(ndl_bdf) == 8);
static_assert(ONRT_NDL_AT(ndl_bdf, slot, 4) && ONRT_NDL_AT(ndl_bdf, function, 5));

// index: relative to the device whose node was opened.
struct ndl_bdf_ext {
  uint32_t index;
  uint32_t domain;
  uint32_t bus;
  uint8_t slot;
  uint8_t function;
  uint16_t reserved0;
};
static_assert(sizeof(ndl_bdf_ext) == 16);
static_assert(ONRT_NDL_AT(ndl_bdf_ext, domain, 4) && ONRT_NDL_AT(ndl_bdf_ext, bus, 8) &&
              ONRT_NDL_AT(ndl_bdf_ext, slot, 12) && ONRT_NDL_AT(ndl_bdf_ext, function, 13));

struct ndl_host_device_id {
  uint32_t id;
};
static_assert(sizeof(ndl_host_device_id) == 4);

struct ndl_rid_map {
  uint32_t count;
  uint32_t rid[64];
};
static_assert(sizeof(ndl_rid_map) == 260);
static_assert(ONRT_NDL_AT(ndl_rid_map, rid, 4));

struct ndl_core_map_entry {
  uint32_t device;
  uint32_t core;
};
static_assert(sizeof(ndl_core_map_entry) == 8);
static_assert(ONRT_NDL_AT(ndl_core_map_entry, core, 4));

// Header; `count` entries of ndl_core_map_entry follow.
struct ndl_core_map {
  uint32_t count;
};
static_assert(sizeof(ndl_core_map) == 4);

struct ndl_core_map_query {
  ndl_core_map* entries;
  uint32_t capacity;
  uint32_t version;
};
static_assert(sizeof(ndl_core_map_query) == 16);
static_assert(ONRT_NDL_AT(ndl_core_map_query, capacity, 8) &&
              ONRT_NDL_AT(ndl_core_map_query, version, 12));

struct ndl_device_init {
  uint32_t regions;
};
static_assert(sizeof(ndl_device_init) == 4);

struct ndl_uuid {
  uint8_t bytes[32];
};
static_assert(sizeof(ndl_uuid) == 32);

struct ndl_app_info {
  int32_t pid;
  uint8_t lock_map;
  ndl_uuid uuid[4];
  uint8_t reserved0;
  uint16_t reserved1;
  uint64_t host_bytes;
  uint64_t device_bytes;
};
static_assert(sizeof(ndl_app_info) == 152);
static_assert(ONRT_NDL_AT(ndl_app_info, lock_map, 4) && ONRT_NDL_AT(ndl_app_info, uuid, 5) &&
              ONRT_NDL_AT(ndl_app_info, host_bytes, 136) &&
              ONRT_NDL_AT(ndl_app_info, device_bytes, 144));

// Header; `capacity` entries of ndl_app_info follow.
struct ndl_apps_info {
  uint16_t flags;
  uint16_t reserved0;
  uint32_t capacity;
  uint32_t count;
  uint32_t reserved1;
};
static_assert(sizeof(ndl_apps_info) == 16);
static_assert(ONRT_NDL_AT(ndl_apps_info, capacity, 4) && ONRT_NDL_AT(ndl_apps_info, count, 8));

// --- Registers, mappable windows

// Register list; address = driver base of the BAR + offset.
struct ndl_bar_access {
  uint32_t bar;
  uint32_t reserved0;
  const uint64_t* addresses;
  uint32_t* values;
  uint32_t count;
  uint32_t reserved1;
};
static_assert(sizeof(ndl_bar_access) == 32);
static_assert(ONRT_NDL_AT(ndl_bar_access, addresses, 8) &&
              ONRT_NDL_AT(ndl_bar_access, values, 16) && ONRT_NDL_AT(ndl_bar_access, count, 24));

struct ndl_hw_counters {
  const uint64_t* addresses;
  uint32_t* values;
  uint32_t count;
  uint32_t reserved0;
};
static_assert(sizeof(ndl_hw_counters) == 24);
static_assert(ONRT_NDL_AT(ndl_hw_counters, values, 8) && ONRT_NDL_AT(ndl_hw_counters, count, 16));

struct ndl_resource {
  uint32_t block;
  uint32_t block_id;
  uint32_t resource;
  uint32_t reserved0;
  uint64_t offset;
  uint64_t bytes;
};
static_assert(sizeof(ndl_resource) == 32);
static_assert(ONRT_NDL_AT(ndl_resource, block_id, 4) && ONRT_NDL_AT(ndl_resource, resource, 8) &&
              ONRT_NDL_AT(ndl_resource, offset, 16) && ONRT_NDL_AT(ndl_resource, bytes, 24));

struct ndl_post_metric {
  const void* data;
  uint32_t bytes;
  uint32_t reserved0;
};
static_assert(sizeof(ndl_post_metric) == 16);
static_assert(ONRT_NDL_AT(ndl_post_metric, bytes, 8));

// --- Life cycle

// core_mask: bit per core, all ones = whole device.
struct ndl_core_reset {
  uint32_t core_mask;
  uint32_t request_id;
};
static_assert(sizeof(ndl_core_reset) == 8);
static_assert(ONRT_NDL_AT(ndl_core_reset, request_id, 4));

// result: 0 = done, 1 = failed or unknown request.
struct ndl_core_ready {
  uint32_t request_id;
  int32_t result;
};
static_assert(sizeof(ndl_core_ready) == 8);
static_assert(ONRT_NDL_AT(ndl_core_ready, result, 4));

struct ndl_core_init_state {
  uint32_t core;
  uint32_t state;
  uint32_t new_state;
};
static_assert(sizeof(ndl_core_init_state) == 12);
static_assert(ONRT_NDL_AT(ndl_core_init_state, state, 4) &&
              ONRT_NDL_AT(ndl_core_init_state, new_state, 8));

struct ndl_started_count {
  uint32_t core;
  uint32_t reserved0;
  uint64_t started_count;
};
static_assert(sizeof(ndl_started_count) == 16);
static_assert(ONRT_NDL_AT(ndl_started_count, started_count, 8));

struct ndl_scrub_start {
  uint32_t core;
  uint32_t hbm;
  uint32_t axi_port;
  uint32_t value;
};
static_assert(sizeof(ndl_scrub_start) == 16);
static_assert(ONRT_NDL_AT(ndl_scrub_start, hbm, 4) && ONRT_NDL_AT(ndl_scrub_start, axi_port, 8) &&
              ONRT_NDL_AT(ndl_scrub_start, value, 12));

struct ndl_scrub_wait {
  uint32_t core;
  uint32_t hbm;
};
static_assert(sizeof(ndl_scrub_wait) == 8);
static_assert(ONRT_NDL_AT(ndl_scrub_wait, hbm, 4));

// --- Shared state

// pid: 0 = the caller.
struct ndl_data_store {
  int32_t pid;
  uint32_t reserved0;
  uint64_t cookie;
  uint32_t bytes;
  uint32_t reserved1;
};
static_assert(sizeof(ndl_data_store) == 24);
static_assert(ONRT_NDL_AT(ndl_data_store, cookie, 8) && ONRT_NDL_AT(ndl_data_store, bytes, 16));

// Reader/writer lock of one core.
struct ndl_core_lock {
  uint32_t core;
  ndl_uuid uuid;
};
static_assert(sizeof(ndl_core_lock) == 36);
static_assert(ONRT_NDL_AT(ndl_core_lock, uuid, 4));

// Core reservation over the first 64 cores.
struct ndl_core_range64 {
  uint32_t count;
  uint32_t first;
  uint32_t last;
  uint32_t longest_free;
  uint64_t bitmap;
};
static_assert(sizeof(ndl_core_range64) == 24);
static_assert(ONRT_NDL_AT(ndl_core_range64, first, 4) && ONRT_NDL_AT(ndl_core_range64, last, 8) &&
              ONRT_NDL_AT(ndl_core_range64, longest_free, 12) &&
              ONRT_NDL_AT(ndl_core_range64, bitmap, 16));

struct ndl_core_range512 {
  uint32_t count;
  uint32_t first;
  uint32_t last;
  uint32_t longest_free;
  uint64_t bitmap[8];
};
static_assert(sizeof(ndl_core_range512) == 80);
static_assert(ONRT_NDL_AT(ndl_core_range512, first, 4) && ONRT_NDL_AT(ndl_core_range512, last, 8) &&
              ONRT_NDL_AT(ndl_core_range512, longest_free, 12) &&
              ONRT_NDL_AT(ndl_core_range512, bitmap, 16));

// --- Pod, diagnostics

struct ndl_pod_info {
  uint16_t bytes;
  uint8_t type;
  uint8_t pod_id[256];
  uint8_t nodes;
};
static_assert(sizeof(ndl_pod_info) == 260);
static_assert(ONRT_NDL_AT(ndl_pod_info, type, 2) && ONRT_NDL_AT(ndl_pod_info, pod_id, 3) &&
              ONRT_NDL_AT(ndl_pod_info, nodes, 259));

struct ndl_pod_status_v1 {
  uint16_t bytes;
  uint8_t pod_id[256];
  uint16_t reserved0;
  uint32_t state;
  uint8_t type;
  uint8_t nodes;
  int8_t node_id;
  uint8_t reserved1;
};
static_assert(sizeof(ndl_pod_status_v1) == 268);
static_assert(ONRT_NDL_AT(ndl_pod_status_v1, pod_id, 2) &&
              ONRT_NDL_AT(ndl_pod_status_v1, state, 260) &&
              ONRT_NDL_AT(ndl_pod_status_v1, type, 264) &&
              ONRT_NDL_AT(ndl_pod_status_v1, nodes, 265) &&
              ONRT_NDL_AT(ndl_pod_status_v1, node_id, 266));

struct ndl_pod_status {
  ndl_pod_status_v1 v1;
  uint32_t mode;
  uint32_t modes;
};
static_assert(sizeof(ndl_pod_status) == 276);
static_assert(ONRT_NDL_AT(ndl_pod_status, mode, 268) && ONRT_NDL_AT(ndl_pod_status, modes, 272));

struct ndl_pod_ctrl_v1 {
  uint16_t bytes;
  uint16_t reserved0;
  uint32_t ctrl;
  uint32_t timeout;
  uint32_t state;
};
static_assert(sizeof(ndl_pod_ctrl_v1) == 16);
static_assert(ONRT_NDL_AT(ndl_pod_ctrl_v1, ctrl, 4) && ONRT_NDL_AT(ndl_pod_ctrl_v1, timeout, 8) &&
              ONRT_NDL_AT(ndl_pod_ctrl_v1, state, 12));

struct ndl_pod_ctrl {
  ndl_pod_ctrl_v1 v1;
  uint32_t mode;
};
static_assert(sizeof(ndl_pod_ctrl) == 20);
static_assert(ONRT_NDL_AT(ndl_pod_ctrl, mode, 16));

struct ndl_printk {
  const char* buffer;
  uint32_t bytes;
  uint32_t action;
};
static_assert(sizeof(ndl_printk) == 16);
static_assert(ONRT_NDL_AT(ndl_printk, bytes, 8) && ONRT_NDL_AT(ndl_printk, action, 12));

struct ndl_pid_dump {
  uint32_t bytes;
  uint32_t core;
  uint32_t filter_owner;
  uint32_t limit;
};
static_assert(sizeof(ndl_pid_dump) == 16);
static_assert(ONRT_NDL_AT(ndl_pid_dump, core, 4) && ONRT_NDL_AT(ndl_pid_dump, filter_owner, 8) &&
              ONRT_NDL_AT(ndl_pid_dump, limit, 12));

struct ndl_perf_profile {
  uint16_t bytes;
  uint16_t ctrl;
  uint32_t profile;
};
static_assert(sizeof(ndl_perf_profile) == 8);
static_assert(ONRT_NDL_AT(ndl_perf_profile, ctrl, 2) && ONRT_NDL_AT(ndl_perf_profile, profile, 4));

// Performance profiles that the firmware supports.
struct ndl_perf_profiles {
  uint16_t feature;
  uint8_t count;
  uint8_t bitmap[32];
  uint8_t reserved0;
};
static_assert(sizeof(ndl_perf_profiles) == 36);
static_assert(ONRT_NDL_AT(ndl_perf_profiles, count, 2) &&
              ONRT_NDL_AT(ndl_perf_profiles, bitmap, 3));

struct ndl_metrics_ctrl {
  uint32_t mode;
};
static_assert(sizeof(ndl_metrics_ctrl) == 4);

struct ndl_throttling {
  uint32_t enable;
};
static_assert(sizeof(ndl_throttling) == 4);

}  // namespace opennrt::ndl
