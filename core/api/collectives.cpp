// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include <algorithm>

#include "api/entry.h"
#include "collectives/communicators.h"
#include "trace/trace.h"

using namespace opennrt;
using namespace opennrt::api;
using collectives::Context;

extern "C" {

NRT_STATUS nrt_build_global_comm(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count) {
  return guarded(__func__, [&](Session& s) {
    return s.communicators().build(Context::kModels, vnc, {g_device_id, g_device_count});
  });
}

NRT_STATUS nrt_cc_global_comm_init(uint32_t vnc, uint32_t g_device_id, uint32_t g_device_count) {
  return guarded(__func__, [&](Session& s) {
    return s.communicators().build(Context::kHost, vnc, {g_device_id, g_device_count});
  });
}

NRT_STATUS nrt_cc_create_stream(uint32_t stream_id) {
  return unguarded(__func__, [&]() -> Status {
    collectives::create_stream(stream_id);
    return {};
  });
}

NRT_STATUS nrt_barrier(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count) {
  return guarded(__func__, [&](Session& s) {
    const trace::Span span(trace::EventType::kEncBarrier, trace::core_or_first(vnc), {g_device_id});
    return s.communicators().barrier(vnc, {g_device_id, g_device_count});
  });
}

NRT_STATUS nrt_all_gather(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count,
                          uint32_t rank_input_size, void* input, void* output) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(input, "input"));
    ONRT_TRY(require(output, "output"));
    return s.communicators().all_gather(vnc, {g_device_id, g_device_count}, rank_input_size, input,
                                        output);
  });
}

void* nrt_get_libnccl_net(int* err, char* err_msg, size_t err_msg_size) {
  constexpr char kReason[] =
      "network plugins of a collectives library are not supported by this runtime";
  unguarded(__func__, [&]() -> Status {
    if (err != nullptr) *err = NRT_FAILURE;
    if (err_msg != nullptr && err_msg_size != 0) {
      const size_t n = std::min(err_msg_size - 1, sizeof kReason - 1);
      memcpy(err_msg, kReason, n);
      err_msg[n] = '\0';
    }
    return {};
  });
  return nullptr;
}

}  // extern "C"
