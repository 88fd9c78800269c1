// SPDX-License-Identifier: Apache-2.0
#include "tdrv/image/records_builder.h"

#include <algorithm>

namespace opennrt::tdrv::image {

namespace {

constexpr std::uint8_t kNotifyCommand = 9;
constexpr std::uint8_t kHintAlwaysTaken = 2;
constexpr std::uint32_t kRuntimeSetter = 1;
constexpr std::uint8_t kWordBytes = 4;

}  // namespace

void RecordBuilder::notify(isa::NotifyKind kind) {
  auto r = isa::zero_record<isa::ControlRecord>(isa::kOpNotify);
  r.h.debug_cmd = kNotifyCommand;
  r.notify_kind = kind;
  r.notify_count = 1;
  append(r);
}

void RecordBuilder::order(std::uint8_t mode) {
  auto r = isa::zero_record<isa::OrderingRecord>(isa::kOpSetOrderingMode);
  r.mode = mode;
  append(r);
}

void RecordBuilder::drain(std::uint8_t count) {
  auto r = isa::zero_record<isa::ControlRecord>(isa::kOpDrain);
  r.drain_count = count;
  append(r);
}

void RecordBuilder::halt() { append(isa::zero_record<isa::ControlRecord>(isa::kOpHalt)); }

void RecordBuilder::nop_wait_event(std::uint8_t event) {
  auto r = isa::zero_record<isa::ControlRecord>(isa::kOpNop);
  r.h.wait_mode = isa::kWaitEvtSetThenClear;
  r.h.wait_index = event;
  r.setter_signature = kRuntimeSetter;
  append(r);
}

void RecordBuilder::nop_set_event(std::uint8_t event) {
  auto r = isa::zero_record<isa::ControlRecord>(isa::kOpNop);
  r.h.update_mode = isa::kUpdateEvtSet;
  r.h.update_index = event;
  r.setter_signature = kRuntimeSetter;
  append(r);
}

void RecordBuilder::semaphore(std::uint8_t index, isa::WaitMode wait, std::uint32_t threshold,
                              isa::UpdateMode update, std::uint32_t operand) {
  auto r = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
  if (wait != isa::kWaitNone) {
    r.wait_mode = wait;
    r.wait_index = index;
    r.wait_value = threshold;
  }
  r.update_mode = update;
  r.update_index = index;
  r.update_value = operand;
  append(r);
}

void RecordBuilder::write(RegisterWrite first) {
  auto r = isa::zero_record<isa::WriteRecord>(isa::kOpWrite);
  r.size0 = kWordBytes;
  r.address0 = first.address;
  r.data0 = first.value;
  append(r);
}

void RecordBuilder::write(RegisterWrite first, RegisterWrite second) {
  auto r = isa::zero_record<isa::WriteRecord>(isa::kOpWrite);
  r.size0 = r.size1 = kWordBytes;
  r.address0 = first.address;
  r.data0 = first.value;
  r.address1 = second.address;
  r.data1 = second.value;
  append(r);
}

void RecordBuilder::store(const RegisterGrid& grid, std::span<const std::uint32_t> data) {
  auto r = isa::zero_record<isa::MemRecord>(isa::kOpTensorStore);
  r.dtype = isa::kDtUint32;
  r.immediate = 1;
  r.count_inner = grid.count_inner;
  r.count_outer = grid.count_outer;
  r.address = grid.address;
  r.step_inner = grid.step_inner;
  r.step_outer = grid.step_outer;
  const std::size_t n = std::min(data.size(), std::size(r.data));
  std::memcpy(r.data, data.data(), n * sizeof(std::uint32_t));
  append(r);
}

void RecordBuilder::load(std::uint64_t address, std::uint8_t reg) {
  auto r = isa::zero_record<isa::MemRecord>(isa::kOpTensorLoad);
  r.dtype = isa::kDtUint32;
  r.count_inner = r.count_outer = 1;
  r.address = address;
  r.reg[0] = reg;
  append(r);
}

void RecordBuilder::load_pair(std::uint64_t address, std::uint8_t reg_lo, std::uint8_t reg_hi) {
  auto r = isa::zero_record<isa::MemRecord>(isa::kOpTensorLoad);
  r.dtype = isa::kDtUint32;
  r.count_inner = 2;
  r.count_outer = 1;
  r.address = address;
  r.step_inner = 1;
  r.reg[0] = reg_lo;
  r.reg[1] = reg_hi;
  append(r);
}

void RecordBuilder::branch_register(std::uint8_t reg_lo, std::uint8_t reg_hi) {
  auto r = isa::zero_record<isa::CompareBranchRecord>(isa::kOpCompareBranch);
  r.op = isa::kBranchAlways;
  r.target_mode = isa::kTargetRegister;
  r.target_lo = reg_lo;
  r.target_hi = reg_hi;
  append(r);
}

std::uint32_t RecordBuilder::branch_always() {
  auto r = isa::zero_record<isa::CompareBranchRecord>(isa::kOpCompareBranch);
  r.h.debug_hint = kHintAlwaysTaken;
  r.op = isa::kBranchAlways;
  r.target_mode = isa::kTargetRelative;
  append(r);
  return slot() - 1;
}

std::uint32_t RecordBuilder::branch_if_zero(std::uint8_t reg) {
  auto r = isa::zero_record<isa::CompareBranchRecord>(isa::kOpCompareBranch);
  r.op = isa::kBranchEqImm;
  r.dtype = isa::kDtInt32;
  r.target_mode = isa::kTargetRelative;
  r.lhs = reg;
  append(r);
  return slot() - 1;
}

void RecordBuilder::take_events(std::uint32_t slot, const isa::Header& source) {
  isa::Header header = source;
  std::uint8_t* at = bytes_.data() + slot * isa::kRecordBytes;
  std::memcpy(&header, at, offsetof(isa::Header, wait_mode));
  std::memcpy(at, &header, sizeof header);
}

void RecordBuilder::set_target(std::uint32_t branch_slot, std::uint32_t target_slot) {
  const std::int32_t bytes =
      (static_cast<std::int32_t>(target_slot) - static_cast<std::int32_t>(branch_slot)) *
      static_cast<std::int32_t>(isa::kRecordBytes);
  std::memcpy(
      bytes_.data() + branch_slot * isa::kRecordBytes + offsetof(isa::CompareBranchRecord, offset),
      &bytes, sizeof bytes);
}

}  // namespace opennrt::tdrv::image
