// SPDX-License-Identifier: Apache-2.0
//
// ndl/ndl.h: versions, devices, registers, life of cores, what processes share,
// pods, logs.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "api/ndl_gateway.h"

using namespace opennrt::api;

namespace {

constexpr std::uint32_t kMostApps = 16;  // processes per device
constexpr std::size_t kBitmapWords = 8;  // of a core reservation
constexpr std::uint32_t kMostMapEntries = 128;

// Addresses are those of the driver, which counts from csr_base.
template <typename Access>
int on_registers(ndl_device_t* device, std::uint8_t bar, const std::uint64_t* addresses,
                 std::uint32_t count, const void* values, Access&& access) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    if (bar != 0 || (count != 0 && (addresses == nullptr || values == nullptr))) return -EINVAL;
    std::vector<std::uint64_t> offsets(addresses, addresses + count);
    for (std::uint64_t& offset : offsets) {
      if (offset < device->csr_base[0]) return -EINVAL;
      offset -= device->csr_base[0];
    }
    return access(*ops.reg, ctx, handle, offsets.data());
  });
}

template <typename Call>
int on_core(ndl_device_t* device, int core, Call&& call) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return core < 0 ? -EINVAL : call(ops, ctx, handle, static_cast<std::uint32_t>(core));
  });
}

int with_uuid(ndl_device_t* device, int core, const neuron_uuid& uuid,
              int (*nrtp_ndl_share::*member)(void*, std::uint64_t, std::uint32_t,
                                             const nrtp_uuid*)) {
  return on_core(device, core,
                 [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle, std::uint32_t nc) {
                   nrtp_uuid bytes;
                   static_assert(sizeof bytes == sizeof uuid);
                   std::memcpy(&bytes, &uuid, sizeof bytes);
                   return (ops.share->*member)(ctx, handle, nc, &bytes);
                 });
}

}  // namespace

extern "C" {

// --- versions

int ndl_get_version(ndl_version_info_t* version) {
  return on_ndl([&](NdlGateway& g) {
    if (version == nullptr) return -EINVAL;
    nrtp_ndl_version found{};
    if (const int error = g.ops().probe->get_version(g.ctx(), &found)) return error;
    *version = {};
    version->driver_major_version = static_cast<std::uint16_t>(found.major);
    version->driver_minor_version = static_cast<std::uint16_t>(found.minor);
    std::memcpy(version->driver_full_version, found.text, sizeof version->driver_full_version - 1);
    version->library_major_version = NEURON_DRIVER_LIBRARY_MAJOR;
    version->library_minor_version = NEURON_DRIVER_LIB_MINOR;
    return 0;
  });
}

int ndl_get_compatible_version(uint32_t* min_compatible_version, uint32_t* max_compatible_version) {
  return on_ndl([&](NdlGateway& g) {
    return g.ops().probe->get_compatible_version(g.ctx(), min_compatible_version,
                                                 max_compatible_version);
  });
}

int ndl_register_soft_incompat_callback(void (*callback)(const char*)) {
  return on_ndl(
      [&](NdlGateway& g) { return g.ops().probe->register_soft_incompat(g.ctx(), callback); });
}

// Descriptors are not handed out, so the feature word is that of the driver.
bool ndl_feature_supported(int nd_fd, uint64_t feature) {
  (void)nd_fd;
  return on_ndl([&](NdlGateway& g) {
           const std::uint64_t word = g.ops().caps(g.ctx());
           return feature != 0 && (word & feature) == feature ? 1 : 0;
         }) == 1;
}

// --- devices

int ndl_available_devices(int* device_indexes, int device_indexes_size) {
  return on_ndl([&](NdlGateway& g) {
    if (device_indexes_size < 0 || (device_indexes == nullptr && device_indexes_size != 0))
      return -EINVAL;
    return g.ops().device->available(g.ctx(), device_indexes,
                                     static_cast<std::uint32_t>(device_indexes_size));
  });
}

int ndl_open_device(int device_index, ndl_device_init_param_t* params, ndl_device_t** device) {
  return on_ndl([&](NdlGateway& g) {
    if (device == nullptr || device_index < 0 || device_index >= MAX_NEURON_DEVICE_COUNT)
      return -EINVAL;
    return g.open(static_cast<std::uint32_t>(device_index), params, device);
  });
}

int ndl_close_device(ndl_device_t* device) {
  return on_ndl([&](NdlGateway& g) { return g.close(device); });
}

void ndl_device_cached_fd_close_all(void) {
  on_ndl([](NdlGateway& g) {
    g.close_cached();
    return 0;
  });
}

int ndl_get_board_info(uint32_t* architecture, uint32_t* revision) {
  return on_ndl(
      [&](NdlGateway& g) { return g.ops().device->board_info(g.ctx(), architecture, revision); });
}

int ndl_get_device_bdf(int device_index, uint32_t* bus_num, uint8_t* pci_slot, uint8_t* dev_func) {
  return on_ndl([&](NdlGateway& g) {
    if (bus_num == nullptr || pci_slot == nullptr || dev_func == nullptr || device_index < 0)
      return -EINVAL;
    nrtp_ndl_bdf bdf{};
    const auto index = static_cast<std::uint32_t>(device_index);
    if (const int error = g.ops().device->bdf(g.ctx(), index, &bdf)) return error;
    *bus_num = bdf.bus;
    *pci_slot = static_cast<std::uint8_t>(bdf.slot);
    *dev_func = static_cast<std::uint8_t>(bdf.function);
    return 0;
  });
}

int ndl_get_device_bdf_ext(int device_index, uint32_t* domain, uint32_t* bus_num, uint8_t* pci_slot,
                           uint8_t* dev_func) {
  return on_ndl([&](NdlGateway& g) {
    if (domain == nullptr || bus_num == nullptr || pci_slot == nullptr || dev_func == nullptr ||
        device_index < 0)
      return -EINVAL;
    nrtp_ndl_bdf bdf{};
    const auto index = static_cast<std::uint32_t>(device_index);
    if (const int error = g.ops().device->bdf_ext(g.ctx(), index, &bdf)) return error;
    *domain = bdf.domain;
    *bus_num = bdf.bus;
    *pci_slot = static_cast<std::uint8_t>(bdf.slot);
    *dev_func = static_cast<std::uint8_t>(bdf.function);
    return 0;
  });
}

int ndl_get_host_device_id(ndl_device_t* device, uint32_t* host_device_id) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.device->host_device_id(ctx, handle, host_device_id);
  });
}

