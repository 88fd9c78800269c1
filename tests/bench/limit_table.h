// SPDX-License-Identifier: Apache-2.0
//
// Ratios of our side to a limit that is measured in the same run, and the line
// that sums them up. Repeats of the two sides alternate, so that other work on the
// machine meets both.
#pragma once

#include <functional>
#include <string>

namespace opennrt::bench {

class LimitTable {
 public:
  // only: what the names of those wanted contain; empty: all are.
  explicit LimitTable(const char* only) : only_(only) {}

  bool wanted(const std::string& name) const { return name.find(only_) != std::string::npos; }
  // ratio must be <= limit, or >= when `at_least`. `invalid`: why the ratio says
  // nothing; it fails then.
  void add(const std::string& name, double ratio, double limit, bool at_least = false,
           const std::string& invalid = "");
  // Prints the line to stdout. 0: all are kept, 1: some are not.
  int finish() const;

 private:
  std::string only_, line_, failed_;
};

using Work = std::function<void()>;

struct Pair {
  double ratio, ours, peer;  // seconds
};

// Medians, of the ratios too.
Pair compare(double (*clock)(), int repeats, const Work& ours, const Work& peer);
// By the wall clock, which only ever loses to other work: the best of each side.
Pair compare_best(int repeats, const Work& ours, const Work& peer);

}  // namespace opennrt::bench
