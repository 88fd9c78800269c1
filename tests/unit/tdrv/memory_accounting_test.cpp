// SPDX-License-Identifier: Apache-2.0
#include "tdrv/memory_accounting.h"

#include <gtest/gtest.h>

namespace opennrt::tdrv {
namespace {

MemoryEvent event(bool allocated, Usage usage, std::uint64_t size, std::uint32_t core = 0,
                  Location location = Location::kDevice) {
  MemoryEvent e;
  e.allocated = allocated;
  e.usage = usage;
  e.size = size;
  e.core = core;
  e.channel = core / 4;
  e.location = location;
  return e;
}

TEST(MemoryAccounting, CountsPerChannelCoreAndUsage) {
  MemoryAccounting a;
  a.record(event(true, Usage::kTensor, 4096), "t");
  a.record(event(true, Usage::kWeight, 8192), "w");
  a.record(event(true, Usage::kWeight, 4096, 5), "w");
  EXPECT_EQ(a.channel_total(0), 12288u);
  EXPECT_EQ(a.channel_total(1), 4096u);
  EXPECT_EQ(a.core_total(0), 12288u);
  EXPECT_EQ(a.usage_total(0, Usage::kWeight), 8192u);
  a.record(event(false, Usage::kTensor, 4096), "t");
  EXPECT_EQ(a.channel_total(0), 8192u);
  EXPECT_EQ(a.usage_total(0, Usage::kTensor), 0u);
}

TEST(MemoryAccounting, HostMemoryIsNotCounted) {
  MemoryAccounting a;
  a.record(event(true, Usage::kTensor, 4096, 0, Location::kHost), "h");
  EXPECT_EQ(a.channel_total(0), 0u);
  EXPECT_EQ(a.events().size(), 1u);
}

TEST(MemoryAccounting, FullRingOverwritesTheOldestAndCountsDrops) {
  MemoryAccounting a;
  for (std::size_t i = 0; i < MemoryAccounting::kEvents + 3; ++i) {
    a.record(event(true, Usage::kTensor, i + 1), "t");
  }
  const auto events = a.events();
  ASSERT_EQ(events.size(), MemoryAccounting::kEvents);
  EXPECT_EQ(events.front().size, 4u);
  EXPECT_EQ(events.back().size, MemoryAccounting::kEvents + 3);
  EXPECT_EQ(a.dropped_events(), 3u);
}

TEST(MemoryAccounting, ReportNamesUsages) {
  MemoryAccounting a;
  a.record(event(true, Usage::kScratchpad, 2 << 20), "p");
  const std::string text = a.report(0);
  EXPECT_NE(text.find("scratchpad 2048 KiB"), std::string::npos) << text;
}

TEST(MemoryAccounting, DriverCategories) {
  EXPECT_EQ(driver_memory_type(Usage::kWeight, Location::kDevice), NRTP_MEM_CONSTANTS_DEVICE);
  EXPECT_EQ(driver_memory_type(Usage::kInstructionsSp, Location::kDevice), NRTP_MEM_CODE_DEVICE);
  EXPECT_EQ(driver_memory_type(Usage::kDmaRingIo, Location::kHost), NRTP_MEM_DMA_RINGS_HOST);
  EXPECT_EQ(driver_memory_type(Usage::kScratchpad, Location::kDevice), NRTP_MEM_SCRATCHPAD_DEVICE);
  EXPECT_EQ(instruction_usage(3), Usage::kInstructionsDve);
}

TEST(MemoryAccounting, OutOfRangeQueriesAreZero) {
  const MemoryAccounting a;
  EXPECT_EQ(a.channel_total(99), 0u);
  EXPECT_EQ(a.core_total(99), 0u);
}

}  // namespace
}  // namespace opennrt::tdrv
