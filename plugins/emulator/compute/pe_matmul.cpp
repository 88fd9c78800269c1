// SPDX-License-Identifier: Apache-2.0
//
// MATMUL: destination[column][n] (+)= sum over rows of stationary[row][column] *
// moving[row][n]. Inputs widen exactly, products and sums are FP32. What a start
// flag does: psum_groups.h.
#include "compute/families.h"
#include "compute/pe_array.h"
#include "compute/pe_fields.h"
#include "compute/pe_pair.h"
#include "compute/pe_product.h"
#include "compute/pe_rows.h"
#include "compute/pe_transpose.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace code = isa::code;

struct Fields {
  const std::uint8_t *src, *dst;
  std::uint32_t dtype, out_dtype, fp32_mode, pass_through, flags;
  std::uint32_t rows, columns, row_group, column_group, zero_region;
};

bool read_fields(isa::Generation generation, const std::uint8_t* record, Fields* f,
                 std::string* error) {
  namespace S = isa::layout::S3D3_MM::sunda;
  namespace C = isa::layout::S3D3_MM::cayman;
  namespace M = isa::layout::S3D3_MM::mariana;
  // At the same place in all generations.
  f->src = S::src(record);
  f->dst = S::dst(record);
  f->dtype = S::in_dtype(record);
  f->fp32_mode = S::fp32_mode(record);
  f->rows = S::num_active_rows(record);
  f->columns = S::num_active_cols(record);
  f->flags = S::psum_accumulate_flags(record);
  f->row_group = S::row_grp(record);
  f->column_group = S::col_grp(record);
  f->zero_region = S::psum_zero_region(record);
  f->pass_through = 0;
  f->out_dtype = 0;
  if (!pe_zero("performance option", S::perf_opt(record), error) ||
      !pe_reserved(record, 12, 4, error))
    return false;
  switch (generation) {
    case isa::Generation::kSunda:
      // The XBUS selection is a performance hint.
      return pe_reserved(record, 34, 1, error) &&
             pe_zero("quantisation offset", S::quant_offset(record), error) &&
             pe_reserved(record, 40, 3, error);
    case isa::Generation::kCayman:
      f->pass_through = C::transpose_mode(record);
      f->out_dtype = C::out_dtype(record);
      return pe_reserved(record, 36, 2, error) && pe_reserved(record, 41, 2, error) &&
             pe_reserved(record, 46, 1, error);
    case isa::Generation::kMariana:
      f->pass_through = M::transpose_mode(record);
      f->out_dtype = M::out_dtype(record);
      return pe_zero("flags", M::flags(record), error) && pe_reserved(record, 36, 2, error) &&
             pe_reserved(record, 41, 1, error) && pe_reserved(record, 46, 1, error);
  }
  *error = "unknown generation";
  return false;
}

// Type of the elements in PSUM; 0: not a legal output type.
std::uint32_t psum_dtype(isa::Generation generation, const Fields& f) {
  if (f.pass_through) {
    if (f.out_dtype != 0 && f.out_dtype != f.dtype) return 0;
    return pass_through_bytes(f.dtype) == 4 ? isa::kDtUint32 : isa::kDtUint16;
  }
  if (f.out_dtype == 0 || f.out_dtype == isa::kDtFloat32) return isa::kDtFloat32;
  if (generation == isa::Generation::kMariana && f.out_dtype == isa::kDtBfloat16)
    return isa::kDtBfloat16;
  return 0;
}

