// SPDX-License-Identifier: Apache-2.0
//
// The PE array of a core: the stationary matrices that LDWEIGHTS left in it.
// The array is 4 x 4 cells of 32 rows and 32 columns; a load takes a rectangle
// of cells, so that up to 16 small matrices stay side by side.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "compute/engine_state.h"
#include "compute/pe_kernels.h"
#include "compute/psum_groups.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

inline constexpr std::uint32_t kPeRows = 128, kPeColumns = 128;
inline constexpr std::uint32_t kPeCell = 32;
// Floats between two blocks of the stationary matrix. The extra line keeps the
// same row of different blocks in different cache sets.
inline constexpr std::uint32_t kPeBlockStride = kPeRows * kPeBlock + 16;

// Where in the array a record works. Equal for a load and its products.
struct PeTile {
  std::uint8_t rows = 0, columns = 0;            // in use
  std::uint8_t first_row = 0, first_column = 0;  // multiples of 32
  std::uint8_t row_cells = 0, column_cells = 0;  // 1, 2 or 4
  bool operator==(const PeTile&) const = default;
};

// What one LDWEIGHTS loaded.
struct PeLoad {
  PeTile tile;
  std::uint8_t dtype = 0;
  std::uint8_t fp32_mode = 0;
  bool pass_through = false;  // raw bits for transposes instead of numbers
  bool valid = false;
  // The matrix holds full FP32 values although the mode says HIGH: the LOW
  // product of the pair was left out. See pe_pair.h.
  bool full = false;
  bool mx = false;  // microscaled: four numbers for each element
};

// A microscaled stationary matrix: four rows for each row of the array, in the
// layout of the ordinary one.
struct PeMxMatrix {
  static constexpr std::uint32_t kRows = 4 * kPeRows;
  static constexpr std::uint32_t kBlockStride = kRows * kPeBlock + 16;
  alignas(64) float values[kPeColumns / kPeBlock * kBlockStride];
};

// What sparse products need besides the stationary matrix.
struct PeSparse {
  static constexpr std::uint32_t kValues = 4;     // per partition and column of the moving matrix
  static constexpr std::uint32_t kColumns = 512;  // widened at a time

  std::uint8_t tag[kPeRows][kPeColumns] = {};
  std::uint8_t tagged[kPeRows] = {};  // columns from 0 that have a tag
  alignas(64) float moving[kPeRows][kValues][kColumns];
};

// Seeds of stochastic rounding in PSUM.
struct PeSeeds {
  static constexpr std::uint32_t kPartitions = 128, kSets = 16;
  std::uint32_t value[kPartitions][kSets] = {};
};

// Working memory of a thread that loads or multiplies.
struct PeScratch {
  // Columns of the moving matrix widened at a time: a multiple of every
  // kernel's panel width, and more than the 512 of one PSUM bank.
  static constexpr std::uint32_t kMoving = 528;
  static constexpr std::uint32_t kMaxRow = 8192;  // elements

  // Panels of the moving matrix, with an extra line for the same reason.
  static constexpr std::uint64_t panel_stride(std::uint32_t width) { return kPeRows * width + 16; }
  alignas(64) float moving[kPeRows * kMoving + kMoving / kPeMinWidth * 16] = {};

  // Products of kPeBlock columns of the stationary matrix.
  alignas(64) float products[kPeBlock * kMoving];

  // One row of a matrix, raw and in FP32.
  alignas(64) std::uint8_t raw_row[kMaxRow * 4 + 64];
  alignas(64) float row[kMaxRow];
};

class PeArray final : public FamilyState {
 public:
  // Registers a load; loads whose cells it covers are gone.
  PeLoad& load(const PeTile& tile) {
    const std::uint8_t id = cell(tile.first_row, tile.first_column);
    for (std::uint32_t r = 0; r < tile.row_cells; ++r)
      for (std::uint32_t c = 0; c < tile.column_cells; ++c) {
        std::uint8_t& owner = owner_[tile.first_row / kPeCell + r][tile.first_column / kPeCell + c];
        if (owner != kNobody) loads_[owner].valid = false;
        owner = id;
      }
    loads_[id] = {.tile = tile, .valid = true};
    return loads_[id];
  }

  // The load that a product on `tile` uses; nullptr: none, *error says so.
  PeLoad* find(const PeTile& tile, std::string* error);

  // Address of row 0, column 0 of a tile: blocks of 8 columns, in each a row of
  // 8 values for every row of the array.
  float* stationary(const PeTile& tile) {
    return matrix_ + tile.first_column / kPeBlock * kPeBlockStride + tile.first_row * kPeBlock;
  }

  // Where the next stationary matrix probably lies: as far from the last as that
  // from the one before. Products ask the cache for it while they compute.
  struct Ahead {
    std::uintptr_t first = 0;  // byte of row 0; 0: not known
    std::uint64_t stride = 0, bytes = 0;
    std::uint32_t rows = 0;
    void ask_for_row(std::uint32_t r) const {
      constexpr std::uint64_t kLine = 64;
      const std::uintptr_t row = first + r * stride;
      for (std::uintptr_t at = row & ~(kLine - 1); at < row + bytes; at += kLine)
        __builtin_prefetch(reinterpret_cast<const void*>(at), 0, 2);
    }
  };
  void loaded_from(std::uintptr_t first, std::uint64_t stride, std::uint64_t bytes,
                   std::uint32_t rows) {
    const std::uintptr_t next = last_load_ != 0 ? first + (first - last_load_) : 0;
    ahead = {next, stride, bytes, rows};
    last_load_ = first;
  }
  Ahead ahead;

  // Reduces a matrix of FP32 numbers to their HIGH parts.
  void keep_high(const PeTile& tile);

  // Made by the first microscaled load.
  std::unique_ptr<PeMxMatrix> mx;
  // By the first record that needs them.
  std::unique_ptr<PeSparse> sparse;
  std::unique_ptr<PeSeeds> seeds;

  // Of the engine's own thread.
  PeScratch scratch;

  // What the elements of PSUM start from.
  PsumGroups groups;

  // Address of the first record of a LOW, HIGH pair under way (pe_pair.h), 0:
  // none.
  std::uint64_t pair = 0;

 private:
  static constexpr std::uint8_t kNobody = 0xFF;
  static std::uint8_t cell(std::uint32_t row, std::uint32_t column) {
    return static_cast<std::uint8_t>(row / kPeCell * 4 + column / kPeCell);
  }

  std::uintptr_t last_load_ = 0;
  alignas(64) float matrix_[kPeColumns / kPeBlock * kPeBlockStride] = {};
  std::array<PeLoad, 16> loads_{};
  std::array<std::array<std::uint8_t, 4>, 4> owner_ = {{{kNobody, kNobody, kNobody, kNobody},
                                                        {kNobody, kNobody, kNobody, kNobody},
                                                        {kNobody, kNobody, kNobody, kNobody},
                                                        {kNobody, kNobody, kNobody, kNobody}}};
};

}  // namespace opennrt::emu
