// SPDX-License-Identifier: Apache-2.0
//
// STREAM_TRANSPOSE and STREAM_SHUFFLE: bits between the 32 partitions of a
// quadrant.
#include "compute/transpose.h"

#include <algorithm>
#include <cstring>

#include "compute/checks.h"
#include "compute/families.h"
#include "compute/lanes.h"
#include "compute/move.h"
#include "compute/stream.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

template <typename T>
void transpose_as(const Operand& in, const Operand& out, std::uint32_t partitions,
                  const std::array<std::uint8_t, 32>* mask) {
  T block[kQuadrant][kQuadrant], turned[kQuadrant][kQuadrant];
  std::int64_t from[kQuadrant], to[kQuadrant];
  for (std::uint32_t first = 0; first < partitions; first += kQuadrant) {
    Cursor source(in.pattern), target(out.pattern);
    for (std::uint64_t done = 0; done < out.pattern.total; done += kQuadrant) {
      const std::uint64_t n = std::min<std::uint64_t>(kQuadrant, out.pattern.total - done);
      for (std::uint32_t i = 0; i < kQuadrant; ++i) from[i] = source.next(1).offset;
      for (std::uint32_t i = 0; i < n; ++i) to[i] = target.next(1).offset;
      for (std::uint32_t l = 0; l < kQuadrant; ++l) {
        const T* row = reinterpret_cast<const T*>(in.partition(first + l));
        for (std::uint32_t i = 0; i < kQuadrant; ++i) block[l][i] = row[from[i]];
      }
      for (std::uint32_t i = 0; i < kQuadrant; ++i)
        for (std::uint32_t l = 0; l < kQuadrant; ++l) turned[i][l] = block[l][i];
      for (std::uint32_t l = 0; l < kQuadrant; ++l) {
        if (mask && ((*mask)[l] & kMaskKeeps) != 0) continue;
        T* row = reinterpret_cast<T*>(out.partition(first + l));
        for (std::uint32_t i = 0; i < n; ++i) row[to[i]] = turned[l][i];
      }
    }
  }
}

namespace field = isa::layout::S4D4_TR;

class AcrossLanes : public ComputePlan {
 protected:
  bool plan(const PlanContext& context, const std::uint8_t* r, std::string* error) {
    const std::uint32_t in = field::in_dtype(r), out = field::out_dtype(r);
    partitions_ = field::num_active_channels(r);
    if (in != out) {
      *error = "data type " + std::to_string(in) + " to " + std::to_string(out) +
               ", the record moves bits and keeps the type";
      return false;
    }
    if (partitions_ % kQuadrant != 0) {
      *error = std::to_string(partitions_) + " partitions, a multiple of 32 is needed";
      return false;
    }
    return check_reserved(context, r, error) && check_zero("negated", field::negated(r), error) &&
           check_zero("op", field::op(r), error) && check_zero("op_dim", field::op_dim(r), error) &&
           in_.plan(context, tensor4d("source", field::src(r), in), partitions_, Use::kBits,
                    error) &&
           out_.plan(context, tensor4d("destination", field::dst(r), out), partitions_, Use::kBits,
                     error);
  }
  bool resolve(EngineState& state, Operand* scratch, const Operand** in, const Operand** out,
               std::string* error) const {
    *in = in_.resolve(state, &scratch[0], error);
    *out = *in ? out_.resolve(state, &scratch[1], error) : nullptr;
    return *out != nullptr;
  }
  static bool check_mask(const LaneState& lanes, std::string* error) {
    if (lanes.mask_loaded) return true;
    *error = "no LOAD_MASK_SELECT has loaded a mask";
    return false;
  }

  // Visits the lanes of every quadrant that `uses` tells, one by one.
  template <typename Uses>
  void visit_lanes(EngineState& state, OperandVisitor& visitor, const OperandRef& ref,
                   const char* name, Access access, Uses uses) const {
    Operand scratch;
    std::string ignored;  // a bad address: execute() reports it
    const Operand* operand = ref.resolve(state, &scratch, &ignored);
    if (!operand) return;
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      if (!uses(p % kQuadrant)) continue;
      Operand lane = *operand;
      lane.base = operand->partition(p);
      lane.first_partition = operand->first_partition + p;
      visitor.visit(name, lane, 1, access);
    }
  }

  OperandRef in_, out_;
  std::uint32_t partitions_ = 0;
};

