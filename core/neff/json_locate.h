// SPDX-License-Identifier: Apache-2.0
//
// Where a JSON text is wrong. The fast parser reports no position, so a text
// it refused is scanned again here, slowly.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace opennrt::neff {

inline constexpr std::size_t kMaxJsonDepth = 64;

// "line 3, column 7: var.SB.size: 1e999: ..."; `reason` when this scan finds
// nothing wrong.
std::string locate_error(std::span<const std::byte> text, std::string_view reason);

// Extends a key path: ".name" or ["na.me"], and [3].
void append_key(std::string& path, std::string_view key);
void append_index(std::string& path, std::size_t index);

}  // namespace opennrt::neff
