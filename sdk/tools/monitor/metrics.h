// SPDX-License-Identifier: Apache-2.0
//
// A sample in the text format of Prometheus, version 0.0.4. Names are those of the
// ecosystem's exporter where it has the figure, else they begin with opennrt_.
#pragma once

#include <string>
#include <string_view>

#include "watch/figures.h"

namespace opennrt::tools {

inline constexpr char kMetricsType[] = "text/plain; version=0.0.4; charset=utf-8";

std::string metrics_of(const Sample& sample, const PeriodFigures& figures);
// Once the sample is too old to tell of now: that nothing is known, and since when.
std::string stale_metrics_of(const Sample& sample);
// A label's value between its quotes.
std::string label_text(std::string_view text);

}  // namespace opennrt::tools
