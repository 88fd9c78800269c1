// SPDX-License-Identifier: Apache-2.0
//
// MD5 and SHA-256 of a byte range, against damage, not against attackers. By
// libmd: the shared Foundation library of Poco blocks SIGPIPE in the process
// that loads it, which a guest must not do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace opennrt::neff {

std::array<std::byte, 16> md5(std::span<const std::byte> data);
std::array<std::byte, 32> sha256(std::span<const std::byte> data);

}  // namespace opennrt::neff
