// SPDX-License-Identifier: Apache-2.0
#include "json_text.h"

#include <simdjson.h>

#include <cstdio>

namespace opennrt::tools {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  const bool valid = simdjson::validate_utf8(text.data(), text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (!valid && byte >= 0x80) {
      out += "\\ufffd";
    } else if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string plain_text(std::string_view text) {
  std::string out;
  const bool valid = simdjson::validate_utf8(text.data(), text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters, too.
    const bool high = valid && byte == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    const bool control = byte < 0x20 || byte == 0x7F || high || (!valid && byte >= 0x80);
    out += control ? '?' : text[i];
    if (high) ++i;
  }
  return out;
}

}  // namespace opennrt::tools
