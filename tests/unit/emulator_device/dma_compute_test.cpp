// SPDX-License-Identifier: Apache-2.0
//
// Packets that compute while they copy: casts, combinations of sources,
// transposes. References are plain loops over the values, in double precision
// where that is exact.
#include <bit>
#include <cmath>
#include <random>

#include "bench.h"
#include "compute/operand.h"
#include "formats.h"

namespace opennrt::emu::test {
namespace {

constexpr std::uint32_t kMeta = 1u << 23;
constexpr std::uint32_t kCastOp = 0x2400001, kCombineOp = 0x2000000, kTransposeOp = 0x0900000;
enum : std::uint32_t { kAdd = 0, kFma = 1, kMax = 2, kMin = 3 };
enum : std::uint32_t {
  kI8 = 2,
  kU8 = 3,
  kI16 = 4,
  kU16 = 5,
  kBf16 = 6,
  kF16 = 7,
  kI32 = 8,
  kU32 = 9,
  kF32 = 10
};

class DmaCompute : public Bench {
 protected:
  static constexpr std::uint32_t kE = 6, kQ = 3;
  static constexpr std::uint64_t kOut = kData + 0x200000;

  static Desc meta(std::uint32_t source, std::uint32_t op, std::uint32_t count, std::uint32_t param,
                   std::uint32_t flags = kFirst) {
    return {kMeta | 1u << 24 | source | flags, op, std::uint64_t{param} << 32 | count};
  }
  static std::uint32_t bits(float f) { return std::bit_cast<std::uint32_t>(f); }
  static std::uint32_t types(std::uint32_t src, std::uint32_t dst) { return src << 12 | dst << 16; }