// Lane i of every quadrant takes lane mask[i] of the same quadrant of the source.
class Shuffle final : public AcrossLanes {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    auto made = std::make_unique<Shuffle>();
    if (!made->plan(context, r, error) ||
        !check_zero("mask_enable", field::mask_enable(r), error) ||
        !check_same_total("source", made->in_, made->out_, error))
      return nullptr;
    return made;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand scratch[2];
    const Operand *in, *out;
    const LaneState& lanes = LaneState::of(state);
    if (!check_mask(lanes, error) || !resolve(state, scratch, &in, &out, error)) return false;
    for (const std::uint8_t entry : lanes.mask)
      if ((entry & kMaskKeeps) == 0 && entry >= kQuadrant) {
        *error = "mask entry " + std::to_string(entry) + ", a quadrant has lanes 0 to 31";
        return false;
      }
    // A chunk of all lanes is read before any is written: in place is legal.
    constexpr std::uint64_t kBytes = 256;
    alignas(8) std::uint8_t block[kQuadrant][kBytes];
    const std::uint32_t bytes = in->element_bytes;
    const GatherBytes gather = gather_bytes(bytes);
    const ScatterBytes scatter = scatter_bytes(bytes);
    for (std::uint32_t first = 0; first < partitions_; first += kQuadrant) {
      Cursor from(in->pattern), to(out->pattern);
      for (std::uint64_t left = in->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kBytes / bytes);
        move<Cursor>(from, n, [&](const Block& b, std::uint64_t at) {
          for (std::uint32_t l = 0; l < kQuadrant; ++l)
            gather(in->partition(first + l), b, block[l] + at * bytes);
        });
        move<Cursor>(to, n, [&](const Block& b, std::uint64_t at) {
          for (std::uint32_t l = 0; l < kQuadrant; ++l)
            if ((lanes.mask[l] & kMaskKeeps) == 0)
              scatter(out->partition(first + l), b, block[lanes.mask[l]] + at * bytes);
        });
        left -= n;
      }
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    const LaneState& lanes = LaneState::of(state);
    if (!lanes.mask_loaded) return;
    visit_lanes(state, visitor, in_, "source", Access::kRead, [&](std::uint32_t lane) {
      return std::find(lanes.mask.begin(), lanes.mask.end(), lane) != lanes.mask.end();
    });
    visit_lanes(state, visitor, out_, "destination", Access::kWrite,
                [&](std::uint32_t lane) { return (lanes.mask[lane] & kMaskKeeps) == 0; });
  }

 private:
  template <typename Walk, typename Use>
  static void move(Walk& cursor, std::uint64_t n, Use use) {
    for (std::uint64_t done = 0; done < n;) {
      const Block b = cursor.block(n - done);
      use(b, done);
      done += b.total();
    }
  }
};

// Each block of 32 partitions and 32 elements of the stream is transposed. A
// shorter destination takes the first elements of every row; with mask_enable
// the loaded mask says which lanes of the destination are written.
class Transpose final : public AcrossLanes {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    auto made = std::make_unique<Transpose>();
    made->masked_ = field::mask_enable(r) != 0;
    if (!made->plan(context, r, error) ||
        !check_zero("mask_enable", field::mask_enable(r) & ~1u, error))
      return nullptr;
    const std::uint64_t in = made->in_.total(), out = made->out_.total();
    if (in % kQuadrant != 0 || out > in) {
      *error = "source of " + std::to_string(in) + " and destination of " + std::to_string(out) +
               " elements per partition: blocks of 32 are transposed, the destination is at most "
               "as long";
      return nullptr;
    }
    // Where several blocks end in a shorter destination is not known.
    if (out != in && in != kQuadrant) {
      *error = "a destination of " + std::to_string(out) + " elements for a source of " +
               std::to_string(in) + " is not implemented (for 32 only)";
      return nullptr;
    }
    return made;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand scratch[2];
    const Operand *in, *out;
    const LaneState& lanes = LaneState::of(state);
    if ((masked_ && !check_mask(lanes, error)) || !resolve(state, scratch, &in, &out, error))
      return false;
    transpose_blocks(*in, *out, partitions_, masked_ ? &lanes.mask : nullptr);
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    in_.visit(state, visitor, Access::kRead);
    const LaneState& lanes = LaneState::of(state);
    if (!masked_)
      out_.visit(state, visitor, Access::kWrite);
    else if (lanes.mask_loaded)
      visit_lanes(state, visitor, out_, "destination", Access::kWrite,
                  [&](std::uint32_t lane) { return (lanes.mask[lane] & kMaskKeeps) == 0; });
  }

 private:
  bool masked_ = false;
};

}  // namespace

void transpose_blocks(const Operand& in, const Operand& out, std::uint32_t partitions,
                      const std::array<std::uint8_t, 32>* mask) {
  switch (in.element_bytes) {
    case 1:
      return transpose_as<std::uint8_t>(in, out, partitions, mask);
    case 2:
      return transpose_as<std::uint16_t>(in, out, partitions, mask);
    case 4:
      return transpose_as<std::uint32_t>(in, out, partitions, mask);
    default:
      return transpose_as<std::uint64_t>(in, out, partitions, mask);
  }
}

std::span<const PlanEntry> transpose_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::STREAM_SHUFFLE, Shuffle::make},
                                         {isa::op::STREAM_TRANSPOSE, Transpose::make}};
  return kPlans;
}

}  // namespace opennrt::emu
