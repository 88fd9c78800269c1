// SPDX-License-Identifier: Apache-2.0
//
// How often a test repeats what it is about.
#pragma once

#include <cstdlib>
#include <string_view>

namespace opennrt::test {

// count; a tenth of it in builds with a sanitizer, whose runs take that much longer,
// unless TEST_REPEATS is "all".
inline int repeats(int count) {
  const char* text = std::getenv("TEST_REPEATS");
  const bool all = text != nullptr && std::string_view(text) == "all";
  return all || std::string_view(OPENNRT_BUILD_SAN) == "none" ? count : (count + 9) / 10;
}

}  // namespace opennrt::test
