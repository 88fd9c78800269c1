// SPDX-License-Identifier: Apache-2.0
//
// Values against a reference.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "npy.h"
#include "nrt/nrt.h"

namespace opennrt::tools {

// Of --compare when none are given: exact for integers, else what one rounding of
// the type and a long sum in another order explain.
struct Tolerance {
  double rtol = 0, atol = 0;
};
Tolerance default_tolerance(nrt_dtype_t dtype);

// A value matches when |value - reference| <= atol + rtol * |reference|. NaN
// matches NaN only, an infinity the same infinity only; neither takes part in the
// errors. Integers are compared as they are, without rounding.
struct Comparison {
  std::size_t elements = 0, mismatches = 0;
  std::size_t first = 0, worst = 0;  // index of a mismatch, when there are any
  double first_value = 0, first_reference = 0;
  double worst_value = 0, worst_reference = 0;
  double max_absolute = 0, max_relative = 0;  // relative: where the reference is not 0
  std::size_t nan_mismatches = 0;             // NaN or infinity on one side only
};

struct TypedData {
  nrt_dtype_t dtype = NRT_DTYPE_UNKNOWN;
  std::vector<std::byte> bytes;
};

// The reference of values of a type and shape (nullptr: any): a file of that type,
// or for floating-point types float32 (NumPy has no bfloat16 and no float8). False:
// *error names the file.
bool read_reference(const std::string& path, nrt_dtype_t dtype, const Shape* shape, TypedData* out,
                    std::string* error);

// Empty: *error says why they cannot be compared.
std::optional<Comparison> compare_arrays(const TypedData& values, const TypedData& reference,
                                         const Tolerance& tolerance, std::string* error);

}  // namespace opennrt::tools
