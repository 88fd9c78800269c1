// SPDX-License-Identifier: Apache-2.0
//
// The instruction validator over the instruction table: what a family's
// engines accept. Only what the table knows to be limited is refused.
#pragma once

#include <cstdint>

#include "opennrt/arch.h"
#include "opennrt/isa/table.h"

namespace opennrt::arch_common {

// One record.
int validate_inst(isa::Generation generation, std::uint32_t engine, const std::uint8_t in[64],
                  nrtp_diag* out);
// A finished image: every record, and no pseudo-instruction left.
int validate_image(isa::Generation generation, std::uint32_t engine, const std::uint8_t* image,
                   std::uint64_t bytes, nrtp_diag* out);

}  // namespace opennrt::arch_common
