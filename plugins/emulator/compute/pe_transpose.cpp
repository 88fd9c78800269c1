// SPDX-License-Identifier: Apache-2.0
#include "compute/pe_transpose.h"

#include <array>
#include <cstring>

#include "compute/pe_rows.h"

namespace opennrt::emu {

namespace {

constexpr std::uint8_t kNoRow = 0xFF;

std::uint32_t one_of(std::uint32_t dtype) {
  switch (dtype) {
    case isa::kDtFloat8e3:
      return 0x30;
    case isa::kDtFloat8e4:
      return 0x38;
    case isa::kDtFloat8e5:
      return 0x3C;
    case isa::kDtBfloat16:
      return 0x3F80;
    case isa::kDtFloat16:
      return 0x3C00;
    default:
      return 0x3F800000;
  }
}

template <typename T>
bool select(PeArray& array, const PeTile& tile, const Operand& moving, std::uint8_t* rows,
            std::string* error) {
  const std::uint32_t n = static_cast<std::uint32_t>(moving.pattern.total);
  const T one = static_cast<T>(one_of(moving.dtype));
  const T magnitude = static_cast<T>(static_cast<T>(~T{0}) >> 1);
  std::memset(rows, kNoRow, n);
  for (std::uint32_t r = 0; r < tile.rows; ++r) {
    const T* row =
        reinterpret_cast<const T*>(gather_row(moving, moving.partition(r), array.scratch.raw_row));
    for (std::uint32_t j = 0; j < n; ++j) {
      if ((row[j] & magnitude) == 0) continue;
      if (row[j] != one || rows[j] != kNoRow) {
        *error = "transpose mode: element " + std::to_string(j) + " of row " + std::to_string(r) +
                 " of the moving matrix" +
                 (row[j] != one ? " is neither 0 nor 1" : " is the second 1 of its column") +
                 "; a permutation is needed";
        return false;
      }
      rows[j] = static_cast<std::uint8_t>(r);
    }
  }
  return true;
}

template <typename T>
void move(PeArray& array, const PeTile& tile, const Operand& out, const std::uint8_t* rows) {
  const std::uint32_t n = static_cast<std::uint32_t>(out.pattern.total);
  const std::uint8_t* matrix = reinterpret_cast<const std::uint8_t*>(array.stationary(tile));
  for (std::uint32_t c = 0; c < tile.columns; ++c) {
    const std::uint8_t* column = matrix + 4 * (c / kPeBlock * kPeBlockStride + c % kPeBlock);
    T* base = reinterpret_cast<T*>(out.partition(c));
    Cursor cursor(out.pattern);
    for (std::uint32_t j = 0; j < n;) {
      const Cursor::Run run = cursor.next(n - j);
      for (std::uint64_t i = 0; i < run.count; ++i, ++j) {
        std::uint32_t word = 0;
        if (rows[j] != kNoRow) std::memcpy(&word, column + 4 * kPeBlock * rows[j], 4);
        base[run.offset + static_cast<std::int64_t>(i) * run.step] = static_cast<T>(word);
      }
    }
  }
}

}  // namespace

std::uint32_t pass_through_bytes(std::uint32_t dtype) {
  return pe_element_bytes(dtype) == 4 ? 4 : 2;
}

bool pass_through(PeArray& array, const PeTile& tile, const Operand& moving,
                  const Operand& destination, std::string* error) {
  std::array<std::uint8_t, PeScratch::kMaxRow> rows;
  const bool selected =
      moving.element_bytes == 1   ? select<std::uint8_t>(array, tile, moving, rows.data(), error)
      : moving.element_bytes == 2 ? select<std::uint16_t>(array, tile, moving, rows.data(), error)
                                  : select<std::uint32_t>(array, tile, moving, rows.data(), error);
  if (!selected) return false;
  if (destination.element_bytes == 2)
    move<std::uint16_t>(array, tile, destination, rows.data());
  else
    move<std::uint32_t>(array, tile, destination, rows.data());
  return true;
}

}  // namespace opennrt::emu
