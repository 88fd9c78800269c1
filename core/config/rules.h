// SPDX-License-Identifier: Apache-2.0
//
// What settings mean for each other.
#pragma once

#include "config/draft.h"

namespace opennrt::config {

void apply_rules(Draft& draft);

}  // namespace opennrt::config
