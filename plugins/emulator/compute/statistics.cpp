// SPDX-License-Identifier: Apache-2.0
//
// Reductions with more than one result or over more than the free dimensions:
// BATCH_NORM_STATS, BATCH_NORM_STATS2, BATCH_NORM_AGGREGATE, POOL,
// CROSS_LANE_REDUCE. Sums are kept in double precision and rounded once.
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

// Maximum, or sum times a factor, of each window: the innermost dimensions.
class Pool final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace pl = layout::S4D4_PL;
    namespace type = isa::code::pool_type;
    auto plan = std::make_unique<Pool>();
    Pool& p = *plan;
    p.partitions_ = pl::num_active_channels(record);
    p.maximum_ = pl::pool_func(record) == type::MAX_POOL;
    p.scale_ = pl::pool_scale(record);
    const std::uint32_t dims = pl::pool_dim(record);
    const OperandFields in = pattern_fields("source", pl::src(record), pl::in_dtype(record), 4);
    if (!check_engine(context, record, error) ||
        !expect(p.maximum_ || pl::pool_func(record) == type::AVG_POOL, "pool function",
                pl::pool_func(record), "1 is the maximum and 2 the average", error) ||
        !expect(dims >= 2 && dims <= 5, "window dimensions", dims, "the codes are 2 to 5", error) ||
        !resolve_number(context, in, p.partitions_, &p.in_, error) ||
        !resolve_number(context,
                        pattern_fields("destination", pl::dst(record), pl::out_dtype(record), 4),
                        p.partitions_, &p.out_, error))
      return nullptr;
    if (p.maximum_ && p.scale_ != 1) {
      *error = "pool scale is " + std::to_string(p.scale_) + ", a maximum has 1";
      return nullptr;
    }
    p.window_ = 1;
    for (std::uint32_t i = 0; i + 1 < dims; ++i) p.window_ *= in.count[i];
    if (p.in_.pattern.total != p.window_ * p.out_.pattern.total) {
      *error = "source has " + std::to_string(p.in_.pattern.total) +
               " elements per partition, the destination " + std::to_string(p.out_.pattern.total) +
               " windows of " + std::to_string(p.window_);
      return nullptr;
    }
    return plan;
  }

  bool execute(EngineState&, std::string*) const override {
    const auto store = store_kernel(out_.dtype);
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Cursor to(out_.pattern);
      float y[kChunk];
      std::uint64_t results = 0, filled = 0;
      double sum = 0;
      float best = 0;
      for_each_value(in_, p, [&](std::uint64_t, float x) {
        if (filled == 0 || x > best || x != x) best = x;
        sum += x;
        if (++filled < window_) return;
        y[results++] = maximum_ ? best : static_cast<float>(sum) * scale_;
        filled = 0;
        sum = 0;
        if (results == kChunk) {
          store(out_.partition(p), to, y, results);
          results = 0;
        }
      });
      if (results != 0) store(out_.partition(p), to, y, results);
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
  std::uint64_t window_ = 1;
  bool maximum_ = false;
  float scale_ = 1;
};

