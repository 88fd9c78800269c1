// SPDX-License-Identifier: Apache-2.0
//
// Where lines go. One write(2) per line and no lock: lines of several threads
// do not mix, and a forked child can still write.
#pragma once

#include <spdlog/sinks/sink.h>

#include <string>

#include "base/status.h"

namespace opennrt::log {

// stderr; coloured when it is a terminal.
class ConsoleSink final : public spdlog::sinks::sink {
 public:
  ConsoleSink();
  void log(const spdlog::details::log_msg& message) override;
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  const bool colour_;
};

// A file opened for appending. Reopening replaces the descriptor in place, so
// that a line written meanwhile lands in one of the two files.
class FileSink final : public spdlog::sinks::sink {
 public:
  // Empty path: nothing is written from now on.
  Status open(const std::string& path);
  void log(const spdlog::details::log_msg& message) override;
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  std::atomic<int> fd_{-1};
  std::atomic<bool> on_{false};
  std::atomic<bool> told_loss_{false};  // that lines of this file are lost
  std::string path_;                    // guarded by the caller of open()
};

// The body only, cut at 1023 bytes. openlog() is left to the host process.
void write_syslog(int level, const char* text, std::size_t bytes) noexcept;

}  // namespace opennrt::log
