// SPDX-License-Identifier: Apache-2.0
#include "compute/pe_array.h"

#include "compute/pe_rows.h"

namespace opennrt::emu {

PeLoad* PeArray::find(const PeTile& tile, std::string* error) {
  PeLoad& load = loads_[cell(tile.first_row, tile.first_column)];
  const auto place = [](const PeTile& t) {
    return std::to_string(t.rows) + " rows from " + std::to_string(t.first_row) + ", " +
           std::to_string(t.columns) + " columns from " + std::to_string(t.first_column);
  };
  if (!load.valid) {
    *error = "no stationary matrix is loaded at " + place(tile);
    return nullptr;
  }
  if (!(load.tile == tile)) {
    *error = "the product uses " + place(tile) + ", the stationary matrix loaded there has " +
             place(load.tile);
    return nullptr;
  }
  return &load;
}

void PeArray::keep_high(const PeTile& tile) {
  for (std::uint32_t c = 0; c < tile.columns; ++c)
    for (std::uint32_t r = 0; r < tile.rows; ++r) {
      float& x = stationary(tile)[c / kPeBlock * kPeBlockStride + r * kPeBlock + c % kPeBlock];
      x = fp32_high(x);
    }
}

}  // namespace opennrt::emu
