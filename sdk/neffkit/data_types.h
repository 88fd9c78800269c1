// SPDX-License-Identifier: Apache-2.0
//
// Names of data types in NEFF manifests.
#pragma once

#include <cstdint>
#include <string_view>

namespace opennrt::neffkit {

// Bytes of one element; 0 = unknown name.
std::uint32_t data_type_bytes(std::string_view name);

}  // namespace opennrt::neffkit
