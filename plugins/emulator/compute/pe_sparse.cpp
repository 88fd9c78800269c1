// SPDX-License-Identifier: Apache-2.0
//
// LDTAGS and MATMUL_SPARSE: a compressed stationary matrix. The moving matrix
// sends 2, 3 or 4 values per partition and column (its 4th dimension); the tag
// of an array cell tells which of them the cell takes:
//
//   destination[c][n] (+)= sum over r of
//       stationary[r][c] * moving[r mod 32 + 32 * (tag / 4)][n][tag mod 4]
//
// so that the four rows r, r + 32, r + 64, r + 96 share up to 16 values. Tags
// come four to a 16-bit word and, like the weights, from the highest column
// down: the low four bits of the first word are those of the last column (public
// analyses of the instruction headers and of the compiler's compressed format).
#include <algorithm>
#include <cstring>

#include "compute/families.h"
#include "compute/float_environment.h"
#include "compute/pe_array.h"
#include "compute/pe_fields.h"
#include "compute/pe_product.h"
#include "compute/pe_rows.h"
#include "device/bus.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

constexpr std::uint32_t kTagsPerWord = 4, kTagBits = 4;
constexpr std::uint32_t kMaxValues = PeSparse::kValues;
constexpr std::uint32_t kChunk = PeSparse::kColumns;

PeSparse& sparse_state(PeArray& array) {
  if (!array.sparse) array.sparse = std::make_unique<PeSparse>();
  return *array.sparse;
}

class LoadTags final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace T = isa::layout::S3_LT;
    auto plan = std::make_unique<LoadTags>();
    const std::uint32_t dtype = T::dtype(record), rows = T::num_active_rows(record);
    if (!pe_reserved(record, 12, 4, error) || !pe_reserved(record, 34, 4, error) ||
        !pe_reserved(record, 39, 5, error) || !pe_reserved(record, 46, 18, error))
      return nullptr;
    if (dtype != isa::kDtUint16 && dtype != isa::kDtInt16) {
      *error = "tags have data type " + std::to_string(dtype) + ", not INT16 (4) or UINT16 (5)";
      return nullptr;
    }
    if (T::col_grp(record) != 15) {
      *error = "column group code " + std::to_string(T::col_grp(record)) +
               ", sparse matrices use all columns (15)";
      return nullptr;
    }
    if (!pe_tile(rows, 1, T::row_grp(record), 15, &plan->tile_, error) ||
        !high_bits(plan->tile_, T::col_grp_code(record), &plan->high_bits_, error) ||
        !source(context, T::src(record), plan->tile_, &plan->source_, error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string*) const override {
    PeArray& array = state.family<PeArray>(Family::kPe);
    PeSparse& sparse = sparse_state(array);
    array.pair = 0;
    const auto words = static_cast<std::uint32_t>(source_.pattern.total);
    const std::uint32_t columns = words * kTagsPerWord;
    for (std::uint32_t r = 0; r < tile_.rows; ++r) {
      const std::uint8_t* raw = gather_row(source_, source_.partition(r), array.scratch.raw_row);
      std::uint8_t* to = sparse.tag[tile_.first_row + r];
      for (std::uint32_t i = 0; i < words; ++i) {
        std::uint16_t word;
        std::memcpy(&word, raw + 2 * i, 2);
        for (std::uint32_t k = 0; k < kTagsPerWord; ++k)
          to[columns - 1 - (i * kTagsPerWord + k)] =
              static_cast<std::uint8_t>((word >> k * kTagBits & 0xF) | high_bits_);
      }
      sparse.tagged[tile_.first_row + r] = static_cast<std::uint8_t>(columns);
    }
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("tags", source_, tile_.rows, Access::kRead);
  }

 private:
  // Tags of a part of the rows count from the first value of the part; the
  // record adds the rest.
  static bool high_bits(const PeTile& tile, std::uint32_t code, std::uint8_t* out,
                        std::string* error) {
    const std::uint32_t want = tile.first_row / kPeCell * kMaxValues;
    *out = static_cast<std::uint8_t>(want);
    if (code == want) return true;
    *error = "high tag bits " + std::to_string(code) + ", rows from " +
             std::to_string(tile.first_row) + " have " + std::to_string(want);
    return false;
  }

  static bool source(const PlanContext& context, const std::uint8_t* pattern, const PeTile& tile,
                     Operand* out, std::string* error) {
    const nrtp_arch_geometry& g = context.map.geometry();
    const OperandFields f = tensor3d("tags", pattern, isa::kDtUint16);
    if (!resolve_operand(context, f, tile.rows, out, error)) return false;
    if (f.address >= g.psum_local_base) {
      *error = "tags at " + hex(f.address) + " are in PSUM, the PE array reads SBUF";
      return false;
    }
    if (out->pattern.total * kTagsPerWord > kPeColumns) {
      *error = std::to_string(out->pattern.total) + " words of tags per row, the limit is " +
               std::to_string(kPeColumns / kTagsPerWord);
      return false;
    }
    const std::uint64_t first = f.address / g.sbuf_partition_stride;
    if (first == tile.first_row) return true;
    *error = "tags start at partition " + std::to_string(first) + ", their row group at " +
             std::to_string(tile.first_row);
    return false;
  }

  PeTile tile_;
  Operand source_;
  std::uint8_t high_bits_ = 0;
};

