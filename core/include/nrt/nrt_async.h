/* SPDX-License-Identifier: Apache-2.0
 *
 * Explicit asynchronous API. A unit is one (logical core, type, queue); its
 * requests start and complete in the order of submission, there is no order
 * between units.
 *
 * A schedule call returns once the request is queued: its status tells about
 * acceptance only. *ret is written once, before the request counts as completed,
 * and is left alone when the call fails. Tensors, sets, models, buffers and *ret
 * must live until completion.
 *
 * Guarded like the functions of nrt.h; besides NRT_FAILURE while the implicit
 * asynchronous mode is on. NRT_INVALID: NULL, a queue or core that does not
 * exist, a range outside the tensor, a host tensor. NRT_QUEUE_FULL: nothing was
 * queued, try again after a completion. NRT_EXEC_UNIT_UNRECOVERABLE: the unit is
 * dead until the runtime restarts.
 */
#ifndef NRT_NRT_ASYNC_H
#define NRT_NRT_ASYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NRTA_SEQ_NUM_MAX 0xFFFFFFFFFFFFull
#define NRTA_SEQ_NUM_MASK 0xFFFFFFFFFFFFull
#define NRTA_SEQ_GET_SEQ_NUM(seq_id) ((seq_id) & NRTA_SEQ_NUM_MASK)
#define NRTA_SEQ_GET_XU_ID(seq_id) ((seq_id) >> 48)

/* Number of a request: bits 63 to 56 logical core, 55 to 52 queue, 51 to 48 type of the unit, 47
 * to 0 a number that counts from 1. Numbers of one unit compare as integers. */
typedef uint64_t nrta_seq_t;
/* The upper 16 bits of nrta_seq_t. */
typedef uint16_t nrta_xu_id_t;

/* Execution units of a logical core and what they run: tensor transfers on 2 queues, executions
 * on 1, collectives on 3. */
typedef enum NRT_ENUM_BASE {
  NRTA_XU_TENSOR_OP = 0,
  NRTA_XU_COMPUTE = 1,
  NRTA_XU_COLLECTIVES = 2,
  NRTA_XU_TYPE_NUM = 3
} nrta_xu_t;

/* Queues a copy from host memory into a device tensor. buf must stay as it is until completion.
 * The DMA engine is that of logical core lnc_idx. */
NRT_STATUS nrta_tensor_write(nrt_tensor_t* tensor, const void* buf, uint64_t offset, uint64_t size,
                             int lnc_idx, int queue, NRT_STATUS* ret, nrta_seq_t* req_sequence);

/* Queues a copy from a device tensor to host memory. buf holds the data once the request has
 * completed. */
NRT_STATUS nrta_tensor_read(void* buf, nrt_tensor_t* tensor, uint64_t offset, uint64_t size,
                            int lnc_idx, int queue, NRT_STATUS* ret, nrta_seq_t* req_sequence);

/* Queues a copy between two device tensors of one HBM; NRT_INVALID for any other pair. */
NRT_STATUS nrta_tensor_copy(nrt_tensor_t* src, uint64_t src_offset, nrt_tensor_t* dst,
                            uint64_t dst_offset, uint64_t size, int lnc_idx, int queue,
                            NRT_STATUS* ret, nrta_seq_t* req_sequence);

/* Queues one execution on the compute queue of the model's core (queue is 0). Names, sizes and
 * cores of the sets are checked here, with the statuses of nrt_execute; host tensors are
 * NRT_INVALID. */
NRT_STATUS nrta_execute_schedule(nrt_model_t* model, const nrt_tensor_set_t* input,
                                 nrt_tensor_set_t* output, int queue, NRT_STATUS* ret,
                                 nrta_seq_t* req_sequence);

/* Builds a collective operation over the tensors of both lists, or finds the one built before
 * for equal content. nrt_cc_global_comm_init comes first. *cc_ctx belongs to the caller until
 * nrta_cc_schedule takes it. */
NRT_STATUS nrta_cc_prepare(nrt_cc_comm_t* comm, nrt_tensor_list_t* input, nrt_tensor_list_t* output,
                           nrt_dtype_t dtype, nrt_op_type_t op, nrt_cc_op_type_t cc_op,
                           nrt_cc_context_t** cc_ctx);

/* Queues a prepared collective on queue 0 to 2. On success it takes the context and sets *cc_ctx
 * to NULL. */
NRT_STATUS nrta_cc_schedule(nrt_cc_context_t** cc_ctx, int queue, NRT_STATUS* ret,
                            nrta_seq_t* req_sequence);

/* Whether the request has completed. NRT_INVALID: no such unit, or a number that was never given
 * out. */
NRT_STATUS nrta_is_completed(nrta_seq_t seq, bool* is_completed);

/* Last completed request of a unit; number 0 before the first one. */
NRT_STATUS nrta_get_sequence(uint32_t lnc, nrta_xu_t xu, int queue, nrta_seq_t* seq);

/* --- later additions of the same version node --- */

/* Adds 1 to the caller's eventfd once the request has completed, at once if it has already. A
 * negative fd takes the registration back. */
NRT_STATUS nrta_event_register_seq_id_completion(nrta_seq_t seq, int fd);

/* Adds 1 to the caller's eventfd whenever a request of the unit completes. A negative fd takes
 * the registration back. */
NRT_STATUS nrta_event_register_xu_completion(int lnc, nrta_xu_t xu, int queue, int fd);

#ifdef __cplusplus
}
#endif

#endif /* NRT_NRT_ASYNC_H */
