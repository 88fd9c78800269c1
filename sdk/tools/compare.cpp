// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace opennrt::tools {

namespace {

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Sign, `exponent` and `mantissa` bits; the largest exponent means infinity or NaN.
double decode_small(std::uint8_t bits, int exponent, int mantissa) {
  const int bias = (1 << (exponent - 1)) - 1;
  const int e = bits >> mantissa & ((1 << exponent) - 1);
  const int m = bits & ((1 << mantissa) - 1);
  const double sign = (bits & 0x80) != 0 ? -1.0 : 1.0;
  const int top = (1 << exponent) - 1;
  if (e == top)
    return m == 0 ? sign * std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::quiet_NaN();
  if (e == 0) return sign * std::ldexp(m, 1 - bias - mantissa);
  return sign * std::ldexp((1 << mantissa) + m, e - bias - mantissa);
}

// The element as a double; every type but the 64-bit integers fits.
double value_at(nrt_dtype_t dtype, const std::byte* at) {
  switch (dtype) {
    case NRT_DTYPE_FLOAT32:
    case NRT_DTYPE_FP32R:
      return load<float>(at);
    case NRT_DTYPE_FLOAT16:
      return static_cast<double>(load<_Float16>(at));
    case NRT_DTYPE_BFLOAT16: {
      const std::uint32_t bits = std::uint32_t{load<std::uint16_t>(at)} << 16;
      float value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    case NRT_DTYPE_INT8:
      return load<std::int8_t>(at);
    case NRT_DTYPE_INT16:
      return load<std::int16_t>(at);
    case NRT_DTYPE_INT32:
      return load<std::int32_t>(at);
    case NRT_DTYPE_INT64:
      return static_cast<double>(load<std::int64_t>(at));
    case NRT_DTYPE_UINT16:
      return load<std::uint16_t>(at);
    case NRT_DTYPE_UINT32:
      return load<std::uint32_t>(at);
    case NRT_DTYPE_UINT64:
      return static_cast<double>(load<std::uint64_t>(at));
    case NRT_DTYPE_FP8_E3:
      return decode_small(load<std::uint8_t>(at), 3, 4);
    case NRT_DTYPE_FP8_E4:
      return decode_small(load<std::uint8_t>(at), 4, 3);
    case NRT_DTYPE_FP8_E5:
      return decode_small(load<std::uint8_t>(at), 5, 2);
    default:
      return load<std::uint8_t>(at);
  }
}

bool is_float(nrt_dtype_t dtype) {
  switch (dtype) {
    case NRT_DTYPE_FLOAT32:
    case NRT_DTYPE_FP32R:
    case NRT_DTYPE_FLOAT16:
    case NRT_DTYPE_BFLOAT16:
    case NRT_DTYPE_FP8_E3:
    case NRT_DTYPE_FP8_E4:
    case NRT_DTYPE_FP8_E5:
      return true;
    default:
      return false;
  }
}

// |a - b| of 64-bit integers; other types are exact as doubles.
double distance(nrt_dtype_t dtype, const std::byte* a, const std::byte* b) {
  if (dtype == NRT_DTYPE_INT64) {
    const auto x = load<std::int64_t>(a), y = load<std::int64_t>(b);
    const auto low = static_cast<std::uint64_t>(std::min(x, y));
    return static_cast<double>(static_cast<std::uint64_t>(std::max(x, y)) - low);
  }
  const auto x = load<std::uint64_t>(a), y = load<std::uint64_t>(b);
  return static_cast<double>(std::max(x, y) - std::min(x, y));
}

bool is_wide(nrt_dtype_t dtype) { return dtype == NRT_DTYPE_INT64 || dtype == NRT_DTYPE_UINT64; }

}  // namespace

Tolerance default_tolerance(nrt_dtype_t dtype) {
  switch (dtype) {
    case NRT_DTYPE_FLOAT32:
    case NRT_DTYPE_FP32R:
      return {1e-5, 1e-6};
    case NRT_DTYPE_FLOAT16:
      return {2e-3, 1e-3};
    case NRT_DTYPE_BFLOAT16:
      return {1.6e-2, 1e-2};
    case NRT_DTYPE_FP8_E3:
    case NRT_DTYPE_FP8_E4:
    case NRT_DTYPE_FP8_E5:
      return {0.13, 0.1};
    default:
      return {};
  }
}

bool read_reference(const std::string& path, nrt_dtype_t dtype, const Shape* shape, TypedData* out,
                    std::string* error) {
  out->dtype = dtype;
  if (read_array(path, dtype, shape, &out->bytes, error)) return true;
  std::string other;
  if (!is_float(dtype) || !is_npy(path) ||
      !read_array(path, NRT_DTYPE_FLOAT32, nullptr, &out->bytes, &other))
    return false;
  out->dtype = NRT_DTYPE_FLOAT32;
  return read_array(path, NRT_DTYPE_FLOAT32, shape, &out->bytes, error);
}

std::optional<Comparison> compare_arrays(const TypedData& values, const TypedData& reference,
                                         const Tolerance& tolerance, std::string* error) {
  const nrt_dtype_t dtype = values.dtype;
  const std::size_t width = dtype_bytes(dtype), reference_width = dtype_bytes(reference.dtype);
  const std::size_t elements = values.bytes.size() / width;
  if (values.bytes.size() % width != 0 || reference.bytes.size() != elements * reference_width) {
    *error = std::to_string(elements) + " elements of " + dtype_name(dtype) +
             ", the reference has " + std::to_string(reference.bytes.size()) + " bytes of " +
             dtype_name(reference.dtype);
    return {};
  }
  Comparison c;
  c.elements = elements;
  double worst_excess = -1;
  for (std::size_t i = 0; i < c.elements; ++i) {
    const std::byte* a = values.bytes.data() + i * width;
    const std::byte* b = reference.bytes.data() + i * reference_width;
    const double value = value_at(dtype, a), expected = value_at(reference.dtype, b);
    double excess = 0;  // above the tolerance
    if (is_float(dtype) && (!std::isfinite(value) || !std::isfinite(expected))) {
      const bool equal = std::isnan(value) ? std::isnan(expected) : value == expected;
      if (equal) continue;
      ++c.nan_mismatches;
      excess = std::numeric_limits<double>::infinity();
    } else {
      const double difference =
          is_wide(dtype) ? distance(dtype, a, b) : std::fabs(value - expected);
      c.max_absolute = std::max(c.max_absolute, difference);
      if (expected != 0)
        c.max_relative = std::max(c.max_relative, difference / std::fabs(expected));
      excess = difference - (tolerance.atol + tolerance.rtol * std::fabs(expected));
      if (excess <= 0) continue;
    }
    if (c.mismatches++ == 0) {
      c.first = i;
      c.first_value = value;
      c.first_reference = expected;
    }
    if (excess > worst_excess) {
      worst_excess = excess;
      c.worst = i;
      c.worst_value = value;
      c.worst_reference = expected;
    }
  }
  return c;
}

}  // namespace opennrt::tools
