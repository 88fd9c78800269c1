// SPDX-License-Identifier: Apache-2.0
//
// The checked-in table against the instruction sheet, where there is one.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "opennrt/isa/table.h"

namespace opennrt::isa {
namespace {

// Layouts of which the sheet leaves places open or inferred, and which public
// analyses of the instruction headers complete: scalars of the TSM records come
// from an earlier record of the vector engine and not from an address, which is
// why that engine has them too.
const std::set<std::string> kCompleted = {"S2D2_AC", "S3D3_NONZERO_WC", "S4D4_TSM"};

class Golden : public testing::Test {
 protected:
  void SetUp() override {
    const char* configured = std::getenv("OPENNRT_SPEC");
    const std::filesystem::path spec =
        configured != nullptr ? configured : OPENNRT_SOURCE_DIR "/../shared/spec";
    const auto file = spec / "isa.yaml";
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "no instruction sheet; set OPENNRT_SPEC";
    sheet_ = YAML::LoadFile(file.string());
  }
  static std::uint32_t number(const YAML::Node& node) {
    return static_cast<std::uint32_t>(std::stoul(node.as<std::string>(), nullptr, 0));
  }
  static std::uint8_t generations(const YAML::Node& node) {
    std::uint8_t mask = 0;
    for (const auto& name : node) {
      const auto generation = find_generation(name.as<std::string>());
      EXPECT_TRUE(generation.has_value());
      if (generation) mask = static_cast<std::uint8_t>(mask | generation_bit(*generation));
    }
    return mask;
  }
  static std::uint8_t engines(const YAML::Node& node) {
    static const std::map<std::string, int> kBits = {
        {"PE", 0}, {"ACT", 1}, {"POOL", 2}, {"DVE", 3}, {"SP", 4}};
    if (node.IsScalar()) return 0x1F;
    std::uint8_t mask = 0;
    for (const auto& name : node) {
      mask = static_cast<std::uint8_t>(mask | 1 << kBits.at(name.as<std::string>()));
    }
    return mask;
  }
  // Bytes that the fields of a layout cover, and where each named field starts.
  static void compare_layout(const std::string& name, const RecordLayout& ours,
                             const YAML::Node& theirs) {
    EXPECT_EQ(ours.generations, generations(theirs["gens"])) << name;
    std::array<bool, 64> covered{};
    std::array<bool, 64> expected{};
    for (const Field& f : ours.fields()) {
      for (std::size_t b = f.offset; b < f.offset + std::size_t{f.width} * f.count; ++b) {
        covered[b] = true;
      }
    }
    for (const auto& field : theirs["fields"]) {
      const auto field_name = field[0].as<std::string>();
      const std::uint32_t offset = number(field[1]);
      const std::uint32_t width = number(field[2]);
      // Spare bytes inside an MX pattern belong to no field of ours.
      const std::uint32_t used = field[3].as<std::string>() == "MXMEM1D" ? width - 4 : width;
      for (std::uint32_t b = offset; b < offset + used; ++b) expected[b] = true;
      bool found = false;
      for (const Field& f : ours.fields()) {
        const std::string mine = f.name;
        if (mine.substr(0, mine.find('.')) == field_name) {
          found = true;
          EXPECT_GE(f.offset, offset) << name << "." << f.name;
          EXPECT_LE(f.offset + f.width * f.count, offset + width) << name << "." << f.name;
        }
      }
      EXPECT_TRUE(found) << name << " has no field " << field_name;
    }
    // The sheet leaves out the completion semaphore and its increment, which public
    // analyses of the instruction headers give for this record.
    const auto added = [&](std::uint32_t b) {
      return name == "DMA_INDIRECT1D" && (b == 12 || b == 13);
    };
    for (std::uint32_t b = 0; b < 64; ++b) expected[b] = expected[b] || added(b);
    EXPECT_EQ(covered, expected) << name;
    for (const auto& range : theirs["reserved"]) {
      for (std::uint32_t b = number(range[0]); b < number(range[0]) + number(range[1]); ++b) {
        EXPECT_EQ(covered[b], added(b)) << name << " byte " << b;
      }
    }
  }
  YAML::Node sheet_;
};

TEST_F(Golden, Instructions) {
  ASSERT_EQ(sheet_["opcodes"].size(), instructions().size());
  const std::map<std::string, Kind> kinds = {{"executable", Kind::kExecutable},
                                             {"pseudo", Kind::kPseudo},
                                             {"deprecated", Kind::kDeprecated},
                                             {"invalid", Kind::kInvalid}};
  std::set<std::string> without_layout;
  for (const auto& row : sheet_["opcodes"]) {
    const Instruction* ours = find_instruction(static_cast<std::uint8_t>(number(row["code"])));
    const auto name = row["mnemonic"].as<std::string>();
    ASSERT_NE(ours, nullptr) << name;
    EXPECT_EQ(ours->name, name);
    EXPECT_EQ(ours->kind, kinds.at(row["status"].as<std::string>())) << name;
    const bool multi = row["struct"].as<std::string>() == "S4D4_TSM";
    EXPECT_EQ(ours->engines, multi ? std::uint8_t{1 << 3} : engines(row["engines"])) << name;
    EXPECT_EQ(ours->generations, generations(row["gens"])) << name;
    EXPECT_EQ(ours->observed, row["seen"].as<bool>()) << name;
    const YAML::Node record = sheet_["structs"][row["struct"].as<std::string>()];
    for (std::size_t g = 0; g < kGenerations; ++g) {
      const auto generation = static_cast<Generation>(g);
      if (!ours->exists_on(generation)) continue;
      // A layout of its own, a common one of that family, or none.
      const bool own =
          record[generation_name(generation)].IsDefined() ||
          (record["gens"] && (generations(record["gens"]) & generation_bit(generation)));
      EXPECT_STREQ(ours->layout(generation).name,
                   own ? row["struct"].as<std::string>().c_str() : "PSEUDO_OPAQUE")
          << name << " on " << generation_name(generation);
      if (!own) without_layout.insert(name + " " + generation_name(generation));
    }
  }
  const std::set<std::string> expected = {"CUSTOM_OP_HEADER cayman",   "CUSTOM_OP_HEADER mariana",
                                          "CUSTOM_OP_PAYLOAD cayman",  "CUSTOM_OP_PAYLOAD mariana",
                                          "PSEUDO_CORE_BARRIER sunda", "TENSOR_DEQUANTIZE sunda"};
  EXPECT_EQ(without_layout, expected);
}

TEST_F(Golden, Records) {
  std::map<std::string, std::vector<const RecordLayout*>> ours;
  for (const RecordLayout& layout : record_layouts()) ours[layout.name].push_back(&layout);
  EXPECT_EQ(ours.size(), sheet_["structs"].size());
  for (const auto& entry : sheet_["structs"]) {
    const auto name = entry.first.as<std::string>();
    ASSERT_TRUE(ours.contains(name)) << name;
    if (kCompleted.contains(name)) continue;
    if (entry.second["fields"]) {
      ASSERT_EQ(ours[name].size(), 1u) << name;
      compare_layout(name, *ours[name][0], entry.second);
      continue;
    }
    ASSERT_EQ(ours[name].size(), kGenerations) << name;
    for (std::size_t g = 0; g < kGenerations; ++g) {
      const char* generation = generation_name(static_cast<Generation>(g));
      compare_layout(name + "/" + generation, *ours[name][g], entry.second[generation]);
    }
  }
}

// Where the fields of the completed layouts lie.
TEST_F(Golden, CompletedRecords) {
  using Places = std::map<std::string, std::uint32_t>;
  const std::map<std::string, Places> expected = {{"S2D2_AC",
                                                   {{"src", 12},
                                                    {"relu_param_src", 24},
                                                    {"imm0_src", 25},
                                                    {"reduce_cmd", 26},
                                                    {"imm1_src", 27},
                                                    {"imm_dtype", 28},
                                                    {"op0", 29},
                                                    {"op1", 30},
                                                    {"reduce_op", 31},
                                                    {"in_dtype", 32},
                                                    {"out_dtype", 33},
                                                    {"num_active_channels", 34},
                                                    {"activation_func", 35},
                                                    {"imm0", 36},
                                                    {"imm1", 40},
                                                    {"relu_param", 44},
                                                    {"dst", 48},
                                                    {"reverse_operands", 60}}},
                                                  {"S3D3_NONZERO_WC",
                                                   {{"num_active_channels", 12},
                                                    {"in_dtype", 13},
                                                    {"out_dtype", 14},
                                                    {"index_offset_src", 15},
                                                    {"src", 16},
                                                    {"index_offset", 32},
                                                    {"padding_val_src", 36},
                                                    {"padding_val", 40},
                                                    {"dst", 44}}},
                                                  {"S4D4_TSM",
                                                   {{"src", 12},
                                                    {"in_dtype", 32},
                                                    {"out_dtype", 33},
                                                    {"num_active_channels", 34},
                                                    {"op", 36},
                                                    {"op_dim", 37},
                                                    {"reverse_operands", 38},
                                                    {"dst", 44}}}};
  std::map<std::string, Places> ours;
  for (const RecordLayout& layout : record_layouts()) {
    if (!kCompleted.contains(layout.name)) continue;
    for (const Field& f : layout.fields()) {
      const std::string name = f.name;
      ours[layout.name].try_emplace(name.substr(0, name.find('.')), f.offset);
    }
  }
  EXPECT_EQ(ours, expected);
}

TEST_F(Golden, CodesAndNames) {
  const std::pair<const char*, const char*> lists[] = {
      {"dtype", "dtypes"}, {"alu_op", "alu_ops"}, {"activation_function", "activation_functions"}};
  for (const auto& [ours, theirs] : lists) {
    const EnumTable* table = find_enumeration(ours);
    ASSERT_NE(table, nullptr) << ours;
    EXPECT_EQ(table->count, sheet_[theirs].size()) << ours;
    for (const auto& row : sheet_[theirs]) {
      const char* name = table->find(number(row["code"]));
      ASSERT_NE(name, nullptr) << ours << " " << row["code"];
      EXPECT_EQ(name, row["name"].as<std::string>()) << ours;
      if (!row["gens"]) continue;
      for (std::size_t g = 0; g < kGenerations; ++g) {
        const auto generation = static_cast<Generation>(g);
        EXPECT_EQ(table->find(number(row["code"]), generation) != nullptr,
                  (generations(row["gens"]) & generation_bit(generation)) != 0)
            << ours << " " << name << " on " << generation_name(generation);
      }
    }
  }
  const std::pair<const char*, const char*> maps[] = {
      {"wait_mode", "wait_modes"},
      {"update_mode", "update_modes"},
      {"imm_src", "imm_src"},
      {"imm_src_n", "imm_src_n"},
      {"accum_cmd", "accum_cmd"},
      {"reduce_cmd", "reduce_cmd"},
      {"subdim", "subdim"},
      {"reverse_operands", "rev_ops"},
      {"pool_type", "pool_type"},
      {"cross_lane_reduce", "cross_lane_reduce_ops"},
      {"affine_select_cmp", "affine_select_cmp"},
      {"dropout_threshold_type", "dropout_threshold_type"},
      {"rand_algorithm", "rand_algorithm"},
      {"rand_post_process", "rand_post_process"},
      {"fp32_mode", "fp32_mode"},
      {"psum_zero_region", "matmul_zero_region"},
      {"pe_seed_mode", "pe_seed_mode"},
      {"branch_compare", "branch_compare_ops"},
      {"dge_compute", "dge_compute_ops"},
      {"dequant_format", "dequant_formats"},
      {"extended_opcode", "extended_opcodes"},
      {"pseudo_opcode", "pseudo_opcodes"},
  };
  for (const auto& [ours, theirs] : maps) {
    const EnumTable* table = find_enumeration(ours);
    ASSERT_NE(table, nullptr) << ours;
    EXPECT_EQ(table->count, sheet_[theirs].size()) << ours;
    for (const auto& row : sheet_[theirs]) {
      const auto text = row.second.as<std::string>();
      const char* name = table->find(number(row.first));
      ASSERT_NE(name, nullptr) << ours << " " << row.first;
      EXPECT_EQ(name, text.substr(0, text.find(' '))) << ours;
    }
  }
  // Names differ here, codes must not.
  const EnumTable* flags = find_enumeration("psum_accumulate");
  ASSERT_NE(flags, nullptr);
  EXPECT_EQ(flags->count, sheet_["matmul_psum_flags"].size());
  for (const auto& row : sheet_["matmul_psum_flags"]) {
    EXPECT_NE(flags->find(number(row.first)), nullptr) << row.first;
  }
}

}  // namespace
}  // namespace opennrt::isa
