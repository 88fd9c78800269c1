// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "npy.h"

namespace opennrt::tools {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <typename T>
TypedData data(nrt_dtype_t dtype, const std::vector<T>& values) {
  TypedData d{dtype, std::vector<std::byte>(values.size() * sizeof(T))};
  std::memcpy(d.bytes.data(), values.data(), d.bytes.size());
  return d;
}
TypedData floats(const std::vector<float>& values) { return data(NRT_DTYPE_FLOAT32, values); }

Comparison compare(const TypedData& a, const TypedData& b, Tolerance t = {}) {
  std::string error;
  const auto c = compare_arrays(a, b, t, &error);
  EXPECT_TRUE(c) << error;
  return c.value_or(Comparison{});
}

TEST(Compare, CountsAndPlacesOfMismatches) {
  const Comparison c = compare(floats({1, 2, 3, 4}), floats({1, 2.5f, 3, 8}), {0, 0.25});
  EXPECT_EQ(c.elements, 4u);
  EXPECT_EQ(c.mismatches, 2u);
  EXPECT_EQ(c.first, 1u);
  EXPECT_EQ(c.worst, 3u);
  EXPECT_EQ(c.worst_value, 4);
  EXPECT_EQ(c.worst_reference, 8);
  EXPECT_EQ(c.max_absolute, 4);
  EXPECT_EQ(c.max_relative, 0.5);
}

TEST(Compare, TheToleranceIsAbsolutePlusRelativeToTheReference) {
  EXPECT_EQ(compare(floats({110}), floats({100}), {0.1, 0}).mismatches, 0u);
  EXPECT_EQ(compare(floats({111}), floats({100}), {0.1, 0}).mismatches, 1u);
  EXPECT_EQ(compare(floats({111}), floats({100}), {0.1, 1}).mismatches, 0u);
  // Relative to the reference, not to the value.
  EXPECT_EQ(compare(floats({100}), floats({90}), {0.1, 0}).mismatches, 1u);
  EXPECT_EQ(compare(floats({1}), floats({0}), {0.5, 0}).max_relative, 0);
}

TEST(Compare, NanMatchesNanOnlyAndInfinitiesTheSame) {
  const Comparison c = compare(floats({kNan, kNan, 1, kInf, kInf, -kInf, kInf}),
                               floats({kNan, 1, kNan, kInf, -kInf, -kInf, 3e38f}), {10, 10});
  EXPECT_EQ(c.mismatches, 4u);
  EXPECT_EQ(c.nan_mismatches, 4u);
  EXPECT_EQ(c.first, 1u);
  EXPECT_EQ(c.max_absolute, 0);
}

TEST(Compare, IntegersAreExact) {
  EXPECT_EQ(default_tolerance(NRT_DTYPE_INT64).rtol, 0);
  const std::int64_t big = std::int64_t{1} << 60;
  const Comparison c = compare(data<std::int64_t>(NRT_DTYPE_INT64, {big + 1, INT64_MIN}),
                               data<std::int64_t>(NRT_DTYPE_INT64, {big, INT64_MAX}));
  EXPECT_EQ(c.mismatches, 2u);
  EXPECT_EQ(c.worst, 1u);
  EXPECT_EQ(c.max_absolute, std::ldexp(1.0, 64));
  EXPECT_EQ(compare(data<std::uint8_t>(NRT_DTYPE_UINT8, {255}),
                    data<std::uint8_t>(NRT_DTYPE_UINT8, {254}))
                .max_absolute,
            1);
}

TEST(Compare, NarrowFormatsAreDecoded) {
  // bfloat16 1.5, float16 1.5 against float32 1.5.
  EXPECT_EQ(compare(data<std::uint16_t>(NRT_DTYPE_BFLOAT16, {0x3FC0}), floats({1.5f})).mismatches,
            0u);
  EXPECT_EQ(compare(data<std::uint16_t>(NRT_DTYPE_FLOAT16, {0x3E00}), floats({1.5f})).mismatches,
            0u);
  // e4m3: 0x3C = 1.5; e5m2: 0x3E = 1.5, 0x7C = infinity; e3m4: 0x38 = 1.5;
  // 0x01 of e4m3 is 2^-9.
  EXPECT_EQ(compare(data<std::uint8_t>(NRT_DTYPE_FP8_E4, {0x3C, 0xBC, 0x01}),
                    floats({1.5f, -1.5f, 0x1p-9f}))
                .mismatches,
            0u);
  EXPECT_EQ(
      compare(data<std::uint8_t>(NRT_DTYPE_FP8_E5, {0x3E, 0x7C}), floats({1.5f, kInf})).mismatches,
      0u);
  EXPECT_EQ(compare(data<std::uint8_t>(NRT_DTYPE_FP8_E3, {0x38}), floats({1.5f})).mismatches, 0u);
}

TEST(Compare, OtherNumbersOfElementsCannotBeCompared) {
  std::string error;
  EXPECT_FALSE(compare_arrays(floats({1, 2}), floats({1}), {}, &error));
  EXPECT_NE(error.find("2 elements of float32"), std::string::npos) << error;
}

TEST(Compare, ReferencesOfNarrowFormatsMayBeFloat32) {
  const std::string path = "/tmp/opennrt-compare-" + std::to_string(getpid()) + ".npy";
  std::string error;
  ASSERT_TRUE(write_array(path, NRT_DTYPE_FLOAT32, {2}, floats({1, 2}).bytes, &error)) << error;
  TypedData out;
  EXPECT_TRUE(read_reference(path, NRT_DTYPE_BFLOAT16, nullptr, &out, &error)) << error;
  EXPECT_EQ(out.dtype, NRT_DTYPE_FLOAT32);
  EXPECT_EQ(out.bytes, floats({1, 2}).bytes);
  EXPECT_FALSE(read_reference(path, NRT_DTYPE_INT32, nullptr, &out, &error));
  EXPECT_NE(error.find(path), std::string::npos) << error;
  unlink(path.c_str());
  EXPECT_FALSE(read_reference(path, NRT_DTYPE_FLOAT32, nullptr, &out, &error));
}

}  // namespace
}  // namespace opennrt::tools
