// SPDX-License-Identifier: Apache-2.0
//
// What the served names and descriptors do. Results as in the C library: -1 with
// errno. The exported functions are thin layers over these.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>

#include "preload/session.h"

namespace opennrt::emu::preload {

int open_at(int dirfd, const char* path, int flags, mode_t mode) noexcept;
int close_one(int fd) noexcept;
int close_range_of(unsigned first, unsigned last, int flags) noexcept;
bool internal(int fd) noexcept;  // of the library itself
// Before something else takes the number over. The descriptor itself stays open.
// Result of the driver's close, or -errno.
int drop(int fd) noexcept;
// lowest: as F_DUPFD. flags: O_CLOEXEC or 0.
int duplicate_from(int fd, int lowest, int flags) noexcept;
int duplicate_to(int from, int to, int flags) noexcept;
long control(int fd, unsigned long request, unsigned long argument) noexcept;
// True: a served descriptor that cannot do it, or did; *result is the answer.
bool write_served(int fd, const void* data, std::size_t bytes, ssize_t* result) noexcept;
bool read_refused(int fd) noexcept;  // with errno set

int stat_at(int dirfd, const char* path, struct stat* out, int flags) noexcept;
int statx_at(int dirfd, const char* path, int flags, unsigned mask, struct statx* out) noexcept;
int access_at(int dirfd, const char* path, int mode, int flags) noexcept;

}  // namespace opennrt::emu::preload
