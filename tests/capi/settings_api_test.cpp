// SPDX-License-Identifier: Apache-2.0
//
// Settings as a client of the C ABI meets them: what nrt_init refuses, what it
// logs, what the questions before it look at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "nrt/nrt.h"

namespace opennrt::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SettingsApi : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-settings-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
    set("OPENNRT_EMULATOR_PRODUCT", "trn1.2xlarge");
  }
  void TearDown() override {
    nrt_close();
    for (const std::string& name : variables_) unsetenv(name.c_str());
    for (const char* file : {"/nrt.yaml", "/log"}) unlink((directory_ + file).c_str());
    rmdir(directory_.c_str());
  }
  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    variables_.push_back(name);
  }
  // Lines go to a file of the test.
  void configure(const std::string& text, const std::string& level) {
    std::ofstream(directory_ + "/nrt.yaml")
        << "log: {level: " << level << ", file: " << directory_ << "/log}\n"
        << text;
    set("OPENNRT_CONFIG", directory_ + "/nrt.yaml");
  }
  std::string log() const {
    std::ifstream in(directory_ + "/log");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static NRT_STATUS init() { return nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""); }

  std::string directory_;
  std::vector<std::string> variables_;
};

TEST_F(SettingsApi, AllMistakesAreToldAndNothingIsLeft) {
  configure("exec: {xu_queue_depth: 0}\n", "ERROR");
  set("NEURON_RT_DBG_SEQ_IRAM_BLOCK_SIZES_KB", "8,8,8,8");
  set("OPENNRT_EMULATOR_DEVICES", "33");
  EXPECT_EQ(init(), NRT_INVALID);
  EXPECT_THAT(log(), HasSubstr("nrt.yaml:2: exec.xu_queue_depth='0': must be at least 1"));
  EXPECT_THAT(log(), HasSubstr("NEURON_RT_DBG_SEQ_IRAM_BLOCK_SIZES_KB: load.iram_block_kb='8,8,8,8'"
                               ": has 4 numbers, must have 5"));
  EXPECT_THAT(log(), HasSubstr("OPENNRT_EMULATOR_DEVICES: emulator.devices='33': must be 1 to 32"));
  configure("", "ERROR");
  unsetenv("NEURON_RT_DBG_SEQ_IRAM_BLOCK_SIZES_KB");
  unsetenv("OPENNRT_EMULATOR_DEVICES");
  EXPECT_EQ(init(), NRT_SUCCESS);
}

TEST_F(SettingsApi, WhatDiffersIsEchoedWithItsOrigin) {
  configure("exec: {timeout_s: 7}\nno_such: 1\n", "INFO");
  set("NEURON_RT_DBG_MESH_CC", "0");
  set("NEURON_RT_DBG_RDH_CC", "1");  // the default
  ASSERT_EQ(init(), NRT_SUCCESS);
  EXPECT_THAT(log(), HasSubstr("exec.timeout_s = 7 (" + directory_ + "/nrt.yaml:2)"));
  EXPECT_THAT(log(), HasSubstr(directory_ + "/nrt.yaml:3: unknown key no_such"));
  EXPECT_THAT(log(),
              HasSubstr("cc.alg.mesh = 0 (NEURON_RT_DBG_MESH_CC) has no effect in this release"));
  EXPECT_THAT(log(), Not(HasSubstr("NEURON_RT_DBG_RDH_CC) has no effect")));
}

TEST_F(SettingsApi, QuestionsBeforeInitAreNotSpoiltByOtherMistakes) {
  std::uint32_t cores = 0;
  set("NEURON_RT_EXEC_TIMEOUT", "soon");
  ASSERT_EQ(nrt_get_visible_vnc_count(&cores), NRT_SUCCESS);
  EXPECT_EQ(cores, 2u);
  set("NEURON_RT_VISIBLE_CORES", "1");
  ASSERT_EQ(nrt_get_visible_vnc_count(&cores), NRT_SUCCESS);
  EXPECT_EQ(cores, 1u);
  set("NEURON_RT_VISIBLE_CORES", "1,x");
  EXPECT_EQ(nrt_get_visible_vnc_count(&cores), NRT_INVALID);
  EXPECT_EQ(init(), NRT_INVALID);
}

TEST_F(SettingsApi, EachInitReadsTheEnvironmentAgain) {
  std::uint32_t cores = 0;
  set("NEURON_RT_NUM_CORES", "1");
  ASSERT_EQ(init(), NRT_SUCCESS);
  set("NEURON_RT_NUM_CORES", "2");
  ASSERT_EQ(nrt_get_visible_vnc_count(&cores), NRT_SUCCESS);
  EXPECT_EQ(cores, 1u);
  nrt_close();
  ASSERT_EQ(init(), NRT_SUCCESS);
  ASSERT_EQ(nrt_get_visible_vnc_count(&cores), NRT_SUCCESS);
  EXPECT_EQ(cores, 2u);
}

// trn1 has no hardware decoder and logical cores of one.
TEST_F(SettingsApi, SettingsAreCheckedAgainstTheSilicon) {
  set("NEURON_RT_DBG_HW_DECODE_TOGGLE", "3");
  EXPECT_EQ(init(), NRT_INVALID);
  set("NEURON_RT_DBG_HW_DECODE_TOGGLE", "0");
  configure("", "WARN");
  set("NEURON_LOGICAL_NC_CONFIG", "2");
  ASSERT_EQ(init(), NRT_SUCCESS);
  EXPECT_THAT(log(), HasSubstr("NEURON_LOGICAL_NC_CONFIG=2 is ignored"));
  std::uint32_t cores = 0;
  ASSERT_EQ(nrt_get_visible_vnc_count(&cores), NRT_SUCCESS);
  EXPECT_EQ(cores, 2u);
}

TEST_F(SettingsApi, FiltersAreCheckedEvenWithoutAnInspection) {
  set("NEURON_RT_INSPECT_EVENT_FILTER_TYPE", "no_such_event");
  EXPECT_EQ(init(), NRT_INVALID);
  set("NEURON_RT_INSPECT_EVENT_FILTER_TYPE", "software,^tensor_read");
  EXPECT_EQ(init(), NRT_SUCCESS);
}

}  // namespace
}  // namespace opennrt::test
