// SPDX-License-Identifier: Apache-2.0
//
// Record to text and back is lossless, and the text says what it should.
#include "opennrt/isa/codec.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace opennrt::isa {
namespace {

constexpr Generation kAll[] = {Generation::kSunda, Generation::kCayman, Generation::kMariana};

void expect_round_trip(const RecordBytes& record, Generation generation) {
  const std::string text = disassemble(record, generation);
  std::string error;
  const auto back = assemble(text, generation, &error);
  ASSERT_TRUE(back.has_value()) << text << "\n" << error;
  ASSERT_EQ(*back, record) << text << "\n" << disassemble(*back, generation);
}

TEST(Codec, EveryOpcodeSurvivesTheRoundTripOnEveryFamily) {
  std::mt19937 random(20240607);
  for (const Instruction& instruction : instructions()) {
    for (Generation generation : kAll) {
      if (!instruction.exists_on(generation)) continue;
      RecordBytes zero{};
      zero[0] = instruction.opcode;
      zero[1] = 0x10;
      expect_round_trip(zero, generation);
      EXPECT_EQ(disassemble(zero, generation).rfind(instruction.name, 0), 0u);
      for (int i = 0; i < 40; ++i) {
        RecordBytes record{};
        for (auto& byte : record) {
          // Mostly small values: names of enumerations, zero runs, terminators.
          const std::uint32_t r = random();
          byte = static_cast<std::uint8_t>(r % 3 == 0 ? 0 : (r % 3 == 1 ? r >> 8 & 15 : r >> 8));
        }
        record[0] = instruction.opcode;
        expect_round_trip(record, generation);
      }
    }
  }
}

TEST(Codec, UnknownOpcodesKeepTheirBytes) {
  RecordBytes record{};
  for (std::size_t i = 0; i < record.size(); ++i) record[i] = static_cast<std::uint8_t>(i * 7);
  record[0] = 0xFE;
  const std::string text = disassemble(record, Generation::kSunda);
  EXPECT_EQ(text.rfind(".record hex:fe07", 0), 0u);
  expect_round_trip(record, Generation::kSunda);
}

TEST(Codec, NamesFieldsWaitsAndUpdates) {
  auto r = zero_record<TensorTensorRecord>(kOpTensorTensor);
  r.h.wait_mode = kWaitSemGe;
  r.h.wait_index = 9;
  r.h.update_mode = kUpdateSemInc;
  r.h.update_index = 6;
  r.h.value = 16;
  r.src_dtypes = kDtFloat32 | kDtBfloat16 << 4;
  r.dst_dtype = kDtFloat32;
  r.op = 4;
  r.partitions = 128;
  r.src0 = {0x40, {1, -3, 0}, {1000, 1, 1}};
  RecordBytes bytes{};
  std::memcpy(bytes.data(), &r, sizeof r);
  EXPECT_EQ(disassemble(bytes, Generation::kSunda),
            "TENSOR_TENSOR_ARITH_OP wait=SEM_GE_IMM(9) update=SEM_INC_COMPLETE(6) value=16 "
            "in0_in1_dtype=FP32/BFLOAT16 out_dtype=FP32 op=ADD num_active_channels=128 "
            "src0.addr=0x40 src0.step=1,-3,0 src0.num=1000,1,1");
}

TEST(Codec, NamesQueueAndBlockOfATrigger) {
  auto r = zero_record<DmaTriggerRecord>(kOpPseudoDmaTrigger);
  std::strcpy(r.queue, "qSPIO0");
  r.block_id = 3;
  RecordBytes bytes{};
  std::memcpy(bytes.data(), &r, sizeof r);
  EXPECT_EQ(disassemble(bytes, Generation::kSunda),
            "PSEUDO_DMATRIGGER queue_name=\"qSPIO0\" block_id=3");
}

TEST(Codec, ShowsBytesThatNoFieldCovers) {
  RecordBytes bytes{};
  bytes[0] = kOpNop;
  bytes[1] = 0x10;
  bytes[20] = 0xAB;
  bytes[21] = 0x01;
  EXPECT_EQ(disassemble(bytes, Generation::kSunda), "NOP @20=hex:ab01");
}

TEST(Codec, LayoutFollowsTheFamily) {
  RecordBytes bytes{};
  bytes[0] = kOpMatmul;
  bytes[1] = 0x10;
  bytes[46] = 16;
  EXPECT_NE(disassemble(bytes, Generation::kSunda).find("xbus_sel=16"), std::string::npos);
  EXPECT_EQ(disassemble(bytes, Generation::kCayman).find("xbus_sel"), std::string::npos);
}

TEST(Codec, FloatsKeepTheirBits) {
  std::string error;
  // 1.5, 0.1, the largest, a subnormal, minus zero, infinity, a signalling NaN
  for (std::uint32_t bits :
       {0x3FC00000u, 0x3DCCCCCDu, 0x7F7FFFFFu, 1u, 0x80000000u, 0x7F800000u, 0x7F800001u}) {
    RecordBytes bytes{};
    bytes[0] = 0x45;  // a record with a float at 40
    bytes[1] = 0x10;
    std::memcpy(bytes.data() + 40, &bits, 4);
    expect_round_trip(bytes, Generation::kSunda);
  }
}

}  // namespace
}  // namespace opennrt::isa
