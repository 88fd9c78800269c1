// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace opennrt::tools {

// What a member is, by the names that compilers give; "data" for all others.
const char* member_kind(std::string_view name);

}  // namespace opennrt::tools
