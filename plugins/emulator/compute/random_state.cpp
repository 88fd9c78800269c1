// SPDX-License-Identifier: Apache-2.0
//
// RAND_GET_STATE and RAND_SET_STATE: 6 words per channel on the pool engine, 24
// on the vector engine. RAND and RAND2 draw uniform numbers (and raw words).
#include <algorithm>
#include <bit>
#include <cstring>

#include "compute/checks.h"
#include "compute/families.h"
#include "compute/random.h"
#include "compute/special_common.h"
#include "compute/special_state.h"
#include "compute/stream.h"
#include "opennrt/arch.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace layout = isa::layout;
namespace algorithm = isa::code::rand_algorithm;
namespace post = isa::code::rand_post_process;

bool check_algorithm(std::uint32_t code, std::string* error) {
  return expect(code == algorithm::XORWOW, "generator algorithm code", code,
                "the generators of this device are 3 (XORWOW)", error);
}

// First generation: no state instructions; second: of the pool engine only.
bool check_state_access(const PlanContext& context, std::string* error) {
  const bool vector = context.engine == NRTP_ENGINE_DVE;
  if (context.generation == isa::Generation::kMariana ||
      (context.generation == isa::Generation::kCayman && !vector))
    return true;
  *error = std::string("the generator state of ") + (vector ? "DVE" : "POOL") +
           " cannot be read or written on " + isa::generation_name(context.generation);
  return false;
}

std::uint64_t state_words(const PlanContext& context) {
  return Generators::count(context.engine) * Xorwow::kWords;
}

