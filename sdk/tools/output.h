// SPDX-License-Identifier: Apache-2.0
//
// Standard output of the tools, and text for it. The first failure stays known until the command
// ends, which tells it and fails.
#pragma once

#include <string>
#include <string_view>

namespace opennrt::tools {

// False: the text, or one before it, did not arrive.
bool print(std::string_view text);

enum class Written { kYes, kReaderGone, kFailed };

// All of the text, now. Of a tool that goes on until its reader leaves: that is no
// failure.
Written print_now(std::string_view text);

// What others say, such as a process about itself, for people: ASCII only, a '?' for
// each other character.
std::string printable(std::string_view text);

// Of a command that ends with `code`: that, or at least `trouble` when its text did
// not arrive, which is told.
int finish_output(std::string_view command, int code, int trouble = 1);

}  // namespace opennrt::tools
