// SPDX-License-Identifier: Apache-2.0
//
// Evaluates an HLO module (protobuf text form) in double precision, without any
// intermediate rounding: the reference for compiled programs of which the
// source graph is known. Covers the operations such graphs of one block use;
// throws std::runtime_error for everything else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace opennrt::test {

struct HloValue {
  std::vector<std::int64_t> dims;
  std::vector<double> data;  // row-major
  std::vector<HloValue> tuple;

  std::int64_t elements() const {
    std::int64_t n = 1;
    for (const std::int64_t d : dims) n *= d;
    return n;
  }
};

// parameters: by parameter number, moved from. Returns the root of the entry
// computation.
HloValue evaluate_hlo(const std::string& textproto, std::vector<HloValue> parameters);

}  // namespace opennrt::test
