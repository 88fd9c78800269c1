// SPDX-License-Identifier: Apache-2.0
//
// Operations while copying: the expected descriptors are written by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "test_program.h"

namespace opennrt::tdrv::test {
namespace {

using neff::VariableType;

constexpr std::uint32_t kMeta = 1u << 23, kId = 1u << 24, kFirst = 1u << 26, kLast = 1u << 27,
                        kDmb = 1u << 30, kConcat = 1u << 31;
constexpr std::uint32_t kCopyWord = 0x01080003;
constexpr std::uint64_t kSrc = 0x1'0000'0000, kDst = 0x2'0000'0000, kSbuf = 0xfffc0000000;
constexpr std::uint64_t kOne = 0x2000000004, kSemInc8 = 0xfffc0000000 + 0x2701800 + 4 * 8;
constexpr std::uint8_t kF32 = 10, kF16 = 7, kI8 = 2, kBf16 = 6;

void expect_ring(const std::vector<DmaDescriptor>& ring, const std::vector<DmaDescriptor>& want) {
  ASSERT_EQ(ring.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(ring[i].len_ctrl, want[i].len_ctrl);
    EXPECT_EQ(ring[i].meta_ctrl, want[i].meta_ctrl);
    EXPECT_EQ(ring[i].address, want[i].address);
  }
}
neff::AccessPattern typed(neff::AccessPattern p, std::uint8_t dtype) {
  p.dtype = dtype;
  return p;
}

class Compute : public ::testing::Test {
 protected:
  Compute() {
    sb_ = p_.add_variable("SB", VariableType::kStateBuffer, 0, 0);
    a_ = p_.add_variable("a", VariableType::kFile, 1 << 20, kSrc);
    b_ = p_.add_variable("b", VariableType::kTmpBuf, 1 << 20, kDst);
    x_ = p_.add_variable("x", VariableType::kInput, 1 << 20, kCaller);
    set_ = &p_.add_set("q", neff::QueueType::kData, neff::Engine::kSp);
  }
  QueueRings lower(neff::Descriptor d, std::uint32_t queues,
                   const nrtp_arch_plugin& arch = sunda()) {
    set_->num_queues = queues;
    set_->blocks = {block(0, {std::move(d)})};
    auto rings = p_.rings(*set_, arch);
    EXPECT_TRUE(rings.is_ok()) << rings.status().message();
    return rings.is_ok() ? *std::move(rings) : QueueRings{};
  }
  std::string refused(neff::Descriptor d, const nrtp_arch_plugin& arch = sunda()) {
    set_->blocks = {block(5, {std::move(d)})};
    auto rings = p_.rings(*set_, arch);
    EXPECT_FALSE(rings.is_ok());
    EXPECT_EQ(rings.status().code(), NRT_INVALID);
    return std::string(rings.status().message());
  }