  // One packet on a fresh queue; true when it was performed.
  bool transfer(const std::vector<Desc>& t, const std::vector<Desc>& r) {
    attach(kE, kQ, 256);
    fill(kE, kQ, 0, t);
    fill(kE, kQ, 1, r);
    EXPECT_EQ(dev().queue_start(kE, kQ, static_cast<std::uint32_t>(t.size()),
                                static_cast<std::uint32_t>(r.size())),
              0);
    RingState s[2];
    dev().queue_state(kE, kQ, &s[0], &s[1]);
    return s[0].head == t.size() && s[1].head == r.size();
  }
  template <typename T>
  std::vector<T> read(std::uint64_t pa, std::size_t n) {
    std::vector<T> v(n);
    EXPECT_EQ(dev().read(pa, v.data(), n * sizeof(T)), 0);
    return v;
  }
  template <typename T>
  void write_all(std::uint64_t pa, const std::vector<T>& v) {
    ASSERT_EQ(dev().write(pa, v.data(), v.size() * sizeof(T)), 0);
  }
};

TEST_F(DmaCompute, CastsRoundOnceToNearestEven) {
  std::vector<float> values = {0.0f,           -0.0f,       1.0f,        -1.5f,      65504.0f,
                               65519.0f,       65520.0f,    1e30f,       -1e30f,     5.9604645e-8f,
                               2.9802322e-8f,  2.99e-8f,    6.1e-5f,     1.0009765f, 1.00048828125f,
                               1.00146484375f, 1.00390625f, 1.01171875f, 3.4e38f};
  std::mt19937 random(5);
  while (values.size() < 1500)
    values.push_back(std::ldexp(std::uniform_real_distribution<float>(-1, 1)(random),
                                static_cast<int>(random() % 40) - 20));
  write_all(kData, values);
  const auto n = static_cast<std::uint32_t>(values.size());
  ASSERT_TRUE(transfer({meta(0, kCastOp | types(kF32, kF16), n, 0), tx(kData, 4 * n, kLast)},
                       {rx(kOut, 2 * n)}));
  auto got = read<std::uint16_t>(kOut, n);
  for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(got[i], to_f16(values[i])) << values[i];
  ASSERT_TRUE(transfer({meta(0, kCastOp | types(kF32, kBf16), n, 0), tx(kData, 4 * n, kLast)},
                       {rx(kOut, 2 * n)}));
  got = read<std::uint16_t>(kOut, n);
  for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(got[i], to_bf16(values[i])) << values[i];
  // Back again: every half is a float.
  ASSERT_TRUE(transfer({meta(0, kCastOp | types(kBf16, kF32), n, 0), tx(kOut, 2 * n, kLast)},
                       {rx(kOut + 0x10000, 4 * n)}));
  const auto wide = read<std::uint32_t>(kOut + 0x10000, n);
  for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(wide[i], std::uint32_t{got[i]} << 16);
}

TEST_F(DmaCompute, CastsBetweenIntegersAndFloats) {
  std::vector<std::int8_t> small;
  for (int i = -128; i < 128; ++i) small.push_back(static_cast<std::int8_t>(i));
  write_all(kData, small);
  ASSERT_TRUE(transfer({meta(0, kCastOp | types(kI8, kF32), 256, 0), tx(kData, 256, kLast)},
                       {rx(kOut, 1024)}));
  const auto f = read<float>(kOut, 256);
  for (int i = 0; i < 256; ++i)
    ASSERT_EQ(f[static_cast<std::size_t>(i)], static_cast<float>(i - 128));
  ASSERT_TRUE(transfer({meta(0, kCastOp | types(kI8, kF16), 256, 0), tx(kData, 256, kLast)},
                       {rx(kOut, 512)}));
  const auto h = read<std::uint16_t>(kOut, 256);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(h[static_cast<std::size_t>(i)], to_f16(i - 128));
  // Towards integers: nearest even, clamped.
  const std::vector<float> v = {0.5f,   1.5f,   2.5f,   -0.5f,   -1.5f,
                                127.4f, 127.5f, 300.0f, -128.5f, -300.0f};
  write_all(kData, v);
  ASSERT_TRUE(
      transfer({meta(0, kCastOp | types(kF32, kI8), 10, 0), tx(kData, 40, kLast)}, {rx(kOut, 10)}));
  EXPECT_EQ(read<std::int8_t>(kOut, 10),
            (std::vector<std::int8_t>{0, 2, 2, 0, -2, 127, 127, 127, -128, -128}));
  ASSERT_TRUE(
      transfer({meta(0, kCastOp | types(kF32, kU8), 10, 0), tx(kData, 40, kLast)}, {rx(kOut, 10)}));
  EXPECT_EQ(read<std::uint8_t>(kOut, 10),
            (std::vector<std::uint8_t>{0, 2, 2, 0, 0, 127, 128, 255, 0, 0}));
}

TEST_F(DmaCompute, EqualTypesAreCopiedBitForBit) {
  const std::vector<std::uint32_t> v = {0x7FC00001, 0xFF812345, 16777217, 0x80000000};
  write_all(kData, v);
  for (const std::uint32_t type : {kF32, kI32, kU32}) {
    ASSERT_TRUE(transfer({meta(0, kCastOp | types(type, type), 4, 0), tx(kData, 16, kLast)},
                         {rx(kOut, 16)}));
    EXPECT_EQ(read<std::uint32_t>(kOut, 4), v);
  }
}

// 8-bit floats: 1-3-4, 1-4-3 and 1-5-2, each with infinity.
TEST_F(DmaCompute, CastsToAndFromEightBitFloats) {
  struct Type {
    std::uint32_t code;
    int mantissa, bias;
  };
  const Type types8[] = {{13, 4, 3}, {14, 3, 7}, {15, 2, 15}};
  std::mt19937 random(6);
  std::vector<float> values = {0.0f,     -0.0f,    240.0f,   247.9f,     248.0f,
                               57344.0f, 61439.0f, 61440.0f, 15.5f,      15.75f,
                               -1e9f,    0x1p-9f,  0x1p-10f, 0x1.8p-10f, 0x1p-17f};
  while (values.size() < 1200)
    values.push_back(std::ldexp(std::uniform_real_distribution<float>(-1, 1)(random),
                                static_cast<int>(random() % 36) - 18));
  const auto n = static_cast<std::uint32_t>(values.size());
  write_all(kData, values);
  for (const Type& type : types8) {
    const int min_exponent = 1 - type.bias;
    const int max_exponent = (1 << (7 - type.mantissa)) - 2 - type.bias;
    ASSERT_TRUE(transfer({meta(0, kCastOp | types(kF32, type.code), n, 0), tx(kData, 4 * n, kLast)},
                         {rx(kOut, n)}));
    const auto got = read<std::uint8_t>(kOut, n);
    for (std::uint32_t i = 0; i < n; ++i)
      ASSERT_EQ(got[i], to_small(values[i], type.mantissa, min_exponent, max_exponent, 7))
          << values[i] << " to type " << type.code;
    // All finite codes back to FP32.
    std::vector<std::uint8_t> codes;
    for (std::uint32_t c = 0; c < 256; ++c)
      if ((c & 0x7F) >> type.mantissa != (1u << (7 - type.mantissa)) - 1)
        codes.push_back(static_cast<std::uint8_t>(c));
    const auto m = static_cast<std::uint32_t>(codes.size());
    write_all(kData + 0x10000, codes);
    ASSERT_TRUE(
        transfer({meta(0, kCastOp | types(type.code, kF32), m, 0), tx(kData + 0x10000, m, kLast)},
                 {rx(kOut, 4 * m)}));
    const auto wide = read<float>(kOut, m);
    for (std::uint32_t i = 0; i < m; ++i) {
      const int e = (codes[i] & 0x7F) >> type.mantissa, f = codes[i] & ((1 << type.mantissa) - 1);
      const double magnitude =
          e == 0 ? std::ldexp(f, min_exponent - type.mantissa)
                 : std::ldexp(f + (1 << type.mantissa), e - type.bias - type.mantissa);
      ASSERT_EQ(wide[i], (codes[i] & 0x80) != 0 ? -magnitude : magnitude) << int{codes[i]};
    }
  }
}

// Descriptor borders anywhere, also inside elements, on odd addresses and over
// more than one conversion chunk.
TEST_F(DmaCompute, DescriptorBordersDoNotMatter) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    const std::uint32_t n = 1 + random() % 1700;
    std::vector<float> values(n);
    for (float& f : values) f = std::uniform_real_distribution<float>(-100, 100)(random);
    std::vector<std::uint8_t> bytes(4 * n);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    std::vector<Desc> t{meta(0, kCastOp | types(kF32, kF16), n, 0)}, r;
    std::uint64_t from = kData + round % 3, to = kOut + round % 5;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> parts;
    for (std::uint32_t at = 0; at < 4 * n;) {
      const std::uint32_t len = std::min<std::uint32_t>(4 * n - at, 1 + random() % 900);
      ASSERT_EQ(dev().write(from, bytes.data() + at, len), 0);
      t.push_back(tx(from, len, 0));
      at += len;
      from += len + random() % 7;
    }
    t.back().len_ctrl |= kLast;
    for (std::uint32_t at = 0; at < 2 * n;) {
      const std::uint32_t len = std::min<std::uint32_t>(2 * n - at, 1 + random() % 900);
      r.push_back(rx(to, len));
      parts.push_back({to, len});
      at += len;
      to += len + random() % 7;
    }
    ASSERT_TRUE(transfer(t, r));
    std::vector<std::uint8_t> got;
    for (const auto& [pa, len] : parts) {
      const auto part = read<std::uint8_t>(pa, len);
      got.insert(got.end(), part.begin(), part.end());
    }
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint16_t h;
      std::memcpy(&h, got.data() + 2 * i, 2);
      ASSERT_EQ(h, to_f16(values[i])) << "round " << round << " element " << i;
    }
  }
}

