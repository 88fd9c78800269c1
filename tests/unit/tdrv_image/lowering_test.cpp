// SPDX-License-Identifier: Apache-2.0
//
// MAIN: what becomes of the compiler's records.
#include <gtest/gtest.h>

#include <algorithm>

#include "test_program.h"

namespace opennrt::tdrv::test {
namespace {

using isa::kRecordBytes;
using neff::Engine;

Image image_of(const TestProgram& p, Engine engine, const nrtp_arch_plugin& arch = sunda()) {
  auto images = assemble_images(p.inputs(arch));
  EXPECT_TRUE(images.is_ok()) << images.status().message();
  return images.is_ok() ? (*images)[static_cast<std::size_t>(engine)] : Image{};
}
template <typename Record>
Record main_record(const Image& image, std::size_t index) {
  EXPECT_LT(index * kRecordBytes, image.main_bytes);
  return isa::load_record<Record>(image.bytes.data() + image.main_offset + index * kRecordBytes);
}
std::string refusal(const TestProgram& p, const nrtp_arch_plugin& arch = sunda()) {
  auto images = assemble_images(p.inputs(arch));
  EXPECT_FALSE(images.is_ok());
  if (images.is_ok()) return "";
  EXPECT_EQ(images.status().code(), NRT_INVALID);
  return std::string(images.status().message());
}
#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

isa::CompareBranchRecord branch(std::int32_t records) {
  auto r = isa::zero_record<isa::CompareBranchRecord>(isa::kOpCompareBranch);
  r.target_mode = isa::kTargetRelative;
  r.op = isa::kBranchEqImm;
  r.offset = records * static_cast<std::int32_t>(kRecordBytes);
  return r;
}
auto label() { return isa::zero_record<isa::ControlRecord>(isa::kOpPseudoBranchLabel); }
auto nop() { return isa::zero_record<isa::ControlRecord>(isa::kOpNop); }

TEST(Lowering, RealOpcodesAreCopiedByteForByte) {
  TestProgram p;
  auto r = isa::zero_record<isa::TensorTensorRecord>(isa::kOpTensorTensor);
  r.h.debug_cmd = 6;
  r.h.debug_hint = 9;
  r.h.wait_mode = isa::kWaitSemGe;
  r.h.wait_index = 15;
  r.h.update_mode = isa::kUpdateSemInc;
  r.h.update_index = 21;
  r.h.value = 0x1E1B1804;
  r.src_dtypes = isa::kDtFloat32 | isa::kDtBfloat16 << 4;
  r.dst_dtype = isa::kDtFloat16;
  r.op = 6;
  r.partitions = 96;
  r.src0 = {0x4120, {3, -7, 11}, {13, 17, 19}};
  r.src1 = {0x20458, {23, 29, 31}, {37, 41, 43}};
  r.dst = {0x2000100, {1, 2, 3}, {5, 6, 7}};
  p.add(Engine::kDve, r);
  const Image image = image_of(p, Engine::kDve);
  const auto copied = main_record<isa::TensorTensorRecord>(image, 1);
  EXPECT_EQ(std::memcmp(&copied, &r, sizeof r), 0);
}

TEST(Lowering, TriggerOfIoSetWritesReceiveThenTransmitAndKeepsTheHeader) {
  TestProgram p;
  add_input_and_output(p);
  p.clear_stream(Engine::kPool);
  auto r = isa::zero_record<isa::DmaTriggerRecord>(isa::kOpPseudoDmaTrigger);
  std::memcpy(r.queue, "qPoolIO0", 8);
  r.h.debug_hint = 1;
  r.h.wait_mode = isa::kWaitSemGe;
  r.h.wait_index = 6;
  r.h.update_mode = isa::kUpdateSemInc;
  r.h.update_index = 9;
  r.h.value = 0x01020304;
  p.add(Engine::kPool, r);
  const auto w = main_record<isa::WriteRecord>(image_of(p, Engine::kPool), 0);
  EXPECT_EQ(w.h.opcode, isa::kOpWrite);
  EXPECT_EQ(w.h.word_len, 0x10);
  EXPECT_EQ(w.h.debug_hint, 1);
  EXPECT_EQ(w.h.wait_mode, isa::kWaitSemGe);
  EXPECT_EQ(w.h.wait_index, 6);
  EXPECT_EQ(w.h.update_mode, isa::kUpdateSemInc);
  EXPECT_EQ(w.h.update_index, 9);
  EXPECT_EQ(w.h.value, 0x01020304u);
  EXPECT_EQ(w.size0, 4);
  EXPECT_EQ(w.size1, 4);
  // qPoolIO0 is queue 0: it sorts before qSPIO0.
  EXPECT_EQ(w.address0, 0xffff1000000u + 0x21000 + 0x38);
  EXPECT_EQ(w.data0, 3u);  // dense output: two chunks and the increment
  EXPECT_EQ(w.address1, 0xffff1000000u + 0x1000 + 0x38);
  EXPECT_EQ(w.data1, 9u);  // eight partitions and the increment
}

TEST(Lowering, RelativeBranchesFollowDeletedRecords) {
  TestProgram p;
  // records: 0 ORDER, 1 branch to 4, 2 label, 3 nop, 4 label, 5 nop, 6 branch to 3, 7 branch to end
  p.add(Engine::kPe, branch(3));
  p.add(Engine::kPe, label());
  p.add(Engine::kPe, nop());
  p.add(Engine::kPe, label());
  p.add(Engine::kPe, nop());
  p.add(Engine::kPe, branch(-3));
  p.add(Engine::kPe, branch(1));
  const Image image = image_of(p, Engine::kPe);
  // image: 0 ORDER, 1 branch, 2 nop, 3 nop, 4 branch, 5 branch
  ASSERT_EQ(image.main_bytes, 6 * kRecordBytes);
  EXPECT_EQ(main_record<isa::CompareBranchRecord>(image, 1).offset, 2 * 64);
  EXPECT_EQ(main_record<isa::CompareBranchRecord>(image, 4).offset, -2 * 64);
  EXPECT_EQ(main_record<isa::CompareBranchRecord>(image, 5).offset, 64);  // POSTAMBLE
}

TEST(Lowering, ArchRuleReplacesThePseudoInstruction) {
  ArchCopy arch;
  arch.ib.validate_image = nullptr;
  arch.ib.lower_pseudo = [](const std::uint8_t in[64], const nrtp_ib_env*, nrtp_ibuf* out) {
    if (in[0] != 0xD4) return static_cast<int>(NRTP_INVALID);
    for (int i = 0; i < 3; ++i) {
      auto r = isa::zero_record<isa::ControlRecord>(isa::kOpNop);
      r.setter_signature = 77;
      std::memcpy(out->p + out->len, &r, sizeof r);
      out->len += sizeof r;
    }
    return static_cast<int>(NRTP_OK);
  };
  TestProgram p;
  p.add(Engine::kAct, isa::zero_record<isa::ControlRecord>(isa::kOpPseudoDmaDirect2d));
  p.add(Engine::kAct, label());
  const Image image = image_of(p, Engine::kAct, arch.plugin);
  ASSERT_EQ(image.main_bytes, 4 * kRecordBytes);
  EXPECT_EQ(main_record<isa::ControlRecord>(image, 3).setter_signature, 77u);
  ASSERT_EQ(image.patches.size(), 7u);  // five of the regions
  EXPECT_EQ(image.patches[3].type, PatchType::kInsert);
  EXPECT_EQ(image.patches[3].slots, 2u);
  EXPECT_EQ(image.patches[4].type, PatchType::kDelete);
}

TEST(LoweringRefusal, PseudoInstructionsByName) {
  const std::pair<std::uint8_t, const char*> cases[] = {
      {0xC4, "PSEUDO_DMAMEMCPY_FULL_IND"}, {0xC8, "PSEUDO_TRIGGER_COLLECTIVE"},
      {0xD3, "PSEUDO_FUNCTION_CALL"},      {0xD4, "PSEUDO_DMA_DIRECT2D"},
      {0xD8, "PSEUDO_CORE_BARRIER"},       {0xDF, "PSEUDO_INST"}};
  for (const auto& [opcode, name] : cases) {
    TestProgram p;
    p.add(Engine::kPool, nop());
    p.add(Engine::kPool, isa::zero_record<isa::ControlRecord>(opcode));
    const std::string text = refusal(p);
    EXPECT_HAS(text, name);
    EXPECT_HAS(text, "sg00/engine2.bin");
    EXPECT_HAS(text, "record 2");
  }
}

TEST(LoweringRefusal, InstructionTheArchDoesNotKnow) {
  TestProgram p;
  p.add(Engine::kSp, isa::zero_record<isa::TensorTensorRecord>(isa::kOpMatmul));
  const std::string text = refusal(p);
  EXPECT_HAS(text, "sg00/engine4.bin record 1");
  EXPECT_HAS(text, "0x02");
}

TEST(LoweringRefusal, StreamThatEndsInsideARecord) {
  TestProgram p;
  p.sg.streams[0] = p.sg.streams[0].first(63);
  EXPECT_HAS(refusal(p), "63 bytes");
}

TEST(LoweringRefusal, TriggerOfUnknownSetOrBlock) {
  {
    TestProgram p;
    p.add_trigger(Engine::kSp, "qNowhere", 0);
    EXPECT_HAS(refusal(p), "qNowhere");
  }
  {
    TestProgram p;
    add_input_and_output(p);
    p.add_trigger(Engine::kSp, "qSPIO0", 7);
    EXPECT_HAS(refusal(p), "no block 7");
  }
  {
    TestProgram p;
    p.add_trigger(Engine::kSp, std::string(32, 'q'), 0);
    EXPECT_HAS(refusal(p), "no end");
  }
}

TEST(LoweringRefusal, TriggersOutOfOrderTwiceOrFromTwoEngines) {
  {
    TestProgram p;
    add_input_and_output(p);
    p.add_trigger(Engine::kSp, "qSPIO0", 0);
    EXPECT_HAS(refusal(p), "out of order");
  }
  TestProgram p;
  const auto in = p.add_variable("x", neff::VariableType::kInput, 4096, kCaller);
  const auto sb = p.add_variable("SB", neff::VariableType::kStateBuffer, 0, 0);
  auto& set = p.add_set("q", neff::QueueType::kIn, Engine::kSp);
  for (std::uint32_t id = 0; id < 2; ++id) {
    set.blocks.push_back(
        block(id, {copy(pattern(in, 0, {4096}, {1}), pattern(sb, 0, {4096}, {1}))}));
  }
  p.add_trigger(Engine::kAct, "q", 0);
  p.add_trigger(Engine::kSp, "q", 1);
  EXPECT_HAS(refusal(p), "one engine");
  p.clear_stream(Engine::kAct);
  EXPECT_HAS(refusal(p), "out of order");
}

TEST(LoweringRefusal, BranchOutsideTheStreamAcrossATriggerOrThroughRegisters) {
  {
    TestProgram p;
    p.add(Engine::kPe, branch(2));
    EXPECT_HAS(refusal(p), "outside");
  }
  {
    TestProgram p;
    p.add(Engine::kPe, branch(-2));
    EXPECT_HAS(refusal(p), "outside");
  }
  {
    TestProgram p;
    auto r = branch(0);
    r.offset = -32;
    p.add(Engine::kPe, r);
    EXPECT_HAS(refusal(p), "inside an instruction");
  }
  {
    TestProgram p;
    auto r = branch(0);
    r.target_mode = isa::kTargetRegister;
    p.add(Engine::kPe, r);
    EXPECT_HAS(refusal(p), "target mode 1");
  }
  {
    TestProgram p;
    add_input_and_output(p);
    p.add(Engine::kSp, branch(-1));  // repeats the trigger
    EXPECT_HAS(refusal(p), "record 1");
  }
}

TEST(LoweringRefusal, BlockLargerThanATriggerCanRelease) {
  TestProgram p;
  add_input_and_output(p);
  ImageInputs in = p.inputs();
  in.queues[1].blocks[0].m2s = 0x10000;
  auto images = assemble_images(in);
  ASSERT_FALSE(images.is_ok());
  EXPECT_EQ(images.status().code(), NRT_INVALID);
  EXPECT_HAS(std::string(images.status().message()), "65535");
}

isa::CoreBarrierRecord core_barrier(std::uint32_t semaphore) {
  auto r = isa::zero_record<isa::CoreBarrierRecord>(isa::kOpPseudoCoreBarrier);
  r.h.wait_mode = isa::kWaitSemGe;
  r.h.wait_index = 4;
  r.h.value = 14;
  r.h.update_mode = isa::kUpdateSemInc;
  r.h.update_index = 8;
  r.barrier_id = 1;
  r.semaphore = semaphore;
  return r;
}

TEST(Lowering, CoreBarrierRaisesThePeerAndWaitsForIt) {
  TestProgram p;
  p.add(Engine::kPool, core_barrier(9));
  p.add(Engine::kPool, nop());
  ImageInputs in = p.inputs(sunda());
  in.lnc_size = 2;
  in.peer_core = 1;
  auto images = assemble_images(in);
  ASSERT_TRUE(images.is_ok()) << images.status().message();
  const Image& image = (*images)[NRTP_ENGINE_POOL];
  const auto arrive = main_record<isa::WriteRecord>(image, 1);
  EXPECT_EQ(arrive.h.opcode, isa::kOpWrite);
  EXPECT_EQ(arrive.h.wait_mode, isa::kWaitSemGe);
  EXPECT_EQ(arrive.h.wait_index, 4);
  EXPECT_EQ(arrive.h.value, 14u);
  EXPECT_EQ(arrive.h.update_mode, isa::kUpdateNone);
  EXPECT_EQ(arrive.size0, 4);
  EXPECT_EQ(arrive.size1, 0);
  EXPECT_EQ(arrive.address0, 0xfffc4000000u + 0x2701800 + 4 * 9);  // window of core 1
  EXPECT_EQ(arrive.data0, 1u);
  const auto meet = main_record<isa::EventSemaphoreRecord>(image, 2);
  EXPECT_EQ(meet.h.opcode, isa::kOpEventSemaphore);
  EXPECT_EQ(meet.wait_mode, isa::kWaitSemGe);
  EXPECT_EQ(meet.wait_index, 9);
  EXPECT_EQ(meet.wait_value, 1u);
  EXPECT_EQ(meet.update_mode, isa::kUpdateSemDec);
  EXPECT_EQ(meet.update_index, 9);
  const auto passed = main_record<isa::ControlRecord>(image, 3);
  EXPECT_EQ(passed.h.opcode, isa::kOpNop);
  EXPECT_EQ(passed.h.wait_mode, isa::kWaitNone);
  EXPECT_EQ(passed.h.update_mode, isa::kUpdateSemInc);
  EXPECT_EQ(passed.h.update_index, 8);
  EXPECT_EQ(main_record<isa::ControlRecord>(image, 4).h.opcode, isa::kOpNop);
  // Two records more than the compiler's.
  const auto patch = std::find_if(image.patches.begin(), image.patches.end(),
                                  [](const Patch& q) { return q.section == Section::kMain; });
  ASSERT_NE(patch, image.patches.end());
  EXPECT_EQ(patch->type, PatchType::kInsert);
  EXPECT_EQ(patch->slots, 2u);
}

TEST(Lowering, CoreBarrierNeedsTwoCoresAndASemaphoreOfPrograms) {
  TestProgram p;
  p.add(Engine::kPool, core_barrier(9));
  EXPECT_HAS(refusal(p), "PSEUDO_CORE_BARRIER (0xd8): needs a program on two physical cores");
  for (const std::uint32_t semaphore : {2u, 256u, 0xFFFFFFFFu}) {
    TestProgram bad;
    bad.add(Engine::kPool, core_barrier(semaphore));
    ImageInputs in = bad.inputs(sunda());
    in.lnc_size = 2;
    in.peer_core = 1;
    const auto images = assemble_images(in);
    EXPECT_EQ(images.status().code(), NRT_INVALID) << semaphore;
    EXPECT_NE(images.status().message().find("3 to 255"), std::string_view::npos);
  }
}

}  // namespace
}  // namespace opennrt::tdrv::test
