// SPDX-License-Identifier: Apache-2.0
#include "bench.h"
#include "raw_record.h"

namespace opennrt::emu::test {
namespace {

using Sequencer = Bench;

TEST_F(Sequencer, EachEngineStartsAtItsAddressAndHalts) {
  for (std::uint32_t e = 0; e < 5; ++e) {
    const std::uint64_t at = kProgram + e * 0x8000;
    load(Program{}.add(mark(static_cast<std::uint8_t>(100 + e))).add(halt()), at);
    start(e, at);
  }
  EXPECT_TRUE(dev().runnable());
  EXPECT_TRUE(run());
  for (std::uint32_t e = 0; e < 5; ++e) EXPECT_EQ(dev().semaphore_read(0, 100 + e), 1u) << e;
  EXPECT_FALSE(dev().runnable());
  EXPECT_FALSE(run());
  EXPECT_EQ(dev().describe(0), "core 0: all engines stopped");
}

// Waits of the header: mode, value of the semaphore before, whether it holds
// against the threshold 5.
TEST_F(Sequencer, SemaphoreWaitModes) {
  struct Case {
    std::uint8_t mode;
    std::int32_t value;
    bool holds;
  };
  const Case cases[] = {{1, 5, true},  {1, 4, false},   {1, 6, false}, {2, 4, true},
                        {2, 5, false}, {3, 5, true},    {3, 6, false}, {4, 6, true},
                        {4, 5, false}, {5, 5, true},    {5, 4, false}, {5, -7, false},
                        {2, -7, true}, {5, 79958, true}};
  for (const Case& c : cases) {
    for (const bool from_register : {false, true}) {
      dev().reset_cores(1);
      dev().semaphore_set(0, 40, static_cast<std::uint32_t>(c.value));
      put<std::uint32_t>(kData, 5);
      auto waiter = mark(41);
      waiter.h.update_mode = isa::kUpdateEvtSet;
      waiter.h.wait_mode = c.mode;
      waiter.h.wait_index = 40;
      waiter.h.value = 5;
      if (from_register) {
        waiter.h.wait_mode |= isa::kWaitRegisterBit;
        waiter.h.value = 9;
      }
      execute(Program{}.add(load_regs(kData, {9})).add(waiter).add(halt()));
      EXPECT_EQ(dev().event_read(0, 41), c.holds ? 1u : 0u)
          << "mode " << int{c.mode} << " value " << c.value << " register " << from_register;
    }
  }
}

TEST_F(Sequencer, NegativeThresholdsCompareSigned) {
  auto waiter = mark(41);
  waiter.h.wait_mode = isa::kWaitSemLt;
  waiter.h.wait_index = 40;
  waiter.h.value = static_cast<std::uint32_t>(-3);
  waiter.h.update_mode = isa::kUpdateEvtSet;
  dev().semaphore_set(0, 40, static_cast<std::uint32_t>(-3));
  execute(Program{}.add(waiter).add(halt()));
  EXPECT_EQ(dev().event_read(0, 41), 0u);
  dev().semaphore_add(0, 40, -1);
  run();
  EXPECT_EQ(dev().event_read(0, 41), 1u);
}

TEST_F(Sequencer, EventWaitModes) {
  struct Case {
    std::uint8_t mode;
    std::uint32_t before;
    bool holds;
    std::uint32_t after;
  };
  const Case cases[] = {{6, 1, true, 1},  {6, 0, false, 0},  {7, 1, true, 0},  {7, 0, false, 0},
                        {14, 0, true, 0}, {14, 1, false, 1}, {15, 0, true, 1}, {15, 1, false, 1}};
  for (const Case& c : cases) {
    dev().reset_cores(1);
    dev().event_write(0, 20, c.before);
    auto waiter = mark(41);
    waiter.h.wait_mode = c.mode;
    waiter.h.wait_index = 20;
    execute(Program{}.add(waiter).add(halt()));
    EXPECT_EQ(dev().semaphore_read(0, 41), c.holds ? 1u : 0u) << int{c.mode} << c.before;
    EXPECT_EQ(dev().event_read(0, 20), c.after) << int{c.mode} << c.before;
  }
}

TEST_F(Sequencer, BlockedEngineContinuesWhenTheHostSetsTheEvent) {
  auto waiter = mark(41);
  waiter.h.wait_mode = isa::kWaitEvtSetThenClear;
  waiter.h.wait_index = 8;
  execute(Program{}.add(waiter).add(waiter).add(halt()));
  EXPECT_FALSE(dev().runnable());
  dev().event_write(0, 8, 1);
  EXPECT_TRUE(dev().runnable());
  EXPECT_TRUE(run());
  EXPECT_EQ(dev().semaphore_read(0, 41), 1u);  // the first wait consumed it
  dev().event_write(0, 8, 1);
  EXPECT_TRUE(run());
  EXPECT_EQ(dev().semaphore_read(0, 41), 2u);
}

// Start value 10, operand 3 (register 9 holds 100).
TEST_F(Sequencer, SemaphoreUpdateModes) {
  struct Case {
    std::uint8_t mode;
    std::uint32_t operand, after;
  };
  const Case cases[] = {{0x13, 0, 11},
                        {0x14, 0, 9},
                        {0x15, 3, 13},
                        {0x17, 3, 7},
                        {0x19, 3, 3},
                        {0x16, 9, 110},
                        {0x18, 9, static_cast<std::uint32_t>(-90)},
                        {0x1A, 9, 100},
                        {0x95, 9, 110},
                        {0x97, 9, static_cast<std::uint32_t>(-90)},
                        {0x99, 9, 100},
                        {0x03, 0, 11},
                        {0x04, 0, 9},
                        {0x05, 3, 13},
                        {0x07, 3, 7},
                        {0x09, 3, 3},
                        {0x06, 9, 110}};
  put<std::uint32_t>(kData, 100);
  for (const Case& c : cases) {
    for (const bool own : {false, true}) {  // header, or own update of EVENT_SEMAPHORE
      dev().reset_cores(1);
      dev().semaphore_set(0, 50, 10);
      Program p;
      p.add(load_regs(kData, {9}));
      if (own) {
        auto r = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
        r.update_mode = c.mode;
        r.update_index = 50;
        r.update_value = c.operand;
        p.add(r);
      } else {
        auto r = nop();
        r.h.update_mode = c.mode;
        r.h.update_index = 50;
        r.h.value = c.operand;
        p.add(r);
      }
      execute(p.add(halt()));
      EXPECT_EQ(dev().semaphore_read(0, 50), c.after) << "mode " << int{c.mode} << " own " << own;
    }
  }
}

TEST_F(Sequencer, EventUpdateModes) {
  for (const int mode : {0x11, 0x01, 0x12, 0x02}) {
    const bool set = (mode & 0xF) == 1;
    dev().event_write(0, 30, set ? 0 : 1);
    auto r = nop();
    r.h.update_mode = static_cast<std::uint8_t>(mode);
    r.h.update_index = 30;
    execute(Program{}.add(r).add(halt()));
    EXPECT_EQ(dev().event_read(0, 30), set ? 1u : 0u) << mode;
  }
}

TEST_F(Sequencer, EventSemaphoreNeedsBothWaitsAtOnce) {
  auto r = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
  r.h.wait_mode = isa::kWaitEvtSetThenClear;
  r.h.wait_index = 3;
  r.wait_mode = isa::kWaitSemEq;
  r.wait_index = 60;
  r.wait_value = 2;
  r.update_mode = isa::kUpdateSemWrite;
  r.update_index = 61;
  r.update_value = 77;
  execute(Program{}.add(r).add(halt()));
  dev().event_write(0, 3, 1);
  run();
  EXPECT_EQ(dev().event_read(0, 3), 1u);  // not consumed while the second wait fails
  EXPECT_EQ(dev().semaphore_read(0, 61), 0u);
  dev().semaphore_set(0, 60, 2);
  run();
  EXPECT_EQ(dev().event_read(0, 3), 0u);
  EXPECT_EQ(dev().semaphore_read(0, 61), 77u);
}

// Both waits ask for the one event: it is there once, so that neither takes it.
TEST_F(Sequencer, EventThatOneOfTwoWaitsLacksIsKept) {
  auto r = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
  r.h.wait_mode = r.wait_mode = isa::kWaitEvtSetThenClear;
  r.h.wait_index = r.wait_index = 3;
  r.update_mode = isa::kUpdateSemInc;
  r.update_index = 61;
  dev().event_write(0, 3, 1);
  execute(Program{}.add(r).add(halt()));
  EXPECT_EQ(dev().semaphore_read(0, 61), 0u);
  EXPECT_EQ(dev().event_read(0, 3), 1u);
}

// The barrier of the runtime's images: nine records over one semaphore.
TEST_F(Sequencer, FiveEngineBarrier) {
  const auto step = [](std::uint32_t wait, bool last = false) {
    auto r = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
    if (wait != 0) {
      r.wait_mode = isa::kWaitSemEq;
      r.wait_index = 2;
      r.wait_value = wait;
    }
    r.update_mode = last ? isa::kUpdateSemWrite : isa::kUpdateSemInc;
    r.update_index = 2;
    return r;
  };
  Program p[5];
  p[NRTP_ENGINE_PE].add(step(0)).add(step(8, true));
  p[NRTP_ENGINE_ACT].add(step(1)).add(step(7));
  p[NRTP_ENGINE_POOL].add(step(2)).add(step(6));
  p[NRTP_ENGINE_DVE].add(step(3)).add(step(5));
  p[NRTP_ENGINE_SP].add(step(4));
  for (std::uint32_t e = 0; e < 5; ++e)
    load(p[e].add(mark(static_cast<std::uint8_t>(90 + e))).add(halt()), kProgram + e * 0x8000);
  for (const std::uint32_t e : {0u, 1u, 2u, 3u}) start(e, kProgram + e * 0x8000);
  run();
  EXPECT_EQ(dev().semaphore_read(0, 2), 4u);  // everybody waits for SP
  start(4, kProgram + 4 * 0x8000);
  run();
  EXPECT_EQ(dev().semaphore_read(0, 2), 0u);
  for (std::uint32_t e = 0; e < 5; ++e) EXPECT_EQ(dev().semaphore_read(0, 90 + e), 1u);
}

TEST_F(Sequencer, BranchCompareOperations) {
  struct Case {
    std::uint8_t op, dtype;
    std::uint32_t lhs, rhs;
    bool taken;
  };
  const auto f = [](float v) {
    std::uint32_t u;
    std::memcpy(&u, &v, 4);
    return u;
  };
  const std::uint32_t minus_one = 0xFFFFFFFF;
  const Case cases[] = {{1, 9, 4, 5, true},
                        {1, 9, 5, 5, false},
                        {2, 9, 5, 5, true},
                        {2, 9, 6, 5, false},
                        {3, 9, 5, 5, true},
                        {3, 9, 4, 5, false},
                        {4, 9, 4, 5, true},
                        {4, 9, 5, 5, false},
                        {5, 9, 5, 5, true},
                        {5, 9, 4, 5, false},
                        {6, 9, 6, 5, true},
                        {6, 9, 5, 5, false},
                        {1, 8, minus_one, 0, true},
                        {1, 9, minus_one, 0, false},
                        {6, 9, minus_one, 0, true},
                        {6, 8, minus_one, 0, false},
                        {1, 10, f(-1.5f), f(0.25f), true},
                        {5, 10, f(-1.5f), f(0.25f), false}};
  for (const Case& c : cases) {
    for (const bool register_form : {false, true}) {
      dev().reset_cores(1);
      put<std::uint32_t>(kData, c.lhs);
      put<std::uint32_t>(kData + 4, c.rhs);
      auto b = branch(c.op, 1, c.rhs, 2);
      b.dtype = c.dtype;
      if (register_form) {
        b.op = static_cast<std::uint8_t>(c.op + 8);
        b.rhs = 2;
        b.immediate = 0xBAD;
      }
      execute(Program{}.add(load_regs(kData, {1, 2})).add(b).add(mark(70)).add(halt()));
      EXPECT_EQ(dev().semaphore_read(0, 70), c.taken ? 0u : 1u)
          << int{c.op} << " dtype " << int{c.dtype} << " " << c.lhs << " " << c.rhs;
    }
  }
}

TEST_F(Sequencer, NegativeBranchLoops) {
  // Counts semaphore 70 down through memory: three rounds.
  auto give_up = branch(isa::kBranchEqImm, 1, 3, 2);
  execute(Program{}
              .add(mark(70))
              .add(load_regs(sem(0, 70, NRTP_SEM_READ), {1}))
              .add(give_up)
              .add(branch(isa::kBranchAlways, 0, 0, -3))
              .add(halt()));
  EXPECT_EQ(dev().semaphore_read(0, 70), 3u);
  EXPECT_EQ(dev().describe(0), "core 0: all engines stopped");
}

TEST_F(Sequencer, RegisterPairBranchIsAbsolute) {
  const std::uint64_t far = 0x1000000000 + kHbm;  // second channel
  put<std::uint64_t>(kData, far);
  load(Program{}.add(mark(71)).add(halt()), far);
  auto b = branch(isa::kBranchAlways, 0, 0, 0);
  b.target_mode = isa::kTargetRegister;
  b.target_lo = 4;
  b.target_hi = 5;
  execute(Program{}.add(load_regs(kData, {4, 5})).add(b).add(mark(70)).add(halt()));
  EXPECT_EQ(dev().semaphore_read(0, 71), 1u);
  EXPECT_EQ(dev().semaphore_read(0, 70), 0u);
}

TEST_F(Sequencer, ArmedHaltContinuesWithTheNextSlotOnce) {
  const std::uint64_t ctrl = nx(NRTP_ENGINE_DVE, arch_->ib->nx_start_ctrl);
  execute(Program{}.add(write(ctrl, 1)).add(halt()).add(mark(70)).add(halt()).add(mark(71)),
          NRTP_ENGINE_DVE);
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
  EXPECT_EQ(dev().semaphore_read(0, 71), 0u);
  EXPECT_EQ(get<std::uint32_t>(ctrl), 0u);
}

TEST_F(Sequencer, RangeClearIsInclusive) {
  for (std::uint32_t i = 0; i < 256; ++i) dev().semaphore_set(0, i, 9);
  auto r = isa::zero_record<isa::RangeClearRecord>(isa::kOpRangeClear);
  r.mode = 1;
  r.first = 207;
  r.last = 255;
  execute(Program{}.add(r).add(halt()));
  EXPECT_EQ(dev().semaphore_read(0, 206), 9u);
  EXPECT_EQ(dev().semaphore_read(0, 207), 0u);
  EXPECT_EQ(dev().semaphore_read(0, 255), 0u);
}

TEST_F(Sequencer, SetClearZeroesExactlyTheMask) {
  namespace ER = isa::layout::CTRL_ER;
  for (std::uint32_t i = 0; i < 256; ++i) dev().semaphore_set(0, i, 9);
  RawRecord r(isa::op::EVENT_SEMAPHORE_RANGE_CLEAR);
  r.set(ER::clear_mode, 2);
  // Bit id % 32 of word id / 32.
  std::uint32_t words[8] = {};
  const std::vector<std::uint32_t> ids = {0, 1, 31, 32, 63, 100, 200, 255};
  for (const std::uint32_t id : ids) words[id / 32] |= 1u << id % 32;
  for (std::uint32_t i = 0; i < 32; ++i) r.set(ER::mask, words[i / 4] >> 8 * (i % 4) & 0xFF, i);
  execute(Program{}.add(r).add(halt()));
  for (std::uint32_t i = 0; i < 256; ++i)
    EXPECT_EQ(dev().semaphore_read(0, i), std::count(ids.begin(), ids.end(), i) ? 0u : 9u) << i;
}

TEST_F(Sequencer, UnorderedRecordsDoNotWait) {
  auto r = mark(70);
  r.h.wait_mode = isa::kWaitUnordered;
  r.h.wait_index = 5;
  r.h.value = 200;  // not a register either
  auto es = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
  es.h.wait_mode = isa::kWaitUnordered;
  es.wait_mode = isa::kWaitUnordered;
  es.update_mode = isa::kUpdateSemInc;
  es.update_index = 70;
  auto waiter = nop();
  waiter.h.wait_mode = isa::kWaitSemGe;
  waiter.h.wait_index = 5;
  waiter.h.value = 1;
  execute(Program{}.add(r).add(es).add(waiter));
  EXPECT_EQ(dev().semaphore_read(0, 70), 2u);
  EXPECT_NE(dev().describe(0).find("semaphore 5 >= 1"), std::string::npos);
}

TEST_F(Sequencer, RecordsWithoutFunctionalEffectPass) {
  auto order = isa::zero_record<isa::OrderingRecord>(isa::kOpSetOrderingMode);
  order.mode = 1;
  auto drain = isa::zero_record<isa::ControlRecord>(isa::kOpDrain);
  drain.drain_count = 1;
  auto act = isa::zero_record<isa::ControlRecord>(isa::kOpActivationTableLoad);
  act.act_set_index = 2;
  RawRecord hint(isa::op::BRANCH_PREFETCH_HINT);
  hint.set(isa::layout::CTRL_BR_HINT::target, 0x1234).byte(20, 7);
  execute(Program{}
              .add(order)
              .add(drain)
              .add(act)
              .add(RawRecord(isa::op::INSTRUCTION_FLUSH))
              .add(RawRecord(isa::op::ENGINE_NOP))
              .add(hint)
              .add(nop())
              .add(mark(70))
              .add(halt()),
          NRTP_ENGINE_ACT);
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
  EXPECT_EQ(log_lines(), 0u);
}

TEST_F(Sequencer, RewrittenImageIsExecutedInItsNewForm) {
  load(Program{}.add(mark(70)).add(halt()));
  start(NRTP_ENGINE_PE);
  run();
  // Through device space.
  load(Program{}.add(mark(71)));
  start(NRTP_ENGINE_PE);
  run();
  // Through a mapping, one byte: the index of the update.
  dev().memory_at(kProgram, 64)[7] = 72;
  start(NRTP_ENGINE_PE);
  run();
  for (std::uint32_t s : {70, 71, 72}) EXPECT_EQ(dev().semaphore_read(0, s), 1u) << s;
}

TEST_F(Sequencer, EngineThatRewritesItsOwnNextSlot) {
  // Byte 7 of the second slot (update index) becomes 73.
  auto victim = mark(70);
  std::uint32_t word;
  std::memcpy(&word, reinterpret_cast<std::uint8_t*>(&victim) + 4, 4);
  word = (word & 0x00FFFFFF) | 73u << 24;
  Program p;
  p.add(victim).add(write(kProgram + 4, word)).add(branch(0, 0, 0, -2));
  load(p);
  start(NRTP_ENGINE_SP);
  dev().run(5);  // start, victim, write, branch, victim
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
  EXPECT_EQ(dev().semaphore_read(0, 73), 1u);
}

TEST_F(Sequencer, EndlessLoopReturnsAtTheBudgetAndDoesNotStarveOthers) {
  load(Program{}.add(branch(0, 0, 0, 0)));
  load(Program{}.add(mark(70)).add(halt()), kProgram + 0x8000);
  start(NRTP_ENGINE_PE);
  start(NRTP_ENGINE_SP, kProgram + 0x8000);
  EXPECT_TRUE(dev().run(5000));
  EXPECT_TRUE(dev().runnable());
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
  dev().reset_cores(1);
  EXPECT_FALSE(dev().runnable());
  EXPECT_FALSE(dev().run(5000));
}

// The owner of some memory has gone.
TEST_F(Sequencer, ProgramsInMemoryOfOneWhoHasGoneEnd) {
  constexpr std::uint64_t kOther = kProgram + 0x8000;
  const MemoryRange gone[] = {{kData, 0x1000}, {kProgram, 0x8000}};
  auto waits = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
  waits.wait_mode = isa::kWaitSemGe;
  waits.wait_index = 60;
  waits.wait_value = 1;
  load(Program{}.add(branch(0, 0, 0, 0)));
  load(Program{}.add(waits).add(mark(71)).add(halt()), kOther);
  waits.wait_index = 61;  // which nobody raises: the next program must not wait for it
  load(Program{}.add(waits).add(mark(70)).add(halt()), kProgram + 0x4000);
  start(NRTP_ENGINE_PE);                      // loops
  start(NRTP_ENGINE_ACT, kProgram + 0x4000);  // waits
  start(NRTP_ENGINE_SP, kOther);
  EXPECT_TRUE(dev().run(5000));
  start(NRTP_ENGINE_DVE);  // armed only
  dev().end_programs(gone);
  // What the next owner puts there is not executed.
  const Program next = Program{}.add(mark(72)).add(halt());
  load(next);
  load(next, kProgram + 0x4000);
  dev().semaphore_add(0, 60, 1);
  run();
  EXPECT_FALSE(dev().runnable());
  EXPECT_EQ(dev().semaphore_read(0, 70), 0u);
  EXPECT_EQ(dev().semaphore_read(0, 71), 1u) << "a program of somebody else";
  EXPECT_EQ(dev().semaphore_read(0, 72), 0u);
  EXPECT_EQ(log_lines(), 0u);
  // The engines are good for the next one.
  for (const std::uint32_t engine : {NRTP_ENGINE_PE, NRTP_ENGINE_ACT, NRTP_ENGINE_DVE}) {
    start(engine);
    run();
  }
  EXPECT_EQ(dev().semaphore_read(0, 72), 3u);
}

// An address register has two halves: here the program lies in host memory.
TEST_F(Sequencer, ProgramAboveFourGibibytes) {
  const std::uint64_t at = arch_->geometry->host_window_base | 0x4000;
  ASSERT_GT(at >> 32, 0u);
  const Program p = Program{}.add(mark(70)).add(halt());
  std::memcpy(memory_->host().data() + 0x4000, p.bytes.data(), p.bytes.size());
  start(NRTP_ENGINE_SP, at);
  run();
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
  EXPECT_EQ(log_lines(), 0u);
}

TEST_F(Sequencer, ResetForgetsAStart) {
  load(Program{}.add(mark(70)).add(halt()));
  start(NRTP_ENGINE_SP);
  dev().reset_cores(1);
  EXPECT_FALSE(run());
  load(Program{}.add(mark(71)).add(halt()), kProgram + 0x1000);
  start(NRTP_ENGINE_PE, kProgram + 0x1000);
  run();
  EXPECT_EQ(dev().semaphore_read(0, 70), 0u);
  EXPECT_EQ(dev().semaphore_read(0, 71), 1u);
  EXPECT_EQ(log_lines(), 0u);
  EXPECT_EQ(dev().describe(0), "core 0: all engines stopped");
}

// General registers and the argument table's address of an earlier program.
TEST_F(Sequencer, ResetClearsTheRegisters) {
  const std::vector<std::uint8_t> registers = {0, 9, 63, 0x82, 0x83};
  for (std::uint32_t i = 0; i < 5; ++i) {
    put<std::uint32_t>(kData + 4 * i, 1000 + i);
    put<std::uint32_t>(kData + 0x100 + 4 * i, 77);
  }
  auto store = load_regs(kData + 0x100, registers);
  store.h.opcode = isa::kOpTensorStore;
  execute(Program{}.add(load_regs(kData, registers)).add(store).add(halt()));
  for (std::uint32_t i = 0; i < 5; ++i)
    EXPECT_EQ(get<std::uint32_t>(kData + 0x100 + 4 * i), 1000 + i);
  dev().reset_cores(1);
  execute(Program{}.add(store).add(halt()));
  for (std::uint32_t i = 0; i < 5; ++i)
    EXPECT_EQ(get<std::uint32_t>(kData + 0x100 + 4 * i), 0u) << int{registers[i]};
}

// What a caller runs in one go is bounded in time, not only in records: here
// each of them has 2 million elements.
TEST_F(Sequencer, LargeRecordsUseUpTheBudget) {
  auto add = isa::zero_record<isa::TensorTensorRecord>(isa::kOpTensorTensor);
  add.h.update_mode = isa::kUpdateSemInc;
  add.h.update_index = 70;
  add.src_dtypes = isa::kDtFloat32 << 4 | isa::kDtFloat32;
  add.dst_dtype = isa::kDtFloat32;
  add.op = 4;
  add.partitions = 128;
  for (isa::Tensor3d* operand : {&add.src0, &add.src1, &add.dst})
    *operand = {0, {1, 0, 0}, {16384, 1, 1}};
  add.dst.address = 0x10000;
  auto back = isa::zero_record<isa::CompareBranchRecord>(isa::kOpCompareBranch);
  back.target_mode = isa::kTargetRelative;
  back.offset = -64;
  load(Program{}.add(add).add(back));
  start(NRTP_ENGINE_DVE);
  EXPECT_TRUE(dev().run(4096));
  EXPECT_GE(dev().semaphore_read(0, 70), 1u);
  EXPECT_LE(dev().semaphore_read(0, 70), 16u);
}

TEST_F(Sequencer, DescribeNamesEngineSlotModeIndexValueThreshold) {
  dev().semaphore_set(0, 12, 5);
  auto waiter = nop();
  waiter.h.wait_mode = isa::kWaitSemGe;
  waiter.h.wait_index = 12;
  waiter.h.value = 16;
  execute(Program{}.add(nop()).add(waiter), NRTP_ENGINE_POOL);
  EXPECT_EQ(dev().describe(0),
            "core 0: POOL at 0x1100040 waits (mode 5) for semaphore 12 >= 16 (value 5)");
  EXPECT_NE(dev().describe(9).find("2 cores"), std::string::npos);
}

}  // namespace
}  // namespace opennrt::emu::test
