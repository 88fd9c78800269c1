// SPDX-License-Identifier: Apache-2.0
#include "support/hlo_eval.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "support/textproto.h"

namespace opennrt::test {

namespace {

using Dims = std::vector<std::int64_t>;

Dims row_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

// Calls f with each index of `dims`, row-major.
void for_each_index(const Dims& dims, const std::function<void(const Dims&)>& f) {
  Dims index(dims.size(), 0);
  std::int64_t n = 1;
  for (const std::int64_t d : dims) n *= d;
  for (std::int64_t k = 0; k < n; ++k) {
    f(index);
    for (std::size_t i = dims.size(); i-- > 0;) {
      if (++index[i] < dims[i]) break;
      index[i] = 0;
    }
  }
}

std::int64_t offset_of(const Dims& index, const Dims& strides) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
  return offset;
}

double bf16_value(const char* bytes) {
  std::uint32_t bits = 0;
  std::memcpy(reinterpret_cast<char*>(&bits) + 2, bytes, 2);
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

class Evaluator {
 public:
  explicit Evaluator(const ProtoMessage& module) : module_(module) {
    for (const ProtoMessage* c : module.messages("computations"))
      computations_[c->integer("id")] = c;
  }

  HloValue run_entry(std::vector<HloValue> parameters) {
    for (const auto& [id, c] : computations_)
      if (c->text("name") == module_.text("entry_computation_name"))
        return run(*c, std::move(parameters));
    throw std::runtime_error("no entry computation");
  }

 private:
  using Values = std::map<std::int64_t, HloValue>;

  HloValue run(const ProtoMessage& computation, std::vector<HloValue> parameters) {
    Values values;
    for (const ProtoMessage* i : computation.messages("instructions"))
      values[i->integer("id")] = evaluate(*i, values, parameters);
    return std::move(values[computation.integer("root_id")]);
  }

  HloValue evaluate(const ProtoMessage& i, Values& values, std::vector<HloValue>& parameters) {
    const std::string op = i.text("opcode");
    std::vector<const HloValue*> in;
    for (const std::int64_t id : i.integers("operand_ids")) in.push_back(&values.at(id));
    HloValue out;
    out.dims = i.message("shape").integers("dimensions");

    if (op == "parameter")
      return std::move(parameters.at(static_cast<std::size_t>(i.integer("parameter_number"))));
    if (op == "constant") return constant(i, std::move(out));
    if (op == "reshape" || op == "convert") {
      out.data = in[0]->data;  // double holds every value of every type here
      return out;
    }
    if (op == "tuple") {
      for (const HloValue* v : in) out.tuple.push_back(*v);
      return out;
    }
    if (op == "get-tuple-element")
      return in[0]->tuple.at(static_cast<std::size_t>(i.integer("tuple_index")));
    if (op == "call") {
      std::vector<HloValue> arguments;
      for (const HloValue* v : in) arguments.push_back(*v);
      return run(*computations_.at(i.integer("called_computation_ids")), std::move(arguments));
    }
    if (op == "custom-call") return custom_call(i, in, std::move(out));
    if (op == "transpose") return transpose(i, *in[0], std::move(out));
    if (op == "broadcast") return broadcast(i, *in[0], std::move(out));
    if (op == "slice") return slice(i, *in[0], std::move(out));
    if (op == "concatenate") return concatenate(i, in, std::move(out));
    if (op == "reduce") return reduce(i, in, std::move(out));
    if (op == "dot") return dot(i, *in[0], *in[1], std::move(out));
    if (op == "gather") return gather(i, *in[0], *in[1], std::move(out));
    return elementwise(op, i, in, std::move(out));
  }

  static HloValue constant(const ProtoMessage& i, HloValue out) {
    const ProtoMessage& literal = i.message("literal");
    if (literal.has("bf16s")) {
      const std::string bytes = literal.text("bf16s");
      for (std::size_t k = 0; k + 1 < bytes.size(); k += 2)
        out.data.push_back(bf16_value(bytes.data() + k));
    }
    for (const char* kind : {"f32s", "s64s", "s32s", "u32s"})
      for (auto [it, end] = literal.fields.equal_range(kind); it != end; ++it)
        out.data.push_back(std::stod(it->second.text));
    if (static_cast<std::int64_t>(out.data.size()) != out.elements())
      throw std::runtime_error("constant " + i.text("name") + ": unknown kind of literal");
    return out;
  }

  static HloValue elementwise(const std::string& op, const ProtoMessage& i,
                              const std::vector<const HloValue*>& in, HloValue out) {
    const std::size_t n = static_cast<std::size_t>(out.elements());
    out.data.resize(n);
    const auto each = [&](auto f) {
      for (std::size_t k = 0; k < n; ++k) out.data[k] = f(k);
    };
    const auto a = [&](std::size_t k) { return in[0]->data[k]; };
    const auto b = [&](std::size_t k) { return in[1]->data[k]; };
    const auto c = [&](std::size_t k) { return in[2]->data[k]; };
    if (op == "add")
      each([&](std::size_t k) { return a(k) + b(k); });
    else if (op == "subtract")
      each([&](std::size_t k) { return a(k) - b(k); });
    else if (op == "multiply")
      each([&](std::size_t k) { return a(k) * b(k); });
    else if (op == "divide")
      each([&](std::size_t k) { return a(k) / b(k); });
    else if (op == "maximum")
      each([&](std::size_t k) { return std::max(a(k), b(k)); });
    else if (op == "exponential")
      each([&](std::size_t k) { return std::exp(a(k)); });
    else if (op == "abs")
      each([&](std::size_t k) { return std::fabs(a(k)); });
    else if (op == "clamp")
      each([&](std::size_t k) { return std::min(std::max(b(k), a(k)), c(k)); });
    else if (op == "select")
      each([&](std::size_t k) { return a(k) != 0 ? b(k) : c(k); });
    else if (op == "compare" && i.text("comparison_direction") == "LT")
      each([&](std::size_t k) { return a(k) < b(k) ? 1.0 : 0.0; });
    else
      throw std::runtime_error("operation " + op + " is not covered");
    return out;
  }

  static HloValue custom_call(const ProtoMessage& i, const std::vector<const HloValue*>& in,
                              HloValue out) {
    const std::string target = i.text("custom_call_target");
    if (target == "AwsNeuronSilu") {
      for (const double x : in[0]->data) out.data.push_back(x / (1 + std::exp(-x)));
      return out;
    }
    if (target == "AwsNeuronRmsNorm") {
      const HloValue& x = *in[0];
      const std::size_t width = static_cast<std::size_t>(x.dims.back());
      if (i.text("backend_config") != std::to_string(x.dims.size() - 1))
        throw std::runtime_error("RMS norm over another than the last dimension");
      for (std::size_t row = 0; row < x.data.size(); row += width) {
        double squares = 0;
        for (std::size_t k = 0; k < width; ++k) squares += x.data[row + k] * x.data[row + k];
        const double scale =
            1 / std::sqrt(squares / static_cast<double>(width) + in[2]->data.at(0));
        for (std::size_t k = 0; k < width; ++k)
          out.data.push_back(x.data[row + k] * scale * in[1]->data.at(k));
      }
      return out;
    }
    if (target == "AwsNeuronTopK") {
      const HloValue& x = *in[0];
      if (x.dims.size() != 2 || x.dims[0] != 1)
        throw std::runtime_error("top-k of more than a row");
      const std::size_t k = std::stoul(i.text("backend_config"));
      std::vector<std::size_t> order(x.data.size());
      std::iota(order.begin(), order.end(), 0u);
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t l, std::size_t r) { return x.data[l] > x.data[r]; });
      HloValue top{{1, static_cast<std::int64_t>(k)}, {}, {}}, index = top;
      for (std::size_t n = 0; n < k; ++n) {
        top.data.push_back(x.data[order[n]]);
        index.data.push_back(static_cast<double>(order[n]));
      }
      out.tuple = {std::move(top), std::move(index)};
      return out;
    }
    throw std::runtime_error("custom call " + target + " is not covered");
  }

