// SPDX-License-Identifier: Apache-2.0
#include "dump/path_template.h"

#include <fmt/format.h>
#include <time.h>

#include <optional>

namespace opennrt::dump {

namespace {

std::optional<std::string> value_of(char variable, const Values& values) {
  switch (variable) {
    case 'p':
      return std::to_string(values.pid);
    case 't':
      return std::to_string(values.tid);
    case 'l':
      return std::to_string(values.number);
    case 'c':
      return values.cluster_id;
    case 'd':
      return values.date_time;
    case 'i':
      return values.instance_id;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string expand(std::string_view pattern, const Values& values, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    std::string piece(1, pattern[i]);
    if (pattern[i] == '%' && i + 1 < pattern.size()) {
      piece += pattern[++i];
      if (auto value = value_of(piece[1], values)) piece = std::move(*value);
    }
    if (out.size() + piece.size() > most) break;
    out += piece;
  }
  return out;
}

std::string date_time_of(std::int64_t seconds_since_epoch) {
  const time_t seconds = seconds_since_epoch;
  tm local{};
  localtime_r(&seconds, &local);
  return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}", local.tm_year + 1900, local.tm_mon + 1,
                     local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec);
}

std::string component(std::string_view text, std::string_view fallback) {
  constexpr std::size_t kMost = 64;
  std::string out(text.substr(0, kMost));
  for (char& c : out) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '_' || c == '.';
    if (!plain) c = '_';
  }
  return out.empty() || out.front() == '.' ? std::string(fallback) : out;
}

}  // namespace opennrt::dump
