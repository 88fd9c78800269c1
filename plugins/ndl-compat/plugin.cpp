// SPDX-License-Identifier: Apache-2.0
//
// Driver layer for older drivers: the operations of ndl-common, those that have
// an older form replaced.
#include "detect.h"

namespace {

namespace ndl = opennrt::ndl;

constexpr ndl::Policy kPolicy = {.name = "ndl-compat",
                                 .drives_older = true,
                                 .alloc = ndl::compat::alloc_memory,
                                 .board_info = ndl::compat::read_board_info};

const nrtp_ndl_device kDevice = ndl::compat::device_ops();
const nrtp_ndl_mem kMem = ndl::compat::mem_ops();
const nrtp_ndl_copy kCopy = ndl::compat::copy_ops();
const nrtp_ndl_dma kDma = ndl::compat::dma_ops();
const nrtp_ndl_nq kNq = ndl::compat::nq_ops();
const nrtp_ndl_life kLife = ndl::compat::life_ops();
const nrtp_ndl_share kShare = ndl::compat::share_ops();
const nrtp_ndl_pod kPod = ndl::compat::pod_ops();
const nrtp_ndl_misc kMisc = ndl::compat::misc_ops();

int attach(const nrtp_host* host, const nrtp_sys_port* port, void* port_ctx, void** ctx) noexcept {
  return ndl::attach(host, port, port_ctx, kPolicy, ctx);
}

constexpr nrtp_ndl_ops kOps = {
    .head = NRTP_HEAD_INIT(nrtp_ndl_ops, NDL, OPENNRT_VERSION),
    .name = kPolicy.name,
    .window_min = 6,  // as ndl-kernel: an older window is refused, not driven
    .window_max = 11,
    .attach = attach,
    .detach = ndl::detach,
    .caps = ndl::caps,
    .probe = &ndl::kProbeOps,
    .device = &kDevice,
    .reg = &ndl::kRegOps,
    .mem = &kMem,
    .copy = &kCopy,
    .dma = &kDma,
    .sync = &ndl::kSyncOps,
    .nq = &kNq,
    .life = &kLife,
    .share = &kShare,
    .pod = &kPod,
    .misc = &kMisc,
};

}  // namespace

extern "C" NRTP_EXPORT const nrtp_ndl_ops* nrtp_ndl_query(uint32_t host_major,
                                                          uint32_t host_minor) {
  (void)host_minor;
  return host_major == NRTP_NDL_ABI_MAJOR ? &kOps : nullptr;
}
