// SPDX-License-Identifier: Apache-2.0
//
// Files of the command line tools. An output appears under its name when it is
// complete, or not at all; every failure is reported.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace opennrt::tools {

// The whole file, of at most half of the memory that this process may use.
Result<std::vector<std::byte>> read_whole(const std::string& path);

// Written under a temporary name beside `path` and renamed. What exists and is
// no regular file (/dev/stdout, a pipe) is written directly.
Status write_whole(const std::string& path, std::span<const std::byte> bytes);
Status write_whole(const std::string& path, std::string_view text);

}  // namespace opennrt::tools
