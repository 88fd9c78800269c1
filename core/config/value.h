// SPDX-License-Identifier: Apache-2.0
//
// Text to value, by the type of a setting. Independent of the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "config/settings.h"
#include "log/log.h"

namespace opennrt::config {

// Contiguous run of logical cores.
struct CoreRange {
  std::uint32_t first = 0, count = 0;
  bool was_sorted = true;  // the text named them in ascending order
};

struct Value {
  bool set = false;
  std::string text{};        // effective value, canonical form
  std::uint64_t number = 0;  // kBool, kUint, kSize; kEnum: place in its choices
  std::vector<std::string> list{};
  std::vector<std::uint64_t> numbers{};  // kNumbers; kRanges: first, last of each
  CoreRange cores{};
};

struct LogLocation {
  bool console = false, syslog = false;
  std::string file;
};

std::string_view trimmed(std::string_view text);
bool equals_ignoring_case(std::string_view a, std::string_view b);

std::optional<bool> parse_bool(std::string_view text);
// Decimal or 0x hex; surrounding blanks are ignored, anything else refused.
std::optional<std::uint64_t> parse_uint(std::string_view text);
// With an optional K, M, G, T or KiB, MiB, GiB, TiB behind it.
std::optional<std::uint64_t> parse_size(std::string_view text);
// First word of ERROR, WARN, INFO, DEBUG, TRACE that the text contains; QUIET
// switches off.
std::optional<log::Level> parse_level(std::string_view text);
std::optional<LogLocation> parse_location(std::string_view text);
// "0-3,5": first and last of each item. NRT_INVALID with the reason.
Result<std::vector<std::pair<std::uint64_t, std::uint64_t>>> parse_ranges(std::string_view text);
// The same without a hole in the end.
Result<CoreRange> parse_cores(std::string_view text);
std::vector<std::string> split_list(std::string_view text, char separator);

// Whether a size may carry a unit: variables of the public ABI are plain numbers.
enum class Units : std::uint8_t { kPlain, kAllowed };

// The value, or why the text is none. With OnBad::kClamp a number out of range
// becomes the nearest legal one and *out_clamped tells so.
Result<Value> parse_value(const Setting& row, std::string_view text, Units units,
                          bool* out_clamped);

}  // namespace opennrt::config
