// SPDX-License-Identifier: Apache-2.0
//
// BATCH_NORM_STATS, BATCH_NORM_STATS2, BATCH_NORM_AGGREGATE. Sums are kept in
// double precision and rounded once.
#include <algorithm>
#include <cmath>

#include "compute/families.h"
#include "compute/in_out.h"
#include "compute/special_common.h"
#include "compute/stream.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

namespace layout = isa::layout;

// Calls visit(index, value) for the elements of a partition.
template <typename Visit>
void for_each_value(const Operand& o, std::uint32_t partition, Visit visit) {
  Reader from(o, partition);
  float scratch[kChunk];
  std::uint64_t index = 0;
  for (std::uint64_t left = o.pattern.total; left != 0;) {
    const std::uint64_t n = std::min(left, kChunk);
    const float* x = from.next(n, scratch);
    for (std::uint64_t i = 0; i < n; ++i) visit(index++, x[i]);
    left -= n;
  }
}

class StatisticsBase : public InOut {
 protected:
  // Both records: 4D source, 2D destination.
  bool plan(const PlanContext& context, const std::uint8_t* record, std::string* error) {
    namespace bn = layout::S4D2_BN;
    return plan_in_out(context, record, tensor4d("source", bn::src(record), bn::in_dtype(record)),
                       Use::kArithmetic,
                       tensor2d("destination", bn::dst(record), bn::out_dtype(record)),
                       Use::kResult, bn::num_active_channels(record), error);
  }
};

// Count, mean, variance times count of the even and of the odd elements, or of
// all elements (one group).
class Statistics final : public StatisticsBase {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace bn = layout::S4D2_BN;
    auto plan = std::make_unique<Statistics>();
    Statistics& p = *plan;
    p.groups_ = record[0] == isa::op::BATCH_NORM_STATS2 ? 2 : 1;
    const std::uint64_t limit = p.groups_ * 256;
    if (!p.plan(context, record, error)) return nullptr;
    const std::uint64_t n = p.in_.total();
    if (!expect(n <= limit, "number of source elements", n,
                p.groups_ == 2 ? "the limit is 512" : "the limit is 256", error) ||
        !expect(p.out_.total() == 3 * p.groups_, "number of destination elements", p.out_.total(),
                p.groups_ == 2 ? "it must be 6" : "it must be 3", error))
      return nullptr;
    p.count_[0] = p.groups_ == 2 ? (n + 1) / 2 : n;
    p.count_[1] = p.groups_ == 2 ? n / 2 : 0;
    // The device copies these fields to the result.
    const float fields[2] = {bn::even_count(record), bn::odd_count(record)};
    for (int g = 0; g < 2; ++g)
      if (fields[g] != static_cast<float>(p.count_[g])) {
        *error = std::string(g == 0 ? "even" : "odd") + " count is " + std::to_string(fields[g]) +
                 ", the source has " + std::to_string(p.count_[g]) + " such elements";
        return nullptr;
      }
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Places at;
    if (!resolve(state, &at, error)) return false;
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      double sum[2] = {}, squares[2] = {}, mean[2] = {};
      const std::uint64_t odd = groups_ - 1;  // mask of the group in an index
      for_each_value(*at.in, p, [&](std::uint64_t i, float x) { sum[i & odd] += x; });
      for (std::uint32_t g = 0; g < groups_; ++g)
        mean[g] = count_[g] == 0 ? 0 : sum[g] / static_cast<double>(count_[g]);
      for_each_value(*at.in, p, [&](std::uint64_t i, float x) {
        squares[i & odd] += (x - mean[i & odd]) * (x - mean[i & odd]);
      });
      float result[6];
      for (std::uint32_t g = 0; g < groups_; ++g) {
        result[3 * g] = static_cast<float>(count_[g]);
        result[3 * g + 1] = static_cast<float>(mean[g]);
        result[3 * g + 2] = static_cast<float>(squares[g]);
      }
      Writer(*at.out, p).end(3 * groups_, result);
    }
    return true;
  }

 private:
  std::uint32_t groups_ = 1;
  std::uint64_t count_[2] = {};
};

// Mean and variance from (count, mean, variance * count) triples.
class Aggregate final : public StatisticsBase {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace bn = layout::S4D2_BN;
    auto plan = std::make_unique<Aggregate>();
    Aggregate& p = *plan;
    if (bn::even_count(record) != 0 || bn::odd_count(record) != 0) {
      *error = "the element count fields are not zero, this instruction has none";
      return nullptr;
    }
    if (!p.plan(context, record, error) ||
        !expect(p.in_.total() % 3 == 0, "number of source elements", p.in_.total(),
                "it must be a multiple of 3", error) ||
        !expect(p.out_.total() == 2, "number of destination elements", p.out_.total(),
                "it must be 2", error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Places at;
    if (!resolve(state, &at, error)) return false;
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      double triple[3] = {}, count = 0, sum = 0, squares = 0;
      for_each_value(*at.in, p, [&](std::uint64_t i, float x) {
        triple[i % 3] = x;
        if (i % 3 != 2) return;
        count += triple[0];
        sum += triple[0] * triple[1];
      });
      const double mean = sum / count;
      for_each_value(*at.in, p, [&](std::uint64_t i, float x) {
        triple[i % 3] = x;
        if (i % 3 == 2) squares += x + triple[0] * (triple[1] - mean) * (triple[1] - mean);
      });
      const float result[2] = {static_cast<float>(mean), static_cast<float>(squares / count)};
      Writer(*at.out, p).end(2, result);
    }
    return true;
  }
};

}  // namespace

std::span<const PlanEntry> statistics_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::BATCH_NORM_STATS, Statistics::make},
                                         {isa::op::BATCH_NORM_STATS2, Statistics::make},
                                         {isa::op::BATCH_NORM_AGGREGATE, Aggregate::make}};
  return kPlans;
}

}  // namespace opennrt::emu
