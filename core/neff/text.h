// SPDX-License-Identifier: Apache-2.0
//
// Text of a model file inside our messages: such text may hold any byte.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace opennrt::neff {

// The text in double quotes, control bytes as \xNN, shortened to `limit` bytes.
std::string quote(std::string_view text, std::size_t limit = 120);
// The same escapes without the quotes.
std::string printable(std::string_view text, std::size_t limit = 120);

std::string hex(std::span<const std::byte> bytes);

}  // namespace opennrt::neff
