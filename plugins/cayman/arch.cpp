// SPDX-License-Identifier: Apache-2.0
//
// The table of the cayman plugin: products and the groups built from its facts.
#include <array>

#include "arch-common/tables.h"
#include "cayman/table.h"
#include "facts.h"

namespace opennrt::cayman {
namespace {

// Values of NRT_INSTANCE_* and NRT_INSTANCE_SIZE_*; the plugin builds without
// the runtime's headers.
enum Family : std::uint32_t { kTrn2 = 5, kTrn2u = 9 };
enum Size : std::uint32_t { kXl48 = 7, kXl3 = 8, kUnknownSize = 9 };

constexpr std::array<nrtp_product, 4> kProducts = {{
    split::product("trn2.3xlarge", "Trainium2", 0x7364, 1, kHbmBytes, kTrn2, kXl3, 3),
    split::product("trn2.48xlarge", "Trainium2", 0x7364, 16, kHbmBytes, kTrn2, kXl48, 3),
    split::product("trn2u.48xlarge", "Trainium2", 0x7364, 16, kHbmBytes, kTrn2u, kXl48, 3),
    split::product("trn2-ultraserver", "Trainium2", 0x7364, 64, kHbmBytes, kTrn2u, kUnknownSize, 3),
}};

constexpr std::array<const char*, 3> kTargets = {"cayman", "v3", nullptr};

constinit const nrtp_arch_plugin kPlugin =
    arch_common::make_plugin<kFacts>({.tables = &kTables,
                                      .fabric = &kFabric,
                                      .timing = &kTiming,
                                      .driver = &kDriver,
                                      .neff_targets = kTargets.data(),
                                      .products = kProducts});

}  // namespace

const nrtp_arch_plugin& plugin() { return kPlugin; }

}  // namespace opennrt::cayman
