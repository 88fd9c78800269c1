// SPDX-License-Identifier: Apache-2.0
//
// One source, three ways to the machine, one transcript. The program itself knows
// what the driver promises and says what was not kept.
#include <gtest/gtest.h>

#include "run_program.h"

namespace opennrt::emu::test {
namespace {

const std::string kBin = OPENNRT_BIN;

class RawClient : public testing::Test {
 protected:
  Ended in_process() { return run_program({kBin + "/tests/raw_client_process"}); }
  Ended over_daemon() {
    return run_program({kBin + "/tests/raw_client_daemon"},
                       {{"OPENNRT_RAW_SOCKET", directory_ / "emud.sock"}});
  }
  Ended unmodified(const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {kBin + "/opennrt", "emu",       "--product",
                                      "trn1.32xlarge",   "--devices", "16"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", kBin + "/tests/raw_client_plain"});
    return run_program(words);
  }
  static void good(const Ended& e) {
    EXPECT_EQ(e.code, 0) << e.out << e.error;
    EXPECT_EQ(e.error, "");
    EXPECT_TRUE(e.out.ends_with("\n0 promises broken\n")) << e.out;
    EXPECT_EQ(e.out.find("BROKEN"), std::string::npos);
  }
  Directory directory_;
};

TEST_F(RawClient, InProcess) { good(in_process()); }
TEST_F(RawClient, OverTheDaemon) { good(over_daemon()); }
TEST_F(RawClient, UnmodifiedUnderEmu) { good(unmodified()); }

TEST_F(RawClient, OneTranscript) {
  const std::string transcript = in_process().out;
  EXPECT_GT(transcript.size(), 3000u);
  EXPECT_EQ(transcript, over_daemon().out);
  EXPECT_EQ(transcript, unmodified().out);
  EXPECT_EQ(transcript, unmodified({"--no-guard"}).out);
}

// The program is what it says: no header of ours, no library of ours.
TEST_F(RawClient, KnowsNothingOfUs) {
  const std::string source = contents(OPENNRT_RAW_SOURCE);
  ASSERT_FALSE(source.empty());
  EXPECT_EQ(source.find("#include \""), std::string::npos);
  const Ended needs = run_program({"readelf", "-d", kBin + "/tests/raw_client_plain"});
  EXPECT_EQ(needs.out.find("opennrt"), std::string::npos) << needs.out;
}

// Without a machine there is none.
TEST_F(RawClient, WithoutAMachine) {
  const Ended e = run_program({kBin + "/tests/raw_client_plain"});
  EXPECT_EQ(e.code, 100);
}

}  // namespace
}  // namespace opennrt::emu::test
