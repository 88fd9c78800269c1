// SPDX-License-Identifier: Apache-2.0
//
// The arch plugins of the configured directories, of plugins/ beside the
// runtime's library, and of the install directory, all opened.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "opennrt/arch.h"

namespace opennrt::tools {

struct InstalledArches {
  std::vector<const nrtp_arch_plugin*> arches;  // never closed
  std::vector<std::string> notes;               // what was refused and why
};

// Looked for once.
const InstalledArches& installed_arches();
// The plugin takes models of that target; "*" suits all.
bool runs_target(const nrtp_arch_plugin& arch, std::string_view target);

}  // namespace opennrt::tools
