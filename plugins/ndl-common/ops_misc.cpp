// SPDX-License-Identifier: Apache-2.0
//
// Pod state, diagnostics, profiles and the clock.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "ndl-common/ops.h"
#include "ndl-common/pod_answers.h"

namespace opennrt::ndl {
namespace {

// --- pod

int pod_info(void* ctx, uint32_t* out_type, uint32_t* out_size) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!out_type || !out_size) return -EINVAL;
  ndl_pod_info arg{};
  arg.bytes = sizeof arg;
  if (const int error = at.ndl->misc_request<kPodInfo>(arg)) return error;
  *out_type = arg.type;
  *out_size = arg.nodes;
  return 0;
}

int read_pod_status(void* ctx, ndl_pod_status* out) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  *out = {};
  out->v1.bytes = sizeof *out;
  return at.ndl->misc_request<kPodStatus>(*out);
}

using Pod = PodAnswers<read_pod_status>;

int pod_ctrl(void* ctx, uint32_t ctrl, uint32_t mode, uint32_t timeout,
             uint32_t* out_state) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  ndl_pod_ctrl arg{};
  arg.v1.bytes = sizeof arg;
  arg.v1.ctrl = ctrl;
  arg.v1.timeout = timeout;
  arg.mode = mode;
  if (const int error = at.ndl->misc_request<kPodCtrl>(arg)) return error;
  if (out_state) *out_state = arg.v1.state;
  return 0;
}

// --- misc

int printk(void* ctx, const char* text, uint32_t bytes, uint32_t action) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!text) return -EINVAL;
  // The driver looks at the byte before the text when there is none.
  if (!bytes || text[bytes - 1] != '\0') return -EBADMSG;
  ndl_printk arg{text, bytes, action};
  return at.ndl->misc_request<kPrintk>(arg);
}

int dump_nc_pid(void* ctx, uint32_t core, uint32_t filter_owner, uint32_t limit) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  ndl_pid_dump arg{sizeof arg, core, filter_owner, limit};
  return at.ndl->misc_request<kPidDump>(arg);
}

int profile_set(void* ctx, uint64_t dev, uint32_t profile) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  constexpr uint16_t kSet = 0;
  ndl_perf_profile arg{sizeof arg, kSet, profile};
  return at.request<kPerfProfileSet>(arg);
}

int profile_get(void* ctx, uint64_t dev, uint32_t* out) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!out) return -EINVAL;
  constexpr uint16_t kGet = 1;
  ndl_perf_profile arg{sizeof arg, kGet, 0};
  if (const int error = at.request<kPerfProfileGet>(arg)) return error;
  *out = arg.profile;
  return 0;
}

int profile_list(void* ctx, uint64_t dev, uint8_t* out_bitmap, uint32_t bytes) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!out_bitmap) return -EINVAL;
  ndl_perf_profiles arg{};
  if (const int error = at.request<kPerfProfileList>(arg)) return error;
  std::memcpy(out_bitmap, arg.bitmap, std::min<size_t>(bytes, sizeof arg.bitmap));
  return 0;
}

int throttling(void* ctx, uint64_t dev, uint32_t enable) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  ndl_throttling arg{enable};
  return at.request<kThrottling>(arg);
}

int metrics(void* ctx, uint64_t dev, uint32_t mode) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  ndl_metrics_ctrl arg{mode};
  return at.request<kMetricsCtrl>(arg);
}

uint64_t now_us(void* ctx) noexcept {
  const OnContext at = on_context(ctx);
  return at.error ? 0 : at.ndl->port->now_us(at.ndl->port_ctx);
}

void sleep_us(void* ctx, uint32_t us) noexcept {
  const OnContext at = on_context(ctx);
  if (!at.error) at.ndl->port->sleep_us(at.ndl->port_ctx, us);
}

int64_t control(void* ctx, const char* request, char* reply, size_t n) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  const nrtp_sys_port& port = *at.ndl->port;
  // Ports of version 1.0 end before this member.
  if (port.head.size < offsetof(nrtp_sys_port, control) + sizeof port.control || !port.control)
    return -EINVAL;
  return port.control(at.ndl->port_ctx, request, reply, n);
}

// One counter of the device's statistics. 0 or -errno.
int read_counter(const Context& ndl, uint32_t device, const char* name, uint64_t* out) noexcept {
  char path[128], text[32] = {};
  std::snprintf(path, sizeof path, "/sys/class/neuron_device/neuron%u/stats/hardware/%s", device,
                name);
  const int64_t read = ndl.port->read_text(ndl.port_ctx, path, text, sizeof text - 1);
  if (read < 0) return static_cast<int>(read);
  const auto [end, error] =
      std::from_chars(text, text + std::min<int64_t>(read, sizeof text - 1), *out);
  return error == std::errc{} && (*end == '\n' || *end == '\0') ? 0 : -EBADMSG;
}

int memory_errors(void* ctx, uint64_t dev, nrtp_ndl_memory_errors* out) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!out) return -EINVAL;
  nrtp_ndl_memory_errors errors{};
  const uint32_t device = at.device->index;
  int error = read_counter(*at.ndl, device, "sram_ecc_uncorrected", &errors.sram_uncorrected);
  if (!error) error = read_counter(*at.ndl, device, "mem_ecc_uncorrected", &errors.hbm_uncorrected);
  if (error) return error;
  // Younger than the others.
  error = read_counter(*at.ndl, device, "mem_ecc_repairable_uncorrected", &errors.hbm_repairable);
  if (error == -ENOENT) error = errors.hbm_repairable = 0;
  if (!error) *out = errors;
  return error;
}

}  // namespace

constexpr nrtp_ndl_pod kPodOps = {
    .size = sizeof(nrtp_ndl_pod),
    .reserved = 0,
    .info = pod_info,
    .election_state = Pod::election_state,
    .mapping_info = Pod::mapping_info,
    .status = Pod::status,
    .ctrl = pod_ctrl,
};

constexpr nrtp_ndl_misc kMiscOps = {
    .size = sizeof(nrtp_ndl_misc),
    .reserved = 0,
    .printk = printk,
    .dump_nc_pid = dump_nc_pid,
    .profile_set = profile_set,
    .profile_get = profile_get,
    .profile_list = profile_list,
    .throttling = throttling,
    .metrics = metrics,
    .now_us = now_us,
    .sleep_us = sleep_us,
    .control = control,
    .memory_errors = memory_errors,
};

}  // namespace opennrt::ndl
