/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensor transfers between processes. Logical cores are counted over the whole
 * host, 0 to 127, whatever is visible to this process. Messages of one
 * communicator arrive in the order they were posted; completion is found out by
 * polling.
 *
 * Needs the environment variables
 * NEURON_RT_ASYNC_SENDRECV_EXPERIMENTAL_ENABLED=1 and
 * NEURON_RT_ASYNC_SENDRECV_BOOTSTRAP_PORT. NRT_FAILURE without
 * nrt_async_sendrecv_init of the core, and wherever nothing else is said.
 */
#ifndef NRT_NRT_ASYNC_SENDRECV_H
#define NRT_NRT_ASYNC_SENDRECV_H

#include <stdbool.h>
#include <stddef.h>

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One end of a connection between two logical cores. */
typedef struct nrt_async_sendrecv_comm nrt_async_sendrecv_comm_t;
/* A transfer under way. */
typedef struct nrt_async_sendrecv_request nrt_async_sendrecv_request_t;

/* Communicators that one logical core can have. NRT_FAILURE: num is NULL. */
NRT_STATUS nrt_async_sendrecv_get_max_num_communicators_per_lnc(int* num);

/* Requests that one communicator can have under way. NRT_FAILURE: num is NULL. */
NRT_STATUS nrt_async_sendrecv_get_max_num_pending_request(int* num);

/* Prepares a logical core for transfers. NRT_FAILURE: the feature is not enabled in the
 * environment, lnc is out of range or already prepared. */
NRT_STATUS nrt_async_sendrecv_init(int lnc);

/* Frees all communicators and requests of the core. NRT_FAILURE, with everything freed, when a
 * communicator never connected or a request is still under way. */
NRT_STATUS nrt_async_sendrecv_close(int lnc);

/* Creates the sending end towards a peer and begins to connect; returns at once. NRT_RESOURCE:
 * too many communicators. Freed by nrt_async_sendrecv_close. */
NRT_STATUS nrt_async_sendrecv_connect(const char* peer_ip, int peer_lnc, int lnc,
                                      nrt_async_sendrecv_comm_t** send_comm);

/* Creates the receiving end for a peer and begins to connect; returns at once. NRT_RESOURCE: too
 * many communicators. Freed by nrt_async_sendrecv_close. */
NRT_STATUS nrt_async_sendrecv_accept(const char* peer_ip, int peer_lnc, int lnc,
                                     nrt_async_sendrecv_comm_t** recv_comm);

/* Whether the communicator is connected. NRT_INVALID_HANDLE: none of ours. NRT_TIMEOUT: the peer
 * did not show up in time. */
NRT_STATUS nrt_async_sendrecv_test_comm(nrt_async_sendrecv_comm_t* comm, bool* done);

/* Posts length bytes at offset of a tensor for sending; never blocks. NRT_INVALID_HANDLE: not
 * connected. NRT_RESOURCE: too many requests under way. NRT_FAILURE: NULL, a receiving end,
 * another core's tensor, or a range outside the tensor. */
NRT_STATUS nrt_async_sendrecv_send_tensor(nrt_tensor_t* tensor, size_t offset, size_t length,
                                          nrt_async_sendrecv_comm_t* send_comm,
                                          nrt_async_sendrecv_request_t** request);

/* Posts length bytes at offset of a tensor for receiving; never blocks. Statuses as for sending. */
NRT_STATUS nrt_async_sendrecv_recv_tensor(nrt_tensor_t* tensor, size_t offset, size_t length,
                                          nrt_async_sendrecv_comm_t* recv_comm,
                                          nrt_async_sendrecv_request_t** request);

/* Polls a request; one thread per request. *done takes the handle back: it is not to be used
 * again. *size: bytes transferred. NRT_INVALID_HANDLE: none of ours. NRT_TIMEOUT: the transfer
 * took too long. */
NRT_STATUS nrt_async_sendrecv_test_request(nrt_async_sendrecv_request_t* request, bool* done,
                                           size_t* size);

/* After return, data of received and tested messages is visible in the core's memory. */
NRT_STATUS nrt_async_sendrecv_flush(int lnc);

#ifdef __cplusplus
}
#endif

#endif /* NRT_NRT_ASYNC_SENDRECV_H */