TEST_F(DmaCompute, CombinesOneToSixteenSources) {
  constexpr std::uint32_t kN = 1100;
  std::mt19937 random(9);
  std::vector<std::vector<float>> v(16, std::vector<float>(kN));
  for (std::uint32_t s = 0; s < 16; ++s) {
    for (float& f : v[s]) f = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 8;
    write_all(kData + s * 0x2000, v[s]);
  }
  for (const std::uint32_t op : {kAdd, kFma, kMax, kMin}) {
    for (const std::uint32_t sources : {1u, 2u, 3u, 16u}) {
      for (const bool constant : {false, true}) {
        if (constant && op < kMax) continue;
        std::vector<Desc> t;
        if (constant) t.push_back(meta(0xFFFF, kCombineOp | op | types(0, kF32), 0, bits(2.5f)));
        for (std::uint32_t s = 0; s < sources; ++s) {
          const float scale = op == kFma ? 0.25f * static_cast<float>(s + 1) : 1.0f;
          t.push_back(meta(s, kCombineOp | op | types(kF32, kF32), kN, bits(scale),
                           t.empty() ? kFirst : 0));
          t.push_back(tx(kData + s * 0x2000, 4 * kN, 0));
        }
        t.back().len_ctrl |= kLast;
        ASSERT_TRUE(transfer(t, {rx(kOut, 4 * kN)})) << op << " " << sources;
        const auto got = read<float>(kOut, kN);
        for (std::uint32_t i = 0; i < kN; ++i) {
          // Multiples of 1/32 below 2^24: every partial result is exact.
          double want = constant ? 2.5 : op == kMax ? -1e30 : op == kMin ? 1e30 : 0;
          for (std::uint32_t s = 0; s < sources; ++s) {
            const double x = v[s][i];
            if (op == kAdd) want += x;
            if (op == kFma) want += 0.25 * (s + 1) * x;
            if (op == kMax) want = std::max(want, x);
            if (op == kMin) want = std::min(want, x);
          }
          ASSERT_EQ(got[i], want) << "op " << op << " sources " << sources << " element " << i;
        }
      }
    }
  }
}

