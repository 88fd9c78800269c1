// SPDX-License-Identifier: Apache-2.0
//
// The product of a stationary matrix in the PE array with a moving matrix in
// SBUF, into PSUM.
#pragma once

#include <cstdint>

#include "compute/operand.h"
#include "compute/pe_array.h"
#include "compute/pe_rows.h"

namespace opennrt::emu {

// Writes or adds products to elements `first` to `first` + n of a destination
// row: FP32, or BF16 that is added to in FP32 and rounded once.
void put_products(const Operand& destination, std::uint8_t* partition, const float* products,
                  std::uint32_t first, std::uint32_t n, bool add);

class Product {
 public:
  Product() = default;
  // `part`: of FP32 numbers of the moving matrix.
  Product(const PeTile& tile, const Operand& moving, Fp32Part part, const Operand& destination);

  std::uint32_t columns() const { return static_cast<std::uint32_t>(moving_.pattern.total); }

  // All of it, shared with the idle threads of the core if there are any.
  void perform(EngineState& state, PeArray& array, bool overwrite) const;

  // A part of the result.
  struct Block {
    std::uint32_t from, to;  // columns of the stationary matrix, `from` a multiple of 8
    std::uint32_t first, n;  // columns of the moving matrix
  };
  // A product may be divided among threads into blocks, each with scratch of its
  // own: every element has the same bits as when one thread does all of it,
  // provided that no two columns go to the same destination element.
  void multiply(PeArray& array, PeScratch& scratch, Block block, bool overwrite) const;

  // How perform() divides it: a step is a panel of the moving matrix and half of the
  // stationary one, so that an odd number of panels still comes out even.
  std::uint32_t steps() const { return 2 * ((columns() + kernels_->width - 1) / kernels_->width); }
  void multiply_steps(PeArray& array, PeScratch& scratch, std::uint32_t step, std::uint32_t end,
                      bool overwrite) const;

 private:
  void widen(PeScratch& scratch, std::uint32_t first, std::uint32_t n) const;
  void multiply_panels(PeArray& array, PeScratch& scratch, const Block& block, bool add) const;

  const PeKernels* kernels_ = nullptr;
  PeTile tile_;
  Operand moving_, out_;
  RowPacker packer_;
  bool divisible_ = false;  // no two columns go to the same element
  bool in_place_ = false;   // FP32 in one run: products are added where they go
};

}  // namespace opennrt::emu
