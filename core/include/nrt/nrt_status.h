/* SPDX-License-Identifier: Apache-2.0
 *
 * Status codes of the runtime. Values are part of the ABI.
 */
#ifndef NRT_NRT_STATUS_H
#define NRT_NRT_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Any value of the underlying type may come from a C caller: in C++ the type is
 * fixed, so that such a value is merely unknown. Same size and ABI in C. */
#ifdef __cplusplus
#define NRT_ENUM_BASE : unsigned int
#else
#define NRT_ENUM_BASE
#endif

typedef enum NRT_ENUM_BASE {
  NRT_SUCCESS = 0,
  NRT_FAILURE = 1,        /* no better code; any call in a forked child */
  NRT_INVALID = 2,        /* bad argument, model file, configuration or environment */
  NRT_INVALID_HANDLE = 3, /* unknown model handle */
  NRT_RESOURCE = 4,       /* memory, queue or descriptor space exhausted */
  NRT_TIMEOUT = 5,        /* execution longer than NEURON_RT_EXEC_TIMEOUT */
  NRT_HW_ERROR = 6,       /* hardware fault without a better code */
  NRT_QUEUE_FULL = 7,     /* submission queue full; retry after a completion */
  NRT_LOAD_NOT_ENOUGH_NC = 9,
  NRT_UNSUPPORTED_NEFF_VERSION = 10,
  NRT_FAIL_HOST_MEM_ALLOC = 11, /* deprecated: NRT_RESOURCE is returned instead */
  NRT_UNINITIALIZED = 13,       /* nrt_init has not been called */
  NRT_CLOSED = 14,              /* nrt_close is running */
  NRT_QUEUE_EMPTY = 15,
  NRT_EXEC_UNIT_UNRECOVERABLE = 101, /* execution unit dead until the runtime restarts */
  NRT_EXEC_BAD_INPUT = 1002,         /* tensor missing, too small or on another core */
  NRT_EXEC_COMPLETED_WITH_NUM_ERR = 1003,
  NRT_EXEC_COMPLETED_WITH_ERR = 1004,
  NRT_EXEC_NC_BUSY = 1005,
  NRT_EXEC_OOB = 1006,
  NRT_COLL_PENDING = 1100, /* not an error: poll again */
  NRT_EXEC_HW_ERR_COLLECTIVES = 1200,
  NRT_EXEC_HW_ERR_HBM_UE = 1201,
  NRT_EXEC_HW_ERR_NC_UE = 1202,
  NRT_EXEC_HW_ERR_DMA_ABORT = 1203,
  NRT_EXEC_SW_NQ_OVERFLOW = 1204,
  NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE = 1205,
  NRT_NETWORK_PROXY_FAILURE = 1206
} NRT_STATUS;

/* The identifier of the code, e.g. "NRT_INVALID"; "UNKNOWN" for any other
 * number. Callable always. Not exported from the shared library. */
const char* nrt_get_status_as_str(NRT_STATUS status);

#ifdef __cplusplus
}
#endif

#endif /* NRT_NRT_STATUS_H */
