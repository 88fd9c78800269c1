// SPDX-License-Identifier: Apache-2.0
//
// Status and Result: how every fallible function of the core reports. No
// exception is used for control flow; a Status must be looked at.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/cause.h"
#include "nrt/nrt_status.h"

namespace opennrt {

// An NRT_STATUS code with a message that names the object, the value, the
// limit and the remedy. A success carries nothing and costs one pointer.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(NRT_STATUS code, std::string message)
      : detail_(code == NRT_SUCCESS ? nullptr
                                    : new Detail{code, Cause::kNone, std::move(message)}) {}

  static Status ok() { return {}; }
  template <typename... Args>
  static Status failure(fmt::format_string<Args...> f, Args&&... args) {
    return {NRT_FAILURE, fmt::format(f, std::forward<Args>(args)...)};
  }
  template <typename... Args>
  static Status invalid(fmt::format_string<Args...> f, Args&&... args) {
    return {NRT_INVALID, fmt::format(f, std::forward<Args>(args)...)};
  }
  template <typename... Args>
  static Status resource(fmt::format_string<Args...> f, Args&&... args) {
    return {NRT_RESOURCE, fmt::format(f, std::forward<Args>(args)...)};
  }
  template <typename... Args>
  static Status make(NRT_STATUS code, fmt::format_string<Args...> f, Args&&... args) {
    return {code, fmt::format(f, std::forward<Args>(args)...)};
  }

  bool is_ok() const { return detail_ == nullptr; }
  explicit operator bool() const { return is_ok(); }
  NRT_STATUS code() const { return detail_ ? detail_->code : NRT_SUCCESS; }
  std::string_view message() const {
    return detail_ ? std::string_view(detail_->message) : std::string_view();
  }
  // The same code with "<context>: " in front of the message.
  Status with_context(std::string_view context) && {
    if (detail_) detail_->message.insert(0, std::string(context) + ": ");
    return std::move(*this);
  }
  // Names the cause of a failure; the one that was named first stays.
  Status because(Cause cause) && {
    if (detail_ && detail_->cause == Cause::kNone) detail_->cause = cause;
    return std::move(*this);
  }
  Cause cause() const { return detail_ ? detail_->cause : Cause::kNone; }

 private:
  struct Detail {
    NRT_STATUS code;
    Cause cause;
    std::string message;
  };
  std::unique_ptr<Detail> detail_;
};

// A value or the Status that explains its absence.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool is_ok() const { return value_.has_value(); }
  explicit operator bool() const { return is_ok(); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  const Status& status() const& { return status_; }
  Status&& status() && { return std::move(status_); }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace opennrt

#define ONRT_CONCAT_(a, b) a##b
#define ONRT_CONCAT(a, b) ONRT_CONCAT_(a, b)

// Returns from the enclosing function when the Status expression failed.
// The names are unique, so that expr may hold a lambda with macros of its own.
#define ONRT_TRY(expr) ONRT_TRY_(ONRT_CONCAT(onrt_status_, __COUNTER__), expr)
#define ONRT_TRY_(tmp, expr)        \
  do {                              \
    ::opennrt::Status tmp = (expr); \
    if (!tmp.is_ok()) return tmp;   \
  } while (0)

// `ONRT_ASSIGN(auto x, f())`: x = value of the Result, or returns its Status.
#define ONRT_ASSIGN(lhs, expr) ONRT_ASSIGN_(ONRT_CONCAT(onrt_result_, __COUNTER__), lhs, expr)
#define ONRT_ASSIGN_(tmp, lhs, expr)                \
  auto tmp = (expr);                                \
  if (!tmp.is_ok()) return std::move(tmp).status(); \
  lhs = *std::move(tmp)
