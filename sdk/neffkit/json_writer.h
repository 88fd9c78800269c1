// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON text on one line. Keys and texts are UTF-8.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace opennrt::neffkit {

class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name) {
    separate();
    quote(name);
    out_ += ": ";
    after_key_ = true;
  }
  void text(std::string_view value) {
    separate();
    quote(value);
  }
  void number(std::uint64_t value) { raw(std::to_string(value)); }
  void number(std::int64_t value) { raw(std::to_string(value)); }
  void real(double value) {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    raw(std::string_view(buffer, static_cast<std::size_t>(end - buffer)));
  }
  void null() { raw("null"); }
  void boolean(bool value) { raw(value ? "true" : "false"); }

  void member(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  void member(std::string_view name, std::uint64_t value) {
    key(name);
    number(value);
  }
  template <typename List>
  void numbers(const List& list) {
    begin_array();
    for (const auto& value : list) raw(std::to_string(value));
    end_array();
  }

  const std::string& str() const { return out_; }

 private:
  void open(char c) {
    separate();
    out_ += c;
    first_ = true;
  }
  void close(char c) {
    out_ += c;
    first_ = false;
  }
  void raw(std::string_view value) {
    separate();
    out_ += value;
  }
  void quote(std::string_view value) {
    out_ += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        static constexpr char kDigits[] = "0123456789abcdef";
        out_ += "\\u00";
        out_ += kDigits[c >> 4];
        out_ += kDigits[c & 15];
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }
  void separate() {
    if (after_key_) {
      after_key_ = false;
      first_ = false;
      return;
    }
    if (!first_) out_ += ", ";
    first_ = false;
  }
  std::string out_;
  bool first_ = true;
  bool after_key_ = false;
};

}  // namespace opennrt::neffkit
