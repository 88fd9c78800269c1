// SPDX-License-Identifier: Apache-2.0
#include "neff/json_locate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

#include "neff/text.h"

namespace opennrt::neff {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '-' || c == '.' || c == '_';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // Empty when the text is well-formed.
  std::string run(std::string_view reason) {
    if (value(0)) {
      skip_space();
      if (at_ < text_.size()) fail("text behind the end of the document");
    }
    if (problem_.empty()) return {};
    const auto before = text_.substr(0, std::min(at_, text_.size()));
    const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t start = before.rfind('\n');
    const std::size_t column =
        start == std::string_view::npos ? before.size() : before.size() - start - 1;
    return fmt::format("line {}, column {}{}{}: {} ({})", line + 1, column + 1,
                       path_.empty() ? "" : ": ", path_, problem_, reason);
  }

 private:
  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  bool at_end() const { return at_ >= text_.size(); }
  void skip_space() {
    while (!at_end() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  bool expect(char c, const char* where) {
    skip_space();
    if (at_end()) return fail(fmt::format("the text ends where '{}' is expected {}", c, where));
    if (text_[at_] != c)
      return fail(
          fmt::format("{} where '{}' is expected {}", quote(text_.substr(at_, 1)), c, where));
    ++at_;
    return true;
  }

  bool value(std::size_t depth) {
    skip_space();
    if (at_end()) return fail("the text ends where a value is expected");
    const char c = text_[at_];
    if (c == '{' || c == '[') {
      if (depth == kMaxJsonDepth)
        return fail(fmt::format("nested deeper than {} levels", kMaxJsonDepth));
      ++at_;
      return c == '{' ? object(depth + 1) : array(depth + 1);
    }
    if (c == '"') return string(nullptr);
    return word();
  }

  bool object(std::size_t depth) {
    const std::size_t path_size = path_.size();
    skip_space();
    if (!at_end() && text_[at_] == '}') return ++at_, true;
    while (true) {
      skip_space();
      std::string key;
      if (at_end() || text_[at_] != '"') return expect('"', "before a key");
      if (!string(&key)) return false;
      append_key(path_, key);
      if (!expect(':', "behind a key") || !value(depth)) return false;
      path_.resize(path_size);
      skip_space();
      if (!at_end() && text_[at_] == ',') {
        ++at_;
        continue;
      }
      return expect('}', "or ',' in an object");
    }
  }

  bool array(std::size_t depth) {
    const std::size_t path_size = path_.size();
    skip_space();
    if (!at_end() && text_[at_] == ']') return ++at_, true;
    for (std::size_t index = 0;; ++index) {
      append_index(path_, index);
      if (!value(depth)) return false;
      path_.resize(path_size);
      skip_space();
      if (!at_end() && text_[at_] == ',') {
        ++at_;
        continue;
      }
      return expect(']', "or ',' in an array");
    }
  }

  // Escapes stay as they are in `out`: it is only shown.
  bool string(std::string* out) {
    const std::size_t begin = ++at_;
    for (; !at_end(); ++at_) {
      if (static_cast<unsigned char>(text_[at_]) < 0x20)
        return fail("control character in a string");
      if (text_[at_] == '\\') {
        ++at_;
        if (at_end()) break;
        if (std::string_view("\"\\/bfnrtu").find(text_[at_]) == std::string_view::npos)
          return fail("unknown escape in a string");
      } else if (text_[at_] == '"') {
        if (out) *out = text_.substr(begin, at_ - begin);
        ++at_;
        return true;
      }
    }
    return fail("the text ends inside a string");
  }

  bool word() {
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    const std::string_view token = text_.substr(at_, end - at_);
    if (token.empty()) return fail(quote(text_.substr(at_, 1)) + " where a value is expected");
    if (token == "true" || token == "false" || token == "null" || number(token)) {
      at_ = end;
      return true;
    }
    return problem_.empty() ? fail(quote(token) + " is not a value") : false;
  }

  bool number(std::string_view token) {
    const std::string_view digits = token.starts_with('-') ? token.substr(1) : token;
    if (digits.empty() || digits[0] < '0' || digits[0] > '9') return false;
    if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') return false;
    double real = 0;
    const char* last = token.data() + token.size();
    const auto parsed = std::from_chars(token.data(), last, real);
    if (parsed.ptr != last) return false;
    if (parsed.ec != std::errc()) return fail(printable(token) + ": number out of range");
    if (token.find_first_of(".eE") != std::string_view::npos) return true;
    std::int64_t small = 0;
    std::uint64_t large = 0;
    if (std::from_chars(token.data(), last, small).ec == std::errc() ||
        std::from_chars(token.data(), last, large).ec == std::errc())
      return true;
    return fail(printable(token) + ": integer out of the range of 64 bits");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string path_, problem_;
};

}  // namespace

std::string locate_error(std::span<const std::byte> text, std::string_view reason) {
  if (text.empty()) return "the member is empty";
  const std::string found =
      Scanner({reinterpret_cast<const char*>(text.data()), text.size()}).run(reason);
  return found.empty() ? std::string(reason) : found;
}

void append_key(std::string& path, std::string_view key) {
  const bool plain = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return is_word(c) ? c != '.' && c != '+' : c == '#';
  });
  if (!plain)
    path += '[' + quote(key) + ']';
  else
    path.append(path.empty() ? "" : ".").append(key);
}

void append_index(std::string& path, std::size_t index) {
  path += '[' + std::to_string(index) + ']';
}

}  // namespace opennrt::neff
