// SPDX-License-Identifier: Apache-2.0
//
// BATCH_NORM_STATS, BATCH_NORM_STATS2, BATCH_NORM_AGGREGATE. Sums are kept in
// double precision and rounded once.
#include <algorithm>
#include <cmath>

#include "compute/families.h"
#include "compute/special_common.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

namespace layout = isa::layout;

// Calls visit(index, value) for the elements of a partition.
template <typename Visit>
void for_each_value(const Operand& o, std::uint32_t partition, Visit visit) {
  const auto load = load_kernel(o.dtype);
  Cursor from(o.pattern);
  float x[kChunk];
  std::uint64_t index = 0;
  for (std::uint64_t left = o.pattern.total; left != 0;) {
    const std::uint64_t n = std::min(left, kChunk);
    load(o.partition(partition), from, x, n);
    for (std::uint64_t i = 0; i < n; ++i) visit(index++, x[i]);
    left -= n;
  }
}

// Count, mean, variance times count of the even and of the odd elements, or of
// all elements (one group).
class Statistics final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace bn = layout::S4D2_BN;
    auto plan = std::make_unique<Statistics>();
    Statistics& p = *plan;
    p.groups_ = record[0] == isa::op::BATCH_NORM_STATS2 ? 2 : 1;
    p.partitions_ = bn::num_active_channels(record);
    const std::uint64_t limit = p.groups_ * 256;
    if (!check_engine(context, record, error) ||
        !resolve_number(context, pattern_fields("source", bn::src(record), bn::in_dtype(record), 4),
                        p.partitions_, &p.in_, error) ||
        !resolve_number(context,
                        pattern_fields("destination", bn::dst(record), bn::out_dtype(record), 2),
                        p.partitions_, &p.out_, error))
      return nullptr;
    const std::uint64_t n = p.in_.pattern.total;
    if (!expect(n <= limit, "number of source elements", n,
                p.groups_ == 2 ? "the limit is 512" : "the limit is 256", error) ||
        !expect(p.out_.pattern.total == 3 * p.groups_, "number of destination elements",
                p.out_.pattern.total, p.groups_ == 2 ? "it must be 6" : "it must be 3", error))
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

  bool execute(EngineState&, std::string*) const override {
    const auto store = store_kernel(out_.dtype);
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      double sum[2] = {}, squares[2] = {}, mean[2] = {};
      const std::uint64_t odd = groups_ - 1;  // mask of the group in an index
      for_each_value(in_, p, [&](std::uint64_t i, float x) { sum[i & odd] += x; });
      for (std::uint32_t g = 0; g < groups_; ++g)
        mean[g] = count_[g] == 0 ? 0 : sum[g] / static_cast<double>(count_[g]);
      for_each_value(in_, p, [&](std::uint64_t i, float x) {
        squares[i & odd] += (x - mean[i & odd]) * (x - mean[i & odd]);
      });
      float result[6];
      for (std::uint32_t g = 0; g < groups_; ++g) {
        result[3 * g] = static_cast<float>(count_[g]);
        result[3 * g + 1] = static_cast<float>(mean[g]);
        result[3 * g + 2] = static_cast<float>(squares[g]);
      }
      Cursor to(out_.pattern);
      store(out_.partition(p), to, result, 3 * groups_);
    }
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("source", in_, partitions_, Access::kRead);
    visitor.visit("destination", out_, partitions_, Access::kWrite);
  }

 private:
  Operand in_, out_;
  std::uint32_t partitions_ = 0, groups_ = 1;
  std::uint64_t count_[2] = {};
};

// Mean and variance from (count, mean, variance * count) triples.
class Aggregate final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace bn = layout::S4D2_BN;
    auto plan = std::make_unique<Aggregate>();
    Aggregate& p = *plan;
    p.partitions_ = bn::num_active_channels(record);
    if (!check_engine(context, record, error)) return nullptr;
    if (bn::even_count(record) != 0 || bn::odd_count(record) != 0) {
      *error = "the element count fields are not zero, this instruction has none";
      return nullptr;
    }
    if (!resolve_number(context, pattern_fields("source", bn::src(record), bn::in_dtype(record), 4),
                        p.partitions_, &p.in_, error) ||
        !resolve_number(context,
                        pattern_fields("destination", bn::dst(record), bn::out_dtype(record), 2),
                        p.partitions_, &p.out_, error) ||
        !expect(p.in_.pattern.total % 3 == 0, "number of source elements", p.in_.pattern.total,
                "it must be a multiple of 3", error) ||
        !expect(p.out_.pattern.total == 2, "number of destination elements", p.out_.pattern.total,
                "it must be 2", error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState&, std::string*) const override {
    const auto store = store_kernel(out_.dtype);
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      double triple[3] = {}, count = 0, sum = 0, squares = 0;
      for_each_value(in_, p, [&](std::uint64_t i, float x) {
        triple[i % 3] = x;
        if (i % 3 != 2) return;
        count += triple[0];
        sum += triple[0] * triple[1];
      });
      const double mean = sum / count;
      for_each_value(in_, p, [&](std::uint64_t i, float x) {
        triple[i % 3] = x;
        if (i % 3 == 2) squares += x + triple[0] * (triple[1] - mean) * (triple[1] - mean);
      });
      const float result[2] = {static_cast<float>(mean), static_cast<float>(squares / count)};
      Cursor to(out_.pattern);
      store(out_.partition(p), to, result, 2);
    }
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("source", in_, partitions_, Access::kRead);
    visitor.visit("destination", out_, partitions_, Access::kWrite);
  }

 private:
  Operand in_, out_;
  std::uint32_t partitions_ = 0;
};

}  // namespace

std::span<const PlanEntry> statistics_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::BATCH_NORM_STATS, Statistics::make},
                                         {isa::op::BATCH_NORM_STATS2, Statistics::make},
                                         {isa::op::BATCH_NORM_AGGREGATE, Aggregate::make}};
  return kPlans;
}

}  // namespace opennrt::emu
