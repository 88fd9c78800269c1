// SPDX-License-Identifier: Apache-2.0
#include "neff/text.h"

#include <fmt/format.h>

#include <iterator>

namespace opennrt::neff {

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  const bool cut = text.size() > limit;
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    else
      out.push_back(c);
  }
  if (cut) out += "...";
  return out;
}

std::string quote(std::string_view text, std::size_t limit) {
  return '"' + printable(text, limit) + '"';
}

std::string hex(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte b : bytes)
    fmt::format_to(std::back_inserter(out), "{:02x}", std::to_integer<unsigned>(b));
  return out;
}

}  // namespace opennrt::neff
