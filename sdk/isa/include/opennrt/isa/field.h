// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing the fields of a 64-byte record; the positions are in the
// generated header layouts.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace opennrt::isa {

// `Count` little-endian elements at a byte offset of a record.
template <typename T, std::size_t Offset, std::size_t Count>
struct FieldAt {
  using Type = T;
  static constexpr std::size_t kOffset = Offset;
  static constexpr std::size_t kCount = Count;

  T operator()(const std::uint8_t* record, std::size_t i = 0) const {
    T value;
    std::memcpy(&value, record + Offset + i * sizeof(T), sizeof(T));
    return value;
  }
  void set(std::uint8_t* record, T value, std::size_t i = 0) const {
    std::memcpy(record + Offset + i * sizeof(T), &value, sizeof(T));
  }
};

// An access pattern or other composite at a byte offset of a record.
template <std::size_t Offset>
struct PartAt {
  static constexpr std::size_t kOffset = Offset;
  const std::uint8_t* operator()(const std::uint8_t* record) const { return record + Offset; }
  std::uint8_t* operator()(std::uint8_t* record) const { return record + Offset; }
};

}  // namespace opennrt::isa
