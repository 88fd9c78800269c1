// SPDX-License-Identifier: Apache-2.0
//
// The kernel driver of the two-die families (aws-neuron-driver 2.24.7.0 ..
// 2.26.5.0). It names the tiles of all cores as if they followed one another.
#pragma once

#include <array>
#include <cstdint>

#include "arch-common/boards.h"
#include "arch-common/split_map.h"

namespace opennrt::arch_common::split {

inline constexpr auto kDriverMaps = [] {
  constexpr std::uint64_t kSync = 0x2700000, kSyncBytes = 0x2000;
  std::array<nrtp_driver_map, 2 * kCores + 2 * kTopsps> out{};
  std::size_t n = 0;
  for (std::uint32_t core = 0; core < kCores; ++core) {
    const std::uint64_t device = kTileOfDie[0] + core * kTileBytes;
    const std::uint64_t bar = kTileBar0 + core * kTileBytes;
    out[n++] = {NRTP_DRIVER_TPB, core,       NRTP_DRIVER_SEMAPHORES, 0, device + kSync,
                kSyncBytes,      bar + kSync};
    out[n++] = {NRTP_DRIVER_TPB, core, NRTP_DRIVER_SBUF, 0, device, kTileSplit, bar};
  }
  for (std::uint32_t id = 0; id < kTopsps; ++id) {
    const TopspFacts& t = kTopspFacts[id];
    out[n++] = {NRTP_DRIVER_TOPSP, id, NRTP_DRIVER_SEMAPHORES, 0, t.device, kSyncBytes, t.bar0};
    out[n++] = {NRTP_DRIVER_TOPSP, id, NRTP_DRIVER_ALL, 0, t.device, kTopspBytes, t.bar0};
  }
  return out;
}();

inline constexpr auto kDriverWindows = [] {
  constexpr std::uint64_t kTileReach = 0x804000000, kPreprocBytes = 0x34C0000;
  constexpr std::uint32_t kTopspsOfDie = 10;
  std::array<nrtp_device_window, 2 * (kTileOfDie.size() + 2 + kTopspsOfDie)> out{};
  std::size_t n = 0;
  for (std::uint64_t die : {std::uint64_t{0}, kDie}) {
    for (std::uint64_t tile : kTileOfDie) out[n++] = {die + tile, kTileReach};
    for (std::uint64_t base : {std::uint64_t{0x1200000000}, std::uint64_t{0x5200000000}})
      out[n++] = {die + base, kPreprocBytes};
    for (std::uint64_t i = 0; i < kTopspsOfDie; ++i)
      out[n++] = {die + 0x8280000000 + i * 0x40000000, kTopspBytes};
  }
  return out;
}();

// Four engines of each eight of a channel's 32.
inline constexpr std::array<std::uint32_t, 16> kScrubEngines = {4,  5,  6,  7,  12, 13, 14, 15,
                                                                20, 21, 22, 23, 28, 29, 30, 31};

// Devices of a torus of 4 by 4 in order of their routing ids.
inline constexpr std::array<std::uint8_t, 16> kDeviceOfRoute = {0, 3, 4, 7, 12, 15, 8, 11,
                                                                1, 2, 5, 6, 13, 14, 9, 10};

constexpr nrtp_arch_driver make_driver() {
  nrtp_arch_driver d{};
  d.size = sizeof d;
  d.flags = NRTP_DRIVER_CORE_MAP | NRTP_DRIVER_MAP_HBM;
  d.compat_min = 10;
  d.compat_max = 11;
  d.bar0_bytes = 0x100000000;
  d.host_window_mask = 0x400000000000;
  d.fetch_engine_mask = 0x19F;  // 0..4, 7, 8
  d.scrub_stride = 2 * kDmaPerCore;
  d.n_scrub_engines = kScrubEngines.size();
  d.scrub_engines = kScrubEngines.data();
  d.n_maps = kDriverMaps.size();
  d.maps = kDriverMaps.data();
  d.n_windows = kDriverWindows.size();
  d.windows = kDriverWindows.data();
  d.routing_id = [](const nrtp_product*, std::uint32_t devices, std::uint32_t device) {
    return routing_id(kDeviceOfRoute, devices, device);
  };
  return d;
}

}  // namespace opennrt::arch_common::split
