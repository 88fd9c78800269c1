// SPDX-License-Identifier: Apache-2.0
//
// Field limits of the instruction validator of the built-in families, one wrong field at a time,
// with what differs between families.
#include <cstring>
#include <string>
#include <vector>

#include "arch-common/record_checks.h"
#include "arch_modules.h"
#include "opennrt/isa/records.h"
#include "opennrt/isa/table.h"

namespace opennrt::arch_test {
namespace {

class Validator : public ArchTest {
 protected:
  template <typename Record>
  int check(std::uint32_t engine, const Record& record) {
    std::uint8_t bytes[64];
    std::memcpy(bytes, &record, sizeof bytes);
    diag_ = {};
    diag_.size = sizeof diag_;
    return arch().ib->validate_inst(engine, bytes, &diag_);
  }
  // Refused, with a message that holds `text`.
  template <typename Record>
  void expect_refused(std::uint32_t engine, const Record& record, const char* text) {
    EXPECT_EQ(check(engine, record), NRTP_INVALID) << text;
    EXPECT_NE(std::string(diag_.msg).find(text), std::string::npos) << diag_.msg;
  }
  // An elementwise add of 100 x 8 floats in 128 partitions.
  isa::TensorTensorRecord add() const {
    auto r = isa::zero_record<isa::TensorTensorRecord>(isa::kOpTensorTensor);
    r.src_dtypes = isa::kDtFloat32 | isa::kDtFloat32 << 4;
    r.dst_dtype = isa::kDtFloat32;
    r.op = 4;
    r.partitions = 128;
    const isa::Tensor3d dense = {0, {1, 8, 800}, {8, 100, 1}};
    r.src0 = r.src1 = r.dst = dense;
    r.src1.address = 0x4000;
    r.dst.address = 0x8000;
    return r;
  }
  bool is(const char* name) const { return std::string(arch().name) == name; }
  nrtp_diag diag_{};
};
ONRT_ARCH_SUITE(Validator);

constexpr std::uint32_t kDve = NRTP_ENGINE_DVE;

TEST_P(Validator, AcceptsAGoodRecordOnItsEnginesOnly) {
  EXPECT_EQ(check(NRTP_ENGINE_DVE, add()), NRTP_OK) << diag_.msg;
  EXPECT_EQ(check(NRTP_ENGINE_POOL, add()), NRTP_OK) << diag_.msg;
  expect_refused(NRTP_ENGINE_PE, add(), "this engine does not execute it");
  expect_refused(NRTP_ENGINE_ACT, add(), "this engine does not execute it");
  expect_refused(NRTP_ENGINE_SP, add(), "this engine does not execute it");
}

TEST_P(Validator, RefusesUnknownModes) {
  auto r = add();
  r.h.wait_mode = 0x08;
  expect_refused(kDve, r, "no wait mode 0x08");
  r = add();
  r.h.update_mode = 0x1B;
  expect_refused(kDve, r, "no update mode 0x1b");
  r = add();
  r.h.wait_mode = isa::kWaitSemGe | isa::kWaitRegisterBit;
  r.h.value = 63;
  EXPECT_EQ(check(kDve, r), NRTP_OK) << diag_.msg;
  r.h.value = 64;
  expect_refused(kDve, r, "wait on register 64");
  auto second = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
  second.wait_mode = 0x10;
  expect_refused(kDve, second, "wait_mode");
}

TEST_P(Validator, CodesFollowTheFamily) {
  auto r = add();
  r.dst_dtype = 0x10;  // FP4
  EXPECT_EQ(check(kDve, r) == NRTP_OK, is("mariana")) << diag_.msg;
  r.dst_dtype = 0x11;
  expect_refused(kDve, r, "out_dtype");
  r = add();
  r.op = 0x22;  // RELU
  EXPECT_EQ(check(kDve, r) == NRTP_OK, is("mariana")) << diag_.msg;
  r.op = 0xC8;  // MOD_INT
  EXPECT_EQ(check(NRTP_ENGINE_POOL, r) == NRTP_OK, !is("sunda")) << diag_.msg;
  r.op = 0x1E;
  expect_refused(kDve, r, "op has no code 0x1e");
  // Opcodes that came or went with a family.
  std::uint8_t bytes[64] = {0xBC, 0x10};  // RANGE_SELECT
  std::memset(bytes + 12, 0, 52);
  arch().ib->validate_inst(kDve, bytes, &diag_);
  EXPECT_EQ(std::string(diag_.msg).find("not an instruction of") != std::string::npos, is("sunda"));
  bytes[0] = 0x8A;  // TENSOR_TENSOR_ADD_BF16
  arch().ib->validate_inst(kDve, bytes, &diag_);
  EXPECT_EQ(std::string(diag_.msg).find("not an instruction of") == std::string::npos, is("sunda"));
}

TEST_P(Validator, ChannelsAreOneTo128) {
  auto r = add();
  r.partitions = 0;
  expect_refused(kDve, r, "num_active_channels is 0");
  r.partitions = 129;
  expect_refused(kDve, r, "num_active_channels is 129");
  r = add();
  r.partitions = 32;
  for (std::uint32_t quadrant = 0; quadrant < 4; ++quadrant) {
    r.dst.address = quadrant * 0x800000;
    EXPECT_EQ(check(kDve, r), NRTP_OK) << diag_.msg;
  }
  r.partitions = 33;
  expect_refused(kDve, r, "33 lanes from partition 96");
  r.partitions = 1;
  r.dst.address = 0x40000;  // partition 1 is no quadrant
  expect_refused(kDve, r, "lanes from partition 1");
}

TEST_P(Validator, PatternsStayInsideTheirPartition) {
  const auto usable = static_cast<std::uint32_t>(geometry().sbuf_partition_bytes);
  auto r = add();
  r.dst.address = usable - 3200;  // 800 floats end with the partition
  EXPECT_EQ(check(kDve, r), NRTP_OK) << diag_.msg;
  if (usable - 3196 < 0x40000) {
    r.dst.address = usable - 3196;
    expect_refused(kDve, r, "dst.addr");
  }
  r = add();
  r.src0.step[1] = -8;  // below the start of the partition
  expect_refused(kDve, r, "src0.addr");
  r.src0.address = 99 * 32;
  EXPECT_EQ(check(kDve, r), NRTP_OK) << diag_.msg;
  r = add();
  r.src1.count[2] = 0;
  expect_refused(kDve, r, "count 2 is 0");
  r = add();
  r.src0.address = 0x2000000;  // PSUM, 16 KiB of each partition
  EXPECT_EQ(check(kDve, r), NRTP_OK) << diag_.msg;
  r.src0.address = 0x2000000 + 0x4000 - 3196;
  expect_refused(kDve, r, "src0.addr");
  r.src0.address = 0x2400000;
  expect_refused(kDve, r, "neither SBUF nor PSUM");
  r.src0.address = 0x8000003F;  // from register 63
  EXPECT_EQ(check(kDve, r), NRTP_OK) << diag_.msg;
  r.src0.address = 0x80000040;
  expect_refused(kDve, r, "names register 64");
}

TEST_P(Validator, ReservedBytesOfConfirmedRecordsAreZero) {
  auto r = isa::zero_record<isa::WriteRecord>(isa::kOpWrite);
  r.size0 = 4;
  EXPECT_EQ(check(kDve, r), NRTP_OK) << diag_.msg;
  r.r1[15] = 1;
  expect_refused(kDve, r, "reserved byte 63 is 0x01");
  r.r1[15] = 0;
  r.r0[0] = 0x80;
  expect_refused(kDve, r, "reserved byte 14 is 0x80");
}

TEST_P(Validator, RegisterNumbersAreBelow64) {
  auto branch = isa::zero_record<isa::CompareBranchRecord>(isa::kOpCompareBranch);
  branch.op = isa::kBranchEqImm;
  branch.dtype = isa::kDtUint32;
  branch.target_mode = isa::kTargetRelative;
  branch.lhs = 63;
  EXPECT_EQ(check(kDve, branch), NRTP_OK) << diag_.msg;
  branch.lhs = 64;
  expect_refused(kDve, branch, "lhs_reg is 64");
  branch.lhs = 0;
  branch.op = 0x07;
  expect_refused(kDve, branch, "compare_op has no code 0x07");

  auto load = isa::zero_record<isa::MemRecord>(isa::kOpTensorLoad);
  load.dtype = isa::kDtUint32;
  load.count_inner = 2;
  load.count_outer = 1;
  load.reg[0] = 0x82;  // the argument table's pair
  load.reg[1] = 0x83;
  EXPECT_EQ(check(kDve, load), NRTP_OK) << diag_.msg;
  load.reg[1] = 64;
  expect_refused(kDve, load, "element 1 is register 64");
  load.reg[1] = 1;
  load.count_outer = 17;
  expect_refused(kDve, load, "34 elements");
  load.count_outer = 0;
  expect_refused(kDve, load, "0 elements");
  load.count_outer = 1;
  load.immediate = 1;
  expect_refused(kDve, load, "data mode 1");
}

TEST_P(Validator, MatmulReadsSbufAndWritesPsum) {
  std::uint8_t r[64] = {isa::kOpMatmul, 0x10};
  const auto pattern = [&r](std::size_t at, std::uint32_t address) {
    const isa::Tensor3d p = {address, {1, 0, 0}, {128, 1, 1}};
    std::memcpy(r + at, &p, sizeof p);
  };
  pattern(16, 0);
  pattern(48, 0x2000000);
  r[32] = isa::kDtBfloat16;
  r[38] = r[39] = 128;
  r[43] = 3;
  const auto run = [&](int expected) {
    EXPECT_EQ(arch().ib->validate_inst(NRTP_ENGINE_PE, r, &diag_), expected) << diag_.msg;
  };
  run(NRTP_OK);
  r[43] = 4;
  run(is("mariana") ? NRTP_OK : NRTP_INVALID);
  r[43] = 5;
  run(NRTP_INVALID);
  r[43] = 3;
  pattern(48, 0x4000);
  run(NRTP_INVALID);
  pattern(48, 0x2000000);
  pattern(16, 0x2000000);
  run(NRTP_INVALID);
}

// Column tiling: the result has as many partitions as the load has columns.
TEST_P(Validator, MatmulWritesOnePartitionPerColumn) {
  std::uint8_t r[64] = {isa::kOpMatmul, 0x10};
  const isa::Tensor3d src = {0, {1, 0, 0}, {64, 1, 1}};
  const isa::Tensor3d dst = {0x2000000 + 96 * 0x8000, {1, 0, 0}, {64, 1, 1}};
  std::memcpy(r + 16, &src, sizeof src);
  std::memcpy(r + 48, &dst, sizeof dst);
  r[32] = isa::kDtBfloat16;
  r[38] = 128;
  r[39] = 32;
  r[43] = 3;
  EXPECT_EQ(arch().ib->validate_inst(NRTP_ENGINE_PE, r, &diag_), NRTP_OK) << diag_.msg;
  r[39] = 33;
  EXPECT_EQ(arch().ib->validate_inst(NRTP_ENGINE_PE, r, &diag_), NRTP_INVALID);
  r[39] = 129;
  EXPECT_EQ(arch().ib->validate_inst(NRTP_ENGINE_PE, r, &diag_), NRTP_INVALID);
}

TEST_P(Validator, PseudoInstructionsAreNoPartOfAnImageAndPoolConfigurationIsForPool) {
  std::vector<std::uint8_t> image(3 * isa::kRecordBytes, 0);
  const auto put = [&](std::size_t slot, std::uint8_t opcode) {
    image[slot * 64] = opcode;
    image[slot * 64 + 1] = 0x10;
  };
  for (std::size_t slot = 0; slot < 3; ++slot) put(slot, isa::kOpNop);
  diag_.size = sizeof diag_;
  const auto* ib = arch().ib;
  put(1, isa::kOpPseudoDmaTrigger);
  EXPECT_EQ(ib->validate_inst(NRTP_ENGINE_POOL, image.data() + 64, &diag_), NRTP_OK);
  EXPECT_EQ(ib->validate_image(NRTP_ENGINE_POOL, image.data(), image.size(), &diag_), NRTP_INVALID);
  EXPECT_EQ(diag_.slot, 1u);
  put(1, isa::kOpPoolConfig);
  EXPECT_EQ(ib->validate_inst(NRTP_ENGINE_POOL, image.data() + 64, &diag_), NRTP_OK);
  EXPECT_EQ(ib->validate_inst(NRTP_ENGINE_DVE, image.data() + 64, &diag_), NRTP_INVALID);
}

// What does not fit the prepared tables would go unchecked.
TEST(RecordChecks, TablesHaveRoomForTheInstructionTable) {
  using arch_common::LayoutCheck;
  EXPECT_LE(isa::record_layouts().size(), arch_common::RecordChecks::kMaxLayouts);
  EXPECT_LE(isa::enumerations().size(), arch_common::RecordChecks::kMaxSets);
  for (const isa::RecordLayout& layout : isa::record_layouts()) {
    std::size_t codes = 0, registers = 0, patterns = 0;
    for (const isa::Field& field : layout.fields()) {
      codes += field.kind == isa::FieldKind::kEnum || field.kind == isa::FieldKind::kTypePair;
      registers += field.kind == isa::FieldKind::kRegister ? field.count : 0;
      patterns += std::string(field.name).find(".step") != std::string::npos;
    }
    EXPECT_LE(codes, LayoutCheck::kMaxCodes) << layout.name;
    EXPECT_LE(registers, LayoutCheck::kMaxRegisters) << layout.name;
    EXPECT_LE(patterns, LayoutCheck::kMaxPatterns) << layout.name;
  }
}

}  // namespace
}  // namespace opennrt::arch_test
