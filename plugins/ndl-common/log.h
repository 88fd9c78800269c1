// SPDX-License-Identifier: Apache-2.0
//
// Log lines through the host services. Formats into a fixed buffer: a line
// that is too long is cut. The levels of the host are fixed when a driver is
// opened and are asked once: no request looks up a component by its name.
#pragma once

#include "opennrt/plugin.h"

namespace opennrt::ndl {

class Log {
 public:
  explicit Log(const nrtp_host* host) noexcept;
  bool debugs() const noexcept { return debugs_; }
  [[gnu::format(printf, 2, 3)]] void error(const char* format, ...) const noexcept;
  [[gnu::format(printf, 2, 3)]] void warn(const char* format, ...) const noexcept;
  [[gnu::format(printf, 2, 3)]] void debug(const char* format, ...) const noexcept;

 private:
  const nrtp_host* host_;
  bool errors_;
  bool warnings_;
  bool debugs_;
};

// "ENOENT", or the number when the C library has no name for it.
struct ErrnoName {
  explicit ErrnoName(int negative_errno) noexcept;
  char text[24];
};

}  // namespace opennrt::ndl
