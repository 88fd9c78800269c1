// SPDX-License-Identifier: Apache-2.0
#include "neff/descriptors.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "neff/dtype.h"

namespace opennrt::neff {
namespace {

constexpr std::size_t kMaxDims = 4, kMaxSources = 16;
constexpr std::int64_t kMaxStep = static_cast<std::int64_t>(kMaxBytes);

constexpr std::pair<std::string_view, DmaOp> kOps[] = {
    {"copy", DmaOp::kCopy},
    {"cast", DmaOp::kCast},
    {"add", DmaOp::kAdd},
    {"min", DmaOp::kMin},
    {"max", DmaOp::kMax},
    {"fma", DmaOp::kFma},
    {"transpose", DmaOp::kTranspose},
};

bool is_compute(DmaOp op) {
  return op == DmaOp::kAdd || op == DmaOp::kMin || op == DmaOp::kMax || op == DmaOp::kFma;
}

// Keys of one side of a descriptor.
struct SideKeys {
  std::string_view variable, offset, sizes, steps, dtype;
};
constexpr SideKeys kFrom = {"from", "from_off", "from_sizes", "from_steps", "from_dtype"};
constexpr SideKeys kTo = {"to", "to_off", "to_sizes", "to_steps", "to_dtype"};

// A pattern with what its dtype and sizes amount to.
struct Side {
  AccessPattern pattern;
  std::uint64_t bytes = 1, elements = 0;
};

// Every byte the pattern touches lies inside the variable.
Status check_bounds(const Json& item, const AccessPattern& p, const Variable& variable) {
  __extension__ using Wide = __int128;  // 2^44 * 2^44 in four dimensions
  Wide first = static_cast<Wide>(p.offset), last = first;
  for (std::uint32_t d = 0; d < p.dims; ++d) {
    const Wide extent = static_cast<Wide>(p.sizes[d] - 1) * p.steps[d];
    (extent < 0 ? first : last) += extent;
  }
  if (first >= 0 && last < static_cast<Wide>(variable.size)) return Status::ok();
  // Sums beyond 64 bits are only shown; the comparison above is exact.
  const auto shown = [](Wide value) {
    constexpr Wide kLimit = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::clamp(value, -kLimit, kLimit));
  };
  return item.invalid("bytes {} to {} of variable {} are touched, it has {}", shown(first),
                      shown(last), quote(variable.name), variable.size);
}

Status read_sizes(const Json& item, const SideKeys& keys, AccessPattern& p) {
  ONRT_ASSIGN(const Json sizes, item.require(keys.sizes));
  ONRT_ASSIGN(const Json steps, item.require(keys.steps));
  ONRT_ASSIGN(const std::size_t dims, sizes.array_size());
  ONRT_ASSIGN(const std::size_t step_count, steps.array_size());
  if (dims == 0 || dims > kMaxDims)
    return sizes.invalid("{} dimensions; must have 1 to {}", dims, kMaxDims);
  if (step_count != dims)
    return steps.invalid("{} elements, but {} has {}", step_count, keys.sizes, dims);
  p.dims = static_cast<std::uint32_t>(dims);
  std::size_t d = 0;
  ONRT_TRY(sizes.for_each_element([&](const Json& size) {
    ONRT_ASSIGN(p.sizes[d++], size.integer(1, kMaxBytes));
    return Status::ok();
  }));
  d = 0;
  return steps.for_each_element([&](const Json& step) {
    ONRT_ASSIGN(p.steps[d], step.signed_integer(-kMaxStep, kMaxStep));
    if (d++ == 0 && p.steps[0] != 1)
      return step.invalid("{}: the innermost step is a run of bytes and must be 1", p.steps[0]);
    return Status::ok();
  });
}

Result<Side> read_side(const Json& item, const SideKeys& keys, const SubgraphReader& reader) {
  ONRT_TRY(item.expect_object());
  Side side;
  AccessPattern& p = side.pattern;
  ONRT_ASSIGN(const Json name, item.require(keys.variable));
  ONRT_ASSIGN(const std::string_view text, name.text());
  const auto id = reader.variable_ids.find(text);
  if (id == reader.variable_ids.end()) return name.invalid("{}: no such variable", quote(text));
  const Variable& variable = reader.graph.variables[id->second];
  if (variable.type == VariableType::kList || variable.type == VariableType::kDgeTable)
    return name.invalid("{}: a list or dge-table cannot be moved by a descriptor", quote(text));
  p.var_id = variable.var_id;
  ONRT_TRY(item.get(keys.offset, 0, kMaxBytes, p.offset));
  if (variable.type == VariableType::kPointer && p.offset != 0)
    return item.invalid("{} {}: a pointer allows only offset 0", keys.offset, p.offset);
  ONRT_TRY(read_sizes(item, keys, p));
  ONRT_TRY(check_bounds(item, p, variable));
  std::string_view dtype_name = "uint8";
  ONRT_TRY(item.get(keys.dtype, dtype_name));
  const auto dtype = dma_dtype(dtype_name);
  if (!dtype) return item.invalid("{} {}: unknown dtype", keys.dtype, quote(dtype_name));
  p.dtype = dtype->code;
  for (std::uint32_t d = 0; d < p.dims; ++d)
    if (__builtin_mul_overflow(side.bytes, p.sizes[d], &side.bytes) || side.bytes > kMaxBytes)
      return item.invalid("{}: more than {} bytes", keys.sizes, kMaxBytes);
  side.elements = side.bytes / dtype->bytes;
  if (side.bytes % dtype->bytes != 0) side.elements = 0;  // matters only where elements count
  return side;
}

Status read_op(const Json& item, Descriptor& descriptor) {
  std::string_view text = item.find("transpose_op") ? "transpose" : "copy";
  ONRT_TRY(item.get("op", text));
  const auto known = std::find_if(std::begin(kOps), std::end(kOps),
                                  [&](const auto& row) { return row.first == text; });
  if (known == std::end(kOps))
    return item.invalid("op {}: must be copy, cast, add, min, max, fma or transpose", quote(text));
  descriptor.op = known->second;
  return Status::ok();
}

Status expect_dtype(const Json& item, std::string_view key,
                    std::initializer_list<std::string_view> allowed) {
  std::string_view text = "float32";
  ONRT_TRY(item.get(key, text));
  if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return Status::ok();
  return item.invalid("{} {}: not supported", key, quote(text));
}

// One factor for all sources, or one per source.
Status read_scale(const Json& item, Descriptor& descriptor) {
  descriptor.scale.assign(descriptor.from.size(), 1.0F);
  ONRT_TRY(expect_dtype(item, "scale_dtype", {"float32"}));
  const auto scale = item.find("scale");
  if (!scale) return Status::ok();
  if (!scale->is_array()) {
    ONRT_ASSIGN(const float value, scale->real());
    descriptor.scale.assign(descriptor.from.size(), value);
    return Status::ok();
  }
  ONRT_ASSIGN(const std::size_t count, scale->array_size());
  if (count != descriptor.from.size())
    return scale->invalid("{} factors for {} sources", count, descriptor.from.size());
  std::size_t at = 0;
  return scale->for_each_element([&](const Json& element) {
    ONRT_ASSIGN(descriptor.scale[at++], element.real());
    return Status::ok();
  });
}

Status read_constant(const Json& item, Descriptor& descriptor) {
  const auto constant = item.find("constant");
  if (!constant) return Status::ok();
  ONRT_TRY(expect_dtype(item, "constant_dtype", {"float32", "int32", "uint32"}));
  ONRT_ASSIGN(descriptor.constant, constant->real());
  return Status::ok();
}

Status read_transpose(const Json& item, const Side& source, Descriptor& descriptor) {
  ONRT_ASSIGN(const Json op, item.require("transpose_op"));
  ONRT_ASSIGN(const std::string_view text, op.text());
  std::string sorted(text);
  std::sort(sorted.begin(), sorted.end());
  if (sorted != "WXYZ") return op.invalid("{}: must name W, X, Y and Z once each", quote(text));
  descriptor.transpose_op = text;
  ONRT_ASSIGN(const Json element_size, item.require("transpose_element_size"));
  ONRT_ASSIGN(const std::uint64_t element_bytes, element_size.integer(1, 16));
  descriptor.transpose_element_bytes = static_cast<std::uint32_t>(element_bytes);
  ONRT_ASSIGN(const Json shape, item.require("transpose_shape"));
  ONRT_ASSIGN(const std::size_t dims, shape.array_size());
  if (dims != kMaxDims) return shape.invalid("{} elements; must have {}", dims, kMaxDims);
  std::uint64_t bytes = element_bytes;
  std::size_t at = 0;
  ONRT_TRY(shape.for_each_element([&](const Json& dim) {
    ONRT_ASSIGN(const std::uint64_t value, dim.integer(1, kMaxU32));
    descriptor.transpose_shape[at++] = static_cast<std::uint32_t>(value);
    if (__builtin_mul_overflow(bytes, value, &bytes)) bytes = kMaxBytes + 1;
    if (bytes > kMaxBytes) return shape.invalid("more than {} bytes", kMaxBytes);
    return Status::ok();
  }));
  if (bytes == source.bytes) return Status::ok();
  return shape.invalid("{} bytes, but from_sizes gives {}", bytes, source.bytes);
}

// Copies move bytes; everything that computes moves elements.
Status check_amount(const Json& item, const Descriptor& descriptor, const Side& from,
                    const Side& to) {
  if (descriptor.op == DmaOp::kCopy || descriptor.op == DmaOp::kTranspose) {
    if (from.bytes == to.bytes) return Status::ok();
    return item.invalid("from_sizes gives {} bytes, to_sizes {}", from.bytes, to.bytes);
  }
  if (from.elements == 0)
    return item.invalid("from_sizes: {} bytes are no whole number of elements", from.bytes);
  if (to.elements == 0)
    return item.invalid("to_sizes: {} bytes are no whole number of elements", to.bytes);
  if (from.elements == to.elements) return Status::ok();
  return item.invalid("from_sizes gives {} elements, to_sizes {}", from.elements, to.elements);
}

Result<std::vector<Side>> read_sources(const Json& item, const SubgraphReader& reader, DmaOp op) {
  std::vector<Side> sources;
  const auto array = item.find("from_arr");
  if (!array) {
    ONRT_ASSIGN(Side side, read_side(item, kFrom, reader));
    sources.push_back(side);
    return sources;
  }
  const std::size_t limit = is_compute(op) ? kMaxSources : 1;
  ONRT_TRY(array->for_each_element([&](const Json& element) {
    if (sources.size() == limit) return array->invalid("more than {} sources", limit);
    ONRT_ASSIGN(Side side, read_side(element, kFrom, reader));
    sources.push_back(side);
    return Status::ok();
  }));
  if (sources.empty()) return array->invalid("no sources");
  return sources;
}

// Keys that belong to other operations would change nothing.
Status refuse_stray(const Json& item, DmaOp op) {
  const auto stray = [&](std::string_view key, std::string_view of) -> Status {
    if (!item.find(key)) return Status::ok();
    return item.invalid("{}: only {} has it", key, of);
  };
  if (op != DmaOp::kFma) {
    ONRT_TRY(stray("scale", "fma"));
    ONRT_TRY(stray("scale_dtype", "fma"));
  }
  if (op != DmaOp::kMin && op != DmaOp::kMax) {
    ONRT_TRY(stray("constant", "min or max"));
    ONRT_TRY(stray("constant_dtype", "min or max"));
  }
  if (op != DmaOp::kTranspose) {
    ONRT_TRY(stray("transpose_op", "transpose"));
    ONRT_TRY(stray("transpose_shape", "transpose"));
    ONRT_TRY(stray("transpose_element_size", "transpose"));
  }
  return Status::ok();
}

}  // namespace

