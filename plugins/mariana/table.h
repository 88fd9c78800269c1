// SPDX-License-Identifier: Apache-2.0
//
// The plugin's table, for its entry and for tests that link the family.
#pragma once

#include <cstdint>

#include "opennrt/arch.h"

namespace opennrt::mariana {

const nrtp_arch_plugin& plugin();

}  // namespace opennrt::mariana