// Over the partitions, or over all elements of all partitions, to one partition.
class CrossLane final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace cr = layout::S4D4_CR;
    namespace op = isa::code::cross_lane_reduce;
    auto plan = std::make_unique<CrossLane>();
    CrossLane& p = *plan;
    const bool bits = record[0] == isa::op::CROSS_LANE_REDUCE_BITVEC;
    p.op_ = cr::reduce_op(record);
    p.partitions_ = cr::num_active_channels(record);
    p.all_ = cr::reduce_axis(record) == 0;
    p.scale_ = cr::mean_scale(record);
    const std::uint32_t in = cr::in_dtype(record), out = cr::out_dtype(record);
    if (!check_engine(context, record, error) ||
        !expect(bits ? p.op_ >= op::OR && p.op_ <= op::XOR : p.op_ <= op::MAX, "reduce operation",
                p.op_, bits ? "the codes are 3 to 5" : "the codes are 0 to 2", error) ||
        !expect(cr::reduce_axis(record) <= 1, "reduce axis", cr::reduce_axis(record),
                "the codes are 0 and 1", error) ||
        !resolve_operand(context, pattern_fields("source", cr::src(record), in, 4), p.partitions_,
                         &p.in_, error) ||
        !resolve_operand(context, pattern_fields("destination", cr::dst(record), out, 4), 1,
                         &p.out_, error))
      return nullptr;
    if (p.op_ != op::AVERAGE && p.scale_ != 0 && p.scale_ != 1) {
      *error = "mean scale is " + std::to_string(p.scale_) + ", only an average has one";
      return nullptr;
    }
    if (bits) {
      const auto integer = {isa::kDtInt8,   isa::kDtUint8, isa::kDtInt16,
                            isa::kDtUint16, isa::kDtInt32, isa::kDtUint32};
      if (in != out || std::find(integer.begin(), integer.end(), in) == integer.end()) {
        *error = "data types " + std::to_string(in) + " and " + std::to_string(out) +
                 ", bit operations take one integer type";
        return nullptr;
      }
    } else if (!format(p.in_.dtype).load || !format(p.out_.dtype).store) {
      *error = "data types " + std::to_string(in) + " and " + std::to_string(out) +
               " have no arithmetic";
      return nullptr;
    }
    const std::uint64_t want = p.all_ ? 1 : p.in_.pattern.total;
    if (p.out_.pattern.total != want) {
      *error = "destination has " + std::to_string(p.out_.pattern.total) +
               " elements, the reduction gives " + std::to_string(want);
      return nullptr;
    }
    return plan;
  }

  bool execute(EngineState&, std::string*) const override {
    if (op_ >= isa::code::cross_lane_reduce::OR)
      bits();
    else
      numbers();
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("source", in_, partitions_, Access::kRead);
    visitor.visit("destination", out_, 1, Access::kWrite);
  }

 private:
  // Columns of a chunk are walked over all partitions; for a reduction of
  // everything the chunks' results are joined.
  void numbers() const {
    namespace op = isa::code::cross_lane_reduce;
    const auto load = load_kernel(in_.dtype);
    const auto store = store_kernel(out_.dtype);
    const auto join = [&](double& a, double b) {
      if (op_ != op::MAX)
        a += b;
      else if (b > a || b != b)
        a = b;
    };
    const float factor = op_ == op::AVERAGE ? scale_ : 1.0f;
    double total = 0;
    bool first_chunk = true;
    Cursor to(out_.pattern);
    for (std::uint64_t done = 0; done < in_.pattern.total;) {
      const std::uint64_t n = std::min(in_.pattern.total - done, kChunk);
      double column[kChunk];
      float x[kChunk];
      for (std::uint32_t p = 0; p < partitions_; ++p) {
        Cursor from(in_.pattern);
        skip(from, done);
        load(in_.partition(p), from, x, n);
        for (std::uint64_t i = 0; i < n; ++i) {
          if (p == 0)
            column[i] = x[i];
          else
            join(column[i], x[i]);
        }
      }
      if (all_) {
        for (std::uint64_t i = 0; i < n; ++i) {
          if (first_chunk && i == 0)
            total = column[0];
          else
            join(total, column[i]);
        }
        first_chunk = false;
      } else {
        for (std::uint64_t i = 0; i < n; ++i) x[i] = static_cast<float>(column[i]) * factor;
        store(out_.partition(0), to, x, n);
      }
      done += n;
    }
    if (!all_) return;
    const float result = static_cast<float>(total) * factor;
    store(out_.partition(0), to, &result, 1);
  }

  void bits() const {
    namespace op = isa::code::cross_lane_reduce;
    const auto load = load_bits(in_.element_bytes);
    const auto store = store_bits(out_.element_bytes);
    const auto join = [&](std::uint32_t a, std::uint32_t b) {
      return op_ == op::OR ? a | b : op_ == op::AND ? a & b : a ^ b;
    };
    Cursor position(in_.pattern), to(out_.pattern);
    std::uint32_t total = 0;
    bool first = true;
    for (std::uint64_t left = in_.pattern.total; left != 0;) {
      const Block block = position.block(std::min(left, kChunk));
      const std::uint64_t n = block.total();
      std::uint32_t column[kChunk], x[kChunk];
      for (std::uint32_t p = 0; p < partitions_; ++p) {
        load(in_.partition(p), block, x);
        for (std::uint64_t i = 0; i < n; ++i) column[i] = p == 0 ? x[i] : join(column[i], x[i]);
      }
      if (all_) {
        for (std::uint64_t i = 0; i < n; ++i) {
          total = first ? column[i] : join(total, column[i]);
          first = false;
        }
      } else {
        for (std::uint64_t k = 0; k < n;) {
          const Block b = to.block(n - k);
          store(out_.partition(0), b, column + k);
          k += b.total();
        }
      }
      left -= n;
    }
    if (all_) store(out_.partition(0), to.block(1), &total);
  }

  static void skip(Cursor& cursor, std::uint64_t n) {
    while (n != 0) n -= cursor.next(n).count;
  }

  Operand in_, out_;
  std::uint32_t partitions_ = 0, op_ = 0;
  bool all_ = false;
  float scale_ = 1;
};

}  // namespace

std::span<const PlanEntry> statistics_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::BATCH_NORM_STATS, Statistics::make},
                                         {isa::op::BATCH_NORM_STATS2, Statistics::make},
                                         {isa::op::BATCH_NORM_AGGREGATE, Aggregate::make},
                                         {isa::op::POOL, Pool::make},
                                         {isa::op::CROSS_LANE_REDUCE_ARITH, CrossLane::make},
                                         {isa::op::CROSS_LANE_REDUCE_BITVEC, CrossLane::make}};
  return kPlans;
}

}  // namespace opennrt::emu
