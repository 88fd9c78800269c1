/* SPDX-License-Identifier: Apache-2.0
 *
 * Debug stream: what programs send for debugging. One client per logical core,
 * in the same process. Events before the connection are lost, and those beyond
 * the buffer of NEURON_RT_DEBUG_STREAM_BUFFER_SIZE events. A stream is used by
 * one thread at a time. Guarded like the functions of nrt.h.
 */
#ifndef NRT_NDEBUG_STREAM_H
#define NRT_NDEBUG_STREAM_H

#include <stdint.h>

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ndebug_stream_event_type NRT_ENUM_BASE {
  NDEBUG_STREAM_EVENT_TYPE_INVALID = 0,
  NDEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ = 1
} ndebug_stream_event_type_t;

/* Comes with every event. */
typedef struct ndebug_stream_event_header {
  uint64_t data_size; /* bytes of the payload */
  uint32_t type;      /* ndebug_stream_event_type_t */
  char reserved[52];
} ndebug_stream_event_header_t;

/* Payload of NDEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ. */
typedef struct ndebug_stream_payload_debug_tensor_read {
  char prefix[512]; /* text of the program, NUL-terminated */
  uint32_t logical_nc_id;
  uint32_t pipe;
  char tensor_dtype[16];     /* name of the type */
  uint64_t tensor_shape[8];  /* unused dimensions are 0 */
  uint64_t tensor_data_size; /* bytes of tensor_data */
  char reserved0[416];
  char tensor_data[];
} ndebug_stream_payload_debug_tensor_read_t;

/* Opens the event stream of a logical core: a descriptor that polls readable while events are
 * queued. NRT_INVALID: NULL, no such core, or it has a client. */
NRT_STATUS nrt_debug_client_connect(int logical_nc_idx, int* stream_fd);

/* Drops queued events and closes the descriptor; an unknown one is ignored. */
void nrt_debug_client_connect_close(int stream_fd);

/* Takes the oldest event. *payload has header->data_size bytes and is the caller's to free().
 * NRT_QUEUE_EMPTY: none. NRT_INVALID: NULL or no stream of ours. */
NRT_STATUS nrt_debug_client_read_one_event(int stream_fd, ndebug_stream_event_header_t* header,
                                           void** payload);

#ifdef __cplusplus
}
#endif

#endif /* NRT_NDEBUG_STREAM_H */
