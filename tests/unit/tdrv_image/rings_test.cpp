// SPDX-License-Identifier: Apache-2.0
//
// DMA blocks as rings: what the descriptors move, checked by executing them on
// byte maps, and how they are packed.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tdrv/image/block_split.h"
#include "test_program.h"

namespace opennrt::tdrv::test {
namespace {

using neff::VariableType;

constexpr std::uint32_t kFirst = 1u << 26, kLast = 1u << 27, kStrong = 1u << 29, kDmb = 1u << 30,
                        kConcat = 1u << 31;
constexpr std::uint64_t kConst0 = 0x2000000000, kConst1 = 0x2000000004;
constexpr std::uint64_t kSemInc8 = 0xfffc0000000 + 0x2701800 + 4 * 8;
constexpr std::uint64_t kSrc = 0x1'0000'0000, kDst = 0x2'0000'0000;
constexpr std::uint64_t kSbuf = 0xfffc0000000;

std::uint64_t length(const DmaDescriptor& d) {
  return (d.len_ctrl & 0xFFFF) == 0 ? 65536 : d.len_ctrl & 0xFFFF;
}
bool is_increment(const DmaDescriptor& tx) { return tx.address == kConst1; }
bool is_padding(const DmaDescriptor& rx) {
  return rx.address >= TestProgram::kFiller && rx.address < TestProgram::kFiller + 4;
}

// destination byte -> source byte, of all data descriptors of all rings; every
// packet must be whole, balanced and within `max` descriptors.
std::map<std::uint64_t, std::uint64_t> execute(const QueueRings& q, std::size_t max = 128) {
  std::map<std::uint64_t, std::uint64_t> moved;
  for (const VirtualRing& ring : q.rings) {
    std::size_t t = 0, r = 0;
    while (t < ring.tx.size() && r < ring.rx.size()) {
      std::vector<std::uint64_t> source, target;
      const auto take = [&](const std::vector<DmaDescriptor>& list, std::size_t& i,
                            std::vector<std::uint64_t>& bytes) {
        const std::size_t begin = i;
        for (bool last = false; !last && i < list.size(); ++i) {
          const DmaDescriptor& d = list[i];
          EXPECT_EQ((d.len_ctrl & kFirst) != 0, i == begin);
          last = (d.len_ctrl & kLast) != 0;
          EXPECT_EQ((d.len_ctrl & kConcat) != 0, !last);
          EXPECT_EQ(d.len_ctrl >> 24 & 3, 1u) << "ring id";
          for (std::uint64_t b = 0; b < length(d); ++b) bytes.push_back(d.address + b);
        }
        EXPECT_LE(i - begin, max);
      };
      const DmaDescriptor first_rx = ring.rx[r];
      const DmaDescriptor first_tx = ring.tx[t];
      take(ring.tx, t, source);
      take(ring.rx, r, target);
      EXPECT_EQ(source.size(), target.size()) << "unbalanced packet";
      if (is_increment(first_tx)) {
        EXPECT_EQ(first_rx.address, kSemInc8);
        EXPECT_EQ(source.size(), 4u);
        continue;
      }
      if (is_padding(first_rx)) {
        EXPECT_EQ(first_tx.address, kConst0);
        for (const std::uint64_t a : target) EXPECT_TRUE(a - TestProgram::kFiller < 4);
        continue;
      }
      for (std::size_t i = 0; i < source.size() && i < target.size(); ++i) {
        EXPECT_TRUE(moved.emplace(target[i], source[i]).second) << "byte written twice";
      }
    }
    EXPECT_EQ(t, ring.tx.size());
    EXPECT_EQ(r, ring.rx.size());
  }
  return moved;
}

void expect_equal_counts(const QueueRings& q) {
  std::size_t tx = 0, rx = 0;
  for (const BlockCounts& b : q.blocks) {
    tx += b.m2s;
    rx += b.s2m;
  }
  for (const VirtualRing& ring : q.rings) {
    EXPECT_EQ(ring.tx.size(), tx);
    EXPECT_EQ(ring.rx.size(), rx);
  }
}

std::size_t increments(const QueueRings& q) {
  std::size_t n = 0;
  for (const VirtualRing& ring : q.rings) {
    for (const DmaDescriptor& d : ring.tx) n += is_increment(d);
  }
  return n;
}

// Pieces that end at different bytes on the two sides, with less room in a
// packet than they need.
TEST(Packets, UnevenPiecesStayWithinTheLimit) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const std::uint64_t total = 1 + random() % 300;
    std::vector<image::Piece> side[2];
    std::vector<std::uint64_t> bytes[2];  // address of each byte in order
    for (const int s : {0, 1}) {
      std::uint64_t address = s == 0 ? kSrc : kDst;
      for (std::uint64_t left = total; left != 0;) {
        const std::uint64_t n = std::min<std::uint64_t>(left, 1 + random() % 60);
        address += 64;  // pieces do not touch
        side[s].push_back({address, n});
        for (std::uint64_t b = 0; b < n; ++b) bytes[s].push_back(address++);
        left -= n;
      }
    }
    std::map<std::uint64_t, std::uint64_t> expected;
    for (std::uint64_t b = 0; b < total; ++b) expected.emplace(bytes[1][b], bytes[0][b]);
    const std::uint32_t limit = 1 + random() % 4;
    QueueRings q;
    image::append_packets(side[0], side[1], limit, limit, q.rings[0]);
    ASSERT_EQ(execute(q, limit), expected);
    if (HasFailure()) return;
  }
}

