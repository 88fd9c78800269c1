// SPDX-License-Identifier: Apache-2.0
//
// Between the writing of a line and the call it is written in.
#pragma once

#include <string>
#include <string_view>

#include "log/log.h"

namespace opennrt::log {

// Takes a line away from the console until the call of this thread has ended.
bool hold_back(Level level, std::string_view line);
void set_coalescing(bool on) noexcept;

// The line as append_line() makes it, of this moment and thread.
std::string line_of_now(Module module, Level level, std::string_view function,
                        std::string_view text);

// Lines on the console only, as they are.
void write_console(Level level, std::string_view lines);
// A line with more text under it, which goes to the console only.
void write_with_block(Module module, Level level, std::string_view function, std::string_view text,
                      std::string_view block) noexcept;

}  // namespace opennrt::log
