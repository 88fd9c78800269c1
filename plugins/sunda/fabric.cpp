// SPDX-License-Identifier: Apache-2.0
#include "arch-common/fabric.h"

#include "facts.h"

namespace opennrt::sunda {
namespace {

constexpr std::array<std::int32_t, 2> kInterRdhDma = {0, 1};

}  // namespace

constinit const nrtp_arch_fabric kFabric = arch_common::make_fabric(
    kInterRdhDma, [](std::uint32_t) { return std::uint32_t{16}; },
    [](std::uint32_t) { return std::uint32_t{8}; });

}  // namespace opennrt::sunda
