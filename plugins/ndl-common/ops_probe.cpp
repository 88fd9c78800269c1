// SPDX-License-Identifier: Apache-2.0
//
// Attach, probe and the operations that need no open device.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "ndl-common/ops.h"
#include "ndl-common/record/recorder.h"

namespace opennrt::ndl {

int attach(const nrtp_host* host, const nrtp_sys_port* port, void* port_ctx, const Policy& policy,
           void** out_ctx) noexcept {
  if (!host || !port || !out_ctx) return -EINVAL;
  if (const int error = install_fork_handler()) return error;
  begin_recording(host, policy.name, &port, &port_ctx);
  auto* ndl = new (std::nothrow) Context(host, port, port_ctx, policy);
  if (!ndl) {
    end_recording(port, port_ctx);
    return -ENOMEM;
  }
  *out_ctx = ndl;
  return 0;
}

void detach(void* ctx) noexcept {
  auto* ndl = static_cast<Context*>(ctx);
  if (!ndl) return;
  const nrtp_sys_port* port = ndl->port;
  void* port_ctx = ndl->port_ctx;
  delete ndl;
  end_recording(port, port_ctx);
}

uint64_t caps(void* ctx) noexcept {
  const OnContext at = on_context(ctx);
  return at.error ? 0 : at.ndl->features.load(std::memory_order_acquire);
}

namespace {

constexpr char kProductFile[] = "/sys/devices/virtual/dmi/id/product_name";

int probe(void* ctx) noexcept {
  const OnContext at = on_context(ctx);
  return at.error ? at.error : at.ndl->probe();
}

int get_version(void* ctx, nrtp_ndl_version* out) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  return out ? at.ndl->read_version(out) : -EINVAL;
}

int get_compatible_version(void* ctx, uint32_t* out_min, uint32_t* out_max) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!out_min || !out_max) return -EINVAL;
  ndl_compat_window arg{};
  if (const int error = at.ndl->misc_request<kCompatWindow>(arg)) return error;
  *out_min = arg.min;
  *out_max = arg.max;
  return 0;
}

int feature_supported(void* ctx, uint32_t bit, uint32_t* out) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!out || bit >= 64) return -EINVAL;
  uint64_t features = at.ndl->features.load(std::memory_order_acquire);
  if (!at.ndl->probed.load(std::memory_order_acquire)) {
    DriverFacts facts{};
    if (const int error = at.ndl->read_facts(&facts)) return error;
    features = facts.features;
  }
  *out = features >> bit & 1;
  return 0;
}

int register_soft_incompat(void* ctx, void (*callback)(const char*)) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  at.ndl->soft_incompat.store(callback, std::memory_order_release);
  return 0;
}

int product_name(void* ctx, char* buf, size_t n) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!buf || !n) return -EINVAL;
  char text[128] = {};
  const int64_t read = at.ndl->port->read_text(at.ndl->port_ctx, kProductFile, text, sizeof text);
  if (read < 0) return static_cast<int>(read);
  const char* begin = text;
  const char* end = text + std::min<size_t>(static_cast<size_t>(read), sizeof text);
  const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\0'; };
  while (begin != end && blank(*begin)) ++begin;
  while (begin != end && blank(end[-1])) --end;
  const auto length = static_cast<size_t>(end - begin);
  if (!length) return -ENOENT;
  if (length >= n) return -ERANGE;
  std::memcpy(buf, begin, length);
  buf[length] = '\0';
  return 0;
}

}  // namespace

constexpr nrtp_ndl_probe kProbeOps = {
    .size = sizeof(nrtp_ndl_probe),
    .reserved = 0,
    .probe = probe,
    .get_version = get_version,
    .get_compatible_version = get_compatible_version,
    .feature_supported = feature_supported,
    .register_soft_incompat = register_soft_incompat,
    .product_name = product_name,
};

}  // namespace opennrt::ndl
