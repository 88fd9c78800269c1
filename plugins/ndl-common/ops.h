// SPDX-License-Identifier: Apache-2.0
//
// The operations of the NDL table, each sending the newest form of its request
// and nothing else. A plugin takes the groups as they are, or copies one and
// replaces members:
//
//   const nrtp_ndl_copy kCopy = [] {
//     nrtp_ndl_copy group = ndl::kCopyOps;
//     group.batch = my_batch;
//     return group;
//   }();
#pragma once

#include "ndl-common/context.h"
#include "opennrt/ndl.h"

namespace opennrt::ndl {

// attach of every plugin: `policy` must outlive the context.
int attach(const nrtp_host* host, const nrtp_sys_port* port, void* port_ctx, const Policy& policy,
           void** out_ctx) noexcept;
void detach(void* ctx) noexcept;
uint64_t caps(void* ctx) noexcept;

extern const nrtp_ndl_probe kProbeOps;
extern const nrtp_ndl_device kDeviceOps;
extern const nrtp_ndl_reg kRegOps;
extern const nrtp_ndl_mem kMemOps;
extern const nrtp_ndl_copy kCopyOps;
extern const nrtp_ndl_dma kDmaOps;
extern const nrtp_ndl_sync kSyncOps;
extern const nrtp_ndl_nq kNqOps;
extern const nrtp_ndl_life kLifeOps;
extern const nrtp_ndl_share kShareOps;
extern const nrtp_ndl_pod kPodOps;
extern const nrtp_ndl_misc kMiscOps;

}  // namespace opennrt::ndl
