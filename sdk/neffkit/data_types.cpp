// SPDX-License-Identifier: Apache-2.0
#include "data_types.h"

#include <utility>

namespace opennrt::neffkit {

std::uint32_t data_type_bytes(std::string_view name) {
  constexpr std::pair<std::string_view, std::uint32_t> kTypes[] = {
      {"float32", 4},  {"float16", 2},  {"bfloat16", 2}, {"float8e3", 1}, {"float8e4", 1},
      {"float8e5", 1}, {"float32r", 4}, {"uint8", 1},    {"uint16", 2},   {"uint32", 4},
      {"uint64", 8},   {"int8", 1},     {"int16", 2},    {"int32", 4},    {"int64", 8},
  };
  for (const auto& [known, bytes] : kTypes) {
    if (known == name) return bytes;
  }
  return 0;
}

}  // namespace opennrt::neffkit
