// SPDX-License-Identifier: Apache-2.0
//
// Records that name variables, functions and what else is lowered to other than
// one record: expected bytes written by hand.
#include <gtest/gtest.h>

#include "tdrv/image/pseudo_records.h"
#include "test_program.h"

namespace opennrt::tdrv::test {
namespace {

using image::Direct2dRecord;
using image::ExtensionRecord;
using image::MoveRecord;
using image::PseudoAddress;
using isa::kRecordBytes;
using neff::Engine;
using neff::VariableType;

constexpr std::uint64_t kSbuf = 0xfffc0000000, kHbm = 0x1'2345'6000;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

template <typename Record>
Record at(const Image& image, std::uint32_t offset, std::size_t index) {
  return isa::load_record<Record>(image.bytes.data() + offset + index * kRecordBytes);
}

PseudoAddress address(std::uint8_t mode, std::uint32_t index, std::uint32_t offset) {
  return {offset,
          {static_cast<std::uint8_t>(index), static_cast<std::uint8_t>(index >> 8),
           static_cast<std::uint8_t>(index >> 16)},
          mode};
}

class Variables : public ::testing::Test {
 protected:
  Variables() {
    arch_.ib.validate_inst = nullptr;
    arch_.ib.validate_image = nullptr;
    sb_ = p_.add_variable("SB", VariableType::kStateBuffer, 0, 0);
    x_ = p_.add_variable("x", VariableType::kInput, 4096, kCaller);
    w_ = p_.add_variable("w", VariableType::kFile, 4096, kHbm);
    const auto table = p_.add_variable("DGETable0", VariableType::kDgeTable, 8, kCaller);
    p_.sg.variables[table].list = {w_, x_};
    auto& set = p_.add_set("qPoolDynamic", neff::QueueType::kDynamic, Engine::kPool);
    set.semaphores = {40, 41};
  }
  // 4 x 2 runs of 16 bytes.
  Direct2dRecord direct(PseudoAddress src, PseudoAddress dst) {
    auto r = isa::zero_record<Direct2dRecord>(0xD4);
    r.h.wait_mode = isa::kWaitSemGe;
    r.h.wait_index = 6;
    r.h.value = 3;
    r.semaphore = 40;
    r.increment = 16;
    r.src = src;
    r.dst = dst;
    r.src_step[0] = r.dst_step[0] = 16;
    r.src_step[1] = r.dst_step[1] = 64;
    r.src_count[0] = r.dst_count[0] = 4;
    r.src_count[1] = r.dst_count[1] = 2;
    r.src_bytes = r.dst_bytes = 16;
    r.src_dtype = r.dst_dtype = 10;
    return r;
  }
  ImageInputs inputs() {
    ImageInputs in = p_.inputs(arch_.plugin, NRTP_FORM_2_30);
    in.argument_table_pa = 0x77000000;
    return in;
  }
  Image image(Engine engine = Engine::kPool) {
    auto images = assemble_images(inputs());
    EXPECT_TRUE(images.is_ok()) << images.status().message();
    return images.is_ok() ? (*images)[static_cast<std::size_t>(engine)] : Image{};
  }
  std::string refused() {
    auto images = assemble_images(inputs());
    EXPECT_FALSE(images.is_ok());
    if (images.is_ok()) return "";
    EXPECT_EQ(images.status().code(), NRT_INVALID);
    return std::string(images.status().message());
  }
  template <typename Record>
  std::string refused(const Record& record) {
    p_.clear_stream(Engine::kPool);
    p_.add(Engine::kPool, record);
    return refused();
  }

