// SPDX-License-Identifier: Apache-2.0
//
// What differs between silicon families: the same device with the type and the
// DMA flags of another one.
#include "bench.h"
#include "engine/sequencer.h"
#include "opennrt/isa/table.h"
#include "raw_record.h"

namespace opennrt::emu::test {
namespace {

namespace op = isa::op;
namespace alu = isa::code::alu_op;
namespace dt = isa::code::dtype;
namespace AL = isa::layout::CTRL_AL;

// A table that lives as long as the device built from it.
struct AnotherArch {
  nrtp_arch_plugin arch;
  nrtp_arch_dma dma;
  nrtp_arch_ib ib;

  AnotherArch(std::uint32_t arch_type, std::uint32_t dma_flags)
      : arch(*nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR)),
        dma(*arch.dma),
        ib(*arch.ib) {
    arch.arch_type = arch_type;
    dma.flags = dma_flags;
    arch.dma = &dma;
    ib.isa = arch_type;
    arch.ib = &ib;
  }
};

class Generation : private AnotherArch, public Bench {
 protected:
  Generation(std::uint32_t arch_type, std::uint32_t dma_flags)
      : AnotherArch(arch_type, dma_flags), Bench(&arch) {}

  template <typename Record>
  void refused(const Record& r, const std::string& text, std::uint32_t engine = NRTP_ENGINE_SP) {
    dev().reset_cores(1);
    execute(Program{}.add(r).add(mark(70)).add(halt()), engine);
    EXPECT_EQ(dev().semaphore_read(0, 70), 0u) << text;
    expect_logged({"at 0x1100000: opcode", text});
  }
  // One plain packet on engine 6, queue 3; true when its data arrived.
  bool copies(Desc t, Desc r) {
    put<std::uint64_t>(kData, 0x1234);
    put<std::uint64_t>(kData + 64, 0);
    attach(6, 3, 16);
    fill(6, 3, 0, {t});
    fill(6, 3, 1, {r});
    dev().queue_start(6, 3, 1, 1);
    return get<std::uint64_t>(kData + 64) == 0x1234;
  }
  static Desc strong() {
    auto r = rx(kData + 64, 8);
    r.len_ctrl |= 1u << 29;
    return r;
  }
  static Desc masked() {
    auto t = tx(kData, 8);
    t.meta_ctrl |= 1u << 28;
    return t;
  }
  static RawRecord relu() {
    return RawRecord(op::ALU_OP)
        .set(AL::op, alu::RELU)
        .set(AL::dtype, dt::INT32)
        .set(AL::src0_lo, 1)
        .set(AL::dst_lo, 2);
  }
};

struct Sunda : Generation {
  Sunda() : Generation(2, 0) {}
};
struct Cayman : Generation {
  Cayman() : Generation(3, NRTP_DMA_STRONG_ORDER_WRITE) {}
};
struct Mariana : Generation {
  Mariana() : Generation(4, NRTP_DMA_STRONG_ORDER_WRITE | NRTP_DMA_NOTIFICATION_MASK) {}
};

TEST_F(Sunda, LacksWhatCameLater) {
  refused(RawRecord(op::TEST_EVENT_SEM), "TEST_EVENT_SEM does not exist on sunda");
  refused(RawRecord(op::DMA_TRANSPOSE), "DMA_TRANSPOSE does not exist on sunda");
  refused(RawRecord(op::LDTAGS), "LDTAGS does not exist on sunda", NRTP_ENGINE_PE);
  refused(relu(), "exists on mariana only");
  EXPECT_FALSE(copies(tx(kData, 8), strong()));
  expect_logged({"strong-ordered write, which this silicon lacks"});
  EXPECT_FALSE(copies(masked(), rx(kData + 64, 8)));
  expect_logged({"no notification mask"});
  EXPECT_TRUE(copies(tx(kData, 8), rx(kData + 64, 8)));
}

TEST_F(Cayman, OrdersWritesAndLostSomeOpcodes) {
  refused(RawRecord(op::TEST_EVENT_SEM), "TEST_EVENT_SEM does not exist on cayman");
  refused(RawRecord(op::DMA_TRANSPOSE),
          "DMA_TRANSPOSE is not implemented by the software device: the layout of its record");
  refused(RawRecord(op::TENSOR_TENSOR_ADD_BF16), "does not exist on cayman", NRTP_ENGINE_DVE);
  refused(relu(), "exists on mariana only");
  EXPECT_TRUE(copies(tx(kData, 8), strong()));
  EXPECT_FALSE(copies(masked(), strong()));
}

TEST_F(Mariana, HasTheNewestOperations) {
  EXPECT_TRUE(copies(masked(), strong()));
  struct Case {
    std::uint32_t code;
    std::int32_t a, b, want;
  };
  const Case cases[] = {{alu::RELU, -7, 9, 0},    {alu::RELU, 7, -9, 7},
                        {alu::SQUARE, -7, 9, 49}, {alu::ABS_MAX, -7, 9, 9},
                        {alu::ABS_MAX, -9, 7, 9}, {alu::ABS_MIN, -7, 9, 7},
                        {alu::ABS_MIN, -9, 7, 7}, {alu::ABS_MIN, 9, -7, 7}};
  for (const Case& c : cases) {
    put<std::int32_t>(kData, c.a);
    put<std::int32_t>(kData + 4, c.b);
    auto store = load_regs(kData + 8, {2});
    store.h.opcode = isa::kOpTensorStore;
    execute(Program{}
                .add(load_regs(kData, {1, 3}))
                .add(relu().set(AL::op, c.code).set(AL::src1_lo, 3))
                .add(store)
                .add(halt()));
    EXPECT_EQ(get<std::int32_t>(kData + 8), c.want) << c.code << " " << c.a << " " << c.b;
  }
  EXPECT_EQ(dev().describe(0), "core 0: all engines stopped");
}

// mode, update mode, and pairs of a semaphore or event and a register.
RawRecord test_sems(std::uint8_t mode, std::uint8_t update,
                    const std::vector<std::pair<std::uint8_t, std::uint8_t>>& slots) {
  RawRecord r(op::TEST_EVENT_SEM);
  r.byte(12, mode).byte(13, update).byte(15, static_cast<std::uint8_t>(slots.size()));
  for (std::size_t i = 0; i < slots.size(); ++i)
    r.byte(16 + i, slots[i].first).byte(32 + i, slots[i].second);
  return r;
}

TEST_F(Mariana, SemaphoresAndEventsToAndFromRegisters) {
  dev().semaphore_set(0, 40, 1234);
  dev().semaphore_set(0, 41, 0xFFFFFFF0);
  dev().semaphore_set(0, 255, 7);
  put<std::uint32_t>(event(0, 20), 1);
  put<std::uint32_t>(kData, 10);
  put<std::uint32_t>(kData + 4, 99);
  auto store = load_regs(kData + 64, {1, 2, 3, 4, 5});
  store.h.opcode = isa::kOpTensorStore;
  execute(Program{}
              .add(test_sems(0, 0, {{40, 1}, {255, 2}, {41, 3}}))
              .add(test_sems(1, 0, {{20, 4}, {21, 5}}).byte(52, 3))
              .add(store)
              .add(load_regs(kData, {60, 61}))
              .add(test_sems(2, 0x16, {{40, 60}, {41, 61}}))  // add
              .add(test_sems(2, 0x1A, {{50, 61}}))            // write
              .add(test_sems(2, 0x18, {{255, 60}}))           // subtract
              .add(test_sems(2, 0x13, {{51, 0}, {52, 0}}))    // increment
              .add(mark(70))
              .add(halt()));
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
  const std::uint32_t read[] = {1234, 7, 0xFFFFFFF0, 1, 0};
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(get<std::uint32_t>(kData + 64 + 4 * i), read[i]);
  EXPECT_EQ(dev().semaphore_read(0, 40), 1244u);
  EXPECT_EQ(dev().semaphore_read(0, 41), 83u);
  EXPECT_EQ(dev().semaphore_read(0, 50), 99u);
  EXPECT_EQ(dev().semaphore_read(0, 255), static_cast<std::uint32_t>(-3));
  EXPECT_EQ(dev().semaphore_read(0, 51), 1u);
  EXPECT_EQ(dev().semaphore_read(0, 52), 1u);

  refused(test_sems(3, 0, {{1, 1}}), "mode 3 is not implemented");
  refused(test_sems(4, 0x13, {{1, 1}}), "mode 4 is not implemented");
  refused(test_sems(0, 0, {}), "0 semaphores or events, a record has 1 to 16");
  refused(test_sems(0, 0, {{1, 1}}).byte(15, 17), "17 semaphores or events");
  refused(test_sems(0, 0x13, {{1, 1}}), "update mode 0x13 in mode 0");
  refused(test_sems(2, 0x15, {{1, 1}}), "update mode 0x15 in mode 2");
  refused(test_sems(0, 0, {{1, 64}}), "register 64 does not exist");
  refused(test_sems(0, 0, {{1, 1}, {1, 2}}), "number 1 occurs twice");
  refused(test_sems(0, 0, {{1, 1}}).byte(17, 1), "slot 1 is not in use and not zero");
  refused(test_sems(0, 0, {{1, 1}}).byte(14, 1), "repeat count 1");
  refused(test_sems(0, 0, {{1, 1}}).byte(48, 1), "byte 48 is 0x1, must be 0");
  refused(test_sems(0, 0, {{1, 1}}).byte(63, 1), "byte 63 is 0x1, must be 0");
}

// What the instruction table says about family and engine comes first.
TEST_F(Sunda, FamiliesAndEnginesOfAnOpcodeFollowTheTable) {
  const AddressMap map(arch_, product_, *memory_, product_->cores);
  for (const auto generation :
       {isa::Generation::kSunda, isa::Generation::kCayman, isa::Generation::kMariana})
    for (std::uint32_t engine = 0; engine < 5; ++engine)
      for (std::uint32_t code = 0; code < 256; ++code) {
        const isa::Instruction* i = isa::find_instruction(static_cast<std::uint8_t>(code));
        const RawRecord r(static_cast<std::uint8_t>(code));
        Decoded d;
        std::memcpy(d.raw, &r, sizeof d.raw);
        std::string text;
        const bool good = decode_record({map, 0, engine, generation}, &d, &text);
        const auto says = [&](const std::string& what) {
          return !good && text.find(what) != std::string::npos;
        };
        if (!i || i->kind == isa::Kind::kInvalid) {
          EXPECT_TRUE(says("no instruction has this opcode")) << code;
        } else if (i->kind == isa::Kind::kPseudo) {
          EXPECT_TRUE(says(std::string(i->name) + ": a pseudo-instruction")) << text;
        } else if (!i->exists_on(generation)) {
          EXPECT_TRUE(
              says(std::string(i->name) + " does not exist on " + isa::generation_name(generation)))
              << text;
        } else if (!i->runs_on(engine)) {
          EXPECT_TRUE(says(std::string(i->name) + " does not exist on " + engine_name(engine)))
              << text;
        } else {
          EXPECT_FALSE(says("does not exist on")) << text;
          EXPECT_EQ(good, text.empty()) << i->name;
        }
      }
}

}  // namespace
}  // namespace opennrt::emu::test
