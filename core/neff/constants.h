// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "neff/json.h"

namespace opennrt::neff {

// The data of a constant: the array behind the header of a NumPy file (name
// ends in ".npy", format 1 or 2, C order) or the whole member. Exactly `size`
// bytes. file: the value that names the member.
Result<std::span<const std::byte>> constant_data(const Json& file, std::string_view member_name,
                                                 std::span<const std::byte> member,
                                                 std::uint64_t size);

}  // namespace opennrt::neff
