/* SPDX-License-Identifier: Apache-2.0
 *
 * System port: the calls through which an NDL plugin reaches a kernel driver.
 * The libc port built into the runtime makes system calls; the emulator port
 * answers the same requests from a software device.
 */
#ifndef OPENNRT_PORT_H
#define OPENNRT_PORT_H

#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NRTP_PORT_ABI_MAJOR 1u
#define NRTP_PORT_ABI_MINOR 1u
#define NRTP_PORT_QUERY_SYMBOL "nrtp_port_query"

/* The driver's minor numbers: device nodes are /dev/neuron0 to /dev/neuron63. */
#define NRTP_MAX_DEVICES 64u
/* Devices that one process uses at most. */
#define NRTP_MAX_PROCESS_DEVICES 32u

enum nrtp_open_flags { NRTP_OPEN_READ = 0, NRTP_OPEN_WRITE = 1, NRTP_OPEN_READ_WRITE = 2 };
enum nrtp_prot { NRTP_PROT_READ = 1, NRTP_PROT_WRITE = 2 };

/* All members but `control` are mandatory. Results: >= 0 or -errno. A port never logs a
 * failed call; the NDL plugin does. Every member may be called from any
 * thread. */
typedef struct nrtp_sys_port {
  nrtp_head head;
  const char* name; /* "emulator" */
  int (*attach)(const nrtp_host* host, void** ctx);
  void (*detach)(void* ctx);
  int (*open)(void* ctx, const char* path, uint32_t flags); /* descriptor or -errno */
  int (*close)(void* ctx, int fd);
  /* arg: pointer or value, as the request says. */
  int64_t (*ioctl)(void* ctx, int fd, uint32_t request, uintptr_t arg);
  int (*mmap)(void* ctx, int fd, uint64_t bytes, uint32_t prot, uint64_t offset, void** out);
  int (*munmap)(void* ctx, void* addr, uint64_t bytes);
  int (*exists)(void* ctx, const char* path);                             /* 1, 0 or -errno */
  int64_t (*read_text)(void* ctx, const char* path, char* buf, size_t n); /* length or -errno */
  uint64_t (*now_us)(void* ctx);
  /* Waits at least until something may have happened, at most about `us`. The
   * emulator port executes device work on the calling thread here. Never called
   * with a lock held. */
  void (*sleep_us)(void* ctx, uint32_t us);
  /* Since 1.1, optional: a question or command to a software device in text
   * form, for checks and reports that silicon cannot give. Writes the reply and
   * its zero, cut to n bytes. Length of the whole reply or -errno: -EINVAL an
   * unknown command, -ENODEV no such device. NULL or absent: silicon. */
  int64_t (*control)(void* ctx, const char* request, char* reply, size_t n);
} nrtp_sys_port;

typedef const nrtp_sys_port* (*nrtp_port_query_fn)(uint32_t host_major, uint32_t host_minor);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OPENNRT_PORT_H */
