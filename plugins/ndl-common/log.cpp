// SPDX-License-Identifier: Apache-2.0
#include "ndl-common/log.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace opennrt::ndl {
namespace {

constexpr char kComponent[] = "NDL";

void write(const nrtp_host* host, uint32_t level, const char* format, va_list args) noexcept {
  char line[512];
  std::vsnprintf(line, sizeof line, format, args);
  host->log(host->self, level, kComponent, line);
}

bool enabled(const nrtp_host* host, uint32_t level) noexcept {
  return host->log && (!host->log_enabled || host->log_enabled(host->self, level, kComponent));
}

}  // namespace

Log::Log(const nrtp_host* host) noexcept
    : host_(host),
      errors_(enabled(host, NRTP_LOG_ERROR)),
      warnings_(enabled(host, NRTP_LOG_WARN)),
      debugs_(enabled(host, NRTP_LOG_DEBUG)) {}

void Log::error(const char* format, ...) const noexcept {
  if (!errors_) return;
  va_list args;
  va_start(args, format);
  write(host_, NRTP_LOG_ERROR, format, args);
  va_end(args);
}

void Log::warn(const char* format, ...) const noexcept {
  if (!warnings_) return;
  va_list args;
  va_start(args, format);
  write(host_, NRTP_LOG_WARN, format, args);
  va_end(args);
}

void Log::debug(const char* format, ...) const noexcept {
  if (!debugs_) return;
  va_list args;
  va_start(args, format);
  write(host_, NRTP_LOG_DEBUG, format, args);
  va_end(args);
}

ErrnoName::ErrnoName(int negative_errno) noexcept {
  if (const char* name = strerrorname_np(-negative_errno))
    std::snprintf(text, sizeof text, "%s", name);
  else
    std::snprintf(text, sizeof text, "errno %d", -negative_errno);
}

}  // namespace opennrt::ndl