TEST_F(DmaCompute, ConstantsBelongToTheirPacket) {
  write_all<float>(kData, {1, 3});
  const std::uint32_t max = kCombineOp | kMax | types(kF32, kF32);
  const std::vector<Desc> with = {meta(0xFFFF, max, 0, bits(2)), meta(0, max, 2, bits(1), 0),
                                  tx(kData, 8, kLast)};
  std::vector<Desc> t = with;
  t.insert(t.end(), with.begin(), with.end());
  t.push_back(meta(0, max, 2, bits(1)));
  t.push_back(tx(kData, 8, kLast));
  ASSERT_TRUE(transfer(t, {rx(kOut, 8), rx(kOut + 8, 8), rx(kOut + 16, 8)}));
  EXPECT_EQ(read<float>(kOut, 6), (std::vector<float>{2, 3, 2, 3, 1, 3}));
}

TEST_F(DmaCompute, CombineMixesTypesAndRoundsOnce) {
  // 1 (bf16) + 2^-12 (f32) + 2^-12 (f32) = 1 + 2^-11: a tie of float16, to even.
  write_all<std::uint16_t>(kData, {0x3F80, 0x3F80});
  write_all<float>(kData + 64, {0x1p-12f, 0x1.8p-11f});
  write_all<float>(kData + 128, {0x1p-12f, 0x1p-11f});
  const std::uint32_t op = kCombineOp | kAdd;
  ASSERT_TRUE(transfer({meta(0, op | types(kBf16, kF16), 2, bits(1)), tx(kData, 4, 0),
                        meta(1, op | types(kF32, kF16), 2, bits(1), 0), tx(kData + 64, 8, 0),
                        meta(2, op | types(kF32, kF16), 2, bits(1), 0), tx(kData + 128, 8, kLast)},
                       {rx(kOut, 4)}));
  EXPECT_EQ(read<std::uint16_t>(kOut, 2), (std::vector<std::uint16_t>{0x3C00, 0x3C01}));
}

