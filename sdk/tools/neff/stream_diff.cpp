// SPDX-License-Identifier: Apache-2.0
//
// E. Myers, An O(ND) Difference Algorithm and Its Variations, 1986.
#include <algorithm>
#include <cstring>
#include <limits>

#include "neff/diff.h"
#include "opennrt/isa/records.h"

namespace opennrt::tools {
namespace {

constexpr std::size_t kRecord = isa::kRecordBytes;
// Of a diagonal whose furthest point is beyond one of the ends.
constexpr std::ptrdiff_t kOutside = std::numeric_limits<std::ptrdiff_t>::min() / 2;

bool same(std::span<const std::byte> a, std::size_t i, std::span<const std::byte> b,
          std::size_t j) {
  return std::memcmp(a.data() + i * kRecord, b.data() + j * kRecord, kRecord) == 0;
}

// Appends one removed or inserted record, joined to the change before it.
void append(std::vector<Change>& changes, std::size_t a, std::size_t b, bool removed) {
  if (changes.empty() || changes.back().a_first + changes.back().a_count != a ||
      changes.back().b_first + changes.back().b_count != b)
    changes.push_back({a, 0, b, 0});
  ++(removed ? changes.back().a_count : changes.back().b_count);
}

}  // namespace

std::vector<Change> compare_streams(std::span<const std::byte> a, std::span<const std::byte> b,
                                    std::size_t most) {
  const std::size_t n_all = a.size() / kRecord, m_all = b.size() / kRecord;
  std::size_t head = 0;
  while (head < std::min(n_all, m_all) && same(a, head, b, head)) ++head;
  std::size_t tail = 0;
  while (tail < std::min(n_all, m_all) - head && same(a, n_all - 1 - tail, b, m_all - 1 - tail))
    ++tail;
  const auto n = static_cast<std::ptrdiff_t>(n_all - head - tail);
  const auto m = static_cast<std::ptrdiff_t>(m_all - head - tail);
  if (n == 0 && m == 0) return {};
  const auto limit = std::min(static_cast<std::ptrdiff_t>(most), n + m);
  // furthest[d][k + d]: position in a on diagonal k after d edits.
  std::vector<std::vector<std::ptrdiff_t>> furthest;
  std::ptrdiff_t edits = -1;
  for (std::ptrdiff_t d = 0; d <= limit && edits < 0; ++d) {
    std::vector<std::ptrdiff_t> row(static_cast<std::size_t>(2 * d + 1));
    const auto before = [&](std::ptrdiff_t k) {
      return furthest.back()[static_cast<std::size_t>(k + d - 1)];
    };
    for (std::ptrdiff_t k = -d; k <= d; k += 2) {
      std::ptrdiff_t x = 0;
      if (d != 0)
        x = k == -d || (k != d && before(k - 1) < before(k + 1)) ? before(k + 1)
                                                                 : before(k - 1) + 1;
      if (x < 0 || x > n || x - k > m) x = kOutside;
      while (x >= 0 && x < n && x - k < m &&
             same(a, head + static_cast<std::size_t>(x), b, head + static_cast<std::size_t>(x - k)))
        ++x;
      row[static_cast<std::size_t>(k + d)] = x;
      if (x == n && x - k == m) edits = d;
    }
    furthest.push_back(std::move(row));
  }
  if (edits < 0) return {{head, static_cast<std::size_t>(n), head, static_cast<std::size_t>(m)}};
  // Back from the end: which edit each step was.
  struct Step {
    std::size_t a, b;
    bool removed;
  };
  std::vector<Step> steps;
  std::ptrdiff_t x = n, y = m;
  for (std::ptrdiff_t d = edits; d > 0; --d) {
    const auto& row = furthest[static_cast<std::size_t>(d - 1)];
    const auto before = [&](std::ptrdiff_t k) { return row[static_cast<std::size_t>(k + d - 1)]; };
    const std::ptrdiff_t k = x - y;
    const bool down = k == -d || (k != d && before(k - 1) < before(k + 1));
    const std::ptrdiff_t from = down ? k + 1 : k - 1;
    x = before(from);
    y = x - from;
    steps.push_back(
        {head + static_cast<std::size_t>(x), head + static_cast<std::size_t>(y), !down});
  }
  std::vector<Change> changes;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    append(changes, step->a, step->b, step->removed);
  return changes;
}

}  // namespace opennrt::tools