  static HloValue transpose(const ProtoMessage& i, const HloValue& in, HloValue out) {
    const Dims permutation = i.integers("dimensions"), strides = row_strides(in.dims);
    Dims permuted(out.dims.size());
    for (std::size_t d = 0; d < permuted.size(); ++d)
      permuted[d] = strides[static_cast<std::size_t>(permutation[d])];
    out.data.reserve(in.data.size());
    for_each_index(out.dims, [&](const Dims& index) {
      out.data.push_back(in.data[static_cast<std::size_t>(offset_of(index, permuted))]);
    });
    return out;
  }

  static HloValue broadcast(const ProtoMessage& i, const HloValue& in, HloValue out) {
    const Dims to = i.integers("dimensions"), strides = row_strides(in.dims);
    for_each_index(out.dims, [&](const Dims& index) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < to.size(); ++d)
        if (in.dims[d] != 1) offset += index[static_cast<std::size_t>(to[d])] * strides[d];
      out.data.push_back(in.data[static_cast<std::size_t>(offset)]);
    });
    return out;
  }

  static HloValue slice(const ProtoMessage& i, const HloValue& in, HloValue out) {
    const auto ranges = i.messages("slice_dimensions");
    const Dims strides = row_strides(in.dims);
    for_each_index(out.dims, [&](const Dims& index) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < index.size(); ++d)
        offset +=
            (ranges[d]->integer("start") + index[d] * ranges[d]->integer("stride", 1)) * strides[d];
      out.data.push_back(in.data[static_cast<std::size_t>(offset)]);
    });
    return out;
  }

  static HloValue concatenate(const ProtoMessage& i, const std::vector<const HloValue*>& in,
                              HloValue out) {
    const std::size_t along = static_cast<std::size_t>(i.integers("dimensions").at(0));
    for_each_index(out.dims, [&](const Dims& index) {
      Dims inside = index;
      for (const HloValue* part : in) {
        if (inside[along] >= part->dims[along]) {
          inside[along] -= part->dims[along];
          continue;
        }
        out.data.push_back(
            part->data[static_cast<std::size_t>(offset_of(inside, row_strides(part->dims)))]);
        return;
      }
    });
    return out;
  }

  HloValue reduce(const ProtoMessage& i, const std::vector<const HloValue*>& in, HloValue out) {
    const ProtoMessage& body = *computations_.at(i.integer("called_computation_ids"));
    std::string op;
    for (const ProtoMessage* n : body.messages("instructions"))
      if (n->integer("id") == body.integer("root_id")) op = n->text("opcode");
    if (op != "add" && op != "maximum") throw std::runtime_error("reduction by " + op);
    const Dims reduced = i.integers("dimensions");
    const Dims strides = row_strides(out.dims);
    out.data.assign(static_cast<std::size_t>(out.elements()), in[1]->data.at(0));
    std::size_t k = 0;
    for_each_index(in[0]->dims, [&](const Dims& index) {
      Dims kept;
      for (std::size_t d = 0; d < index.size(); ++d)
        if (std::find(reduced.begin(), reduced.end(), static_cast<std::int64_t>(d)) ==
            reduced.end())
          kept.push_back(index[d]);
      double& sum = out.data[static_cast<std::size_t>(offset_of(kept, strides))];
      const double x = in[0]->data[k++];
      sum = op == "add" ? sum + x : std::max(sum, x);
    });
    return out;
  }

  static HloValue dot(const ProtoMessage& i, const HloValue& a, const HloValue& b, HloValue out) {
    const ProtoMessage& numbers = i.message("dot_dimension_numbers");
    const Dims ca = numbers.integers("lhs_contracting_dimensions");
    const Dims cb = numbers.integers("rhs_contracting_dimensions");
    const Dims ba = numbers.integers("lhs_batch_dimensions");
    const Dims bb = numbers.integers("rhs_batch_dimensions");
    if (ca.size() != 1 || cb.size() != 1) throw std::runtime_error("dot over several dimensions");
    const Dims sa = row_strides(a.dims), sb = row_strides(b.dims);
    // Result dimensions: batch, then the rest of the left, then of the right.
    Dims ra, rb;
    for (const std::int64_t d : ba) ra.push_back(sa[static_cast<std::size_t>(d)]);
    for (const std::int64_t d : bb) rb.push_back(sb[static_cast<std::size_t>(d)]);
    const auto rest = [](const Dims& dims, const Dims& strides, std::int64_t contracted,
                         const Dims& batch, Dims& mine, Dims& other) {
      for (std::size_t d = 0; d < dims.size(); ++d) {
        const auto number = static_cast<std::int64_t>(d);
        if (number == contracted || std::count(batch.begin(), batch.end(), number)) continue;
        mine.push_back(strides[d]);
        other.push_back(0);
      }
    };
    rest(a.dims, sa, ca[0], ba, ra, rb);
    rest(b.dims, sb, cb[0], bb, rb, ra);
    const std::int64_t n = a.dims[static_cast<std::size_t>(ca[0])];
    const std::int64_t ka = sa[static_cast<std::size_t>(ca[0])];
    const std::int64_t kb = sb[static_cast<std::size_t>(cb[0])];
    for_each_index(out.dims, [&](const Dims& index) {
      const double* pa = a.data.data() + offset_of(index, ra);
      const double* pb = b.data.data() + offset_of(index, rb);
      double sum = 0;
      for (std::int64_t k = 0; k < n; ++k) sum += pa[k * ka] * pb[k * kb];
      out.data.push_back(sum);
    });
    return out;
  }

  static HloValue gather(const ProtoMessage& i, const HloValue& from, const HloValue& start,
                         HloValue out) {
    const ProtoMessage& numbers = i.message("gather_dimension_numbers");
    const Dims offset_dims = numbers.integers("offset_dims");
    const Dims collapsed = numbers.integers("collapsed_slice_dims");
    const Dims start_map = numbers.integers("start_index_map");
    const std::size_t vector_dim = static_cast<std::size_t>(numbers.integer("index_vector_dim"));
    const Dims sizes = i.integers("gather_slice_sizes");
    if (vector_dim + 1 != start.dims.size())
      throw std::runtime_error("gather whose index vector is not the last dimension");
    const Dims strides = row_strides(from.dims), start_strides = row_strides(start.dims);
    const std::size_t width = start_map.size();
    for_each_index(out.dims, [&](const Dims& index) {
      Dims batch, slice_offset;
      for (std::size_t d = 0; d < index.size(); ++d)
        (std::count(offset_dims.begin(), offset_dims.end(), static_cast<std::int64_t>(d))
             ? slice_offset
             : batch)
            .push_back(index[d]);
      batch.push_back(0);
      const std::int64_t row = offset_of(batch, start_strides);
      Dims at(from.dims.size(), 0);
      for (std::size_t k = 0; k < width; ++k) {
        const std::size_t d = static_cast<std::size_t>(start_map[k]);
        const auto first = static_cast<std::int64_t>(start.data[static_cast<std::size_t>(row) + k]);
        at[d] = std::clamp<std::int64_t>(first, 0, from.dims[d] - sizes[d]);
      }
      std::size_t next = 0;
      for (std::size_t d = 0; d < at.size(); ++d)
        if (!std::count(collapsed.begin(), collapsed.end(), static_cast<std::int64_t>(d)))
          at[d] += slice_offset[next++];
      out.data.push_back(from.data[static_cast<std::size_t>(offset_of(at, strides))]);
    });
    return out;
  }

  const ProtoMessage& module_;
  std::map<std::int64_t, const ProtoMessage*> computations_;
};

}  // namespace

HloValue evaluate_hlo(const std::string& textproto, std::vector<HloValue> parameters) {
  const ProtoMessage module = TextProtoParser(textproto).parse();
  return Evaluator(module).run_entry(std::move(parameters));
}

}  // namespace opennrt::test
