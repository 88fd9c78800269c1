// SPDX-License-Identifier: Apache-2.0
//
// Speed of the software device on real models against limits measured beside it.
#pragma once

namespace opennrt::bench {

// `only`: the limits whose names contain it; empty: all. Progress goes to stderr,
// the line of ratios to stdout. 0: all are kept, 1: some are not, 2: no peer
// library is installed or the corpus is absent.
int measure_limits(const char* only);

// Body of the child process that measures memory: loads and executes a model,
// prints the bytes that this added to the peak of the resident set.
int print_peak_memory(const char* model);

}  // namespace opennrt::bench
