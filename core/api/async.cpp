// SPDX-License-Identifier: Apache-2.0
#include "api/entry.h"
#include "api/model_handle.h"
#include "nrt/nrt_async.h"

using namespace opennrt;
using namespace opennrt::api;

namespace {

// Guarded, with what every request needs.
template <typename Body>
NRT_STATUS schedule(const char* name, const NRT_STATUS* ret, const nrta_seq_t* req_sequence,
                    Body&& body) {
  return guarded(name, [&](Session& s) -> Status {
    ONRT_TRY(s.explicit_async());
    ONRT_TRY(require(ret, "ret"));
    ONRT_TRY(require(req_sequence, "req_sequence"));
    return body(s.manager().async());
  });
}

}  // namespace

extern "C" {

NRT_STATUS nrta_tensor_write(nrt_tensor_t* tensor, const void* buf, uint64_t offset, uint64_t size,
                             int lnc_idx, int queue, NRT_STATUS* ret, nrta_seq_t* req_sequence) {
  return schedule(__func__, ret, req_sequence, [&](kmgr::AsyncEngine& async) -> Status {
    ONRT_TRY(require(tensor, "tensor"));
    ONRT_TRY(require(buf, "buf"));
    return async.write(handle_of(tensor), buf, offset, size, lnc_idx, queue, ret, req_sequence);
  });
}

NRT_STATUS nrta_tensor_read(void* buf, nrt_tensor_t* tensor, uint64_t offset, uint64_t size,
                            int lnc_idx, int queue, NRT_STATUS* ret, nrta_seq_t* req_sequence) {
  return schedule(__func__, ret, req_sequence, [&](kmgr::AsyncEngine& async) -> Status {
    ONRT_TRY(require(buf, "buf"));
    ONRT_TRY(require(tensor, "tensor"));
    return async.read(handle_of(tensor), buf, offset, size, lnc_idx, queue, ret, req_sequence);
  });
}

NRT_STATUS nrta_tensor_copy(nrt_tensor_t* src, uint64_t src_offset, nrt_tensor_t* dst,
                            uint64_t dst_offset, uint64_t size, int lnc_idx, int queue,
                            NRT_STATUS* ret, nrta_seq_t* req_sequence) {
  return schedule(__func__, ret, req_sequence, [&](kmgr::AsyncEngine& async) -> Status {
    ONRT_TRY(require(src, "src"));
    ONRT_TRY(require(dst, "dst"));
    return async.copy(handle_of(src), src_offset, handle_of(dst), dst_offset, size, lnc_idx, queue,
                      ret, req_sequence);
  });
}

NRT_STATUS nrta_execute_schedule(nrt_model_t* model, const nrt_tensor_set_t* input,
                                 nrt_tensor_set_t* output, int queue, NRT_STATUS* ret,
                                 nrta_seq_t* req_sequence) {
  return schedule(__func__, ret, req_sequence, [&](kmgr::AsyncEngine& async) -> Status {
    ONRT_TRY(require(model, "model"));
    ONRT_TRY(require(input, "input"));
    ONRT_TRY(require(output, "output"));
    return async.execute(model_of_handle(model), handle_of(input), handle_of(output), queue, ret,
                         req_sequence);
  });
}

NRT_STATUS nrta_is_completed(nrta_seq_t seq, bool* is_completed) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(s.explicit_async());
    ONRT_TRY(require(is_completed, "is_completed"));
    return s.manager().async().is_completed(seq, is_completed);
  });
}

NRT_STATUS nrta_get_sequence(uint32_t lnc, nrta_xu_t xu, int queue, nrta_seq_t* seq) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(s.explicit_async());
    ONRT_TRY(require(seq, "seq"));
    return s.manager().async().last_completed(lnc, static_cast<uint32_t>(xu), queue, seq);
  });
}

NRT_STATUS nrta_event_register_seq_id_completion(nrta_seq_t seq, int fd) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(s.explicit_async());
    return s.manager().async().notify_request(seq, fd);
  });
}

NRT_STATUS nrta_event_register_xu_completion(int lnc, nrta_xu_t xu, int queue, int fd) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(s.explicit_async());
    return s.manager().async().notify_unit(static_cast<uint32_t>(lnc), static_cast<uint32_t>(xu),
                                           queue, fd);
  });
}

}  // extern "C"
