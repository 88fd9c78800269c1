// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <string>

namespace opennrt {

// False for what opening or reading may wait on for ever (a FIFO, a socket) and
// for a directory. True when nothing is there: opening tells why.
inline bool is_plain_file(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return true;
  return S_ISREG(info.st_mode) || S_ISCHR(info.st_mode);
}

}  // namespace opennrt
