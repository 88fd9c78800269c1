// SPDX-License-Identifier: Apache-2.0
//
// Elements from one pattern to another within a partition, as bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "compute/formats.h"

namespace opennrt::emu {

inline void move_elements(const std::uint8_t* from, const Pattern& in, std::uint8_t* to,
                          const Pattern& out, std::uint32_t bytes) {
  if (in.dense() && out.dense()) {
    std::memmove(to, from, out.total * bytes);
    return;
  }
  constexpr std::uint64_t kElements = 1024;
  const GatherBytes gather = gather_bytes(bytes);
  const ScatterBytes scatter = scatter_bytes(bytes);
  Cursor source(in), target(out);
  alignas(8) std::uint8_t values[8 * kElements];
  // Through a buffer unless one side is a row: then straight from or to it.
  for (std::uint64_t left = out.total; left != 0;) {
    if (source.contiguous() && source.row_left() >= 16) {
      const Cursor::Run row = source.next(left);
      const std::uint8_t* at = from + row.offset * static_cast<std::int64_t>(bytes);
      for (std::uint64_t rest = row.count; rest != 0;) {
        const Block b = target.block(rest);
        scatter(to, b, at);
        at += b.total() * bytes;
        rest -= b.total();
      }
      left -= row.count;
      continue;
    }
    const std::uint64_t n = left < kElements ? left : kElements;
    std::uint8_t* at = values;
    const bool direct = target.contiguous() && target.row_left() >= n;
    if (direct) at = to + target.offset() * static_cast<std::int64_t>(bytes);
    for (std::uint64_t rest = n; rest != 0;) {
      const Block b = source.block(rest);
      gather(from, b, at);
      at += b.total() * bytes;
      rest -= b.total();
    }
    if (direct) {
      target.next(n);
    } else {
      const std::uint8_t* value = values;
      for (std::uint64_t rest = n; rest != 0;) {
        const Block b = target.block(rest);
        scatter(to, b, value);
        value += b.total() * bytes;
        rest -= b.total();
      }
    }
    left -= n;
  }
}

}  // namespace opennrt::emu
