// SPDX-License-Identifier: Apache-2.0
//
// Fields that the PE records share, checked and resolved.
#pragma once

#include <cstdint>
#include <string>

#include "compute/operand.h"
#include "compute/pe_array.h"
#include "compute/plan.h"
#include "compute/psum_groups.h"

namespace opennrt::emu {

// Rows, columns and group codes of a record. A group code has a bit per 32 rows
// or columns: 1, 2, 4, 8 for 32 of them, 3 and 12 for 64, 15 for all.
bool pe_tile(std::uint32_t rows, std::uint32_t columns, std::uint32_t row_group,
             std::uint32_t column_group, PeTile* out, std::string* error);

// A stationary or moving matrix: a TENSOR3D in SBUF on the tile's rows.
bool pe_source(const PlanContext& context, const char* name, const std::uint8_t* pattern,
               std::uint32_t dtype, const PeTile& tile, Operand* out, std::string* error);

// Results: a TENSOR3D in PSUM on the tile's columns, in zero regions of
// `zero_region` (isa code matmul_zero_region: 2048 bytes << code).
bool pe_destination(const PlanContext& context, const std::uint8_t* pattern, std::uint32_t dtype,
                    const PeTile& tile, std::uint32_t zero_region, Operand* out, PsumPlace* place,
                    std::string* error);

// fp32_mode against the data type.
bool pe_fp32_mode(std::uint32_t dtype, std::uint32_t mode, std::string* error);

// Accumulate flags of a product: 0 to 3, on mariana also 4 and 6.
bool pe_accumulate_flags(isa::Generation generation, std::uint32_t flags, std::string* error);

// A field that this device executes only with the value 0.
bool pe_zero(const char* field, std::uint32_t value, std::string* error);
// Reserved bytes of a record, in order.
bool pe_reserved(const std::uint8_t* record, std::uint32_t first, std::uint32_t count,
                 std::string* error);

}  // namespace opennrt::emu
