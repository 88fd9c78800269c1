// SPDX-License-Identifier: Apache-2.0
//
// The release whose interface and behaviour this library has, and its own.
#pragma once

namespace opennrt::api {

inline constexpr unsigned kVersionMajor = 2, kVersionMinor = 31, kVersionPatch = 24,
                          kVersionMaintenance = 0;
inline constexpr char kVersionText[] = "libnrt version 2.31.24.0 (OpenNRT " OPENNRT_VERSION ")";
inline constexpr char kGitHash[] = OPENNRT_GIT_HASH;

}  // namespace opennrt::api
