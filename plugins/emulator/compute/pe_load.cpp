// SPDX-License-Identifier: Apache-2.0
//
// LDWEIGHTS: a stationary matrix into the PE array. The first element of a row
// goes to the highest column.
#include <algorithm>
#include <cstring>

#include "compute/families.h"
#include "compute/float_environment.h"
#include "compute/pe_array.h"
#include "compute/pe_fields.h"
#include "compute/pe_pair.h"
#include "compute/pe_rows.h"
#include "compute/work_share.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

struct Fields {
  const std::uint8_t* src;
  std::uint32_t dtype, fp32_mode, pass_through, rows, columns, row_group, column_group;
};

// Fields of the generation; false: one that is not executed is set.
bool read_fields(isa::Generation generation, const std::uint8_t* record, Fields* f,
                 std::string* error) {
  namespace S = isa::layout::S3_LW::sunda;
  namespace C = isa::layout::S3_LW::cayman;
  namespace M = isa::layout::S3_LW::mariana;
  // At the same place in all generations.
  f->src = S::src(record);
  f->dtype = S::in_dtype(record);
  f->fp32_mode = S::fp32_mode(record);
  f->rows = S::num_active_rows(record);
  f->columns = S::num_active_cols(record);
  f->row_group = S::row_grp(record);
  f->column_group = S::col_grp(record);
  f->pass_through = 0;
  if (!pe_zero("performance option", S::perf_opt(record), error)) return false;
  switch (generation) {
    case isa::Generation::kSunda:
      // The XBUS selection is a performance hint.
      return pe_reserved(record, 12, 4, error) && pe_reserved(record, 34, 1, error) &&
             pe_zero("quantisation offset", S::quant_offset(record), error) &&
             pe_reserved(record, 40, 4, error) && pe_reserved(record, 47, 17, error);
    case isa::Generation::kCayman:
      f->pass_through = C::transpose_mode(record);
      return pe_reserved(record, 12, 4, error) && pe_reserved(record, 36, 2, error) &&
             pe_reserved(record, 40, 4, error) && pe_reserved(record, 46, 18, error);
    case isa::Generation::kMariana:
      f->pass_through = M::transpose_mode(record);
      return pe_zero("background transpose mode", M::bg_xpose_mode(record), error) &&
             pe_zero("flags", M::flags(record), error) && pe_reserved(record, 13, 3, error) &&
             pe_reserved(record, 36, 2, error) && pe_reserved(record, 40, 4, error) &&
             pe_reserved(record, 46, 1, error) && pe_reserved(record, 48, 16, error);
  }
  *error = "unknown generation";
  return false;
}

