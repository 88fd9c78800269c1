// SPDX-License-Identifier: Apache-2.0
//
// LDWEIGHTS_MX and MATMUL_MX (mariana): microscaled matrices. An element is a
// container of four FP8 (32 bits) or FP4 (16 bits) numbers, which are four
// neighbours along the contraction; a group of 8 partitions x 4 numbers shares an
// E8M0 scale. The four scale rows of a quadrant of 32 partitions lie on its first
// four partitions (Trainium3 architecture guide).
//
// How a record names other scale partitions and a backward walk is not known;
// those fields are executed with the value 0 only.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "compute/families.h"
#include "compute/float_environment.h"
#include "compute/pe_array.h"
#include "compute/pe_fields.h"
#include "compute/pe_float8.h"
#include "compute/pe_product.h"
#include "device/bus.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

constexpr std::uint32_t kFp4 = 16;
constexpr std::uint32_t kQuadrant = 32, kGroupRows = 8;
constexpr std::uint32_t kMaxMoving = 512;
constexpr std::uint32_t kSource = isa::layout::SMX1_LW::src.kOffset;  // of both records
static_assert(kSource == isa::layout::SMX1D3_MM::src.kOffset);
// Panels are as deep as a microscaled matrix: one at a time fits the scratch.
static_assert(PeMxMatrix::kRows * 48 <= kPeRows * PeScratch::kMoving);

// MXMEM1D: containers and their scales.
struct MxSource {
  Operand data;    // elements are containers
  Operand scales;  // one byte for each container of a group of partitions
  std::uint32_t dtype = 0;

  // The four numbers of n containers of row r from container `first` on: the
  // j-th of container i goes to out[j][i].
  void widen(std::uint32_t r, std::uint32_t first, std::uint32_t n,
             float (*out)[kMaxMoving]) const {
    const std::uint8_t* raw = data.partition(r) + first * data.element_bytes;
    const std::uint8_t* scale =
        scales.partition(r / kQuadrant * kQuadrant + r % kQuadrant / kGroupRows) + first;
    const float* table = dtype == kFp4 ? float4_table() : float8_table(dtype, true);
    for (std::uint32_t i = 0; i < n; ++i) {
      const float factor = e8m0(scale[i]);
      for (std::uint32_t j = 0; j < 4; ++j) {
        const std::uint8_t code =
            dtype == kFp4 ? raw[2 * i + j / 2] >> 4 * (j % 2) & 0xF : raw[4 * i + j];
        out[j][i] = table[code] * factor;
      }
    }
  }

 private:
  static float e8m0(std::uint8_t v) {
    if (v == 0xFF) return std::numeric_limits<float>::quiet_NaN();
    return std::bit_cast<float>(v == 0 ? 0x00400000u : std::uint32_t{v} << 23);
  }
};

bool resolve(const PlanContext& context, const char* name, const std::uint8_t* pattern,
             std::uint32_t dtype, const PeTile& tile, MxSource* out, std::string* error) {
  if (dtype != isa::kDtFloat8e4 && dtype != isa::kDtFloat8e5 && dtype != kFp4) {
    *error = std::string(name) + ": data type " + std::to_string(dtype) +
             " is not microscaled (14, 15, 16)";
    return false;
  }
  std::uint32_t data_address, scale_address;
  std::uint16_t count;
  std::memcpy(&data_address, pattern, 4);
  std::memcpy(&scale_address, pattern + 4, 4);
  std::memcpy(&count, pattern + 8, 2);
  if (!pe_zero("step sign", pattern[10], error) ||
      !pe_zero("scale partition", pattern[11], error) ||
      !pe_reserved(pattern - kSource, kSource + 12, 4, error))
    return false;
  const auto view = [&](const char* what, std::uint32_t address, std::uint32_t raw, Operand* o) {
    std::uint8_t t[16] = {};
    const std::int16_t step = 1;
    const std::uint16_t one = 1;
    std::memcpy(t, &address, 4);
    std::memcpy(t + 4, &step, 2);
    std::memcpy(t + 10, &count, 2);
    std::memcpy(t + 12, &one, 2);
    std::memcpy(t + 14, &one, 2);
    const OperandFields f = tensor3d(what, t, raw);
    if (!resolve_operand(context, f, tile.rows, o, error)) return false;
    const nrtp_arch_geometry& g = context.map.geometry();
    if (address >= g.psum_local_base) {
      *error = std::string(what) + " at " + hex(address) + " is in PSUM, the PE array reads SBUF";
      return false;
    }
    if (address / g.sbuf_partition_stride == tile.first_row) return true;
    *error = std::string(what) + " starts at partition " +
             std::to_string(address / g.sbuf_partition_stride) + ", its row group at " +
             std::to_string(tile.first_row);
    return false;
  };
  out->dtype = dtype;
  const std::string scales = std::string("scales of the ") + name;
  return view(name, data_address, dtype == kFp4 ? isa::kDtUint16 : isa::kDtUint32, &out->data) &&
         view(scales.c_str(), scale_address, isa::kDtUint8, &out->scales);
}

