// SPDX-License-Identifier: Apache-2.0
//
// What the assembler accepts, and what it says about wrong input.
#include <gtest/gtest.h>

#include <cstring>

#include "opennrt/isa/codec.h"

namespace opennrt::isa {
namespace {

std::string error_of(std::string_view line, Generation generation = Generation::kSunda) {
  std::string error;
  EXPECT_FALSE(assemble(line, generation, &error).has_value()) << line;
  EXPECT_NE(error, "");
  return error;
}

RecordBytes good(std::string_view line, Generation generation = Generation::kSunda) {
  std::string error;
  const auto record = assemble(line, generation, &error);
  EXPECT_TRUE(record.has_value()) << error;
  return record.value_or(RecordBytes{});
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Assembler, FieldsLandAtTheirBytes) {
  const auto r = load_record<TensorTensorRecord>(
      good("TENSOR_TENSOR_ARITH_OP wait=SEM_GE_IMM(9) value=16 update=SEM_INC_COMPLETE(6) "
           "in0_in1_dtype=FP32/FP32 out_dtype=FP32 op=ADD num_active_channels=128 "
           "src0.addr=0x100 src0.step=1,0,0 src0.num=1000,1,1 src1.addr=0x200 dst.addr=0x300 "
           "dst.step=-1")
          .data());
  EXPECT_EQ(r.h.opcode, 0x41);
  EXPECT_EQ(r.h.word_len, 0x10);
  EXPECT_EQ(r.h.wait_mode, 5);
  EXPECT_EQ(r.h.wait_index, 9);
  EXPECT_EQ(r.h.update_mode, 0x13);
  EXPECT_EQ(r.h.update_index, 6);
  EXPECT_EQ(r.h.value, 16u);
  EXPECT_EQ(r.src_dtypes, 0xAA);
  EXPECT_EQ(r.dst_dtype, 0x0A);
  EXPECT_EQ(r.op, 4);
  EXPECT_EQ(r.partitions, 128);
  EXPECT_EQ(r.src0.address, 0x100u);
  EXPECT_EQ(r.src0.count[0], 1000);
  EXPECT_EQ(r.src1.address, 0x200u);
  EXPECT_EQ(r.dst.address, 0x300u);
  EXPECT_EQ(r.dst.step[0], -1);
}

TEST(Assembler, AcceptsCommentsNumbersForNamesAndAnyOrder) {
  EXPECT_EQ(good("NOP   value=0x10 wait=5(3)  # comment wait=NONE(0)"),
            good("NOP wait=SEM_GE_IMM(3) value=16"));
  EXPECT_EQ(good("PSEUDO_DMATRIGGER queue_name=\"a # b\" block_id=1")[14], '#');
  EXPECT_EQ(good("PSEUDO_EXTENSION bound_0=5")[1], 0);
  EXPECT_EQ(good("PSEUDO_EXTENSION word_len=16")[1], 16);
}

TEST(Assembler, ImmediatesAreBitsOrFloats) {
  const auto bits = [](const char* imm) {
    std::uint32_t value = 0;
    const auto record = good(std::string("TENSOR_SCALAR_ARITH_OP imm0=") + imm);
    std::memcpy(&value, record.data() + 40, 4);
    return value;
  };
  EXPECT_EQ(bits("1.5f"), 0x3FC00000u);
  EXPECT_EQ(bits("-2f"), 0xC0000000u);
  EXPECT_EQ(bits("7"), 7u);
  EXPECT_EQ(bits("-1"), 0xFFFFFFFFu);
  EXPECT_EQ(bits("0x2000000"), 0x2000000u);
  EXPECT_EQ(bits("0xf"), 15u);
}

TEST(Assembler, UnknownNamesAreNamed) {
  EXPECT_TRUE(has(error_of("ADD r1 r2"), "unknown instruction 'ADD'"));
  EXPECT_TRUE(has(error_of("NOP speed=3"), "no field 'speed'"));
  EXPECT_TRUE(has(error_of("NOP speed=3"), "act_set_index"));
  EXPECT_TRUE(has(error_of("NOP wait=SEM_NEAR(3)"), "'SEM_NEAR' is not a wait_mode"));
  EXPECT_TRUE(has(error_of("TENSOR_TENSOR_ARITH_OP op=PLUS"), "'PLUS' is not a alu_op"));
  EXPECT_TRUE(has(error_of("TENSOR_TENSOR_ARITH_OP out_dtype=DOUBLE"), "'DOUBLE'"));
  EXPECT_TRUE(has(error_of("TENSOR_TENSOR_ARITH_OP in0_in1_dtype=FP32/DOUBLE"), "'DOUBLE'"));
  EXPECT_TRUE(has(error_of("MATMUL_MX"), "does not exist on sunda"));
}

TEST(Assembler, NumbersMustFitTheirField) {
  EXPECT_TRUE(has(error_of("NOP value=4294967296"), "0..4294967295"));
  EXPECT_TRUE(has(error_of("NOP value=-1"), "'-1'"));
  EXPECT_TRUE(has(error_of("NOP wait=SEM_GE_IMM(256)"), "0..255"));
  EXPECT_TRUE(has(error_of("TENSOR_TENSOR_ARITH_OP src0.num=65536"), "0..65535"));
  EXPECT_TRUE(has(error_of("TENSOR_TENSOR_ARITH_OP src0.step=32768"), "-32768..32767"));
  EXPECT_TRUE(has(error_of("TENSOR_TENSOR_ARITH_OP src0.step=-32769"), "-32768..32767"));
  EXPECT_TRUE(has(error_of("TENSOR_TENSOR_ARITH_OP src0.num=1,1,1,1"), "more than 3 values"));
  EXPECT_TRUE(has(error_of("TENSOR_TENSOR_ARITH_OP src0.num=1,,1"), "''"));
  EXPECT_TRUE(has(error_of("TENSOR_TENSOR_ARITH_OP src0.num="), "''"));
  EXPECT_TRUE(has(error_of("TENSOR_TENSOR_ARITH_OP src0.num=12x"), "'12x'"));
  EXPECT_TRUE(has(error_of("TENSOR_TENSOR_ARITH_OP src0.num=99999999999999999999"), "0..65535"));
  EXPECT_TRUE(has(error_of("COMPARE_BRANCH lhs_reg=r256"), "0..255"));
  EXPECT_TRUE(has(error_of("COMPARE_BRANCH lhs_reg=5"), "not a register"));
  EXPECT_TRUE(has(error_of("WRITE addr_0=0x1ffffffffffffffff"), "addr_0"));
}

TEST(Assembler, MalformedWordsAreRefused) {
  EXPECT_TRUE(has(error_of(""), "no instruction"));
  EXPECT_TRUE(has(error_of("   # only a comment"), "no instruction"));
  EXPECT_TRUE(has(error_of("NOP value"), "'value' is not key=value"));
  EXPECT_TRUE(has(error_of("NOP =3"), "not key=value"));
  EXPECT_TRUE(has(error_of("NOP value=1 value=2"), "given twice"));
  EXPECT_TRUE(has(error_of("NOP wait=SEM_GE_IMM"), "MODE(index)"));
  EXPECT_TRUE(has(error_of("NOP wait=SEM_GE_IMM(3"), "MODE(index)"));
  EXPECT_TRUE(has(error_of("PSEUDO_DMATRIGGER queue_name=\"open"), "not closed"));
  EXPECT_TRUE(has(error_of("PSEUDO_DMATRIGGER queue_name=bare"), "quotation"));
  EXPECT_TRUE(has(error_of("PSEUDO_DMATRIGGER queue_name=\"0123456789012345678901234567890123\""),
                  "longer than 31"));
  EXPECT_TRUE(has(error_of("TENSOR_TENSOR_ARITH_OP in0_in1_dtype=FP32"), "TYPE/TYPE"));
  EXPECT_TRUE(has(error_of("NOP @5=hex:00"), "12..63"));
  EXPECT_TRUE(has(error_of("NOP @63=hex:0000"), "at most 1 bytes"));
  EXPECT_TRUE(has(error_of("NOP @20=hex:0"), "pairs"));
  EXPECT_TRUE(has(error_of("NOP @20=hex:0g"), "hex digit"));
  EXPECT_TRUE(has(error_of("NOP @20=12"), "hex:0a0b"));
  EXPECT_TRUE(has(error_of(".record hex:00"), "128"));
  EXPECT_TRUE(has(error_of(".record"), "128"));
  EXPECT_FALSE(assemble("WHAT", Generation::kSunda, nullptr).has_value());
}

}  // namespace
}  // namespace opennrt::isa