  TestProgram p_;
  std::uint32_t sb_ = 0, a_ = 0, b_ = 0, x_ = 0;
  neff::QueueSet* set_ = nullptr;
};
#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

// Two rows of 4 float32 to float16 on one ring: a packet per row.
TEST_F(Compute, CastIsOnePacketPerRow) {
  neff::Descriptor d;
  d.op = neff::DmaOp::kCast;
  d.from = {typed(pattern(sb_, 256, {16, 2}, {1, kPartition}), kF32)};
  d.to = typed(pattern(b_, 0, {8, 2}, {1, 100}), kF16);
  const QueueRings q = lower(d, 1);
  constexpr std::uint32_t kWord = 0x2400000 | 1 | 10 << 12 | 7 << 16;
  expect_ring(q.rings[0].tx, {{kMeta | kId | kFirst | kConcat, kWord, 4},
                              {16 | kId | kLast, kCopyWord, kSbuf + 256},
                              {kMeta | kId | kFirst | kConcat, kWord, 4},
                              {16 | kId | kLast | kDmb, kCopyWord, kSbuf + 256 + kPartition},
                              {4 | kId | kFirst | kLast, kCopyWord, kOne}});
  expect_ring(q.rings[0].rx, {{8 | kId | kFirst | kLast, 0, kDst},
                              {8 | kId | kFirst | kLast, 0, kDst + 100},
                              {4 | kId | kFirst | kLast, 0, kSemInc8}});
  ASSERT_EQ(q.blocks.size(), 1u);
  EXPECT_EQ(q.blocks[0].m2s, 5u);
  EXPECT_EQ(q.blocks[0].s2m, 3u);
}

// Three elements in two runs of six bytes: the middle one lies in both.
TEST_F(Compute, ElementsAcrossRowsAreKept) {
  neff::Descriptor d;
  d.op = neff::DmaOp::kCast;
  d.from = {typed(pattern(a_, 0, {6, 2}, {1, 100}), kF32)};
  d.to = typed(pattern(b_, 0, {6}, {1}), kF16);
  const QueueRings q = lower(d, 2);
  std::uint64_t elements = 0, from = 0, to = 0;
  for (const VirtualRing& ring : q.rings) {
    for (const DmaDescriptor& t : ring.tx) {
      if ((t.len_ctrl & kMeta) != 0) {
        elements += t.address;
      } else if (t.address >= kSrc && t.address < kSrc + 200) {
        from += t.len_ctrl & 0xFFFF;
      }
    }
    for (const DmaDescriptor& r : ring.rx) {
      if (r.address >= kDst && r.address < kDst + 6) to += r.len_ctrl & 0xFFFF;
    }
  }
  EXPECT_EQ(elements, 3u);
  EXPECT_EQ(from, 12u);
  EXPECT_EQ(to, 6u);
}

// 128 rows of 128 int8: what profiles of real runs count.
TEST_F(Compute, CastCountsOfRealRuns) {
  neff::Descriptor d;
  d.op = neff::DmaOp::kCast;
  d.from = {typed(pattern(a_, 0, {128, 128}, {1, 128}), kI8)};
  d.to = typed(pattern(sb_, 0, {512, 128}, {1, kPartition}), kF32);
  const QueueRings q = lower(d, 16);
  EXPECT_EQ(q.blocks[0].m2s, 17u);
  EXPECT_EQ(q.blocks[0].s2m, 9u);
  for (std::uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(q.rings[i].rx[0].address, kSbuf + 8 * i * kPartition);
    EXPECT_EQ(q.rings[i].tx[1].address, kSrc + 8 * i * 128);
  }
}

TEST_F(Compute, AddHasAMetaPerSource) {
  neff::Descriptor d;
  d.op = neff::DmaOp::kAdd;
  d.from = {typed(pattern(sb_, 0, {512}, {1}), kF32), typed(pattern(a_, 64, {512}, {1}), kF32)};
  d.to = typed(pattern(sb_, 1024, {512}, {1}), kF32);
  const QueueRings q = lower(d, 1);
  constexpr std::uint32_t kWord = 0x2000000 | 10 << 12 | 10 << 16;
  constexpr std::uint64_t kUnit = std::uint64_t{0x3F800000} << 32;
  expect_ring(q.rings[0].tx, {{kMeta | kId | kFirst | kConcat, kWord, 128 | kUnit},
                              {512 | kId | kConcat, kCopyWord, kSbuf},
                              {1 | kMeta | kId | kConcat, kWord, 128 | kUnit},
                              {512 | kId | kLast | kDmb, kCopyWord, kSrc + 64},
                              {4 | kId | kFirst | kLast, kCopyWord, kOne}});
  expect_ring(q.rings[0].rx, {{512 | kId | kFirst | kLast, 0, kSbuf + 1024},
                              {4 | kId | kFirst | kLast, 0, kSemInc8}});
}

TEST_F(Compute, MaxWithAConstantAndFmaWithScales) {
  neff::Descriptor d;
  d.op = neff::DmaOp::kMax;
  d.from = {typed(pattern(a_, 0, {8}, {1}), kBf16)};
  d.to = typed(pattern(b_, 0, {16}, {1}), kF32);
  d.constant = -1.5f;
  QueueRings q = lower(d, 1);
  constexpr std::uint32_t kMax = 0x2000000 | 2 | 6 << 12 | 10 << 16;
  EXPECT_EQ(q.rings[0].tx[0].meta_ctrl, kMax);
  EXPECT_EQ(q.rings[0].tx[0].address & 0xFFFFFFFF, 4u);
  EXPECT_EQ(q.rings[0].tx[2].len_ctrl & ~kDmb, 0xFFFF | kMeta | kId | kLast);
  EXPECT_EQ(q.rings[0].tx[2].meta_ctrl, kMax);
  EXPECT_EQ(q.rings[0].tx[2].address, std::uint64_t{0xBFC00000} << 32);

  d.op = neff::DmaOp::kMin;
  q = lower(d, 1);
  EXPECT_EQ(q.rings[0].tx[0].meta_ctrl, 0x2000000u | 3 | 6 << 12 | 10 << 16);

  d.op = neff::DmaOp::kFma;
  d.constant.reset();
  d.from.push_back(typed(pattern(a_, 8, {8}, {1}), kBf16));
  d.scale = {0.5f, -2.0f};
  q = lower(d, 1);
  EXPECT_EQ(q.rings[0].tx[0].meta_ctrl, 0x2000000u | 1 | 6 << 12 | 10 << 16);
  EXPECT_EQ(q.rings[0].tx[0].address >> 32, 0x3F000000u);
  EXPECT_EQ(q.rings[0].tx[2].address >> 32, 0xC0000000u);
}

// Reductions hold 1024 elements at most.
TEST_F(Compute, LongRowsOfAReductionAreCut) {
  neff::Descriptor d;
  d.op = neff::DmaOp::kAdd;
  d.from = {typed(pattern(a_, 0, {10000}, {1}), kF32),
            typed(pattern(a_, 20000, {10000}, {1}), kF32)};
  d.to = typed(pattern(b_, 0, {10000}, {1}), kF32);
  const QueueRings q = lower(d, 1);
  std::vector<std::uint64_t> counts;
  for (const DmaDescriptor& t : q.rings[0].tx) {
    if ((t.len_ctrl & kMeta) != 0 && (t.len_ctrl & 0xFFFF) == 0) {
      counts.push_back(t.address & 0xFFFFFFFF);
    }
  }
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{1024, 1024, 452}));
}

