// SPDX-License-Identifier: Apache-2.0
//
// The frame of every public function: guard, validate, call, log, return. No
// exception leaves it.
#pragma once

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "api/session.h"
#include "api/state.h"
#include "base/status.h"
#include "log/context.h"
#include "log/log.h"

namespace opennrt::api {

inline void log_failure(const char* name, NRT_STATUS code, std::string_view message,
                        std::string_view remedy = {}) noexcept {
  log::api_error(name, nrt_get_status_as_str(code), code, message, remedy);
}

inline void log_call(const char* name, const char* what, NRT_STATUS code) noexcept {
  if (log::enabled(log::Module::kNrt, log::Level::kDebug))
    log::format(log::Module::kNrt, log::Level::kDebug, name, "{} {}", what, static_cast<int>(code));
}

void after_failure(const char* api, NRT_STATUS code) noexcept;  // diagnostics.h

// Runs a body that returns Status; a failure becomes one line and a code.
template <typename Body>
NRT_STATUS run(const char* name, Body&& body) noexcept {
  log::CallContext context(name);
  NRT_STATUS code = NRT_FAILURE;
  try {
    const Status status = std::forward<Body>(body)();
    code = status.code();
    if (status.is_ok()) {
      context.succeed();
    } else if (code == NRT_QUEUE_FULL) {
      // No failure to callers that fill a queue and try again.
      context.succeed();
      log_call(name, "queue full", code);
    } else {
      log_failure(name, code, status.message(), status.remedy());
    }
  } catch (const std::bad_alloc&) {
    code = NRT_RESOURCE;
    log_failure(name, code, "out of host memory");
  } catch (const std::exception& e) {
    log_failure(name, code, e.what());
  } catch (...) {
    log_failure(name, code, "unknown exception");
  }
  if (code != NRT_SUCCESS && code != NRT_QUEUE_FULL) after_failure(name, code);
  return code;
}

// Counts the call in for its lifetime, if the runtime is initialised.
class Entry {
 public:
  Entry() : seen_(enter()) {}
  ~Entry() {
    if (*this) leave();
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  explicit operator bool() const { return seen_ == State::kInit; }
  // Why the call is not counted in. The state of now may already be another one.
  State seen() const { return seen_; }

 private:
  const State seen_;
};

// Guarded function: the state comes before the arguments.
template <typename Body>
NRT_STATUS guarded(const char* name, Body&& body) noexcept {
  const Entry entry;
  if (!entry) {
    log_rejection(name, entry.seen());
    return rejection(entry.seen());
  }
  log_call(name, "API:IN", NRT_SUCCESS);
  const NRT_STATUS code = run(name, [&]() -> Status {
    Session& here = session();
    Status status = std::forward<Body>(body)(here);
    if (!status.is_ok()) status = here.blame(std::move(status));
    return status;
  });
  log_call(name, "API:OUT", code);
  return code;
}

// Function without a state check.
template <typename Body>
NRT_STATUS unguarded(const char* name, Body&& body) noexcept {
  log_call(name, "API:IN", NRT_SUCCESS);
  const NRT_STATUS code = run(name, std::forward<Body>(body));
  log_call(name, "API:OUT", code);
  return code;
}

inline Status require(const void* pointer, const char* argument) {
  return pointer != nullptr ? Status() : Status::invalid("{} is NULL", argument);
}

inline std::string_view name_or_unknown(const char* name) {
  return name != nullptr ? std::string_view(name) : std::string_view("_unknown_");
}

template <typename T>
std::uintptr_t handle_of(const T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace opennrt::api
