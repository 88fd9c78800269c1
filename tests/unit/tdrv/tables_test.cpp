// SPDX-License-Identifier: Apache-2.0
#include "tdrv/tables.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "fake_driver.h"

namespace opennrt::tdrv {
namespace {

std::uint32_t word(const TablePart& part, std::size_t index) {
  std::uint32_t value = 0;
  std::memcpy(&value, part.content.data() + index * 4, 4);
  return value;
}

TEST(DveTables, ProgramTablesInSlotOrderAndTheParameterRam) {
  test::FakeDriver driver;
  const auto program = test::small_program();
  const auto parts = dve_tables(driver.arch(), program->subgraphs[0]);
  ASSERT_TRUE(parts.is_ok()) << parts.status().message();
  ASSERT_EQ(parts->size(), 4u);  // sunda has no slow control table
  EXPECT_EQ((*parts)[0].name, "opcode");
  EXPECT_EQ((*parts)[3].name, "param_ram");
  float third = 0;
  std::memcpy(&third, (*parts)[3].content.data() + 8, 4);
  EXPECT_EQ((*parts)[3].content.size(), 1024u);
  EXPECT_EQ(third, 1.0f / 3.0f);
}

TEST(DveTables, MissingAndOversizedTablesAreRefused) {
  test::FakeDriver driver;
  neff::Subgraph sg = test::small_program()->subgraphs[0];
  sg.dve_tables.clear();
  if (driver.arch().tables->default_dve == nullptr) {
    EXPECT_EQ(dve_tables(driver.arch(), sg).status().code(), NRT_INVALID);
  }
  static const std::vector<std::byte> big(0x801);
  sg = test::small_program()->subgraphs[0];
  sg.dve_tables[0].data = big;  // opcode holds 0x800 bytes
  EXPECT_EQ(dve_tables(driver.arch(), sg).status().code(), NRT_RESOURCE);
}

neff::ActTableSet act_set(const char* name, std::span<const std::byte> control,
                          std::span<const std::byte> buckets, std::string profile) {
  neff::ActTableSet set;
  set.name = name;
  set.control = control;
  set.buckets = buckets;
  set.profile_json = std::move(profile);
  return set;
}

TEST(ActTables, NoneWithoutActivationSets) {
  test::FakeDriver driver;
  const auto parts = act_tables(driver.arch(), test::small_program()->subgraphs[0]);
  ASSERT_TRUE(parts.is_ok());
  EXPECT_TRUE(parts->empty());
}

TEST(ActTables, DirectoryPointsAtTheSetsOfEveryPart) {
  test::FakeDriver driver;
  neff::Subgraph sg;
  static const std::vector<std::byte> control(64, std::byte{1}), buckets(96, std::byte{2});
  sg.act_sets.push_back(act_set("a", control, buckets,
                                R"({"profile_meta_data": [{"func_id": 7, "exp_offset": -19,
      "fnan_result": 2143289344, "fma_indirection_src_sel": 3, "symmetry_opt_en": true}]})"));
  sg.act_sets.push_back(
      act_set("b", control, buckets, R"({"profile_meta_data": [{"func_id": 1}, {"func_id": 2}]})"));
  const auto parts = act_tables(driver.arch(), sg);
  ASSERT_TRUE(parts.is_ok()) << parts.status().message();
  ASSERT_EQ(parts->size(), 4u);
  const TablePart& directory = (*parts)[0];
  ASSERT_EQ(directory.content.size(), 96u);
  EXPECT_EQ(word(directory, 0), 2u);
  const std::uint32_t expected[2][6] = {{0, 2, 0, 1, 0, 3}, {64, 2, 128, 2, 96, 3}};
  for (std::size_t s = 0; s < 2; ++s) {
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(word(directory, 8 + s * 8 + i), expected[s][i]);
  }
  EXPECT_EQ((*parts)[1].content.size(), 128u);
  const TablePart& profiles = (*parts)[2];
  ASSERT_EQ(profiles.content.size(), 3u * 128);
  EXPECT_EQ(word(profiles, 0), 7u);
  EXPECT_EQ(word(profiles, 1), 0x7FC00000u);
  EXPECT_EQ(word(profiles, 5), 1u);
  EXPECT_EQ(word(profiles, 21), static_cast<std::uint32_t>(-19));
  EXPECT_EQ(word(profiles, 27), 3u);
  EXPECT_EQ(word(profiles, 28), 0u);
  EXPECT_EQ(word(profiles, 32), 1u);
  EXPECT_EQ((*parts)[3].content.size(), 192u);
  EXPECT_EQ(driver.arch().tables->act[3].local, (*parts)[3].local);
}

TEST(ActTables, BadProfilesAreRefused) {
  test::FakeDriver driver;
  static const std::vector<std::byte> entry(32), half(33);
  for (const char* text :
       {"", "{", "[]", "{}", R"({"profile_meta_data": 1})", R"({"profile_meta_data": [1]})",
        R"({"profile_meta_data": [{"func_id": "x"}]})"}) {
    neff::Subgraph sg;
    sg.act_sets.push_back(act_set("bad", entry, entry, text));
    const auto parts = act_tables(driver.arch(), sg);
    EXPECT_EQ(parts.status().code(), NRT_INVALID) << text;
    EXPECT_NE(parts.status().message().find("'bad'"), std::string_view::npos);
  }
  neff::Subgraph sg;
  sg.act_sets.push_back(act_set("odd", entry, half, R"({"profile_meta_data": []})"));
  EXPECT_EQ(act_tables(driver.arch(), sg).status().code(), NRT_INVALID);
}

TEST(ActTables, MoreThanTheTableMemoryIsRefused) {
  test::FakeDriver driver;
  static const std::vector<std::byte> huge(0x80020), entry(32);
  neff::Subgraph sg;
  sg.act_sets.push_back(act_set("huge", entry, huge, R"({"profile_meta_data": []})"));
  EXPECT_EQ(act_tables(driver.arch(), sg).status().code(), NRT_RESOURCE);
}

}  // namespace
}  // namespace opennrt::tdrv
