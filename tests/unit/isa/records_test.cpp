// SPDX-License-Identifier: Apache-2.0
//
// The typed control records agree with the table.
#include "opennrt/isa/records.h"

#include <gtest/gtest.h>

#include "opennrt/isa/table.h"

namespace opennrt::isa {
namespace {

std::size_t offset_of(Opcode opcode, const char* field) {
  const Instruction* instruction = find_instruction(opcode);
  if (instruction == nullptr) return 1000;
  const Field* found = instruction->layout(Generation::kSunda).find(field);
  return found != nullptr ? found->offset : 1000;
}

TEST(Records, OpcodesHaveTheirNames) {
  const std::pair<Opcode, const char*> expected[] = {
      {kOpLoadWeights, "LDWEIGHTS"},
      {kOpMatmul, "MATMUL"},
      {kOpActivate, "ACTIVATE"},
      {kOpActivationTableLoad, "ACTIVATION_TABLE_LOAD"},
      {kOpTensorTensor, "TENSOR_TENSOR_ARITH_OP"},
      {kOpTensorReduce, "TENSOR_REDUCE_ARITH_OP"},
      {kOpTensorScalar, "TENSOR_SCALAR_ARITH_OP"},
      {kOpCopy, "COPY"},
      {kOpCast, "CAST"},
      {kOpReciprocal, "RECIPROCAL"},
      {kOpMemset, "MEMSET"},
      {kOpEventSemaphore, "EVENT_SEMAPHORE"},
      {kOpHalt, "HALT"},
      {kOpDrain, "DRAIN"},
      {kOpNop, "NOP"},
      {kOpWrite, "WRITE"},
      {kOpNotify, "NOTIFY"},
      {kOpAlu, "ALU_OP"},
      {kOpCompareBranch, "COMPARE_BRANCH"},
      {kOpTensorLoad, "TENSOR_LOAD"},
      {kOpTensorStore, "TENSOR_STORE"},
      {kOpRangeClear, "EVENT_SEMAPHORE_RANGE_CLEAR"},
      {kOpSetOrderingMode, "SET_ORDERING_MODE"},
      {kOpDmaMemcpy, "DMAMEMCPY"},
      {kOpPseudoDmaTrigger, "PSEUDO_DMATRIGGER"},
      {kOpPseudoBranchLabel, "PSEUDO_BRANCH_LABEL"},
      {kOpPseudoDmaDirect2d, "PSEUDO_DMA_DIRECT2D"},
  };
  for (const auto& [opcode, name] : expected) EXPECT_STREQ(opcode_name(opcode), name);
}

TEST(Records, FieldsStandWhereTheTableSays) {
  EXPECT_EQ(offset_of(kOpNotify, "notify_kind"), offsetof(ControlRecord, notify_kind));
  EXPECT_EQ(offset_of(kOpNotify, "notify_count"), offsetof(ControlRecord, notify_count));
  EXPECT_EQ(offset_of(kOpNotify, "notify_sub_id"), offsetof(ControlRecord, notify_sub_id));
  EXPECT_EQ(offset_of(kOpNotify, "notify_group2"), offsetof(ControlRecord, notify_group2));
  EXPECT_EQ(offset_of(kOpDrain, "drain_count"), offsetof(ControlRecord, drain_count));
  EXPECT_EQ(offset_of(kOpActivationTableLoad, "act_set_index"),
            offsetof(ControlRecord, act_set_index));
  EXPECT_EQ(offset_of(kOpEventSemaphore, "events2.wait_mode"),
            offsetof(EventSemaphoreRecord, wait_mode));
  EXPECT_EQ(offset_of(kOpEventSemaphore, "events2.update_value"),
            offsetof(EventSemaphoreRecord, update_value));
  EXPECT_EQ(offset_of(kOpWrite, "size_0"), offsetof(WriteRecord, size0));
  EXPECT_EQ(offset_of(kOpWrite, "addr_1"), offsetof(WriteRecord, address1));
  EXPECT_EQ(offset_of(kOpWrite, "data_1"), offsetof(WriteRecord, data1));
  EXPECT_EQ(offset_of(kOpTensorStore, "data_mode"), offsetof(MemRecord, immediate));
  EXPECT_EQ(offset_of(kOpTensorStore, "address"), offsetof(MemRecord, address));
  EXPECT_EQ(offset_of(kOpTensorStore, "step_1"), offsetof(MemRecord, step_outer));
  EXPECT_EQ(offset_of(kOpCompareBranch, "target"), offsetof(CompareBranchRecord, offset));
  EXPECT_EQ(offset_of(kOpCompareBranch, "target_reg_hi"), offsetof(CompareBranchRecord, target_hi));
  EXPECT_EQ(offset_of(kOpRangeClear, "range_last"), offsetof(RangeClearRecord, last));
  EXPECT_EQ(offset_of(kOpSetOrderingMode, "ordering_mode"), offsetof(OrderingRecord, mode));
  EXPECT_EQ(offset_of(kOpPseudoDmaTrigger, "block_id"), offsetof(DmaTriggerRecord, block_id));
  EXPECT_EQ(offset_of(kOpTensorTensor, "op"), offsetof(TensorTensorRecord, op));
  EXPECT_EQ(offset_of(kOpTensorTensor, "src1.addr"), offsetof(TensorTensorRecord, src1));
  EXPECT_EQ(offset_of(kOpTensorTensor, "dst.addr"), offsetof(TensorTensorRecord, dst));
}

TEST(Records, ModesHaveTheirNames) {
  const EnumTable& wait = *find_enumeration("wait_mode");
  const EnumTable& update = *find_enumeration("update_mode");
  EXPECT_STREQ(wait.find(kWaitSemGe), "SEM_GE_IMM");
  EXPECT_STREQ(wait.find(kWaitEvtSetThenClear), "EVT_SET_THEN_CLEAR");
  EXPECT_STREQ(wait.find(kWaitSemEq | kWaitRegisterBit), "SEM_EQ_REG");
  EXPECT_STREQ(update.find(kUpdateSemInc), "SEM_INC_COMPLETE");
  EXPECT_STREQ(update.find(kUpdateSemWrite), "SEM_WR_IMM_COMPLETE");
  EXPECT_STREQ(update.find(kUpdateEvtSet), "EVT_SET_COMPLETE");
  const EnumTable& dtype = *find_enumeration("dtype");
  EXPECT_STREQ(dtype.find(kDtFloat32), "FP32");
  EXPECT_STREQ(dtype.find(kDtBfloat16), "BFLOAT16");
  EXPECT_STREQ(dtype.find(kDtUint32), "UINT32");
}

}  // namespace
}  // namespace opennrt::isa
