// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.h"

namespace opennrt::tools {

// A model file, whole: what is wrong inside a small file is left to the loader, a
// large one is read only when its header says that it is as large. Messages begin
// with "PATH: ".
Result<std::vector<std::byte>> read_model_file(const std::string& path);

}  // namespace opennrt::tools
