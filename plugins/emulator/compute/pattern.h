// SPDX-License-Identifier: Apache-2.0
//
// Access patterns: the element offsets (within one partition) that an operand
// of a compute record visits, dimension 0 fastest. Neighbouring dimensions that
// continue each other are merged, so that a dense operand is one run.
#pragma once

#include <algorithm>
#include <cstdint>

namespace opennrt::emu {

struct Pattern {
  static constexpr std::uint32_t kMaxDims = 4;

  std::int64_t step[kMaxDims] = {1, 0, 0, 0};
  std::uint64_t count[kMaxDims] = {1, 1, 1, 1};
  std::uint32_t dims = 1;
  std::uint64_t total = 1;
  std::int64_t lowest = 0, highest = 0;  // of all offsets

  // Counts must not be zero.
  static Pattern make(const std::int16_t* steps, const std::uint16_t* counts, std::uint32_t n) {
    Pattern p;
    p.dims = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      p.total *= counts[i];
      const std::int64_t reach = std::int64_t{steps[i]} * (counts[i] - 1);
      (reach < 0 ? p.lowest : p.highest) += reach;
      if (counts[i] == 1) continue;
      const std::uint32_t last = p.dims - 1;
      if (p.dims != 0 && steps[i] == p.step[last] * static_cast<std::int64_t>(p.count[last])) {
        p.count[last] *= counts[i];
        continue;
      }
      p.step[p.dims] = steps[i];
      p.count[p.dims] = counts[i];
      ++p.dims;
    }
    if (p.dims == 0) {
      p.step[0] = 1;
      p.count[0] = 1;
      p.dims = 1;
    }
    return p;
  }

  bool dense() const { return dims == 1 && step[0] == 1; }
};

// Whole rows of a pattern: element (i0, i1) lies at offset + i0 * step0 + i1 *
// step1, and comes at place i1 * count0 + i0. count1 is 1 for a part of a row.
struct Block {
  std::int64_t offset, step0, step1;
  std::uint64_t count0, count1;

  std::uint64_t total() const { return count0 * count1; }
};

// Walks a pattern in runs along its innermost dimension, or in blocks of them.
class Cursor {
 public:
  explicit Cursor(const Pattern& pattern) : p_(&pattern) {}

  struct Run {
    std::int64_t offset, step;
    std::uint64_t count;
  };

  // Next run of at most `limit` elements; the caller stops at `total`.
  Run next(std::uint64_t limit) {
    const std::uint64_t n = std::min(limit, p_->count[0] - index_[0]);
    const Run run{offset_, p_->step[0], n};
    index_[0] += n;
    offset_ += static_cast<std::int64_t>(n) * p_->step[0];
    carry(0);
    return run;
  }

  // Next block of at most `limit` elements, limit not 0: rows while they are
  // whole, a part of a row else.
  Block block(std::uint64_t limit) {
    const std::uint64_t row = p_->count[0];
    if (p_->dims == 1 || index_[0] != 0 || limit < row) {
      const Run run = next(limit);
      return {run.offset, run.step, 0, run.count, 1};
    }
    const std::uint64_t rows = std::min(limit / row, p_->count[1] - index_[1]);
    const Block b{offset_, p_->step[0], p_->step[1], row, rows};
    index_[1] += rows;
    offset_ += static_cast<std::int64_t>(rows) * p_->step[1];
    carry(1);
    return b;
  }

  // Elements left in the current row, and where they start.
  std::uint64_t row_left() const { return p_->count[0] - index_[0]; }
  std::int64_t offset() const { return offset_; }
  bool contiguous() const { return p_->step[0] == 1; }

 private:
  // From a dimension that may have ended to the next one.
  void carry(std::uint32_t i) {
    for (; i + 1 < p_->dims && index_[i] == p_->count[i]; ++i) {
      offset_ += p_->step[i + 1] - static_cast<std::int64_t>(p_->count[i]) * p_->step[i];
      index_[i] = 0;
      ++index_[i + 1];
    }
  }

  const Pattern* p_;
  std::uint64_t index_[Pattern::kMaxDims] = {};
  std::int64_t offset_ = 0;
};

}  // namespace opennrt::emu
