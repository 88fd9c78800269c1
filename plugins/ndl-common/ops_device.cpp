// SPDX-License-Identifier: Apache-2.0
//
// Operations on devices and registers.
#include <algorithm>
#include <cerrno>

#include "ndl-common/ops.h"

namespace opennrt::ndl {
namespace {

// --- device

int available(void* ctx, int32_t* out_indexes, uint32_t n) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!out_indexes && n) return -EINVAL;
  uint32_t found = 0;
  int failure = 0;
  for (uint32_t index = 0; index < kMaxDevices; ++index) {
    const int exists = at.ndl->port->exists(at.ndl->port_ctx, DevicePath(index).text);
    if (exists < 0) failure = exists;
    if (exists <= 0) continue;
    if (found < n) out_indexes[found] = static_cast<int32_t>(index);
    ++found;
  }
  if (!found && failure) {
    at.ndl->log.error("/dev/neuron* cannot be looked up (%s): make /dev searchable here",
                      ErrnoName(failure).text);
    return failure;
  }
  return static_cast<int>(found);
}

int open(void* ctx, uint32_t index, uint64_t* out_dev, nrtp_ndl_device_info* out_info) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  return out_dev ? at.ndl->open_device(index, out_dev, out_info) : -EINVAL;
}

int close(void* ctx, uint64_t dev) noexcept {
  const OnDevice at = on_device(ctx, dev);
  return at.error ? at.error : at.ndl->close_device(dev);
}

int board_info(void* ctx, uint32_t* out_arch, uint32_t* out_revision) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!out_arch || !out_revision) return -EINVAL;
  ndl_board_info arg{};
  if (const int error = at.ndl->misc_request<kBoardInfo>(arg)) return error;
  *out_arch = arg.arch;
  *out_revision = arg.revision;
  return 0;
}

int bdf(void* ctx, uint32_t index, nrtp_ndl_bdf* out) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!out || index >= kMaxDevices) return -EINVAL;
  ndl_bdf arg{};
  if (const int error = at.ndl->device_request<kBdf>(index, arg)) return error;
  *out = {0, arg.bus, arg.slot, arg.function};
  return 0;
}

int bdf_ext(void* ctx, uint32_t index, nrtp_ndl_bdf* out) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!out || index >= kMaxDevices) return -EINVAL;
  // The driver counts from the device whose node was opened.
  Target target{};
  target.fd = at.ndl->descriptors.misc(&target.index);
  if (target.fd < 0) return at.ndl->open_failed(target.index, target.fd);
  ndl_bdf_ext arg{};
  arg.index = index - target.index;
  if (const int error = at.ndl->request<kBdfExt>(target, arg)) return error;
  *out = {arg.domain, arg.bus, arg.slot, arg.function};
  return 0;
}

int host_device_id(void* ctx, uint64_t dev, uint32_t* out) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!out) return -EINVAL;
  ndl_host_device_id arg{};
  if (const int error = at.request<kHostDeviceId>(arg)) return error;
  *out = arg.id;
  return 0;
}

int rid_map(void* ctx, uint32_t* inout_count, uint32_t* out_map) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!inout_count || (!out_map && *inout_count)) return -EINVAL;
  ndl_rid_map arg{};
  if (const int error = at.ndl->misc_request<kRidMap>(arg)) return error;
  std::copy_n(arg.rid, std::min(*inout_count, kMaxDevices), out_map);
  *inout_count = arg.count;
  return 0;
}

int nc_map(void* ctx, uint32_t max_entries, uint32_t* out_count, uint32_t* out_pairs) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!out_count || (!out_pairs && max_entries)) return -EINVAL;
  struct {
    ndl_core_map header;
    ndl_core_map_entry entries[kMaxCoreMap];
  } map{};
  ndl_core_map_query arg{};
  arg.entries = &map.header;
  arg.capacity = std::min(max_entries, kMaxCoreMap);
  if (const int error = at.ndl->misc_request<kCoreMap>(arg)) return error;
  const uint32_t count = std::min(map.header.count, arg.capacity);
  for (uint32_t i = 0; i < count; ++i) {
    out_pairs[2 * i] = map.entries[i].device;
    out_pairs[2 * i + 1] = map.entries[i].core;
  }
  *out_count = count;
  return 0;
}

