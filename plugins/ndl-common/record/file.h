// SPDX-License-Identifier: Apache-2.0
//
// The file of a recording. Lines are appended one system call each, so a
// process that dies leaves all it did up to its last whole line.
#pragma once

#include <string>
#include <string_view>

namespace opennrt::trace {

class File {
 public:
  File() = default;
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // A trace that this process began goes on; of another process it is replaced,
  // unless that one still writes. Anything but a trace, an empty file and a
  // character device is refused. "%p" in the path is the process id. 0 or -errno;
  // *error says more.
  int open(const std::string& path, std::string* error);
  bool is_open() const { return fd_ >= 0; }
  const std::string& path() const { return path_; }
  // With a line end. On failure nothing of the line stays. 0 or -errno.
  int write(std::string_view line);
  void close();

  // "pid=77 start=4711": tells this process from others that had its id.
  static std::string owner();

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace opennrt::trace
