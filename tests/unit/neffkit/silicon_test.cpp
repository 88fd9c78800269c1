// SPDX-License-Identifier: Apache-2.0
//
// Targets that are not built in: described by the source, with instructions of
// their own.
#include "opennrt/isa/records.h"
#include "test_source.h"

namespace opennrt::neffkit {
namespace {

constexpr std::string_view kSilicon = R"(target: private
silicon:
  layouts: cayman
  sbuf_partitions: 64
  sbuf_partition_stride: 0x80000
  sbuf_partition_bytes: 0x1000
  semaphores: 90
  instructions:
    - name: OWN
      opcode: 0xF3
      engines: [pool, dve]
      fields:
        - {name: a, offset: 12, type: u8}
        - {name: b, offset: 14, type: i16, count: 2}
        - {name: c, offset: 60, type: f32}
)";

// kSource for that silicon: the streams of its 64 partitions.
std::string source(std::string_view from = "", std::string_view to = "") {
  std::string text = broken("target: sunda\n", kSilicon);
  const auto replace = [&](std::string_view a, std::string_view b, bool all) {
    std::size_t at = text.find(a);
    EXPECT_NE(at, std::string::npos) << a;
    for (; at != std::string::npos; at = all ? text.find(a, at + b.size()) : std::string::npos)
      text.replace(at, a.size(), b);
  };
  replace("shape: [128]", "shape: [64]", true);
  replace("[4, 128]", "[4, 64]", true);
  replace("[1, 0x40000]", "[1, 0x80000]", true);
  replace("        - NOP wait=SEM_GE_IMM(10)",
          "        - OWN a=7 b=-2,3 c=1.5\n        - NOP wait=SEM_GE_IMM(10)", false);
  if (!from.empty()) replace(from, to, false);
  return text;
}

void expect_error(std::string_view from, std::string_view to, std::string_view part) {
  const std::string error = refusal(source(from, to));
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

TEST(Silicon, ItsInstructionsAreAssembledLikeAnyOther) {
  Program p;
  std::string error;
  ASSERT_TRUE(parse_program(source(), "s.yaml", &p, &error)) << error;
  ASSERT_TRUE(check_program(p, &error)) << error;
  EXPECT_EQ(p.target, isa::Generation::kCayman);
  ASSERT_TRUE(p.silicon);
  EXPECT_EQ(p.silicon->target, "private");
  isa::RecordBytes want{};
  want[0] = 0xF3;
  want[1] = 0x10;
  want[12] = 7;
  want[14] = 0xFE;
  want[15] = 0xFF;
  want[16] = 3;
  want[62] = 0xC0;
  want[63] = 0x3F;
  EXPECT_EQ(p.subgraphs[0].streams[2][2].bytes, want);
  // A copy lives on its own.
  const Program copy = p;
  p = Program{};
  EXPECT_EQ(copy.silicon->instructions.at(0).layout(copy.target).fields()[2].name,
            std::string("c"));
  ASSERT_TRUE(check_program(copy, &error)) << error;
}

TEST(Silicon, TheContainerNamesItAndBringsNoTables) {
  Program p;
  std::string error;
  ASSERT_TRUE(parse_program(source(), "s.yaml", &p, &error)) << error;
  for (const Member& m : make_members(p)) {
    const std::string text(m.bytes.begin(), m.bytes.end());
    if (m.name == "kelf-0.json") {
      EXPECT_NE(text.find("\"target\": \"private\""), std::string::npos) << text;
    }
    EXPECT_EQ(m.name.find("table"), std::string::npos) << m.name;
    EXPECT_EQ(text.find("dve_tables"), std::string::npos) << m.name;
  }
}

TEST(Silicon, ItsLimitsHold) {
  expect_error("to: {variable: SB, sizes: [4, 64]",
               "to: {variable: SB, offset: 0xFFE, sizes: [4, 64]", "has 4096");
  expect_error("semaphores: [8, 9]", "semaphores: [8, 90]", "is not in 3..89");
  expect_error("- OWN a=7", "- OWN wait=SEM_GE_IMM(90) a=7", "semaphore 90 does not exist");
  expect_error("        - PSEUDO_DMATRIGGER queue_name=\"qLoad\"",
               "        - OWN a=1\n        - PSEUDO_DMATRIGGER queue_name=\"qLoad\"",
               "OWN does not run on sp");
  expect_error("a=7", "d=7", "no field 'd'; fields: a b c");
  expect_error("a=7", "a=256", "is not a number in 0..255");
}

TEST(Silicon, WrongDescriptionsNameWhatIsWrong) {
  expect_error("target: private", "target: sunda", "'silicon' is for others");
  expect_error("layouts: cayman", "layouts: dawn", "unknown layouts 'dawn'");
  expect_error("  layouts: cayman\n", "", "'layouts' is missing");
  expect_error("sbuf_partitions: 64", "sbuf_partitions: 129", "sbuf_partitions");
  expect_error("sbuf_partitions: 64", "sbuf_partitions: 0", "without partitions");
  expect_error("sbuf_partition_bytes: 0x1000", "sbuf_partition_bytes: 0x80001",
               "sbuf_partition_bytes");
  expect_error("opcode: 0xF3", "opcode: 256", "opcode");
  expect_error("engines: [pool, dve]", "engines: [gpu]", "unknown engine 'gpu'");
  expect_error("engines: [pool, dve]", "engines: []", "runs on no engine");
  expect_error("offset: 12,", "offset: 11,", "byte 11 belongs to the head");
  expect_error("offset: 14,", "offset: 12,", "byte 12 belongs to another field");
  expect_error("offset: 60,", "offset: 61,", "does not fit");
  expect_error("type: f32", "type: f64", "unknown type 'f64'");
  expect_error("    - name: OWN",
               "    - {name: OWN, opcode: 1, engines: [pe], fields: []}\n    - name: OWN",
               "its name or opcode is that of OWN");
  const std::string error = refusal(broken("target: sunda", "target: dawn"));
  EXPECT_NE(error.find("others need 'silicon'"), std::string::npos) << error;
}

}  // namespace
}  // namespace opennrt::neffkit