// out: ndl_apps_info followed by `capacity` entries of ndl_app_info.
int apps_info(void* ctx, uint64_t dev, void* out, uint32_t capacity, uint32_t flags) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!out || flags > UINT16_MAX) return -EINVAL;
  auto* header = static_cast<ndl_apps_info*>(out);
  *header = {};
  header->flags = static_cast<uint16_t>(flags);
  header->capacity = capacity;
  return at.request<kAppsInfo>(*header);
}

void close_all(void* ctx) noexcept {
  const OnContext at = on_context(ctx);
  if (!at.error) at.ndl->descriptors.close_all();
}

// --- reg

// One request per kMaxBarReads registers; the driver reads no more at once.
template <uint32_t kCode>
int access(const OnDevice& at, const uint64_t* bar0, uint32_t n, uint32_t* values) noexcept {
  const Device& device = *at.device;
  // Drivers before 2.26.5.0 do not check reads.
  if (device.bar_bytes)
    for (uint32_t i = 0; i < n; ++i)
      if (bar0[i] % 4 || bar0[i] > device.bar_bytes - 4) return -EINVAL;
  uint64_t addresses[kMaxBarReads];
  for (uint32_t done = 0; done < n;) {
    const uint32_t count = std::min(n - done, kMaxBarReads);
    for (uint32_t i = 0; i < count; ++i) addresses[i] = device.bar_base + bar0[done + i];
    ndl_bar_access arg{};
    arg.addresses = addresses;
    arg.values = values + done;
    arg.count = count;
    if (const int error = at.request<kCode>(arg)) return error;
    done += count;
  }
  return 0;
}

int read(void* ctx, uint64_t dev, const uint64_t* bar0, uint32_t n, uint32_t* out) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (n && (!bar0 || !out)) return -EINVAL;
  return access<kBarRead>(at, bar0, n, out);
}

int write(void* ctx, uint64_t dev, const uint64_t* bar0, uint32_t n,
          const uint32_t* values) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (n && (!bar0 || !values)) return -EINVAL;
  return access<kBarWrite>(at, bar0, n, const_cast<uint32_t*>(values));
}

int hw_counters(void* ctx, uint64_t dev, const uint64_t* addresses, uint32_t n,
                uint32_t* out) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!n) return 0;
  if (!addresses || !out) return -EINVAL;
  ndl_hw_counters arg{};
  arg.addresses = addresses;
  arg.values = out;
  arg.count = n;
  return at.request<kHwCounters>(arg);
}

int map_region(void* ctx, uint64_t dev, uint32_t block, uint32_t block_id, uint32_t resource,
               void** out_va, uint64_t* out_bytes) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!out_va || !out_bytes) return -EINVAL;
  return at.ndl->map_region(*at.device, block, block_id, resource, out_va, out_bytes);
}

int hbm_va(void* ctx, uint64_t dev, uint32_t hbm, void** out_va, uint64_t* out_bytes) noexcept {
  constexpr uint32_t kBlockHbm = 2, kResourceMemory = 3;
  return map_region(ctx, dev, kBlockHbm, hbm, kResourceMemory, out_va, out_bytes);
}

}  // namespace

constexpr nrtp_ndl_device kDeviceOps = {
    .size = sizeof(nrtp_ndl_device),
    .reserved = 0,
    .available = available,
    .open = open,
    .close = close,
    .board_info = board_info,
    .bdf = bdf,
    .bdf_ext = bdf_ext,
    .host_device_id = host_device_id,
    .rid_map = rid_map,
    .nc_map = nc_map,
    .apps_info = apps_info,
    .close_all = close_all,
};

constexpr nrtp_ndl_reg kRegOps = {
    .size = sizeof(nrtp_ndl_reg),
    .reserved = 0,
    .read = read,
    .write = write,
    .hw_counters = hw_counters,
    .map_region = map_region,
    .hbm_va = hbm_va,
};

}  // namespace opennrt::ndl
