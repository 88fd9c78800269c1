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

}  // namespace opennrt::tools
