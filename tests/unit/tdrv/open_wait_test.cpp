// SPDX-License-Identifier: Apache-2.0
#include "tdrv/open_wait.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace opennrt::tdrv {
namespace {

// A NOP with a wait: opcode, length, 2 zero bytes, mode, index, 2 zero bytes,
// threshold.
void append(std::vector<std::byte>& stream, int mode, int index, std::uint32_t value) {
  std::vector<std::byte> record(64);
  const std::uint32_t bytes[] = {0xA4,
                                 0x10,
                                 0,
                                 0,
                                 static_cast<std::uint32_t>(mode),
                                 static_cast<std::uint32_t>(index),
                                 0,
                                 0,
                                 value & 0xFF,
                                 value >> 8 & 0xFF,
                                 value >> 16 & 0xFF,
                                 value >> 24};
  for (std::size_t i = 0; i < std::size(bytes); ++i) record[i] = static_cast<std::byte>(bytes[i]);
  stream.insert(stream.end(), record.begin(), record.end());
}

std::string look(const std::vector<std::byte>& stream, std::map<std::uint32_t, int> values) {
  return first_open_wait(stream, [&](std::uint32_t i) -> std::optional<std::int32_t> {
    const auto found = values.find(i);
    if (found == values.end()) return std::nullopt;
    return found->second;
  });
}

TEST(OpenWait, NamesTheFirstThatDoesNotHold) {
  std::vector<std::byte> stream;
  append(stream, 0, 0, 0);      // none
  append(stream, 5, 12, 16);    // >=
  append(stream, 5, 13, 9999);  // >=
  append(stream, 1, 14, 1);     // ==
  EXPECT_EQ(look(stream, {{12, 16}, {13, 16}, {14, 0}}),
            "record 2 waits for semaphore 13 >= 9999 (value 16)");
  EXPECT_EQ(look(stream, {{12, 16}, {13, 9999}, {14, 0}}),
            "record 3 waits for semaphore 14 == 1 (value 0)");
  EXPECT_EQ(look(stream, {{12, 16}, {13, 10000}, {14, 1}}), "");
}

TEST(OpenWait, ComparesSigned) {
  std::vector<std::byte> stream;
  append(stream, 2, 7, 0);  // <
  EXPECT_EQ(look(stream, {{7, -1}}), "");
  EXPECT_EQ(look(stream, {{7, 0}}), "record 0 waits for semaphore 7 < 0 (value 0)");
  stream.clear();
  append(stream, 3, 7, 0xFFFFFFFF);  // <= -1
  EXPECT_EQ(look(stream, {{7, -1}}), "");
  stream.clear();
  append(stream, 4, 7, 3);  // >
  EXPECT_EQ(look(stream, {{7, 3}}), "record 0 waits for semaphore 7 > 3 (value 3)");
}

TEST(OpenWait, PassesOverWhatItCannotTell) {
  std::vector<std::byte> stream;
  append(stream, 6, 3, 0);     // an event
  append(stream, 0x85, 3, 1);  // threshold in a register
  append(stream, 5, 200, 1);   // not readable
  stream.resize(stream.size() + 63);
  EXPECT_EQ(look(stream, {{3, 0}}), "");
  EXPECT_EQ(look({}, {}), "");
}

}  // namespace
}  // namespace opennrt::tdrv
