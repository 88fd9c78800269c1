// SPDX-License-Identifier: Apache-2.0
#include "neff/listing.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace opennrt::tools {
namespace {

std::vector<Stream> assembled(std::string_view text) {
  auto streams = assemble_listing(text, "t.s", std::nullopt);
  EXPECT_TRUE(streams.is_ok()) << streams.status().message();
  return streams.is_ok() ? *std::move(streams) : std::vector<Stream>{};
}

void expect_refused(std::string_view text, std::string_view message) {
  const auto streams = assemble_listing(text, "t.s", std::nullopt);
  ASSERT_FALSE(streams.is_ok()) << text;
  EXPECT_NE(streams.status().message().find(message), std::string_view::npos)
      << streams.status().message();
}

TEST(Listing, StreamsAndTheirBytes) {
  const auto streams = assembled(
      "# comment\n.target cayman\n.stream sg00/PE 1#.bin\r\nNOP value=513 # last\n\n"
      "  .stream sg00/SP.bin  \n.record hex:" +
      std::string(126, '0') + "fe\n.bytes hex:0aFF\n");
  ASSERT_EQ(streams.size(), 2U);
  EXPECT_EQ(streams[0].name, "sg00/PE 1#.bin");
  ASSERT_EQ(streams[0].bytes.size(), 64U);
  EXPECT_EQ(streams[0].bytes[0], std::byte{0xA4});
  EXPECT_EQ(streams[0].bytes[1], std::byte{16});
  EXPECT_EQ(streams[0].bytes[8], std::byte{1});
  EXPECT_EQ(streams[0].bytes[9], std::byte{2});
  EXPECT_EQ(streams[1].name, "sg00/SP.bin");
  ASSERT_EQ(streams[1].bytes.size(), 66U);
  EXPECT_EQ(streams[1].bytes[63], std::byte{0xFE});
  EXPECT_EQ(streams[1].bytes[64], std::byte{0x0A});
  EXPECT_EQ(streams[1].bytes[65], std::byte{0xFF});
}

TEST(Listing, EmptyStreamsAndTextWithoutStreamLine) {
  EXPECT_TRUE(assembled("# nothing\n").empty());
  const auto empty = assembled(".stream a\n.stream b");
  ASSERT_EQ(empty.size(), 2U);
  EXPECT_TRUE(empty[0].bytes.empty());
  const auto plain = assemble_listing("NOP", "t.s", isa::Generation::kSunda);
  ASSERT_TRUE(plain.is_ok());
  ASSERT_EQ(plain->size(), 1U);
  EXPECT_EQ(plain->front().name, "");
}

TEST(Listing, RefusalsNameTheLine) {
  expect_refused("NOP\n", "t.s:1: no target");
  expect_refused("\n.target inf1\n", "t.s:2: .target \"inf1\": expected sunda, cayman or mariana");
  expect_refused(".stream ../x\n", "t.s:1: .stream");
  expect_refused(".stream /x\n", "absolute");
  expect_refused(".stream a\n.stream a\n", "t.s:2: .stream \"a\": appears twice");
  expect_refused(".target sunda\nNOP\n.stream a\n", "t.s:3: .stream \"a\": records stand before");
  expect_refused(".target sunda\nNOPE\n", "t.s:2: unknown instruction 'NOPE'");
  expect_refused(".target sunda\nLDTAGS\n", "LDTAGS does not exist on sunda");
  expect_refused(".target sunda\n.bytes hex:0\n", "t.s:2: .bytes takes");
  expect_refused(".bytes hex:\n", ".bytes takes");
  expect_refused(".bytes hex:zz\n", "zz is no hex digit");
  expect_refused(".bytes hex:" + std::string(128, '0') + "\n", ".bytes takes");
  expect_refused(".target sunda\n.bytes hex:00\nNOP\n", "t.s:3: a record behind .bytes");
}

TEST(Listing, PartsOfAStream) {
  std::vector<std::byte> stream(3 * 64 + 5);
  for (std::size_t i = 0; i < 3; ++i) {
    stream[64 * i] = std::byte{0xA4};
    stream[64 * i + 1] = std::byte{16};
    stream[64 * i + 8] = static_cast<std::byte>(i + 1);
  }
  stream[3 * 64] = std::byte{0xAB};
  std::string text;
  append_records(stream, isa::Generation::kSunda, 2, 99, &text);
  append_rest(stream, &text);
  EXPECT_EQ(text, "NOP value=2  # 2\nNOP value=3  # 3\n.bytes hex:ab00000000\n");
}

TEST(Listing, WhatAFamilyLacksAndOddLengthsComeBack) {
  std::vector<std::byte> stream(64 * 4 + 63);
  for (std::size_t i = 0; i < stream.size(); ++i) stream[i] = static_cast<std::byte>(i * 37 + 5);
  stream[0] = std::byte{0x06};   // not on sunda
  stream[64] = std::byte{0xDA};  // the extension, with a length of its own
  stream[65] = std::byte{0};
  stream[128] = std::byte{0xFE};  // no instruction at all
  stream[192] = std::byte{0xC1};  // a name without a terminator
  for (const auto generation :
       {isa::Generation::kSunda, isa::Generation::kCayman, isa::Generation::kMariana}) {
    std::string text;
    append_records(stream, generation, 1, 4, &text);
    append_rest(stream, &text);
    const auto back = assemble_listing(text, "t.s", generation);
    ASSERT_TRUE(back.is_ok()) << back.status().message();
    ASSERT_EQ(back->size(), 1U);
    EXPECT_EQ(back->front().bytes, stream);
  }
}

}  // namespace
}  // namespace opennrt::tools
