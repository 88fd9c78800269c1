// SPDX-License-Identifier: Apache-2.0
//
// The table of settings: one row per configuration key with its type, range,
// default, environment variables and what a bad value does. Its rows stand in
// config/schema/nrt.schema.yaml.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "config/setting_keys.h"  // enum class Key, in the order of the rows

namespace opennrt::config {

enum class Type : std::uint8_t {
  kBool,      // 0 1 true false yes no on off, any case
  kUint,      // decimal or 0x hex
  kSize,      // as kUint, where units are allowed also with K, M, G, T or KiB, MiB, GiB, TiB
  kEnum,      // one of Setting::choices, any case
  kLevel,     // log level, by substring
  kLocation,  // CONSOLE and/or SYSLOG by substring, or a path
  kString,    // verbatim
  kList,      // comma separated; in files also a sequence
  kCores,     // "0-3,5": ranges of logical cores, contiguous in the end
  kRanges,    // the same with gaps
  kNumbers,   // several kUint
  kOpaque,    // any YAML value; kept as flow text for a plugin to read
};

// What the text of a kString or kList has to look like (form.h).
enum class Form : std::uint8_t {
  kNone,
  kInstanceType,
  kEndpoint,
  kAlgorithms,
  kHistogram,
  kOutputDirectory,
  kVerifyModes,
};

enum class MustBe : std::uint8_t { kNothing, kFile, kDirectory };

enum class OnBad : std::uint8_t {
  kFail,     // NRT_INVALID
  kDefault,  // WARN, the value of the next lower layer stays
  kClamp,    // WARN, nearest legal value
  kNever,    // every text is good
};

inline constexpr std::size_t kSettings = static_cast<std::size_t>(Key::kCount);

struct Setting {
  Key id{};
  std::string_view key{};  // dotted path in the files
  Type type{};
  Form form = Form::kNone;
  std::string_view fallback{};                      // text of the default; empty = unset
  std::array<std::string_view, 3> arch_fallback{};  // of arch 2, 3, 4; empty = fallback
  std::uint64_t min = 0, max = ~0ull;               // of kNumbers: each
  std::uint64_t multiple_of = 1;
  bool power_of_two = false;
  std::uint32_t count = 0, max_count = 0;  // kNumbers: exactly, at most; 0 = any
  std::string_view choices{};              // kEnum: separated by '|'
  bool indexed = false;                    // kEnum: a number is a place in choices
  MustBe must_be = MustBe::kNothing;       // kString: what has to exist there
  std::uint32_t max_bytes = 0;             // kString: longest text; 0 = any
  OnBad bad = OnBad::kFail;
  std::array<std::string_view, 2> variables{};  // the first one that is set wins
  bool per_load = false;                        // environment is read again by nrt_load
  bool appends = false;                         // kList: an upper layer adds, instead of replacing
  bool empty_is_off = false;                    // an empty text is a value, not the absence of one
  bool acts = true;                             // false: this release does nothing with it
};

std::span<const Setting, kSettings> settings();
const Setting& setting(Key key);
// nullptr: no such key.
const Setting* find_setting(std::string_view key);
// Variables that older releases read: no key, no effect.
std::span<const std::string_view> removed_variables();

}  // namespace opennrt::config
