// SPDX-License-Identifier: Apache-2.0
#include "hal/csr.h"

#include <gtest/gtest.h>

namespace opennrt::hal {
namespace {

TEST(CsrTable, AcceptsUpToTheLastRegister) {
  CsrTable table;
  ASSERT_TRUE(table.add(0x1000, 0x100, "a").is_ok());
  EXPECT_TRUE(table.check(0, 0x1000, 1).is_ok());
  EXPECT_TRUE(table.check(0, 0x10FC, 1).is_ok());
  EXPECT_TRUE(table.check(0, 0x1000, 64).is_ok());
  EXPECT_EQ(table.check(0, 0x1100, 1).code(), NRT_INVALID);
  EXPECT_EQ(table.check(0, 0x0FFC, 1).code(), NRT_INVALID);
  EXPECT_EQ(table.check(0, 0x1000, 65).code(), NRT_INVALID);
  EXPECT_EQ(table.check(0, 0x10FC, 2).code(), NRT_INVALID);
}

TEST(CsrTable, RefusesUnalignedAndWrappingAccess) {
  CsrTable table;
  ASSERT_TRUE(table.add(0x1000, 0x100, "a").is_ok());
  EXPECT_FALSE(table.check(0, 0x1002, 1).is_ok());
  EXPECT_FALSE(table.check(0, UINT64_MAX - 3, 8).is_ok());
}

TEST(CsrTable, AccessLiesInOneRegionOnly) {
  CsrTable table;
  ASSERT_TRUE(table.add(0x1000, 0x100, "a").is_ok());
  ASSERT_TRUE(table.add(0x1100, 0x100, "b").is_ok());
  EXPECT_FALSE(table.check(0, 0x10FC, 2).is_ok());  // neighbours, yet two windows
}

TEST(CsrTable, RefusesOverlapAndEmptyRegions) {
  CsrTable table;
  ASSERT_TRUE(table.add(0x1000, 0x100, "a").is_ok());
  EXPECT_EQ(table.add(0x10FC, 0x100, "b").code(), NRT_INVALID);
  EXPECT_EQ(table.add(0x0F00, 0x101, "b").code(), NRT_INVALID);
  EXPECT_EQ(table.add(0x1000, 0x100, "b").code(), NRT_INVALID);
  EXPECT_EQ(table.add(0x2000, 0, "b").code(), NRT_INVALID);
  EXPECT_EQ(table.add(UINT64_MAX - 7, 16, "b").code(), NRT_INVALID);
  EXPECT_EQ(table.size(), 1u);
  const Status status = table.check(7, 0x5000, 1);
  EXPECT_NE(status.message().find("0x5000"), std::string_view::npos);
  EXPECT_NE(status.message().find("device 7"), std::string_view::npos);
}

TEST(CsrTable, EmptyTableAdmitsNothing) {
  const CsrTable table;
  EXPECT_FALSE(table.check(0, 0, 1).is_ok());
  EXPECT_TRUE(table.check(0, 0, 0).is_ok());
}

}  // namespace
}  // namespace opennrt::hal
