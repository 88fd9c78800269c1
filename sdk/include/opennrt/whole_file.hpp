// SPDX-License-Identifier: Apache-2.0
//
// A file that appears under its name only when it is complete. For C++17 and
// later, without anything else of the SDK.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

namespace opennrt {

// Written beside its name and renamed by commit(). A name that exists and is no
// regular file is never replaced: a character device (/dev/null) is written
// directly, a pipe too when allowed, anything else refused. Every call returns
// 0 or an errno.
class WholeFile {
 public:
  // A pipe may block its writer for ever or raise SIGPIPE: for programs, not
  // for a library in somebody else's process.
  enum class Pipes { kRefuse, kAllow };

  WholeFile() = default;
  ~WholeFile() { discard(); }
  WholeFile(WholeFile&& other) noexcept
      : path_(std::move(other.path_)),
        temporary_(std::move(other.temporary_)),
        written_(other.written_),
        fd_(std::exchange(other.fd_, -1)) {}
  WholeFile& operator=(WholeFile&&) = delete;

  int create(std::string path, Pipes pipes = Pipes::kRefuse) {
    discard();
    path_ = std::move(path);
    temporary_.clear();
    written_ = 0;
    struct stat info;
    if (stat(path_.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
      if (S_ISDIR(info.st_mode)) return EISDIR;
      const bool direct =
          S_ISCHR(info.st_mode) || (S_ISFIFO(info.st_mode) && pipes == Pipes::kAllow);
      if (!direct) return EOPNOTSUPP;
      fd_ = open(path_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
      return fd_ < 0 ? errno : 0;
    }
    static std::atomic<unsigned> number{0};
    temporary_ = path_ + ".partial-" + std::to_string(getpid()) + "-" + std::to_string(++number);
    fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    return fd_ < 0 ? errno : 0;
  }

  int write(const void* data, std::size_t bytes) {
    // Beyond the limit of the process (ulimit -f) a write raises SIGXFSZ.
    rlimit limit;
    if (!temporary_.empty() && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY &&
        (written_ > limit.rlim_cur || bytes > limit.rlim_cur - written_))
      return EFBIG;
    written_ += bytes;
    for (const char* at = static_cast<const char*>(data); bytes != 0;) {
      const ssize_t n = ::write(fd_, at, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno;
      at += n;
      bytes -= static_cast<std::size_t>(n);
    }
    return 0;
  }

  // Takes the place of an older file of that name. On failure nothing is left.
  int commit() {
    // A file system may report a full disk or quota only here.
    int error = ::close(std::exchange(fd_, -1)) != 0 ? errno : 0;
    if (temporary_.empty()) return error;
    if (error == 0 && rename(temporary_.c_str(), path_.c_str()) != 0) error = errno;
    if (error != 0) unlink(temporary_.c_str());
    return error;
  }

 private:
  void discard() {
    if (fd_ < 0) return;
    ::close(std::exchange(fd_, -1));
    if (!temporary_.empty()) unlink(temporary_.c_str());
  }

  std::string path_, temporary_;
  std::size_t written_ = 0;
  int fd_ = -1;
};

}  // namespace opennrt