// 16 rows of one element each in 4-byte runs: a packet is bounded.
TEST_F(Compute, PacketsStayWithinTheArchsLimits) {
  neff::Descriptor d;
  d.op = neff::DmaOp::kCast;
  d.from = {typed(pattern(a_, 0, {4, 300}, {1, 8}), kF32)};
  d.to = typed(pattern(b_, 0, {600}, {1}), kF16);
  const QueueRings q = lower(d, 1);
  d.from = {typed(pattern(a_, 0, {4, 300, 1}, {1, 8, 0}), kF32)};
  const QueueRings row = lower(d, 1);  // one row of 300 runs
  std::size_t tx = 0, packets = 0;
  std::uint64_t elements = 0;
  for (const DmaDescriptor& t : row.rings[0].tx) {
    tx = (t.len_ctrl & kFirst) != 0 ? 1 : tx + 1;
    EXPECT_LE(tx, 128u);
    if ((t.len_ctrl & kMeta) != 0) {
      ++packets;
      elements += t.address;
    }
  }
  EXPECT_EQ(elements, 300u);
  EXPECT_GE(packets, 3u);
  EXPECT_EQ(q.rings[0].tx.size(), 2 * 300u + 1);
}

// Where descriptors run out before elements, reductions are cut at multiples of 32.
TEST_F(Compute, ReductionsAreCutInUnits) {
  neff::Descriptor d;
  d.op = neff::DmaOp::kAdd;
  d.from = {typed(pattern(a_, 0, {4, 300, 1}, {1, 8, 0}), kF32)};
  d.to = typed(pattern(b_, 0, {1200}, {1}), kF32);
  const QueueRings q = lower(d, 1);
  std::vector<std::uint64_t> counts;
  for (const DmaDescriptor& t : q.rings[0].tx) {
    if ((t.len_ctrl & kMeta) != 0) counts.push_back(t.address & 0xFFFFFFFF);
  }
  ASSERT_GE(counts.size(), 3u);
  std::uint64_t sum = counts.back();
  for (std::size_t i = 0; i + 1 < counts.size(); ++i) {
    EXPECT_EQ(counts[i] % 32, 0u) << counts[i];
    sum += counts[i];
  }
  EXPECT_EQ(sum, 300u);
}