int ndl_get_host_device_id_to_rid_map(uint32_t* count, uint32_t* host_did_to_rid_map) {
  return on_ndl([&](NdlGateway& g) {
    if (count == nullptr || host_did_to_rid_map == nullptr) return -EINVAL;
    *count = MAX_NEURON_DEVICE_COUNT;  // what the caller's array holds
    return g.ops().device->rid_map(g.ctx(), count, host_did_to_rid_map);
  });
}

int ndl_get_logical_to_physical_nc_map(struct neuron_ioctl_nc_map* map, uint32_t max_num_entries,
                                       enum neuron_ioctl_nc_mapping_type mapping_version) {
  return on_ndl([&](NdlGateway& g) {
    if (map == nullptr || max_num_entries > kMostMapEntries ||
        mapping_version != NEURON_IOCTL_NC_MAPPING_TYPE_V0)
      return -EINVAL;
    std::uint32_t pairs[2 * kMostMapEntries], count = 0;
    if (const int error = g.ops().device->nc_map(g.ctx(), max_num_entries, &count, pairs))
      return error;
    map->num_entries = count;
    for (std::uint32_t i = 0; i < count; ++i) map->mappings[i] = {pairs[2 * i], pairs[2 * i + 1]};
    return 0;
  });
}

// *info is the caller's to free().
int ndl_get_all_apps_info(ndl_device_t* device, struct neuron_app_info** info, size_t* count,
                          uint16_t apps_info_flags) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    if (info == nullptr || count == nullptr) return -EINVAL;
    struct {
      std::uint32_t flags, capacity, count, reserved;
      neuron_app_info entries[kMostApps];
    } all{};
    static_assert(sizeof(neuron_app_info) == 152 && sizeof all == 16 + kMostApps * 152);
    if (const int error = ops.device->apps_info(ctx, handle, &all, kMostApps, apps_info_flags))
      return error;
    const std::uint32_t n = std::min(all.count, kMostApps);
    auto* copy =
        static_cast<neuron_app_info*>(std::malloc(std::max(n, 1u) * sizeof(neuron_app_info)));
    if (copy == nullptr) return -ENOMEM;
    std::copy_n(all.entries, n, copy);
    *info = copy;
    *count = n;
    return 0;
  });
}

// --- registers

int ndl_bar_read(ndl_device_t* device, uint8_t bar, uint64_t* addresses, uint32_t count,
                 uint32_t* buffer) {
  return on_registers(
      device, bar, addresses, count, buffer,
      [&](const nrtp_ndl_reg& reg, void* ctx, std::uint64_t handle, const std::uint64_t* offsets) {
        return reg.read(ctx, handle, offsets, count, buffer);
      });
}

int ndl_bar_write(ndl_device_t* device, uint8_t bar, uint64_t* addresses, uint32_t count,
                  uint32_t* data) {
  return on_registers(
      device, bar, addresses, count, data,
      [&](const nrtp_ndl_reg& reg, void* ctx, std::uint64_t handle, const std::uint64_t* offsets) {
        return reg.write(ctx, handle, offsets, count, data);
      });
}

