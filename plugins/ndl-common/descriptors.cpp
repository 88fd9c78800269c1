// SPDX-License-Identifier: Apache-2.0
#include "ndl-common/descriptors.h"

#include <cerrno>
#include <cstdio>

namespace opennrt::ndl {

DevicePath::DevicePath(uint32_t index) noexcept {
  std::snprintf(text, sizeof text, "/dev/neuron%u", index);
}

Descriptors::Descriptors(const nrtp_sys_port* port, void* port_ctx) noexcept
    : port_(port), port_ctx_(port_ctx) {
  for (std::atomic<int>& slot : devices_) slot.store(-1, std::memory_order_relaxed);
}

int Descriptors::open_device(uint32_t index) noexcept {
  const int fd = port_->open(port_ctx_, DevicePath(index).text, NRTP_OPEN_READ);
  if (fd < 0) return fd;
  int winner = -1;
  if (devices_[index].compare_exchange_strong(winner, fd, std::memory_order_acq_rel)) return fd;
  port_->close(port_ctx_, fd);
  return winner;
}

int Descriptors::device(uint32_t index) noexcept {
  if (index >= kMaxDevices) return -EINVAL;
  const int fd = devices_[index].load(std::memory_order_acquire);
  return fd >= 0 ? fd : open_device(index);
}

int64_t Descriptors::open_misc(uint32_t* out_index) noexcept {
  // The misc lane of any device answers for all of them.
  *out_index = 0;
  int fd = port_->open(port_ctx_, DevicePath(0).text, NRTP_OPEN_WRITE);
  for (uint32_t index = 1; fd == -ENOENT && index < kMaxDevices; ++index) {
    const DevicePath path(index);
    if (port_->exists(port_ctx_, path.text) != 1) continue;
    *out_index = index;
    fd = port_->open(port_ctx_, path.text, NRTP_OPEN_WRITE);
  }
  if (fd < 0) return fd;
  const int64_t mine = int64_t{*out_index} << 32 | fd;
  int64_t winner = -1;
  if (misc_.compare_exchange_strong(winner, mine, std::memory_order_acq_rel)) return mine;
  port_->close(port_ctx_, fd);
  return winner;
}

int Descriptors::misc(uint32_t* out_index) noexcept {
  int64_t misc = misc_.load(std::memory_order_acquire);
  if (misc < 0) misc = open_misc(out_index);
  if (misc < 0) return static_cast<int>(misc);
  *out_index = static_cast<uint32_t>(misc >> 32);
  return static_cast<int>(misc & 0xFFFFFFFF);
}

void Descriptors::close_all() noexcept {
  for (std::atomic<int>& slot : devices_) {
    const int fd = slot.exchange(-1, std::memory_order_acq_rel);
    if (fd >= 0) port_->close(port_ctx_, fd);
  }
  const int64_t misc = misc_.exchange(-1, std::memory_order_acq_rel);
  if (misc >= 0) port_->close(port_ctx_, static_cast<int>(misc & 0xFFFFFFFF));
}

}  // namespace opennrt::ndl
