// SPDX-License-Identifier: Apache-2.0
#include "dump/log_tail.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "trace/output_file.h"

namespace opennrt::dump {

namespace {

constexpr int kLockTries = 500;
constexpr long kLockPauseNs = 10'000'000;

// Holds a directory against other processes. Without the lock after 5 s: a
// helper that hangs must not stop the runtime.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::string& directory)
      : fd_(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    for (int i = 0; fd_ >= 0 && i < kLockTries; ++i) {
      if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
      const timespec pause{.tv_sec = 0, .tv_nsec = kLockPauseNs};
      nanosleep(&pause, nullptr);
    }
  }
  ~DirectoryLock() {
    if (fd_ >= 0) close(fd_);
  }
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  const int fd_;
};

// The end of a file that may not be there.
std::string tail_of(const std::string& path) {
  std::string out;
  if (!is_plain_file(path)) return out;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return out;
  const off_t end = lseek(fd, 0, SEEK_END);
  const off_t most = kMostLogBytes;
  lseek(fd, end > most ? end - most : 0, SEEK_SET);
  char buffer[16 << 10];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<std::size_t>(n));
  close(fd);
  return out;
}

}  // namespace

std::string LogTail::take(std::string_view title) {
  std::string out = fmt::format("=== {}\n", title);
  for (std::int32_t core = log::kNoCore; core < log::kRingCores; ++core) {
    const log::LineRing* ring = log::ring_of(core);
    if (ring == nullptr) continue;
    std::uint64_t& taken = taken_[static_cast<std::size_t>(core + 1)];
    const log::LineRing::Text text = ring->since(taken);
    taken = text.end;
    if (text.lines.empty()) continue;
    out += core == log::kNoCore ? std::string("--- process\n")
                                : fmt::format("--- logical core {}\n", core);
    if (text.gap) out += "(earlier lines were overwritten)\n";
    out += text.lines;
  }
  return out;
}

Status append_to_log(const std::string& directory, const std::string& name, std::string_view text) {
  const DirectoryLock lock(directory);
  const std::string path = directory + "/" + name;
  std::string all = tail_of(path);
  all += text;
  if (all.size() > kMostLogBytes) {
    all.erase(0, all.size() - kMostLogBytes);
    all.erase(0, all.find('\n') + 1);
  }
  return trace::write_file(path, all);
}

}  // namespace opennrt::dump