struct Shape {
  std::uint64_t row_bytes, rows;
};
void PrintTo(const Shape& s, std::ostream* out) { *out << s.row_bytes << "x" << s.rows; }

// Dense DRAM rows into a strided place.
class Rows : public ::testing::TestWithParam<Shape> {
 protected:
  static constexpr std::uint64_t kGap = 16;
  QueueRings build(bool reverse) {
    const auto [bytes, rows] = GetParam();
    const auto a = p_.add_variable("a", VariableType::kFile, bytes * rows, kSrc);
    const auto b = p_.add_variable("b", VariableType::kTmpBuf, (bytes + kGap) * rows, kDst);
    const auto dense = [&](std::uint32_t v) {
      return pattern(v, 0, {bytes, rows}, {1, static_cast<std::int64_t>(bytes)});
    };
    const auto strided = [&](std::uint32_t v) {
      return pattern(v, 0, {bytes, rows}, {1, static_cast<std::int64_t>(bytes + kGap)});
    };
    auto& set = p_.add_set("q", neff::QueueType::kData, neff::Engine::kSp);
    set.blocks.push_back(
        block(0, {reverse ? copy(strided(b), dense(a)) : copy(dense(a), strided(b))}));
    auto rings = p_.rings(set);
    EXPECT_TRUE(rings.is_ok()) << rings.status().message();
    return rings.is_ok() ? *std::move(rings) : QueueRings{};
  }
  TestProgram p_;
};

TEST_P(Rows, EveryByteMovesOnceAndRingsAreEqual) {
  const auto [bytes, rows] = GetParam();
  for (const bool reverse : {false, true}) {
    SCOPED_TRACE(reverse ? "gather" : "scatter");
    p_.sg.queues.clear();
    p_.sg.variables.clear();
    p_.addresses.clear();
    const QueueRings q = build(reverse);
    const auto moved = execute(q);
    ASSERT_EQ(moved.size(), bytes * rows);
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (const std::uint64_t byte : {std::uint64_t{0}, bytes - 1}) {
        const std::uint64_t dense = kSrc + row * bytes + byte;
        const std::uint64_t strided = kDst + row * (bytes + kGap) + byte;
        EXPECT_EQ(moved.at(reverse ? dense : strided), reverse ? strided : dense);
      }
    }
    expect_equal_counts(q);
    EXPECT_EQ(increments(q), 16u);
    EXPECT_FALSE(q.caller_sources);
    EXPECT_FALSE(q.caller_destinations);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Rows,
                         ::testing::Values(Shape{64, 1}, Shape{64, 3}, Shape{7, 15}, Shape{64, 16},
                                           Shape{2, 17}, Shape{100, 127}, Shape{64, 128},
                                           Shape{1, 129}, Shape{70000, 3}, Shape{65536, 17},
                                           Shape{200000, 2}));

