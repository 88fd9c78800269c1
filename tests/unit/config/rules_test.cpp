// SPDX-License-Identifier: Apache-2.0
//
// What settings mean for each other and for the silicon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/fixture.h"

namespace opennrt::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RulesTest : public ConfigTest {};

TEST_F(RulesTest, ImplicitAsyncIsToldAndClamped) {
  const Loaded l = load_with({{"NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "64"}});
  ASSERT_TRUE(l.status.is_ok());
  EXPECT_EQ(l.config->number(Key::kExecImplicitAsyncDepth), 63u);
  EXPECT_THAT(issue_text(l), HasSubstr("exec.implicit_async_depth=64 out of range, 63 used"));
  EXPECT_THAT(issue_text(l), HasSubstr("nrta_* calls are refused"));
  const Loaded garbage = load_with({{"NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "-1"}});
  EXPECT_TRUE(garbage.status.is_ok());
  EXPECT_EQ(garbage.config->number(Key::kExecImplicitAsyncDepth), 0u);
  EXPECT_THAT(issue_text(garbage),
              testing::ContainsRegex("must be a number from [0-9]+ to [0-9]+; ignored"));
}

TEST_F(RulesTest, NumericalErrorsAreReportedAtLeastAsAsked) {
  const auto verbosity = [&](Environment e) {
    return load_with(std::move(e)).config->text(Key::kNumericsErrorVerbosity);
  };
  EXPECT_EQ(verbosity({}), "none");
  EXPECT_EQ(verbosity({{"NEURON_FAIL_ON_NAN", "1"}}), "critical");
  EXPECT_EQ(verbosity({{"NEURON_FAIL_ON_NAN", "0"}}), "none");
  EXPECT_EQ(verbosity({{"NEURON_FAIL_ON_NAN", "1"}, {"NEURON_RT_NUMERICAL_ERRORS_VERBOSITY", "2"}}),
            "debug");
  EXPECT_EQ(verbosity({{"NEURON_RT_ENABLE_VERBOSE_NUMERICAL_ERRORS", "yes"},
                       {"NEURON_RT_NUMERICAL_ERRORS_VERBOSITY", "critical"}}),
            "verbose");
}

TEST_F(RulesTest, SettingsThatDecideOthers) {
  const Loaded l = load_with({{"NEURON_RT_ULTRASERVER_SINGLE_NODE", "1"},
                              {"NEURON_RT_ULTRASERVER_MODE", "1,2"},
                              {"NEURON_RT_DBG_FORCE_STRICT_ORDERING", "1"},
                              {"NEURON_RT_DBG_HW_DECODE_TOGGLE", "7"}});
  ASSERT_TRUE(l.status.is_ok()) << l.status.message();
  EXPECT_THAT(l.config->numbers(Key::kCoresUltraserverMode), ElementsAre(4));
  EXPECT_EQ(l.config->get("load.hw_decode_toggle"), "0");
}

TEST_F(RulesTest, SeveralRanksPerProxyNeedTheBarrier) {
  const Environment two = {{"NEURON_RT_RANKS_PER_NETWORK_PROXY", "2"}};
  const Loaded l = load_with(two);
  EXPECT_EQ(l.status.code(), NRT_INVALID);
  EXPECT_THAT(std::string(l.status.message()),
              HasSubstr("NEURON_RT_RANKS_PER_NETWORK_PROXY: cc.proxy.ranks_per_thread='2': above 1 "
                        "needs exec.barrier.hardware"));
  for (const char* name :
       {"NEURON_RT_ENABLE_HW_EXECUTION_BARRIER", "NEURON_RT_HW_EXECUTION_BARRIER"}) {
    Environment with = two;
    with[name] = "1";
    EXPECT_TRUE(load_with(with).status.is_ok()) << name;
  }
  EXPECT_TRUE(load_with({{"NEURON_RT_RANKS_PER_NETWORK_PROXY", "1"}}).status.is_ok());
}

TEST_F(RulesTest, PacketSizesByPriorityWin) {
  const Loaded l = load_with({{"NEURON_RT_DBG_CC_DMA_PACKET_SIZE", "4096"},
                              {"NEURON_RT_DBG_CC_DMA_COPY_DMA_PRIO_PKT_SIZE", "1,2,3,4,5"}});
  EXPECT_THAT(issue_text(l), HasSubstr("NEURON_RT_DBG_CC_DMA_PACKET_SIZE=4096 is ignored because "
                                       "NEURON_RT_DBG_CC_DMA_COPY_DMA_PRIO_PKT_SIZE "
                                       "(cc.copy_prio_packet_bytes) gives"));
  EXPECT_EQ(load_with({{"NEURON_RT_DBG_CC_DMA_COPY_DMA_PRIO_PKT_SIZE", "1,2,3,4,5"}}).issues.size(),
            0u);
  const Loaded many =
      load_with({{"NEURON_RT_DBG_CC_DMA_PACKET_SIZE", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,70000,1"}});
  ASSERT_TRUE(many.status.is_ok());
  EXPECT_EQ(many.config->numbers(Key::kCcDmaPacketBytes).size(), 16u);
  EXPECT_EQ(many.config->numbers(Key::kCcDmaPacketBytes).back(), 65536u);
}

TEST_F(RulesTest, DefaultsOfTheSilicon) {
  const Loaded l = load_with({{"NEURON_RT_INSTR_FETCH_ON_H2D", "0"}});
  const auto at = [&](std::uint32_t arch, std::string_view key) {
    return for_machine(*l.config, {arch, 2}).config->get(key);
  };
  EXPECT_EQ(l.config->get("load.hw_decode_toggle"), std::nullopt);
  EXPECT_EQ(at(2, "load.hw_decode_toggle"), "0");
  EXPECT_EQ(at(3, "load.hw_decode_toggle"), "3");
  EXPECT_EQ(at(4, "load.hw_decode_toggle"), "11");
  EXPECT_EQ(at(3, "cc.buf.intra_rdh_bytes"), "41943040");
  EXPECT_EQ(at(4, "cc.buf.intra_rdh_bytes"), "83886080");
  EXPECT_EQ(at(4, "load.instr_fetch_h2d"), "0");                // given
  EXPECT_EQ(at(0x100, "load.hw_decode_toggle"), std::nullopt);  // private silicon
  EXPECT_EQ(at(0, "load.hw_decode_toggle"), std::nullopt);
  const Loaded fitted = for_machine(*l.config, {3, 2});
  EXPECT_TRUE(fitted.issues.empty());
  for (const Config::Row& row : fitted.config->rows()) {
    if (row.key != "dma.direct_bar4_bytes") continue;
    EXPECT_EQ(row.text, "4096");
    EXPECT_EQ(row.layer, Layer::kArch);
    EXPECT_EQ(row.where, "default of arch 3");
    EXPECT_FALSE(row.differs);
  }
  EXPECT_FALSE(fitted.config->is_given(Key::kDmaDirectBar4Bytes));
}

TEST_F(RulesTest, WhatTheSiliconDoesNotHave) {
  const Loaded l = load_with({{"NEURON_RT_DBG_HW_DECODE_TOGGLE", "3"}});
  EXPECT_TRUE(for_machine(*l.config, {3, 2}).status.is_ok());
  const Loaded two = for_machine(*l.config, {2, 1});
  EXPECT_EQ(two.status.code(), NRT_INVALID);
  EXPECT_THAT(
      std::string(two.status.message()),
      HasSubstr("NEURON_RT_DBG_HW_DECODE_TOGGLE: load.hw_decode_toggle='3': arch 2 has no"));
}

TEST_F(RulesTest, LogicalCoreSizeIsTheOneInForce) {
  EXPECT_EQ(for_machine(*load_with({}).config, {3, 2}).config->get("cores.lnc_size"), "2");
  const Loaded l = load_with({{"NEURON_LOGICAL_NC_CONFIG", "2"}});
  const Loaded same = for_machine(*l.config, {3, 2});
  EXPECT_TRUE(same.issues.empty());
  EXPECT_TRUE(same.config->is_given(Key::kCoresLncSize));
  const Loaded one = for_machine(*l.config, {2, 1});
  EXPECT_TRUE(one.status.is_ok());
  EXPECT_EQ(one.config->get("cores.lnc_size"), "1");
  EXPECT_THAT(issue_text(one), HasSubstr("NEURON_LOGICAL_NC_CONFIG=2 is ignored"));
}

}  // namespace
}  // namespace opennrt::config
