// SPDX-License-Identifier: Apache-2.0
//
// A NEFF as a directory of its members, and back.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "neff/model.h"

namespace opennrt::tools {

// All members and the header into a new directory, or nothing at all.
Status unpack_model(const Model& model, std::span<const std::byte> payload,
                    const std::string& directory);

struct PackOptions {
  std::optional<std::string> name;  // instead of the header's
  bool new_uuid = false;            // identity from the content
};
// The whole file. The same directory gives the same bytes.
Result<std::vector<std::byte>> pack_directory(const std::string& directory,
                                              const PackOptions& options);

}  // namespace opennrt::tools
