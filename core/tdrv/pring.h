// SPDX-License-Identifier: Apache-2.0
//
// Rings as they lie in device memory ("prings"): several linear rings of one
// purpose share a piece of memory, each at a 4 KiB boundary. Model rings run
// from index 0 after a queue reset, so every descriptor carries ring id 1.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tdrv/descriptors.h"

namespace opennrt::tdrv {

class RingImage {
 public:
  static constexpr std::uint64_t kBoundary = 4096;

  // Entries allocated for a linear ring of n descriptors: slack for the
  // hardware's prefetch stays zero, which no ring id matches.
  static std::uint64_t entries(std::uint64_t n) { return n < 32 ? 64 : (n + 16 + 15) / 16 * 16; }

  // Appends a ring; returns its byte offset.
  std::uint64_t add(std::span<const DmaDescriptor> descriptors) {
    const std::uint64_t offset = (bytes_.size() + kBoundary - 1) / kBoundary * kBoundary;
    bytes_.resize(offset + entries(descriptors.size()) * sizeof(DmaDescriptor));
    std::uint64_t at = offset;
    for (const DmaDescriptor& d : descriptors) {
      const DmaDescriptor placed = with_ring_id(d, 1);
      std::memcpy(bytes_.data() + at, &placed, sizeof(placed));
      at += sizeof(placed);
    }
    return offset;
  }

  bool empty() const { return bytes_.empty(); }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace opennrt::tdrv
