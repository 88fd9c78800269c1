// SPDX-License-Identifier: Apache-2.0
#include "log/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "log/ring.h"

namespace opennrt::log {

namespace {

// A closed pipe loses the line; it must not end the process. SIGPIPE of a write
// goes to the writing thread, so it can be taken back there.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    active_ =
        sigismember(&pending, SIGPIPE) == 0 && pthread_sigmask(SIG_BLOCK, &pipe_, &before_) == 0;
  }
  ~WithoutSigpipe() {
    if (!active_) return;
    if (broken_) {
      const timespec now{};
      while (sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;
  void pipe_is_broken() { broken_ = true; }

 private:
  sigset_t pipe_, before_;
  bool active_ = false, broken_ = false;
};

// errno of what was lost, else 0.
int write_bytes(int fd, const char* data, std::size_t bytes) {
  WithoutSigpipe guard;
  while (bytes > 0) {
    const ssize_t n = ::write(fd, data, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EPIPE) guard.pipe_is_broken();
    if (n <= 0) return n < 0 ? errno : EIO;  // a full disk or a closed pipe loses the line
    data += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return 0;
}

int write_all(int fd, const char* data, std::size_t bytes) {
  const int saved = errno;
  const int lost = write_bytes(fd, data, bytes);
  errno = saved;
  return lost;
}

}  // namespace

ConsoleSink::ConsoleSink() : colour_(::isatty(STDERR_FILENO) == 1) {}

void ConsoleSink::log(const spdlog::details::log_msg& message) {
  fmt::memory_buffer line;
  const std::string_view text(message.payload.data(), message.payload.size());
  std::string_view on, off;
  if (colour_ && message.level == spdlog::level::err) on = "\033[91m";   // bright red
  if (colour_ && message.level == spdlog::level::warn) on = "\033[95m";  // bright magenta
  if (!on.empty()) off = "\033[0m";
  line.append(on);
  line.append(text);
  line.append(off);
  line.push_back('\n');
  write_all(STDERR_FILENO, line.data(), line.size());
}

Status FileSink::open(const std::string& path) {
  if (path == path_ && (on_ || path.empty())) return {};
  on_ = false;
  path_.clear();
  const int old = fd_;
  if (path.empty() && old < 0) return {};
  // A FIFO without a reader is an error, not a wait.
  int fd = ::open(path.empty() ? "/dev/null" : path.c_str(),
                  O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
  if (fd >= 0 && fd <= STDERR_FILENO) {
    // The process closed its standard streams; what it prints is not ours.
    const int low = fd;
    fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    ::close(low);
  }
  if (fd >= 0) fcntl(fd, F_SETFL, O_APPEND);
  if (fd < 0)
    return Status::invalid(
        "log file {}: {}; name a file that can be written (NEURON_RT_LOG_LOCATION, log.location or "
        "log.file)",
        path, errno == ENXIO ? "a FIFO that nobody reads" : strerror(errno));
  if (old < 0) {
    fd_ = fd;
  } else {
    ::dup3(fd, old, O_CLOEXEC);
    ::close(fd);
  }
  path_ = path;
  told_loss_ = false;
  on_ = !path.empty();
  return {};
}

void FileSink::log(const spdlog::details::log_msg& message) {
  if (!on_) return;
  fmt::memory_buffer line;
  line.append(message.payload.data(), message.payload.data() + message.payload.size());
  line.push_back('\n');
  const int lost = write_all(fd_, line.data(), line.size());
  if (lost == 0 || told_loss_.exchange(true)) return;
  line.clear();
  fmt::format_to(std::back_inserter(line), "log file: {}; lines are lost\n", strerror(lost));
  write_all(STDERR_FILENO, line.data(), line.size());
}

void write_syslog(int level, const char* text, std::size_t bytes) noexcept {
  constexpr int kPriority[] = {LOG_ERR, LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG, LOG_DEBUG};
  ::syslog(LOG_USER | kPriority[level], "%.*s", static_cast<int>(std::min(bytes, kBodyBytes)),
           text);
}

}  // namespace opennrt::log