TEST_F(DmaCompute, NanAndInfinity) {
  const float nan = std::nanf(""), inf = INFINITY;
  write_all<float>(kData, {nan, 1.0f, inf, -inf});
  write_all<float>(kData + 64, {1.0f, nan, 2.0f, 2.0f});
  for (const std::uint32_t op : {kMax, kMin, kAdd}) {
    ASSERT_TRUE(transfer(
        {meta(0, kCombineOp | op | types(kF32, kF32), 4, bits(1)), tx(kData, 16, 0),
         meta(1, kCombineOp | op | types(kF32, kF32), 4, bits(1), 0), tx(kData + 64, 16, kLast)},
        {rx(kOut, 16)}));
    const auto got = read<float>(kOut, 4);
    EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[1])) << op;
    EXPECT_EQ(got[2], op == kMin ? 2.0f : inf) << op;
    EXPECT_EQ(got[3], op == kMax ? 2.0f : -inf) << op;
  }
  ASSERT_TRUE(
      transfer({meta(0, kCastOp | types(kF32, kF16), 4, 0), tx(kData, 16, kLast)}, {rx(kOut, 8)}));
  const auto h = read<std::uint16_t>(kOut, 4);
  EXPECT_EQ(h[0] & 0x7E00, 0x7E00);
  EXPECT_EQ(h[2], 0x7C00);
  EXPECT_EQ(h[3], 0xFC00);
}

TEST_F(DmaCompute, TransposesEveryOrder) {
  std::mt19937 random(11);
  std::uint32_t order[4] = {0, 1, 2, 3};
  do {
    for (const std::uint32_t element : {1u, 2u, 3u, 4u, 8u}) {
      std::uint32_t size[4];
      for (auto& s : size) s = 1 + random() % 9;
      size[random() % 4] = 35 + random() % 10;  // more than a tile
      const std::uint64_t total = std::uint64_t{size[0]} * size[1] * size[2] * size[3] * element;
      std::vector<std::uint8_t> in(total);
      for (auto& b : in) b = static_cast<std::uint8_t>(random());
      write_all(kData + 1, in);
      std::uint32_t word = kTransposeOp | element;
      for (std::uint32_t k = 0; k < 4; ++k) word |= order[k] << (8 + 2 * k);
      Desc m{kMeta | 1u << 24 | kFirst, word, 0};
      for (std::uint32_t k = 0; k < 4; ++k) m.address |= std::uint64_t{size[k]} << (16 * k);
      // In one, two or three pieces on each side.
      std::vector<Desc> t{m}, r;
      const auto pieces = [&](std::uint64_t base, bool source) {
        std::uint64_t at = 0;
        for (int k = static_cast<int>(random() % 3); at < total; --k) {
          const std::uint64_t n = k <= 0 ? std::min<std::uint64_t>(total - at, 65535)
                                         : std::min<std::uint64_t>(total - at, 1 + random() % 500);
          if (source)
            t.push_back(tx(base + at, static_cast<std::uint32_t>(n), 0));
          else
            r.push_back(rx(base + at, static_cast<std::uint32_t>(n)));
          at += n;
        }
      };
      pieces(kData + 1, true);
      pieces(kOut, false);
      t.back().len_ctrl |= kLast;
      ASSERT_TRUE(transfer(t, r));
      const auto got = read<std::uint8_t>(kOut, total);
      // Walk the output; the index of source dimension order[k] is counter k.
      std::uint64_t at = 0;
      std::uint32_t i[4];
      for (i[3] = 0; i[3] < size[order[3]]; ++i[3])
        for (i[2] = 0; i[2] < size[order[2]]; ++i[2])
          for (i[1] = 0; i[1] < size[order[1]]; ++i[1])
            for (i[0] = 0; i[0] < size[order[0]]; ++i[0]) {
              std::uint64_t s[4] = {};
              for (std::uint32_t k = 0; k < 4; ++k) s[order[k]] = i[k];
              const std::uint64_t from =
                  ((s[3] * size[2] + s[2]) * size[1] + s[1]) * size[0] + s[0];
              for (std::uint32_t b = 0; b < element; ++b, ++at)
                ASSERT_EQ(got[at], in[from * element + b])
                    << "order " << order[0] << order[1] << order[2] << order[3];
            }
    }
  } while (std::next_permutation(order, order + 4));
}

