// SPDX-License-Identifier: Apache-2.0
//
// The shortest edit between two instruction streams.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace opennrt::tools {

// A run of records that one side has and the other has not: records
// a_first..a_first+a_count-1 of the first stream (from 0) became
// b_first..b_first+b_count-1 of the second.
struct Change {
  std::size_t a_first = 0, a_count = 0, b_first = 0, b_count = 0;
  bool operator==(const Change&) const = default;
};

// Streams of 64-byte records. Beyond `most` differing records the rest is one
// change, so that unrelated streams do not take quadratic time.
std::vector<Change> compare_streams(std::span<const std::byte> a, std::span<const std::byte> b,
                                    std::size_t most);

}  // namespace opennrt::tools
