// SPDX-License-Identifier: Apache-2.0
//
// Makes plans of single records over a small device memory and runs them;
// reads and writes elements of any type in double precision.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compute/plan.h"
#include "device/bus.h"
#include "opennrt/arch.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

extern "C" const nrtp_arch_plugin* nrtp_arch_query(std::uint32_t host_major,
                                                   std::uint32_t host_minor);

namespace opennrt::emu::test {

namespace op = isa::op;
namespace alu = isa::code::alu_op;
namespace layout = isa::layout;

// Codes of the data types, short.
enum : std::uint8_t {
  kI8 = 2,
  kU8,
  kI16,
  kU16,
  kBf16,
  kF16,
  kI32,
  kU32,
  kF32,
  kF32r,
  kI64,
  kE3,
  kE4,
  kE5
};

inline int bytes_of(int type) {
  switch (type) {
    case kI8:
    case kU8:
    case kE3:
    case kE4:
    case kE5:
      return 1;
    case kI16:
    case kU16:
    case kBf16:
    case kF16:
      return 2;
    case 1:
    case kI64:
      return 8;
    default:
      return 4;
  }
}

struct FloatLayout {
  int exponent, fraction;
};
inline FloatLayout float_layout(int type) {
  switch (type) {
    case kBf16:
      return {8, 7};
    case kF16:
      return {5, 10};
    case kE3:
      return {3, 4};
    case kE4:
      return {4, 3};
    case kE5:
      return {5, 2};
    default:
      return {8, 23};
  }
}

// Value of a bit pattern.
inline double decode(int type, std::uint64_t bits) {
  switch (type) {
    case kI8:
      return static_cast<std::int8_t>(bits);
    case kU8:
      return static_cast<std::uint8_t>(bits);
    case kI16:
      return static_cast<std::int16_t>(bits);
    case kU16:
      return static_cast<std::uint16_t>(bits);
    case kI32:
      return static_cast<std::int32_t>(bits);
    case kU32:
      return static_cast<std::uint32_t>(bits);
    default:
      break;
  }
  const FloatLayout l = float_layout(type);
  const int bias = (1 << (l.exponent - 1)) - 1, top = (1 << l.exponent) - 1;
  const int e = static_cast<int>(bits >> l.fraction) & top;
  const auto f = static_cast<double>(bits & ((1ull << l.fraction) - 1));
  double v;
  if (e == top)
    v = f != 0 ? NAN : INFINITY;
  else if (e == 0)
    v = std::ldexp(f, 1 - bias - l.fraction);
  else
    v = std::ldexp(f + std::ldexp(1.0, l.fraction), e - bias - l.fraction);
  return (bits >> (l.exponent + l.fraction) & 1) != 0 ? -v : v;
}

// The value nearest to x that the type has: ties to even, integers saturate, NaN
// becomes integer 0, floats overflow to infinity.
inline double nearest(int type, double x) {
  const auto even = [](double q) {
    double r = std::floor(q);
    if (q - r > 0.5 || (q - r == 0.5 && std::fmod(r, 2) != 0)) r += 1;
    return r;
  };
  const auto integer = [&](double low, double high) {
    if (std::isnan(x)) return 0.0;
    if (x <= low) return low;
    if (x >= high) return high;
    return even(x);
  };
  switch (type) {
    case kI8:
      return integer(-128, 127);
    case kU8:
      return integer(0, 255);
    case kI16:
      return integer(-32768, 32767);
    case kU16:
      return integer(0, 65535);
    case kI32:
      return integer(-2147483648.0, 2147483647.0);
    case kU32:
      return integer(0, 4294967295.0);
    default:
      break;
  }
  if (std::isnan(x) || std::isinf(x) || x == 0) return x;
  const FloatLayout l = float_layout(type);
  const int bias = (1 << (l.exponent - 1)) - 1;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(x), 1 - bias) - l.fraction);
  const double r = even(std::fabs(x) / unit) * unit;
  const double max = std::ldexp(2.0 - std::ldexp(1.0, -l.fraction), bias);
  return std::copysign(r > max ? INFINITY : r, x);
}

inline double f32(double x) { return nearest(kF32, x); }

// An operand of up to four dimensions.
struct Tensor {
  std::uint32_t address = 0;
  int type = kF32;
  std::vector<int> step, count;

