// SPDX-License-Identifier: Apache-2.0
#include "source_reader.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace opennrt::neffkit {
namespace {

std::optional<std::uint64_t> parse_magnitude(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || status != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::uint64_t> parse_unsigned(const YAML::Node& node, std::uint64_t limit) {
  if (!node.IsScalar()) return std::nullopt;
  const auto value = parse_magnitude(node.Scalar());
  return value && *value <= limit ? value : std::nullopt;
}

std::optional<std::int64_t> parse_signed(const YAML::Node& node) {
  if (!node.IsScalar()) return std::nullopt;
  const std::string& text = node.Scalar();
  const bool negative = text.starts_with('-');
  const auto value = parse_magnitude(std::string_view(text).substr(negative ? 1 : 0));
  if (!value || *value > INT64_MAX) return std::nullopt;
  const auto magnitude = static_cast<std::int64_t>(*value);
  return negative ? -magnitude : magnitude;
}

std::string shown(const YAML::Node& node) {
  return node.IsScalar() ? "'" + node.Scalar() + "'" : "a list or map";
}

}  // namespace

bool SourceReader::fail(int line, const std::string& message) const {
  *error_ = source_ + ":" + std::to_string(line) + ": " + message;
  return false;
}

bool SourceReader::missing(const YAML::Node& map, const char* key) const {
  return fail(map, std::string("key '") + key + "' is missing");
}

bool SourceReader::check_map(const YAML::Node& node, std::string_view what,
                             std::initializer_list<std::string_view> allowed) const {
  if (!node.IsMap()) return fail(node, std::string(what) + " must be a map of keys and values");
  std::vector<std::string> seen;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) return fail(entry.first, std::string(what) + ": key is no text");
    const std::string& key = entry.first.Scalar();
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      std::string known;
      for (std::string_view a : allowed) known += " " + std::string(a);
      return fail(entry.first, std::string(what) + ": unknown key '" + key + "'; known:" + known);
    }
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      return fail(entry.first, std::string(what) + ": key '" + key + "' is given twice");
    }
    seen.push_back(key);
  }
  return true;
}

bool SourceReader::text(const YAML::Node& map, const char* key, bool required,
                        std::string* out) const {
  const YAML::Node node = map[key];
  if (!node.IsDefined()) return !required || missing(map, key);
  if (!node.IsScalar()) return fail(node, std::string(key) + " must be text");
  *out = node.Scalar();
  return true;
}

bool SourceReader::number(const YAML::Node& map, const char* key, bool required,
                          std::uint64_t limit, std::uint64_t* out) const {
  const YAML::Node node = map[key];
  if (!node.IsDefined()) return !required || missing(map, key);
  const auto value = parse_unsigned(node, limit);
  if (!value) {
    return fail(node, std::string(key) + ": " + shown(node) + " is not a number in 0.." +
                          std::to_string(limit));
  }
  *out = *value;
  return true;
}

bool SourceReader::numbers(const YAML::Node& map, const char* key, bool required,
                           std::uint64_t limit, std::vector<std::uint64_t>* out) const {
  const YAML::Node node = map[key];
  if (!node.IsDefined()) return !required || missing(map, key);
  if (!node.IsSequence()) return fail(node, std::string(key) + " must be a list of numbers");
  for (const auto& item : node) {
    const auto value = parse_unsigned(item, limit);
    if (!value) {
      return fail(item, std::string(key) + ": " + shown(item) + " is not a number in 0.." +
                            std::to_string(limit));
    }
    out->push_back(*value);
  }
  return true;
}

bool SourceReader::signed_numbers(const YAML::Node& map, const char* key, bool required,
                                  std::vector<std::int64_t>* out) const {
  const YAML::Node node = map[key];
  if (!node.IsDefined()) return !required || missing(map, key);
  if (!node.IsSequence()) return fail(node, std::string(key) + " must be a list of numbers");
  for (const auto& item : node) {
    const auto value = parse_signed(item);
    if (!value) return fail(item, std::string(key) + ": " + shown(item) + " is not a number");
    out->push_back(*value);
  }
  return true;
}

bool SourceReader::reals(const YAML::Node& map, const char* key, std::vector<double>* out) const {
  const YAML::Node node = map[key];
  if (!node.IsDefined()) return true;
  if (!node.IsSequence()) return fail(node, std::string(key) + " must be a list of numbers");
  for (const auto& item : node) {
    double value = 0;
    const std::string text = item.IsScalar() ? item.Scalar() : std::string();
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || status != std::errc() || end != text.data() + text.size()) {
      return fail(item, std::string(key) + ": " + shown(item) + " is not a number");
    }
    out->push_back(value);
  }
  return true;
}

bool SourceReader::sequence(const YAML::Node& map, const char* key, YAML::Node* out) const {
  const YAML::Node node = map[key];
  if (!node.IsDefined() || node.IsNull()) {
    out->reset(YAML::Node(YAML::NodeType::Sequence));
    return true;
  }
  if (!node.IsSequence()) return fail(node, std::string(key) + " must be a list");
  out->reset(node);
  return true;
}

bool SourceReader::name(const YAML::Node& at, const std::string& text, std::size_t longest) const {
  const bool good = !text.empty() && text.size() <= longest && text[0] != '.' &&
                    std::all_of(text.begin(), text.end(), [](unsigned char c) {
                      return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
                    });
  if (good) return true;
  return fail(at, "'" + text + "' is not a name: use at most " + std::to_string(longest) +
                      " letters, digits, '_', '-' and '.', and do not start with '.'");
}

}  // namespace opennrt::neffkit
