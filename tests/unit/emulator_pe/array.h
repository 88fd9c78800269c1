// SPDX-License-Identifier: Apache-2.0
//
// SBUF and PSUM of one core, short-hands to build PE records and to execute
// them one after the other as an engine does.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
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

namespace lw = isa::layout::S3_LW;
namespace mm = isa::layout::S3D3_MM;
namespace fp32 = isa::code::fp32_mode;
namespace acc = isa::code::psum_accumulate;
using isa::Generation;

using Record = std::array<std::uint8_t, 64>;

inline std::uint32_t type_bytes(std::uint32_t dtype) {
  if (dtype >= isa::kDtFloat8e3 && dtype <= isa::kDtFloat8e5) return 1;
  return dtype == isa::kDtBfloat16 || dtype == isa::kDtFloat16 ? 2 : 4;
}

// Value of a float format of any width, field by field; the largest exponent
// holds infinity and NaN.
inline double field_value(std::uint32_t v, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int e = static_cast<int>(v >> fraction_bits) & ((1 << exponent_bits) - 1);
  const double f = static_cast<double>(v & ((1u << fraction_bits) - 1));
  double x = e == 0 ? std::ldexp(f, 1 - bias - fraction_bits)
                    : std::ldexp(std::ldexp(1.0, fraction_bits) + f, e - bias - fraction_bits);
  if (e == (1 << exponent_bits) - 1) x = f != 0 ? NAN : INFINITY;
  return v >> (exponent_bits + fraction_bits) & 1 ? -x : x;
}

inline double value_of(std::uint32_t bits, std::uint32_t dtype) {
  switch (dtype) {
    case isa::kDtFloat8e3:
      return field_value(bits, 3, 4);
    case isa::kDtFloat8e4:
      return field_value(bits, 4, 3);
    case isa::kDtFloat8e5:
      return field_value(bits, 5, 2);
    case isa::kDtBfloat16:
      return field_value(bits, 8, 7);
    case isa::kDtFloat16:
      return field_value(bits, 5, 10);
    default:
      return std::bit_cast<float>(bits);
  }
}

class PeTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kPsum = 0x2000000;
  static constexpr std::uint32_t kSbufStride = 0x40000, kPsumStride = 0x8000;
  static constexpr std::uint64_t kProgram = 0x1100000;

  PeTest() {
    arch_ = nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR);
    for (std::uint32_t i = 0; i < arch_->n_products; ++i)
      if (std::string(arch_->products[i].name) == "trn1.2xlarge") product_ = &arch_->products[i];
    const nrtp_arch_geometry& g = *arch_->geometry;
    MemoryConfig config{};
    config.hbm_channels = g.n_hbm;
    config.hbm_channel_bytes = 64 << 20;
    config.host_bytes = 1 << 20;
    config.cores = 1;
    config.sbuf_window_bytes = g.sbuf_window_bytes;
    config.psum_window_bytes = g.psum_window_bytes;
    std::string error;
    memory_ = DeviceMemory::create(config, &error);
    EXPECT_TRUE(memory_) << error;
    map_ = std::make_unique<AddressMap>(arch_, product_, *memory_, 1);
    bus_ = std::make_unique<MapBus>(*map_);
    state_.bus = bus_.get();
  }

  // --- memory

  std::uint8_t* sbuf(std::uint32_t address) { return memory_->sbuf(0).data() + address; }
  std::uint8_t* psum(std::uint32_t partition, std::uint32_t offset = 0) {
    return memory_->psum(0).data() + partition * kPsumStride + offset;
  }
  float psum_f32(std::uint32_t partition, std::uint32_t index) {
    float v;
    std::memcpy(&v, psum(partition, 4 * index), 4);
    return v;
  }
  void put_psum(std::uint32_t partition, std::uint32_t index, float v) {
    std::memcpy(psum(partition, 4 * index), &v, 4);
  }

  std::uint32_t get(std::uint32_t address, std::uint32_t index, std::uint32_t bytes) {
    std::uint32_t v = 0;
    std::memcpy(&v, sbuf(address) + index * bytes, bytes);
    return v;
  }
  // Fills elements 0..n-1 of the partitions with random bits of finite, moderate
  // values (|v| < 4).
  void randomise(std::uint32_t address, std::uint32_t partitions, std::uint32_t n,
                 std::uint32_t dtype) {
    for (std::uint32_t p = 0; p < partitions; ++p)
      for (std::uint32_t i = 0; i < n; ++i) {
        std::uint32_t bits;
        do {
          bits = static_cast<std::uint32_t>(random_());
          if (type_bytes(dtype) < 4) bits &= (1u << 8 * type_bytes(dtype)) - 1;
        } while (!(std::fabs(value_of(bits, dtype)) < 4));
        std::memcpy(sbuf(address + p * kSbufStride) + i * type_bytes(dtype), &bits,
                    type_bytes(dtype));
      }
  }

  // --- records

  struct View {
    std::uint32_t address = 0;
    std::vector<int> step, count;
    std::uint32_t total() const {
      std::uint32_t n = 1;
      for (const int c : count) n *= static_cast<std::uint32_t>(c);
      return n;
    }
    // Element offset of the i-th element in stream order.
    int at(std::uint32_t i) const {
      int offset = 0;
      for (std::size_t k = 0; k < count.size(); ++k) {
        offset += static_cast<int>(i) % count[k] * step[k];
        i /= static_cast<std::uint32_t>(count[k]);
      }
      return offset;
    }
  };
  static View dense(std::uint32_t address, int n) { return {address, {1}, {n}}; }
  // A row of n values read from its end, as compilers do.
  static View backwards(std::uint32_t address, std::uint32_t dtype, int n) {
    return {address + static_cast<std::uint32_t>(n - 1) * type_bytes(dtype), {-1}, {n}};
  }

  static void put_pattern(std::uint8_t* to, const View& v) {
    std::memcpy(to, &v.address, 4);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto step = static_cast<std::int16_t>(i < v.step.size() ? v.step[i] : 0);
      const auto count = static_cast<std::uint16_t>(i < v.count.size() ? v.count[i] : 1);
      std::memcpy(to + 4 + 2 * i, &step, 2);
      std::memcpy(to + 10 + 2 * i, &count, 2);
    }
  }

  struct Shape {
    std::uint32_t dtype = isa::kDtFloat16;
    std::uint32_t rows = 128, columns = 128;
    std::uint32_t row_group = 15, column_group = 15;
    std::uint32_t fp32_mode = 0, transpose = 0;
  };
  Record load_weights(const View& source, const Shape& s) {
    Record r{};
    r[0] = isa::op::LDWEIGHTS;
    r[1] = 0x10;
    put_pattern(lw::sunda::src(r.data()), source);
    set(r, lw::cayman::in_dtype, s.dtype);
    set(r, lw::cayman::fp32_mode, s.fp32_mode);
    set(r, lw::cayman::transpose_mode, s.transpose);
    set(r, lw::cayman::num_active_rows, s.rows);
    set(r, lw::cayman::num_active_cols, s.columns);
    set(r, lw::cayman::row_grp, s.row_group);
    set(r, lw::cayman::col_grp, s.column_group);
    return r;
  }
  Record matmul(const View& source, const View& destination, std::uint32_t flags, const Shape& s) {
    Record r{};
    r[0] = isa::op::MATMUL;
    r[1] = 0x10;
    put_pattern(mm::sunda::src(r.data()), source);
    put_pattern(mm::sunda::dst(r.data()), destination);
    set(r, mm::cayman::in_dtype, s.dtype);
    set(r, mm::cayman::fp32_mode, s.fp32_mode);
    set(r, mm::cayman::transpose_mode, s.transpose);
    set(r, mm::cayman::num_active_rows, s.rows);
    set(r, mm::cayman::num_active_cols, s.columns);
    set(r, mm::cayman::psum_accumulate_flags, flags);
    set(r, mm::cayman::row_grp, s.row_group);
    set(r, mm::cayman::col_grp, s.column_group);
    return r;
  }
  template <typename Field>
  static void set(Record& r, const Field& field, std::uint32_t value) {
    field.set(r.data(), static_cast<typename Field::Type>(value));
  }

  // --- execution

  std::unique_ptr<ComputePlan> plan(const Record& r, std::string* error) {
    return plan_compute({*map_, 0, NRTP_ENGINE_PE, generation_}, r.data(), error);
  }
  // Records from kProgram on; empty, or what the first failing one says.
  std::string run(const std::vector<Record>& records) {
    std::uint8_t* program = map_->memory(kProgram, 64 * records.size() + 64);
    std::memset(program + 64 * records.size(), 0, 64);
    std::memcpy(program, records.data(), 64 * records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      std::string error;
      const auto p = plan(records[i], &error);
      if (!p) return error;
      state_.pc = kProgram + 64 * i;
      if (!p->execute(state_, &error)) return error.empty() ? "no reason given" : error;
    }
    return {};
  }

  // --- expectations

  // Double precision product of what is in SBUF, and the sum of magnitudes.
  struct Dot {
    double sum, magnitude;
  };
  Dot dot(const View& stationary, std::uint32_t w_dtype, const View& moving, std::uint32_t x_dtype,
          std::uint32_t rows, std::uint32_t columns, std::uint32_t c, std::uint32_t n) {
    Dot d{0, 0};
    for (std::uint32_t r = 0; r < rows; ++r) {
      const auto element = [&](const View& v, std::uint32_t dtype, std::uint32_t i) {
        std::uint32_t bits = 0;
        std::memcpy(
            &bits,
            sbuf(v.address + r * kSbufStride) + v.at(i) * static_cast<int>(type_bytes(dtype)),
            type_bytes(dtype));
        return value_of(bits, dtype);
      };
      // The first streamed element is the highest column.
      const double p = element(stationary, w_dtype, columns - 1 - c) * element(moving, x_dtype, n);
      d.sum += p;
      d.magnitude += std::fabs(p);
    }
    return d;
  }

  class MapBus final : public Bus {
   public:
    explicit MapBus(const AddressMap& map) : map_(map) {}
    const AddressMap& map() const override { return map_; }
    bool bus_read(std::uint64_t, void*, std::uint64_t, const Origin&) override { return false; }
    bool bus_write(std::uint64_t, const void*, std::uint64_t, const Origin&) override {
      return false;
    }
    SyncBank& sync(std::uint32_t) override { return sync_; }
    void notify(std::uint32_t, std::uint32_t, const Notification&) override {}
    void report(const Origin&, ErrorType, std::uint16_t, const std::string&) override {}

   private:
    const AddressMap& map_;
    SyncBank sync_;
  };

  const nrtp_arch_plugin* arch_ = nullptr;
  const nrtp_product* product_ = nullptr;
  std::unique_ptr<DeviceMemory> memory_;
  std::unique_ptr<AddressMap> map_;
  std::unique_ptr<MapBus> bus_;
  EngineState state_;
  Generation generation_ = Generation::kCayman;
  std::mt19937 random_{20240611};
};

}  // namespace opennrt::emu::test
