// SPDX-License-Identifier: Apache-2.0
//
// Numbers that the runtime divides by, or counts with.
#include <cmath>
#include <set>
#include <string>

#include "arch/arch_case.h"

namespace opennrt::conform {
namespace {

class ArchFigures : public ArchCase {};

ARCH_CASE(ArchFigures, TimingIsPositive) {
  const nrtp_arch_timing* timing = arch().timing;
  if (timing == nullptr) GTEST_SKIP() << "not offered";
  ASSERT_GT(timing->n, 0u);
  ASSERT_NE(timing->kv, nullptr);
  std::set<std::string> keys;
  for (std::uint32_t i = 0; i < timing->n; ++i) {
    ASSERT_NE(timing->kv[i].key, nullptr) << i;
    const std::string key = timing->kv[i].key;
    EXPECT_FALSE(key.empty()) << i;
    EXPECT_TRUE(keys.insert(key).second) << key << " is there twice";
    EXPECT_TRUE(std::isfinite(timing->kv[i].value)) << key;
    EXPECT_GT(timing->kv[i].value, 0.0) << key;
  }
}

// A packet moves bytes: one descriptor on each side at least.
ARCH_CASE(ArchFigures, PacketsHaveDescriptors) {
  EXPECT_GT(dma().max_tx_per_packet, 0u);
  EXPECT_GT(dma().max_rx_per_packet, 0u);
}

}  // namespace
}  // namespace opennrt::conform