  int total() const {
    int n = 1;
    for (const int c : count) n *= c;
    return n;
  }
  // Elements from the start to element i in stream order.
  int offset(int i) const {
    int at = 0;
    for (std::size_t d = 0; d < count.size(); ++d) {
      at += i % count[d] * step[d];
      i /= count[d];
    }
    return at;
  }
  void encode(std::uint8_t* bytes, std::size_t dims) const {
    ASSERT_LE(count.size(), dims);
    std::memcpy(bytes, &address, 4);
    for (std::size_t d = 0; d < dims; ++d) {
      const auto s = static_cast<std::int16_t>(d < step.size() ? step[d] : 0);
      const auto c = static_cast<std::uint16_t>(d < count.size() ? count[d] : 1);
      std::memcpy(bytes + 4 + 2 * d, &s, 2);
      std::memcpy(bytes + 4 + 2 * dims + 2 * d, &c, 2);
    }
  }
};

inline Tensor row(std::uint32_t address, int type, int n) { return {address, type, {1}, {n}}; }
inline std::uint32_t bits_of(float v) { return std::bit_cast<std::uint32_t>(v); }
inline std::uint8_t pair(int low, int high) { return static_cast<std::uint8_t>(low | high << 4); }

struct Record {
  std::uint8_t bytes[isa::kRecordBytes] = {};
  explicit Record(std::uint8_t opcode) {
    bytes[0] = opcode;
    bytes[1] = 0x10;
  }
  template <typename Field, typename Value>
  Record& set(Field field, Value value) {
    field.set(bytes, static_cast<typename Field::Type>(value));
    return *this;
  }
  template <typename Part>
  Record& tensor(Part part, const Tensor& t, std::size_t dims) {
    t.encode(part(bytes), dims);
    return *this;
  }
};

class VectorTest : public ::testing::Test, private Bus {
 protected:
  static constexpr std::uint32_t kPartition = 0x40000;  // SBUF stride
  static constexpr std::uint32_t kPsum = 0x2000000, kPsumPartition = 0x8000;

  VectorTest() {
    const nrtp_arch_plugin* arch = nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR);
    const nrtp_arch_geometry& g = *arch->geometry;
    MemoryConfig config{};
    config.hbm_channels = g.n_hbm;
    config.hbm_channel_bytes = 1 << 20;
    config.host_bytes = 1 << 20;
    config.cores = arch->products[0].cores;
    config.sbuf_window_bytes = g.sbuf_window_bytes;
    config.psum_window_bytes = g.psum_window_bytes;
    std::string error;
    memory_ = DeviceMemory::create(config, &error);
    EXPECT_TRUE(memory_) << error;
    map_ = std::make_unique<AddressMap>(arch, &arch->products[0], *memory_, config.cores);
    state.bus = this;
    state.engine = NRTP_ENGINE_DVE;
  }

  EngineState state;
  std::uint32_t engine = NRTP_ENGINE_DVE;
  isa::Generation generation = isa::Generation::kMariana;
  NumericConfig numeric;

  std::uint8_t* at(const Tensor& t, int partition, int i = 0) {
    const bool psum = t.address >= kPsum;
    std::uint8_t* base = psum ? map_->psum(0) + (t.address - kPsum) : map_->sbuf(0) + t.address;
    return base + partition * static_cast<std::int64_t>(psum ? kPsumPartition : kPartition) +
           t.offset(i) * static_cast<std::int64_t>(bytes_of(t.type));
  }
  std::uint64_t raw(const Tensor& t, int p, int i) {
    std::uint64_t v = 0;
    std::memcpy(&v, at(t, p, i), static_cast<std::size_t>(bytes_of(t.type)));
    return v;
  }
  void put_raw(const Tensor& t, int p, int i, std::uint64_t v) {
    std::memcpy(at(t, p, i), &v, static_cast<std::size_t>(bytes_of(t.type)));
  }
  double get(const Tensor& t, int p, int i) { return decode(t.type, raw(t, p, i)); }

  // Random bit patterns; for floats also NaN, infinities and subnormals when
  // `wild`, else numbers around 1.
  void fill(const Tensor& t, int partitions, bool wild = false) {
    for (int p = 0; p < partitions; ++p)
      for (int i = 0; i < t.total(); ++i) {
        std::uint64_t v = random_();
        if (!wild && t.type >= kBf16 && t.type != kI32 && t.type != kU32) {
          const FloatLayout l = float_layout(t.type);
          const auto bias = static_cast<std::uint64_t>((1 << (l.exponent - 1)) - 1);
          const std::uint64_t sign = random_() & 1;
          v = sign << (l.exponent + l.fraction) | (bias - 1 + random_() % 3) << l.fraction |
              (random_() & ((1ull << l.fraction) - 1));
        }
        put_raw(t, p, i, v);
      }
  }

  std::unique_ptr<ComputePlan> plan(const Record& r, std::string* error) {
    return plan_compute({*map_, 0, engine, generation, numeric}, r.bytes, error);
  }
  void run(const Record& r) {
    std::string error;
    const auto made = plan(r, &error);
    ASSERT_TRUE(made) << error;
    ASSERT_TRUE(made->execute(state, &error)) << error;
  }
  // The record is refused, with this in the text.
  void refused(const Record& r, const std::string& text) {
    std::string error;
    EXPECT_EQ(plan(r, &error), nullptr) << text;
    EXPECT_NE(error.find(text), std::string::npos) << error << " / expected: " << text;
  }
  // Made, but its execution fails with this in the text.
  void fails(const Record& r, const std::string& text) {
    std::string error;
    const auto made = plan(r, &error);
    ASSERT_TRUE(made) << error;
    EXPECT_FALSE(made->execute(state, &error));
    EXPECT_NE(error.find(text), std::string::npos) << error << " / expected: " << text;
  }
  // Element i of partition p is the type's nearest value to the FP32 value.
  void expect(const Tensor& t, int p, int i, double fp32) {
    const double want = nearest(t.type, f32(fp32)), got = get(t, p, i);
    if (std::isnan(want))
      ASSERT_TRUE(std::isnan(got)) << "partition " << p << " element " << i << " is " << got;
    else
      ASSERT_EQ(got, want) << "partition " << p << " element " << i << " type " << t.type;
  }

 private:
  const AddressMap& map() const override { return *map_; }
  // Memory of tables, all of it zero.
  bool bus_read(std::uint64_t, void* out, std::uint64_t bytes, const Origin&) override {
    std::memset(out, 0, bytes);
    return true;
  }
  bool bus_write(std::uint64_t, const void*, std::uint64_t, const Origin&) override {
    return false;
  }
  SyncBank& sync(std::uint32_t) override { std::abort(); }
  void notify(std::uint32_t, std::uint32_t, const Notification&) override {}
  void report(const Origin&, ErrorType, std::uint16_t, const std::string&) override {}

  std::shared_ptr<DeviceMemory> memory_;
  std::unique_ptr<AddressMap> map_;

 protected:
  std::mt19937_64 random_{42};
};

