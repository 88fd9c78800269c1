// SPDX-License-Identifier: Apache-2.0
//
// A configuration file as a flat list of keys.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace opennrt::config {

struct FileEntry {
  std::string key;  // dotted path
  std::string text;
  int line = 0;         // 1-based; of the value, or of the key when that is the problem
  int column = 0;       // 1-based
  bool known = false;   // false: reported, not used
  std::string problem;  // why the value is none; empty: it is one
};

// NRT_INVALID: unreadable, too large, or not YAML; the message names file, line,
// column and reason. No exception leaves this function.
Result<std::vector<FileEntry>> read_file(const std::string& path);
Result<std::vector<FileEntry>> parse_yaml(const std::string& path, const std::string& text);

// Keys that are free below a prefix: plugins.settings.<plugin>.<key> and
// log.modules.<module>.{level,location}.
bool is_free_key(std::string_view key);

}  // namespace opennrt::config
