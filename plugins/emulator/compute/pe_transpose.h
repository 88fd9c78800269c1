// SPDX-License-Identifier: Apache-2.0
//
// Products in transpose mode: the moving matrix selects, the bits of the
// stationary matrix pass unchanged.
#pragma once

#include <string>

#include "compute/operand.h"
#include "compute/pe_array.h"

namespace opennrt::emu {

// Bytes of an element in PSUM: those of the type, 2 for FP8.
std::uint32_t pass_through_bytes(std::uint32_t dtype);

// Each column of `moving` is all zeros or has a single 1.0, whose row of the
// stationary matrix it selects. False: it is not, nothing was written.
bool pass_through(PeArray& array, const PeTile& tile, const Operand& moving,
                  const Operand& destination, std::string* error);

}  // namespace opennrt::emu
