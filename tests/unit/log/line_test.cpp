// SPDX-License-Identifier: Apache-2.0
#include "log/line.h"

#include <gtest/gtest.h>

namespace opennrt::log {
namespace {

std::string line(const LineHead& head, std::string_view text) {
  fmt::memory_buffer out;
  append_line(out, head, text);
  return {out.data(), out.size()};
}

// A line of a real run of the vendor runtime, byte for byte.
TEST(LogLine, MatchesTheRecordedForm) {
  const LineHead head{.seconds = 1759362514,  // 2025-10-01 23:48:34
                      .microseconds = 2205,
                      .pid = 516278,
                      .tid = 516289,
                      .level = Level::kError,
                      .module = "TDRV",
                      .function = "exec_request_process_errors"};
  EXPECT_EQ(line(head, "message"),
            "2025-Oct-01 23:48:34.002205 516278:516289 ERROR  "
            "TDRV:exec_request_process_errors              message");
}

TEST(LogLine, PadsShortNumbersAndNames) {
  const LineHead head{.seconds = 951827696,  // 2000-02-29 12:34:56
                      .microseconds = 7,
                      .pid = 12,
                      .tid = 34,
                      .level = Level::kWarn,
                      .module = "NRT",
                      .function = "f"};
  EXPECT_EQ(line(head, ""),
            "2000-Feb-29 12:34:56.000007    12:34     WARN   NRT:f" + std::string(39, ' ') + " ");
}

TEST(LogLine, StaysOneLine) {
  EXPECT_NE(line({}, "a\nb\x1b[31m").find("a b [31m"), std::string::npos);
}

TEST(LogLine, CutsTheModuleAtFiveCharacters) {
  EXPECT_NE(line({.module = "ABCDEFG", .function = "f"}, "x").find(" ABCDE:f"), std::string::npos);
}

}  // namespace
}  // namespace opennrt::log