TEST_F(DmaCompute, TransposeInPlace) {
  std::vector<std::uint16_t> in(30 * 40);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint16_t>(i);
  write_all(kData, in);
  const Desc m{kMeta | 1u << 24 | kFirst,
               kTransposeOp | 2 | 1u << 8 | 0u << 10 | 2u << 12 | 3u << 14,
               40ull | 30ull << 16 | 1ull << 32 | 1ull << 48};
  ASSERT_TRUE(transfer({m, tx(kData, 2400, kLast)}, {rx(kData, 2400)}));
  const auto got = read<std::uint16_t>(kData, in.size());
  for (std::size_t x = 0; x < 40; ++x)
    for (std::size_t y = 0; y < 30; ++y) ASSERT_EQ(got[x * 30 + y], in[y * 40 + x]);
}

TEST_F(DmaCompute, TransposeOntoAPartOfItself) {
  std::vector<std::uint16_t> in(30 * 40);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint16_t>(i);
  const Desc m{kMeta | 1u << 24 | kFirst,
               kTransposeOp | 2 | 1u << 8 | 0u << 10 | 2u << 12 | 3u << 14,
               40ull | 30ull << 16 | 1ull << 32 | 1ull << 48};
  for (const bool up : {true, false}) {
    const std::uint64_t from = up ? kData : kData + 500, to = up ? kData + 500 : kData;
    write_all(from, in);
    ASSERT_TRUE(transfer({m, tx(from, 2400, kLast)}, {rx(to, 2400)}));
    const auto got = read<std::uint16_t>(to, in.size());
    for (std::size_t x = 0; x < 40; ++x)
      for (std::size_t y = 0; y < 30; ++y) ASSERT_EQ(got[x * 30 + y], in[y * 40 + x]) << up;
  }
}

TEST_F(DmaCompute, MixedPacketsKeepTheirOrderAndWaitForDescriptors) {
  write_all<float>(kData, {1.5f, 2.5f});
  const std::vector<Desc> t = {meta(0, kCastOp | types(kF32, kI32), 2, 0), tx(kData, 8, kLast),
                               tx(kOut, 8), tx(dma().event_const_addr[1], 4)};
  const std::vector<Desc> r = {rx(kOut, 4), rx(kOut + 4, 4), rx(kOut + 64, 8),
                               rx(sem(0, 33, NRTP_SEM_INC), 4)};
  attach(kE, kQ, 64);
  fill(kE, kQ, 0, t);
  fill(kE, kQ, 1, r);
  // The META descriptor alone, then one of two receive descriptors: nothing moves.
  dev().queue_start(kE, kQ, 1, 1);
  dev().queue_start(kE, kQ, 1, 0);
  EXPECT_EQ(get<std::uint32_t>(kOut), 0u);
  dev().queue_start(kE, kQ, 2, 3);
  EXPECT_EQ(read<std::int32_t>(kOut + 64, 2), (std::vector<std::int32_t>{2, 2}));
  EXPECT_EQ(dev().semaphore_read(0, 33), 1u);
  EXPECT_EQ(log_lines(), 0u);
}

