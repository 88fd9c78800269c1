// SPDX-License-Identifier: Apache-2.0
//
// What the operations of a pod take from its status. How the status is read is
// what plugins differ in.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "ndl-common/requests.h"

namespace opennrt::ndl {

// kRead: fills the status, 0 or -errno.
template <int (*kRead)(void* ctx, ndl_pod_status* out) noexcept>
struct PodAnswers {
  static int election_state(void* ctx, uint32_t* out_state) noexcept {
    ndl_pod_status arg;
    if (const int error = kRead(ctx, &arg)) return error;
    if (!out_state) return -EINVAL;
    *out_state = arg.v1.state;
    return 0;
  }

  static int mapping_info(void* ctx, int32_t* out_node_id) noexcept {
    ndl_pod_status arg;
    if (const int error = kRead(ctx, &arg)) return error;
    if (!out_node_id) return -EINVAL;
    *out_node_id = arg.v1.node_id;
    return 0;
  }

  // out_pod_id: 256 bytes. Any out pointer may be null.
  static int status(void* ctx, uint8_t* out_pod_id, uint32_t* out_state, uint32_t* out_type,
                    uint32_t* out_size, int32_t* out_node_id, uint32_t* out_mode,
                    uint32_t* out_modes) noexcept {
    ndl_pod_status arg;
    if (const int error = kRead(ctx, &arg)) return error;
    if (out_pod_id) std::memcpy(out_pod_id, arg.v1.pod_id, sizeof arg.v1.pod_id);
    if (out_state) *out_state = arg.v1.state;
    if (out_type) *out_type = arg.v1.type;
    if (out_size) *out_size = arg.v1.nodes;
    if (out_node_id) *out_node_id = arg.v1.node_id;
    if (out_mode) *out_mode = arg.mode;
    if (out_modes) *out_modes = arg.modes;
    return 0;
  }
};

}  // namespace opennrt::ndl