// 127 runs with their META descriptor are a whole packet of 128; a constant is
// one more.
TEST_F(Compute, ConstantTakesAPlaceInThePacket) {
  neff::Descriptor d;
  d.op = neff::DmaOp::kMax;
  d.from = {typed(pattern(a_, 0, {4, 127, 1}, {1, 8, 0}), kF32)};
  d.to = typed(pattern(b_, 0, {508}, {1}), kF32);
  for (const bool constant : {false, true}) {
    if (constant) d.constant = 0.5f;
    const QueueRings q = lower(d, 1);
    std::size_t n = 0, packets = 0, constants = 0;
    for (const DmaDescriptor& t : q.rings[0].tx) {
      n = (t.len_ctrl & kFirst) != 0 ? 1 : n + 1;
      EXPECT_LE(n, 128u);
      packets += (t.len_ctrl & kMeta) != 0 && (t.len_ctrl & 0xFFFF) == 0;
      constants += (t.len_ctrl & kMeta) != 0 && (t.len_ctrl & 0xFFFF) == 0xFFFF;
    }
    EXPECT_EQ(packets, constant ? 2u : 1u);
    EXPECT_EQ(constants, constant ? 2u : 0u);
  }
}

// The parameters of a META descriptor may look like a template: 1.0f does.
TEST_F(Compute, ParametersAreNoTemplates) {
  neff::Descriptor d;
  d.op = neff::DmaOp::kAdd;
  d.from = {typed(pattern(x_, 4, {64}, {1}), kF32), typed(pattern(a_, 0, {64}, {1}), kF32)};
  d.to = typed(pattern(b_, 0, {64}, {1}), kF32);
  const QueueRings q = lower(d, 1);
  EXPECT_TRUE(q.caller_sources);
  const auto& tx = q.rings[0].tx;
  EXPECT_TRUE(is_template(tx[0].address));
  EXPECT_FALSE(is_template(tx[0]));
  EXPECT_TRUE(is_template(tx[1]));
  EXPECT_EQ(template_variable(tx[1].address), x_);
  EXPECT_EQ(template_offset(tx[1].address), 4u);
}

neff::Descriptor transpose(neff::AccessPattern from, neff::AccessPattern to,
                           std::array<std::uint32_t, 4> shape, const char* op,
                           std::uint32_t element = 2) {
  neff::Descriptor d;
  d.op = neff::DmaOp::kTranspose;
  d.from = {from};
  d.to = to;
  d.transpose_shape = shape;
  d.transpose_op = op;
  d.transpose_element_bytes = element;
  return d;
}

