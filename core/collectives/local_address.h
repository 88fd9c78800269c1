// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace opennrt::collectives {

enum class Address { kInvalid, kLocal, kRemote };
// What an IPv4 or IPv6 address in numbers stands for: this host or another one.
Address classify_address(const std::string& text);

}  // namespace opennrt::collectives
