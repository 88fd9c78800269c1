/* SPDX-License-Identifier: Apache-2.0
 *
 * Device profiles and inspection. nrt_profile_start to _stop and the session and
 * continuous calls are guarded like the functions of nrt.h. Option and
 * configuration objects, and nrt_inspect_*, are usable in every state.
 *
 * Unless said otherwise NRT_INVALID is returned for a NULL argument,
 * NRT_RESOURCE without memory.
 */
#ifndef NRT_NRT_PROFILE_H
#define NRT_NRT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Options of continuous profiling. */
typedef struct nrt_profile_continuous_options nrt_profile_continuous_options_t;
/* Configuration of inspection. */
typedef struct nrt_inspect_config nrt_inspect_config_t;

/* Device profiles during inspection: none, one per execution, one per session. */
typedef enum NRT_ENUM_BASE {
  NRT_INSPECT_DEVICE_PROFILE_MODE_DISABLED = 0,
  NRT_INSPECT_DEVICE_PROFILE_MODE_MODEL = 1,
  NRT_INSPECT_DEVICE_PROFILE_MODE_SESSION = 2
} nrt_inspect_device_profile_mode_t;

/* Arms device profiling of a model; filename is the key and the file nrt_profile_stop writes.
 * NRT_INVALID: NULL, the key is in use, or another kind of profiling is on. */
NRT_STATUS nrt_profile_start(nrt_model_t* model, const char* filename);

/* Writes the profile armed under filename and forgets it. NRT_INVALID: no such key. NRT_FAILURE:
 * the file cannot be written. */
NRT_STATUS nrt_profile_stop(const char* filename);

/* Options with their defaults; freed with nrt_profile_continuous_options_free. NRT_INVALID:
 * NULL. NRT_RESOURCE: out of memory. */
NRT_STATUS nrt_profile_continuous_options_allocate(nrt_profile_continuous_options_t** options);

/* NULL is accepted. */
NRT_STATUS nrt_profile_continuous_options_free(nrt_profile_continuous_options_t* options);

/* Directory of saved profiles, "./output" unless set. The text is copied. NRT_INVALID: NULL or
 * empty. */
NRT_STATUS nrt_profile_continuous_options_set_output_dir(nrt_profile_continuous_options_t* options,
                                                         const char* output_dir);

/* From now on every execution is profiled in memory; nothing is written. NRT_INVALID: NULL, or
 * another kind of profiling is on. */
NRT_STATUS nrt_profile_continuous_start(nrt_profile_continuous_options_t* options);

/* Writes the latest profile of a logical core into the directory of the options. NRT_FAILURE:
 * not started. NRT_INVALID: bad vnc or options. */
NRT_STATUS nrt_profile_continuous_save(uint32_t vnc, nrt_profile_continuous_options_t* options);

/* Ends continuous profiling and drops what was not saved. */
NRT_STATUS nrt_profile_continuous_stop(void);

/* Starts inspection with the configuration of the NEURON_RT_INSPECT_* variables; the enable
 * switch counts as on. */
NRT_STATUS nrt_inspect_begin(void);

/* Ends inspection and writes its files. NRT_SUCCESS when none is running. */
NRT_STATUS nrt_inspect_stop(void);

/* A configuration with its defaults; freed with nrt_inspect_config_free. NRT_INVALID: NULL.
 * NRT_RESOURCE: out of memory. */
NRT_STATUS nrt_inspect_config_allocate(nrt_inspect_config_t** options);

/* Session 1, no output directory, all activities, cores and event types on, both enable switches
 * off, device mode DISABLED. */
NRT_STATUS nrt_inspect_config_set_defaults(nrt_inspect_config_t* options);

/* NULL is accepted. */
NRT_STATUS nrt_inspect_config_free(nrt_inspect_config_t* options);

/* Number in the names of the session's files. */
NRT_STATUS nrt_inspect_config_set_session_id(nrt_inspect_config_t* options, int session_id);