  ArchCopy arch_;
  TestProgram p_;
  std::uint32_t sb_ = 0, x_ = 0, w_ = 0;
};

TEST_F(Variables, GeneratedDmaGetsAddressesAndKeepsAllElse) {
  const Direct2dRecord source = direct(address(0x10, w_, 256), address(0x10, sb_, 0x80010));
  p_.add(Engine::kPool, source);
  const Image i = image();
  ASSERT_EQ(i.main_bytes, 2 * kRecordBytes);
  const auto r = at<Direct2dRecord>(i, i.main_offset, 1);
  Direct2dRecord want = source;
  want.h.opcode = 0xB8;
  const std::uint64_t src = kHbm + 256, dst = kSbuf + 0x80010;
  std::memcpy(&want.src, &src, 8);
  std::memcpy(&want.dst, &dst, 8);
  EXPECT_EQ(std::memcmp(&r, &want, sizeof r), 0);
}

TEST_F(Variables, TableReferencesStay) {
  const Direct2dRecord source = direct(address(0x20, 1, 128), address(0x10, sb_, 0));
  p_.add(Engine::kPool, source);
  const auto r = at<Direct2dRecord>(image(), image().main_offset, 1);
  EXPECT_EQ(std::memcmp(&r.src, &source.src, 8), 0);
  // The program needs the cell: two words to registers 0x82 and 0x83.
  const Image i = image(Engine::kSp);
  bool loads = false;
  for (std::size_t k = 0; k < i.main_offset / kRecordBytes; ++k) {
    const auto m = at<isa::MemRecord>(i, 0, k);
    loads |= m.h.opcode == isa::kOpTensorLoad && m.address == 0x77000000 && m.reg[0] == 0x82 &&
             m.reg[1] == 0x83;
  }
  EXPECT_TRUE(loads);
}

// The idiom of indexed fetches: the size limit becomes a MOVE in front.
TEST_F(Variables, RegisterOffsetWithABound) {
  Direct2dRecord source = direct(address(0x28, 1, 60), address(0x10, sb_, 0));
  source.src_bound = 0x80 | 61;
  auto extension = isa::zero_record<ExtensionRecord>(0xDA);
  extension.h.word_len = 0;
  extension.bound = 4096;
  p_.add(Engine::kPool, source);
  p_.add(Engine::kPool, extension);
  p_.add(Engine::kPool, isa::zero_record<isa::ControlRecord>(isa::kOpNop));
  const Image i = image();
  ASSERT_EQ(i.main_bytes, 4 * kRecordBytes);
  const auto move = at<MoveRecord>(i, i.main_offset, 1);
  EXPECT_EQ(move.h.opcode, 0xA7);
  EXPECT_EQ(move.h.word_len, 0x10);
  EXPECT_EQ(move.h.wait_mode, 0);
  EXPECT_EQ(move.count, 1);
  EXPECT_EQ(move.dtype, 9);
  EXPECT_EQ(move.immediate, 1);
  EXPECT_EQ(move.dst[0], 61);
  EXPECT_EQ(move.data[0], 4096u);
  const auto dma = at<Direct2dRecord>(i, i.main_offset, 2);
  EXPECT_EQ(dma.h.opcode, 0xB8);
  EXPECT_EQ(dma.h.wait_mode, isa::kWaitSemGe);
  EXPECT_EQ(dma.src.offset, 60u);
  EXPECT_EQ(dma.src.mode, 0x28);
  EXPECT_EQ(dma.src_bound, 0x80 | 61);
  EXPECT_EQ(at<isa::ControlRecord>(i, i.main_offset, 3).h.opcode, isa::kOpNop);
}

TEST_F(Variables, GeneratedDmaRefusals) {
  const auto good = direct(address(0x10, w_, 0), address(0x10, sb_, 0));
  const auto spoilt = [&](auto&& spoil) {
    Direct2dRecord r = good;
    spoil(r);
    const std::string text = refused(r);
    EXPECT_HAS(text, "sg00/engine2.bin record 0: PSEUDO_DMA_DIRECT2D (0xd4): ");
    return text;
  };
  EXPECT_HAS(spoilt([](auto& r) { r.compute_op = 1; }), "compute operation 1");
  EXPECT_HAS(spoilt([](auto& r) { r.src.mode = 0x30; }), "source has address mode 0x30");
  EXPECT_HAS(spoilt([](auto& r) { r.dst.mode = 0x14; }), "destination has address mode 0x14");
  EXPECT_HAS(spoilt([](auto& r) { r.src = address(0x10, 99, 0); }), "names variable 99");
  EXPECT_HAS(spoilt([&](auto& r) { r.src = address(0x10, x_, 0); }), "'x' has no device address");
  EXPECT_HAS(spoilt([](auto& r) { r.src = address(0x20, 2, 0); }),
             "dge-table entry 2; the table has 2");
  EXPECT_HAS(spoilt([](auto& r) { r.src = address(0x28, 1, 64); }), "register 64");
  EXPECT_HAS(spoilt([](auto& r) { r.src.offset = 4096 - 127; }),
             "bytes 3969 to 4096 of 'w', which has 4096");
  EXPECT_HAS(spoilt([](auto& r) { r.src_step[0] = -16; }), "bytes -48 to");
  EXPECT_HAS(spoilt([](auto& r) { r.dst.offset = 0x1FFFFF0; }), "'SB', which has 33554432");
  EXPECT_HAS(spoilt([](auto& r) { r.src_count[1] = 1; }), "copies 64 bytes into 128");
  EXPECT_HAS(spoilt([](auto& r) { r.src_count[0] = 0; }), "source has a count of 0");
  EXPECT_HAS(spoilt([](auto& r) { r.dst_dtype = 7; }), "converts 128 bytes");
  EXPECT_HAS(spoilt([](auto& r) { r.dst_dtype = 77; }), "dtype code 77");
  EXPECT_HAS(spoilt([](auto& r) { r.semaphore = 42; }), "semaphore 42");
  EXPECT_HAS(spoilt([](auto& r) { r.dst_bound = 0x80; }), "destination bound register 0x80");
  EXPECT_HAS(spoilt([](auto& r) { r.src_bound = 0x3D; }), "source bound register 0x3d");
  EXPECT_HAS(spoilt([](auto& r) { r.src_bound = 0xBD; }), "needs a PSEUDO_EXTENSION");
}

TEST_F(Variables, ExtensionRefusals) {
  Direct2dRecord source = direct(address(0x28, 1, 60), address(0x10, sb_, 0));
  auto extension = isa::zero_record<ExtensionRecord>(0xDA);
  p_.clear_stream(Engine::kPool);
  p_.add(Engine::kPool, source);
  p_.add(Engine::kPool, extension);
  EXPECT_HAS(refused(), "no bound register");
  source.src_bound = 0x80 | 61;
  extension.payload[47] = 1;
  p_.clear_stream(Engine::kPool);
  p_.add(Engine::kPool, source);
  p_.add(Engine::kPool, extension);
  EXPECT_HAS(refused(), "bytes beyond the source bound");
  extension.payload[47] = 0;
  extension.h.update_mode = isa::kUpdateSemInc;
  p_.clear_stream(Engine::kPool);
  p_.add(Engine::kPool, source);
  p_.add(Engine::kPool, extension);
  EXPECT_HAS(refused(), "wait or an update");
  EXPECT_HAS(refused(isa::zero_record<ExtensionRecord>(0xDA)),
             "record 0: PSEUDO_EXTENSION (0xda): follows no record");
}

TEST_F(Variables, RegisterLoadAndStoreOfAVariable) {
  auto r = isa::zero_record<image::VariableMemRecord>(0xCE);
  r.h.update_mode = isa::kUpdateSemInc;
  r.h.update_index = 9;
  r.dtype = 8;
  r.count_inner = r.count_outer = 1;
  r.var_id = sb_;
  r.offset = 0x103FC04;
  r.step_inner = r.step_outer = 1;
  r.reg[0] = 0x3C;
  p_.add(Engine::kPool, r);
  r.h.opcode = 0xCD;
  r.var_id = w_;
  r.offset = 4092;
  p_.add(Engine::kPool, r);
  const Image i = image();
  auto m = at<isa::MemRecord>(i, i.main_offset, 1);
  EXPECT_EQ(m.h.opcode, isa::kOpTensorLoad);
  EXPECT_EQ(m.h.update_index, 9);
  EXPECT_EQ(m.dtype, 8);
  EXPECT_EQ(m.address, kSbuf + 0x103FC04);
  EXPECT_EQ(m.step_inner, 1);
  EXPECT_EQ(m.reg[0], 0x3C);
  m = at<isa::MemRecord>(i, i.main_offset, 2);
  EXPECT_EQ(m.h.opcode, isa::kOpTensorStore);
  EXPECT_EQ(m.address, kHbm + 4092);

  r.offset = 4093;
  EXPECT_HAS(refused(r), "PSEUDO_TENSOR_STORE (0xcd): reaches bytes 4093 to 4096 of 'w'");
  r.offset = 0;
  r.var_id = x_;
  EXPECT_HAS(refused(r), "'x' has no device address");
  r.var_id = 50;
  EXPECT_HAS(refused(r), "names variable 50");
  r.var_id = w_;
  r.dtype = 0;
  EXPECT_HAS(refused(r), "dtype code 0");
  r.dtype = 8;
  r.count_inner = 0;
  EXPECT_HAS(refused(r), "a count is 0");
  r.count_inner = r.count_outer = 6;
  EXPECT_HAS(refused(r), "moves 36 elements; a record holds 32");
  // Steps count elements: the second one lies at byte 2400 or 9600 of 4096.
  r.count_inner = 2;
  r.count_outer = 1;
  r.step_inner = 600;
  p_.clear_stream(Engine::kPool);
  p_.add(Engine::kPool, r);
  EXPECT_EQ(image().main_bytes, kRecordBytes);
  r.step_inner = 2400;
  EXPECT_HAS(refused(r), "reaches bytes 0 to 9603 of 'w'");
  r.step_inner = 1;
  r.count_inner = r.count_outer = 1;
  r.r0 = 1;
  EXPECT_HAS(refused(r), "byte 13 is 1");
}

isa::Header waiting() {
  isa::Header h{};
  h.wait_mode = isa::kWaitSemGe;
  h.wait_index = 5;
  h.value = 7;
  h.update_mode = isa::kUpdateSemInc;
  h.update_index = 8;
  return h;
}
template <typename Record>
Record with_events(std::uint8_t opcode) {
  auto r = isa::zero_record<Record>(opcode);
  const isa::Header h = waiting();
  std::memcpy(&r.h.wait_mode, &h.wait_mode, sizeof h - offsetof(isa::Header, wait_mode));
  return r;
}
template <typename Record>
void expect_events(const Record& r) {
  EXPECT_EQ(r.h.wait_mode, isa::kWaitSemGe);
  EXPECT_EQ(r.h.wait_index, 5);
  EXPECT_EQ(r.h.value, 7u);
  EXPECT_EQ(r.h.update_mode, isa::kUpdateSemInc);
  EXPECT_EQ(r.h.update_index, 8);
}

TEST_F(Variables, RearmResetsTheQueueAndItsBlocksRunAgain) {
  auto& set = p_.add_set("qSPSpill", neff::QueueType::kData, Engine::kSp);
  set.blocks = {block(0, {copy(pattern(w_, 0, {64}, {1}), pattern(sb_, 0, {64}, {1}))})};
  p_.add_trigger(Engine::kSp, "qSPSpill", 0);
  auto r = with_events<image::QueueNameRecord>(0xC2);
  std::memcpy(r.queue, "qSPSpill", 8);
  p_.add(Engine::kSp, r);
  p_.add_trigger(Engine::kSp, "qSPSpill", 0);
  const Image i = image(Engine::kSp);
  // ORDER, trigger, NOP with the wait, reset, receive side, NOP with the update, trigger
  ASSERT_EQ(i.main_bytes, 7 * kRecordBytes);
  EXPECT_EQ(at<isa::ControlRecord>(i, i.main_offset, 2).h.wait_mode, isa::kWaitSemGe);
  EXPECT_EQ(at<isa::ControlRecord>(i, i.main_offset, 2).h.update_mode, 0);
  const auto reset = at<isa::WriteRecord>(i, i.main_offset, 3);
  EXPECT_EQ(reset.address0, 0xffff1000000u + 0x21000 + 0x64);
  EXPECT_EQ(reset.data0, 0x100u);
  EXPECT_EQ(at<isa::WriteRecord>(i, i.main_offset, 4).address0, 0xffff1000000u + 0x21000 + 0x38);
  EXPECT_EQ(at<isa::ControlRecord>(i, i.main_offset, 5).h.update_mode, isa::kUpdateSemInc);
  EXPECT_EQ(at<isa::ControlRecord>(i, i.main_offset, 5).h.wait_mode, 0);

  auto unknown = isa::zero_record<image::QueueNameRecord>(0xC2);
  std::memcpy(unknown.queue, "qNone", 5);
  EXPECT_HAS(refused(unknown), "'qNone'");
  std::memcpy(unknown.queue, "qPoolDynamic", 12);
  EXPECT_HAS(refused(unknown), "is dynamic");
}

class Functions : public Variables {
 protected:
  static image::FunctionBeginRecord begin(const char* name) {
    auto r = isa::zero_record<image::FunctionBeginRecord>(0xD1);
    std::memcpy(r.name, name, std::strlen(name));
    r.return_lo = 10;
    r.return_hi = 11;
    return r;
  }
  static image::FunctionCallRecord call(const char* name) {
    auto r = with_events<image::FunctionCallRecord>(0xD3);
    std::memcpy(r.name, name, std::strlen(name));
    return r;
  }
  static auto ret() { return isa::zero_record<isa::ControlRecord>(0xD2); }
  static auto nop() { return isa::zero_record<isa::ControlRecord>(isa::kOpNop); }
  static auto exit_record() {
    auto r = isa::zero_record<image::PseudoInstRecord>(0xDF);
    r.code = 1;
    return r;
  }
  static isa::CompareBranchRecord branch(std::int32_t records) {
    auto r = isa::zero_record<isa::CompareBranchRecord>(isa::kOpCompareBranch);
    r.target_mode = isa::kTargetRelative;
    r.offset = records * 64;
    return r;
  }
};

TEST_F(Functions, BodiesLieBehindThePostambleAndReturn) {
  // 0 ORDER, 1 call f, 2 NOP, 3 begin f, 4 NOP, 5 return
  p_.add(Engine::kPe, call("f"));
  p_.add(Engine::kPe, nop());
  p_.add(Engine::kPe, begin("f"));
  p_.add(Engine::kPe, nop());
  p_.add(Engine::kPe, ret());
  const Image i = image(Engine::kPe);
  // MAIN: ORDER, MOVE, MOVE, branch, NOP
  ASSERT_EQ(i.main_bytes, 5 * kRecordBytes);
  ASSERT_EQ(i.bytes.size(), i.function_offset + 2 * kRecordBytes);
  EXPECT_GT(i.function_offset, i.postamble_offset);
  EXPECT_EQ(at<MoveRecord>(i, i.main_offset, 1).dst[0], 10);
  EXPECT_EQ(at<MoveRecord>(i, i.main_offset, 2).dst[0], 11);
  const auto jump = at<isa::CompareBranchRecord>(i, i.main_offset, 3);
  EXPECT_EQ(jump.h.opcode, isa::kOpCompareBranch);
  EXPECT_EQ(jump.op, isa::kBranchAlways);
  EXPECT_EQ(jump.target_mode, isa::kTargetRelative);
  EXPECT_EQ(jump.offset, static_cast<std::int32_t>(i.function_offset - i.main_offset - 3 * 64));
  expect_events(jump);
  const auto back = at<isa::CompareBranchRecord>(i, i.function_offset, 1);
  EXPECT_EQ(back.target_mode, isa::kTargetRegister);
  EXPECT_EQ(back.target_lo, 10);
  EXPECT_EQ(back.target_hi, 11);
  // The return address is that of the NOP, once the image has its place.
  ASSERT_EQ(i.relocations.size(), 2u);
  std::vector<std::uint8_t> placed = i.bytes;
  relocate(placed, i.relocations, 0x3'F000'8000);
  const std::uint64_t next = 0x3'F000'8000 + i.main_offset + 4 * 64;
  MoveRecord lo, hi;
  std::memcpy(&lo, placed.data() + i.main_offset + 64, 64);
  std::memcpy(&hi, placed.data() + i.main_offset + 128, 64);
  EXPECT_EQ(lo.data[0], static_cast<std::uint32_t>(next));
  EXPECT_EQ(hi.data[0], next >> 32);
  // One insert of two records, FUNCTION_BEGIN deleted.
  bool inserted = false, deleted = false;
  for (const Patch& p : i.patches) {
    inserted |= p.section == Section::kMain && p.type == PatchType::kInsert && p.slots == 2 &&
                p.offset == i.main_offset + 64;
    deleted |= p.section == Section::kFunction && p.type == PatchType::kDelete &&
               p.offset == i.function_offset;
  }
  EXPECT_TRUE(inserted);
  EXPECT_TRUE(deleted);
}

TEST_F(Functions, EachEndsWhereTheNextBegins) {
  // 0 ORDER, 1 call g, 2 call f, 3 begin f, 4 NOP, 5 return, 6 begin g, 7 return
  auto second = begin("g");
  second.return_lo = 12;
  second.return_hi = 13;
  p_.add(Engine::kPe, call("g"));
  p_.add(Engine::kPe, call("f"));
  p_.add(Engine::kPe, begin("f"));
  p_.add(Engine::kPe, nop());
  p_.add(Engine::kPe, ret());
  p_.add(Engine::kPe, second);
  p_.add(Engine::kPe, ret());
  const Image i = image(Engine::kPe);
  ASSERT_EQ(i.main_bytes, 7 * kRecordBytes);
  ASSERT_EQ(i.bytes.size(), i.function_offset + 3 * kRecordBytes);
  const auto from_main = static_cast<std::int32_t>(i.function_offset - i.main_offset);
  EXPECT_EQ(at<MoveRecord>(i, i.main_offset, 1).dst[0], 12);
  EXPECT_EQ(at<isa::CompareBranchRecord>(i, i.main_offset, 3).offset, from_main + (2 - 3) * 64);
  EXPECT_EQ(at<MoveRecord>(i, i.main_offset, 4).dst[0], 10);
  EXPECT_EQ(at<isa::CompareBranchRecord>(i, i.main_offset, 6).offset, from_main + (0 - 6) * 64);
  EXPECT_EQ(at<isa::CompareBranchRecord>(i, i.function_offset, 1).target_lo, 10);
  EXPECT_EQ(at<isa::CompareBranchRecord>(i, i.function_offset, 2).target_lo, 12);
  EXPECT_EQ(at<isa::CompareBranchRecord>(i, i.function_offset, 2).target_hi, 13);
}

TEST_F(Functions, ExitBranchesToThePostambleFromAnywhere) {
  p_.add(Engine::kPe, exit_record());
  p_.add(Engine::kPe, begin("f"));
  p_.add(Engine::kPe, exit_record());
  const Image i = image(Engine::kPe);
  EXPECT_EQ(at<isa::CompareBranchRecord>(i, i.main_offset, 1).offset,
            static_cast<std::int32_t>(i.postamble_offset - i.main_offset - 64));
  EXPECT_EQ(
      at<isa::CompareBranchRecord>(i, i.function_offset, 0).offset,
      static_cast<std::int32_t>(i.postamble_offset) - static_cast<std::int32_t>(i.function_offset));
}

TEST_F(Functions, BranchesStayInTheirFunction) {
  // 0 ORDER, 1 branch to 2 = end of MAIN, 2 begin f, 3 NOP, 4 branch to 3, 5 return
  p_.add(Engine::kPe, branch(1));
  p_.add(Engine::kPe, begin("f"));
  p_.add(Engine::kPe, nop());
  p_.add(Engine::kPe, branch(-1));
  p_.add(Engine::kPe, ret());
  const Image i = image(Engine::kPe);
  EXPECT_EQ(at<isa::CompareBranchRecord>(i, i.main_offset, 1).offset, 64);  // POSTAMBLE
  EXPECT_EQ(at<isa::CompareBranchRecord>(i, i.function_offset, 1).offset, -64);
  p_.clear_stream(Engine::kPe);
  p_.add(Engine::kPe, branch(2));
  p_.add(Engine::kPe, begin("f"));
  p_.add(Engine::kPe, nop());
  p_.add(Engine::kPe, ret());
  EXPECT_HAS(refused(), "record 0: COMPARE_BRANCH to record 2 leaves the main program");
  p_.clear_stream(Engine::kPe);
  p_.add(Engine::kPe, begin("f"));
  p_.add(Engine::kPe, branch(-1));
  p_.add(Engine::kPe, ret());
  EXPECT_HAS(refused(), "leaves function 'f'");
}

TEST_F(Functions, PrefetchHintLeavesItsEventsOnly) {
  p_.add(Engine::kPe, isa::zero_record<isa::ControlRecord>(0xDD));
  p_.add(Engine::kPe, with_events<isa::ControlRecord>(0xDD));
  const Image i = image(Engine::kPe);
  ASSERT_EQ(i.main_bytes, 2 * kRecordBytes);
  const auto r = at<isa::ControlRecord>(i, i.main_offset, 1);
  EXPECT_EQ(r.h.opcode, isa::kOpNop);
  expect_events(r);
}

TEST_F(Functions, Refusals) {
  const auto stream = [&](auto... records) {
    p_.clear_stream(Engine::kPe);
    (p_.add(Engine::kPe, records), ...);
    return refused();
  };
  EXPECT_HAS(stream(call("g")), "PSEUDO_FUNCTION_CALL (0xd3): names function 'g'");
  EXPECT_HAS(stream(ret()), "PSEUDO_FUNCTION_RETURN (0xd2): stands outside a function");
  EXPECT_HAS(stream(begin("")), "a function name has 1 to 35 characters");
  EXPECT_HAS(stream(begin("f"), ret(), begin("f"), ret()),
             "record 2: function 'f' is defined twice");
  EXPECT_HAS(stream(begin("f"), nop()), "record 1: function 'f' does not end in a return");
  EXPECT_HAS(stream(begin("f")), "does not end in a return");
  auto reset = begin("f");
  reset.reset_semaphores = 1;
  EXPECT_HAS(stream(reset, ret()), "resets semaphores on return");
  auto registers = begin("f");
  registers.return_hi = 64;
  EXPECT_HAS(stream(registers, ret()), "registers 10 and 64");
  auto table = call("f");
  table.args_table_var = w_;
  EXPECT_HAS(stream(table, begin("f"), ret()), "is no dge-table");
  auto code = exit_record();
  code.code = 2;
  EXPECT_HAS(stream(code), "PSEUDO_INST (0xdf): code 2");
  add_input_and_output(p_);
  p_.clear_stream(Engine::kSp);
  p_.add(Engine::kSp, begin("f"));
  p_.add_trigger(Engine::kSp, "qSPIO0", 0);
  p_.add(Engine::kSp, ret());
  p_.clear_stream(Engine::kPe);
  EXPECT_HAS(refused(), "inside function 'f'");
}

}  // namespace
}  // namespace opennrt::tdrv::test
