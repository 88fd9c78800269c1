// SPDX-License-Identifier: Apache-2.0
//
// Address functions of the arch table over ArchFacts. Arguments after the facts
// are those of the table's members.
#pragma once

#include <span>

#include "arch-common/facts.h"
#include "arch-common/windows.h"

namespace opennrt::arch_common {

std::uint64_t local_to_device(const ArchFacts& f, const nrtp_product* product, std::uint32_t core,
                              std::uint64_t local);
std::uint64_t local_to_bar0(const ArchFacts& f, const nrtp_product* product, std::uint32_t core,
                            std::uint64_t local);
std::uint64_t event_addr(const ArchFacts& f, const nrtp_product* product, std::uint32_t core,
                         std::uint32_t event);
std::uint64_t sem_addr(const ArchFacts& f, const nrtp_product* product, std::uint32_t core,
                       std::uint32_t sem, std::uint32_t op);
std::uint64_t nx_local(const ArchFacts& f, std::uint32_t engine);  // kNone: no such engine
std::uint64_t hbm_to_bar4(const ArchFacts& f, const nrtp_product* product, std::uint64_t pa,
                          std::uint64_t bytes);
int cores_of_hbm(const ArchFacts& f, const nrtp_product* product, std::uint32_t hbm,
                 std::uint32_t* out, std::uint32_t* inout_n);
int coretype(const ArchFacts& f, const nrtp_product* product, std::uint32_t engine,
             std::uint32_t* out_nx, std::uint32_t* out_q7, std::uint32_t* out_topsp);
// blocks: sorted by device address.
int classify(const ArchFacts& f, std::span<const Block> blocks, const nrtp_product* product,
             std::uint64_t pa, nrtp_addr_class* out);
// regions: sorted by BAR 0 offset.
std::uint64_t bar0_to_device(std::span<const nrtp_csr_region> regions, const nrtp_product* product,
                             std::uint64_t bar0);

}  // namespace opennrt::arch_common
