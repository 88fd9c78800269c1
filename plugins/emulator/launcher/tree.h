// SPDX-License-Identifier: Apache-2.0
//
// The directory tree that stands for the served names: what a program sees when
// it lists or asks for the status of them. Contents come from the machine when a
// file is opened; the tree holds names and permissions.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace opennrt::emu::launcher {

// Every name that a machine of that many cores may serve below /sys for device
// `device`, and those that belong to no device. Writable ones end with "*".
std::vector<std::string> machine_attributes();
std::vector<std::string> device_attributes(unsigned device, unsigned cores);

// exists: as of the machine. False with *error.
bool make_tree(const std::string& root, const std::function<bool(const std::string&)>& exists,
               std::string* error);
// Directory and all below it; links are not followed.
void remove_tree(const std::string& root);

}  // namespace opennrt::emu::launcher