class GetState final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = layout::D4_RAND;
    auto plan = std::make_unique<GetState>();
    GetState& p = *plan;
    p.partitions_ = f::num_active_channels(r);
    // Compilers write post_process 1 here, which means nothing for a state.
    if (!check_engine(context, r, error) || !check_state_access(context, error) ||
        !check_algorithm(f::rand_algorithm(r), error) ||
        !check_zero("rand_src", f::rand_src(r), error) ||
        !check_zero("byte 14", f::reserved_or_steps(r), error) ||
        !expect(f::post_process(r) <= post::UNIFORM_IN_RANGE, "post process code",
                f::post_process(r), "the last is 1", error))
      return nullptr;
    for (std::size_t i = 0; i < 4; ++i)
      if (!check_zero("parameters", f::params(r, i), error)) return nullptr;
    if (!expect(f::dtype(r) == isa::kDtUint32, "data type", f::dtype(r), "a state is UINT32 (9)",
                error) ||
        !p.out_.plan(context, tensor4d("destination", f::dst(r), f::dtype(r)), p.partitions_,
                     Use::kBits, error))
      return nullptr;
    if (!expect(p.out_.total() == state_words(context), "number of destination elements",
                p.out_.total(), "the state has 6 words on POOL and 24 on DVE", error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand scratch;
    const Operand* out = out_.resolve(state, &scratch, error);
    if (!out) return false;
    Generators& all = Generators::of(state);
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      BitWriter to(*out, p);
      for (std::uint32_t g = 0; g < Generators::count(state.engine); ++g)
        to.next(Xorwow::kWords, all.channel(p)[g].words.data());
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  OperandRef out_;
  std::uint32_t partitions_ = 0;
};

class SetState final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = layout::S1_RAND;
    auto plan = std::make_unique<SetState>();
    SetState& p = *plan;
    p.partitions_ = f::num_active_channels(r);
    if (!check_engine(context, r, error) || !check_state_access(context, error) ||
        !check_algorithm(f::rand_algorithm(r), error) ||
        !expect(f::update_state(r) <= 1, "update_state", f::update_state(r), "it is 0 or 1",
                error) ||
        !check_zero("rand_generator", f::rand_generator(r), error))
      return nullptr;
    for (std::size_t i = 0; i < 8; ++i)
      if (!check_zero("state in the record", f::imm_state(r, i), error)) return nullptr;
    if (!expect(f::in_dtype(r) == isa::kDtUint32, "data type", f::in_dtype(r),
                "a state is UINT32 (9)", error) ||
        !p.in_.plan(context, tensor1d("source", f::src(r), f::in_dtype(r)), p.partitions_,
                    Use::kBits, error) ||
        !expect(p.in_.total() == state_words(context), "number of source elements", p.in_.total(),
                "the state has 6 words on POOL and 24 on DVE", error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand scratch;
    const Operand* in = in_.resolve(state, &scratch, error);
    if (!in) return false;
    Generators& all = Generators::of(state);
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      BitReader from(*in, p);
      for (std::uint32_t g = 0; g < Generators::count(state.engine); ++g)
        from.next(Xorwow::kWords, all.channel(p)[g].words.data());
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    in_.visit(state, visitor, Access::kRead);
  }

 private:
  OperandRef in_;
  std::uint32_t partitions_ = 0;
};

// low + (high - low) * u with u in [0, 1), or the raw words.
class Draw final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make_rand2(const PlanContext& context, const std::uint8_t* r,
                                                 std::string* error) {
    namespace f = layout::D3_RAND;
    auto plan = std::make_unique<Draw>();
    if (!plan->plan(context, r, f::rand_algorithm(r), f::post_process(r),
                    tensor3d("destination", f::dst(r), f::dtype(r)), f::num_active_channels(r),
                    error) ||
        !expect(!plan->raw_, "post process code", f::post_process(r),
                "it must be 1 (uniform in a range)", error) ||
        !plan->low_.plan(context, "minimum", f::min_src(r), f::min(r), isa::kDtFloat32,
                         plan->partitions_, error) ||
        !plan->high_.plan(context, "maximum", f::max_src(r), f::max(r), isa::kDtFloat32,
                          plan->partitions_, error))
      return nullptr;
    return plan;
  }
  static std::unique_ptr<ComputePlan> make_rand(const PlanContext& context, const std::uint8_t* r,
                                                std::string* error) {
    namespace f = layout::D4_RAND;
    auto plan = std::make_unique<Draw>();
    if (!check_zero("rand_src", f::rand_src(r), error) ||
        !check_zero("byte 14", f::reserved_or_steps(r), error) ||
        !plan->plan(context, r, f::rand_algorithm(r), f::post_process(r),
                    tensor4d("destination", f::dst(r), f::dtype(r)), f::num_active_channels(r),
                    error))
      return nullptr;
    for (std::size_t i = plan->raw_ ? 0 : 2; i < 4; ++i)
      if (!check_zero("parameters", f::params(r, i), error)) return nullptr;
    plan->low_.set_immediate(f::params(r, 0));
    plan->high_.set_immediate(f::params(r, 1));
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand scratch;
    const Operand* out = out_.resolve(state, &scratch, error);
    ScalarRef::Values low, high;
    if (!out || !low_.resolve(state, &low, error) || !high_.resolve(state, &high, error))
      return false;
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Draws draws(state, p);
      if (raw_)
        fill<BitWriter, std::uint32_t>(*out, p, [&] { return draws.next(); });
      else
        fill<FloatWriter, float>(*out, p, [&, from = low.number(p), to = high.number(p)] {
          return from + (to - from) * uniform_of(draws.next());
        });
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    low_.visit(state, visitor);
    high_.visit(state, visitor);
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  struct FloatWriter : Writer {
    using Writer::Writer;
    void next(std::uint64_t n, const float* values) { end(n, values); }
  };

  bool plan(const PlanContext& context, const std::uint8_t* r, std::uint32_t code,
            std::uint32_t post_process, const OperandFields& out, std::uint32_t partitions,
            std::string* error) {
    partitions_ = partitions;
    raw_ = post_process == post::RAW_U32;
    return check_engine(context, r, error) && check_algorithm(code, error) &&
           expect(post_process <= post::UNIFORM_IN_RANGE, "post process code", post_process,
                  "the last is 1", error) &&
           (!raw_ || check_integer("destination", out.dtype, error)) &&
           out_.plan(context, out, partitions, raw_ ? Use::kBits : Use::kResult, error);
  }
  template <typename To, typename Value, typename Next>
  static void fill(const Operand& out, std::uint32_t p, Next next) {
    To to(out, p);
    Value values[kChunk];
    for (std::uint64_t left = out.pattern.total; left != 0;) {
      const std::uint64_t n = std::min(left, kChunk);
      for (std::uint64_t i = 0; i < n; ++i) values[i] = next();
      to.next(n, values);
      left -= n;
    }
  }

  OperandRef out_;
  ScalarRef low_, high_;
  std::uint32_t partitions_ = 0;
  bool raw_ = false;
};

}  // namespace

std::uint32_t Generators::count(std::uint32_t engine) {
  return engine == NRTP_ENGINE_DVE ? kMost : 1;
}

Generators& Generators::of(EngineState& state) {
  Generators& g = state.family<SpecialState>(Family::kVector).generators;
  if (g.seeded_) return g;
  g.seeded_ = true;
  for (std::uint32_t c = 0; c < kChannels; ++c) {
    std::uint32_t words[kMost * Xorwow::kWords];
    for (std::uint32_t i = 0; i < std::size(words) / 4; ++i)
      std::ranges::copy(philox(i, c, state.core, state.engine), words + 4 * i);
    for (std::uint32_t k = 0; k < kMost; ++k)
      std::copy_n(words + k * Xorwow::kWords, Xorwow::kWords, g.channels_[c][k].words.begin());
  }
  return g;
}

std::span<const PlanEntry> random_state_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::RAND_GET_STATE, GetState::make},
                                         {isa::op::RAND_SET_STATE, SetState::make},
                                         {isa::op::RAND, Draw::make_rand},
                                         {isa::op::RAND2, Draw::make_rand2}};
  return kPlans;
}

}  // namespace opennrt::emu
