// SPDX-License-Identifier: Apache-2.0
//
// Boards of several devices: which devices are connected and in which order
// their routing ids run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "opennrt/arch.h"

namespace opennrt::arch_common {

// The answer of nrtp_arch_driver::neighbours.
inline int put_neighbours(std::span<const std::uint8_t> devices, std::uint32_t* out,
                          std::uint32_t* inout_n) {
  if (inout_n == nullptr) return NRTP_INVALID;
  const std::uint32_t capacity = *inout_n;
  if (capacity != 0 && out == nullptr) return NRTP_INVALID;
  *inout_n = static_cast<std::uint32_t>(devices.size());
  if (capacity < devices.size()) return NRTP_RESOURCE;
  for (std::size_t i = 0; i < devices.size(); ++i) out[i] = devices[i];
  return NRTP_OK;
}

// Routing id of a device, from the devices in order of their routing ids; the
// device itself on another board.
inline std::uint32_t routing_id(std::span<const std::uint8_t> device_of_route,
                                std::uint32_t devices, std::uint32_t device) {
  if (devices != device_of_route.size()) return device;
  for (std::uint32_t route = 0; route < devices; ++route)
    if (device_of_route[route] == device) return route;
  return device;
}

}  // namespace opennrt::arch_common
