// SPDX-License-Identifier: Apache-2.0
//
// Texts of others in what the tools print.
#pragma once

#include <string>
#include <string_view>

namespace opennrt::tools {

// The text in quotes. One that is no UTF-8 loses the bytes that are no ASCII.
std::string json_string(std::string_view text);

// The text for a terminal: '?' instead of control characters and, in one that is no
// UTF-8, of bytes that are no ASCII.
std::string plain_text(std::string_view text);

}  // namespace opennrt::tools
