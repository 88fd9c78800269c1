// SPDX-License-Identifier: Apache-2.0
//
// ACTIVATE records and table memory content.
#pragma once

#include "compute/activation_function.h"
#include "unit/emulator_act/lab.h"

namespace opennrt::emu::test {

// One set of table memory under construction.
struct TableSet {
  std::vector<std::uint32_t> control;
  std::vector<ActivationProfile> profiles;
  std::vector<ActivationBucket> buckets;
};

class ActLab : public Lab {
 protected:
  struct Activation {
    std::uint8_t function = 1;
    std::uint32_t in = 0x100, out = 0x8000;
    std::uint32_t in_dtype = isa::kDtFloat32, out_dtype = isa::kDtFloat32;
    std::vector<int> in_counts = {8}, in_steps = {1}, out_counts = {8}, out_steps = {1};
    std::uint8_t partitions = 2;
    float scale = 1;
    float bias = 0;
    std::uint8_t accumulate = 0;
  };

  static Record activate(const Activation& a) {
    namespace ac = layout::S3D3_AC;
    Record r = record(isa::op::ACTIVATE);
    pattern(ac::src(r.data()), a.in, 3, a.in_counts, a.in_steps);
    pattern(ac::dst(r.data()), a.out, 3, a.out_counts, a.out_steps);
    ac::in_bias_dtype.set(r.data(), static_cast<std::uint8_t>(a.in_dtype | isa::kDtFloat32 << 4));
    ac::out_dtype.set(r.data(), static_cast<std::uint8_t>(a.out_dtype));
    ac::num_active_channels.set(r.data(), a.partitions);
    ac::activation_func.set(r.data(), a.function);
    ac::accumulator_cmd.set(r.data(), a.accumulate);
    ac::scale.set(r.data(), std::bit_cast<std::uint32_t>(a.scale));
    ac::bias_src_n.set(r.data(), 1);
    ac::bias.set(r.data(), std::bit_cast<std::uint32_t>(a.bias));
    return r;
  }

  // f at a single value, dense FP32.
  float value(std::uint8_t function, float x) {
    *at<float>(0x100) = x;
    ok(activate({.function = function, .in_counts = {1}, .out_counts = {1}, .partitions = 1}));
    return *at<float>(0x8000);
  }

  // Writes table memory as a program's table ring does.
  void put_tables(const std::vector<TableSet>& sets) {
    const nrtp_arch_tables& tables = *arch_->tables;
    const auto part = [&](std::size_t i) {
      return bus_->tables.data() + (tables.act[i].local - tables.act[0].local);
    };
    const std::uint32_t count = static_cast<std::uint32_t>(sets.size());
    std::memset(part(0), 0, 32);
    std::memcpy(part(0), &count, 4);
    std::uint32_t control = 0, profile = 0, bucket = 0;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const TableSet& s = sets[i];
      const std::uint32_t entry[8] = {control, static_cast<std::uint32_t>(s.control.size()),
                                      profile, static_cast<std::uint32_t>(s.profiles.size()),
                                      bucket,  static_cast<std::uint32_t>(s.buckets.size()),
                                      0,       0};
      std::memcpy(part(0) + 32 * (i + 1), entry, 32);
      for (const std::uint32_t word : s.control) {
        std::memset(part(1) + control, 0, 32);
        std::memcpy(part(1) + control, &word, 4);
        control += 32;
      }
      for (const ActivationProfile& p : s.profiles) {
        std::memcpy(part(2) + profile, &p, 128);
        profile += 128;
      }
      for (const ActivationBucket& b : s.buckets) {
        std::memcpy(part(3) + bucket, &b, 32);
        bucket += 32;
      }
    }
    ++bus_->version;
  }

  // Appends a table of `f` to a set: exponents 110 to 133, 16 Taylor cubics for
  // each; derivatives by central differences in double precision.
  template <typename F>
  static void add_table(TableSet& set, std::uint32_t id, F f, bool odd = false) {
    constexpr int kFirst = 110, kLast = 133;
    const auto bucket = [&](double x0) {
      const double h = 1e-3 * std::max(1.0, std::fabs(x0));
      const double m2 = f(x0 - 2 * h), m1 = f(x0 - h), z = f(x0), p1 = f(x0 + h),
                   p2 = f(x0 + 2 * h);
      return ActivationBucket{static_cast<float>(z),
                              static_cast<float>((m2 - 8 * m1 + 8 * p1 - p2) / (12 * h)),
                              static_cast<float>((p1 - 2 * z + m1) / (2 * h * h)),
                              static_cast<float>((p2 - 2 * p1 + 2 * m1 - m2) / (12 * h * h * h)),
                              static_cast<float>(x0),
                              {}};
    };
    ActivationProfile p{};
    p.func_id = id;
    p.nan_result = 0x7FC00000;
    p.positive_infinity_result = 0x41100000;  // 9
    p.negative_infinity_result = 0xC1100000;
    p.zero_result = std::bit_cast<std::uint32_t>(static_cast<float>(f(0)));
    p.fold = odd;
    p.invert = odd;
    p.exponent_offset = kFirst - 127;
    for (int side = 0; side < (odd ? 1 : 2); ++side) {
      const double sign = side == 0 ? 1 : -1;
      p.small_exponent[side] = kFirst;
      p.small_bucket[side] = static_cast<std::uint32_t>(set.buckets.size());
      set.buckets.push_back(bucket(0));
      p.large_exponent[side] = kLast;
      p.large_mantissa[side] = 0x400000;
      p.large_bucket[side] = static_cast<std::uint32_t>(set.buckets.size());
      set.buckets.push_back({static_cast<float>(side == 0 ? 777 : -777), 0, 0, 0, 0, {}});
      p.control_base[side] = static_cast<std::uint32_t>(set.control.size());
      for (int e = kFirst; e <= kLast; ++e) {
        const auto first = static_cast<std::uint32_t>(set.buckets.size());
        set.control.push_back(first | 19u << 11 | 4u << 16);
        for (int k = 0; k < 16; ++k)
          set.buckets.push_back(bucket(sign * std::ldexp(1 + (k + 0.5) / 16, e - 127)));
      }
    }
    set.profiles.push_back(p);
  }

  // One cubic for each sign, as for relu.
  static void add_pieces(TableSet& set, std::uint32_t id, ActivationBucket positive,
                         ActivationBucket negative, std::uint32_t zero, std::uint32_t pinf,
                         std::uint32_t ninf, std::uint32_t nan) {
    ActivationProfile p{};
    p.func_id = id;
    p.nan_result = nan;
    p.zero_result = zero;
    p.positive_infinity_result = pinf;
    p.negative_infinity_result = ninf;
    p.large_bucket[0] = static_cast<std::uint32_t>(set.buckets.size());
    p.large_bucket[1] = p.large_bucket[0] + 1;
    p.large_mantissa[0] = p.large_mantissa[1] = 1;
    set.buckets.push_back(positive);
    set.buckets.push_back(negative);
    set.profiles.push_back(p);
  }
};

}  // namespace opennrt::emu::test
