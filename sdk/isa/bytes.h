// SPDX-License-Identifier: Apache-2.0
//
// Little-endian access to record bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opennrt::isa {

inline std::uint64_t load_le(const std::uint8_t* p, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;) value = value << 8 | p[i];
  return value;
}

inline void store_le(std::uint8_t* p, std::size_t width, std::uint64_t value) {
  for (std::size_t i = 0; i < width; ++i, value >>= 8) p[i] = static_cast<std::uint8_t>(value);
}

inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr std::uint8_t kDefaultLength = 0x10;
inline constexpr std::uint8_t kPseudoExtension = 0xDA;  // its default length is 0

inline std::uint8_t default_length(std::uint8_t opcode) {
  return opcode == kPseudoExtension ? 0 : kDefaultLength;
}

}  // namespace opennrt::isa
