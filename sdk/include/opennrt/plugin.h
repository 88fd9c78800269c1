/* SPDX-License-Identifier: Apache-2.0
 *
 * What every OpenNRT plugin shares: the table head, the status values that
 * cross the boundary and the services the host offers.
 *
 * Rules of the boundary
 *  - plain C, fixed-width types, no exception, no C++ type, no bool;
 *  - every table and nested group starts with `uint32_t size` (bytes the
 *    plugin was built with); members are only ever appended, and the host
 *    reads a member only if it lies inside `size`;
 *  - a type without a `size` member is frozen for the ABI major;
 *  - a plugin starts no thread, keeps no global mutable state and needs no
 *    symbol of the host: everything arrives through `nrtp_host`.
 *
 * A plugin library exports exactly one symbol, its query function. The query
 * is pure and may be called any number of times; it returns the table whenever
 * it can describe it and NULL only for a major it does not know.
 */
#ifndef OPENNRT_PLUGIN_H
#define OPENNRT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NRTP_MAGIC 0x5054524eu /* "NRTP" in memory order */

/* Version of the host services and of the table head. */
#define NRTP_ABI_MAJOR 1u
#define NRTP_ABI_MINOR 0u

enum nrtp_kind {
  NRTP_KIND_ARCH = 1, /* silicon family: nrtp_arch_query */
  NRTP_KIND_NDL = 2,  /* driver layer:   nrtp_ndl_query  */
  NRTP_KIND_PORT = 3  /* system port:    nrtp_port_query */
};

/* First member of every plugin table. */
typedef struct nrtp_head {
  uint32_t size; /* bytes of the whole table this head starts */
  uint32_t magic;
  uint32_t kind; /* enum nrtp_kind */
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t host_minor_min;         /* lowest host minor this plugin works with */
  const char* build;               /* "san=none|asan|tsan|ubsan;version=1.2.3" */
  uint64_t host_features_required; /* bits of nrtp_host.features */
} nrtp_head;

/* Sanitizer of this build. Host and plugin must agree; a build that gcc does not
 * tell (-fsanitize=undefined alone) defines it on the command line. */
#ifndef NRTP_BUILD_SAN
#if defined(__SANITIZE_ADDRESS__)
#define NRTP_BUILD_SAN "asan"
#elif defined(__SANITIZE_THREAD__)
#define NRTP_BUILD_SAN "tsan"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NRTP_BUILD_SAN "asan"
#elif __has_feature(thread_sanitizer)
#define NRTP_BUILD_SAN "tsan"
#elif __has_feature(undefined_behavior_sanitizer)
#define NRTP_BUILD_SAN "ubsan"
#endif
#endif
#ifndef NRTP_BUILD_SAN
#define NRTP_BUILD_SAN "none"
#endif
#endif

/* Initialiser of the head of a table of type T. K: ARCH, NDL or PORT; the header
 * of that kind must be included. version: the plugin's own, a text literal.
 *
 *   const nrtp_sys_port table = {.head = NRTP_HEAD_INIT(nrtp_sys_port, PORT, "1.0"), ...};
 */
#define NRTP_HEAD_INIT(T, K, version)         \
  {sizeof(T),                                 \
   NRTP_MAGIC,                                \
   NRTP_KIND_##K,                             \
   NRTP_##K##_ABI_MAJOR,                      \
   NRTP_##K##_ABI_MINOR,                      \
   0u,                                        \
   "san=" NRTP_BUILD_SAN ";version=" version, \
   0u}

/* Values equal the NRT_STATUS codes of the same meaning. */
enum nrtp_status {
  NRTP_OK = 0,
  NRTP_FAILURE = 1,
  NRTP_INVALID = 2,
  NRTP_RESOURCE = 4,
  NRTP_TIMEOUT = 5,
  NRTP_HW_ERROR = 6
};

enum nrtp_log_level {
  NRTP_LOG_ERROR = 1,
  NRTP_LOG_WARN = 2,
  NRTP_LOG_INFO = 3,
  NRTP_LOG_DEBUG = 4,
  NRTP_LOG_TRACE = 5
};

struct nrtp_arch_plugin;

/* Host services, common to all plugin kinds. `self` is the first argument of
 * every function. The table lives until process exit. */
typedef struct nrtp_host {
  uint32_t size, abi_major, abi_minor, reserved;
  uint64_t features; /* none defined in 1.0 */
  void* self;
  /* component: at most 5 characters are shown; msg: one line, no newline. */
  void (*log)(void* self, uint32_t level, const char* component, const char* msg);
  /* 1 if a line of that level would be emitted: lets a plugin skip formatting. */
  uint32_t (*log_enabled)(void* self, uint32_t level, const char* component);
  void* (*alloc)(void* self, size_t bytes, size_t align); /* NULL when out of memory */
  void (*release)(void* self, void* p);
  /* Effective configuration value as text, NUL-terminated. NRTP_INVALID: no
   * such key. NRTP_RESOURCE: `n` too small. */
  int (*config_get)(void* self, const char* key, char* buf, size_t n);
  uint64_t (*now_ns)(void* self); /* monotonic */
  /* Fault injection: 0, or the status that the named point must return. */
  int (*fault)(void* self, const char* point);
  /* Table of an arch, loaded on demand. arch_type 0: the only or default one.
   * NULL when there is none; the reason has been logged. */
  const struct nrtp_arch_plugin* (*arch)(void* self, uint32_t arch_type);
  /* Table of the arch that lists the product name, e.g. "trn1.2xlarge". */
  const struct nrtp_arch_plugin* (*arch_of_product)(void* self, const char* product);
} nrtp_host;

#if defined(__GNUC__)
#define NRTP_EXPORT __attribute__((visibility("default")))
#else
#define NRTP_EXPORT
#endif

/* Size that the other side was built with: the first member of every table. */
static inline uint32_t nrtp_table_size(const void* table) {
  uint32_t size;
  memcpy(&size, table, sizeof size);
  return size;
}

/* True when `member` of a table of type T lies inside the size the other side
 * was built with. */
#define NRTP_HAS(T, table, member) \
  (offsetof(T, member) + sizeof((table)->member) <= nrtp_table_size(table))

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OPENNRT_PLUGIN_H */
