// SPDX-License-Identifier: Apache-2.0
#include "tdrv/image/block_split.h"

#include <algorithm>
#include <limits>

#include "tdrv/image/descriptor_bits.h"

namespace opennrt::tdrv::image {

namespace {

// Position inside a list of pieces.
struct Cursor {
  const std::vector<Piece>& pieces;
  std::size_t index = 0;
  std::uint64_t done = 0;  // bytes of pieces[index] already used

  bool at_end() const { return index == pieces.size(); }

  // Bytes that the next `count` pieces still hold.
  std::uint64_t bytes_ahead(std::uint32_t count) const {
    std::uint64_t bytes = 0;
    for (std::size_t i = index; i < pieces.size() && i - index < count; ++i) {
      bytes += pieces[i].bytes - (i == index ? done : 0);
    }
    return bytes;
  }

  void take(std::uint64_t bytes, bool tx, std::vector<DmaDescriptor>& out) {
    const std::size_t first = out.size();
    while (bytes != 0) {
      const std::uint64_t n = std::min(bytes, pieces[index].bytes - done);
      out.push_back(make_descriptor(pieces[index].address + done, n, tx));
      out.back().len_ctrl |= kConcat;
      bytes -= n;
      done += n;
      if (done == pieces[index].bytes) {
        ++index;
        done = 0;
      }
    }
    out[first].len_ctrl |= kFirst;
    out.back().len_ctrl = (out.back().len_ctrl & ~kConcat) | kLast;
  }
};

}  // namespace

std::optional<PatternWalk> PatternWalk::make(const neff::AccessPattern& pattern,
                                             std::uint64_t base) {
  if (pattern.dims < 1 || pattern.dims > pattern.sizes.size()) return std::nullopt;
  PatternWalk walk;
  walk.pattern_ = pattern;
  walk.base_ = base;
  std::uint64_t total = 1;
  std::int64_t low = 0, high = 0;  // reach beyond the pattern's offset
  bool dense = true;
  walk.dense_bytes_ = 1;
  for (std::uint32_t d = 0; d < pattern.dims; ++d) {
    const std::uint64_t size = pattern.sizes[d];
    const std::int64_t step = d == 0 ? 1 : pattern.steps[d];
    if (size == 0 || size > std::uint64_t{1} << 40) return std::nullopt;
    if (d != 0) {
      dense = dense && (size == 1 || (step >= 0 && static_cast<std::uint64_t>(step) == total));
    }
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(total, size, &total) ||
        total > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ||
        __builtin_mul_overflow(static_cast<std::int64_t>(size - 1), step, &reach) ||
        __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) {
      return std::nullopt;
    }
    if (dense) walk.dense_bytes_ = total;
  }
  walk.total_ = total;
  walk.rows_ = pattern.dims > 1 ? pattern.sizes[pattern.dims - 1] : 1;
  std::int64_t offset = 0;
  if (pattern.offset > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 2)) {
    return std::nullopt;
  }
  offset = static_cast<std::int64_t>(pattern.offset);
  if (__builtin_add_overflow(offset, low, &walk.lowest_) ||
      __builtin_add_overflow(offset, high, &walk.end_) ||
      __builtin_add_overflow(walk.end_, 1, &walk.end_)) {
    return std::nullopt;
  }
  return walk;
}

std::int64_t PatternWalk::offset_of(std::uint64_t flat) const {
  std::int64_t offset = static_cast<std::int64_t>(pattern_.offset + flat % pattern_.sizes[0]);
  std::uint64_t index = flat / pattern_.sizes[0];
  for (std::uint32_t d = 1; d < pattern_.dims; ++d) {
    offset += static_cast<std::int64_t>(index % pattern_.sizes[d]) * pattern_.steps[d];
    index /= pattern_.sizes[d];
  }
  return offset;
}

bool PatternWalk::append_pieces(std::uint64_t begin, std::uint64_t end, std::size_t limit,
                                std::vector<Piece>& out) const {
  const std::uint64_t unit =
      begin / dense_bytes_ == (end - 1) / dense_bytes_ ? dense_bytes_ : pattern_.sizes[0];
  while (begin < end) {
    const std::uint64_t unit_end = std::min(end, (begin / unit + 1) * unit);
    std::uint64_t address = base_ + static_cast<std::uint64_t>(offset_of(begin));
    while (begin < unit_end) {
      const std::uint64_t n = std::min(unit_end - begin, kMaxDescriptorBytes);
      if (out.size() == limit) return false;
      out.push_back({address, n});
      address += n;
      begin += n;
    }
  }
  return true;
}

void append_packets(const std::vector<Piece>& tx, const std::vector<Piece>& rx,
                    std::uint32_t max_tx, std::uint32_t max_rx, VirtualRing& out) {
  Cursor source{tx}, target{rx};
  while (!source.at_end() && !target.at_end()) {
    const std::uint64_t bytes = std::min(source.bytes_ahead(std::max(max_tx, 1u)),
                                         target.bytes_ahead(std::max(max_rx, 1u)));
    source.take(bytes, true, out.tx);
    target.take(bytes, false, out.rx);
  }
}

}  // namespace opennrt::tdrv::image
