// SPDX-License-Identifier: Apache-2.0
//
// Interned strings: names of models, tensors and events as numbers, so that
// what is recorded on the execute path holds no text. The number of a text is
// a pure function of it: the same in every process and on every core.
//
// Threading: every function may be called from any thread. One lock per
// logical core, held for one look-up.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace opennrt::strings {

// 1 to 2^50; 0 is no string.
using StringId = std::uint64_t;
inline constexpr StringId kNoString = 0;
inline constexpr unsigned kIdBits = 50;

StringId id_of(std::string_view text);

// id_of(), and the text can be found from now on. core: -1 or a logical core.
// A table that is full (kMostBytes of text) still gives the number.
StringId intern(std::int32_t core, std::string_view text);
inline constexpr std::size_t kMostBytes = 4 << 20;  // per core

// Empty: not interned on any core.
std::string text_of(StringId id);

// The tables of all cores as one.
std::map<StringId, std::string> all();

}  // namespace opennrt::strings