// As in compiled convolutions: one row, so all of it is on the last ring.
TEST_F(Compute, TransposeOfAMatrixIsOnePacketOfTheLastRing) {
  const QueueRings q = lower(
      transpose(pattern(a_, 0, {32, 8, 1, 1}, {1, 32, 32, 256}),
                pattern(sb_, 64, {16, 16, 1, 1}, {1, kPartition, 0, 0}), {1, 1, 8, 16}, "WZXY"),
      16);
  const auto& ring = q.rings[15];
  // Output dimensions Y, X, Z, W by source dimension: 1, 0, 2, 3.
  constexpr std::uint32_t kWord = 0x0900000 | 2 | (1 | 0 << 2 | 2 << 4 | 3 << 6) << 8;
  EXPECT_EQ(ring.tx[0].len_ctrl, kMeta | kId | kFirst | kConcat);
  EXPECT_EQ(ring.tx[0].meta_ctrl, kWord);
  EXPECT_EQ(ring.tx[0].address, 16u | 8u << 16 | 1ull << 32 | 1ull << 48);
  EXPECT_EQ(ring.tx[1].len_ctrl, 256 | kId | kLast);
  EXPECT_EQ(ring.tx[1].address, kSrc);
  for (std::uint32_t x = 0; x < 16; ++x) {
    EXPECT_EQ(ring.rx[x].len_ctrl & 0xFFFF, 16u);
    EXPECT_EQ(ring.rx[x].address, kSbuf + 64 + x * kPartition);
  }
  EXPECT_NE(ring.rx[15].len_ctrl & kLast, 0u);
  for (const VirtualRing& r : q.rings) {
    EXPECT_EQ(r.tx.size(), q.blocks[0].m2s);
    EXPECT_EQ(r.rx.size(), q.blocks[0].s2m);
  }
}

// Silicon whose packets are smaller than the matrix: cuts in both dimensions,
// never one packet per row.
TEST_F(Compute, TransposeLargerThanAPacketIsCutIntoFewBoxes) {
  ArchCopy arch;
  arch.dma.max_tx_per_packet = arch.dma.max_rx_per_packet = 64;
  const QueueRings q =
      lower(transpose(pattern(a_, 0, {256, 128}, {1, 256}),
                      pattern(sb_, 0, {256, 128, 1}, {1, kPartition, 0}), {1, 1, 128, 128}, "WZXY"),
            16, arch.plugin);
  std::size_t packets = 0;
  for (const DmaDescriptor& d : q.rings[15].tx) packets += (d.len_ctrl & kMeta) != 0 ? 1 : 0;
  // 64 columns a side at most, and 32 rows of part columns: 2 x 4 boxes.
  EXPECT_EQ(packets, 8u);
  EXPECT_LE(q.blocks[0].m2s, 8 * 33u + 1);
  EXPECT_LE(q.blocks[0].s2m, 8 * 64u + 1);
}

