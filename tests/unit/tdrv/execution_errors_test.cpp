// SPDX-License-Identifier: Apache-2.0
#include "tdrv/execution_errors.h"

#include <gtest/gtest.h>

namespace opennrt::tdrv {
namespace {

DeviceError error(std::uint8_t type, std::uint8_t engine = 0, bool numerical = false) {
  Notification n;
  n.sub_id = static_cast<std::uint16_t>(type | engine << 8);
  n.kind = 42;
  return classify_error(n, numerical);
}

TEST(ExecutionErrors, RawTypes) {
  EXPECT_EQ(error(0).status, NRT_SUCCESS);
  EXPECT_EQ(error(2).status, NRT_SUCCESS);
  EXPECT_EQ(error(3).status, NRT_SUCCESS);
  EXPECT_EQ(error(1).status, NRT_SUCCESS);
  EXPECT_EQ(error(1, 0, true).status, NRT_EXEC_COMPLETED_WITH_NUM_ERR);
  EXPECT_EQ(error(4).status, NRT_EXEC_HW_ERR_NC_UE);
  for (const std::uint8_t type : {5, 6, 7, 8, 9, 10}) {
    EXPECT_EQ(error(type).status, NRT_EXEC_COMPLETED_WITH_ERR) << int{type};
  }
  EXPECT_EQ(error(11).status, NRT_HW_ERROR);
  EXPECT_EQ(error(255).status, NRT_HW_ERROR);
}

TEST(ExecutionErrors, EngineAndDetailSurvive) {
  const DeviceError e = error(10, 3);
  EXPECT_EQ(e.engine, 3u);
  EXPECT_EQ(e.detail, 42u);
  EXPECT_TRUE(e.stops_engine);
  EXPECT_FALSE(error(9).stops_engine);
}

TEST(ExecutionErrors, CustomRecords) {
  for (const std::uint16_t id : {0, 1, 2, 3, 4, 5, 9, 10}) {
    EXPECT_EQ(classify_custom(id).status, NRT_EXEC_OOB) << id;
  }
  for (const std::uint16_t id : {6, 7, 8}) EXPECT_EQ(classify_custom(id).status, NRT_SUCCESS) << id;
  EXPECT_EQ(classify_custom(11).status, NRT_HW_ERROR);
}

TEST(ExecutionErrors, HighestRankWinsFirstSeenOnTies) {
  EXPECT_TRUE(outranks(NRT_FAILURE, NRT_SUCCESS));
  EXPECT_TRUE(outranks(NRT_TIMEOUT, NRT_EXEC_OOB));
  EXPECT_TRUE(outranks(NRT_EXEC_COMPLETED_WITH_ERR, NRT_TIMEOUT));
  EXPECT_TRUE(outranks(NRT_EXEC_HW_ERR_DMA_ABORT, NRT_EXEC_SW_NQ_OVERFLOW));
  EXPECT_FALSE(outranks(NRT_EXEC_UNIT_UNRECOVERABLE, NRT_HW_ERROR));
  EXPECT_FALSE(outranks(NRT_EXEC_HW_ERR_NC_UE, NRT_EXEC_COMPLETED_WITH_ERR));
}

}  // namespace
}  // namespace opennrt::tdrv
