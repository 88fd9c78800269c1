// SPDX-License-Identifier: Apache-2.0
#include "config/value.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "base/text.h"
#include "config/form.h"

namespace opennrt::config {

namespace {

constexpr std::uint32_t kMaxCore = 65535;

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::string to_upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), upper);
  return out;
}

std::string_view level_name(log::Level level) {
  constexpr std::array<std::string_view, 6> kNames = {"QUIET", "ERROR", "WARN",
                                                      "INFO",  "DEBUG", "TRACE"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string range_text(const Setting& row) {
  return row.max == ~0ull ? fmt::format("at least {}", row.min)
                          : fmt::format("{} to {}", row.min, row.max);
}

// With the end that every number has.
std::string full_range(const Setting& row) { return fmt::format("{} to {}", row.min, row.max); }

// Into the row's range where the row allows that, else why it is not there.
Status fit(const Setting& row, std::uint64_t& number, bool* out_clamped) {
  if (number < row.min || number > row.max) {
    if (row.bad != OnBad::kClamp) return Status::invalid("must be {}", range_text(row));
    number = std::clamp(number, row.min, row.max);
    *out_clamped = true;
  }
  if (number % row.multiple_of != 0)
    return Status::invalid("must be a multiple of {}", row.multiple_of);
  if (row.power_of_two && !std::has_single_bit(number))
    return Status::invalid("must be a power of two");
  return {};
}

Result<Value> number_value(const Setting& row, std::optional<std::uint64_t> number,
                           bool* out_clamped) {
  if (!number) return Status::invalid("must be a number from {}", full_range(row));
  ONRT_TRY(fit(row, *number, out_clamped));
  Value value;
  value.number = *number;
  value.text = std::to_string(*number);
  return value;
}

Result<Value> size_value(const Setting& row, std::string_view text, Units units,
                         bool* out_clamped) {
  const auto number = units == Units::kAllowed ? parse_size(text) : parse_uint(text);
  if (number) return number_value(row, number, out_clamped);
  if (units == Units::kAllowed)
    return Status::invalid("must be a size from {}; write for example 8589934592, 8G or 64MiB",
                           full_range(row));
  return Status::invalid("must be a size from {}; write the number of bytes without a unit",
                         full_range(row));
}

Result<Value> numbers_value(const Setting& row, std::string_view text, bool* out_clamped) {
  Value value;
  std::vector<std::string> items = split_list(text, ',');
  if (items.empty()) return Status::invalid("no number");
  if (row.count != 0 && items.size() != row.count)
    return Status::invalid("has {} numbers, must have {}", items.size(), row.count);
  if (row.max_count != 0 && items.size() > row.max_count) {
    if (row.bad != OnBad::kClamp)
      return Status::invalid("has {} numbers, may have {}", items.size(), row.max_count);
    items.resize(row.max_count);
    *out_clamped = true;
  }
  for (const std::string& item : items) {
    auto number = parse_uint(item);
    if (!number) return Status::invalid("'{}' is not a number", printable(item));
    ONRT_TRY(fit(row, *number, out_clamped));
    value.numbers.push_back(*number);
    value.text += (value.text.empty() ? "" : ",") + std::to_string(*number);
  }
  return value;
}

Result<Value> ranges_value(std::string_view text) {
  ONRT_ASSIGN(const auto ranges, parse_ranges(text));
  Value value;
  value.text = trimmed(text);
  value.list = split_list(text, ',');
  for (const auto& [first, last] : ranges) {
    value.numbers.push_back(first);
    value.numbers.push_back(last);
  }
  return value;
}

Result<Value> enum_value(const Setting& row, std::string_view text) {
  const std::vector<std::string> choices = split_list(row.choices, '|');
  std::optional<std::uint64_t> place;
  for (std::size_t i = 0; i < choices.size() && !place; ++i)
    if (equals_ignoring_case(choices[i], trimmed(text))) place = i;
  if (!place && row.indexed) place = parse_uint(text);
  if (!place || *place >= choices.size())
    return Status::invalid("must be one of {}{}", row.choices,
                           row.indexed ? fmt::format(" or 0 to {}", choices.size() - 1) : "");
  Value value;
  value.text = choices[*place];
  value.number = *place;
  return value;
}

Result<Value> string_value(const Setting& row, std::string_view text) {
  if (row.max_bytes != 0 && text.size() > row.max_bytes)
    return Status::invalid("has {} bytes, may have {}", text.size(), row.max_bytes);
  Value value;
  value.text = text;
  if (row.must_be == MustBe::kNothing) return value;
  const bool file = row.must_be == MustBe::kFile;
  struct stat info{};
  if (::stat(value.text.c_str(), &info) != 0) return Status::invalid("{}", strerror(errno));
  if (file ? !S_ISREG(info.st_mode) : !S_ISDIR(info.st_mode))
    return Status::invalid("must be a {}", file ? "file" : "directory");
  return value;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return upper(x) == upper(y); });
}

std::optional<bool> parse_bool(std::string_view text) {
  text = trimmed(text);
  for (std::string_view yes : {"1", "true", "yes", "on"})
    if (equals_ignoring_case(text, yes)) return true;
  for (std::string_view no : {"0", "false", "no", "off"})
    if (equals_ignoring_case(text, no)) return false;
  return std::nullopt;
}

