// SPDX-License-Identifier: Apache-2.0
#include "device/faults.h"

#include <gtest/gtest.h>

#include "device/fault_injector.h"

namespace opennrt::emu {
namespace {

constexpr FaultLimits kLimits{.devices = 2, .cores = 2, .rings = 16};

std::vector<Fault> parse(std::string_view text) {
  std::vector<Fault> out;
  std::string error;
  EXPECT_TRUE(parse_faults(text, kLimits, &out, &error)) << error;
  return out;
}

TEST(FaultSetting, EveryKey) {
  const auto faults = parse(
      "[{point: error_record, n: 3, device: 1, core: 1, engine: DVE, type: 0xA, detail: 65535},\n"
      "  {point: \"custom_record\", sub_id: 65535, hint: 15, engine: "
      "'SP'},{point:dma_abort,ring:15},"
      "{point: hbm_repairable, count: 0x10}]");
  ASSERT_EQ(faults.size(), 4u);
  EXPECT_EQ(faults[0].point, Fault::Point::kErrorRecord);
  EXPECT_EQ(faults[0].n, 3u);
  EXPECT_EQ(faults[0].device, 1u);
  EXPECT_EQ(faults[0].core, 1u);
  EXPECT_EQ(faults[0].engine, 3u);
  EXPECT_EQ(faults[0].type, 10u);
  EXPECT_EQ(faults[0].detail, 65535u);
  EXPECT_EQ(faults[1].point, Fault::Point::kCustomRecord);
  EXPECT_EQ(faults[1].n, 1u);
  EXPECT_EQ(faults[1].engine, 4u);
  EXPECT_EQ(faults[1].sub_id, 65535u);
  EXPECT_EQ(faults[1].hint, 15u);
  EXPECT_EQ(faults[2].ring, 15u);
  EXPECT_EQ(faults[3].point, Fault::Point::kHbmRepairable);
  EXPECT_EQ(faults[3].count, 16u);
}

TEST(FaultSetting, NothingAsked) {
  for (const char* text : {"", " \n", "[]", " [ ] "}) EXPECT_TRUE(parse(text).empty()) << text;
}

TEST(FaultSetting, AFailureChangesNothing) {
  std::vector<Fault> out(3);
  std::string error;
  for (const char* text : {"[", "[{", "[{}]", "[{point}]", "[{point:}]", "[{point: hang,}",
                           "[{point: \"hang}]", "{", "[[point]]", "[{point: hang} {point: hang}]",
                           "[{point: hang, ioctl: 1}]", "[{point: hang, n: 4294967296}]",
                           "[{point: hbm_repairable, count: 0}]", "[{point: hang, n: 0x}]"}) {
    error.clear();
    EXPECT_FALSE(parse_faults(text, kLimits, &out, &error)) << text;
    EXPECT_EQ(error.find("emulator.faults"), 0u) << error;
    EXPECT_EQ(out.size(), 3u);
  }
}

TEST(FaultInjector, CountsTheRequestsOfEachCore) {
  FaultInjector faults(parse("[{point: hang, n: 1, engine: ACT}, {point: hbm_uncorrected, n: 1}, "
                             "{point: hang, n: 0, core: 1}, {point: hang, device: 1}]"),
                       0, 2);
  EXPECT_FALSE(faults.empty());
  const auto due = [&](std::uint32_t core, std::uint32_t engine) {
    return faults.started(core, engine).size();
  };
  // Request 0 of core 0.
  EXPECT_EQ(due(0, 0), 0u);
  EXPECT_EQ(due(0, 1), 0u);
  // Request 1: the first engine that begins, whichever it is, then ACT.
  EXPECT_EQ(due(0, 4), 0u);
  EXPECT_EQ(due(0, 4), 1u);
  EXPECT_EQ(due(0, 0), 0u);
  EXPECT_EQ(due(0, 1), 1u);
  EXPECT_EQ(due(1, 0), 1u);
  // A reset begins again at request 0, but each acts once.
  faults.reset(0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(due(0, 1), 0u);
}

TEST(FaultInjector, LostEndsAndCounters) {
  const auto list = parse("[{point: sram_uncorrected, count: 2}, {point: hbm_uncorrected}]");
  FaultInjector faults(list, 0, 2);
  faults.lose_end(1, 2);
  EXPECT_TRUE(faults.loses_end(1, 2));
  EXPECT_FALSE(faults.loses_end(0, 2));
  EXPECT_FALSE(faults.loses_end(1, 1));
  faults.reset(1);
  EXPECT_FALSE(faults.loses_end(1, 2));
  faults.count(list[0]);
  faults.count(list[0]);
  faults.count(list[1]);
  EXPECT_EQ(faults.counters().sram_uncorrected, 4u);
  EXPECT_EQ(faults.counters().hbm_uncorrected, 1u);
  EXPECT_EQ(faults.counters().hbm_repairable, 0u);
  EXPECT_TRUE(FaultInjector(list, 1, 2).empty());
}

}  // namespace
}  // namespace opennrt::emu