int ndl_read_hw_counters(ndl_device_t* device, uint64_t* addresses, uint32_t count,
                         uint32_t* data) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.reg->hw_counters(ctx, handle, addresses, count, data);
  });
}

int ndl_mmap_bar_region(ndl_device_t* device, enum neuron_dm_block_type block, uint32_t block_id,
                        enum neuron_dm_resource_type resource, void** va, uint64_t* size) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.reg->map_region(ctx, handle, static_cast<std::uint32_t>(block), block_id,
                               static_cast<std::uint32_t>(resource), va, size);
  });
}

int ndl_get_hbm_va(ndl_device_t* device, int hbm_idx, void** va, size_t* size) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    if (hbm_idx < 0 || va == nullptr || size == nullptr) return -EINVAL;
    std::uint64_t bytes = 0;
    const auto hbm = static_cast<std::uint32_t>(hbm_idx);
    if (const int error = ops.reg->hbm_va(ctx, handle, hbm, va, &bytes)) return error;
    *size = bytes;
    return 0;
  });
}

// --- semaphores and events

int ndl_nc_semaphore_increment(ndl_device_t* device, int nc_index, uint32_t semaphore_index,
                               uint32_t value) {
  return on_core(device, nc_index,
                 [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle, std::uint32_t nc) {
                   return ops.sync->sem_inc(ctx, handle, nc, semaphore_index, value);
                 });
}

int ndl_nc_semaphore_decrement(ndl_device_t* device, int nc_index, uint32_t semaphore_index,
                               uint32_t value) {
  return on_core(device, nc_index,
                 [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle, std::uint32_t nc) {
                   return ops.sync->sem_dec(ctx, handle, nc, semaphore_index, value);
                 });
}

int ndl_nc_semaphore_read(ndl_device_t* device, int nc_index, uint32_t semaphore_index,
                          uint32_t* value) {
  return on_core(device, nc_index,
                 [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle, std::uint32_t nc) {
                   return ops.sync->sem_read(ctx, handle, nc, semaphore_index, value);
                 });
}

int ndl_nc_semaphore_write(ndl_device_t* device, int nc_index, uint32_t semaphore_index,
                           uint32_t value) {
  return on_core(device, nc_index,
                 [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle, std::uint32_t nc) {
                   return ops.sync->sem_write(ctx, handle, nc, semaphore_index, value);
                 });
}

int ndl_nc_event_get(ndl_device_t* device, int nc_index, uint32_t event_index, uint32_t* value) {
  return on_core(device, nc_index,
                 [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle, std::uint32_t nc) {
                   return ops.sync->event_get(ctx, handle, nc, event_index, value);
                 });
}

int ndl_nc_event_set(ndl_device_t* device, int nc_index, uint32_t event_index, uint32_t value) {
  return on_core(device, nc_index,
                 [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle, std::uint32_t nc) {
                   return ops.sync->event_set(ctx, handle, nc, event_index, value);
                 });
}

// --- life of cores

int ndl_reset_ncs(int device_index, int nc_map, uint32_t* request_id) {
  return on_ndl_index(device_index, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.life->reset(ctx, handle, static_cast<std::uint32_t>(nc_map), request_id);
  });
}

int ndl_ready_ncs(int device_index, uint32_t request_id, uint8_t* result) {
  return on_ndl_index(device_index, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    if (result == nullptr) return -EINVAL;
    std::uint32_t ready = 0;
    if (const int error = ops.life->ready(ctx, handle, request_id, &ready)) return error;
    *result = static_cast<std::uint8_t>(ready);
    return 0;
  });
}

int ndl_nc_init_set_state(ndl_device_t* device, uint32_t nc_id, uint32_t state,
                          uint32_t* new_state) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.life->nc_state(ctx, handle, nc_id, state, new_state);
  });
}

int ndl_nc_model_started_count(ndl_device_t* device, uint32_t nc_id, uint64_t* started_count) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.life->started_count(ctx, handle, nc_id, started_count);
  });
}

int ndl_hbm_scrub_start(ndl_device_t* device, uint32_t nc_id, uint32_t hbm_index, uint32_t axi_port,
                        uint32_t init_val) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.life->scrub_start(ctx, handle, nc_id, hbm_index, axi_port, init_val);
  });
}

int ndl_hbm_scrub_wait(ndl_device_t* device, uint32_t nc_id, uint32_t hbm_index) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.life->scrub_wait(ctx, handle, nc_id, hbm_index);
  });
}

// --- shared between processes

int ndl_nds_open(ndl_device_t* device, int32_t pid, void** data, size_t* size) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    if (data == nullptr || size == nullptr) return -EINVAL;
    std::uint64_t bytes = 0;
    if (const int error = ops.share->nds_open(ctx, handle, pid, data, &bytes)) return error;
    *size = bytes;
    return 0;
  });
}