TEST(Rings, CountsOfOneHundredTwentyEightRows) {
  // 128 rows: 8 a ring in two chunks; the dense side needs one descriptor per
  // chunk, the strided one a descriptor per row; one increment.
  TestProgram p;
  add_input_and_output(p, 4000);
  const auto load = p.rings(p.sg.queues[0]);
  ASSERT_TRUE(load.is_ok());
  ASSERT_EQ(load->blocks.size(), 1u);
  EXPECT_EQ(load->blocks[0].m2s, 3u);
  EXPECT_EQ(load->blocks[0].s2m, 9u);
  const auto store = p.rings(p.sg.queues[1]);
  ASSERT_TRUE(store.is_ok());
  EXPECT_EQ(store->blocks[0].m2s, 9u);
  EXPECT_EQ(store->blocks[0].s2m, 3u);
  // Sizes of the packets of one ring: chunk, chunk, increment.
  const VirtualRing& ring = store->rings[5];
  EXPECT_EQ(length(ring.rx[0]), 16000u);
  EXPECT_EQ(length(ring.rx[1]), 16000u);
  EXPECT_EQ(length(ring.rx[2]), 4u);
  EXPECT_EQ(ring.tx[0].address, kSbuf + 40 * kPartition);  // rows 40..47 are ring 5's
}

TEST(Rings, EveryRunIsADescriptorUnlessTheChunkIsDense) {
  // 3 runs of 32 bytes a row: adjacent in the row, but rows are apart.
  TestProgram p;
  const auto a = p.add_variable("a", VariableType::kInput, 128 * 1024, kCaller);
  const auto sb = p.add_variable("SB", VariableType::kStateBuffer, 0, 0);
  auto& set = p.add_set("q", neff::QueueType::kIn, neff::Engine::kSp);
  set.blocks.push_back(block(0, {copy(pattern(a, 0, {32, 3, 128}, {1, 32, 1024}),
                                      pattern(sb, 0, {32, 3, 128}, {1, 960, kPartition}))}));
  const auto q = p.rings(set);
  ASSERT_TRUE(q.is_ok()) << q.status().message();
  EXPECT_EQ(q->blocks[0].m2s, 25u);
  EXPECT_EQ(q->blocks[0].s2m, 25u);
}

TEST(Rings, MetaWordsAndOrdering) {
  TestProgram p;
  add_input_and_output(p);
  const auto q = p.rings(p.sg.queues[1]);
  ASSERT_TRUE(q.is_ok());
  for (const VirtualRing& ring : q->rings) {
    for (std::size_t i = 0; i < ring.tx.size(); ++i) {
      EXPECT_EQ(ring.tx[i].meta_ctrl, 0x01080003u);
      // The barrier sits on the last data descriptor, before the increment.
      EXPECT_EQ((ring.tx[i].len_ctrl & kDmb) != 0, i + 2 == ring.tx.size());
    }
    for (const DmaDescriptor& d : ring.rx) {
      EXPECT_EQ(d.meta_ctrl, 0u);
      EXPECT_EQ(d.len_ctrl & kStrong, 0u);
    }
  }
}

TEST(Rings, StrongOrderReplacesTheBarrier) {
  ArchCopy arch;
  arch.dma.flags |= NRTP_DMA_STRONG_ORDER_WRITE;
  TestProgram p;
  add_input_and_output(p);
  const auto q = p.rings(p.sg.queues[1], arch.plugin);
  ASSERT_TRUE(q.is_ok());
  for (const VirtualRing& ring : q->rings) {
    for (const DmaDescriptor& d : ring.tx) EXPECT_EQ(d.len_ctrl & kDmb, 0u);
    for (const DmaDescriptor& d : ring.rx) EXPECT_EQ(d.len_ctrl & kStrong, kStrong);
  }
}

