// SPDX-License-Identifier: Apache-2.0
#include "nds/records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace opennrt::nds {
namespace {

TEST(Records, TagsAreCutAndEnd) {
  const std::string tag(400, 't');
  const Process process{.framework_type = 3, .tag = tag};
  const ProcessInfoRecord record = process_record(process);
  EXPECT_EQ(std::strlen(record.info.tag), 31u);
  EXPECT_EQ(std::strlen(extended_process_record(process).info.tag), 255u);
  EXPECT_EQ(record.info.framework_type, 3);
}

TEST(Records, VersionsOfFrameworks) {
  const auto expect = [](const char* text, int major, int minor, unsigned build) {
    const nds_version_info_t v = parse_version(text);
    EXPECT_EQ(v.major, major) << text;
    EXPECT_EQ(v.minor, minor) << text;
    EXPECT_EQ(v.build, build) << text;
  };
  expect("2.31.24", 2, 31, 24);
  expect("2.31.24.0", 2, 31, 24);
  expect("1.13.1+cpu", 1, 13, 1);
  expect("2.9", 2, 9, 0);
  expect("7", 7, 0, 0);
  expect("", 0, 0, 0);
  expect("dev", 0, 0, 0);
  expect("1.x.3", 1, 0, 0);
  expect("1..3", 1, 0, 0);
  expect("300.999.5", 255, 255, 5);
  expect("1.2.99999999999", 1, 2, 0);
  expect("-1.2", 0, 0, 0);
}

// Bits 31..0 build, 39..32 minor, 47..40 major, 63..48 kind.
TEST(Records, PackedVersions) {
  EXPECT_EQ(packed({.major = 2, .minor = 31, .build = 24}), 0x0000'021F'0000'0018ull);
  EXPECT_EQ(packed({}, 1), 0x0001'0000'0000'0000ull);  // a process without framework
}

TEST(Records, CountersOfStatuses) {
  const std::pair<int, std::uint32_t> kTable[] = {
      {0, 1},     {1004, 2},  {1003, 3},  {5, 4},     {1002, 5}, {7, 6},     {1, 16},
      {4, 17},    {9, 18},    {2, 19},    {10, 20},   {6, 11},   {1006, 30}, {1200, 31},
      {1201, 32}, {1202, 33}, {1203, 34}, {1204, 35}, {1205, 40}};
  for (const auto& [status, counter] : kTable)
    EXPECT_EQ(counter_of(static_cast<NRT_STATUS>(status)), counter) << status;
  EXPECT_EQ(counter_of(NRT_EXEC_UNIT_UNRECOVERABLE), UINT32_MAX);
}

TEST(Records, CountersOfErrors) {
  std::uint32_t out[kErrorKinds];
  EXPECT_EQ(counters_of(0, out), 0u);
  ASSERT_EQ(counters_of(~0u, out), kErrorKinds);
  std::vector<std::uint32_t> all(out, out + kErrorKinds);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<std::uint32_t>{10, 10, 11, 36, 37, 38, 39}));
  EXPECT_EQ(counters_of(~0u, std::span(out, 2)), 2u);
  EXPECT_EQ(counters_of(kMemoryUncorrected, out), 1u);
  EXPECT_EQ(out[0], 11u);
}

}  // namespace
}  // namespace opennrt::nds