class Matmul final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    auto plan = std::make_unique<Matmul>();
    Fields f;
    if (!read_fields(context.generation, record, &f, error)) return nullptr;
    if (f.pass_through > 1) {
      *error = "transpose mode " + std::to_string(f.pass_through) + " is not one of 0, 1";
      return nullptr;
    }
    const std::uint32_t out = psum_dtype(context.generation, f);
    if (out == 0) {
      *error = "output data type " + std::to_string(f.out_dtype) + " is not implemented" +
               (f.pass_through ? " in transpose mode (0 or the input type)" : "");
      return nullptr;
    }
    if (!pe_accumulate_flags(context.generation, f.flags, error) ||
        !pe_tile(f.rows, f.columns, f.row_group, f.column_group, &plan->tile_, error) ||
        !pe_fp32_mode(f.dtype, f.fp32_mode, error) ||
        !pe_source(context, "moving matrix", f.src, f.dtype, plan->tile_, &plan->moving_, error) ||
        !pe_destination(context, f.dst, out, plan->tile_, f.zero_region, &plan->out_, &plan->place_,
                        error))
      return nullptr;
    const std::uint64_t n = plan->moving_.pattern.total;
    if (n != plan->out_.pattern.total) {
      *error = "moving matrix has " + std::to_string(n) + " columns, the destination " +
               std::to_string(plan->out_.pattern.total);
      return nullptr;
    }
    const std::uint64_t limit = context.generation != isa::Generation::kMariana ? 512
                                : plan->out_.element_bytes == 2                 ? 8192
                                                                                : 4096;
    if (n > limit) {
      *error = "moving matrix has " + std::to_string(n) + " columns, the limit is " +
               std::to_string(limit);
      return nullptr;
    }
    plan->flags_ = f.flags;
    plan->pass_through_ = f.pass_through != 0;
    if (plan->pass_through_ && (f.flags & code::psum_accumulate::START) == 0) {
      *error = "transpose mode with accumulate flags " + std::to_string(f.flags) +
               ": bits pass unchanged, they cannot be added (flags 1, 3)";
      return nullptr;
    }
    plan->product_ = Product(plan->tile_, plan->moving_,
                             f.fp32_mode == code::fp32_mode::LOW    ? Fp32Part::kLow
                             : f.fp32_mode == code::fp32_mode::HIGH ? Fp32Part::kHigh
                                                                    : Fp32Part::kAll,
                             plan->out_);
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    PeArray& array = state.family<PeArray>(Family::kPe);
    PeLoad* load = array.find(tile_, error);
    if (!load) return false;
    if (!compatible(*load, error)) return false;
    if (pass_through_ && !pass_through(array, tile_, moving_, out_, error)) return false;
    array.groups.begin(flags_, out_, place_);
    if (array.pair != 0 && state.pc == array.pair + kPairLowProduct) return true;
    const bool replaces = array.groups.take(out_, place_);
    if (pass_through_) return true;
    if (load->full && !(array.pair != 0 && state.pc == array.pair + kPairHighProduct)) {
      // One more product with the HIGH part, of which the array has the whole.
      array.keep_high(tile_);
      load->full = false;
    }
    array.pair = 0;
    product_.perform(state, array, replaces);
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    visitor.visit("moving matrix", moving_, tile_.rows, Access::kRead);
    state.family<PeArray>(Family::kPe).groups.visit(flags_, out_, place_, visitor);
  }

 private:
  bool compatible(const PeLoad& load, std::string* error) const {
    const auto types = [&] {
      return "stationary data type " + std::to_string(load.dtype) + ", moving " +
             std::to_string(moving_.dtype);
    };
    if (load.mx) {
      *error = "the stationary matrix is microscaled, the product is not";
      return false;
    }
    if (load.pass_through != pass_through_) {
      *error = std::string("transpose mode of the product is ") + (pass_through_ ? "1" : "0") +
               ", of the stationary matrix " + (load.pass_through ? "1" : "0");
      return false;
    }
    const bool whole_types = load.dtype == isa::kDtFloat32 || load.dtype == isa::kDtFloat32r ||
                             moving_.dtype == isa::kDtFloat32 || moving_.dtype == isa::kDtFloat32r;
    if ((whole_types || pass_through_) && load.dtype != moving_.dtype) {
      *error = types() + (pass_through_ ? ": must be equal in transpose mode"
                                        : ": FP32 and FP32R do not mix with other types");
      return false;
    }
    return true;
  }

  PeTile tile_;
  Operand moving_, out_;
  PsumPlace place_;
  std::uint32_t flags_ = 0;
  bool pass_through_ = false;
  Product product_;
};

}  // namespace

std::span<const PlanEntry> pe_matmul_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::MATMUL, Matmul::make}};
  return kPlans;
}

}  // namespace opennrt::emu
