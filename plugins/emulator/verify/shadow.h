// SPDX-License-Identifier: Apache-2.0
//
// What was last done to each byte of the device's memories: who wrote it and
// who read it since. Kept per byte, but one entry serves 64 bytes as long as
// they were all treated alike.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

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
      if (n == kLine && !line.bytes) {
        f(line.all, address, n);
      } else {
        split(line);
        for (std::uint64_t i = 0; i < n; ++i) f((*line.bytes)[offset + i], address + i, 1);
        if (n == kLine) merge(line);
      }
      address += n;
      bytes -= n;
    }
  }

 private:
  static constexpr std::uint64_t kLine = 64, kPage = 4096;
  struct Line {
    ByteState all;  // while `bytes` is null
    std::unique_ptr<std::array<ByteState, kLine>> bytes;
  };
  struct Page {
    std::array<Line, kPage / kLine> lines;
  };

  Line& find(std::uintptr_t address) {
    const std::uintptr_t number = address / kPage;
    if (!page_ || number != number_) {
      std::unique_ptr<Page>& page = pages_[number];
      if (!page) page = std::make_unique<Page>();
      page_ = page.get();
      number_ = number;
    }
    return page_->lines[address % kPage / kLine];
  }
  static void split(Line& line) {
    if (line.bytes) return;
    line.bytes = std::make_unique<std::array<ByteState, kLine>>();
    line.bytes->fill(line.all);
  }
  static void merge(Line& line) {
    for (const ByteState& b : *line.bytes)
      if (!(b == line.bytes->front())) return;
    line.all = line.bytes->front();
    line.bytes.reset();
  }

  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
  Page* page_ = nullptr;
  std::uintptr_t number_ = 0;
};

}  // namespace opennrt::emu