class LoadWeights final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    auto plan = std::make_unique<LoadWeights>();
    Fields f;
    if (!read_fields(context.generation, record, &f, error)) return nullptr;
    if (f.pass_through > 1) {
      *error = "transpose mode " + std::to_string(f.pass_through) + " is not one of 0, 1";
      return nullptr;
    }
    if (!pe_tile(f.rows, f.columns, f.row_group, f.column_group, &plan->tile_, error) ||
        !pe_fp32_mode(f.dtype, f.fp32_mode, error) ||
        !pe_source(context, "stationary matrix", f.src, f.dtype, plan->tile_, &plan->source_,
                   error))
      return nullptr;
    if (plan->source_.pattern.total != f.columns) {
      *error = "stationary matrix has " + std::to_string(plan->source_.pattern.total) +
               " elements per row for " + std::to_string(f.columns) + " columns";
      return nullptr;
    }
    // Backwards in stream order is forwards in column order.
    plan->columns_ = reversed(plan->source_);
    plan->fp32_mode_ = static_cast<std::uint8_t>(f.fp32_mode);
    plan->pass_through_ = f.pass_through != 0;
    const PeKernels& kernels = pe_kernels();
    plan->all_ = row_packer(kernels, f.dtype, Fp32Part::kAll);
    plan->part_ = row_packer(kernels, f.dtype,
                             f.fp32_mode == isa::code::fp32_mode::LOW    ? Fp32Part::kLow
                             : f.fp32_mode == isa::code::fp32_mode::HIGH ? Fp32Part::kHigh
                                                                         : Fp32Part::kAll);
    return plan;
  }

  bool execute(EngineState& state, std::string*) const override {
    PeArray& array = state.family<PeArray>(Family::kPe);
    PeLoad& load = array.load(tile_);
    load.dtype = static_cast<std::uint8_t>(source_.dtype);
    load.fp32_mode = fp32_mode_;
    load.pass_through = pass_through_;
    if (pass_through_) {
      array.pair = 0;
      load_raw(array);
      return true;
    }
    if (fp32_mode_ == isa::code::fp32_mode::LOW && begins_fp32_pair(state)) {
      array.pair = state.pc;
      return true;  // the matrix comes with the HIGH record
    }
    load.full = array.pair != 0 && state.pc == array.pair + kPairHighLoad;
    if (!load.full) array.pair = 0;
    const RowPacker& packer = load.full ? all_ : part_;
    const Pattern& pattern = columns_.pattern;
    array.loaded_from(
        reinterpret_cast<std::uintptr_t>(columns_.base + pattern.lowest * columns_.element_bytes),
        columns_.partition_stride,
        static_cast<std::uint64_t>(pattern.highest - pattern.lowest + 1) * columns_.element_bytes,
        tile_.rows);
    float* const to = array.stationary(tile_);
    if (!state.share || tile_.rows < 2 * kRowsPerStep) {
      load_rows(packer, array.scratch, to, 0, tile_.rows);
      return true;
    }
    struct Job {
      const LoadWeights* load;
      const RowPacker* packer;
      float* to;
    } const job{this, &packer, to};
    state.share->run(
        (tile_.rows + kRowsPerStep - 1) / kRowsPerStep,
        [](const void* context, PeScratch& scratch, std::uint32_t first, std::uint32_t n) {
          const Job& j = *static_cast<const Job*>(context);
          j.load->load_rows(
              *j.packer, scratch, j.to, first * kRowsPerStep,
              std::min<std::uint32_t>(j.load->tile_.rows, (first + n) * kRowsPerStep));
        },
        &job, array.scratch);
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("stationary matrix", source_, tile_.rows, Access::kRead);
  }

 private:
  // Of work that threads share. A step fills whole cache lines.
  static constexpr std::uint32_t kRowsPerStep = 16;

  void load_rows(const RowPacker& packer, PeScratch& scratch, float* to, std::uint32_t first,
                 std::uint32_t end) const {
    const FloatEnvironment environment;
    for (std::uint32_t r = first; r < end; ++r) {
      if (r + kRowsAhead < end) prefetch_row(columns_, r + kRowsAhead);
      const std::uint8_t* raw = gather_row(columns_, columns_.partition(r), scratch.raw_row);
      packer.pack(raw, tile_.columns, scratch.row, to + r * kPeBlock, kPeBlock, kPeBlockStride);
    }
  }

  // Elements as 32-bit words, upper bytes zero.
  void load_raw(PeArray& array) const {
    float* to = array.stationary(tile_);
    for (std::uint32_t r = 0; r < tile_.rows; ++r) {
      if (r + kRowsAhead < tile_.rows) prefetch_row(columns_, r + kRowsAhead);
      const std::uint8_t* raw = gather_row(columns_, columns_.partition(r), array.scratch.raw_row);
      float* row = to + r * kPeBlock;
      if (columns_.element_bytes == 4)
        all_.pack(raw, tile_.columns, array.scratch.row, row, kPeBlock, kPeBlockStride);
      else if (columns_.element_bytes == 2)
        load_words(reinterpret_cast<const std::uint16_t*>(raw), row);
      else
        load_words(raw, row);
    }
  }

  template <typename T>
  void load_words(const T* raw, float* to) const {
    for (std::uint32_t c = 0; c < tile_.columns; c += kPeBlock, to += kPeBlockStride) {
      std::uint32_t words[kPeBlock] = {};
      const std::uint32_t n = std::min<std::uint32_t>(kPeBlock, tile_.columns - c);
      if (n == kPeBlock)
        for (std::uint32_t i = 0; i < kPeBlock; ++i) words[i] = raw[c + i];
      else
        for (std::uint32_t i = 0; i < n; ++i) words[i] = raw[c + i];
      std::memcpy(to, words, sizeof words);
    }
  }

  PeTile tile_;
  Operand source_, columns_;
  std::uint8_t fp32_mode_ = 0;
  bool pass_through_ = false;
  RowPacker all_, part_;
};

}  // namespace

std::span<const PlanEntry> pe_load_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::LDWEIGHTS, LoadWeights::make}};
  return kPlans;
}

}  // namespace opennrt::emu