TEST(Rings, CallerTensorsAreTemplates) {
  TestProgram p;
  add_input_and_output(p, 4000);
  const auto load = p.rings(p.sg.queues[0]);
  const auto store = p.rings(p.sg.queues[1]);
  ASSERT_TRUE(load.is_ok() && store.is_ok());
  EXPECT_TRUE(load->caller_sources);
  EXPECT_FALSE(load->caller_destinations);
  EXPECT_FALSE(store->caller_sources);
  EXPECT_TRUE(store->caller_destinations);
  const DmaDescriptor& d = load->rings[2].tx[1];
  ASSERT_TRUE(is_template(d.address));
  EXPECT_EQ(template_variable(d.address), 1u);         // x
  EXPECT_EQ(template_offset(d.address), 20u * 4000u);  // rows 16..19 are the first chunk
  EXPECT_FALSE(is_template(load->rings[2].rx[1].address));
  EXPECT_FALSE(is_template(load->rings[2].tx[2].address));  // increment
}

TEST(Rings, SeveralDescriptorsShareOneIncrement) {
  TestProgram p;
  const auto a = p.add_variable("a", VariableType::kFile, 8192, kSrc);
  const auto b = p.add_variable("b", VariableType::kTmpBuf, 8192, kDst);
  auto& set = p.add_set("q", neff::QueueType::kData, neff::Engine::kSp);
  const auto half = [&](std::uint32_t v, std::uint64_t at) {
    return pattern(v, at, {32, 128}, {1, 32});
  };
  set.blocks.push_back(
      block(0, {copy(half(a, 0), half(b, 4096)), copy(half(a, 4096), half(b, 0))}));
  set.blocks.push_back(block(1, {}));  // only signals
  const auto q = p.rings(set);
  ASSERT_TRUE(q.is_ok()) << q.status().message();
  EXPECT_EQ(q->blocks[0].m2s, 5u);  // 2 x 2 chunks + increment
  EXPECT_EQ(q->blocks[0].s2m, 5u);
  EXPECT_EQ(q->blocks[1].m2s, 1u);
  EXPECT_EQ(increments(*q), 32u);
  EXPECT_EQ(execute(*q).size(), 8192u);
}

TEST(Rings, LargeChunksAreSeveralPackets) {
  // 2048 rows of 2 bytes scattered: 64 rows a chunk x 5 runs = 320 descriptors.
  TestProgram p;
  const auto a = p.add_variable("a", VariableType::kFile, 20480, kSrc);
  const auto b = p.add_variable("b", VariableType::kTmpBuf, 2048 * 64, kDst);
  auto& set = p.add_set("q", neff::QueueType::kData, neff::Engine::kSp);
  set.blocks.push_back(
      block(0, {copy(pattern(a, 0, {20480}, {1}), pattern(b, 0, {2, 5, 2048}, {1, 8, 64}))}));
  const auto q = p.rings(set);
  ASSERT_TRUE(q.is_ok()) << q.status().message();
  const auto moved = execute(*q, 128);
  EXPECT_EQ(moved.size(), 20480u);
  EXPECT_EQ(moved.at(kDst + 64 * 1000 + 8 * 3 + 1), kSrc + 1000 * 10 + 3 * 2 + 1);
  EXPECT_EQ(q->blocks[0].s2m, 641u);
  EXPECT_EQ(q->blocks[0].m2s, 7u);  // two chunks x three packets + increment
}

TEST(Rings, FewerQueuesThanRingsKeepTheBroadcastCountEqual) {
  TestProgram p;
  const auto a = p.add_variable("a", VariableType::kFile, 128 * 32, kSrc);
  const auto b = p.add_variable("b", VariableType::kTmpBuf, 128 * 64, kDst);
  auto& set = p.add_set("q", neff::QueueType::kData, neff::Engine::kSp);
  set.num_queues = 4;
  set.blocks.push_back(
      block(0, {copy(pattern(a, 0, {32, 128}, {1, 32}), pattern(b, 0, {32, 128}, {1, 64}))}));
  const auto q = p.rings(set);
  ASSERT_TRUE(q.is_ok()) << q.status().message();
  expect_equal_counts(*q);
  EXPECT_EQ(increments(*q), 4u);
  EXPECT_EQ(execute(*q).size(), 128u * 32u);
}

