// SPDX-License-Identifier: Apache-2.0
//
// The kernel driver of this family (aws-neuron-driver 2.24.7.0 .. 2.26.5.0).
#include <numeric>

#include "arch-common/boards.h"
#include "facts.h"

namespace opennrt::sunda {
namespace {

constexpr auto kMaps = [] {
  constexpr std::uint64_t kSyncBytes = 0x2000;
  std::array<nrtp_driver_map, 2 * kCores + 2 * kTopsps> out{};
  std::size_t n = 0;
  for (std::uint32_t core = 0; core < kCores; ++core) {
    const std::uint64_t bar = core * kTileBytes, device = kTile + bar;
    out[n++] = {NRTP_DRIVER_TPB,     core,       NRTP_DRIVER_SEMAPHORES, 0,
                device + kSyncLocal, kSyncBytes, bar + kSyncLocal};
    out[n++] = {NRTP_DRIVER_TPB, core, NRTP_DRIVER_SBUF, 0, device, kSbufWindow, bar};
  }
  for (std::uint32_t id = 0; id < kTopsps; ++id) {
    const std::uint64_t device = kTopspDevice + id * kTopspBytes;
    const std::uint64_t bar = kTopspBar0 + id * kTopspBytes;
    out[n++] = {NRTP_DRIVER_TOPSP, id, NRTP_DRIVER_SEMAPHORES, 0, device, kSyncBytes, bar};
    out[n++] = {NRTP_DRIVER_TOPSP, id, NRTP_DRIVER_ALL, 0, device, kTopspBytes, bar};
  }
  return out;
}();

constexpr std::array<nrtp_device_window, 2> kWindowsOfWrites = {{
    {kTile, kCores* kTileBytes},
    {kTopspDevice, kTopsps* kTopspBytes},
}};

constexpr auto kScrubEngines = [] {
  std::array<std::uint32_t, kDmaPerCore> out{};
  std::iota(out.begin(), out.end(), 0u);
  return out;
}();

constexpr std::uint32_t kPciTrainium1 = 0x7164, kPciInferentia2 = 0x7264;
constexpr std::uint8_t kTrn1Neighbours[16][4] = {
    {12, 3, 4, 1},  {13, 0, 5, 2},  {14, 1, 6, 3},   {15, 2, 7, 0},  {0, 7, 8, 5},   {1, 4, 9, 6},
    {2, 5, 10, 7},  {3, 6, 11, 4},  {4, 11, 12, 9},  {5, 8, 13, 10}, {6, 9, 14, 11}, {7, 10, 15, 8},
    {8, 15, 0, 13}, {9, 12, 1, 14}, {10, 13, 2, 15}, {11, 14, 3, 12}};
constexpr std::uint8_t kInf2Ring[12][2] = {{11, 1}, {0, 2}, {1, 3}, {2, 4},  {3, 5},  {4, 6},
                                           {5, 7},  {6, 8}, {7, 9}, {8, 10}, {9, 11}, {10, 0}};
constexpr std::uint8_t kInf2Line[6][2] = {{1, 0}, {0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 0}};
constexpr std::array<std::uint8_t, 16> kTrn1DeviceOfRoute = {0,  4, 1,  5, 3,  7,  2,  6,
                                                             12, 8, 13, 9, 15, 11, 14, 10};

std::span<const std::uint8_t> board(const nrtp_product& product, std::uint32_t devices,
                                    std::uint32_t device) {
  if (device >= devices) return {};
  if (product.pci_device == kPciTrainium1 && devices == 16) return kTrn1Neighbours[device];
  if (product.pci_device == kPciInferentia2 && devices == 12) return kInf2Ring[device];
  if (product.pci_device == kPciInferentia2 && devices == 6) {
    const std::span<const std::uint8_t> both = kInf2Line[device];
    return device == 0 || device == 5 ? both.first(1) : both;
  }
  return {};
}

constexpr nrtp_arch_driver make_driver() {
  nrtp_arch_driver d{};
  d.size = sizeof d;
  d.flags = NRTP_DRIVER_NO_ZERO_COPY | NRTP_DRIVER_POWER_PROFILES | NRTP_DRIVER_SINGLE_NODE_POD;
  d.compat_min = 5;
  d.compat_max = 7;
  d.bar0_bytes = 0x40000000;
  d.host_window_mask = 0x1F00000000000;
  d.topsp_notific_bar0 = kApbBar0 + kTopspApb + 0x4000;
  d.topsp_notific_stride = kTopspApbBytes;
  d.fetch_engine_mask = 0x7FF;
  d.scrub_stride = kDmaPerCore;
  d.n_scrub_engines = kScrubEngines.size();
  d.scrub_engines = kScrubEngines.data();
  d.n_maps = kMaps.size();
  d.maps = kMaps.data();
  d.n_windows = kWindowsOfWrites.size();
  d.windows = kWindowsOfWrites.data();
  d.neighbours = [](const nrtp_product* product, std::uint32_t devices, std::uint32_t device,
                    std::uint32_t* out, std::uint32_t* inout_n) {
    if (product == nullptr) return int{NRTP_INVALID};
    return arch_common::put_neighbours(board(*product, devices, device), out, inout_n);
  };
  d.routing_id = [](const nrtp_product* product, std::uint32_t devices, std::uint32_t device) {
    if (product == nullptr || product->pci_device != kPciTrainium1) return device;
    return arch_common::routing_id(kTrn1DeviceOfRoute, devices, device);
  };
  return d;
}

}  // namespace

constinit const nrtp_arch_driver kDriver = make_driver();

}  // namespace opennrt::sunda
