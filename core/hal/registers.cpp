// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include "hal/hal.h"
#include "log/log.h"

namespace opennrt::hal {
namespace {

// Addresses handed to the driver layer at a time; lives on the stack.
constexpr std::size_t kBurst = 64;

Status refuse_dead(const Device& device) {
  return Status::make(NRT_HW_ERROR,
                      "device {} is out of service after a failed register write; close the "
                      "runtime and start it again",
                      device.index);
}

// Layer 4b: one access inside one csr region, handed to the driver layer.
Status csr_read(Device& device, std::uint64_t reg, std::span<std::uint32_t> out) {
  if (device.dead.load(std::memory_order_relaxed)) return refuse_dead(device);
  ONRT_TRY(device.csr.check(device.index, reg, static_cast<std::uint32_t>(out.size())));
  ONRT_LOG(kHal, kDebug, "csr read: device {} offset {:#x} count {}", device.index, reg,
           out.size());
  std::uint64_t addresses[kBurst];
  for (std::size_t done = 0; done < out.size();) {
    const std::size_t n = std::min(kBurst, out.size() - done);
    for (std::size_t i = 0; i < n; ++i) addresses[i] = reg + 4 * (done + i);
    const int rc = device.ndl->reg->read(device.ctx, device.handle, addresses,
                                         static_cast<std::uint32_t>(n), out.data() + done);
    if (rc != 0) {
      return Status::make(NRT_HW_ERROR,
                          "device {}: reading {} register(s) at BAR 0 offset {:#x} failed: {}",
                          device.index, n, addresses[0], std::strerror(-rc));
    }
    done += n;
  }
  return Status::ok();
}

Status csr_write(Device& device, std::uint64_t reg, std::span<const std::uint32_t> values) {
  if (device.dead.load(std::memory_order_relaxed)) return refuse_dead(device);
  ONRT_TRY(device.csr.check(device.index, reg, static_cast<std::uint32_t>(values.size())));
  ONRT_LOG(kHal, kDebug, "csr write: device {} offset {:#x} count {} first value {:#x}",
           device.index, reg, values.size(), values.empty() ? 0 : values[0]);
  std::uint64_t addresses[kBurst];
  for (std::size_t done = 0; done < values.size();) {
    const std::size_t n = std::min(kBurst, values.size() - done);
    for (std::size_t i = 0; i < n; ++i) addresses[i] = reg + 4 * (done + i);
    const int rc = device.ndl->reg->write(device.ctx, device.handle, addresses,
                                          static_cast<std::uint32_t>(n), values.data() + done);
    if (rc != 0) {
      device.dead.store(true, std::memory_order_relaxed);
      return Status::make(NRT_HW_ERROR,
                          "device {}: writing {} register(s) at BAR 0 offset {:#x} failed: {}; the "
                          "device is out of service from now on",
                          device.index, n, addresses[0], std::strerror(-rc));
    }
    done += n;
  }
  return Status::ok();
}

Status check_words(const Device& device, std::size_t bytes) {
  if (bytes % 4 == 0) return Status::ok();
  return Status::invalid("device {}: register space is accessed in words of 4 bytes, not {} bytes",
                         device.index, bytes);
}

}  // namespace

Status al_reg_read32(Device& device, std::uint64_t reg, std::uint32_t& out) {
  std::uint32_t value = 0;
  ONRT_TRY(al_reg_read32_array(device, reg, {&value, 1}));
  out = value;
  return Status::ok();
}

Status al_reg_read32_array(Device& device, std::uint64_t reg, std::span<std::uint32_t> out) {
  ONRT_LOG(kHal, kDebug, "al_reg_read32: device {} register {:#x} count {}", device.index, reg,
           out.size());
  return csr_read(device, reg, out);
}

Status al_reg_write32(Device& device, std::uint64_t reg, std::uint32_t value) {
  return al_reg_write32_array(device, reg, {&value, 1});
}

Status al_reg_write32_array(Device& device, std::uint64_t reg,
                            std::span<const std::uint32_t> values) {
  ONRT_LOG(kHal, kDebug, "al_reg_write32: device {} register {:#x} count {}", device.index, reg,
           values.size());
  return csr_write(device, reg, values);
}

Status al_mem_write_buf(Device& device, std::uint64_t dst, const void* src, std::size_t bytes) {
  ONRT_TRY(check_words(device, bytes));
  std::vector<std::uint32_t> words(bytes / 4);
  if (bytes != 0) std::memcpy(words.data(), src, bytes);
  return csr_write(device, dst, words);
}

Status al_mem_read_buf(Device& device, void* dst, std::uint64_t src, std::size_t bytes) {
  ONRT_TRY(check_words(device, bytes));
  for (std::size_t i = 0; i < bytes; i += 4) {  // no burst: every word is a read of its own
    std::uint32_t value = 0;
    ONRT_TRY(csr_read(device, src + i, {&value, 1}));
    std::memcpy(static_cast<char*>(dst) + i, &value, 4);
  }
  return Status::ok();
}

Status al_memset(Device& device, std::uint64_t dst, std::uint32_t pattern, std::size_t bytes) {
  ONRT_TRY(check_words(device, bytes));
  return al_reg_init(device, dst, static_cast<std::uint32_t>(bytes / 4), pattern);
}

Status al_reg_init(Device& device, std::uint64_t dst, std::uint32_t count, std::uint32_t value) {
  const std::vector<std::uint32_t> words(count, value);
  return csr_write(device, dst, words);
}

void al_udelay(const Device& device, std::uint32_t us) {
  device.ndl->misc->sleep_us(device.ctx, us);
}

}  // namespace opennrt::hal
