// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "driver/machine.h"

namespace opennrt::emu {

// Text of the statistics file at `path` below the directory of the device: what
// is under stats/memory_usage, and under neuron_core<N>/stats. False: there is none.
bool find_statistic(Machine& machine, DeviceNode& node, std::string_view path, std::string* text);

}  // namespace opennrt::emu
