// SPDX-License-Identifier: Apache-2.0
#include "bench/limit_table.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "bench/measure.h"

namespace opennrt::bench {

void LimitTable::add(const std::string& name, double ratio, double limit, bool at_least,
                     const std::string& invalid) {
  char text[160];
  const bool good = invalid.empty() && (at_least ? ratio >= limit : ratio <= limit);
  std::snprintf(text, sizeof text, "%s %.2f (%s %.2f)%s%s", name.c_str(), ratio,
                at_least ? ">=" : "<=", limit, invalid.empty() ? "" : " void: ", invalid.c_str());
  line_ += (line_.empty() ? "" : "; ") + std::string(text);
  if (!good) failed_ += (failed_.empty() ? "" : ", ") + name;
  std::fprintf(stderr, "  => %s%s\n", text, good ? "" : "  PAST ITS LIMIT");
}

int LimitTable::finish() const {
  std::printf("%s%s%s\n", line_.c_str(),
              failed_.empty() ? "" : " -- past the limit: ", failed_.c_str());
  return failed_.empty() ? 0 : 1;
}

Pair compare(double (*clock)(), int repeats, const Work& ours, const Work& peer) {
  ours();
  peer();
  std::vector<double> a, b, ratios;
  for (int i = 0; i < repeats; ++i) {
    a.push_back(timed(clock, ours));
    b.push_back(timed(clock, peer));
    ratios.push_back(a.back() / b.back());
  }
  return {median(ratios), median(a), median(b)};
}

Pair compare_best(int repeats, const Work& ours, const Work& peer) {
  ours();
  peer();
  double a = 1e30, b = 1e30;
  for (int i = 0; i < repeats; ++i) {
    a = std::min(a, timed(wall_seconds, ours));
    b = std::min(b, timed(wall_seconds, peer));
  }
  return {a / b, a, b};
}

}  // namespace opennrt::bench
