// SPDX-License-Identifier: Apache-2.0
#include "arch-common/fabric.h"

#include "facts.h"

namespace opennrt::cayman {
namespace {

constexpr std::array<std::int32_t, 2> kInterRdhDma = {4, 5};

constexpr nrtp_arch_fabric make() {
  auto f = arch_common::make_fabric(
      kInterRdhDma, [](std::uint32_t) { return std::uint32_t{16}; },
      [](std::uint32_t) { return std::uint32_t{8}; });
  f.max_links_per_pod_port = 1;
  f.inter_rdh_folds = 2;
  return f;
}

}  // namespace

constinit const nrtp_arch_fabric kFabric = make();

}  // namespace opennrt::cayman
