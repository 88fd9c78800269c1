// SPDX-License-Identifier: Apache-2.0
#include "neff/text.h"

#include <fmt/format.h>

#include <iterator>

namespace opennrt::neff {

std::string hex(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte b : bytes)
    fmt::format_to(std::back_inserter(out), "{:02x}", std::to_integer<unsigned>(b));
  return out;
}

}  // namespace opennrt::neff
