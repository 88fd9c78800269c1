// SPDX-License-Identifier: Apache-2.0
//
// The table of the sunda plugin: products and the groups built from its facts.
#include <array>

#include "arch-common/tables.h"
#include "facts.h"
#include "sunda/table.h"

namespace opennrt::sunda {
namespace {

// Values of NRT_INSTANCE_* and NRT_INSTANCE_SIZE_*; the plugin builds without
// the runtime's headers.
enum Family : std::uint32_t { kTrn1 = 2, kTrn1n = 3, kInf2 = 4 };
enum Size : std::uint32_t { kXl1 = 0, kXl2 = 1, kXl8 = 4, kXl24 = 5, kXl32 = 6, kXl48 = 7 };

constexpr nrtp_product trn1(const char* name, std::uint32_t devices, Family family, Size size) {
  return {
      name, "Trainium1",          0x1D0F, 0x7164, devices, kCores, kHbmChannelBytes, family, size,
      2,    devices > 1 ? 1u : 0u};
}
// The driver names this generation with suffix 3 although the arch is 2.
constexpr nrtp_product inf2(const char* name, std::uint32_t devices, Size size) {
  return {
      name, "Inferentia2",        0x1D0F, 0x7264, devices, kCores, kHbmChannelBytes, kInf2, size,
      3,    devices > 1 ? 1u : 0u};
}

constexpr std::array<nrtp_product, 7> kProducts = {{
    trn1("trn1.2xlarge", 1, kTrn1, kXl2),
    trn1("trn1.32xlarge", 16, kTrn1, kXl32),
    trn1("trn1n.32xlarge", 16, kTrn1n, kXl32),
    inf2("inf2.xlarge", 1, kXl1),
    inf2("inf2.8xlarge", 1, kXl8),
    inf2("inf2.24xlarge", 6, kXl24),
    inf2("inf2.48xlarge", 12, kXl48),
}};

constexpr std::array<const char*, 3> kTargets = {"sunda", "v2", nullptr};

constinit const nrtp_arch_plugin kPlugin =
    arch_common::make_plugin<kFacts>({.tables = &kTables,
                                      .fabric = &kFabric,
                                      .timing = &kTiming,
                                      .driver = &kDriver,
                                      .neff_targets = kTargets.data(),
                                      .products = kProducts});

}  // namespace

const nrtp_arch_plugin& plugin() { return kPlugin; }

}  // namespace opennrt::sunda
