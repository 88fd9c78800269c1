// SPDX-License-Identifier: Apache-2.0
//
// JSON as it is put together piece by piece: commas and nulls.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "json_text.h"

namespace opennrt::tools {

inline std::string json_value(std::uint64_t value) { return std::to_string(value); }
inline std::string json_value(double value) {
  if (!std::isfinite(value)) return "null";
  char text[40];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}
template <typename T>
std::string json_value(const std::optional<T>& value) {
  return value ? json_value(*value) : "null";
}
inline std::string json_text_or_null(const std::string& text) {
  return text.empty() ? "null" : json_string(text);
}

// {"key": value, ...} or [value, ...]
class JsonList {
 public:
  explicit JsonList(char open) : text_(1, open) {}
  // `value` is JSON already.
  JsonList& add(std::string_view key, const std::string& value) {
    comma();
    text_ += json_string(key) + ": " + value;
    return *this;
  }
  JsonList& add(const std::string& value) {
    comma();
    text_ += value;
    return *this;
  }
  std::string close() const { return text_ + (text_[0] == '{' ? '}' : ']'); }

 private:
  void comma() {
    if (text_.size() > 1) text_ += ", ";
  }
  std::string text_;
};

}  // namespace opennrt::tools
