// SPDX-License-Identifier: Apache-2.0
#include "opennrt/isa/table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace opennrt::isa {
namespace {

TEST(Table, CountsPerFamily) {
  // Invalid 0xFF included, as in the published opcode lists.
  std::size_t count[kGenerations] = {};
  for (const Instruction& i : instructions()) {
    for (std::size_t g = 0; g < kGenerations; ++g) {
      if (i.exists_on(static_cast<Generation>(g))) ++count[g];
    }
  }
  EXPECT_EQ(count[0], 145u);
  EXPECT_EQ(count[1], 150u);
  EXPECT_EQ(count[2], 159u);
  EXPECT_EQ(instructions().size(), 166u);
}

TEST(Table, LookupsAgree) {
  std::set<std::string> names;
  for (const Instruction& i : instructions()) {
    EXPECT_EQ(find_instruction(i.opcode), &i);
    EXPECT_EQ(find_instruction(std::string_view(i.name)), &i);
    EXPECT_TRUE(names.insert(i.name).second);
    EXPECT_EQ(opcode_name(i.opcode), i.name);
  }
  EXPECT_EQ(find_instruction(std::uint8_t{0x00}), nullptr);
  EXPECT_EQ(find_instruction(std::uint8_t{0xFE}), nullptr);
  EXPECT_EQ(find_instruction(std::string_view("nop")), nullptr);
  EXPECT_STREQ(opcode_name(0xFE), "unknown");
}

TEST(Table, PseudoInstructionsAreTheBlockC1ToDF) {
  for (const Instruction& i : instructions()) {
    EXPECT_EQ(i.kind == Kind::kPseudo, i.opcode >= 0xC1 && i.opcode <= 0xDF) << i.name;
  }
}

TEST(Table, EnginesOfCommonInstructions) {
  EXPECT_TRUE(find_instruction("MATMUL")->runs_on(0));
  EXPECT_FALSE(find_instruction("MATMUL")->runs_on(3));
  EXPECT_TRUE(find_instruction("ACTIVATE")->runs_on(1));
  EXPECT_FALSE(find_instruction("ACTIVATE")->runs_on(2));
  for (std::uint32_t e = 0; e < 5; ++e) EXPECT_TRUE(find_instruction("NOP")->runs_on(e));
  EXPECT_FALSE(find_instruction("NOP")->runs_on(5));
  EXPECT_FALSE(find_instruction("NOP")->runs_on(99));
}

TEST(Table, Generations) {
  EXPECT_EQ(generation_of_arch(2), Generation::kSunda);
  EXPECT_EQ(generation_of_arch(4), Generation::kMariana);
  EXPECT_FALSE(generation_of_arch(1).has_value());
  EXPECT_FALSE(generation_of_arch(5).has_value());
  EXPECT_FALSE(generation_of_arch(0x100).has_value());
  EXPECT_EQ(find_generation("cayman"), Generation::kCayman);
  EXPECT_FALSE(find_generation("Cayman").has_value());
  EXPECT_STREQ(generation_name(Generation::kSunda), "sunda");
}

}  // namespace
}  // namespace opennrt::isa
