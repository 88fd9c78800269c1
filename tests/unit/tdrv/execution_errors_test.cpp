// SPDX-License-Identifier: Apache-2.0
#include "tdrv/execution_errors.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace opennrt::tdrv {
namespace {

DeviceError error(std::uint8_t type, std::uint8_t engine = 0, bool numerical = false) {
  Notification n;
  n.sub_id = static_cast<std::uint16_t>(type | engine << 8);
  n.kind = 42;
  return classify_error(n, numerical);
}

struct Row {
  std::uint8_t raw;
  std::uint32_t subtype;
  NRT_STATUS status;          // as it is configured
  NRT_STATUS with_numerical;  // when NaN is to fail an execution
};

// Raw type -> subtype -> status, the table of the public description.
TEST(ExecutionErrors, RawTypes) {
  constexpr NRT_STATUS kOk = NRT_SUCCESS, kErr = NRT_EXEC_COMPLETED_WITH_ERR;
  const Row rows[] = {
      {0, 0, kOk, kOk},
      {1, 1, kOk, NRT_EXEC_COMPLETED_WITH_NUM_ERR},
      {2, 0, kOk, kOk},
      {3, 0, kOk, kOk},
      {4, 3, NRT_EXEC_HW_ERR_NC_UE, NRT_EXEC_HW_ERR_NC_UE},
      {5, 4, kErr, kErr},
      {6, 5, kErr, kErr},
      {7, 6, kErr, kErr},
      {8, 7, kErr, kErr},
      {9, 2, kErr, kErr},
      {10, 8, kErr, kErr},
      {11, 15, NRT_HW_ERROR, NRT_HW_ERROR},
      {255, 15, NRT_HW_ERROR, NRT_HW_ERROR},
  };
  std::uint32_t bits = 0;
  for (const Row& row : rows) {
    EXPECT_EQ(static_cast<std::uint32_t>(error(row.raw).subtype), row.subtype) << int{row.raw};
    EXPECT_EQ(error(row.raw).status, row.status) << int{row.raw};
    EXPECT_EQ(error(row.raw, 0, true).status, row.with_numerical) << int{row.raw};
    EXPECT_FALSE(error(row.raw).corrected) << int{row.raw};
    EXPECT_EQ(error(row.raw).stops_engine, row.raw == 10) << int{row.raw};
    bits |= error(row.raw).bit();
  }
  EXPECT_EQ(bits, 0x81FFu);  // subtypes 0 to 8, and the unknown one
}

TEST(ExecutionErrors, CorrectedMemoryErrorIsNoError) {
  Notification n;
  n.sub_id = 4;
  n.kind = 0x8003;
  const DeviceError e = classify_error(n, true);
  EXPECT_TRUE(e.corrected);
  EXPECT_EQ(e.status, NRT_SUCCESS);
  EXPECT_NE(e.bit(), error(4).bit());  // does not hide one that is not corrected
  n.sub_id = 6;                        // the detail of others is a number
  EXPECT_FALSE(classify_error(n, true).corrected);
  EXPECT_EQ(classify_error(n, true).status, NRT_EXEC_COMPLETED_WITH_ERR);
}

// Every combination: the first reason in the published order decides.
TEST(ExecutionErrors, HangsInTheirOrder) {
  constexpr NRT_STATUS kOrder[] = {NRT_EXEC_SW_NQ_OVERFLOW,
                                   NRT_EXEC_HW_ERR_HBM_UE,
                                   NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE,
                                   NRT_EXEC_HW_ERR_DMA_ABORT,
                                   NRT_EXEC_HW_ERR_COLLECTIVES,
                                   NRT_EXEC_HW_ERR_NC_UE,
                                   NRT_TIMEOUT};
  for (unsigned mask = 0; mask < 64; ++mask) {
    const auto has = [&](unsigned bit) { return (mask >> bit & 1) != 0; };
    const HangClass hang = classify_hang({.overflow = has(0),
                                          .hbm_uncorrected = has(1),
                                          .hbm_repairable = has(2),
                                          .dma_abort = has(3),
                                          .collective_missing = has(4),
                                          .sram_uncorrected = has(5)});
    unsigned first = 0;
    while (first < 6 && !has(first)) ++first;
    EXPECT_EQ(hang.status, kOrder[first]) << mask;
    EXPECT_STRNE(hang.name, "");
  }
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
  EXPECT_EQ(classify_custom(6).kind, CustomKind::kDebugValue);
  EXPECT_EQ(classify_custom(7).kind, CustomKind::kOutputFinished);
  EXPECT_EQ(classify_custom(8).kind, CustomKind::kDebugTensor);
  for (const std::uint16_t id : {11, 255, 65535})
    EXPECT_EQ(classify_custom(id).status, NRT_HW_ERROR) << id;
}

// The rank column of the status table.
TEST(ExecutionErrors, Ranks) {
  const std::pair<std::uint32_t, std::vector<int>> ranks[] = {
      {0, {0}},
      {1, {1, 2, 3, 4, 7, 9, 10, 11, 13, 14, 15, 101, 1002, 1003, 1005, 1006, 1100}},
      {2, {5, 6, 1204, 1206}},
      {3, {1004, 1200, 1201, 1202, 1203, 1205}}};
  for (const auto& [rank, codes] : ranks)
    for (const int code : codes)
      EXPECT_EQ(status_rank(static_cast<NRT_STATUS>(code)), rank) << code;
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