Result<Descriptor> read_descriptor(const Json& item, const SubgraphReader& reader) {
  ONRT_TRY(item.expect_object());
  Descriptor descriptor;
  ONRT_TRY(read_op(item, descriptor));
  ONRT_TRY(refuse_stray(item, descriptor.op));
  ONRT_ASSIGN(const Side to, read_side(item, kTo, reader));
  ONRT_ASSIGN(const std::vector<Side> sources, read_sources(item, reader, descriptor.op));
  descriptor.to = to.pattern;
  for (const Side& side : sources) {
    if (side.pattern.dtype != sources.front().pattern.dtype)
      return item.invalid(
          "from_arr: sources of different dtypes are not supported by this release");
    ONRT_TRY(check_amount(item, descriptor, side, to));
    descriptor.from.push_back(side.pattern);
  }
  ONRT_TRY(item.get("num_tiling_dimensions", 1, kMaxDims, descriptor.tiling_dimensions));
  switch (descriptor.op) {
    case DmaOp::kFma:
      ONRT_TRY(read_scale(item, descriptor));
      break;
    case DmaOp::kMin:
    case DmaOp::kMax:
      ONRT_TRY(read_constant(item, descriptor));
      break;
    case DmaOp::kTranspose:
      ONRT_TRY(read_transpose(item, sources.front(), descriptor));
      break;
    default:
      break;
  }
  return descriptor;
}

}  // namespace opennrt::neff
