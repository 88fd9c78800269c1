// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>

namespace opennrt::tools {

// A value of OPENNRT_PLUGIN_PATH with a directory behind it, which may hold a ':':
// a list with a ',' is split there alone.
inline std::string with_plugin_directory(std::string list, const std::string& directory) {
  if (list.find(',') == std::string::npos) std::replace(list.begin(), list.end(), ':', ',');
  return list + "," + directory;
}

}  // namespace opennrt::tools
