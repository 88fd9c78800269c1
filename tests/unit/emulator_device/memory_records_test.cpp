// SPDX-License-Identifier: Apache-2.0
//
// WRITE, TENSOR_LOAD, TENSOR_STORE and POLL_SEM.
#include "bench.h"
#include "raw_record.h"

namespace opennrt::emu::test {
namespace {

namespace alu = isa::code::alu_op;
namespace dt = isa::code::dtype;
namespace POLL = isa::layout::CTRL_POLL_SEM;

using MemoryRecords = Bench;

TEST_F(MemoryRecords, WriteOrderAndSecondWriteAbsent) {
  // Both writes go to one word: the second one lasts.
  put<std::uint64_t>(kData, 0x1111111122222222);
  execute(Program{}.add(write(kData, 0xAAAA, kData, 0xBBBB)).add(halt()));
  EXPECT_EQ(get<std::uint64_t>(kData), 0x111111110000BBBBu);
  execute(Program{}.add(write(kData + 4, 7)).add(halt()));
  EXPECT_EQ(get<std::uint64_t>(kData), 0x000000070000BBBBu);
}

TEST_F(MemoryRecords, TensorLoadStepsAndTensorStoreForms) {
  for (std::uint32_t i = 0; i < 64; ++i) put<std::uint32_t>(kData + 4 * i, 1000 + i);
  // Elements (i, j) at 4 * (2 i + 10 j) from word 20, the second row backwards.
  auto in = isa::zero_record<isa::MemRecord>(isa::kOpTensorLoad);
  in.dtype = isa::kDtUint32;
  in.count_inner = 3;
  in.count_outer = 2;
  in.address = kData + 80;
  in.step_inner = 2;
  in.step_outer = -10;
  for (std::uint8_t k = 0; k < 6; ++k) in.reg[k] = static_cast<std::uint8_t>(10 + k);
  auto out = isa::zero_record<isa::MemRecord>(isa::kOpTensorStore);
  out.dtype = isa::kDtUint32;
  out.count_inner = 6;
  out.count_outer = 1;
  out.address = kData + 0x1000;
  out.step_inner = 1;
  for (std::uint8_t k = 0; k < 6; ++k) out.reg[k] = static_cast<std::uint8_t>(10 + k);
  auto now = isa::zero_record<isa::MemRecord>(isa::kOpTensorStore);
  now.dtype = isa::kDtUint32;
  now.immediate = 1;
  now.count_inner = 2;
  now.count_outer = 4;
  now.address = kData + 0x2000;
  now.step_inner = 1;
  now.step_outer = 0x100;
  for (std::uint32_t k = 0; k < 8; ++k) now.data[k] = 0xF00 + k;
  execute(Program{}.add(in).add(out).add(now).add(halt()));
  const std::uint32_t expected[] = {1020, 1022, 1024, 1010, 1012, 1014};
  for (std::uint32_t k = 0; k < 6; ++k)
    EXPECT_EQ(get<std::uint32_t>(kData + 0x1000 + 4 * k), expected[k]) << k;
  for (std::uint32_t k = 0; k < 8; ++k)
    EXPECT_EQ(get<std::uint32_t>(kData + 0x2000 + 4 * (k % 2) + 0x400 * (k / 2)), 0xF00 + k) << k;
}

TEST_F(MemoryRecords, ArgumentTableRegistersKeepTheirValue) {
  put<std::uint64_t>(kData, 0x0000000512345678);
  auto store = isa::zero_record<isa::MemRecord>(isa::kOpTensorStore);
  store.dtype = isa::kDtUint32;
  store.count_inner = 2;
  store.count_outer = 1;
  store.step_inner = 1;
  store.address = kData + 8;
  store.reg[0] = 0x82;
  store.reg[1] = 0x83;
  execute(Program{}.add(load_regs(kData, {0x82, 0x83})).add(store).add(halt()));
  EXPECT_EQ(get<std::uint64_t>(kData + 8), 0x0000000512345678u);
}

TEST_F(MemoryRecords, NarrowTypesExtendAndStoreTheirBytes) {
  struct Case {
    std::uint32_t dtype;
    std::uint32_t bytes;
    std::uint32_t want[3];
  };
  // Memory 80 7F FE FF 01 80 ...: elements at distance 2 from byte 0.
  const std::uint8_t bytes[16] = {0x80, 0x7F, 0xFE, 0xFF, 0x01, 0x80, 0, 0,
                                  0xF0, 0xFF, 0,    0,    0,    0,    0, 0};
  const Case cases[] = {{dt::INT8, 1, {0xFFFFFF80, 0xFFFFFFFE, 0x01}},
                        {dt::UINT8, 1, {0x80, 0xFE, 0x01}},
                        {dt::INT16, 2, {0x7F80, 0xFFFF8001, 0xFFFFFFF0}},
                        {dt::UINT16, 2, {0x7F80, 0x8001, 0xFFF0}}};
  for (const Case& c : cases) {
    ASSERT_EQ(dev().write(kData, bytes, sizeof bytes), 0);
    for (std::uint32_t i = 0; i < 64; i += 4) put<std::uint32_t>(kData + 0x100 + i, 0x55555555);
    auto in = load_regs(kData, {1, 2, 3});
    in.dtype = static_cast<std::uint8_t>(c.dtype);
    in.step_inner = 2;
    auto wide = load_regs(kData + 0x80, {1, 2, 3});
    wide.h.opcode = isa::kOpTensorStore;
    auto out = in;
    out.h.opcode = isa::kOpTensorStore;
    out.address = kData + 0x100;
    execute(Program{}.add(in).add(wide).add(out).add(halt()));
    for (std::uint32_t k = 0; k < 3; ++k) {
      EXPECT_EQ(get<std::uint32_t>(kData + 0x80 + 4 * k), c.want[k]) << c.dtype << " " << k;
      // The gaps keep their bytes.
      for (std::uint32_t b = 0; b < 2 * c.bytes; ++b)
        EXPECT_EQ(get<std::uint8_t>(kData + 0x100 + 2 * c.bytes * k + b),
                  b < c.bytes ? bytes[2 * c.bytes * k + b] : 0x55)
            << c.dtype << " " << k << " " << b;
    }
  }
}

TEST_F(MemoryRecords, SixtyFourBitElementsAreTwoRegisters) {
  put<std::uint64_t>(kData, 0x1122334455667788);
  put<std::uint64_t>(kData + 8, 0x99AABBCCDDEEFF00);
  auto in = load_regs(kData, {10, 20, 11, 21});
  in.dtype = dt::INT64;
  auto out = load_regs(kData + 0x40, {11, 21});
  out.h.opcode = isa::kOpTensorStore;
  out.dtype = dt::UINT64;
  out.step_inner = 7;  // one element: no step is taken
  auto now = load_regs(kData + 0x80, {});
  now.h.opcode = isa::kOpTensorStore;
  now.dtype = dt::INT64;
  now.immediate = 1;
  now.count_inner = 2;
  now.data[0] = 0x01020304;
  now.data[1] = 0x05060708;
  execute(Program{}.add(in).add(out).add(now).add(halt()));
  EXPECT_EQ(get<std::uint64_t>(kData + 0x40), 0x99AABBCCDDEEFF00u);
  EXPECT_EQ(get<std::uint64_t>(kData + 0x80), 0x0506070801020304u);
  EXPECT_EQ(log_lines(), 0u);
}

TEST_F(MemoryRecords, AddressForms) {
  const std::uint64_t table = kData + 0x1000;
  put<std::uint64_t>(table + 8 * 5, kData + 0x2000);
  put<std::uint64_t>(kData, table);
  put<std::uint64_t>(kData + 8, kData + 0x2010);
  put<std::uint32_t>(kData + 0x10, 0x18);
  for (std::uint32_t i = 0; i < 16; ++i) put<std::uint32_t>(kData + 0x2000 + 4 * i, 900 + i);
  const std::uint64_t entry = 5ull << 32;
  Program p;
  p.add(load_regs(kData, {0x82, 0x83}));
  p.add(load_regs(kData + 8, {7, 8}));                          // an address
  p.add(load_regs(kData + 0x10, {9, 10}));                      // an offset, 64 bits
  p.add(load_regs(0x80ull << 56 | 8 << 8 | 7, {20}));           // register pair
  p.add(load_regs(0x20ull << 56 | entry | 4, {21}));            // entry and offset
  p.add(load_regs(0x28ull << 56 | entry | 9, {22}));            // offset in a register
  p.add(load_regs(0x2Cull << 56 | entry | 10 << 8 | 9, {23}));  // in a pair
  auto store = load_regs(kData + 0x80, {20, 21, 22, 23});
  store.h.opcode = isa::kOpTensorStore;
  auto through = load_regs(0x28ull << 56 | entry | 9, {20});
  through.h.opcode = isa::kOpTensorStore;
  execute(p.add(store).add(through).add(halt()));
  const std::uint32_t want[] = {904, 901, 906, 906};
  for (std::uint32_t i = 0; i < 4; ++i)
    EXPECT_EQ(get<std::uint32_t>(kData + 0x80 + 4 * i), want[i]) << i;
  EXPECT_EQ(get<std::uint32_t>(kData + 0x2018), 904u);
  // The table's entry lies nowhere.
  put<std::uint64_t>(kData, 0x000F000000000000);
  execute(Program{}
              .add(load_regs(kData, {0x82, 0x83}))
              .add(load_regs(0x20ull << 56 | entry, {1}))
              .add(mark(70))
              .add(halt()));
  expect_logged({"memory: entry 5 of the argument table at 0xf000000000000"});
  EXPECT_EQ(dev().semaphore_read(0, 70), 0u);
}

// Base and offset have 64 bits; their sum wraps.
TEST_F(MemoryRecords, OffsetsOfAPairBeyondFourGibibytes) {
  const std::uint64_t table = kData + 0x1000, far = 0x7'0000'0000;
  put<std::uint64_t>(table, kData + 0x2000 - far);
  put<std::uint64_t>(kData, table);
  put<std::uint64_t>(kData + 8, far + 8);
  put<std::uint32_t>(kData + 0x2008, 4711);
  auto store = load_regs(kData + 0x80, {20});
  store.h.opcode = isa::kOpTensorStore;
  execute(Program{}
              .add(load_regs(kData, {0x82, 0x83}))
              .add(load_regs(kData + 8, {9, 10}))
              .add(load_regs(0x2Cull << 56 | 10 << 8 | 9, {20}))
              .add(store)
              .add(halt()));
  EXPECT_EQ(get<std::uint32_t>(kData + 0x80), 4711u);
  EXPECT_EQ(log_lines(), 0u);
}

TEST_F(MemoryRecords, StoresAndWritesReachEventsAndSemaphores) {
  auto two = load_regs(event(0, 20), {});
  two.h.opcode = isa::kOpTensorStore;
  two.immediate = 1;
  two.count_inner = 2;
  two.data[0] = 7;  // any value but zero sets
  two.data[1] = 0;
  dev().event_write(0, 21, 1);
  execute(Program{}
              .add(two)
              .add(write(event(1, 30), 1, sem(1, 31, NRTP_SEM_INC), 5))
              .add(write(sem(0, 32, NRTP_SEM_SET), 50, sem(0, 32, NRTP_SEM_DEC), 8))
              .add(halt()));
  EXPECT_EQ(dev().event_read(0, 20), 1u);
  EXPECT_EQ(dev().event_read(0, 21), 0u);
  EXPECT_EQ(dev().event_read(1, 30), 1u);
  EXPECT_EQ(dev().semaphore_read(1, 31), 5u);
  EXPECT_EQ(dev().semaphore_read(0, 32), 42u);
  EXPECT_EQ(log_lines(), 0u);
  // The event accelerator's constants are read, not written.
  auto constants = load_regs(dma().event_const_addr[1], {1});
  auto out = load_regs(kData, {1});
  out.h.opcode = isa::kOpTensorStore;
  execute(Program{}
              .add(constants)
              .add(out)
              .add(write(dma().event_const_addr[0], 1))
              .add(mark(70))
              .add(halt()));
  EXPECT_EQ(get<std::uint32_t>(kData), 1u);
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
  expect_logged({"write of 4 bytes", "dropped"});
}

TEST_F(MemoryRecords, PollFoldsSemaphoresAndWritesBack) {
  const std::int32_t values[] = {12, 5, 9, -3};
  for (std::uint32_t i = 0; i < 4; ++i)
    dev().semaphore_set(0, 100 + i, static_cast<std::uint32_t>(values[i]));
  struct Case {
    std::uint32_t op, n;
    std::int32_t want;
  };
  const Case cases[] = {{alu::MIN, 3, 5},        {alu::MIN, 4, -3}, {alu::MAX, 4, 12},
                        {alu::ADD, 4, 23},       {alu::MIN, 1, 12}, {alu::BITWISE_AND, 3, 0},
                        {alu::BITWISE_OR, 3, 13}};
  for (const Case& c : cases) {
    for (std::uint32_t i = 0; i < 6; ++i) put<std::uint32_t>(kData + 4 * i, 0x5A);
    auto out = load_regs(kData + 0x40, {33});
    out.h.opcode = isa::kOpTensorStore;
    execute(Program{}
                .add(RawRecord(isa::op::POLL_SEM)
                         .set(POLL::n_read, c.n)
                         .set(POLL::result, 33)
                         .set(POLL::op, c.op)
                         .set(POLL::addr, sem(0, 100, NRTP_SEM_READ))
                         .set(POLL::res_writeback_addr, kData))
                .add(out)
                .add(halt()));
    EXPECT_EQ(get<std::int32_t>(kData + 0x40), c.want);
    for (std::uint32_t i = 0; i < 6; ++i)
      EXPECT_EQ(get<std::int32_t>(kData + 4 * i), i < c.n && c.want != 0 ? c.want : 0x5A)
          << c.op << " " << i;
  }
}

}  // namespace
}  // namespace opennrt::emu::test