TEST_F(DmaCompute, WrongPacketsStopTheQueue) {
  struct Case {
    std::vector<Desc> t, r;
    const char* text;
  };
  const std::uint32_t cast = kCastOp | types(kF32, kF16),
                      add = kCombineOp | kAdd | types(kF32, kF32),
                      max = kCombineOp | kMax | types(kF32, kF32);
  const auto tr = [](std::uint32_t word, std::uint64_t sizes) {
    return Desc{kMeta | 1u << 24 | kFirst, kTransposeOp | word, sizes};
  };
  const std::uint64_t two = 2ull | 2ull << 16 | 1ull << 32 | 1ull << 48;
  auto on_rx = rx(kOut, 4);
  on_rx.len_ctrl |= kMeta;
  const Case cases[] = {
      {{meta(0, cast, 2, 0), tx(kData, 4, kLast)},
       {rx(kOut, 4)},
       "needs 8 bytes, its descriptors have 4"},
      {{meta(0, cast, 1, 0), tx(kData, 4, kLast)}, {rx(kOut, 4)}, "ends inside an RX descriptor"},
      {{meta(0, cast, 0, 0), tx(kData, 4, kLast)}, {rx(kOut, 4)}, "0 elements"},
      {{meta(1, cast, 1, 0), tx(kData, 4, kLast)}, {rx(kOut, 2)}, "source number 1, expected 0"},
      {{meta(0, cast, 1, 7), tx(kData, 4, kLast)}, {rx(kOut, 2)}, "cast with parameter"},
      {{meta(0xFFFF, cast, 0, 0), tx(kData, 4, kLast)}, {rx(kOut, 2)}, "not min or max"},
      {{meta(0, kCastOp | types(1, kF32), 1, 0), tx(kData, 8, kLast)},
       {rx(kOut, 4)},
       "source data type 1"},
      {{meta(0, kCastOp | types(kF32, 12), 1, 0), tx(kData, 4, kLast)},
       {rx(kOut, 8)},
       "destination data type 12"},
      {{meta(0, 0x2400002, 1, 0), tx(kData, 4, kLast)}, {rx(kOut, 2)}, "(extension)"},
      {{meta(0, 0x0A00004, 1, 0), tx(kData, 4, kLast)}, {rx(kOut, 4)}, "(replication)"},
      {{meta(0, 0x0800001, 1, 0), tx(kData, 4, kLast)}, {rx(kOut, 4)}, "(striding split)"},
      {{meta(0, 0x2500000, 1, 0), tx(kData, 4, kLast)}, {rx(kOut, 4)}, "(gradient)"},
      {{meta(0, kCombineOp | 4 | types(kF32, kF32), 1, 0), tx(kData, 4, kLast)},
       {rx(kOut, 4)},
       "not implemented"},
      {{meta(0, add, 1, bits(2)), tx(kData, 4, kLast)}, {rx(kOut, 4)}, "not fma"},
      {{meta(0, add, 1, bits(1)), tx(kData, 4, 0), meta(0, add, 1, bits(1), 0),
        tx(kData, 4, kLast)},
       {rx(kOut, 4)},
       "source number 0, expected 1"},
      {{meta(0, add, 1, bits(1)), tx(kData, 4, 0), meta(1, add, 2, bits(1), 0),
        tx(kData, 8, kLast)},
       {rx(kOut, 4)},
       "source 1 has 2 elements"},
      {{meta(0, add, 1, bits(1)), tx(kData, 4, 0), meta(1, max, 1, bits(1), 0),
        tx(kData, 4, kLast)},
       {rx(kOut, 4)},
       "in a packet of operation"},
      {{meta(0xFFFF, max, 0, 0, kFirst | kLast)}, {rx(kOut, 4)}, "without a source"},
      {{meta(0xFFFF, max, 0, 0), tx(kData, 4, kLast)}, {rx(kOut, 4)}, "data of a constant"},
      {{meta(0xFFFF, max, 1, 0), tx(kData, 4, kLast)}, {rx(kOut, 4)}, "element count"},
      {{meta(0xFFFF, max, 0, 0), meta(0xFFFF, max, 0, 0, kLast)}, {rx(kOut, 4)}, "second constant"},
      {{tx(kData, 4, kFirst), meta(0, add, 1, bits(1), kLast)},
       {rx(kOut, 4)},
       "inside a plain copy"},
      {{meta(0, cast, 1, 0), tx(kData, 4, 0), meta(1, cast, 1, 0, 0), tx(kData, 4, kLast)},
       {rx(kOut, 2)},
       "second META"},
      {{meta(0, add, 1, bits(1)), tx(kData, 4, kLast)}, {on_rx}, "META descriptor on the RX ring"},
      {{tr(2 | 0xE400, two & ~0xFFFFull), tx(kData, 8, kLast)},
       {rx(kOut, 8)},
       "size 0 in dimension 0"},
      {{tr(0 | 0xE400, two), tx(kData, 8, kLast)}, {rx(kOut, 8)}, "0 bytes"},
      {{tr(2 | 0x0000, two), tx(kData, 8, kLast)}, {rx(kOut, 8)}, "names a dimension twice"},
      {{tr(2 | 0xE400 | 0x20, two), tx(kData, 8, kLast)}, {rx(kOut, 8)}, "unknown bits"},
      {{tr(2 | 0xE400, two), tx(kData, 6, kLast)}, {rx(kOut, 8)}, "6 bytes of source descriptors"},
      {{tr(2 | 0xE400, ~0ull), tx(kData, 6, kLast)}, {rx(kOut, 8)}, "in one packet"},
  };
  for (const Case& c : cases) {
    put<std::uint64_t>(kOut, 0x5555555555555555);
    EXPECT_FALSE(transfer(c.t, c.r)) << c.text;
    expect_logged({"DMA engine 6 queue 3 descriptor at", c.text, "stops until it is reset"});
    EXPECT_EQ(get<std::uint64_t>(kOut), 0x5555555555555555u) << c.text;
  }
  // One source too many.
  std::vector<Desc> t;
  for (std::uint32_t s = 0; s < 17; ++s) {
    t.push_back(meta(s, add, 1, bits(1), s == 0 ? kFirst : 0));
    t.push_back(tx(kData, 4, s == 16 ? kLast : 0));
  }
  EXPECT_FALSE(transfer(t, {rx(kOut, 4)}));
  expect_logged({"at most 16 sources"});
}

