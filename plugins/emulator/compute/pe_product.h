// SPDX-License-Identifier: Apache-2.0
//
// The product of a stationary matrix in the PE array with panels of a moving
// matrix, into PSUM.
#pragma once

#include <cstdint>

#include "compute/operand.h"
#include "compute/pe_array.h"

namespace opennrt::emu {

// Destination of a product: FP32 or, from mariana on, BF16 elements, added to
// in FP32 and rounded once.
class ProductSink {
 public:
  ProductSink() = default;
  explicit ProductSink(const Operand& destination);

  // Multiplies the panels in array.moving(), which hold columns `first` to
  // `first` + n of the moving matrix (n <= PeArray::kMoving).
  void multiply(PeArray& array, const PeKernels& kernels, const PeTile& tile, std::uint32_t first,
                std::uint32_t n, bool add) const;

 private:
  void scatter(std::uint8_t* partition, const float* results, std::uint32_t first, std::uint32_t n,
               bool add) const;

  Operand out_;
  bool in_place_ = false;  // FP32 in one run: products are added where they go
};

}  // namespace opennrt::emu