std::optional<std::uint64_t> parse_uint(std::string_view text) {
  text = trimmed(text);
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  text = trimmed(text);
  std::uint64_t unit = 1;
  // Powers of 1024 only: KB and the like mean either.
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 8> kUnits = {
      {{"KiB", 1ull << 10},
       {"MiB", 1ull << 20},
       {"GiB", 1ull << 30},
       {"TiB", 1ull << 40},
       {"K", 1ull << 10},
       {"M", 1ull << 20},
       {"G", 1ull << 30},
       {"T", 1ull << 40}}};
  for (const auto& [suffix, factor] : kUnits) {
    if (!text.ends_with(suffix)) continue;
    unit = factor;
    text.remove_suffix(suffix.size());
    break;
  }
  const auto number = parse_uint(text);
  if (!number || *number > ~0ull / unit) return std::nullopt;
  return *number * unit;
}

std::optional<log::Level> parse_level(std::string_view text) {
  const std::string word = to_upper(text);
  using log::Level;
  for (Level level : {Level::kError, Level::kWarn, Level::kInfo, Level::kDebug, Level::kTrace})
    if (word.find(level_name(level)) != std::string::npos) return level;
  if (word.find("QUIET") != std::string::npos) return Level::kDisabled;
  return std::nullopt;
}

std::optional<LogLocation> parse_location(std::string_view text) {
  LogLocation location;
  if (text.find('/') != std::string_view::npos) {
    location.file = trimmed(text);
    return location;
  }
  const std::string word = to_upper(text);
  location.console = word.find("CONSOLE") != std::string::npos;
  location.syslog = word.find("SYSLOG") != std::string::npos;
  if (!location.console && !location.syslog) return std::nullopt;
  return location;
}

Result<std::vector<std::pair<std::uint64_t, std::uint64_t>>> parse_ranges(std::string_view text) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const std::string& item : split_list(text, ',')) {
    const auto dash = item.find('-');
    const auto first = parse_uint(std::string_view(item).substr(0, dash));
    const auto last =
        dash == std::string::npos ? first : parse_uint(std::string_view(item).substr(dash + 1));
    if (!first || !last) return Status::invalid("'{}' is neither N nor A-B", printable(item));
    if (*first > *last) return Status::invalid("range {} runs backwards", item);
    if (*last > kMaxCore) return Status::invalid("core {} is above {}", *last, kMaxCore);
    ranges.emplace_back(*first, *last);
  }
  if (ranges.empty()) return Status::invalid("no core named");
  return ranges;
}

Result<CoreRange> parse_cores(std::string_view text) {
  ONRT_ASSIGN(auto ranges, parse_ranges(text));
  CoreRange out;
  out.was_sorted = std::is_sorted(ranges.begin(), ranges.end());
  std::sort(ranges.begin(), ranges.end());
  std::uint64_t end = ranges.front().first;  // one past the cores seen so far
  for (const auto& [first, last] : ranges) {
    if (first > end) return Status::invalid("not contiguous: core {} is missing", end);
    end = std::max(end, last + 1);
  }
  out.first = static_cast<std::uint32_t>(ranges.front().first);
  out.count = static_cast<std::uint32_t>(end - ranges.front().first);
  return out;
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> items;
  while (true) {
    const auto end = text.find(separator);
    const std::string_view item = trimmed(text.substr(0, end));
    if (!item.empty()) items.emplace_back(item);
    if (end == std::string_view::npos) return items;
    text.remove_prefix(end + 1);
  }
}

Result<Value> parse_value(const Setting& row, std::string_view text, Units units,
                          bool* out_clamped) {
  *out_clamped = false;
  Result<Value> value = Value{};
  value->text = text;
  switch (row.type) {
    case Type::kBool: {
      const auto flag = parse_bool(text);
      if (!flag) return Status::invalid("must be 0 or 1");
      value->number = *flag;
      value->text = *flag ? "1" : "0";
      break;
    }
    case Type::kUint:
      value = number_value(row, parse_uint(text), out_clamped);
      break;
    case Type::kSize:
      value = size_value(row, text, units, out_clamped);
      break;
    case Type::kNumbers:
      value = numbers_value(row, text, out_clamped);
      break;
    case Type::kRanges:
      value = ranges_value(text);
      break;
    case Type::kEnum:
      value = enum_value(row, text);
      break;
    case Type::kLevel: {
      const auto level = parse_level(text);
      if (!level) return Status::invalid("must be ERROR, WARN, INFO, DEBUG, TRACE or QUIET");
      value->text = level_name(*level);
      value->number = static_cast<std::uint64_t>(*level);
      break;
    }
    case Type::kLocation:
      if (!parse_location(text)) return Status::invalid("must name CONSOLE, SYSLOG or a file");
      break;
    case Type::kList:
      // A search path may also be separated like every other path variable.
      value->list = split_list(text, row.appends && text.find(',') == text.npos ? ':' : ',');
      break;
    case Type::kCores: {
      ONRT_ASSIGN(value->cores, parse_cores(text));
      break;
    }
    case Type::kString:
      value = string_value(row, text);
      break;
    case Type::kOpaque:
      break;
  }
  if (!value) return value;
  ONRT_TRY(check_form(row.form, text));
  value->set = true;
  return value;
}

}  // namespace opennrt::config
