// SPDX-License-Identifier: Apache-2.0
//
// How an older driver is recognised: by feature bits, and for operations
// without a bit by -EINVAL once the older form has worked.
#pragma once

#include "ndl-common/ops.h"

namespace opennrt::ndl::compat {

// Operations that are found out by calling. The value is the bit in
// Context::old_forms.
enum class Op : uint32_t {
  kChunkInfo,
  kPlacement,
  kZerocopy,
  kBatch,
  kNqInit,
  kHostQueues,
  kBoardInfo,
  kCoreMap,
  kScrub,
  kPrintk,
  kPodInfo,
  kPodStatus,   // the first form of the request
  kNoPod,       // neither form
  kPodControl,  // the first form of the request
  kCount
};

inline bool is_old(const Context& ndl, Op op) noexcept {
  return ndl.old_forms.load(std::memory_order_acquire) >> static_cast<uint32_t>(op) & 1;
}
// From now on the old way. The first caller says so, once.
void latch(Context& ndl, Op op) noexcept;

// Whether the driver has the feature. 0 or -errno.
int has_feature(Context& ndl, uint32_t bit, bool* out) noexcept;

// Value of a 32-bit field. False: it does not fit.
inline bool fits(uint64_t value, uint32_t* out) noexcept {
  *out = static_cast<uint32_t>(value);
  return value <= UINT32_MAX;
}

// Table of the silicon, from the host services; null: none is known.
const nrtp_arch_plugin* arch_table(const Context& ndl, uint32_t arch) noexcept;

// --- what replaces the operations of ndl-common, by group

int alloc_memory(Context& ndl, const Target& target, ndl_mem_alloc_v2mt64& arg) noexcept;
int read_board_info(Context& ndl, ndl_board_info* out) noexcept;

nrtp_ndl_device device_ops() noexcept;
nrtp_ndl_mem mem_ops() noexcept;
nrtp_ndl_copy copy_ops() noexcept;
nrtp_ndl_dma dma_ops() noexcept;
nrtp_ndl_nq nq_ops() noexcept;
nrtp_ndl_life life_ops() noexcept;
nrtp_ndl_share share_ops() noexcept;
nrtp_ndl_pod pod_ops() noexcept;
nrtp_ndl_misc misc_ops() noexcept;

}  // namespace opennrt::ndl::compat
