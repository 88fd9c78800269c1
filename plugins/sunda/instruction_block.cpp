// SPDX-License-Identifier: Apache-2.0
//
// The records that only sunda needs, as device images of runtime 2.25 hold
// them. Region order and everything else belongs to the core.
#include <cstddef>

#include "arch-common/record_buffer.h"
#include "layout.h"

namespace opennrt::sunda {
namespace {

using arch_common::append;
using arch_common::make_write;
using arch_common::reserve_records;

// Where POOL keeps its register 0 during the bound check. One RAM serves both
// cores: the first word is core 0's as observed, the next one core 1's (ours).
constexpr std::uint64_t kMiscRamPoolSave = 0xC8;

constexpr std::uint16_t kOutOfBoundsSubId = 5;  // gather or scatter left its bounds

std::uint64_t nx(const nrtp_ib_env* env) {
  return kAddress.nx_device(env->product, env->core, env->engine);
}

int nx_setup(const nrtp_ib_env* env, nrtp_ibuf* out) {
  const bool pool = env->engine == NRTP_ENGINE_POOL;
  if (int status = reserve_records(out, pool ? 3 : 1); status != NRTP_OK) return status;
  if (pool) {
    append(out, make_write(nx(env) + kNxPoolCtrl0, 0));
    append(out, make_write(nx(env) + kNxPoolCtrl1, 0));
  }
  append(out, make_write(nx(env) + kNxDgeCtrl, 0));
  return NRTP_OK;
}

int round_mode(const nrtp_ib_env* env, nrtp_ibuf* out) {
  const std::uint64_t reg = kRoundMode[env->engine];
  if (reg == 0) return NRTP_OK;
  if (int status = reserve_records(out, 1); status != NRTP_OK) return status;
  append(out, make_write(kAddress.tpb_csr_device(env->product, env->core) + reg, 0));
  return NRTP_OK;
}

int nx_clear(const nrtp_ib_env* env, nrtp_ibuf* out) {
  if (env->engine != NRTP_ENGINE_POOL) return NRTP_OK;
  if (int status = reserve_records(out, 1); status != NRTP_OK) return status;
  append(out, make_write(nx(env) + kNxPoolCtrl0, 0, nx(env) + kNxPoolCtrl1, 0));
  return NRTP_OK;
}

isa::MemRecord make_register_access(isa::Opcode opcode, std::uint64_t address) {
  auto r = isa::zero_record<isa::MemRecord>(opcode);
  r.dtype = isa::kDtUint32;
  r.count_inner = 1;
  r.count_outer = 1;
  r.address = address;
  r.reg[0] = 0;
  return r;
}

// Reports an indirect DMA that left its bounds. Without one the branch goes to
// the last record and register 0 keeps the zero it was loaded with, as in the
// device images.
int bound_check(const nrtp_ib_env* env, nrtp_ibuf* out) {
  if (env->engine != NRTP_ENGINE_POOL) return NRTP_OK;
  constexpr std::int32_t kSlotsToLastRecord = 3;
  if (int status = reserve_records(out, 6); status != NRTP_OK) return status;
  const std::uint64_t save = kAddress.misc_ram_device(env->product, env->core) + kMiscRamPoolSave +
                             4 * std::uint64_t{env->core};
  const std::uint64_t flag = nx(env) + kNxIndirectFlag;

  auto branch = isa::zero_record<isa::CompareBranchRecord>(isa::kOpCompareBranch);
  branch.h.debug_hint = 2;
  branch.op = isa::kBranchEqImm;
  branch.dtype = isa::kDtUint32;
  branch.target_mode = isa::kTargetRelative;
  branch.offset = kSlotsToLastRecord * static_cast<std::int32_t>(isa::kRecordBytes);

  auto notify = isa::zero_record<isa::ControlRecord>(isa::kOpNotify);
  notify.h.debug_cmd = 9;
  notify.notify_kind = isa::kNotifyCustom;
  notify.notify_count = 2;
  notify.notify_sub_id = kOutOfBoundsSubId;
  notify.notify_group2 = 1;

  append(out, make_register_access(isa::kOpTensorStore, save));
  append(out, make_register_access(isa::kOpTensorLoad, flag));
  append(out, branch);
  append(out, notify);
  append(out, make_register_access(isa::kOpTensorLoad, save));
  append(out, make_write(flag, 0));
  return NRTP_OK;
}

// One record per semaphore: this family has no range clear in its images.
int sem_reset(const nrtp_ib_env* env, nrtp_ibuf* out) {
  if (env->sem_last >= kGeometry.semaphores || env->sem_first > env->sem_last) return NRTP_INVALID;
  const std::size_t count = env->sem_last - env->sem_first + 1;
  if (int status = reserve_records(out, count); status != NRTP_OK) return status;
  for (std::uint32_t sem = env->sem_first; sem <= env->sem_last; ++sem) {
    auto r = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
    r.update_mode = isa::kUpdateSemWrite;
    r.update_index = static_cast<std::uint8_t>(sem);
    append(out, r);
  }
  return NRTP_OK;
}

int step(std::uint32_t which, const nrtp_ib_env* env, nrtp_ibuf* out) {
  if (env == nullptr || out == nullptr || env->engine >= kEngines) return NRTP_INVALID;
  if (!valid_core(env->product, env->core)) return NRTP_INVALID;
  if (env->form != NRTP_FORM_2_25 && env->form != NRTP_FORM_2_27) return NRTP_INVALID;
  if (reserve_records(out, 0) != NRTP_OK) return NRTP_INVALID;
  switch (which) {
    case NRTP_STEP_NX_SETUP:
      return nx_setup(env, out);
    case NRTP_STEP_ROUND_MODE:
      return round_mode(env, out);
    case NRTP_STEP_NX_CLEAR:
      return nx_clear(env, out);
    case NRTP_STEP_BOUND_CHECK:
      return bound_check(env, out);
    case NRTP_STEP_SEM_RESET:
      return sem_reset(env, out);
    case NRTP_STEP_LIBRARY_LOAD:
    case NRTP_STEP_LIBRARY_CLEAR:
    case NRTP_STEP_MODEL_CONFIG:
      return NRTP_OK;  // nothing of the kind on this silicon
    default:
      return NRTP_INVALID;
  }
}

}  // namespace

constinit const nrtp_arch_ib kIb = {
    .size = sizeof(nrtp_arch_ib),
    .form_default = NRTP_FORM_2_25,
    .form_mask = NRTP_FORM_BIT_2_25 | NRTP_FORM_BIT_2_27,
    .nx_start_ctrl = kNxStartCtrl,
    .nx_start_addr_lo = kNxStartAddrLo,
    .nx_start_addr_hi = kNxStartAddrHi,
    .block_align = {0x8000, 0x8000, 0x8000, 0x8000, 0x8000},
    .step = step,
    .lower_pseudo = nullptr,
    .validate_inst = validate_inst,
    .validate_image = validate_image,
};

}  // namespace opennrt::sunda
