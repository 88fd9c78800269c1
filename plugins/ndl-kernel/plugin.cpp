// SPDX-License-Identifier: Apache-2.0
//
// Driver layer for current drivers: the newest form of every request and no
// fallback. A driver that lacks one of them is refused by probe.
#include "ndl-common/ops.h"

namespace {

namespace ndl = opennrt::ndl;

constexpr ndl::Policy kPolicy = {
    .name = "ndl-kernel", .drives_older = false, .alloc = nullptr, .board_info = nullptr};

int attach(const nrtp_host* host, const nrtp_sys_port* port, void* port_ctx, void** ctx) noexcept {
  return ndl::attach(host, port, port_ctx, kPolicy, ctx);
}

constexpr nrtp_ndl_ops kOps = {
    .head = NRTP_HEAD_INIT(nrtp_ndl_ops, NDL, OPENNRT_VERSION),
    .name = kPolicy.name,
    .window_min = 6,  // arch 2: id 6; arch 3 and 4: ids 10 and 11
    .window_max = 11,
    .attach = attach,
    .detach = ndl::detach,
    .caps = ndl::caps,
    .probe = &ndl::kProbeOps,
    .device = &ndl::kDeviceOps,
    .reg = &ndl::kRegOps,
    .mem = &ndl::kMemOps,
    .copy = &ndl::kCopyOps,
    .dma = &ndl::kDmaOps,
    .sync = &ndl::kSyncOps,
    .nq = &ndl::kNqOps,
    .life = &ndl::kLifeOps,
    .share = &ndl::kShareOps,
    .pod = &ndl::kPodOps,
    .misc = &ndl::kMiscOps,
};

}  // namespace

extern "C" NRTP_EXPORT const nrtp_ndl_ops* nrtp_ndl_query(uint32_t host_major,
                                                          uint32_t host_minor) {
  (void)host_minor;
  return host_major == NRTP_NDL_ABI_MAJOR ? &kOps : nullptr;
}
