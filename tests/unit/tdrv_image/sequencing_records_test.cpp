// SPDX-License-Identifier: Apache-2.0
//
// Pseudo-instructions that order engines and DMA and that choose among what is
// loaded: barriers, named activation sets, instances of queue sets.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tdrv/image/pseudo_records.h"
#include "test_program.h"

namespace opennrt::tdrv::test {
namespace {

using isa::kRecordBytes;
using neff::Engine;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

std::string refusal(const TestProgram& p, const nrtp_arch_plugin& arch = sunda()) {
  const auto images = assemble_images(p.inputs(arch));
  EXPECT_FALSE(images.is_ok());
  if (images.is_ok()) return "";
  EXPECT_EQ(images.status().code(), NRT_INVALID);
  return std::string(images.status().message());
}
ImageSet images_of(const TestProgram& p) {
  auto images = assemble_images(p.inputs());
  EXPECT_TRUE(images.is_ok()) << images.status().message();
  return images.is_ok() ? *std::move(images) : ImageSet{};
}
template <typename Record>
Record main_record(const Image& image, std::size_t index) {
  EXPECT_LT(index * kRecordBytes, image.main_bytes);
  return isa::load_record<Record>(image.bytes.data() + image.main_offset + index * kRecordBytes);
}
std::size_t main_records(const Image& image) { return image.main_bytes / kRecordBytes; }

isa::ControlRecord plain(std::uint8_t opcode) {
  return isa::zero_record<isa::ControlRecord>(opcode);
}
isa::ControlRecord with_events(std::uint8_t opcode) {
  auto r = plain(opcode);
  r.h.wait_mode = isa::kWaitSemGe;
  r.h.wait_index = 5;
  r.h.value = 7;
  r.h.update_mode = isa::kUpdateSemInc;
  r.h.update_index = 6;
  return r;
}
// Copies of 64 bytes from DRAM to SBUF that signal a semaphore.
neff::Block copy_block(TestProgram& p, std::uint32_t id, std::uint32_t semaphore) {
  return block(id,
               {copy(pattern(p.sg.variables[1].var_id, 0, {64}, {1}),
                     pattern(p.sg.variables[0].var_id, 0, {64}, {1}))},
               semaphore);
}
void add_memory(TestProgram& p) {
  p.add_variable("SB", neff::VariableType::kStateBuffer, 0, 0);
  p.add_variable("w", neff::VariableType::kTmpBuf, 4096, 0x50000000);
}

// --- PSEUDO_SYNC_BARRIER

// Runs MAIN of the five images, waits and semaphores only, an engine at a time in
// random order. Each NOP with setter_signature n is mark n.
std::string run_marks(const ImageSet& images, unsigned seed) {
  std::mt19937 random(seed);
  std::map<int, std::int64_t> sem;
  std::array<std::size_t, 5> pc{};
  std::string log;
  for (int idle = 0; idle < 500;) {
    const std::size_t e = random() % 5;
    if (pc[e] == main_records(images[e])) {
      ++idle;
      continue;
    }
    const auto h = main_record<isa::ControlRecord>(images[e], pc[e]);
    ++idle;
    if (h.h.opcode == isa::kOpEventSemaphore) {
      const auto r = main_record<isa::EventSemaphoreRecord>(images[e], pc[e]);
      if (r.wait_mode == isa::kWaitSemEq && sem[r.wait_index] != r.wait_value) continue;
      if (r.update_mode == isa::kUpdateSemInc) ++sem[r.update_index];
      if (r.update_mode == isa::kUpdateSemAdd) sem[r.update_index] += r.update_value;
      if (r.update_mode == isa::kUpdateSemWrite) sem[r.update_index] = r.update_value;
    } else if (h.h.opcode == isa::kOpNop && h.setter_signature != 0) {
      log += std::to_string(h.setter_signature);
    }
    ++pc[e];
    idle = 0;
  }
  for (std::size_t e = 0; e < 5; ++e) EXPECT_EQ(pc[e], main_records(images[e])) << e;
  EXPECT_EQ(sem[2], 0);
  return log;
}

TEST(SyncBarrier, AllEnginesMeetAtEachOne) {
  TestProgram p;
  for (std::size_t e = 0; e < 5; ++e) {
    for (std::uint32_t round = 1; round <= 3; ++round) {
      auto mark = plain(isa::kOpNop);
      mark.setter_signature = round;
      // Engines have different amounts of work between barriers.
      for (std::size_t i = 0; i <= e * round % 3; ++i) p.add(static_cast<Engine>(e), mark);
      p.add(static_cast<Engine>(e), plain(0xD5));
    }
  }
  const ImageSet images = images_of(p);
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::string log = run_marks(images, seed);
    EXPECT_EQ(std::count(log.begin(), log.end(), '3'), 5 + 0 % 3 + 3 % 3 + 6 % 3 + 9 % 3 + 12 % 3);
    EXPECT_TRUE(std::is_sorted(log.begin(), log.end())) << log;
  }
}

TEST(SyncBarrier, WaitsFirstAndUpdatesLast) {
  TestProgram p;
  for (std::size_t e = 0; e < 5; ++e) p.add(static_cast<Engine>(e), with_events(0xD5));
  const ImageSet images = images_of(p);
  // ORDER, NOP, DRAIN, EVENT_SEMAPHORE, DRAIN, NOP on SP; one more in between on the others.
  const Image& sp = images[4];
  ASSERT_EQ(main_records(sp), 6u);
  EXPECT_EQ(main_record<isa::ControlRecord>(sp, 1).h.wait_mode, isa::kWaitSemGe);
  EXPECT_EQ(main_record<isa::ControlRecord>(sp, 1).h.wait_index, 5);
  EXPECT_EQ(main_record<isa::ControlRecord>(sp, 1).h.value, 7u);
  EXPECT_EQ(main_record<isa::ControlRecord>(sp, 1).h.update_mode, 0);
  EXPECT_EQ(main_record<isa::ControlRecord>(sp, 2).h.opcode, isa::kOpDrain);
  const auto meet = main_record<isa::EventSemaphoreRecord>(sp, 3);
  EXPECT_EQ(meet.wait_value, 4u);
  EXPECT_EQ(meet.update_index, 2);
  EXPECT_EQ(main_record<isa::ControlRecord>(sp, 5).h.update_mode, isa::kUpdateSemInc);
  EXPECT_EQ(main_record<isa::ControlRecord>(sp, 5).h.update_index, 6);
  EXPECT_EQ(main_record<isa::ControlRecord>(sp, 5).h.wait_mode, 0);
  EXPECT_EQ(main_records(images[0]), 7u);
  EXPECT_EQ(sp.readings, (std::vector<std::uint8_t>{0xD5}));
}

TEST(SyncBarrier, EveryEngineNeedsTheSameNumber) {
  TestProgram p;
  for (std::size_t e = 0; e < 4; ++e) p.add(static_cast<Engine>(e), plain(0xD5));
  EXPECT_HAS(refusal(p), "PE meets the others in 1 of its PSEUDO_SYNC_BARRIER, SP in 0");
  auto bad = plain(0xD5);
  bad.notify_kind = 2;  // byte 36
  p.add(Engine::kSp, bad);
  EXPECT_HAS(refusal(p), "PSEUDO_SYNC_BARRIER (0xd5): byte 36 is 0x02, no field is known there");
}

// --- PSEUDO_DMABARRIER

TEST(DmaBarrier, WaitsForAllThatItsEngineHasStarted) {
  TestProgram p;
  add_memory(p);
  auto& a = p.add_set("qA", neff::QueueType::kData, Engine::kSp);
  a.semaphores = {8, 9};
  a.blocks = {copy_block(p, 0, 8), copy_block(p, 1, 9), copy_block(p, 2, 8)};
  auto& b = p.add_set("qB", neff::QueueType::kData, Engine::kSp);
  b.num_queues = 4;
  b.semaphores = {20};
  b.blocks = {copy_block(p, 0, 20)};
  auto& other = p.add_set("qOther", neff::QueueType::kData, Engine::kPool);
  other.semaphores = {30};
  other.blocks = {copy_block(p, 0, 30)};
  p.add_trigger(Engine::kPool, "qOther", 0);
  p.add(Engine::kSp, plain(0xC3));  // nothing to wait for
  p.add_trigger(Engine::kSp, "qA", 0);
  p.add_trigger(Engine::kSp, "qA", 1);
  p.add(Engine::kSp, with_events(0xC3));
  p.add_trigger(Engine::kSp, "qA", 2);
  p.add_trigger(Engine::kSp, "qB", 0);
  auto generated = plain(isa::kOpDmaMemcpy);
  reinterpret_cast<std::uint8_t*>(&generated)[13] = 40;
  reinterpret_cast<std::uint8_t*>(&generated)[14] = 16;
  p.add(Engine::kSp, generated);
  p.add(Engine::kSp, plain(0xC3));
  const Image sp = images_of(p)[4];
  std::vector<std::pair<int, std::uint32_t>> waits;
  std::string kinds;
  for (std::size_t i = 0; i < main_records(sp); ++i) {
    const auto r = main_record<isa::EventSemaphoreRecord>(sp, i);
    kinds += r.h.opcode == isa::kOpEventSemaphore ? 'w'
             : r.h.opcode == isa::kOpWrite        ? 't'
             : r.h.opcode == isa::kOpNop          ? 'n'
                                                  : '.';
    if (r.h.opcode != isa::kOpEventSemaphore) continue;
    EXPECT_EQ(r.wait_mode, isa::kWaitSemGe);
    EXPECT_EQ(r.update_mode, 0);
    waits.push_back({r.wait_index, r.wait_value});
  }
  EXPECT_EQ(kinds, ".ttnwwntt.www");
  // 16 rings raise the semaphore by 1 each, those of qB by 4 in all.
  const std::vector<std::pair<int, std::uint32_t>> want = {
      {8, 16}, {9, 16}, {8, 32}, {20, 4}, {40, 16}};
  EXPECT_EQ(waits, want);
}

TEST(DmaBarrier, Refusals) {
  {
    TestProgram p;
    add_memory(p);
    auto& a = p.add_set("qA", neff::QueueType::kData, Engine::kSp);
    a.blocks = {copy_block(p, 0, 8)};
    a.blocks[0].semaphore.reset();
    p.add_trigger(Engine::kSp, "qA", 0);
    p.add(Engine::kSp, plain(0xC3));
    EXPECT_HAS(refusal(p), "block 0 of queue set 'qA' raises no semaphore");
  }
  {
    TestProgram p;
    add_memory(p);
    auto& a = p.add_set("qA", neff::QueueType::kData, Engine::kSp);
    a.blocks = {copy_block(p, 0, 8)};
    p.add_set("qB", neff::QueueType::kData, Engine::kPool).semaphores = {8};
    p.add_trigger(Engine::kSp, "qA", 0);
    p.add(Engine::kSp, plain(0xC3));
    EXPECT_HAS(refusal(p), "semaphore 8 also counts queue set 'qB' of POOL");
  }
  {
    TestProgram p;
    p.add(Engine::kSp, plain(0xC3));
    auto branch = isa::zero_record<isa::CompareBranchRecord>(isa::kOpCompareBranch);
    branch.target_mode = isa::kTargetRelative;
    branch.op = isa::kBranchEqImm;
    branch.offset = 64;
    p.add(Engine::kSp, branch);
    p.add(Engine::kSp, plain(isa::kOpNop));
    EXPECT_HAS(refusal(p), "record 1: PSEUDO_DMABARRIER in a stream with branches");
  }
  TestProgram p;
  auto bad = plain(0xC3);
  bad.setter_signature = 1;
  p.add(Engine::kSp, bad);
  EXPECT_HAS(refusal(p), "byte 12 is 0x01");
}

// --- PSEUDO_LOAD_ACT_FUNC_SET

image::ActFuncSetRecord act_set(const char* name) {
  auto r = isa::zero_record<image::ActFuncSetRecord>(0xC6);
  std::memcpy(r.set, name, std::min(std::strlen(name), sizeof r.set));
  return r;
}

TEST(ActFuncSet, TheNameBecomesTheNumberOfTheSet) {
  TestProgram p;
  for (const char* name : {"exp_set", "gelu_set", "tanh_set"}) {
    neff::ActTableSet set;
    set.name = name;
    p.sg.act_sets.push_back(set);
  }
  auto record = act_set("gelu_set");
  record.h.wait_mode = isa::kWaitSemGe;
  record.h.wait_index = 9;
  record.h.value = 3;
  record.h.update_mode = isa::kUpdateSemInc;
  record.h.update_index = 4;
  p.add(Engine::kAct, record);
  p.add(Engine::kAct, act_set("tanh_set"));
  const Image act = images_of(p)[1];
  ASSERT_EQ(main_records(act), 3u);
  auto load = main_record<isa::ControlRecord>(act, 1);
  EXPECT_EQ(load.h.opcode, isa::kOpActivationTableLoad);
  EXPECT_EQ(load.act_set_index, 1);
  EXPECT_EQ(load.h.wait_index, 9);
  EXPECT_EQ(load.h.value, 3u);
  EXPECT_EQ(load.h.update_index, 4);
  EXPECT_EQ(main_record<isa::ControlRecord>(act, 2).act_set_index, 2);
}

TEST(ActFuncSet, Refusals) {
  const auto on = [](Engine engine, const image::ActFuncSetRecord& r) {
    TestProgram p;
    neff::ActTableSet set;
    set.name = "exp_set";
    p.sg.act_sets.push_back(set);
    p.add(engine, r);
    return refusal(p);
  };
  EXPECT_HAS(on(Engine::kAct, act_set("exp_se")), "names activation set 'exp_se'; sg00 lists 1");
  EXPECT_HAS(on(Engine::kSp, act_set("exp_set")), "stands in the stream of SP; only ACT");
  EXPECT_HAS(on(Engine::kAct, act_set("0123456789abcdef0123456789abcdef")),
             "no end within 32 bytes");
  auto r = act_set("exp_set");
  r.r0[3] = 5;
  EXPECT_HAS(on(Engine::kAct, r), "byte 47 is 0x05");
}

// --- PSEUDO_DMASWAP_QUEUE_SET

class Swap : public ::testing::Test {
 protected:
  Swap() {
    add_memory(p_);
    auto& set = p_.add_set("qW", neff::QueueType::kData, Engine::kSp);
    set.instances = {"qW_a", "qW_b"};
    set.semaphores = {8};
    // Instance a: two blocks; b: one of four descriptors. Both count from 0.
    set.blocks = {copy_block(p_, 0, 8), copy_block(p_, 0, 8), copy_block(p_, 1, 8)};
    set.blocks[0].instance_name = set.blocks[2].instance_name = "qW_a";
    set.blocks[1].instance_name = "qW_b";
    for (int i = 0; i < 3; ++i)
      set.blocks[1].descriptors.push_back(set.blocks[1].descriptors.front());
  }
  static image::SwapQueueSetRecord swap(const char* name, std::uint8_t instance = 0) {
    auto r = isa::zero_record<image::SwapQueueSetRecord>(0xCF);
    std::memcpy(r.queue, name, std::min(std::strlen(name), sizeof r.queue));
    r.instance = instance;
    r.swap = 1;
    return r;
  }
  std::string refused(const image::SwapQueueSetRecord& r) {
    TestProgram p;
    add_memory(p);
    p.sg.queues = p_.sg.queues;
    p.add_set("qOne", neff::QueueType::kData, Engine::kSp);
    p.add(Engine::kSp, r);
    return refusal(p);
  }
  // Ring bases that MAIN or a later part writes to the m2s side of engine 0.
  static std::vector<std::uint64_t> bases(const Image& image, std::size_t from, std::size_t to) {
    std::vector<std::uint64_t> found;
    for (std::size_t at = from; at < to; at += kRecordBytes) {
      const auto r = isa::load_record<isa::MemRecord>(image.bytes.data() + at);
      if (r.h.opcode != isa::kOpTensorStore || r.count_inner != 2 || r.step_inner != 1) continue;
      std::uint32_t low = 0;
      std::memcpy(&low, r.reg, 4);
      if (low >= 0x80000000 && low % 0x20000000 == 0) found.push_back(low);
    }
    return found;
  }

