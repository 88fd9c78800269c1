// SPDX-License-Identifier: Apache-2.0
#include "log/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace opennrt::log {

namespace {

constexpr std::size_t kSyslogBytes = 1023;

void write_all(int fd, const char* data, std::size_t bytes) {
  const int saved = errno;
  while (bytes > 0) {
    const ssize_t n = ::write(fd, data, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // a full disk or a closed pipe loses the line
    data += n;
    bytes -= static_cast<std::size_t>(n);
  }
  errno = saved;
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
  const int fd = ::open(path.empty() ? "/dev/null" : path.c_str(),
                        O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0)
    return Status::invalid("log file {}: {}; set log.file to a writable path", path,
                           strerror(errno));
  if (old < 0) {
    fd_ = fd;
  } else {
    ::dup3(fd, old, O_CLOEXEC);
    ::close(fd);
  }
  path_ = path;
  on_ = !path.empty();
  return {};
}

void FileSink::log(const spdlog::details::log_msg& message) {
  if (!on_) return;
  fmt::memory_buffer line;
  line.append(message.payload.data(), message.payload.data() + message.payload.size());
  line.push_back('\n');
  write_all(fd_, line.data(), line.size());
}

void write_syslog(int level, const char* text, std::size_t bytes) noexcept {
  constexpr int kPriority[] = {LOG_ERR, LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG, LOG_DEBUG};
  ::syslog(LOG_USER | kPriority[level], "%.*s", static_cast<int>(std::min(bytes, kSyslogBytes)),
           text);
}

}  // namespace opennrt::log
