// SPDX-License-Identifier: Apache-2.0
//
// The instruction validator over the instruction table: what a family's
// engines accept. Only what the table knows to be limited is refused; the first
// fault of a record is reported.
#pragma once

#include <cstdint>

#include "arch-common/facts.h"
#include "opennrt/isa/table.h"

namespace opennrt::arch_common {

constexpr isa::Generation generation_of(const ArchFacts& f) {
  return static_cast<isa::Generation>(f.arch_type - 2);
}

// One record.
int validate_inst(const ArchFacts& f, std::uint32_t engine, const std::uint8_t in[64],
                  nrtp_diag* out);
// A finished image: every record, no pseudo-instruction left, no branch out of
// the image.
int validate_image(const ArchFacts& f, std::uint32_t engine, const std::uint8_t* image,
                   std::uint64_t bytes, nrtp_diag* out);

}  // namespace opennrt::arch_common
