// SPDX-License-Identifier: Apache-2.0
#include "arch-common/fabric.h"

#include "facts.h"

namespace opennrt::mariana {
namespace {

constexpr std::array<std::int32_t, 2> kInterRdhDma = {4, 5};

// Behind NeuronSwitch-v1 both extents double.
constexpr std::uint32_t by_switch(std::uint32_t family_flags, std::uint32_t extent) {
  return (family_flags & NRTP_FABRIC_SWITCH_V1) != 0 ? 2 * extent : extent;
}

constexpr nrtp_arch_fabric make() {
  auto f = arch_common::make_fabric(
      kInterRdhDma, [](std::uint32_t flags) { return by_switch(flags, 16); },
      [](std::uint32_t flags) { return by_switch(flags, 8); });
  f.max_links_per_pod_port = 2;
  f.inter_rdh_folds = 2;
  return f;
}

}  // namespace

constinit const nrtp_arch_fabric kFabric = make();

}  // namespace opennrt::mariana
