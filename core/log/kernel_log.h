// SPDX-License-Identifier: Apache-2.0
//
// The driver's log, as one more sink.
#pragma once

#include <cstdint>
#include <string_view>

namespace opennrt::log {

// Prints a text that ends with NUL; bytes count it. 0 or negative errno.
struct KernelLog {
  int (*print)(void* ctx, const char* text, std::uint32_t bytes, std::uint32_t action) = nullptr;
  void* ctx = nullptr;
};

// Lines go to it from now on; {}: to none any more, and nobody is inside when
// this returns. Lines that plugins write never go there: what prints them is a
// plugin.
void set_kernel_log(KernelLog to);

// The driver's log is a sink for as long as this lives.
class KernelLogScope {
 public:
  explicit KernelLogScope(KernelLog to) { set_kernel_log(to); }
  ~KernelLogScope() { set_kernel_log({}); }
  KernelLogScope(const KernelLogScope&) = delete;
  KernelLogScope& operator=(const KernelLogScope&) = delete;
};

// The body of a line. Nothing happens inside of another print: a driver in
// this process writes lines of its own.
void write_kernel_log(std::string_view body) noexcept;
// This thread is inside write_kernel_log.
bool inside_kernel_log() noexcept;

}  // namespace opennrt::log
