// SPDX-License-Identifier: Apache-2.0
//
// A sample as one JSON object with the names that the ecosystem's monitor uses
// (public user guide of neuron-monitor). What is not known is null, and a group that
// lacks something says why in `error`.
#pragma once

#include <string>

#include "watch/figures.h"

namespace opennrt::tools {

// One line without its end.
std::string report_of(const Sample& sample, const PeriodFigures& figures);

}  // namespace opennrt::tools