bool mx_tile(const PlanContext& context, std::uint32_t rows, std::uint32_t columns,
             std::uint32_t row_group, std::uint32_t column_group, PeTile* out, std::string* error) {
  if (context.generation != isa::Generation::kMariana) {
    *error = "microscaled matrices need mariana";
    return false;
  }
  if (rows % kQuadrant != 0) {
    *error = std::to_string(rows) + " active rows, microscaled matrices have 32, 64, 96 or 128";
    return false;
  }
  if (columns % 2 != 0) {
    *error = std::to_string(columns) + " active columns, microscaled matrices have an even number";
    return false;
  }
  if (column_group != 15) {
    *error = "column group code " + std::to_string(column_group) +
             ", microscaled matrices use all columns (15)";
    return false;
  }
  return pe_tile(rows, columns, row_group, column_group, out, error);
}

class LoadWeightsMx final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace L = isa::layout::SMX1_LW;
    auto plan = std::make_unique<LoadWeightsMx>();
    if (!pe_reserved(record, 12, 4, error) || !pe_reserved(record, 33, 5, error) ||
        !pe_reserved(record, 40, 4, error) || !pe_reserved(record, 46, 18, error) ||
        !mx_tile(context, L::num_active_rows(record), L::num_active_cols(record),
                 L::row_grp(record), L::col_grp(record), &plan->tile_, error) ||
        !resolve(context, "stationary matrix", L::src(record), L::in_dtype(record), plan->tile_,
                 &plan->source_, error))
      return nullptr;
    if (plan->source_.data.pattern.total != plan->tile_.columns) {
      *error = "stationary matrix has " + std::to_string(plan->source_.data.pattern.total) +
               " elements per row for " + std::to_string(plan->tile_.columns) + " columns";
      return nullptr;
    }
    return plan;
  }

  bool execute(EngineState& state, std::string*) const override {
    const FloatEnvironment environment;
    PeArray& array = state.family<PeArray>(Family::kPe);
    array.pair = 0;
    PeLoad& load = array.load(tile_);
    load.dtype = static_cast<std::uint8_t>(source_.dtype);
    load.mx = true;
    if (!array.mx) array.mx = std::make_unique<PeMxMatrix>();
    float values[4][kMaxMoving];
    for (std::uint32_t r = 0; r < tile_.rows; ++r) {
      source_.widen(r, 0, tile_.columns, values);
      float* to = array.mx->values + 4 * (tile_.first_row + r) * kPeBlock;
      for (std::uint32_t i = 0; i < tile_.columns; ++i) {
        const std::uint32_t c = tile_.columns - 1u - i;
        for (std::uint32_t j = 0; j < 4; ++j)
          to[c / kPeBlock * PeMxMatrix::kBlockStride + j * kPeBlock + c % kPeBlock] = values[j][i];
      }
    }
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("stationary matrix", source_.data, tile_.rows, Access::kRead);
    visitor.visit("scales of the stationary matrix", source_.scales, tile_.rows, Access::kRead);
  }

 private:
  PeTile tile_;
  MxSource source_;
};

