// SPDX-License-Identifier: Apache-2.0
//
// Table of a variable all-to-all: how much goes to and comes from every rank.
// Four rows of u32 in host memory, one entry per rank, in elements: counts to
// send, where they start in the send buffer, counts received, where they go in
// the receive buffer. Only this runtime writes and reads it; a collectives
// library asks through functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace opennrt::collectives {

class DynamicTable {
 public:
  enum class Row : std::uint32_t { kSendCount, kSendOffset, kRecvCount, kRecvOffset };
  static constexpr std::size_t kRows = 4;

  // Memory too small for four rows of `ranks` holds nothing.
  DynamicTable(std::span<std::byte> memory, std::int64_t ranks);

  // In bytes; 0 for a rank outside the table.
  std::size_t bytes(Row row, std::int64_t rank, std::size_t element) const;
  // Whole elements of `bytes`, as much as an entry can hold.
  void set_bytes(Row row, std::int64_t rank, std::size_t element, std::size_t bytes);

 private:
  std::byte* entry(Row row, std::int64_t rank) const;

  std::byte* memory_ = nullptr;
  std::uint64_t ranks_ = 0;
};

}  // namespace opennrt::collectives
