// SPDX-License-Identifier: Apache-2.0
//
// The descriptors of a process: one per device on the device lane, opened
// read-only and kept, and one on the misc lane, opened write-only. A descriptor
// is never duplicated: the driver ends the attachment at the first close.
#pragma once

#include <atomic>
#include <cstdint>

#include "ndl-common/requests.h"
#include "opennrt/port.h"

namespace opennrt::ndl {

// "/dev/neuron<index>"
struct DevicePath {
  explicit DevicePath(uint32_t index) noexcept;
  char text[24];
};

class Descriptors {
 public:
  Descriptors(const nrtp_sys_port* port, void* port_ctx) noexcept;

  // Descriptor or -errno. Lock-free: the loser of a race closes its own and
  // uses the winner's. A failed open leaves the slot empty.
  int device(uint32_t index) noexcept;
  // out_index: the device whose node was opened, or could not be; 0 unless a
  // container shows only later ones.
  int misc(uint32_t* out_index) noexcept;

  // Closes all. Closing the misc descriptor gives up the core reservations of
  // the process. Call when no other call is under way.
  void close_all() noexcept;

 private:
  int open_device(uint32_t index) noexcept;
  int64_t open_misc(uint32_t* out_index) noexcept;

  const nrtp_sys_port* port_;
  void* port_ctx_;
  std::atomic<int> devices_[kMaxDevices];
  std::atomic<int64_t> misc_{-1};  // descriptor, device index << 32
};

}  // namespace opennrt::ndl