// Packets of all kinds on several rings, released in random portions: the same
// memory as one after the other.
TEST_F(DmaCompute, RandomInterleavingOfRings) {
  constexpr std::uint32_t kQueues = 6, kPackets = 40;
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    std::vector<float> want(kQueues * kPackets);
    std::vector<Desc> t[kQueues], r[kQueues];
    for (std::uint32_t q = 0; q < kQueues; ++q) {
      attach(kE + q, kQ, 512);
      for (std::uint32_t p = 0; p < kPackets; ++p) {
        const std::uint32_t slot = q * kPackets + p;
        // Each packet reads what the packet before it on this ring has written.
        const std::uint64_t in = p == 0 ? kData + 4 * q : kOut + 4 * (slot - 1),
                            out = kOut + 4 * slot;
        if (p == 0) put<float>(in, static_cast<float>(q));
        const float before = p == 0 ? static_cast<float>(q) : want[slot - 1];
        if (random() % 2) {
          t[q].push_back(tx(in, 4));
          want[slot] = before;
        } else {
          const std::uint32_t op = kCombineOp | kFma | types(kF32, kF32);
          t[q].push_back(meta(0, op, 1, bits(1)));
          t[q].push_back(tx(in, 4, 0));
          t[q].push_back(meta(1, op, 1, bits(0.5f), 0));
          t[q].push_back(tx(in, 4, kLast));
          want[slot] = before + 0.5f * before;
        }
        r[q].push_back(rx(out, 4));
      }
      fill(kE + q, kQ, 0, t[q]);
      fill(kE + q, kQ, 1, r[q]);
    }
    std::uint32_t sent[kQueues][2] = {};
    for (bool more = true; more;) {
      more = false;
      const std::uint32_t q = random() % kQueues, side = random() % 2;
      const auto left =
          static_cast<std::uint32_t>((side ? r[q].size() : t[q].size())) - sent[q][side];
      const std::uint32_t n = std::min<std::uint32_t>(left, 1 + random() % 9);
      sent[q][side] += n;
      dev().queue_start(kE + q, kQ, side ? 0 : n, side ? n : 0);
      for (std::uint32_t k = 0; k < kQueues; ++k)
        more |= sent[k][0] != t[k].size() || sent[k][1] != r[k].size();
    }
    const auto got = read<float>(kOut, want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_EQ(got[i], want[i]) << "seed " << seed << " slot " << i;
  }
  EXPECT_EQ(log_lines(), 0u);
}

}  // namespace
}  // namespace opennrt::emu::test
