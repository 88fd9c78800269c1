// SPDX-License-Identifier: Apache-2.0
#include "trace/profile.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "trace/recordings.h"
#include "trace/trace.h"

namespace opennrt::trace {
namespace {

class Profiles : public ::testing::Test {
 protected:
  void SetUp() override { set_cores(2); }
  void TearDown() override { profile::close(); }
};

bool names_the_feature(const Status& s) {
  return s.code() == NRT_INVALID && s.message().find("NTFF") != std::string::npos;
}

TEST_F(Profiles, ArmedOnceAndNeverWritten) {
  const std::string file = ::testing::TempDir() + "opennrt-profile.ntff";
  EXPECT_EQ(profile::disarm(file).code(), NRT_INVALID);
  ASSERT_TRUE(profile::arm(10001, file).is_ok());
  EXPECT_EQ(profile::arm(10002, file).code(), NRT_INVALID);
  EXPECT_EQ(profile::arm(10001, file + "2").code(), NRT_INVALID);
  ASSERT_TRUE(profile::arm(10002, file + "2").is_ok());
  EXPECT_EQ(profile::start_continuous().code(), NRT_INVALID);
  EXPECT_TRUE(names_the_feature(profile::disarm(file)));
  EXPECT_FALSE(std::filesystem::exists(file));
  const Status again = profile::disarm(file);
  EXPECT_EQ(again.code(), NRT_INVALID);
  EXPECT_FALSE(names_the_feature(again));  // it is simply not armed
  profile::forget_model(10002);
  EXPECT_FALSE(names_the_feature(profile::disarm(file + "2")));
}

TEST_F(Profiles, SessionsKeepTheirHarvest) {
  EXPECT_EQ(profile::stop_session(0).status().code(), NRT_INVALID);
  ASSERT_TRUE(profile::start_session(0).is_ok());
  EXPECT_EQ(profile::start_session(0).code(), NRT_INVALID);
  ASSERT_TRUE(profile::start_session(1).is_ok());
  EXPECT_TRUE(wanted(EventType::kDeviceExec));
  auto first = profile::stop_session(0);
  ASSERT_TRUE(first.is_ok());
  EXPECT_TRUE(wanted(EventType::kDeviceExec));  // core 1 goes on
  auto second = profile::stop_session(1);
  ASSERT_TRUE(second.is_ok());
  EXPECT_FALSE(wanted(EventType::kDeviceExec));
  EXPECT_GT(*second, *first);
  const std::string file = ::testing::TempDir() + "opennrt-session.ntff";
  EXPECT_TRUE(names_the_feature(profile::serialize(*first, file)));
  EXPECT_TRUE(names_the_feature(profile::serialize(*first, file)));  // it is still kept
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_TRUE(profile::drop(*first).is_ok());
  EXPECT_EQ(profile::drop(*first).code(), NRT_INVALID);
  EXPECT_FALSE(names_the_feature(profile::serialize(*first, file)));
  profile::drop_all(0);
  EXPECT_TRUE(names_the_feature(profile::serialize(*second, file)));
  profile::drop_all(1);
  EXPECT_EQ(profile::drop(*second).code(), NRT_INVALID);
}

TEST_F(Profiles, ContinuousIsOnOrOff) {
  EXPECT_EQ(profile::save_continuous(0, "/tmp").code(), NRT_FAILURE);
  ASSERT_TRUE(profile::start_continuous().is_ok());
  EXPECT_EQ(profile::start_continuous().code(), NRT_INVALID);
  EXPECT_EQ(profile::arm(10001, "f").code(), NRT_INVALID);
  EXPECT_TRUE(names_the_feature(profile::save_continuous(0, "/tmp")));
  profile::stop_continuous();
  profile::stop_continuous();
  EXPECT_EQ(profile::save_continuous(0, "/tmp").code(), NRT_FAILURE);
}

TEST_F(Profiles, EndOfTheRuntimeForgetsAll) {
  ASSERT_TRUE(profile::start_session(0).is_ok());
  const auto kept = profile::stop_session(0);
  ASSERT_TRUE(profile::start_session(0).is_ok());
  ASSERT_TRUE(profile::start_continuous().is_ok());
  profile::close();
  EXPECT_FALSE(wanted(EventType::kDeviceExec));
  EXPECT_EQ(profile::drop(*kept).code(), NRT_INVALID);
  EXPECT_EQ(profile::save_continuous(0, "/tmp").code(), NRT_FAILURE);
  ASSERT_TRUE(profile::start_session(0).is_ok());
  EXPECT_GT(*profile::stop_session(0), *kept);  // an old number stays unknown
}

}  // namespace
}  // namespace opennrt::trace
