// SPDX-License-Identifier: Apache-2.0
//
// Directory streams: real directories that get the served names added.
#pragma once

#include <dirent.h>
#include <glob.h>

#include "preload/lock.h"

namespace opennrt::emu::preload {

Lock& directory_streams() noexcept;  // of their list, for fork

DIR* open_directory_stream(const char* path) noexcept;
DIR* adopt_directory_stream(int fd) noexcept;  // fdopendir
dirent* next_name(DIR* stream) noexcept;
void restart(DIR* stream) noexcept;
int close_directory_stream(DIR* stream) noexcept;

using Select = int (*)(const dirent*);
using Order = int (*)(const dirent**, const dirent**);
// True: done here, *result is the answer.
bool scan(int dirfd, const char* path, dirent*** names, Select select, Order order,
          int* result) noexcept;
int find_names(const char* pattern, int flags, int (*error)(const char*, int),
               glob_t* out) noexcept;

}  // namespace opennrt::emu::preload
