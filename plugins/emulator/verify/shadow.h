// SPDX-License-Identifier: Apache-2.0
//
// What was last done to each byte of the device's memories: who wrote it and
// who read it since. Kept in pieces of bytes that were treated alike, within
// lines of 64 bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "verify/clocks.h"

namespace opennrt::emu {

struct ByteState {
  Moment write;     // zero: never written
  Moment reads[2];  // since then, by different actors; more are forgotten
  bool operator==(const ByteState&) const = default;
};

// Addresses are host addresses of the memory that backs the device.
class Shadow {
 public:
  // Calls f(ByteState&, address, bytes) for the pieces of a range, each in one
  // state, in ascending order; f may change the state.
  template <typename F>
  void each(std::uintptr_t address, std::uint64_t bytes, F f) {
    while (bytes != 0) {
      Line& line = find(address);
      const std::uint64_t offset = address % kLine;
      const std::uint64_t n = std::min<std::uint64_t>(bytes, kLine - offset);
      if (n == kLine && !line.pieces)
        f(line.all, address, n);
      else
        each_piece(line, address - offset, offset, offset + n, f);
      address += n;
      bytes -= n;
    }
  }

 private:
  static constexpr std::uint64_t kLine = 64, kPage = 4096;
  struct Piece {
    std::uint64_t first = 0;  // up to the first of the next piece
    ByteState state;
  };
  struct Line {
    ByteState all;  // while `pieces` is null
    std::unique_ptr<std::vector<Piece>> pieces;
  };
  struct Page {
    std::array<Line, kPage / kLine> lines;
  };

  Line& find(std::uintptr_t address) {
    const std::uintptr_t number = address / kPage;
    // Operands lie on up to 128 partitions, which are far apart.
    Recent& recent = recent_[(number ^ number >> 6) % recent_.size()];
    if (recent.page == nullptr || recent.number != number) {
      std::unique_ptr<Page>& page = pages_[number];
      if (!page) page = std::make_unique<Page>();
      recent = {number, page.get()};
    }
    return recent.page->lines[address % kPage / kLine];
  }
  // A piece begins at `at`.
  static void cut(std::vector<Piece>& pieces, std::uint64_t at) {
    auto after = pieces.begin();
    while (after != pieces.end() && after->first <= at) ++after;
    const Piece& holds = *(after - 1);
    if (holds.first != at && at != kLine) pieces.insert(after, {at, ByteState(holds.state)});
  }

  template <typename F>
  static void each_piece(Line& line, std::uintptr_t base, std::uint64_t from, std::uint64_t to,
                         F& f) {
    if (!line.pieces) {
      line.pieces = std::make_unique<std::vector<Piece>>();
      line.pieces->reserve(4);
      line.pieces->push_back({0, line.all});
    }
    std::vector<Piece>& pieces = *line.pieces;
    cut(pieces, from);
    cut(pieces, to);
    for (std::size_t i = 0; i < pieces.size() && pieces[i].first < to; ++i) {
      if (pieces[i].first < from) continue;
      const std::uint64_t end = i + 1 < pieces.size() ? pieces[i + 1].first : kLine;
      f(pieces[i].state, base + pieces[i].first, end - pieces[i].first);
    }
    const auto same = [](const Piece& a, const Piece& b) { return a.state == b.state; };
    pieces.erase(std::unique(pieces.begin(), pieces.end(), same), pieces.end());
    if (pieces.size() == 1) {
      line.all = pieces.front().state;
      line.pieces.reset();
    }
  }

  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
  struct Recent {
    std::uintptr_t number = 0;
    Page* page = nullptr;
  };
  std::array<Recent, 1024> recent_{};
};

}  // namespace opennrt::emu
