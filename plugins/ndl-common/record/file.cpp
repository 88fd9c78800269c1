// SPDX-License-Identifier: Apache-2.0
#include "ndl-common/record/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "ndl-common/record/trace.h"

namespace opennrt::trace {
namespace {

std::string with_pid(std::string path) {
  for (size_t at = path.find("%p"); at != path.npos; at = path.find("%p", at)) {
    const std::string pid = std::to_string(getpid());
    path.replace(at, 2, pid);
    at += pid.size();
  }
  return path;
}

unsigned long long start_time() {
  std::FILE* file = std::fopen("/proc/self/stat", "re");
  if (!file) return 0;
  char text[1024];
  const size_t n = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[n] = '\0';
  const char* at = std::strrchr(text, ')');  // the name before it may hold anything
  // The next word is field 3, the start time field 22.
  for (int field = 2; at && field < 22; ++field) at = std::strchr(at + 1, ' ');
  unsigned long long start = 0;
  return at && std::sscanf(at, "%llu", &start) == 1 ? start : 0;
}

}  // namespace

std::string File::owner() {
  return "pid=" + std::to_string(getpid()) + " start=" + std::to_string(start_time());
}

int File::open(const std::string& path, std::string* error) {
  path_ = with_pid(path);
  const auto failed = [&](int number, const std::string& what) {
    *error = path_ + ": " + what;
    close();
    return -number;
  };
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  if (fd_ < 0) return failed(errno, std::strerror(errno));
  struct stat info{};
  if (fstat(fd_, &info) != 0) return failed(errno, std::strerror(errno));
  if (S_ISCHR(info.st_mode)) return 0;
  if (!S_ISREG(info.st_mode)) return failed(EOPNOTSUPP, "is no regular file");
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0)
    return failed(EBUSY,
                  "another recording writes it; name one file per process with %p in its name");
  char begin[256];
  const ssize_t n = pread(fd_, begin, sizeof begin, 0);
  if (n < 0) return failed(errno, std::strerror(errno));
  const std::string_view head(begin, static_cast<size_t>(n));
  if (n != 0 && !head.starts_with(kMagic))
    return failed(EEXIST, "exists and is no recording; it is left alone, name another file");
  const bool ours = head.find(' ' + owner() + ' ') != head.npos;
  if (!ours && ftruncate(fd_, 0) != 0) return failed(errno, std::strerror(errno));
  if (lseek(fd_, 0, SEEK_END) < 0) return failed(errno, std::strerror(errno));
  return 0;
}

int File::write(std::string_view line) {
  const off_t before = lseek(fd_, 0, SEEK_CUR);
  for (size_t done = 0; done < line.size();) {
    const ssize_t n = ::write(fd_, line.data() + done, line.size() - done);
    if (n > 0) {
      done += static_cast<size_t>(n);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    const int error = n < 0 ? errno : EIO;
    // Best effort: a reader drops a last line without its end.
    if (done != 0 && before >= 0 && ftruncate(fd_, before) == 0) lseek(fd_, before, SEEK_SET);
    return -error;
  }
  return 0;
}

void File::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace opennrt::trace
