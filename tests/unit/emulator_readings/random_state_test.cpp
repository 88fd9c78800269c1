// SPDX-License-Identifier: Apache-2.0
//
// RAND_SET_STATE, RAND_GET_STATE, RAND and RAND2, and what they share with RNG.
#include <set>

#include "compute/random.h"
#include "unit/emulator_vector/bench.h"

namespace opennrt::emu::test {
namespace {

// The generator as Marsaglia printed it (Xorshift RNGs, section 3.1).
struct Reference {
  std::uint32_t x, y, z, w, v, d;
  std::uint32_t next() {
    const std::uint32_t t = x ^ (x >> 2);
    x = y, y = z, z = w, w = v;
    v = (v ^ (v << 4)) ^ (t ^ (t << 1));
    return (d += 362437) + v;
  }
};

// With the author's own starting values.
TEST(XorwowTest, FollowsTheReference) {
  Reference reference{123456789, 362436069, 521288629, 88675123, 5783321, 6615241};
  Xorwow ours{{123456789, 362436069, 521288629, 88675123, 5783321, 6615241}};
  EXPECT_EQ(ours.next(), 246875399u);  // as other implementations of it give
  EXPECT_EQ(reference.next(), 246875399u);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(ours.next(), reference.next());
}

class RandomState : public VectorTest {
 protected:
  void on(std::uint32_t e) { engine = state.engine = e; }
  int words() const { return engine == NRTP_ENGINE_DVE ? 24 : 6; }
  Record set_state(std::uint32_t address, int channels) {
    namespace f = layout::S1_RAND;
    return Record(op::RAND_SET_STATE)
        .set(f::rand_algorithm, 3)
        .set(f::num_active_channels, channels)
        .set(f::in_dtype, kU32)
        .tensor(f::src, row(address, kU32, words()), 1);
  }
  Record get_state(std::uint32_t address, int channels) {
    namespace f = layout::D4_RAND;
    return Record(op::RAND_GET_STATE)
        .set(f::rand_algorithm, 3)
        .set(f::post_process, 1)  // as compilers write it
        .set(f::dtype, kU32)
        .set(f::num_active_channels, channels)
        .tensor(f::dst, row(address, kU32, words()), 4);
  }
  static Record rand2(const Tensor& out, int channels, float low, float high) {
    namespace f = layout::D3_RAND;
    return Record(op::RAND2)
        .set(f::rand_algorithm, 3)
        .set(f::post_process, 1)
        .set(f::dtype, out.type)
        .set(f::num_active_channels, channels)
        .set(f::min, bits_of(low))
        .set(f::max, bits_of(high))
        .tensor(f::dst, out, 3);
  }
  static Record rng(const Tensor& out, int channels) {
    namespace f = layout::D4_MR;
    return Record(op::RNG)
        .set(f::dtype, out.type)
        .set(f::num_active_channels, channels)
        .set(f::dst_element_count, out.total())
        .tensor(f::dst, out, 4);
  }
  // Draw i of a channel whose state lies at t, for every i < n.
  std::vector<std::uint32_t> reference(const Tensor& t, int p, int n) {
    std::vector<Reference> g;
    for (int k = 0; k < words() / 6; ++k) {
      const auto word = [&](int i) { return static_cast<std::uint32_t>(raw(t, p, 6 * k + i)); };
      g.push_back({word(0), word(1), word(2), word(3), word(4), word(5)});
    }
    std::vector<std::uint32_t> draws;
    for (int i = 0; i < n; ++i) draws.push_back(g[static_cast<std::size_t>(i) % g.size()].next());
    return draws;
  }
};

TEST_F(RandomState, GetReadsWhatSetWrote) {
  for (const std::uint32_t e : {NRTP_ENGINE_DVE, NRTP_ENGINE_POOL}) {
    on(e);
    const Tensor in = row(0x1000, kU32, words()), out = row(0x2000, kU32, words());
    fill(in, 128, true);
    run(set_state(in.address, 128));
    run(get_state(out.address, 128));
    for (int p = 0; p < 128; ++p)
      for (int i = 0; i < words(); ++i) ASSERT_EQ(raw(out, p, i), raw(in, p, i));
  }
}

TEST_F(RandomState, DrawsComeFromTheStateAndMoveIt) {
  for (const std::uint32_t e : {NRTP_ENGINE_DVE, NRTP_ENGINE_POOL}) {
    on(e);
    const Tensor seeds = row(0x1000, kU32, words()), out = row(0x2000, kU32, 64);
    const Tensor after = row(0x3000, kU32, words());
    fill(seeds, 3, true);
    run(set_state(seeds.address, 3));
    run(rng(out, 3));
    run(get_state(after.address, 3));
    for (int p = 0; p < 3; ++p) {
      const auto want = reference(seeds, p, 128);
      for (int i = 0; i < 64; ++i) ASSERT_EQ(raw(out, p, i), want[static_cast<std::size_t>(i)]);
      const auto later = reference(after, p, 64);
      for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(later[i], want[64 + i]);
    }
  }
}

TEST_F(RandomState, ChannelsBeyondTheRecordKeepTheirState) {
  on(NRTP_ENGINE_POOL);
  const Tensor before = row(0x1000, kU32, 6), in = row(0x2000, kU32, 6), out = row(0x3000, kU32, 6);
  run(get_state(before.address, 4));
  run(set_state(in.address, 2));
  run(get_state(out.address, 4));
  EXPECT_EQ(raw(out, 1, 0), raw(in, 1, 0));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(raw(out, 3, i), raw(before, 3, i));
}

// Before a program sets it, the state differs by channel, engine and core.
TEST_F(RandomState, FirstStatesDiffer) {
  std::set<std::uint64_t> first;
  for (const std::uint32_t e : {NRTP_ENGINE_DVE, NRTP_ENGINE_POOL})
    for (const std::uint32_t core : {0u, 1u}) {
      on(e);
      state.reset();
      state.core = core;
      run(get_state(0x1000, 128));
      for (int p = 0; p < 128; ++p) first.insert(raw(row(0x1000, kU32, 6), p, 0));
    }
  state.core = 0;
  EXPECT_EQ(first.size(), 512u);
}

TEST_F(RandomState, UniformNumbersInARange) {
  const Tensor seeds = row(0x1000, kU32, 24);
  for (const int type : {kF32, kBf16, kF16, kI32}) {
    const Tensor out{0x4000, type, {2, 300}, {100, 3}};
    fill(seeds, 32, true);
    run(set_state(seeds.address, 32));
    run(rand2(out, 32, -3.5f, 12));
    for (int p = 0; p < 32; ++p) {
      const auto want = reference(seeds, p, 300);
      for (int i = 0; i < 300; ++i) {
        // 23 bits of the word as a fraction.
        const double u = std::floor(want[static_cast<std::size_t>(i)] / 512.0) / 8388608.0;
        expect(out, p, i, -3.5 + f32(15.5 * u));
        ASSERT_GE(get(out, p, i), type == kI32 ? -4 : -3.5);
        ASSERT_LE(get(out, p, i), 12);
      }
    }
  }
}

TEST_F(RandomState, LimitsPerPartition) {
  namespace f = layout::D3_RAND;
  const Tensor low = row(0x40, kF32, 1), high = row(0x48, kF32, 1), out = row(0x4000, kF32, 200);
  for (int p = 0; p < 4; ++p) {
    put_raw(low, p, 0, bits_of(static_cast<float>(10 * p)));
    put_raw(high, p, 0, bits_of(static_cast<float>(10 * p + 1)));
  }
  run(rand2(out, 4, 0, 0)
          .set(f::min_src, 1)
          .set(f::min, low.address)
          .set(f::max_src, 1)
          .set(f::max, high.address));
  for (int p = 0; p < 4; ++p) {
    double mean = 0;
    for (int i = 0; i < 200; ++i) {
      ASSERT_GE(get(out, p, i), 10 * p);
      ASSERT_LT(get(out, p, i), 10 * p + 1);
      mean += get(out, p, i) / 200;
    }
    EXPECT_NEAR(mean, 10 * p + 0.5, 0.13);  // 6 standard deviations
  }
}

TEST_F(RandomState, LegacyDraw) {
  namespace f = layout::D4_RAND;
  const Tensor seeds = row(0x1000, kU32, 24);
  fill(seeds, 2, true);
  run(set_state(seeds.address, 2));
  const Tensor words = row(0x2000, kU16, 32), numbers = row(0x3000, kF32, 32);
  run(Record(op::RAND)
          .set(f::rand_algorithm, 3)
          .set(f::dtype, kU16)
          .set(f::num_active_channels, 2)
          .tensor(f::dst, words, 4));
  Record uniform = Record(op::RAND)
                       .set(f::rand_algorithm, 3)
                       .set(f::post_process, 1)
                       .set(f::dtype, kF32)
                       .set(f::num_active_channels, 2)
                       .tensor(f::dst, numbers, 4);
  f::params.set(uniform.bytes, bits_of(1.0f), 0);
  f::params.set(uniform.bytes, bits_of(3.0f), 1);
  run(uniform);
  for (int p = 0; p < 2; ++p) {
    const auto want = reference(seeds, p, 64);
    for (int i = 0; i < 32; ++i) {
      ASSERT_EQ(raw(words, p, i), want[static_cast<std::size_t>(i)] & 0xFFFF);
      const double u = std::floor(want[static_cast<std::size_t>(32 + i)] / 512.0) / 8388608.0;
      expect(numbers, p, i, 1 + f32(2 * u));
    }
  }
  f::params.set(uniform.bytes, 1, 3);
  refused(uniform, "parameters");
}

TEST_F(RandomState, WhereTheStateCannotBeReached) {
  on(NRTP_ENGINE_DVE);
  generation = isa::Generation::kCayman;
  refused(set_state(0x1000, 1), "generator state of DVE cannot be read or written on cayman");
  refused(get_state(0x1000, 1), "generator state of DVE");
  on(NRTP_ENGINE_POOL);
  run(get_state(0x1000, 1));
  generation = isa::Generation::kSunda;
  refused(set_state(0x1000, 1), "generator state of POOL cannot be read or written on sunda");
}

TEST_F(RandomState, WrongFieldsAreRefused) {
  namespace s = layout::S1_RAND;
  namespace g = layout::D4_RAND;
  namespace d = layout::D3_RAND;
  on(NRTP_ENGINE_DVE);
  refused(set_state(0x1000, 1).tensor(s::src, row(0x1000, kU32, 6), 1),
          "number of source elements is 6");
  refused(set_state(0x1000, 1).set(s::rand_algorithm, 2), "generator algorithm code is 2");
  refused(set_state(0x1000, 1).set(s::in_dtype, kI32), "data type is 8");
  refused(set_state(0x1000, 1).set(s::update_state, 2), "update_state is 2");
  Record inline_state = set_state(0x1000, 1);
  s::imm_state.set(inline_state.bytes, 7, 5);
  refused(inline_state, "state in the record");
  refused(get_state(0x1000, 1).set(g::dtype, kF32), "data type is 10");
  refused(get_state(0x1000, 1).tensor(g::dst, row(0x1000, kU32, 23), 4),
          "number of destination elements is 23");
  refused(get_state(0x1000, 1).set(g::rand_src, 1), "rand_src");
  const Tensor out = row(0x4000, kF32, 8);
  refused(rand2(out, 1, 0, 1).set(d::post_process, 0), "data type 10");
  refused(rand2(row(0x4000, kU32, 8), 1, 0, 1).set(d::post_process, 0), "post process code is 0");
  refused(rand2(out, 1, 0, 1).set(d::rand_algorithm, 0), "generator algorithm code is 0");
  refused(rand2(row(0x4000, kI64, 8), 1, 0, 1), "cannot be a result");
  generation = isa::Generation::kCayman;
  refused(rand2(out, 1, 0, 1), "does not exist on this silicon family");
}

}  // namespace
}  // namespace opennrt::emu::test
