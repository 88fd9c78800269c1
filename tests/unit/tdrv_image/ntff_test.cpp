// SPDX-License-Identifier: Apache-2.0
//
// The profile reader on files built by hand: what it finds and what it refuses.
#include "support/ntff.h"

#include <gtest/gtest.h>

#include <cstring>

namespace opennrt::test {
namespace {

using Text = std::string;

Text varint(std::uint64_t v) {
  Text out;
  for (; v >= 0x80; v >>= 7) out.push_back(static_cast<char>(v | 0x80));
  out.push_back(static_cast<char>(v));
  return out;
}
Text number(std::uint32_t field, std::uint64_t v) { return varint(field << 3) + varint(v); }
Text message(std::uint32_t field, const Text& body) {
  return varint(field << 3 | 2) + varint(body.size()) + body;
}
Text file(std::uint64_t version, const Text& info, const Text& raw = "",
          std::uint64_t extra_length = 0) {
  const std::uint64_t word = version | (info.size() + extra_length) << 8;
  Text out(128, '\x5a');  // the rest of the header means nothing
  std::memcpy(out.data(), &word, sizeof word);
  return out + info + raw;
}
bool read(const Text& text, Ntff& out, std::string& error) {
  return read_ntff(std::as_bytes(std::span(text)), out, error);
}

Text with_subgraph(const Text& subgraph) { return message(4, message(4, message(1, subgraph))); }

TEST(Ntff, InlineImagePatchesAndBlocks) {
  const Text image(128, '\x11');
  const Text subgraph =
      message(1, "sg00") + number(3, 5) +
      message(4, number(1, 2) + number(2, 0x3c0070000) + message(3, image)) +
      message(5, number(1, 2) + message(2, number(2, 1)) +
                     message(2, number(1, 64) + number(2, 1) + number(3, 2))) +
      message(7, number(1, 80) + number(2, 1) + number(3, 3) + message(4, "qSPIO0") +
                     message(8, number(1, 7) + number(2, 3) + number(3, 9) + number(4, 3)));
  Ntff out;
  std::string error;
  ASSERT_TRUE(read(file(4, message(9, "trn1.2xlarge") + message(8, number(1, 2) + number(2, 25)) +
                               with_subgraph(subgraph)),
                   out, error))
      << error;
  EXPECT_EQ(out.version, 4u);
  EXPECT_EQ(out.instance_type, "trn1.2xlarge");
  EXPECT_EQ(out.runtime_version[1], 25u);
  ASSERT_EQ(out.subgraphs.size(), 1u);
  const NtffSubgraph& sg = out.subgraphs[0];
  EXPECT_EQ(sg.name, "sg00");
  EXPECT_EQ(sg.core, 5u);
  const NtffEngine& pool = sg.engines.at(2);
  EXPECT_EQ(pool.address, 0x3c0070000u);
  EXPECT_EQ(pool.image.size(), 128u);
  ASSERT_EQ(pool.patches.size(), 2u);
  EXPECT_EQ(pool.patches[0].offset, 0u);
  EXPECT_EQ(pool.patches[1].type, 2u);
  ASSERT_EQ(sg.queues.size(), 1u);
  EXPECT_EQ(sg.queues[0].name, "qSPIO0");
  ASSERT_EQ(sg.queues[0].blocks.size(), 1u);
  EXPECT_EQ(sg.queues[0].blocks[0].id, 7u);
  EXPECT_EQ(sg.queues[0].blocks[0].m2s, 9u);
  EXPECT_EQ(sg.queues[0].blocks[0].s2m, 3u);
}

TEST(Ntff, ImageInTheRawPart) {
  const Text info = with_subgraph(message(4, number(1, 0) + number(7, 4) + number(8, 3)));
  Ntff out;
  std::string error;
  ASSERT_TRUE(read(file(6, info, "....abc"), out, error)) << error;
  EXPECT_EQ(out.subgraphs[0].engines.at(0).image, (std::vector<std::uint8_t>{'a', 'b', 'c'}));
  Ntff second;
  EXPECT_FALSE(read(file(6, info, "....ab"), second, error));  // ends before the image does
}

TEST(Ntff, DamagedFilesAreRefused) {
  std::string error;
  Ntff out;
  EXPECT_FALSE(read(Text(127, '\0'), out, error));
  EXPECT_FALSE(read(file(3, ""), out, error));
  EXPECT_NE(error.find("version 3"), std::string::npos);
  EXPECT_FALSE(read(file(7, ""), out, error));
  EXPECT_FALSE(read(file(5, "", "", 1), out, error));  // message longer than the file
  EXPECT_FALSE(read(file(5, message(9, "abc").substr(0, 4)), out, error));
  EXPECT_FALSE(read(file(5, Text(11, '\xff')), out, error));  // key without an end
  EXPECT_FALSE(read(file(5, "\x0b"), out, error));            // group: not in these files
  EXPECT_FALSE(read(file(5, with_subgraph("\x09")), out, error));
}

TEST(Ntff, EveryTruncationOfAFileIsRefusedOrSafe) {
  const Text whole =
      file(5, with_subgraph(message(1, "sg00") + message(4, message(3, Text(64, 'x'))) +
                            message(7, message(4, "q") + message(8, number(1, 1)))));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    Ntff out;
    std::string error;
    EXPECT_FALSE(read(whole.substr(0, n), out, error)) << n;
  }
}

}  // namespace
}  // namespace opennrt::test