class MatmulSparse final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace M = isa::layout::S4D3_MM;
    auto plan = std::make_unique<MatmulSparse>();
    // The flags stand where MATMUL has its accumulate flags; the LOW pass of FP32
    // begins a group there, the HIGH pass ends it.
    const std::uint32_t flags = M::pass_flags(record), dtype = M::in_dtype(record);
    const std::uint32_t mode = M::fp32_mode(record);
    if (!pe_reserved(record, 34, 4, error) || !pe_reserved(record, 40, 3, error) ||
        !pe_reserved(record, 46, 2, error))
      return nullptr;
    if (flags > isa::code::psum_accumulate::SINGLE) {
      *error = "pass flags " + std::to_string(flags) + " are not one of 0 to 3";
      return nullptr;
    }
    if (M::col_grp(record) != 15) {
      *error = "column group code " + std::to_string(M::col_grp(record)) +
               ", sparse matrices use all columns (15)";
      return nullptr;
    }
    if (!pe_tile(M::num_active_rows(record), M::num_active_cols(record), M::row_grp(record), 15,
                 &plan->tile_, error) ||
        !pe_fp32_mode(dtype, mode, error) || !plan->source(context, M::src(record), dtype, error) ||
        !pe_destination(context, M::dst(record), isa::kDtFloat32, plan->tile_,
                        isa::code::psum_zero_region::SIZE2048, &plan->out_, &plan->place_, error))
      return nullptr;
    const std::uint64_t n = plan->row_.pattern.total;
    const std::uint64_t limit = context.generation == isa::Generation::kMariana ? 4096 : 512;
    if (n != plan->out_.pattern.total || n > limit) {
      *error = "moving matrix has " + std::to_string(n) + " columns, the destination " +
               std::to_string(plan->out_.pattern.total) + ", the limit is " + std::to_string(limit);
      return nullptr;
    }
    plan->flags_ = flags;
    plan->packer_ = row_packer(pe_kernels(), dtype,
                               mode == isa::code::fp32_mode::LOW    ? Fp32Part::kLow
                               : mode == isa::code::fp32_mode::HIGH ? Fp32Part::kHigh
                                                                    : Fp32Part::kAll);
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    PeArray& array = state.family<PeArray>(Family::kPe);
    PeLoad* load = array.find(tile_, error);
    if (!load || !compatible(*load, error)) return false;
    PeSparse& sparse = sparse_state(array);
    if (!check_tags(sparse, error)) return false;
    if (load->full) {
      array.keep_high(tile_);
      load->full = false;
    }
    array.pair = 0;
    array.groups.begin(flags_, out_, place_);
    const bool replaces = array.groups.take(out_, place_);
    const FloatEnvironment environment;
    const auto n = static_cast<std::uint32_t>(row_.pattern.total);
    for (std::uint32_t first = 0; first < n; first += kChunk)
      multiply(array, sparse, first, std::min(kChunk, n - first), !replaces);
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    visitor.visit("moving matrix", moving_, tile_.rows, Access::kRead);
    state.family<PeArray>(Family::kPe).groups.visit(flags_, out_, place_, visitor);
  }

 private:
  bool source(const PlanContext& context, const std::uint8_t* pattern, std::uint32_t dtype,
              std::string* error) {
    const nrtp_arch_geometry& g = context.map.geometry();
    const std::uint32_t bytes = pe_element_bytes(dtype);
    if (bytes == 0) {
      *error = "moving matrix: data type " + std::to_string(dtype) +
               " is no input of the PE array (FP8, BF16, FP16, FP32, FP32R)";
      return false;
    }
    // The type only sets the element size here.
    const std::uint32_t raw = bytes == 1   ? isa::kDtUint8
                              : bytes == 2 ? isa::kDtUint16
                                           : isa::kDtUint32;
    OperandFields f = tensor4d("moving matrix", pattern, raw);
    if (f.count[3] < 2 || f.count[3] > kMaxValues) {
      *error = "moving matrix sends " + std::to_string(f.count[3]) +
               " values per column (its 4th dimension), 2 to 4 are possible";
      return false;
    }
    if (!resolve_operand(context, f, tile_.rows, &moving_, error)) return false;
    if (f.address >= g.psum_local_base) {
      *error = "moving matrix at " + hex(f.address) + " is in PSUM, the PE array reads SBUF";
      return false;
    }
    const std::uint64_t first = f.address / g.sbuf_partition_stride;
    if (first != tile_.first_row) {
      *error = "moving matrix starts at partition " + std::to_string(first) +
               ", its row group at " + std::to_string(tile_.first_row);
      return false;
    }
    values_ = f.count[3];
    value_step_ = std::int64_t{f.step[3]} * bytes;
    f.dims = 3;
    if (!resolve_operand(context, f, tile_.rows, &row_, error)) return false;
    moving_.dtype = row_.dtype = dtype;
    return true;
  }

  bool compatible(const PeLoad& load, std::string* error) const {
    if (load.mx || load.pass_through) {
      *error = std::string("the stationary matrix is ") +
               (load.mx ? "microscaled" : "the data of a transpose") + ", the product is sparse";
      return false;
    }
    const bool whole_types = load.dtype == isa::kDtFloat32 || load.dtype == isa::kDtFloat32r ||
                             row_.dtype == isa::kDtFloat32 || row_.dtype == isa::kDtFloat32r;
    if (!whole_types || load.dtype == row_.dtype) return true;
    *error = "stationary data type " + std::to_string(load.dtype) + ", moving " +
             std::to_string(row_.dtype) + ": FP32 and FP32R do not mix with other types";
    return false;
  }

  // Partition, relative to the tile, of the value that a tag of row r names.
  std::uint32_t partition(std::uint32_t r, std::uint32_t tag) const {
    return r % kPeCell + tag / kMaxValues * kPeCell - tile_.first_row;
  }

  // Values that the moving matrix does not send are unpredictable: refused.
  bool check_tags(const PeSparse& sparse, std::string* error) const {
    for (std::uint32_t r = 0; r < tile_.rows; ++r) {
      const std::uint32_t row = tile_.first_row + r;
      if (sparse.tagged[row] < tile_.columns) {
        *error = "row " + std::to_string(row) + " has tags for " +
                 std::to_string(sparse.tagged[row]) + " columns, the product uses " +
                 std::to_string(tile_.columns);
        return false;
      }
      for (std::uint32_t c = 0; c < tile_.columns; ++c) {
        const std::uint32_t tag = sparse.tag[row][c];
        // A partition below the tile wraps to a large number.
        if (tag % kMaxValues < values_ && partition(r, tag) < tile_.rows) continue;
        *error = "tag " + std::to_string(tag) + " of row " + std::to_string(row) + ", column " +
                 std::to_string(c) + " names a value that is not sent: " + std::to_string(values_) +
                 " per partition of " + std::to_string(tile_.rows) + " rows from " +
                 std::to_string(tile_.first_row);
        return false;
      }
    }
    return true;
  }

  void multiply(PeArray& array, PeSparse& sparse, std::uint32_t first, std::uint32_t n,
                bool add) const {
    for (std::uint32_t r = 0; r < tile_.rows; ++r)
      for (std::uint32_t w = 0; w < values_; ++w) {
        const std::uint8_t* raw =
            gather_row(row_, row_.partition(r) + w * value_step_, array.scratch.raw_row);
        packer_.pack(raw + first * row_.element_bytes, n, array.scratch.row, sparse.moving[r][w],
                     kChunk, 0);
      }
    const float* weights = array.stationary(tile_);
    float* sum = array.scratch.products;
    for (std::uint32_t c = 0; c < tile_.columns; ++c) {
      std::fill_n(sum, n, 0.0f);
      for (std::uint32_t r = 0; r < tile_.rows; ++r) {
        const std::uint32_t tag = sparse.tag[tile_.first_row + r][c];
        const float w = weights[c / kPeBlock * kPeBlockStride + r * kPeBlock + c % kPeBlock];
        const float* x = sparse.moving[partition(r, tag)][tag % kMaxValues];
        for (std::uint32_t i = 0; i < n; ++i) sum[i] += w * x[i];
      }
      put_products(out_, out_.partition(c), sum, first, n, add);
    }
  }

  PeTile tile_;
  Operand moving_, row_, out_;  // row_: the moving matrix without its 4th dimension
  std::uint32_t values_ = 0;
  std::int64_t value_step_ = 0;  // bytes
  PsumPlace place_;
  std::uint32_t flags_ = 0;
  RowPacker packer_;
};

}  // namespace

std::span<const PlanEntry> pe_sparse_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::LDTAGS, LoadTags::make},
                                         {isa::op::MATMUL_SPARSE, MatmulSparse::make}};
  return kPlans;
}

}  // namespace opennrt::emu
