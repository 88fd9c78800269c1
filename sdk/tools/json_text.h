// SPDX-License-Identifier: Apache-2.0
//
// Texts in what the tools print with --json.
#pragma once

#include <string>
#include <string_view>

namespace opennrt::tools {

// The text in quotes. One that is no UTF-8 loses the bytes that are no ASCII.
std::string json_string(std::string_view text);

}  // namespace opennrt::tools
