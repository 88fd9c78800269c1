// SPDX-License-Identifier: Apache-2.0
#include "compute/pe_transpose.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

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

constexpr std::uint32_t kZeros = 32;

// Whether kZeros elements are 0 or -0.
template <typename T>
bool zeros(const T* row, T magnitude) {
#if defined(__x86_64__)
  constexpr std::uint32_t kVectors = kZeros * sizeof(T) / 16;
  const auto* in = reinterpret_cast<const __m128i*>(row);
  __m128i any = _mm_loadu_si128(in);
  for (std::uint32_t i = 1; i < kVectors; ++i) any = _mm_or_si128(any, _mm_loadu_si128(in + i));
  T mask[16 / sizeof(T)];
  for (T& m : mask) m = magnitude;
  any = _mm_and_si128(any, _mm_loadu_si128(reinterpret_cast<const __m128i*>(mask)));
  return _mm_movemask_epi8(_mm_cmpeq_epi8(any, _mm_setzero_si128())) == 0xFFFF;
#else
  T any = 0;
  for (std::uint32_t i = 0; i < kZeros; ++i) any = static_cast<T>(any | row[i]);
  return (any & magnitude) == 0;
#endif
}

template <typename T>
bool select(PeArray& array, const PeTile& tile, const Operand& moving, std::uint8_t* rows,
            std::string* error) {
  const std::uint32_t n = static_cast<std::uint32_t>(moving.pattern.total);
  const T one = static_cast<T>(one_of(moving.dtype));
  const T magnitude = static_cast<T>(static_cast<T>(~T{0}) >> 1);
  std::memset(rows, kNoRow, n);
  for (std::uint32_t r = 0; r < tile.rows; ++r) {
    if (r + kRowsAhead < tile.rows) prefetch_row(moving, r + kRowsAhead);
    const T* row =
        reinterpret_cast<const T*>(gather_row(moving, moving.partition(r), array.scratch.raw_row));
    for (std::uint32_t j = 0; j < n; ++j) {
      // A permutation is nearly all zeros.
      if (j % kZeros == 0)
        while (j + kZeros <= n && zeros(row + j, magnitude)) j += kZeros;
      if (j >= n) break;
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

// Words from[i][0..7] as eight columns: to[c][i] becomes word c of row i.
inline void transpose_words(const std::uint8_t* const (&from)[8], std::uint8_t* const (&to)[8]) {
#if defined(__x86_64__)
  const auto load = [&](int i, int half) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from[i] + 16 * half));
  };
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < 8; i += 4) {
      const __m128i a = load(i, half), b = load(i + 1, half);
      const __m128i c = load(i + 2, half), d = load(i + 3, half);
      const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
      const __m128i ab2 = _mm_unpackhi_epi32(a, b), cd2 = _mm_unpackhi_epi32(c, d);
      const __m128i columns[4] = {_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd),
                                  _mm_unpacklo_epi64(ab2, cd2), _mm_unpackhi_epi64(ab2, cd2)};
      for (int k = 0; k < 4; ++k)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to[4 * half + k] + 4 * i), columns[k]);
    }
#else
  for (int i = 0; i < 8; ++i)
    for (int c = 0; c < 8; ++c) std::memcpy(to[c] + 4 * i, from[i] + 4 * c, 4);
#endif
}

// Whole 8 x 8 blocks of a destination without gaps.
template <typename T>
void move_blocks(const std::uint8_t* block, const std::uint8_t* rows, std::uint32_t n,
                 const Operand& out, std::uint32_t c) {
  static constexpr std::uint8_t kZero[32] = {};
  alignas(16) std::uint32_t words[8][8];
  std::uint8_t* to[8];
  for (std::uint32_t k = 0; k < 8; ++k)
    to[k] = sizeof(T) == 4 ? out.partition(c + k) : reinterpret_cast<std::uint8_t*>(words[k]);
  for (std::uint32_t j = 0; j + 8 <= n; j += 8) {
    const std::uint8_t* from[8];
    for (std::uint32_t i = 0; i < 8; ++i)
      from[i] = rows[j + i] == kNoRow ? kZero : block + 4 * kPeBlock * rows[j + i];
    transpose_words(from, to);
    for (std::uint32_t k = 0; k < 8; ++k) {
      if constexpr (sizeof(T) == 4) {
        to[k] += 32;
      } else {
        T narrow[8];
        for (int i = 0; i < 8; ++i) narrow[i] = static_cast<T>(words[k][i]);
        std::memcpy(out.partition(c + k) + j * sizeof(T), narrow, sizeof narrow);
      }
    }
  }
}

template <typename T>
void move(PeArray& array, const PeTile& tile, const Operand& out, const std::uint8_t* rows) {
  const std::uint32_t n = static_cast<std::uint32_t>(out.pattern.total);
  const std::uint8_t* matrix = reinterpret_cast<const std::uint8_t*>(array.stationary(tile));
  static_assert(kPeBlock == 8);
  for (std::uint32_t c = 0; c < tile.columns; ++c) {
    const std::uint8_t* column = matrix + 4 * (c / kPeBlock * kPeBlockStride + c % kPeBlock);
    if (c % kPeBlock == 0 && c + kPeBlock <= tile.columns && n % 8 == 0 && out.pattern.dense()) {
      move_blocks<T>(column, rows, n, out, c);
      c += kPeBlock - 1;
      continue;
    }
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