  TestProgram p_;
};

TEST_F(Swap, EachInstanceHasItsOwnRingsAndBlocks) {
  p_.add_trigger(Engine::kSp, "qW", 0);
  p_.add_trigger(Engine::kSp, "qW_a", 1);
  p_.add(Engine::kSp, swap("qW_b"));
  p_.add_trigger(Engine::kSp, "qW_b", 0);
  p_.add(Engine::kSp, swap("qW", 0));
  p_.add_trigger(Engine::kSp, "qW", 0);
  const Image sp = images_of(p_)[4];
  const std::size_t main = sp.main_offset, end = main + sp.main_bytes;
  // Set-up with the first, swap to the second and back, again the first for the
  // next run.
  EXPECT_EQ(bases(sp, 0, main), (std::vector<std::uint64_t>{0x80000000}));
  EXPECT_EQ(bases(sp, main, end), (std::vector<std::uint64_t>{0xA0000000, 0x80000000}));
  EXPECT_EQ(bases(sp, end, sp.bytes.size()), (std::vector<std::uint64_t>{0x80000000}));
  // Counts of the four triggers: TX descriptors of one ring.
  std::vector<std::uint64_t> counts;
  const std::uint64_t bell = 0xffff1000000u + 0x1000 + 0x38;
  for (std::size_t i = 0; i < main_records(sp); ++i) {
    const auto r = main_record<isa::WriteRecord>(sp, i);
    if (r.h.opcode == isa::kOpWrite && r.address0 == bell) counts.push_back(r.data0);
  }
  ASSERT_EQ(counts.size(), 4u);
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_EQ(counts[0], counts[3]);
  EXPECT_GT(counts[2], counts[0]);
  EXPECT_EQ(sp.readings, (std::vector<std::uint8_t>{0xCF}));
}

TEST_F(Swap, EventsStandAroundIt) {
  auto r = swap("qW_b");
  const auto h = with_events(0xCF).h;
  std::memcpy(&r.h.wait_mode, &h.wait_mode, sizeof h - offsetof(isa::Header, wait_mode));
  p_.add(Engine::kSp, r);
  const Image sp = images_of(p_)[4];
  EXPECT_EQ(main_record<isa::ControlRecord>(sp, 1).h.wait_mode, isa::kWaitSemGe);
  EXPECT_EQ(main_record<isa::ControlRecord>(sp, 2).h.opcode, isa::kOpDrain);
  const std::size_t n = main_records(sp);
  EXPECT_EQ(main_record<isa::ControlRecord>(sp, n - 2).h.opcode, isa::kOpDrain);
  EXPECT_EQ(main_record<isa::ControlRecord>(sp, n - 1).h.update_mode, isa::kUpdateSemInc);
}

TEST_F(Swap, Refusals) {
  EXPECT_HAS(refused(swap("qNone")), "names 'qNone', which is no queue set or instance of sg00");
  EXPECT_HAS(refused(swap("qOne")), "queue set 'qOne' has no several queue_instances");
  EXPECT_HAS(refused(swap("qW", 2)), "instance 2 of queue set 'qW', which has 2");
  EXPECT_HAS(refused(swap("qW_b", 1)), "byte 59 is 1 beside the instance 'qW_b'");
  EXPECT_HAS(refused(swap("0123456789abcdef0123456789abcdef")), "no end within 32 bytes");
  auto r = swap("qW_b");
  r.swap = 0;
  EXPECT_HAS(refused(r), "bytes 60 to 63 hold 0");
  r = swap("qW_b");
  r.r0[0] = 1;
  EXPECT_HAS(refused(r), "byte 44 is 0x01");
}

TEST_F(Swap, TriggersFollowTheActiveInstance) {
  {
    TestProgram p;
    add_memory(p);
    p.sg.queues = p_.sg.queues;
    p.add_trigger(Engine::kSp, "qW_b", 0);
    EXPECT_HAS(refusal(p), "names queue instance 'qW_b' while 'qW_a' is active");
  }
  p_.add(Engine::kSp, swap("qW_b"));
  p_.add_trigger(Engine::kSp, "qW", 1);
  EXPECT_HAS(refusal(p_), "queue set 'qW' has no block 1");
}

TEST_F(Swap, InstancesTouchNoCallerTensors) {
  const std::uint32_t x = p_.add_variable("x", neff::VariableType::kInput, 4096, kCaller);
  auto& set = p_.sg.queues[0];
  set.blocks[1].descriptors = {copy(pattern(x, 0, {64}, {1}), pattern(0, 0, {64}, {1}))};
  const auto rings = build_instance_rings(set, {.arch = &sunda(),
                                                .product = sunda().products,
                                                .core = 0,
                                                .platform = NRTP_PLATFORM_EMULATOR,
                                                .subgraph = &p_.sg,
                                                .variable_address = p_.addresses,
                                                .filler_pa = TestProgram::kFiller,
                                                .peer_core = std::nullopt});
  ASSERT_FALSE(rings.is_ok());
  EXPECT_HAS(std::string(rings.status().message()), "'qW_b' touches inputs or outputs");
}

}  // namespace
}  // namespace opennrt::tdrv::test