/* Directory of the files, "./output" unless set. The text is copied. NULL or an empty text
 * clears it and is NRT_INVALID. */
NRT_STATUS nrt_inspect_config_set_output_dir(nrt_inspect_config_t* options, const char* output_dir);

/* Events kept per logical core. */
NRT_STATUS nrt_inspect_config_set_sys_trace_max_events_per_nc(nrt_inspect_config_t* options,
                                                              uint64_t sys_trace_max_events_per_nc);

/* Switches one logical core on or off. NRT_INVALID: nc_idx is 256 or more. */
NRT_STATUS nrt_inspect_config_set_capture_enabled_for_nc(nrt_inspect_config_t* options,
                                                         uint32_t nc_idx, bool enabled);

/* Switches one event type on or off. NRT_INVALID: unknown name. */
NRT_STATUS nrt_inspect_config_set_capture_enabled_for_event_type_string(
    nrt_inspect_config_t* options, const char* event_type, bool enabled);

/* Whether inspection runs from nrt_init on. */
NRT_STATUS nrt_inspect_config_set_enable_inspect(nrt_inspect_config_t* options,
                                                 bool enable_inspect);

/* Whether inspection data is kept for a failing call. */
NRT_STATUS nrt_inspect_config_set_enable_inspect_on_fail(nrt_inspect_config_t* options,
                                                         bool enable_inspect_on_fail);

/* Starts inspection with the given configuration, NULL for the defaults; the environment is
 * ignored. A start that fails half way is undone. */
NRT_STATUS nrt_inspect_begin_with_options(nrt_inspect_config_t* options);

/* Names of all activities, freed with nrt_inspect_config_free_activity_types. */
NRT_STATUS nrt_inspect_config_get_all_activity_types(const char*** activity_types, size_t* count);

/* Names of the activities that are on, freed with nrt_inspect_config_free_activity_types. */
NRT_STATUS nrt_inspect_config_get_enabled_activity_types(nrt_inspect_config_t* options,
                                                         const char*** activity_types,
                                                         size_t* count);

/* Frees the names and the array; NULL is accepted. */
void nrt_inspect_config_free_activity_types(const char** activity_types, size_t count);

/* Switches "system_profile", "device_profile", "host_memory", "cpu_util" or "all". NRT_INVALID:
 * unknown name. */
NRT_STATUS nrt_inspect_config_set_activity(nrt_inspect_config_t* options, const char* activity_type,
                                           bool enabled);

/* How device profiles are taken. */
NRT_STATUS nrt_inspect_config_set_inspect_device_profile_mode(
    nrt_inspect_config_t* options, nrt_inspect_device_profile_mode_t device_profile_mode);

/* Directory of this process's session below output_dir: instance, process and start of the
 * session. NRT_INVALID: NULL, or the buffer is too small. */
NRT_STATUS nrt_inspect_get_instance_output_dir(const char* output_dir, char* instance_dir_buf,
                                               size_t buf_size);

/* Starts the profile session of a logical core. NRT_INVALID: one is running. */
NRT_STATUS nrt_profile_session_start(int32_t vnc);

/* Ends it and keeps the result in memory under *session_id. NRT_INVALID: none is running. */
NRT_STATUS nrt_profile_session_stop(int32_t vnc, uint64_t* session_id);

/* Writes a kept result and forgets it. NRT_INVALID: unknown number. NRT_FAILURE: the file cannot
 * be written. */
NRT_STATUS nrt_profile_session_serialize(uint64_t session_id, const char* filename);

/* Forgets a kept result. NRT_INVALID: unknown number. */
NRT_STATUS nrt_profile_session_drop(uint64_t session_id);

/* Forgets all kept results of a logical core. */
NRT_STATUS nrt_profile_session_drop_all(int32_t vnc);

#ifdef __cplusplus
}
#endif

#endif /* NRT_NRT_PROFILE_H */
