// SPDX-License-Identifier: Apache-2.0
#include "dump/path_template.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

namespace opennrt::dump {
namespace {

const Values kValues{.pid = 12,
                     .tid = 345,
                     .number = 7,
                     .cluster_id = "00000000deadbeef",
                     .date_time = "20261130-025302",
                     .instance_id = "i-0abc"};

TEST(PathTemplate, EveryVariable) {
  EXPECT_EQ(expand("/d/%p/%t/%l/%c/%d/%i", kValues, 4096),
            "/d/12/345/7/00000000deadbeef/20261130-025302/i-0abc");
  EXPECT_EQ(expand("dt-%d-cid-%c", kValues, 4096), "dt-20261130-025302-cid-00000000deadbeef");
  EXPECT_EQ(expand("%p%p", kValues, 4096), "1212");
}

TEST(PathTemplate, WhatIsNotKnown) {
  EXPECT_EQ(expand("%c %i", Values{}, 4096), "0000000000000000 unknown");
}

TEST(PathTemplate, OtherTextStays) {
  EXPECT_EQ(expand("%x %% %", kValues, 4096), "%x %% %");
  EXPECT_EQ(expand("", kValues, 4096), "");
  EXPECT_EQ(expand("%", kValues, 4096), "%");
}

TEST(PathTemplate, StopsBeforeTheVariableThatDoesNotFit) {
  EXPECT_EQ(expand("ab-%i-%p", kValues, 8), "ab-");
  EXPECT_EQ(expand("ab-%i-%p", kValues, 9), "ab-i-0abc");
  EXPECT_EQ(expand("ab-%i-%p", kValues, 11), "ab-i-0abc-");
  EXPECT_EQ(expand("ab-%i-%p", kValues, 12), "ab-i-0abc-12");
  EXPECT_EQ(expand("%p", kValues, 0), "");
  EXPECT_EQ(expand(std::string(10'000, '/'), kValues, 4096).size(), 4096u);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "%c";
  EXPECT_EQ(expand(many, kValues, 255).size(), 240u) << "15 ids of 16 digits";
}

TEST(PathTemplate, DateTimeIsLocal) {
  setenv("TZ", "UTC-2", 1);  // two hours east
  tzset();
  EXPECT_EQ(date_time_of(951827696), "20000229-143456");
  unsetenv("TZ");
  tzset();
}

TEST(PathTemplate, ComponentsStayInTheirDirectory) {
  EXPECT_EQ(component("i-0abc", "unknown"), "i-0abc");
  EXPECT_EQ(component("../../etc", "unknown"), "unknown");
  EXPECT_EQ(component("a/b c\n", "unknown"), "a_b_c_");
  EXPECT_EQ(component("", "unknown"), "unknown");
  EXPECT_EQ(component(std::string(500, 'x'), "unknown").size(), 64u);
}

}  // namespace
}  // namespace opennrt::dump
