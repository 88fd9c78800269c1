// SPDX-License-Identifier: Apache-2.0
//
// Texts with a grammar of their own.
#pragma once

#include <string_view>

#include "base/status.h"
#include "config/settings.h"

namespace opennrt::config {

// NRT_INVALID: what the text should look like.
Status check_form(Form form, std::string_view text);

}  // namespace opennrt::config
