// SPDX-License-Identifier: Apache-2.0
//
// The source language: what it yields, and what is said about wrong text.
#include "test_source.h"

namespace opennrt::neffkit {
namespace {

TEST(Parse, YieldsWhatTheSourceSays) {
  Program p;
  std::string error;
  ASSERT_TRUE(parse_program(kSource, "s.yaml", &p, &error)) << error;
  EXPECT_EQ(p.name, "small");
  EXPECT_EQ(p.target, isa::Generation::kSunda);
  ASSERT_EQ(p.inputs.size(), 1u);
  EXPECT_EQ(p.inputs[0].bytes, 512u);
  ASSERT_EQ(p.subgraphs.size(), 1u);
  const Subgraph& sg = p.subgraphs[0];
  EXPECT_EQ(sg.runtime_events, 12u);
  EXPECT_EQ(sg.runtime_semaphores, 3u);
  ASSERT_EQ(sg.variables.size(), 2u);
  const std::vector<std::uint8_t> content = {0, 0, 0xC0, 0x3F, 0, 0, 0, 0xC0,
                                             0, 0, 0xC0, 0x3F, 0, 0, 0, 0xC0};
  EXPECT_EQ(sg.variables[0].content, content);
  EXPECT_EQ(sg.variables[1].backing_offset, 64u);
  ASSERT_EQ(sg.queues.size(), 2u);
  EXPECT_EQ(sg.queues[0].owner, 4u);
  EXPECT_EQ(sg.queues[0].num_queues, 16u);
  EXPECT_EQ(sg.queues[0].semaphores, (std::vector<std::uint32_t>{8, 9}));
  ASSERT_EQ(sg.blocks.size(), 2u);
  EXPECT_EQ(sg.blocks[0].descriptors.at(0).to.steps, (std::vector<std::int64_t>{1, 0x40000}));
  EXPECT_EQ(sg.streams[0].size(), 1u);  // PE: nothing given
  EXPECT_EQ(sg.streams[0][0].bytes[0], 0xB1);
  EXPECT_EQ(sg.streams[2].size(), 3u);
  EXPECT_EQ(sg.streams[2][2].line, 35);
}

TEST(Parse, AnEmptyStreamHasALabelOnNewerFamilies) {
  Program p;
  std::string error;
  ASSERT_TRUE(parse_program(broken("target: sunda", "target: cayman"), "s.yaml", &p, &error));
  ASSERT_EQ(p.subgraphs[0].streams[0].size(), 2u);
  EXPECT_EQ(p.subgraphs[0].streams[0][1].bytes[0], 0xCC);
}

TEST(Parse, AnInstructionMaySpanLines) {
  Program p;
  std::string error;
  ASSERT_TRUE(parse_program(
      broken("- NOP wait=SEM_GE_IMM(10) value=16", "- NOP wait=SEM_GE_IMM(10)\n          value=16"),
      "s.yaml", &p, &error))
      << error;
  EXPECT_EQ(p.subgraphs[0].streams[2][2].bytes[8], 16);
}

TEST(Parse, SyntaxErrorsNameTheLine) {
  expect_refused("target: sunda", "target: [sunda", 3, "");
  EXPECT_NE(refusal("").find("must be a map"), std::string::npos);
  EXPECT_NE(refusal("- a\n- b\n").find("must be a map"), std::string::npos);
  EXPECT_NE(refusal("just text").find("must be a map"), std::string::npos);
}

TEST(Parse, MissingAndUnknownKeys) {
  expect_refused("name: small\n", "", 1, "'name' is missing");
  expect_refused("target: sunda\n", "", 1, "'target' is missing");
  expect_refused("target: sunda\n", "target: sunda\ncolour: red\n", 3, "unknown key 'colour'");
  expect_refused("target: sunda\n", "target: sunda\nname: again\n", 3, "given twice");
  expect_refused("owner: sp, ", "", 13, "'owner' is missing");
  expect_refused("        id: 0\n", "", 16, "'id' is missing");
  expect_refused("      sp:\n", "      gpu:\n", 29, "unknown key 'gpu'");
}

TEST(Parse, UnknownNames) {
  expect_refused("target: sunda", "target: saturn", 2, "unknown target 'saturn'");
  expect_refused("dtype: float32, shape", "dtype: double, shape", 4, "unknown data type 'double'");
  expect_refused("owner: sp", "owner: gpu", 13, "unknown engine 'gpu'");
  expect_refused("type: in,", "type: inout,", 13, "unknown queue type 'inout'");
  expect_refused("type: virtual", "type: magic", 11, "unknown variable type 'magic'");
  expect_refused("- from: {variable: x", "- op: xor\n            from: {variable: x", 20,
                 "unknown operation 'xor'");
}

TEST(Parse, BadInstructionsNameLineEngineAndPosition) {
  expect_refused("- NOP wait=SEM_GE_IMM(10)", "- NOPE wait=SEM_GE_IMM(10)", 35,
                 "pool[2]: unknown instruction 'NOPE'");
  expect_refused("- NOP wait=SEM_GE_IMM(10) value=16", "- NOP value=4294967296", 35,
                 "pool[2]: NOP: value: '4294967296' is not a number in 0..4294967295");
  expect_refused("block_id=0\n      pool", "block=0\n      pool", 31, "sp[1]: ");
  expect_refused("- NOP wait=SEM_GE_IMM(10) value=16", "- [NOP, DRAIN]", 35, "must be one text");
  expect_refused("- NOP wait=SEM_GE_IMM(10) value=16", "- MATMUL_MX", 35,
                 "does not exist on sunda");
}

TEST(Parse, NumbersOutOfRange) {
  expect_refused("semaphores: [8, 9]", "semaphores: [8, 256]", 13,
                 "'256' is not a number in 0..255");
  expect_refused("semaphores: [8, 9]", "semaphores: [8, -1]", 13, "'-1'");
  expect_refused("semaphores: [8, 9]", "semaphores: 8", 13, "must be a list");
  expect_refused("owner: sp,", "owner: sp, num_queues: 17,", 13, "0..16");
  expect_refused("owner: sp,", "owner: sp, num_queues: 0,", 13, "1..16");
  expect_refused("shape: [128]", "shape: [0]", 4, "size 0");
  expect_refused("shape: [128]", "shape: [4294967295, 4294967295]", 4, "1 TiB");
  expect_refused("shape: [128]", "shape: [many]", 4, "'many'");
  expect_refused("steps: [1, 4]", "steps: [1, four]", 20, "'four'");
  expect_refused("steps: [1, 4]", "steps: [1, 9223372036854775808]", 20, "is not a number");
}

TEST(Parse, FileContents) {
  expect_refused("values: [1.5, -2]", "values: []", 10, "needs values");
  expect_refused("values: [1.5, -2]", "values: [one]", 10, "'one'");
  expect_refused("dtype: float32, values", "dtype: float16, values", 10, "not supported");
  expect_refused("dtype: float32, values: [1.5", "dtype: int32, values: [1.5", 10,
                 "not a value of int32");
  expect_refused("dtype: float32, values: [1.5, -2]", "dtype: uint8, values: [-2]", 10,
                 "not a value of uint8");
  expect_refused("repeat: 2", "repeat: 2, size: 20", 10, "the values take 16");
  expect_refused("repeat: 2", "repeat: 99999999999", 10, "256 MiB");
  expect_refused("size: 4096, ", "", 11, "needs a size");
}

TEST(Parse, NamesMustBeSafe) {
  expect_refused("name: small", "name: ../small", 1, "is not a name");
  expect_refused("name: small", "name: 'a b'", 1, "is not a name");
  expect_refused("{name: x,", "{name: 'x\"y',", 4, "is not a name");
  expect_refused("{name: qLoad,", "{name: a12345678901234567890123456789012,", 13, "at most 31");
}

}  // namespace
}  // namespace opennrt::neffkit
