// SPDX-License-Identifier: Apache-2.0
//
// The records that the runtime itself puts into images, as it writes them: any validator
// must take them on every engine.
#include <cstring>
#include <string>
#include <vector>

#include "arch/arch_case.h"
#include "opennrt/isa/records.h"

namespace opennrt::conform {
namespace {

class ArchRuntimeRecords : public ArchCase {
 protected:
  void SetUp() override {
    ArchCase::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    if (arch().ib->validate_image == nullptr) GTEST_SKIP() << "not offered";
  }
  template <typename Record>
  void add(const char* name, const Record& record) {
    static_assert(sizeof record == isa::kRecordBytes);
    names_.emplace_back(name);
    image_.resize(image_.size() + isa::kRecordBytes);
    std::memcpy(image_.data() + image_.size() - isa::kRecordBytes, &record, sizeof record);
  }
  void add_control() {
    auto notify = isa::zero_record<isa::ControlRecord>(isa::kOpNotify);
    notify.h.debug_cmd = 9;
    notify.notify_kind = isa::kNotifyStart;
    notify.notify_count = 1;
    add("NOTIFY", notify);
    auto drain = isa::zero_record<isa::ControlRecord>(isa::kOpDrain);
    drain.drain_count = 1;
    add("DRAIN", drain);
    auto order = isa::zero_record<isa::OrderingRecord>(isa::kOpSetOrderingMode);
    order.mode = 1;
    add("SET_ORDERING_MODE", order);
    auto wait = isa::zero_record<isa::ControlRecord>(isa::kOpNop);
    wait.h.wait_mode = isa::kWaitEvtSetThenClear;
    wait.h.wait_index = arch().sync->id[NRTP_SYNC_INF_INIT_START];
    wait.setter_signature = 1;
    add("NOP that waits for an event", wait);
    auto set = isa::zero_record<isa::ControlRecord>(isa::kOpNop);
    set.h.update_mode = isa::kUpdateEvtSet;
    set.h.update_index = arch().sync->id[NRTP_SYNC_INF_INIT_LAST];
    set.setter_signature = 1;
    add("NOP that sets an event", set);
    add("HALT", isa::zero_record<isa::ControlRecord>(isa::kOpHalt));
  }
  void add_semaphores() {
    auto start = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
    start.wait_mode = isa::kWaitSemGe;
    start.wait_index = start.update_index = arch().sync->id[NRTP_SYNC_INFERENCE_START];
    start.wait_value = 1;
    start.update_mode = isa::kUpdateSemSub;
    start.update_value = 1;
    add("EVENT_SEMAPHORE", start);
    start.wait_index = start.update_index = static_cast<std::uint8_t>(geometry().semaphores - 1);
    add("EVENT_SEMAPHORE of the last semaphore", start);
  }
  void add_memory() {
    const std::uint64_t semaphore =
        address().sem_addr(product(), 0, arch().sync->id[NRTP_SYNC_CORE_BARRIER], NRTP_SEM_INC);
    auto write = isa::zero_record<isa::WriteRecord>(isa::kOpWrite);
    write.size0 = 4;
    write.address0 = semaphore;
    write.data0 = 1;
    add("WRITE", write);
    write.size1 = 4;
    write.address1 = semaphore;
    add("WRITE of two words", write);
    auto load = isa::zero_record<isa::MemRecord>(isa::kOpTensorLoad);
    load.dtype = isa::kDtUint32;
    load.count_inner = 2;
    load.count_outer = 1;
    load.step_inner = 1;
    load.address = geometry().hbm[0].base + geometry().hbm_reserved_low;
    load.reg[0] = isa::kRegArgTableLo;
    load.reg[1] = isa::kRegArgTableHi;
    add("TENSOR_LOAD", load);
    auto store = isa::zero_record<isa::MemRecord>(isa::kOpTensorStore);
    store.dtype = isa::kDtUint32;
    store.immediate = 1;
    store.count_inner = store.count_outer = 1;
    store.address = load.address;
    store.data[0] = 7;
    add("TENSOR_STORE", store);
  }
  // The image ends with it, so that it leads back.
  void add_branches() {
    auto branch = isa::zero_record<isa::CompareBranchRecord>(isa::kOpCompareBranch);
    branch.h.debug_hint = 2;
    branch.op = isa::kBranchAlways;
    branch.target_mode = isa::kTargetRelative;
    branch.offset = -64;
    add("COMPARE_BRANCH", branch);
    branch.h.debug_hint = 0;
    branch.op = isa::kBranchEqImm;
    branch.dtype = isa::kDtInt32;
    add("COMPARE_BRANCH on a register", branch);
    branch = isa::zero_record<isa::CompareBranchRecord>(isa::kOpCompareBranch);
    branch.op = isa::kBranchAlways;
    branch.target_mode = isa::kTargetRegister;
    branch.target_lo = 2;
    branch.target_hi = 3;
    add("COMPARE_BRANCH to registers", branch);
  }
  void next_product() override {
    names_.clear();
    image_.clear();
  }
  std::vector<std::string> names_;
  std::vector<std::uint8_t> image_;
};

ARCH_CASE(ArchRuntimeRecords, AreTakenOnEveryEngine) {
  add_control();
  add_semaphores();
  add_memory();
  add_branches();
  for (std::uint32_t engine = 0; engine < geometry().engines; ++engine) {
    nrtp_diag diag{};
    diag.size = sizeof diag;
    if (arch().ib->validate_inst != nullptr) {
      for (std::size_t slot = 0; slot < names_.size(); ++slot) {
        EXPECT_EQ(arch().ib->validate_inst(engine, image_.data() + slot * 64, &diag), NRTP_OK)
            << names_[slot] << " on engine " << engine << ": " << diag.msg;
      }
    }
    EXPECT_EQ(arch().ib->validate_image(engine, image_.data(), image_.size(), &diag), NRTP_OK)
        << diag.msg;
  }
}

}  // namespace
}  // namespace opennrt::conform
