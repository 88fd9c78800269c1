// SPDX-License-Identifier: Apache-2.0
#include "hal/barriers.h"

#include <gtest/gtest.h>

#include <cstring>

namespace opennrt::hal {
namespace {

TEST(CopyDescriptor, PublishesSixteenBytesAndNoMore) {
  alignas(16) unsigned char ring[48];
  std::memset(ring, 0xEE, sizeof(ring));
  unsigned char source[17];  // unaligned source
  for (unsigned i = 0; i < 17; ++i) source[i] = static_cast<unsigned char>(i);
  al_copy_descriptor(ring + 16, source + 1);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(ring[i], 0xEE);
    EXPECT_EQ(ring[16 + i], i + 1);
    EXPECT_EQ(ring[32 + i], 0xEE);
  }
}

}  // namespace
}  // namespace opennrt::hal
