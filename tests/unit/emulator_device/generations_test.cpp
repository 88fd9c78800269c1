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

  AnotherArch(std::uint32_t arch_type, std::uint32_t dma_flags)
      : arch(*nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR)), dma(*arch.dma) {
    arch.arch_type = arch_type;
    dma.flags = dma_flags;
    arch.dma = &dma;
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
  refused(RawRecord(op::TEST_EVENT_SEM),
          "TEST_EVENT_SEM is not implemented by the software device: the layout of its record");
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
