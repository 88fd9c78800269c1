// SPDX-License-Identifier: Apache-2.0
//
// DMA functions of the arch table over ArchFacts.
#pragma once

#include "arch-common/facts.h"

namespace opennrt::arch_common {

// The engine's facts, nullptr when this product has no such engine.
const DmaEngineFacts* dma_engine(const ArchFacts& f, const nrtp_product* product,
                                 std::uint32_t engine);
std::uint64_t udma_bar0(const ArchFacts& f, const nrtp_product* product, std::uint32_t engine);
std::uint64_t udma_device(const ArchFacts& f, const nrtp_product* product, std::uint32_t engine);
std::uint64_t sdma_misc_bar0(const ArchFacts& f, const nrtp_product* product, std::uint32_t engine);
std::uint32_t core_engine(const ArchFacts& f, const nrtp_product* product, std::uint32_t core,
                          std::uint32_t index);
std::uint32_t is_host_engine(const ArchFacts& f, const nrtp_product* product, std::uint32_t engine);
int runtime_ring(const ArchFacts& f, const nrtp_product* product, std::uint32_t core,
                 std::uint32_t which, nrtp_dma_slot* out);
int alloc_class(const ArchFacts& f, const nrtp_product* product, std::uint32_t ring_class,
                std::uint32_t core, nrtp_dma_slot* out, std::uint32_t* inout_n);

}  // namespace opennrt::arch_common
