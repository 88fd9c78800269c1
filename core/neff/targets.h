// SPDX-License-Identifier: Apache-2.0
//
// Names of silicon in NEFF files.
#pragma once

#include <cstdint>
#include <string_view>

namespace opennrt::neff {

// Arch number of a target that published compilers write; 0: of no such target.
std::uint32_t published_arch(std::string_view target);

}  // namespace opennrt::neff