class MatmulMx final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace M = isa::layout::SMX1D3_MM;
    auto plan = std::make_unique<MatmulMx>();
    const std::uint32_t flags = M::psum_accumulate_flags(record), out = M::out_dtype(record);
    if (!pe_reserved(record, 12, 4, error) || !pe_reserved(record, 33, 5, error) ||
        !pe_reserved(record, 41, 2, error) || !pe_reserved(record, 46, 1, error) ||
        !pe_accumulate_flags(context.generation, flags, error) ||
        !mx_tile(context, M::num_active_rows(record), M::num_active_cols(record),
                 M::row_grp(record), M::col_grp(record), &plan->tile_, error) ||
        !resolve(context, "moving matrix", M::src(record), M::in_dtype(record), plan->tile_,
                 &plan->moving_, error))
      return nullptr;
    if (out != isa::kDtFloat32 && out != isa::kDtBfloat16) {
      *error = "output data type " + std::to_string(out) + " is not FP32 (10) or BF16 (6)";
      return nullptr;
    }
    if (!pe_destination(context, M::dst(record), out, plan->tile_, M::psum_zero_region(record),
                        &plan->out_, &plan->place_, error))
      return nullptr;
    const std::uint64_t n = plan->moving_.data.pattern.total;
    if (n > kMaxMoving || n != plan->out_.pattern.total) {
      *error = "moving matrix has " + std::to_string(n) + " columns, the destination " +
               std::to_string(plan->out_.pattern.total) + ", the limit is " +
               std::to_string(kMaxMoving);
      return nullptr;
    }
    plan->flags_ = flags;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    PeArray& array = state.family<PeArray>(Family::kPe);
    const PeLoad* load = array.find(tile_, error);
    if (!load) return false;
    if (!load->mx) {
      *error = "the product is microscaled, the stationary matrix is not";
      return false;
    }
    array.pair = 0;
    array.groups.begin(flags_, out_, place_);
    const bool replaces = array.groups.take(out_, place_);
    const FloatEnvironment environment;
    const PeKernels& kernels = pe_kernels();
    PeScratch& scratch = array.scratch;
    const float* w = array.mx->values + 4 * tile_.first_row * kPeBlock;
    const auto n = static_cast<std::uint32_t>(moving_.data.pattern.total);
    for (std::uint32_t first = 0; first < n; first += kernels.width) {
      const std::uint32_t count = std::min(kernels.width, n - first);
      widen_panel(kernels, scratch, first, count);
      for (std::uint32_t c = 0; c < tile_.columns; c += kPeBlock) {
        const std::uint32_t rows = std::min<std::uint32_t>(kPeBlock, tile_.columns - c);
        kernels.multiply(w + c / kPeBlock * PeMxMatrix::kBlockStride, scratch.moving,
                         4u * tile_.rows, scratch.products, PeScratch::kMoving, rows, count, false);
        for (std::uint32_t i = 0; i < rows; ++i)
          put_products(out_, out_.partition(c + i), scratch.products + i * PeScratch::kMoving,
                       first, count, !replaces);
      }
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    visitor.visit("moving matrix", moving_.data, tile_.rows, Access::kRead);
    visitor.visit("scales of the moving matrix", moving_.scales, tile_.rows, Access::kRead);
    state.family<PeArray>(Family::kPe).groups.visit(flags_, out_, place_, visitor);
  }

 private:
  void widen_panel(const PeKernels& kernels, PeScratch& scratch, std::uint32_t first,
                   std::uint32_t n) const {
    float values[4][kMaxMoving];
    for (std::uint32_t r = 0; r < tile_.rows; ++r) {
      moving_.widen(r, first, n, values);
      for (std::uint32_t j = 0; j < 4; ++j)
        kernels.pack_f32(values[j], n, scratch.moving + (4 * r + j) * kernels.width, kernels.width,
                         0);
    }
  }

  PeTile tile_;
  MxSource moving_;
  Operand out_;
  PsumPlace place_;
  std::uint32_t flags_ = 0;
};

}  // namespace

std::span<const PlanEntry> pe_mx_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::LDWEIGHTS_MX, LoadWeightsMx::make},
                                         {isa::op::MATMUL_MX, MatmulMx::make}};
  return kPlans;
}

}  // namespace opennrt::emu
