// SPDX-License-Identifier: Apache-2.0
//
// Option objects of the trace and profile functions. Like all handles they are
// numbers: a stale one, or one of another kind, is found out.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "api/entry.h"
#include "base/handle_table.h"
#include "base/status.h"
#include "trace/capture.h"
#include "trace/event_types.h"
#include "trace/inspect.h"

namespace opennrt::api {

struct ContinuousOptions {
  std::string output_dir = "./output";
};

using OptionObject = std::variant<trace::CaptureOptions, trace::FetchOptions,
                                  trace::inspect::Options, ContinuousOptions>;
using OptionTable = HandleTable<OptionObject, HandleKind::kOptions>;

inline OptionTable& option_table() {
  static OptionTable* const table = new OptionTable;
  return *table;
}

// The object alive and in use; empty: no handle of that kind.
template <typename T>
class Options {
 public:
  template <typename Opaque>
  explicit Options(Opaque* handle)
      : pin_(option_table().pin(handle_of(handle))),
        object_(pin_ ? std::get_if<T>(pin_.get()) : nullptr) {}
  explicit operator bool() const { return object_ != nullptr; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }

 private:
  OptionTable::Pin pin_;
  T* object_;
};

template <typename T, typename Opaque>
Status allocate_options(Opaque** out) {
  ONRT_TRY(require(out, "options"));
  *out = nullptr;
  auto object = std::make_unique<OptionObject>(T());
  const auto handle = option_table().insert(object);
  if (handle == 0) return Status::resource("too many option objects exist; free some");
  *out = reinterpret_cast<Opaque*>(handle);
  return {};
}

// A handle of another kind stays.
template <typename T, typename Opaque>
void free_options(Opaque* handle) {
  if (Options<T>(handle)) option_table().remove(handle_of(handle));
}

// NRT_INVALID unless it is a live object of that kind.
template <typename T, typename Opaque, typename Use>
Status with_options(Opaque* handle, Use&& use) {
  ONRT_TRY(require(handle, "options"));
  const Options<T> options(handle);
  if (!options)
    return Status::invalid("options {:#x} is no live object of this kind", handle_of(handle));
  return std::forward<Use>(use)(*options);
}

inline Status set_event_type(trace::CaptureOptions& options, const char* name, bool enabled) {
  const auto type = trace::type_of(name);
  if (!type)
    return Status::invalid("'{}' is no event type; nrt_sys_trace_get_event_types lists them", name);
  options.types =
      enabled ? options.types | trace::bit_of(*type) : options.types & ~trace::bit_of(*type);
  return {};
}

}  // namespace opennrt::api
