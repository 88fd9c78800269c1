// SPDX-License-Identifier: Apache-2.0
//
// Opening a plugin library. A library once opened stays until process exit:
// tables, strings and code of it may be in use anywhere.
#pragma once

#include <string>

#include "base/status.h"

namespace opennrt::plugin {

// NRT_INVALID unless the file is a complete shared object for this machine.
// dlopen of a truncated file may end in a bus error, hence the check before.
Status check_elf(const std::string& path);

// Address of `symbol`, which must come from that very file. Everything is bound
// at once, nothing becomes visible to other libraries.
Result<void*> open_symbol(const std::string& path, const char* symbol);

}  // namespace opennrt::plugin