int ndl_nds_close(ndl_device_t* device, int32_t pid, void* data, size_t size) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.share->nds_close(ctx, handle, pid, data, size);
  });
}

int ndl_crwl_reader_enter(ndl_device_t* device, int nc_index, struct neuron_uuid uuid) {
  return with_uuid(device, nc_index, uuid, &nrtp_ndl_share::reader_enter);
}

int ndl_crwl_reader_exit(ndl_device_t* device, int nc_index, struct neuron_uuid uuid) {
  return with_uuid(device, nc_index, uuid, &nrtp_ndl_share::reader_exit);
}

int ndl_crwl_writer_enter(ndl_device_t* device, int nc_index, struct neuron_uuid uuid) {
  return with_uuid(device, nc_index, uuid, &nrtp_ndl_share::writer_enter);
}

int ndl_crwl_writer_downgrade(ndl_device_t* device, int nc_index, struct neuron_uuid uuid) {
  return with_uuid(device, nc_index, uuid, &nrtp_ndl_share::writer_downgrade);
}

// size: bytes of the bitmap, which must hold the last core asked for.
int ndl_crwl_nc_range_mark(uint32_t nc_count, uint32_t start_nc, uint32_t end_nc,
                           uint32_t* max_nc_available, uint64_t* bitmap, size_t size) {
  return on_ndl([&](NdlGateway& g) {
    if (bitmap == nullptr || max_nc_available == nullptr || end_nc / 8 >= size) return -EINVAL;
    std::uint64_t words[kBitmapWords] = {};
    if (const int error =
            g.ops().share->range_mark(g.ctx(), nc_count, start_nc, end_nc, max_nc_available, words))
      return error;
    std::memset(bitmap, 0, size);
    std::memcpy(bitmap, words, std::min(size, sizeof words));
    return 0;
  });
}

int ndl_crwl_nc_range_unmark(uint64_t* bitmap, size_t size) {
  return on_ndl([&](NdlGateway& g) {
    if (bitmap == nullptr) return -EINVAL;
    std::uint64_t words[kBitmapWords] = {};
    std::memcpy(words, bitmap, std::min(size, sizeof words));
    return g.ops().share->range_unmark(g.ctx(), words);
  });
}

// --- pods

int ndl_pod_info(uint32_t* pod_type, uint32_t* pod_sz) {
  return on_ndl([&](NdlGateway& g) { return g.ops().pod->info(g.ctx(), pod_type, pod_sz); });
}

int ndl_pod_election_state(uint32_t* state) {
  return on_ndl([&](NdlGateway& g) { return g.ops().pod->election_state(g.ctx(), state); });
}

int ndl_pod_mapping_info(int* node_id) {
  return on_ndl([&](NdlGateway& g) { return g.ops().pod->mapping_info(g.ctx(), node_id); });
}

int ndl_pod_status(uint8_t* pod_id, uint32_t* state, uint32_t* pod_type, uint32_t* pod_sz,
                   int* node_id, enum neuron_ultraserver_mode* mode, uint32_t* modes_supported) {
  return on_ndl([&](NdlGateway& g) {
    std::uint32_t found = 0;
    const int error = g.ops().pod->status(g.ctx(), pod_id, state, pod_type, pod_sz, node_id, &found,
                                          modes_supported);
    if (error == 0 && mode != nullptr) *mode = static_cast<neuron_ultraserver_mode>(found);
    return error;
  });
}

int ndl_pod_ctrl(uint32_t ctrl, enum neuron_ultraserver_mode mode, uint32_t timeout,
                 uint32_t* state) {
  return on_ndl([&](NdlGateway& g) {
    return g.ops().pod->ctrl(g.ctx(), ctrl, static_cast<std::uint32_t>(mode), timeout, state);
  });
}

// --- logs, power, metrics

int ndl_printk(char* str, uint32_t size, uint32_t action) {
  return on_ndl([&](NdlGateway& g) { return g.ops().misc->printk(g.ctx(), str, size, action); });
}

int ndl_dump_nc_pid_info(uint32_t nc_id, bool filter_log_owner, uint32_t log_dump_limit) {
  return on_ndl([&](NdlGateway& g) {
    return g.ops().misc->dump_nc_pid(g.ctx(), nc_id, filter_log_owner, log_dump_limit);
  });
}

int ndl_set_performance_profile(ndl_device_t* device, uint32_t profile) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.misc->profile_set(ctx, handle, profile);
  });
}

int ndl_enable_throttling_notifications(ndl_device_t* device, bool enable) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.misc->throttling(ctx, handle, enable);
  });
}

int ndl_metrics_ctrl(ndl_device_t* device, enum neuron_metrics_mode mode) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.misc->metrics(ctx, handle, static_cast<std::uint32_t>(mode));
  });
}

}  // extern "C"
