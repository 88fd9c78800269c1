// SPDX-License-Identifier: Apache-2.0
#include "api/entry.h"
#include "api/model_handle.h"
#include "collectives/communicators.h"
#include "collectives/unsupported.h"
#include "kmgr/collective.h"
#include "nrt/nrt_async.h"
#include "trace/trace.h"

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

Status check_operation(const nrt_cc_comm_t& comm, nrt_op_type_t op, nrt_cc_op_type_t cc_op) {
  if (cc_op != NRT_CC_ALLGATHER && cc_op != NRT_CC_ALLREDUCE && cc_op != NRT_CC_REDUCESCATTER)
    return Status::invalid("cc_op is {}, must be 0 to 2", static_cast<int>(cc_op));
  if (cc_op != NRT_CC_ALLGATHER && op != NRT_OP_ADD && op != NRT_OP_MAX && op != NRT_OP_MIN)
    return Status::invalid("op is {}, a reduction needs ADD, MAX or MIN", static_cast<int>(op));
  if (comm.rank_n == 0 || comm.rank >= comm.rank_n || comm.replica_group == nullptr)
    return Status::invalid("comm: rank {} of {} in replica_group {}", comm.rank, comm.rank_n,
                           static_cast<const void*>(comm.replica_group));
  if (comm.rank_n != 1) return collectives::unsupported(collectives::kSeveralRanks);
  return {};
}

Result<nrt_cc_context_t*> prepare(Session& s, const nrt_cc_comm_t& comm,
                                  const nrt_tensor_list_t& input, const nrt_tensor_list_t& output,
                                  nrt_dtype_t dtype, nrt_op_type_t op, nrt_cc_op_type_t cc_op) {
  if (comm.vnc >= s.visible_cores())
    return Status::invalid("comm: vnc {}: this process has the logical cores 0 to {}", comm.vnc,
                           s.visible_cores() - 1);
  ONRT_TRY(check_operation(comm, op, cc_op));
  const trace::Span span(
      trace::EventType::kCcPrepare, comm.vnc,
      {comm.ctx_device_id, comm.ctx_device_count, static_cast<std::uint64_t>(cc_op)});
  if (!s.communicators().find(collectives::Context::kHost, comm.vnc))
    return Status::failure(
        "logical core {} has no communicator; call nrt_cc_global_comm_init first", comm.vnc);
  if (input.num_tensors != output.num_tensors || input.num_tensors == 0)
    return Status::invalid("{} input and {} output tensors, as many of both are needed",
                           input.num_tensors, output.num_tensors);
  ONRT_TRY(require(input.tensors, "input->tensors"));
  ONRT_TRY(require(output.tensors, "output->tensors"));
  auto operation = std::make_unique<kmgr::Collective>();
  operation->logical_core = comm.vnc;
  operation->context_rank = comm.ctx_device_id;
  operation->context_ranks = comm.ctx_device_count;
  operation->dtype = dtype;
  for (size_t i = 0; i < input.num_tensors; ++i) {
    operation->inputs.push_back(handle_of(input.tensors[i]));
    operation->outputs.push_back(handle_of(output.tensors[i]));
  }
  ONRT_ASSIGN(const std::uintptr_t handle, s.manager().async().prepare(std::move(operation)));
  return reinterpret_cast<nrt_cc_context_t*>(handle);
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

NRT_STATUS nrta_cc_prepare(nrt_cc_comm_t* comm, nrt_tensor_list_t* input, nrt_tensor_list_t* output,
                           nrt_dtype_t dtype, nrt_op_type_t op, nrt_cc_op_type_t cc_op,
                           nrt_cc_context_t** cc_ctx) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(s.explicit_async());
    ONRT_TRY(require(cc_ctx, "cc_ctx"));
    *cc_ctx = nullptr;
    ONRT_TRY(require(comm, "comm"));
    ONRT_TRY(require(input, "input"));
    ONRT_TRY(require(output, "output"));
    ONRT_ASSIGN(*cc_ctx, prepare(s, *comm, *input, *output, dtype, op, cc_op));
    return {};
  });
}

NRT_STATUS nrta_cc_schedule(nrt_cc_context_t** cc_ctx, int queue, NRT_STATUS* ret,
                            nrta_seq_t* req_sequence) {
  return schedule(__func__, ret, req_sequence, [&](kmgr::AsyncEngine& async) -> Status {
    ONRT_TRY(require(cc_ctx, "cc_ctx"));
    ONRT_TRY(require(*cc_ctx, "*cc_ctx"));
    std::uintptr_t prepared = handle_of(*cc_ctx);
    Status queued = async.schedule(&prepared, queue, ret, req_sequence);
    *cc_ctx = reinterpret_cast<nrt_cc_context_t*>(prepared);
    return queued;
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
