// SPDX-License-Identifier: Apache-2.0
//
// Register and memory primitives over one open device. Registers travel
// al_reg_* -> csr region check -> driver layer (BAR 0); ring memory that is
// mapped into the process is written with plain stores (barriers.h).
//
// Threading: calls may come from any thread; the region table is filled before
// the first access and not changed afterwards.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "hal/csr.h"
#include "opennrt/ndl.h"

namespace opennrt::hal {

// One open device as the primitives see it. Not owned: `ndl` and the handle
// outlive the Device.
struct Device {
  const nrtp_ndl_ops* ndl = nullptr;
  void* ctx = nullptr;
  std::uint64_t handle = 0;  // from ndl device.open
  std::uint32_t index = 0;   // the driver's device index, for messages
  CsrTable csr;
  // Set by the first failed write: what the hardware holds is then unknown.
  std::atomic<bool> dead{false};
};

// Reads one register, or `out.size()` consecutive ones. NRT_INVALID: outside
// every window. NRT_HW_ERROR: the driver refused, or the device is dead.
Status al_reg_read32(Device& device, std::uint64_t reg, std::uint32_t& out);
Status al_reg_read32_array(Device& device, std::uint64_t reg, std::span<std::uint32_t> out);

// Writes in order. A write that the driver refuses marks the device dead.
Status al_reg_write32(Device& device, std::uint64_t reg, std::uint32_t value);
Status al_reg_write32_array(Device& device, std::uint64_t reg,
                            std::span<const std::uint32_t> values);

// Device space behind BAR 0 as memory: `bytes` is a multiple of 4.
Status al_mem_write_buf(Device& device, std::uint64_t dst, const void* src, std::size_t bytes);
Status al_mem_read_buf(Device& device, void* dst, std::uint64_t src, std::size_t bytes);
Status al_memset(Device& device, std::uint64_t dst, std::uint32_t pattern, std::size_t bytes);
// `count` registers get the same value.
Status al_reg_init(Device& device, std::uint64_t dst, std::uint32_t count, std::uint32_t value);

// Waits through the driver layer's clock, so that a software device may run.
void al_udelay(const Device& device, std::uint32_t us);

}  // namespace opennrt::hal
