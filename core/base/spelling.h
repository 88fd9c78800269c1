// SPDX-License-Identifier: Apache-2.0
//
// What a misspelt word was meant to be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace opennrt {

// Edits that turn one text into the other: a letter more, less or another, two
// neighbours swapped.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the table for the last letters of `a`: two before, one before, this one.
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j - 1] + other, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

// Edits in a text of this length; what differs in more was not meant.
inline std::size_t slip_limit(std::string_view text) {
  return text.size() < 3 ? 0 : text.size() < 5 ? 1 : std::max<std::size_t>(2, text.size() / 5);
}

// The one of some names that a word was meant to be; empty: none.
template <typename Names>
std::string_view nearest_name(std::string_view word, const Names& names) {
  constexpr std::size_t kLongest = 64;  // nobody's slip
  if (word.size() > kLongest) return {};
  std::string_view best;
  std::size_t least = slip_limit(word) + 1;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(word, name);
    if (distance >= least) continue;
    least = distance;
    best = name;
  }
  return best;
}

}  // namespace opennrt