// The operations by code, in double precision.
inline double apply(std::uint32_t code, double a, double b) {
  const auto truth = [](bool v) { return v ? 1.0 : 0.0; };
  switch (code) {
    case alu::BYPASS:
      return a;
    case alu::ADD:
      return a + b;
    case alu::SUBTRACT:
      return a - b;
    case alu::MULT:
      return a * b;
    case alu::DIVIDE:
      return a / b;
    case alu::MAX:
      return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
    case alu::MIN:
      return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b);
    case alu::LOGICAL_AND:
      return truth(a != 0 && b != 0);
    case alu::LOGICAL_OR:
      return truth(a != 0 || b != 0);
    case alu::LOGICAL_XOR:
      return truth((a != 0) != (b != 0));
    case alu::IS_EQ:
      return truth(a == b);
    case alu::IS_GT:
      return truth(a > b);
    case alu::IS_GE:
      return truth(a >= b);
    case alu::IS_LE:
      return truth(a <= b);
    case alu::IS_LT:
      return truth(a < b);
    case alu::IS_NE:
      return truth(a != b);
    case alu::ABSOLUTE_DIFF:
      return std::fabs(a - b);
    case alu::ABSOLUTE_VALUE:
      return std::fabs(a);
    case alu::POW:
      return std::pow(a, b);
    case alu::MOD:
      return std::isfinite(a) && std::isfinite(b) && b != 0 ? a - b * std::floor(a / b) : NAN;
    case alu::RSQRT:
      return 1.0 / std::sqrt(a);
    case alu::ABS_MAX:
      return apply(alu::MAX, std::fabs(a), std::fabs(b));
    case alu::ABS_MIN:
      return apply(alu::MIN, std::fabs(a), std::fabs(b));
    case alu::RELU:
      return std::isnan(a) ? NAN : std::max(a, 0.0);
    case alu::SQUARE:
      return a * a;
    default:
      ADD_FAILURE() << "operation " << code;
      return 0;
  }
}

inline constexpr std::uint32_t kExactOps[] = {
    alu::BYPASS,      alu::ADD,        alu::SUBTRACT, alu::MULT,          alu::DIVIDE,
    alu::MAX,         alu::MIN,        alu::IS_EQ,    alu::IS_GT,         alu::IS_GE,
    alu::IS_LE,       alu::IS_LT,      alu::IS_NE,    alu::ABSOLUTE_DIFF, alu::ABSOLUTE_VALUE,
    alu::LOGICAL_AND, alu::LOGICAL_OR, alu::ABS_MAX,  alu::ABS_MIN,       alu::LOGICAL_XOR,
    alu::RELU,        alu::SQUARE};

}  // namespace opennrt::emu::test
