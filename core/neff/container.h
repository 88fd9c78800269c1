// SPDX-License-Identifier: Apache-2.0
//
// The NEFF container: a 1024-byte little-endian header and a payload, a tar
// (package version 1) or a gzipped tar (2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "neff/members.h"

namespace opennrt::neff {

inline constexpr std::size_t kHeaderBytes = 1024;
inline constexpr std::uint64_t kFeatureVnc = std::uint64_t{1} << 10;  // lnc_size is binding

struct Header {
  std::uint64_t pkg_version = 0, data_size = 0;
  std::uint64_t version_major = 0, version_minor = 0;
  std::array<std::byte, 32> hash{};
  std::array<std::uint8_t, 16> uuid{};
  std::string name;
  std::uint64_t feature_bits = 0;
  std::uint32_t lnc_size = 0;
};

// Reads the header and applies its gates: sizes, versions, feature bits.
Result<Header> read_header(std::span<const std::byte> bytes);
// The same of the first bytes of a file that has file_bytes.
Result<Header> read_header(std::span<const std::byte> bytes, std::uint64_t file_bytes);

// payload: the header.data_size bytes behind the header.
Status check_hash(const Header& header, std::span<const std::byte> payload);

// max_bytes: decompressed bytes accepted; 0 = half of the memory limit.
Result<MemberTable> unpack(const Header& header, std::span<const std::byte> payload,
                           std::uint64_t max_bytes);

}  // namespace opennrt::neff
