// SPDX-License-Identifier: Apache-2.0
#include "detect.h"

#include <iterator>

#include "opennrt/arch.h"

namespace opennrt::ndl::compat {
namespace {

// What is done instead, by Op.
constexpr const char* kInstead[] = {
    "this driver has no MEM_MC_GET_INFO_V2: chunks are looked up with MEM_MC_GET_INFO and come "
    "without a handle",
    "this driver has no GET_VA_PLACEMENT: addresses are looked up among the mappings of this "
    "process",
    "this driver or silicon has no MEM_BUF_ZEROCOPY64: copies go through a buffer of the driver",
    "this driver or silicon has no MEM_BUF_ZEROCOPY64_BATCHES: one request for each copy",
    "this driver has no NOTIFICATIONS_INIT_WITH_REALLOC_V2: notification queues keep the memory "
    "they have",
    "this driver has no H2T_DMA_ALLOC_QUEUES: each core has its default copy queue only",
    "this driver has no DEVICE_BASIC_INFO: the board is asked for with DEVICE_INFO",
    "this driver or silicon has no GET_LOGICAL_TO_PHYSICAL_NC_MAP: cores keep their order",
    "this driver has no HBM_SCRUB_START: device memory is not scrubbed",
    "this driver has no PRINTK: lines for the kernel log are dropped",
    "this driver has no POD_INFO: the machine stands alone",
    "this driver has no POD_STATUS_V2: pod modes are unknown",
    "this driver has no POD_STATUS: the machine stands alone",
    "this driver has no POD_CTRL_V2: pod modes cannot be set",
};
static_assert(std::size(kInstead) == static_cast<size_t>(Op::kCount));

}  // namespace

void latch(Context& ndl, Op op) noexcept {
  const uint64_t bit = uint64_t{1} << static_cast<uint32_t>(op);
  if (ndl.old_forms.fetch_or(bit, std::memory_order_acq_rel) & bit) return;
  ndl.tell_incompatible(kInstead[static_cast<size_t>(op)]);
}

int has_feature(Context& ndl, uint32_t bit, bool* out) noexcept {
  uint64_t word = 0;
  if (const int error = ndl.feature_word(&word)) return error;
  *out = word >> bit & 1;
  return 0;
}

const nrtp_arch_plugin* arch_table(const Context& ndl, uint32_t arch) noexcept {
  const nrtp_host* host = ndl.host;
  if (host->size < offsetof(nrtp_host, arch) + sizeof host->arch || !host->arch) return nullptr;
  return host->arch(host->self, arch);
}

}  // namespace opennrt::ndl::compat
