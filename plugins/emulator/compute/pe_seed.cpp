// SPDX-License-Identifier: Apache-2.0
//
// PE_MANAGE_SEED (mariana): loads and saves the 2048 seeds of stochastic
// rounding that PSUM has, 16 for each partition. Loaded from 16 SBUF partitions
// of 128, saved to 128 PSUM partitions of 16: the seed at (i, p) of the first is
// the one at (p, i) of the second.
//
// The array rounds BF16 results to nearest even, so that no product changes a
// seed. The identity matrix that the array needs to move seeds is checked for
// its place and type; its numbers are not used.
#include <cstring>

#include "compute/families.h"
#include "compute/pe_array.h"
#include "compute/pe_fields.h"
#include "compute/pe_rows.h"
#include "device/bus.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

constexpr std::uint32_t kSets = PeSeeds::kSets, kPartitions = PeSeeds::kPartitions;

class ManageSeed final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace S = isa::layout::S2S1D2_PE_SEED;
    namespace mode = isa::code::pe_seed_mode;
    auto plan = std::make_unique<ManageSeed>();
    const std::uint32_t m = S::mode(record), dtype = S::identity_dtype(record);
    if (!pe_reserved(record, 48, 16, error)) return nullptr;
    if (m > mode::SAVE_SEED) {
      *error = "seed mode " + std::to_string(m) + " is not one of 0, 1 (load), 2 (save)";
      return nullptr;
    }
    plan->load_ = m == mode::LOAD_SEED;
    plan->save_ = m == mode::SAVE_SEED;
    if (m == mode::NONE) return plan;
    if (S::num_active_rows(record) != kSets || S::num_active_cols(record) != kPartitions) {
      *error = std::to_string(S::num_active_rows(record)) + " rows and " +
               std::to_string(S::num_active_cols(record)) + " columns, seeds have 16 and 128";
      return nullptr;
    }
    if (dtype == isa::kDtFloat32 || pe_element_bytes(dtype) == 0) {
      *error = "identity matrix: data type " + std::to_string(dtype) +
               " is not one of BF16 (6), FP16 (7), FP32R (11), FP8 (13 to 15)";
      return nullptr;
    }
    const std::uint32_t bytes = pe_element_bytes(dtype);
    const std::uint32_t raw = bytes == 1   ? isa::kDtUint8
                              : bytes == 2 ? isa::kDtUint16
                                           : isa::kDtUint32;
    if (!view(context, tensor1d("identity matrix", S::identity(record), raw), kSets, kSets, true,
              &plan->identity_, error))
      return nullptr;
    if (plan->load_)
      return view(context, tensor2d("seeds", S::src_seed(record), isa::kDtUint32), kSets,
                  kPartitions, true, &plan->seeds_, error)
                 ? std::move(plan)
                 : nullptr;
    return view(context, tensor2d("seeds", S::dst_seed(record), isa::kDtUint32), kPartitions, kSets,
                false, &plan->seeds_, error)
               ? std::move(plan)
               : nullptr;
  }

  bool execute(EngineState& state, std::string*) const override {
    PeArray& array = state.family<PeArray>(Family::kPe);
    if (!load_ && !save_) return true;
    if (!array.seeds) array.seeds = std::make_unique<PeSeeds>();
    PeSeeds& seeds = *array.seeds;
    const std::uint32_t rows = load_ ? kSets : kPartitions, columns = load_ ? kPartitions : kSets;
    for (std::uint32_t r = 0; r < rows; ++r) {
      std::uint8_t* partition = seeds_.partition(r);
      Cursor cursor(seeds_.pattern);
      for (std::uint32_t c = 0; c < columns; ++c) {
        std::uint8_t* at = partition + 4 * cursor.next(1).offset;
        if (load_)
          std::memcpy(&seeds.value[c][r], at, 4);
        else
          std::memcpy(at, &seeds.value[r][c], 4);
      }
    }
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    if (!load_ && !save_) return;
    visitor.visit("identity matrix", identity_, kSets, Access::kRead);
    visitor.visit("seeds", seeds_, load_ ? kSets : kPartitions,
                  load_ ? Access::kRead : Access::kWrite);
  }

 private:
  static bool view(const PlanContext& context, const OperandFields& f, std::uint32_t partitions,
                   std::uint32_t elements, bool in_sbuf, Operand* out, std::string* error) {
    const nrtp_arch_geometry& g = context.map.geometry();
    const std::string name = f.name;
    if (!resolve_operand(context, f, partitions, out, error)) return false;
    if ((f.address < g.psum_local_base) != in_sbuf) {
      *error = name + " at " + hex(f.address) + " is in " + (in_sbuf ? "PSUM" : "SBUF") +
               ", it belongs in " + (in_sbuf ? "SBUF" : "PSUM");
      return false;
    }
    const std::uint64_t first = in_sbuf ? f.address / g.sbuf_partition_stride
                                        : (f.address - g.psum_local_base) / g.psum_partition_stride;
    if (first != 0) {
      *error = name + " starts at partition " + std::to_string(first) + ", seeds use those from 0";
      return false;
    }
    if (out->pattern.total == elements) return true;
    *error = name + " has " + std::to_string(out->pattern.total) + " elements per partition, not " +
             std::to_string(elements);
    return false;
  }

  bool load_ = false, save_ = false;
  Operand identity_, seeds_;
};

}  // namespace

std::span<const PlanEntry> pe_seed_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::PE_MANAGE_SEED, ManageSeed::make}};
  return kPlans;
}

}  // namespace opennrt::emu
