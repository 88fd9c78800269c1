// SPDX-License-Identifier: Apache-2.0
//
// What a thread is doing for a caller: the public call it is in, the core it
// works on, the lines it holds back until the call has ended.
//
// With `coalesce`, errors and warnings of a call are not shown on the console
// one by one: they follow the line of the call that failed, as one block. A
// call that succeeds shows them as they are. The other sinks get each line at
// once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/cause.h"
#include "log/log.h"
#include "nrt/nrt_status.h"

namespace opennrt::log {

// Lives as long as a public call; calls inside of calls belong to the outer one.
// A call that fails says so by api_error(), or by the text "Generic API
// Failure" if lines are waiting at its end.
class CallContext {
 public:
  explicit CallContext(const char* api) noexcept;
  ~CallContext();
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;
  // Not a failure.
  void succeed() noexcept { succeeded_ = true; }

 private:
  const bool outer_;
  bool succeeded_ = false;
};

// Name of the call this thread is in, nullptr outside.
const char* current_api() noexcept;

// Logical core that lines of this thread belong to, until the call ends or
// another one is set.
void set_core(std::int32_t core) noexcept;
std::int32_t current_core() noexcept;

// The one line of a failed call: "<name> (<code>): <message> Resolution: <...>".
void api_error(std::string_view api, const char* name, NRT_STATUS code, std::string_view message,
               Cause cause) noexcept;

// A line for support: to every sink but the driver's log, and to the console
// only if it shows lines of level INFO.
void write_for_support(Level level, std::string_view function, std::string_view text) noexcept;

// The latest lines of failed calls, oldest first.
std::vector<std::string> recent_failures();

}  // namespace opennrt::log
