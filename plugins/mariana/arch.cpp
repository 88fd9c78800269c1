// SPDX-License-Identifier: Apache-2.0
//
// The table of the mariana plugin: products and the groups built from its facts.
#include <array>

#include "arch-common/tables.h"
#include "facts.h"
#include "mariana/table.h"

namespace opennrt::mariana {
namespace {

// Values of NRT_INSTANCE_* and NRT_INSTANCE_SIZE_*; the plugin builds without
// the runtime's headers.
constexpr std::uint32_t kTrn3 = 14, kUnknownSize = 9;

// Which of the two PCI ids belongs to which product is not published: inferred.
constexpr std::uint32_t kGen1 = 0x7564, kGen2 = 0x7565;

constexpr nrtp_product trn3(const char* name, std::uint32_t pci_device, std::uint32_t devices) {
  return split::product(name, "Trainium3", pci_device, devices, kHbmBytes, kTrn3, kUnknownSize, 4);
}

constexpr std::array<nrtp_product, 4> kProducts = {{
    trn3("trn3-gen1-server", kGen1, 16),
    trn3("trn3-gen1-ultraserver", kGen1, 64),
    trn3("trn3-gen2-server", kGen2, 4),
    trn3("trn3-gen2-ultraserver", kGen2, 144),
}};

constexpr std::array<const char*, 3> kTargets = {"mariana", "v4", nullptr};

constinit const nrtp_arch_plugin kPlugin =
    arch_common::make_plugin<kFacts>({.tables = &kTables,
                                      .fabric = &kFabric,
                                      .timing = &kTiming,
                                      .driver = &kDriver,
                                      .neff_targets = kTargets.data(),
                                      .products = kProducts});

}  // namespace

const nrtp_arch_plugin& plugin() { return kPlugin; }

}  // namespace opennrt::mariana