// What the packets say, executed byte by byte, for every order of dimensions
// and a small packet limit that forces cuts.
TEST_F(Compute, EveryTransposeMovesEachElementToItsPlace) {
  constexpr std::array<std::uint32_t, 4> kShape{2, 3, 4, 5};  // W, Z, Y, X
  std::string order = "WXYZ";
  std::size_t packets = 0;
  do {
    for (const std::uint32_t limit : {3u, 9u, 128u}) {
      SCOPED_TRACE(order + " limit " + std::to_string(limit));
      ArchCopy arch;
      arch.dma.max_tx_per_packet = arch.dma.max_rx_per_packet = limit;
      const auto d = transpose(pattern(a_, 0, {10, 24}, {1, 16}), pattern(b_, 0, {6, 40}, {1, 8}),
                               kShape, order.c_str());
      const QueueRings q = lower(d, 16, arch.plugin);
      std::map<std::uint64_t, std::uint64_t> moved;  // destination -> source, by element
      for (const VirtualRing& ring : q.rings) {
        std::size_t r = 0;
        for (std::size_t t = 0; t < ring.tx.size();) {
          std::vector<std::uint64_t> source, target;
          const DmaDescriptor head = ring.tx[t];
          std::size_t n = 0;
          for (bool last = false; !last; ++t, ++n) {
            last = (ring.tx[t].len_ctrl & kLast) != 0;
            if ((ring.tx[t].len_ctrl & kMeta) != 0) continue;
            for (std::uint32_t b = 0; b < (ring.tx[t].len_ctrl & 0xFFFF); b += 1)
              source.push_back(ring.tx[t].address + b);
          }
          EXPECT_LE(n, std::max(limit, 4u));
          for (bool last = false; !last; ++r) {
            last = (ring.rx[r].len_ctrl & kLast) != 0;
            for (std::uint32_t b = 0; b < (ring.rx[r].len_ctrl & 0xFFFF); b += 1)
              target.push_back(ring.rx[r].address + b);
          }
          ASSERT_EQ(source.size(), target.size());
          if (target[0] >= TestProgram::kFiller && target[0] < TestProgram::kFiller + 4) continue;
          if (head.address == kOne) continue;
          std::array<std::uint64_t, 4> size{source.size() / 2, 1, 1, 1};
          std::array<std::uint32_t, 4> from{0, 1, 2, 3};
          if ((head.len_ctrl & kMeta) != 0) {
            ++packets;
            for (int i = 0; i < 4; ++i) {
              size[i] = head.address >> (16 * i) & 0xFFFF;
              from[i] = head.meta_ctrl >> (8 + 2 * i) & 3;
            }
          }
          ASSERT_EQ(2 * size[0] * size[1] * size[2] * size[3], source.size());
          std::uint64_t k = 0;
          std::array<std::uint64_t, 4> o{};
          for (o[3] = 0; o[3] < size[from[3]]; ++o[3])
            for (o[2] = 0; o[2] < size[from[2]]; ++o[2])
              for (o[1] = 0; o[1] < size[from[1]]; ++o[1])
                for (o[0] = 0; o[0] < size[from[0]]; ++o[0], ++k) {
                  std::array<std::uint64_t, 4> s{};
                  for (int i = 0; i < 4; ++i) s[from[i]] = o[i];
                  const std::uint64_t e =
                      s[0] + size[0] * (s[1] + size[1] * (s[2] + size[2] * s[3]));
                  ASSERT_TRUE(moved.emplace(target[2 * k], source[2 * e]).second);
                  ASSERT_EQ(target[2 * k + 1], target[2 * k] + 1);
                }
        }
      }
      ASSERT_EQ(moved.size(), 120u);
      // Expected: read in W, Z, Y, X order, written in the named order.
      std::uint64_t out = 0;
      std::array<std::uint32_t, 4> n{}, at{};
      const auto dimension = [&](char c) { return std::string("WZYX").find(c); };
      for (int i = 0; i < 4; ++i) n[i] = kShape[dimension(order[i])];
      for (at[0] = 0; at[0] < n[0]; ++at[0])
        for (at[1] = 0; at[1] < n[1]; ++at[1])
          for (at[2] = 0; at[2] < n[2]; ++at[2])
            for (at[3] = 0; at[3] < n[3]; ++at[3], ++out) {
              std::array<std::uint64_t, 4> s{};
              for (int i = 0; i < 4; ++i) s[dimension(order[i])] = at[i];
              const std::uint64_t in = s[3] + 5 * (s[2] + 4 * (s[1] + 3 * s[0]));
              const std::uint64_t target = kDst + out / 3 * 8 + out % 3 * 2;
              ASSERT_EQ(moved.at(target), kSrc + in / 5 * 16 + in % 5 * 2);
            }
    }
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_GT(packets, 24u);
}

TEST_F(Compute, ThePluginsEncodingIsUsedOnAnyPlatform) {
  ArchCopy arch;
  static nrtp_dma_op seen;
  arch.dma.encode_compute_op = [](const nrtp_dma_op* op, std::uint8_t(*tx)[16], std::uint32_t* n_tx,
                                  std::uint8_t(*rx)[16], std::uint32_t* n_rx) {
    seen = *op;
    std::memset(tx[0], 0x11, 16);
    std::memset(rx[0], 0x22, 16);
    *n_tx = *n_rx = 1;
    return static_cast<int>(NRTP_OK);
  };
  neff::Descriptor d;
  d.op = neff::DmaOp::kCast;
  d.from = {typed(pattern(a_, 0, {16}, {1}), kF32)};
  d.to = typed(pattern(b_, 0, {8}, {1}), kF16);
  set_->num_queues = 1;
  set_->blocks = {block(0, {d})};
  const auto q = p_.rings(*set_, arch.plugin, NRTP_PLATFORM_SILICON);
  ASSERT_TRUE(q.is_ok()) << q.status().message();
  EXPECT_EQ(seen.op, 1u);
  EXPECT_EQ(seen.src_dtype, 10u);
  EXPECT_EQ(seen.dst_dtype, 7u);
  EXPECT_EQ(seen.n_sources, 1u);
  EXPECT_EQ(seen.n_dst, 1u);
  EXPECT_EQ(q->rings[0].rx[0].address, 0x2222222222222222u);
  arch.dma.encode_compute_op = [](const nrtp_dma_op*, std::uint8_t(*)[16], std::uint32_t*,
                                  std::uint8_t(*)[16],
                                  std::uint32_t*) { return static_cast<int>(NRTP_INVALID); };
  EXPECT_HAS(refused(d, arch.plugin), "cannot encode");
}

TEST_F(Compute, RefusalsNameBlockDescriptorAndOperation) {
  neff::Descriptor d;
  d.op = neff::DmaOp::kAdd;
  d.from = {typed(pattern(a_, 0, {64}, {1}), kF32), typed(pattern(a_, 0, {64}, {1}), kBf16)};
  d.to = typed(pattern(b_, 0, {64}, {1}), kF32);
  std::string text = refused(d);
  EXPECT_HAS(text, "block 5 of queue set 'q' in sg00, descriptor 0: DMA add");
  EXPECT_HAS(text, "source 1 has dtype code 6, source 0 has 10");
  d.from[1].dtype = kF32;
  d.from[1].sizes[0] = 60;
  EXPECT_HAS(refused(d), "source 1 has 60 bytes, 16 elements of 4 bytes are needed");
  d.op = neff::DmaOp::kCast;
  EXPECT_HAS(refused(d), "cast has 1 to 1 sources, this one has 2");
  d.from.resize(1);
  d.to.dtype = 99;
  EXPECT_HAS(refused(d), "dtype code 99");
  auto t = transpose(pattern(a_, 0, {256}, {1}), pattern(b_, 0, {256}, {1}), {1, 1, 8, 16}, "WZXX");
  EXPECT_HAS(refused(t), "transpose_op 'WZXX'");
  t.transpose_op = "WZXY";
  t.transpose_shape[3] = 17;
  EXPECT_HAS(refused(t), "transpose_shape has 272 bytes, the patterns 256 and 256");
}

TEST_F(Compute, BlocksOfFunctionsAndOfSeveralInstancesAreRefused) {
  set_->blocks = {block(0, {copy(pattern(a_, 0, {64}, {1}), pattern(b_, 0, {64}, {1}))})};
  set_->blocks[0].function_start = "f";
  auto rings = p_.rings(*set_);
  ASSERT_FALSE(rings.is_ok());
  EXPECT_HAS(std::string(rings.status().message()),
             "block 0 of queue set 'q' in sg00 belongs to "
             "function 'f'");
  set_->blocks[0].function_start.clear();
  set_->blocks.push_back(set_->blocks[0]);
  set_->blocks[1].id = 1;
  set_->blocks[1].instance_name = "q_b";
  rings = p_.rings(*set_);
  ASSERT_FALSE(rings.is_ok());
  EXPECT_HAS(std::string(rings.status().message()), "'q_b'");
}

}  // namespace
}  // namespace opennrt::tdrv::test
