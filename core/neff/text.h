// SPDX-License-Identifier: Apache-2.0
//
// Text and bytes of a model file inside our messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/text.h"

namespace opennrt::neff {

using opennrt::printable;
using opennrt::quote;

std::string hex(std::span<const std::byte> bytes);

}  // namespace opennrt::neff
