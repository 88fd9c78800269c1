// SPDX-License-Identifier: Apache-2.0
#include "arch-common/split_driver.h"
#include "facts.h"

namespace opennrt::cayman {
namespace {

// A torus of 4 by 4.
constexpr std::uint8_t kNeighbours[16][4] = {
    {12, 1, 3, 4},  {0, 13, 5, 2},  {14, 3, 1, 6},   {2, 15, 7, 0},  {8, 5, 7, 0},   {4, 9, 1, 6},
    {10, 7, 5, 2},  {6, 11, 3, 4},  {4, 9, 11, 12},  {8, 5, 13, 10}, {6, 11, 9, 14}, {10, 7, 15, 8},
    {0, 13, 15, 8}, {12, 1, 9, 14}, {2, 15, 13, 10}, {14, 3, 11, 12}};

constexpr nrtp_arch_driver make_driver() {
  nrtp_arch_driver d = split::make_driver();
  d.neighbours = [](const nrtp_product* product, std::uint32_t devices, std::uint32_t device,
                    std::uint32_t* out, std::uint32_t* inout_n) {
    if (product == nullptr) return int{NRTP_INVALID};
    std::span<const std::uint8_t> others;
    if (devices == std::size(kNeighbours) && device < devices) others = kNeighbours[device];
    return arch_common::put_neighbours(others, out, inout_n);
  };
  return d;
}

}  // namespace

constinit const nrtp_arch_driver kDriver = make_driver();

}  // namespace opennrt::cayman
