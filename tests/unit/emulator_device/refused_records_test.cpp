// SPDX-License-Identifier: Apache-2.0
//
// Control records that stop their engine.
#include "bench.h"
#include "raw_record.h"

namespace opennrt::emu::test {
namespace {

class Refused : public Bench {
 protected:
  // The record stops the engine with a message, does nothing and leaves one
  // error record of type 10 with the opcode.
  template <typename Record>
  void expect(const Record& r, const std::string& text, std::uint32_t engine = NRTP_ENGINE_PE) {
    dev().reset_cores(1);
    {
      std::lock_guard lock(log_mutex_);
      log_.clear();
    }
    std::memset(memory_->host().data(), 0, 4096);
    nq_init(arch_->geometry->error_queue, 0, 4096);
    execute(Program{}.add(nop()).add(r).add(mark(70)).add(halt()), engine);
    EXPECT_EQ(dev().semaphore_read(0, 70), 0u) << text;
    expect_logged({"core 0 PE at 0x1100040", text});
    EXPECT_NE(dev().describe(0).find("0x1100040 stopped by an error"), std::string::npos);
    std::uint8_t record[16];
    std::memcpy(record, memory_->host().data(), 16);
    EXPECT_EQ(record[3] & 0x80, 0x80);
    EXPECT_EQ(record[0] | record[1] << 8 | (record[2] & 0xF) << 16, 0x1100040 / 64);
    EXPECT_EQ(record[4], 10);
    EXPECT_EQ(record[5], engine);
    EXPECT_EQ(record[6], r.h.opcode);
  }
};

TEST_F(Refused, UnknownAndPseudoOpcodes) {
  expect(isa::zero_record<isa::ControlRecord>(0x4A), "opcode 0x4a: REG_LOAD does not exist on PE");
  expect(isa::zero_record<isa::ControlRecord>(0xB4),
         "opcode 0xb4: TEST_EVENT_SEM does not exist on sunda");
  expect(isa::zero_record<isa::ControlRecord>(0xB2),
         "MOVE_SHAPE is not implemented by the software device: the layout of its record is not "
         "published");
  expect(isa::zero_record<isa::ControlRecord>(0xBD), "DMA_TRANSPOSE does not exist on sunda");
  expect(isa::zero_record<isa::ControlRecord>(0x04), "opcode 0x4: WEIGHT_MASK: the layout");
  expect(isa::zero_record<isa::ControlRecord>(0xFE), "opcode 0xfe: no instruction has this opcode");
  expect(isa::zero_record<isa::ControlRecord>(0xFF), "opcode 0xff: no instruction has this opcode");
  expect(isa::zero_record<isa::DmaTriggerRecord>(isa::kOpPseudoDmaTrigger), "pseudo-instruction");
  expect(isa::zero_record<isa::ControlRecord>(isa::kOpPseudoBranchLabel), "pseudo-instruction");
  expect(isa::zero_record<isa::ControlRecord>(isa::kOpPseudoDmaDirect2d), "pseudo-instruction");
}

TEST_F(Refused, UnknownModes) {
  auto r = nop();
  for (const int mode : {8, 13, 16, 0x80, 0x86, 0x87, 0xFF}) {
    r = nop();
    r.h.wait_mode = static_cast<std::uint8_t>(mode);
    expect(r, "unknown wait mode");
  }
  for (const int mode : {0x0B, 0x0F, 0x10, 0x1B, 0x20, 0x80, 0x93}) {
    r = nop();
    r.h.update_mode = static_cast<std::uint8_t>(mode);
    expect(r, "unknown update mode");
  }
  r = nop();
  r.h.wait_mode = 0x85;
  r.h.value = 64;
  expect(r, "register 64");
  r = nop();
  r.h.update_mode = 0x16;
  r.h.value = 0x84;
  expect(r, "register 132");
  auto es = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
  es.wait_mode = 9;
  expect(es, "unknown wait mode");
}

TEST_F(Refused, BadFieldsOfControlRecords) {
  auto w = write(kData, 1);
  w.size0 = 8;
  expect(w, "write sizes 8");
  auto l = load_regs(kData, {1});
  l.dtype = isa::kDtFloat16;
  expect(l, "data type FP16 (7)");
  l = load_regs(kData, {64});
  expect(l, "register 64");
  l = load_regs(kData, {1});
  l.count_outer = 0;
  expect(l, "1 x 0 elements");
  l = load_regs(kData, {1});
  l.count_inner = 11;
  l.count_outer = 3;
  expect(l, "11 x 3 elements");
  l = load_regs(kData, {1});
  l.immediate = 1;
  expect(l, "data mode 1");
  l = load_regs(kData, {1});
  l.address |= std::uint64_t{0x40} << 56;
  expect(l, "address marker 0x40");
  auto b = branch(7, 0, 0, 1);
  expect(b, "compare code 7");
  b = branch(15, 0, 0, 1);
  expect(b, "compare code 15");
  b = branch(3, 0, 0, 1);
  b.dtype = isa::kDtInt64;
  expect(b, "data type INT64 (12)");
  b = branch(0, 0, 0, 1);
  b.target_mode = 2;
  expect(b, "target mode 2");
  auto c = isa::zero_record<isa::RangeClearRecord>(isa::kOpRangeClear);
  expect(c, "range mode 0");
  c.mode = 1;
  c.first = 5;
  c.last = 4;
  expect(c, "empty range 5 to 4");
  expect(isa::zero_record<isa::ControlRecord>(isa::kOpPoolConfig),
         "MODIFY_POOL_CONFIG does not exist on PE");
}

TEST_F(Refused, MemoryRecordsByType) {
  auto l = load_regs(kData, {1});
  for (const int type : {0, 6, 7, 11, 13, 14, 15, 16}) {
    l.dtype = static_cast<std::uint8_t>(type);
    expect(l, "registers take integers of 8 to 64 bits and FP32");
  }
  l = load_regs(kData, {1, 2, 3});
  l.dtype = isa::kDtInt64;
  expect(l, "3 halves of 64-bit elements");
  l = load_regs(kData, {1, 2, 3, 4});
  l.dtype = isa::kDtUint64;
  l.step_inner = 2;
  expect(l, "64-bit elements that are not neighbours");
  l = load_regs(kData, {1});
  l.h.opcode = isa::kOpTensorStore;
  l.dtype = isa::kDtInt8;
  l.immediate = 1;
  expect(l, "immediate data of type INT8 (2)");
  l = load_regs(0x28ull << 56 | 70, {1});
  expect(l, "address register 70 does not exist");
  l = load_regs(0x14ull << 56, {1});
  expect(l, "names a variable");
}

TEST_F(Refused, OtherControlRecords) {
  namespace POLL = isa::layout::CTRL_POLL_SEM;
  namespace alu = isa::code::alu_op;
  const auto poll = [] {
    return RawRecord(isa::op::POLL_SEM).set(POLL::n_read, 1).set(POLL::op, alu::MIN);
  };
  expect(poll().set(POLL::n_read, 0), "reads 0 words");
  expect(poll().set(POLL::n_read, 17), "reads 17 words");
  expect(poll().set(POLL::op, alu::DIVIDE), "folds with DIVIDE");
  expect(poll().set(POLL::result, 99), "result register 99");
  auto order = isa::zero_record<isa::OrderingRecord>(isa::kOpSetOrderingMode);
  order.mode = 2;
  expect(order, "ordering mode 2");
  namespace ER = isa::layout::CTRL_ER;
  expect(RawRecord(isa::op::EVENT_SEMAPHORE_RANGE_CLEAR).set(ER::clear_mode, 3), "range mode 3");
  expect(
      RawRecord(isa::op::EVENT_SEMAPHORE_RANGE_CLEAR).set(ER::clear_mode, 2).set(ER::range_last, 4),
      "a range in the set mode");
  expect(RawRecord(isa::op::EVENT_SEMAPHORE_RANGE_CLEAR)
             .set(ER::clear_mode, 1)
             .set(ER::range_last, 4)
             .set(ER::mask, 1, 31),
         "a set in the range mode");
  expect(RawRecord(isa::op::NOP).byte(50, 9), "byte 50 is 0x9, no field is known there");
  expect(RawRecord(isa::op::HALT).byte(63, 1), "byte 63 is 0x1");
}

TEST_F(Refused, JumpOutOfMemory) {
  execute(Program{}.add(branch(0, 0, 0, -0x1000000)), NRTP_ENGINE_SP);
  expect_logged({"core 0 SP at 0x", "program counter"});
  auto b = branch(0, 0, 0, 1);
  b.offset = 32;
  execute(Program{}.add(b), NRTP_ENGINE_ACT);
  expect_logged({"core 0 ACT at 0x1100020", "program counter"});
}

TEST_F(Refused, AccessToNothingIsDroppedAndTheEngineGoesOn) {
  nq_init(arch_->geometry->error_queue, 0, 4096);
  const std::uint64_t nowhere = 0x0F00000000000;
  auto l = load_regs(nowhere, {1});
  put<std::uint32_t>(kData, 55);
  auto store = isa::zero_record<isa::MemRecord>(isa::kOpTensorStore);
  store.dtype = isa::kDtUint32;
  store.count_inner = store.count_outer = 1;
  store.address = kData + 8;
  store.reg[0] = 1;
  put<std::uint32_t>(kData + 8, 99);
  execute(Program{}
              .add(load_regs(kData, {1}))
              .add(write(nowhere, 1))
              .add(l)
              .add(store)
              .add(mark(70))
              .add(halt()),
          NRTP_ENGINE_POOL);
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
  EXPECT_EQ(get<std::uint32_t>(kData + 8), 0u);
  expect_logged({"core 0 POOL at 0x1100040", "write", "0xf00000000000", "dropped"});
  expect_logged({"core 0 POOL at 0x1100080", "read", "0xf00000000000"});
  std::uint8_t record[16];
  std::memcpy(record, memory_->host().data() + 16, 16);
  EXPECT_EQ(record[4], 9);
  EXPECT_EQ(record[5], NRTP_ENGINE_POOL);
}

}  // namespace
}  // namespace opennrt::emu::test
