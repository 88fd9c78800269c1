// SPDX-License-Identifier: Apache-2.0
#include "arch-common/steps.h"

#include <cstddef>

#include "arch-common/address.h"
#include "arch-common/record_buffer.h"

namespace opennrt::arch_common {
namespace {

constexpr std::uint16_t kOutOfBoundsSubId = 5;  // gather or scatter left its bounds
constexpr std::uint32_t kAllDmaEngines = 0xFFFF;
constexpr std::uint8_t kRangeMode = 1;  // RANGE_CLEAR: first to last
// POOL library sub-operations, low byte of the record's first payload word.
constexpr std::uint32_t kLibraryLoad = 1, kLibraryClear = 2, kLibraryAll = 0xFF00;

std::uint64_t nx(const ArchFacts& f, const nrtp_ib_env* env) {
  return local_to_device(f, env->product, env->core, nx_local(f, env->engine));
}

// Both parts are in units of 16 bytes, 16 bits each.
int carve_out(const ArchFacts& f, const nrtp_ib_env* env, std::uint32_t* out) {
  const std::uint64_t offset = env->dge_scratch_offset, bytes = env->dge_scratch_bytes;
  if (offset % 16 != 0 || bytes % 16 != 0 || offset + bytes > f.geometry->sbuf_partition_bytes) {
    return NRTP_INVALID;
  }
  *out = static_cast<std::uint32_t>(bytes / 16 << 16 | offset / 16);
  return NRTP_OK;
}

int nx_value(const ArchFacts& f, const nrtp_ib_env* env, NxValue what, std::uint32_t* out) {
  const std::uint32_t own = env->hw_dge_queues[env->engine];
  *out = 0;
  switch (what) {
    case NxValue::kZero:
      break;
    case NxValue::kSoftwareQueues:
      if (env->sw_dge_queues != 0) *out = env->sw_dge_queues << 16 | kAllDmaEngines;
      break;
    case NxValue::kCarveOut:
      return env->sw_dge_queues != 0 ? carve_out(f, env, out) : NRTP_OK;
    case NxValue::kEngineMask:
      if (own != 0) *out = kAllDmaEngines;
      break;
    case NxValue::kOwnQueues:
      *out = own;
      break;
    case NxValue::kAllQueues:
      for (std::uint32_t engine = 0; engine < kEngines; ++engine)
        *out |= env->hw_dge_queues[engine];
      break;
    case NxValue::kFeatureFlags:
      *out = f.steps.feature_flags[env->engine];
      break;
  }
  return NRTP_OK;
}

int nx_setup(const ArchFacts& f, const nrtp_ib_env* env, nrtp_ibuf* out) {
  std::size_t count = 0;
  for (const NxWrite& w : f.steps.nx_setup) count += w.engines >> env->engine & 1;
  if (int status = reserve_records(out, count); status != NRTP_OK) return status;
  const std::uint64_t start = out->len;
  for (const NxWrite& w : f.steps.nx_setup) {
    if ((w.engines >> env->engine & 1) == 0) continue;
    std::uint32_t value = 0;
    if (int status = nx_value(f, env, w.value, &value); status != NRTP_OK) {
      out->len = start;
      return status;
    }
    append(out, make_write(nx(f, env) + w.reg, value));
  }
  return NRTP_OK;
}

int nx_clear(const ArchFacts& f, const nrtp_ib_env* env, nrtp_ibuf* out) {
  std::size_t count = 0;
  for (const NxClear& c : f.steps.nx_clear) count += c.engines >> env->engine & 1;
  if (int status = reserve_records(out, count); status != NRTP_OK) return status;
  for (const NxClear& c : f.steps.nx_clear) {
    if ((c.engines >> env->engine & 1) == 0) continue;
    append(out, c.second != 0 ? make_write(nx(f, env) + c.first, 0, nx(f, env) + c.second, 0)
                              : make_write(nx(f, env) + c.first, 0));
  }
  return NRTP_OK;
}

int round_mode(const ArchFacts& f, const nrtp_ib_env* env, nrtp_ibuf* out) {
  const std::uint32_t reg = f.steps.round_mode[env->engine];
  if (reg == 0) return NRTP_OK;
  if (int status = reserve_records(out, 1); status != NRTP_OK) return status;
  append(out, make_write(f.cores[env->core].csr + reg, 0));
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
int bound_check(const ArchFacts& f, const nrtp_ib_env* env, nrtp_ibuf* out) {
  if (f.steps.indirect_flag == 0 || env->engine != NRTP_ENGINE_POOL) return NRTP_OK;
  constexpr std::int32_t kSlotsToLastRecord = 3;
  if (int status = reserve_records(out, 6); status != NRTP_OK) return status;
  const std::uint64_t save =
      f.cores[env->core].misc_ram + f.steps.misc_ram_save + 4 * std::uint64_t{env->core};
  const std::uint64_t flag = nx(f, env) + f.steps.indirect_flag;

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

int semaphore_reset(const ArchFacts& f, const nrtp_ib_env* env, nrtp_ibuf* out) {
  if (env->sem_last >= f.geometry->semaphores || env->sem_first > env->sem_last) {
    return NRTP_INVALID;
  }
  const std::size_t count = f.steps.semaphores_by_range ? 1 : env->sem_last - env->sem_first + 1;
  if (int status = reserve_records(out, count); status != NRTP_OK) return status;
  if (f.steps.semaphores_by_range) {
    auto r = isa::zero_record<isa::RangeClearRecord>(isa::kOpRangeClear);
    r.mode = kRangeMode;
    r.first = static_cast<std::uint8_t>(env->sem_first);
    r.last = static_cast<std::uint8_t>(env->sem_last);
    append(out, r);
    return NRTP_OK;
  }
  for (std::uint32_t sem = env->sem_first; sem <= env->sem_last; ++sem) {
    auto r = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
    r.update_mode = isa::kUpdateSemWrite;
    r.update_index = static_cast<std::uint8_t>(sem);
    append(out, r);
  }
  return NRTP_OK;
}

// Form 2.30. The image of the POOL library is placed by the core; without one
// there is nothing to load.
int library(const ArchFacts& f, const nrtp_ib_env* env, std::uint32_t operation, nrtp_ibuf* out) {
  if (!f.steps.library || env->form != NRTP_FORM_2_30 || env->engine != NRTP_ENGINE_POOL) {
    return NRTP_OK;
  }
  if (env->ulib_bytes == 0) return NRTP_OK;
  if (int status = reserve_records(out, 1); status != NRTP_OK) return status;
  struct LibraryRecord {
    isa::Header h;
    std::uint32_t operation;
    std::uint64_t address;
    std::uint32_t r0;
    std::uint32_t bytes;
    std::uint8_t r1[32];
  };
  static_assert(offsetof(LibraryRecord, bytes) == 28);
  auto r = isa::zero_record<LibraryRecord>(isa::kOpPoolConfig);
  r.operation = kLibraryAll | operation;
  if (operation == kLibraryLoad) {
    r.address = env->ulib_pa;
    r.bytes = env->ulib_bytes;
  }
  append(out, r);
  return NRTP_OK;
}

bool has_form(std::uint32_t mask, std::uint32_t form) {
  switch (form) {
    case NRTP_FORM_2_25:
      return (mask & NRTP_FORM_BIT_2_25) != 0;
    case NRTP_FORM_2_27:
      return (mask & NRTP_FORM_BIT_2_27) != 0;
    case NRTP_FORM_2_30:
      return (mask & NRTP_FORM_BIT_2_30) != 0;
    default:
      return false;
  }
}

}  // namespace

int append_step(const ArchFacts& f, std::uint32_t which, const nrtp_ib_env* env, nrtp_ibuf* out) {
  if (env == nullptr || out == nullptr || env->engine >= kEngines) return NRTP_INVALID;
  if (!valid_core(f, env->product, env->core) || !has_form(f.form_mask, env->form)) {
    return NRTP_INVALID;
  }
  if (reserve_records(out, 0) != NRTP_OK) return NRTP_INVALID;
  switch (which) {
    case NRTP_STEP_NX_SETUP:
      return nx_setup(f, env, out);
    case NRTP_STEP_ROUND_MODE:
      return round_mode(f, env, out);
    case NRTP_STEP_LIBRARY_LOAD:
      return library(f, env, kLibraryLoad, out);
    case NRTP_STEP_NX_CLEAR:
      return nx_clear(f, env, out);
    case NRTP_STEP_LIBRARY_CLEAR:
      return library(f, env, kLibraryClear, out);
    case NRTP_STEP_BOUND_CHECK:
      return bound_check(f, env, out);
    case NRTP_STEP_SEM_RESET:
      return semaphore_reset(f, env, out);
    case NRTP_STEP_MODEL_CONFIG:
      // FP8 conversion and background transpose: no image of a real run holds
      // such records, and the register contents are not published.
      return NRTP_OK;
    default:
      return NRTP_INVALID;
  }
}

}  // namespace opennrt::arch_common
