// SPDX-License-Identifier: Apache-2.0
//
// Access patterns as byte streams: which pieces of memory a range of a
// pattern's flat order touches.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tdrv/vring.h"

namespace opennrt::tdrv::image {

struct Piece {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

// A pattern at its place: addresses are base + offset.
class PatternWalk {
 public:
  // Empty: a size is 0, or the total does not fit 63 bits.
  static std::optional<PatternWalk> make(const neff::AccessPattern& pattern, std::uint64_t base);

  std::uint64_t total_bytes() const { return total_; }
  std::uint64_t rows() const { return rows_; }  // size of the outermost dimension, 1 for a run
  // Smallest and one past the largest byte offset the pattern touches.
  std::int64_t lowest() const { return lowest_; }
  std::int64_t end() const { return end_; }

  // Appends the pieces of flat range [begin, end): one if the memory is
  // contiguous over the whole range, else one per run; no piece is longer than
  // a descriptor. false: more than `limit` pieces in `out`.
  bool append_pieces(std::uint64_t begin, std::uint64_t end, std::size_t limit,
                     std::vector<Piece>& out) const;

 private:
  std::int64_t offset_of(std::uint64_t flat) const;

  neff::AccessPattern pattern_;
  std::uint64_t base_ = 0, total_ = 0, rows_ = 1;
  std::uint64_t dense_bytes_ = 0;  // the flat order is contiguous within multiples of this
  std::int64_t lowest_ = 0, end_ = 0;
};

// Appends `tx` and `rx` (equal byte totals) as packets that hold at most the
// given numbers of descriptors; pieces are cut where a packet ends.
void append_packets(const std::vector<Piece>& tx, const std::vector<Piece>& rx,
                    std::uint32_t max_tx, std::uint32_t max_rx, VirtualRing& out);

}  // namespace opennrt::tdrv::image
