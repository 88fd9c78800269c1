// SPDX-License-Identifier: Apache-2.0
//
// Sets in table memory: selection, changes while the engine runs, corrupt
// directories.
#include "unit/emulator_act/act_lab.h"
#include "unit/emulator_device/bench.h"

namespace opennrt::emu::test {
namespace {

using TableMemory = ActLab;

// A function that gives the same value everywhere.
void add_constant(TableSet& set, std::uint32_t id, float c) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(c);
  // Filled through the layout, like any other table.
  ActivationProfile p{};
  p.func_id = id;
  p.nan_result = p.zero_result = p.positive_infinity_result = p.negative_infinity_result = bits;
  p.large_bucket[0] = p.large_bucket[1] = static_cast<std::uint32_t>(set.buckets.size());
  set.buckets.push_back({c, 0, 0, 0, 0, {}});
  set.profiles.push_back(p);
}

TEST_F(TableMemory, SelectedSetAnswers) {
  TableSet a, b;
  add_constant(a, 7, 11);
  add_constant(b, 10, 1);
  add_constant(b, 7, 22);
  put_tables({a, b});
  EXPECT_EQ(value(7, 1), 11);
  state_.activation_set = 1;
  EXPECT_EQ(value(7, 1), 22);
  EXPECT_EQ(value(7, 0), 22);
  state_.activation_set = 0;
  EXPECT_EQ(value(7, 1), 11);
}

TEST_F(TableMemory, FixedFunctionsNeedNoTableButOthersDo) {
  TableSet set;
  add_constant(set, 7, 1);
  put_tables({set});
  EXPECT_EQ(value(30, 3), 9);
  refused(activate({.function = 6}), {"set 0", "tanh"});
}

TEST_F(TableMemory, SetBeyondTheDirectoryIsRefused) {
  TableSet set;
  add_constant(set, 7, 1);
  put_tables({set});
  state_.activation_set = 1;
  refused(activate({.function = 7}), {"set 1", "has 1"});
}

TEST_F(TableMemory, RewrittenTablesAreUsedAtOnce) {
  TableSet a, b, c;
  add_constant(a, 7, 1);
  add_constant(b, 7, 2);
  put_tables({a});
  EXPECT_EQ(value(7, 1), 1);
  put_tables({b});
  EXPECT_EQ(value(7, 1), 2);
  put_tables({b, a});
  state_.activation_set = 1;
  EXPECT_EQ(value(7, 1), 1);
  put_tables({});  // back to a program without tables
  state_.activation_set = 0;
  EXPECT_NEAR(value(7, 1), std::exp(1.0), 1e-6);
}

TEST_F(TableMemory, UnchangedTablesAreReadOnce) {
  TableSet set;
  add_constant(set, 7, 1);
  put_tables({set});
  value(7, 1);
  const int reads = bus_->reads;
  for (int i = 0; i < 10; ++i) value(7, 1);
  EXPECT_EQ(bus_->reads, reads);
}

TEST_F(TableMemory, CorruptDirectoriesAreRefused) {
  TableSet set;
  add_constant(set, 7, 1);
  put_tables({set});
  const auto word = [&](std::size_t i, std::uint32_t v) {
    std::memcpy(bus_->tables.data() + 4 * i, &v, 4);
    ++bus_->version;
  };
  word(0, 257);
  refused(activate({.function = 7}), {"257 sets"});
  word(0, 0xFFFFFFFF);
  refused(activate({.function = 7}), {"sets"});
  word(0, 1);
  ok(activate({.function = 7}));
  for (const std::size_t field : {8, 9, 10, 11, 12, 13}) {
    std::uint32_t old = 0;
    std::memcpy(&old, bus_->tables.data() + 4 * field, 4);
    word(field, 0xFFFFFFF0);
    refused(activate({.function = 7}), {"outside of table memory"});
    word(field, old);
    ok(activate({.function = 7}));
  }
}

// The same through a whole device: records fetched from memory, tables written
// over the bus.
class TableDevice : public Bench {
 protected:
  void put_constant(float c) {
    const nrtp_arch_tables& t = *arch_->tables;
    const auto part = [&](std::size_t i) {
      return address().local_to_device(product_, 0, t.act[i].local);
    };
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(c);
    std::uint32_t directory[16] = {1};
    directory[11] = 1;
    directory[13] = 1;
    std::uint32_t profile[32] = {7, bits, bits, bits, bits};
    std::uint32_t bucket[8] = {bits};
    ASSERT_EQ(dev().write(part(3), bucket, sizeof bucket), 0);
    ASSERT_EQ(dev().write(part(2), profile, sizeof profile), 0);
    ASSERT_EQ(dev().write(part(0), directory, sizeof directory), 0);
  }
};

TEST_F(TableDevice, EngineSeesEachWrite) {
  Program program;
  auto load = isa::zero_record<isa::ControlRecord>(isa::kOpActivationTableLoad);
  program.add(load);
  Record r{};
  r[0] = isa::op::ACTIVATE;
  r[1] = 0x10;
  namespace ac = layout::S3D3_AC;
  for (const auto& [at, address] : {std::pair{16, 0x100u}, {48, 0x8000u}}) {
    std::memcpy(&r[static_cast<std::size_t>(at)], &address, 4);
    const std::uint16_t count[3] = {4, 1, 1};
    std::memcpy(&r[static_cast<std::size_t>(at + 10)], count, 6);
    r[static_cast<std::size_t>(at + 4)] = 1;
  }
  ac::in_bias_dtype.set(r.data(), isa::kDtFloat32 | isa::kDtFloat32 << 4);
  ac::out_dtype.set(r.data(), isa::kDtFloat32);
  ac::num_active_channels.set(r.data(), 1);
  ac::activation_func.set(r.data(), 7);
  ac::bias_src_n.set(r.data(), 1);
  ac::scale.set(r.data(), std::bit_cast<std::uint32_t>(1.0f));
  program.add(r).add(halt());
  for (const float c : {3.0f, 4.0f}) {
    put_constant(c);
    execute(program, NRTP_ENGINE_ACT);
    EXPECT_EQ(get<float>(sbuf(0, 0x8000)), c);
  }
  // One word through the first base address register, as the driver writes.
  const std::uint64_t bucket = address().local_to_bar0(product_, 0, arch_->tables->act[3].local);
  bar0_put(bucket, std::bit_cast<std::uint32_t>(5.0f));
  const float one = 1;  // the fixed results still say 4, a finite value says 5
  put(sbuf(0, 0x100), one);
  execute(program, NRTP_ENGINE_ACT);
  EXPECT_EQ(get<float>(sbuf(0, 0x8000)), 5);
  EXPECT_EQ(get<float>(sbuf(0, 0x8004)), 4);
}

}  // namespace
}  // namespace opennrt::emu::test
