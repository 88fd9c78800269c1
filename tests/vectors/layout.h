// SPDX-License-Identifier: Apache-2.0
//
// Request codes and argument layouts as the interface description states them,
// so that a transcript is replayed through layouts that are not our own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace opennrt::replay {

struct Field {
  std::string name;
  std::size_t offset = 0, bytes = 0;
  std::string type;  // "u32", "ptr", "u64[8]", "struct:x", ..
  bool pointer = false;
  std::size_t elements = 1;
  bool output = false;
};

struct Layout {
  std::size_t bytes = 0;
  std::vector<Field> fields;
  const Field* find(const std::string& name) const;
};

struct Request {
  std::string name;
  std::uint32_t code = 0;
  std::size_t arg_bytes = 0;
  std::string layout;  // name of the structure, "" for a scalar or nothing
  bool none = false;   // no argument
};

struct Interface {
  std::map<std::string, Request> requests;
  std::map<std::string, Layout> layouts;
  // False with *error filled when the file is missing or malformed.
  bool load(const std::string& path, std::string* error);
};

}  // namespace opennrt::replay
