// SPDX-License-Identifier: Apache-2.0
//
// Text of others (files, variables) inside our messages: it may hold any byte and
// be of any length.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace opennrt {

// Control bytes as \xNN, shortened to `limit` bytes with "..." behind it.
inline std::string printable(std::string_view text, std::size_t limit = 120) {
  std::string out;
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    else
      out.push_back(c);
  }
  if (text.size() > limit) out += "...";
  return out;
}

// The same in double quotes.
inline std::string quote(std::string_view text, std::size_t limit = 120) {
  return '"' + printable(text, limit) + '"';
}

}  // namespace opennrt