TEST(Rings, NegativeStepsAreFollowed) {
  TestProgram p;
  const auto a = p.add_variable("a", VariableType::kFile, 1024, kSrc);
  const auto b = p.add_variable("b", VariableType::kTmpBuf, 1024, kDst);
  auto& set = p.add_set("q", neff::QueueType::kData, neff::Engine::kSp);
  set.blocks.push_back(
      block(0, {copy(pattern(a, 1008, {16, 64}, {1, -16}), pattern(b, 0, {16, 64}, {1, 16}))}));
  const auto q = p.rings(set);
  ASSERT_TRUE(q.is_ok()) << q.status().message();
  const auto moved = execute(*q);
  EXPECT_EQ(moved.at(kDst), kSrc + 1008);
  EXPECT_EQ(moved.at(kDst + 1023), kSrc + 15);
}

TEST(Rings, SetWithoutBlocks) {
  TestProgram p;
  const auto q = p.rings(p.add_set("q", neff::QueueType::kData, neff::Engine::kSp));
  ASSERT_TRUE(q.is_ok());
  EXPECT_TRUE(q->blocks.empty());
  for (const VirtualRing& ring : q->rings) EXPECT_TRUE(ring.tx.empty() && ring.rx.empty());
}

TEST(AppendCopy, SplitsAtSixtyFourKib) {
  VirtualRing ring;
  append_copy(ring, kSrc, kDst, 65536 + 10);
  append_copy(ring, kSrc, kDst, 0);
  ASSERT_EQ(ring.tx.size(), 2u);
  ASSERT_EQ(ring.rx.size(), 2u);
  EXPECT_EQ(length(ring.tx[0]), 65536u);
  EXPECT_EQ(length(ring.tx[1]), 10u);
  EXPECT_EQ(ring.tx[1].address, kSrc + 65536);
  EXPECT_EQ(ring.rx[1].address, kDst + 65536);
  for (const DmaDescriptor& d : ring.tx) {
    EXPECT_EQ(d.len_ctrl & (kFirst | kLast | kConcat), kFirst | kLast);
    EXPECT_EQ(d.meta_ctrl, 0x01080003u);
  }
}

// Each ring raises the semaphore of its own core, then those of the peer.
TEST(Rings, RemoteSemaphoresEndEachRingsPart) {
  TestProgram p;
  add_input_and_output(p);
  neff::QueueSet set = p.sg.queues.front();
  const std::uint32_t own = set.blocks.front().semaphore.value();
  const auto plain = p.rings(set);
  ASSERT_TRUE(plain.is_ok()) << plain.status().message();
  set.blocks.front().remote_semaphores = {20, 21};
  const auto rings = p.rings(set, sunda(), NRTP_PLATFORM_EMULATOR, 1);
  ASSERT_TRUE(rings.is_ok()) << rings.status().message();
  const auto address = [](std::uint32_t core, std::uint32_t semaphore) {
    // Windows of the two cores of this silicon.
    return (core == 0 ? 0xfffc0000000u : 0xfffc4000000u) + 0x2701800 + 4 * semaphore;
  };
  EXPECT_EQ(rings->blocks[0].m2s, plain->blocks[0].m2s + 2);
  EXPECT_EQ(rings->blocks[0].s2m, plain->blocks[0].s2m + 2);
  for (std::uint32_t i = 0; i < set.num_queues; ++i) {
    const auto& tx = rings->rings[i].tx;
    const auto& rx = rings->rings[i].rx;
    ASSERT_EQ(tx.size() % rings->blocks[0].m2s, 0u);
    const std::size_t t = rings->blocks[0].m2s, r = rings->blocks[0].s2m;  // end of the block
    for (std::size_t k = 1; k <= 3; ++k) EXPECT_EQ(tx[t - k].address, kConst1);
    EXPECT_EQ(rx[r - 3].address, address(0, own));
    EXPECT_EQ(rx[r - 2].address, address(1, 20));
    EXPECT_EQ(rx[r - 1].address, address(1, 21));
  }
  set.blocks.front().remote_semaphores = {256};
  EXPECT_EQ(p.rings(set, sunda(), NRTP_PLATFORM_EMULATOR, 1).status().code(), NRT_INVALID);
}

}  // namespace
}  // namespace opennrt::tdrv::test
