// SPDX-License-Identifier: Apache-2.0
//
// A system port whose members end the process, do not come back or answer wrongly, one
// way each; or, by definition, does so when it is opened. What it does to the process
// besides is in misdeeds.h.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "misdeeds.h"
#include "opennrt/port.h"

namespace {

#if defined(CRASHES_ON_LOAD)
__attribute__((constructor)) void crash() { abort(); }
#elif defined(HANGS_ON_LOAD)
__attribute__((constructor)) void hang() {
  for (;;) pause();
}
#else
__attribute__((constructor)) void load() { opennrt::doubles::misdeed("load"); }
#endif

int attach(const nrtp_host*, void** ctx) {
  static int nothing;
  *ctx = &nothing;
  opennrt::doubles::misdeed("attach");
  return 0;
}
void detach(void*) { opennrt::doubles::misdeed("detach"); }
int open_path(void*, const char*, uint32_t) { return -ENOENT; }
// Wrong, and says so at length.
int close_fd(void*, int) {
  static char line[1024];
  for (size_t i = 0; i < sizeof line - 1; ++i) line[i] = static_cast<char>('a' + i % 26);
  for (int i = 0; i < 4096; ++i) puts(line);
  fputs("\xff\x01<&\n", stdout);
  return 0;
}
int64_t ioctl_fd(void*, int, uint32_t, uintptr_t) { return -EBADF; }
int map_fd(void*, int, uint64_t, uint32_t, uint64_t, void**) { return -EBADF; }
int unmap(void*, void*, uint64_t) { return -EINVAL; }
int exists(void*, const char*) { exit(0); }
int64_t read_text(void*, const char*, char*, size_t) { return -ENOENT; }
uint64_t now_us(void*) { abort(); }
void sleep_us(void*, uint32_t) {
  for (;;) pause();
}
int64_t control(void*, const char*, char*, size_t) { throw 1; }

const nrtp_sys_port kTable = {NRTP_HEAD_INIT(nrtp_sys_port, PORT, "1.0"),
                              "misbehaving",
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
                              control};

}  // namespace

extern "C" NRTP_EXPORT const nrtp_sys_port* nrtp_port_query(uint32_t host_major, uint32_t) {
  opennrt::doubles::misdeed("query");
  return host_major == NRTP_PORT_ABI_MAJOR ? &kTable : nullptr;
}
