// SPDX-License-Identifier: Apache-2.0
//
// The least that makes a program use this libnrt.
#pragma once

#include <optional>
#include <string>

#include "link/libraries.h"

namespace opennrt::tools {

enum class Way {
  kNothing,      // it finds this library by itself
  kLibraryPath,  // LD_LIBRARY_PATH: where it looks
  kPreload,      // LD_PRELOAD: before it looks
  kRedirect,     // LD_AUDIT: whatever it asks for
};
const char* way_name(Way way);
std::optional<Way> find_way(const std::string& name);

struct Choice {
  Way way = Way::kNothing;
  Variables variables;  // to set for it
  std::string reason;   // why not less
};

// The first way that the loader confirms. False with *error: none does.
bool choose(const Program& program, Choice* out, std::string* error);
// That way, confirmed or not; nothing is confirmed.
bool choose(const Program& program, Way way, Choice* out, std::string* error);

}  // namespace opennrt::tools
