/* SPDX-License-Identifier: Apache-2.0
 *
 * System trace: a ring of events per logical core, fetched as JSON. Usable in
 * every state; options need no device. Functions without result ignore NULL. The
 * others return NRT_INVALID for NULL unless it is allowed, and NRT_RESOURCE
 * without memory.
 */
#ifndef NRT_NRT_SYS_TRACE_H
#define NRT_NRT_SYS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is traced. */
typedef struct nrt_sys_trace_config nrt_sys_trace_config_t;
/* What is fetched. */
typedef struct nrt_sys_trace_fetch_options nrt_sys_trace_fetch_options_t;

/* A configuration with its defaults; freed with nrt_sys_trace_config_free. NRT_INVALID: NULL.
 * NRT_RESOURCE: out of memory. */
NRT_STATUS nrt_sys_trace_config_allocate(nrt_sys_trace_config_t** options);

/* All cores and event types on. */
void nrt_sys_trace_config_set_defaults(nrt_sys_trace_config_t* options);

/* NULL is accepted. */
void nrt_sys_trace_config_free(nrt_sys_trace_config_t* options);

/* Size of the ring of one logical core, 1024 to 1048576 events. */
void nrt_sys_trace_config_set_max_events_per_nc(nrt_sys_trace_config_t* options,
                                                uint64_t max_events_per_nc);

/* Switches one logical core on or off; numbers of 256 and more are ignored. */
void nrt_sys_trace_config_set_capture_enabled_for_nc(nrt_sys_trace_config_t* options,
                                                     uint32_t nc_idx, bool enabled);

/* Switches one event type on or off. NRT_INVALID: NULL or unknown name. */
NRT_STATUS nrt_sys_trace_config_set_capture_enabled_for_event_type(nrt_sys_trace_config_t* options,
                                                                   const char* event_type,
                                                                   bool enabled);

/* Names of all event types, by number; freed with nrt_sys_trace_free_event_types. */
NRT_STATUS nrt_sys_trace_get_event_types(const char*** event_types, size_t* count);

/* Frees the names and the array; NULL is accepted. */
void nrt_sys_trace_free_event_types(const char** event_types, size_t count);

/* Names of the event types that are on; freed with nrt_sys_trace_free_event_types. */
NRT_STATUS nrt_sys_trace_config_get_enabled_event_types(nrt_sys_trace_config_t* options,
                                                        const char*** event_types, size_t* count);

/* Starts tracing, NULL for the defaults. NRT_INVALID: already started. */
NRT_STATUS nrt_sys_trace_start(nrt_sys_trace_config_t* options);

/* Ends tracing and frees the rings; a second call succeeds. */
NRT_STATUS nrt_sys_trace_stop(void);

/* Options that fetch everything; freed with nrt_sys_trace_fetch_options_free. */
NRT_STATUS nrt_sys_trace_fetch_options_allocate(nrt_sys_trace_fetch_options_t** options);

/* All events of all logical cores. */
void nrt_sys_trace_fetch_options_set_defaults(nrt_sys_trace_fetch_options_t* options);

/* NULL is accepted. */
void nrt_sys_trace_fetch_options_free(nrt_sys_trace_fetch_options_t* options);

/* At most so many events per logical core; 0 for all. */
void nrt_sys_trace_fetch_options_set_max_events_per_nc(nrt_sys_trace_fetch_options_t* options,
                                                       uint64_t max_events_per_nc);

/* Only this logical core; all bits set for every one. */
void nrt_sys_trace_fetch_options_set_nc_idx(nrt_sys_trace_fetch_options_t* options,
                                            uint64_t nc_idx);

/* Takes the recorded events, oldest first, as one JSON text that ends with NUL; *written_size
 * excludes it. Freed with nrt_sys_trace_buffer_free only. NRT_INVALID: NULL, or tracing is not
 * started. */
NRT_STATUS nrt_sys_trace_fetch_events(char** buffer, size_t* written_size,
                                      const nrt_sys_trace_fetch_options_t* options);

/* NULL is accepted. */
void nrt_sys_trace_buffer_free(char* buffer);

#ifdef __cplusplus
}
#endif

#endif /* NRT_NRT_SYS_TRACE_H */
