// SPDX-License-Identifier: Apache-2.0
#include "api/entry.h"
#include "collectives/send_recv.h"
#include "nrt/nrt_async_sendrecv.h"

using namespace opennrt;
using namespace opennrt::api;
using collectives::SendRecv;

namespace {

// NRT_FAILURE outside of INIT, whatever the state, and for NULL.
template <typename Body>
NRT_STATUS transfer_call(const char* name, Body&& body) noexcept {
  const Entry entry;
  if (!entry) {
    log_rejection(name, entry.seen());
    return NRT_FAILURE;
  }
  log_call(name, "API:IN", NRT_SUCCESS);
  const NRT_STATUS code =
      run(name, [&] { return std::forward<Body>(body)(session().send_recv()); });
  log_call(name, "API:OUT", code);
  return code;
}

Status need(const void* pointer, const char* argument) {
  return pointer != nullptr ? Status() : Status::failure("{} is NULL", argument);
}

// Both settings are needed: transfers are experimental.
Status check_enabled(const config::Config& config) {
  if (!config.flag(config::Key::kCcSendrecvEnabled))
    return Status::failure(
        "asynchronous transfers are off; set cc.sendrecv.enabled "
        "(NEURON_RT_ASYNC_SENDRECV_EXPERIMENTAL_ENABLED=1) before nrt_init");
  if (!config.is_set(config::Key::kCcSendrecvPort))
    return Status::failure(
        "cc.sendrecv.port is not set; set NEURON_RT_ASYNC_SENDRECV_BOOTSTRAP_PORT or the key "
        "before "
        "nrt_init");
  return {};
}

Status limit(int* out, int value) {
  ONRT_TRY(need(out, "num"));
  *out = value;
  return {};
}

NRT_STATUS begin(const char* name, SendRecv::Role role, const char* peer_ip, int peer_lnc, int lnc,
                 nrt_async_sendrecv_comm_t** communicator) {
  return transfer_call(name, [&](SendRecv& engine) -> Status {
    ONRT_TRY(need(communicator, "communicator"));
    *communicator = nullptr;
    ONRT_TRY(need(peer_ip, "peer_ip"));
    ONRT_ASSIGN(const std::uintptr_t made, engine.connect(role, peer_ip, peer_lnc, lnc));
    *communicator = reinterpret_cast<nrt_async_sendrecv_comm_t*>(made);
    return {};
  });
}

NRT_STATUS post(const char* name, SendRecv::Role role, nrt_tensor_t* tensor, size_t offset,
                size_t length, nrt_async_sendrecv_comm_t* communicator,
                nrt_async_sendrecv_request_t** request) {
  return transfer_call(name, [&](SendRecv& engine) -> Status {
    ONRT_TRY(need(request, "request"));
    *request = nullptr;
    ONRT_TRY(need(tensor, "tensor"));
    ONRT_TRY(need(communicator, "communicator"));
    ONRT_ASSIGN(const std::uintptr_t made,
                engine.post(role, handle_of(communicator), handle_of(tensor), offset, length));
    *request = reinterpret_cast<nrt_async_sendrecv_request_t*>(made);
    return {};
  });
}

}  // namespace

extern "C" {

NRT_STATUS nrt_async_sendrecv_get_max_num_communicators_per_lnc(int* num) {
  return transfer_call(__func__, [&](SendRecv&) { return limit(num, SendRecv::kCommunicators); });
}

NRT_STATUS nrt_async_sendrecv_get_max_num_pending_request(int* num) {
  return transfer_call(__func__, [&](SendRecv&) { return limit(num, SendRecv::kPending); });
}

NRT_STATUS nrt_async_sendrecv_init(int lnc) {
  return transfer_call(__func__, [&](SendRecv& engine) -> Status {
    ONRT_TRY(check_enabled(session().config()));
    return engine.open(lnc);
  });
}

NRT_STATUS nrt_async_sendrecv_close(int lnc) {
  return transfer_call(__func__, [&](SendRecv& engine) { return engine.close(lnc); });
}

NRT_STATUS nrt_async_sendrecv_connect(const char* peer_ip, int peer_lnc, int lnc,
                                      nrt_async_sendrecv_comm_t** send_comm) {
  return begin(__func__, SendRecv::Role::kSender, peer_ip, peer_lnc, lnc, send_comm);
}

NRT_STATUS nrt_async_sendrecv_accept(const char* peer_ip, int peer_lnc, int lnc,
                                     nrt_async_sendrecv_comm_t** recv_comm) {
  return begin(__func__, SendRecv::Role::kReceiver, peer_ip, peer_lnc, lnc, recv_comm);
}

NRT_STATUS nrt_async_sendrecv_test_comm(nrt_async_sendrecv_comm_t* comm, bool* done) {
  return transfer_call(__func__, [&](SendRecv& engine) -> Status {
    ONRT_TRY(need(done, "done"));
    ONRT_ASSIGN(*done, engine.connected(handle_of(comm)));
    return {};
  });
}

NRT_STATUS nrt_async_sendrecv_send_tensor(nrt_tensor_t* tensor, size_t offset, size_t length,
                                          nrt_async_sendrecv_comm_t* send_comm,
                                          nrt_async_sendrecv_request_t** request) {
  return post(__func__, SendRecv::Role::kSender, tensor, offset, length, send_comm, request);
}

NRT_STATUS nrt_async_sendrecv_recv_tensor(nrt_tensor_t* tensor, size_t offset, size_t length,
                                          nrt_async_sendrecv_comm_t* recv_comm,
                                          nrt_async_sendrecv_request_t** request) {
  return post(__func__, SendRecv::Role::kReceiver, tensor, offset, length, recv_comm, request);
}

NRT_STATUS nrt_async_sendrecv_test_request(nrt_async_sendrecv_request_t* request, bool* done,
                                           size_t* size) {
  return transfer_call(__func__, [&](SendRecv& engine) -> Status {
    ONRT_TRY(need(done, "done"));
    ONRT_TRY(need(size, "size"));
    ONRT_ASSIGN(const SendRecv::Progress progress, engine.test(handle_of(request)));
    *done = progress.done;
    *size = progress.bytes;
    return {};
  });
}

NRT_STATUS nrt_async_sendrecv_flush(int lnc) {
  return transfer_call(__func__, [&](SendRecv& engine) { return engine.flush(lnc); });
}

}  // extern "C"
