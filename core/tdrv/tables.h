// SPDX-License-Identifier: Apache-2.0
//
// DVE and ACT tables of a program: copied to HBM and moved to the engines'
// table memories by a small ring that the image's SWITCH region kicks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tdrv/core_node.h"

namespace opennrt::tdrv {

// One table as bytes with its place in table memory.
struct TablePart {
  std::string name;
  std::vector<std::byte> owned;        // content built here
  std::span<const std::byte> content;  // what is copied
  std::uint64_t local = 0;             // tile-local destination
};

// DVE tables: the program's, or the arch's defaults for those it lacks.
Result<std::vector<TablePart>> dve_tables(const nrtp_arch_plugin& arch,
                                          const neff::Subgraph& subgraph);
// ACT tables from the activation sets (layout of act_tables.cpp). Empty: the
// program names no activation set.
Result<std::vector<TablePart>> act_tables(const nrtp_arch_plugin& arch,
                                          const neff::Subgraph& subgraph);

// Uploads the parts and the ring that loads them and then sets `event`. The
// memory is appended to `memory`. `kick`: descriptors the image usually
// releases; the ring has at least so many.
Result<TableRing> place_table_ring(CoreNode& core, const std::shared_ptr<Allocator>& owner,
                                   std::span<const TablePart> parts, std::uint32_t event,
                                   std::uint32_t kick, Usage usage, std::vector<DmemPtr>& memory);

}  // namespace opennrt::tdrv
