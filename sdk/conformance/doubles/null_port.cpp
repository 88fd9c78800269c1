// SPDX-License-Identifier: Apache-2.0
//
// A system port behind which there is nothing. plugins.settings.double.port: the
// errno that attaching fails with, after the context is set.
#include <errno.h>
#include <stdlib.h>

#include "opennrt/port.h"

namespace {

int attach(const nrtp_host* host, void** ctx) {
  static int nothing;
  char text[32];
  *ctx = &nothing;
  const bool set =
      host->config_get(host->self, "plugins.settings.double.port", text, sizeof text) == NRTP_OK;
  return set ? -atoi(text) : 0;
}
void detach(void*) {}
int open_path(void*, const char*, uint32_t) { return -ENOENT; }
int close_fd(void*, int) { return -EBADF; }
int64_t ioctl_fd(void*, int, uint32_t, uintptr_t) { return -EBADF; }
int map_fd(void*, int, uint64_t, uint32_t, uint64_t, void**) { return -EBADF; }
int unmap(void*, void*, uint64_t) { return -EINVAL; }
int exists(void*, const char*) { return 0; }
int64_t read_text(void*, const char*, char*, size_t) { return -ENOENT; }
uint64_t now_us(void*) { return 0; }
void sleep_us(void*, uint32_t) {}

const nrtp_sys_port kTable = {NRTP_HEAD_INIT(nrtp_sys_port, PORT, "1.0"),
                              "double",
                              attach,
                              detach,
                              open_path,
                              close_fd,
                              ioctl_fd,
                              map_fd,
                              unmap,
                              exists,
                              read_text,
                              now_us,
                              sleep_us,
                              nullptr};

}  // namespace

extern "C" NRTP_EXPORT const nrtp_sys_port* nrtp_port_query(uint32_t host_major, uint32_t) {
  return host_major == NRTP_PORT_ABI_MAJOR ? &kTable : nullptr;
}
