// SPDX-License-Identifier: Apache-2.0
//
// Every field of every layout of every family: random values, written as text
// and as bytes by the test itself, meet in the assembler and come back from the
// disassembler.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>
#include <set>

#include "opennrt/isa/codec.h"

namespace opennrt::isa {
namespace {

class Maker {
 public:
  Maker(const Instruction& instruction, Generation generation, std::uint32_t seed)
      : instruction_(instruction), generation_(generation), random_(seed) {}

  void make() {
    bytes[0] = instruction_.opcode;
    bytes[1] = instruction_.opcode == 0xDA ? 0 : 16;
    text = instruction_.name;
    for (const Field& field : instruction_.layout(generation_).fields()) add(field);
    if (random_() % 2 == 0) {
      text += " wait=SEM_GE_IMM(" + std::to_string(put(5, 1, random_())) + ")";
      bytes[4] = 5;
    }
    if (random_() % 2 == 0) {
      text += " update=SEM_INC_COMPLETE(" + std::to_string(put(7, 1, random_())) + ")";
      bytes[6] = 0x13;
    }
    if (random_() % 2 == 0) text += " value=" + std::to_string(put(8, 4, random_()));
  }

  RecordBytes bytes{};
  std::string text;

 private:
  // Little-endian; the value as it was cut to the width.
  std::uint64_t put(std::size_t offset, std::size_t width, std::uint64_t value) {
    if (width < 8) value &= (std::uint64_t{1} << (8 * width)) - 1;
    for (std::size_t i = 0; i < width; ++i)
      bytes[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
    return value;
  }
  std::uint64_t wide() { return std::uint64_t{random_()} << 32 | random_(); }

  void add(const Field& field) {
    if (random_() % 8 == 0) return;  // stays zero
    text += std::string(" ") + field.name + "=";
    if (field.kind == FieldKind::kText) {
      std::string name;
      while (name.size() + 1 < field.count && (name.empty() || random_() % 8 != 0))
        name += "qP #=,:_9"[random_() % 9];
      std::memcpy(&bytes[field.offset], name.data(), name.size());
      text += '"' + name + '"';
      return;
    }
    if (field.kind == FieldKind::kBytes) {
      text += "hex:";
      for (std::size_t i = 0; i < field.count; ++i) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x",
                      static_cast<unsigned>(put(field.offset + i, 1, random_())));
        text += digits;
      }
      return;
    }
    for (std::size_t i = 0; i < field.count; ++i) {
      if (i != 0) text += ',';
      element(field, field.offset + i * field.width);
    }
  }

  void element(const Field& field, std::size_t at) {
    switch (field.kind) {
      case FieldKind::kSigned: {
        const std::uint64_t raw = put(at, field.width, wide());
        const int shift = 64 - 8 * field.width;
        text += std::to_string(static_cast<std::int64_t>(raw << shift) >> shift);
        return;
      }
      case FieldKind::kFloat: {
        const float value = static_cast<float>(static_cast<int>(random_() % 4096) - 2048) / 8.0f;
        put(at, 4, std::bit_cast<std::uint32_t>(value));
        text += std::to_string(value);
        return;
      }
      case FieldKind::kRegister:
        text += "r" + std::to_string(put(at, field.width, random_()));
        return;
      case FieldKind::kEnum: {
        const EnumValue& value = field.values->values[random_() % field.values->count];
        put(at, 1, value.value);
        text += value.name;
        return;
      }
      case FieldKind::kTypePair: {
        const EnumValue& low = field.values->values[random_() % 16];
        const EnumValue& high = field.values->values[random_() % 16];
        ASSERT_LT(low.value | high.value, 16u);
        put(at, 1, low.value | high.value << 4);
        text += std::string(low.name) + "/" + high.name;
        return;
      }
      default:
        text += std::to_string(put(at, field.width, wide()));
    }
  }

  const Instruction& instruction_;
  Generation generation_;
  std::mt19937 random_;
};

TEST(Property, EveryInstructionOfEveryFamilyAssemblesAndComesBack) {
  std::size_t count[kGenerations] = {};
  std::set<std::string> layouts;
  for (const Instruction& instruction : instructions()) {
    for (std::size_t g = 0; g < kGenerations; ++g) {
      const auto generation = static_cast<Generation>(g);
      if (!instruction.exists_on(generation)) continue;
      ++count[g];
      layouts.insert(instruction.layout(generation).name);
      for (std::uint32_t seed = 0; seed < 20; ++seed) {
        Maker maker(instruction, generation, seed * 7919 + instruction.opcode);
        maker.make();
        std::string error;
        const auto record = assemble(maker.text, generation, &error);
        ASSERT_TRUE(record.has_value()) << maker.text << "\n" << error;
        ASSERT_EQ(*record, maker.bytes) << maker.text;
        const std::string shown = disassemble(*record, generation);
        ASSERT_EQ(shown.rfind(instruction.name, 0), 0u) << shown;
        ASSERT_EQ(shown.find(" @"), std::string::npos) << shown;
        const auto again = assemble(shown, generation, &error);
        ASSERT_TRUE(again.has_value()) << shown << "\n" << error;
        ASSERT_EQ(*again, maker.bytes) << shown;
      }
    }
  }
  EXPECT_EQ(count[0], 145u);
  EXPECT_EQ(count[1], 150u);
  EXPECT_EQ(count[2], 159u);
  // EXTENDED_TTA is a second form of EXTENDED_INST and no instruction's own.
  std::size_t unused = 0;
  for (const RecordLayout& layout : record_layouts()) unused += !layouts.contains(layout.name);
  EXPECT_EQ(unused, 1u);
}

TEST(Property, RecordsOfOtherFamiliesStayBytes) {
  std::size_t foreign = 0;
  for (const Instruction& instruction : instructions()) {
    for (std::size_t g = 0; g < kGenerations; ++g) {
      const auto generation = static_cast<Generation>(g);
      if (instruction.exists_on(generation)) continue;
      RecordBytes record{};
      for (std::size_t i = 0; i < record.size(); ++i)
        record[i] = static_cast<std::uint8_t>(i * 31 + 1);
      record[0] = instruction.opcode;
      const std::string text = disassemble(record, generation);
      EXPECT_EQ(text.rfind(".record hex:", 0), 0u) << text;
      const auto back = assemble(text, generation, nullptr);
      ASSERT_TRUE(back.has_value());
      EXPECT_EQ(*back, record);
      ++foreign;
    }
  }
  EXPECT_EQ(foreign, 3 * 166u - 145 - 150 - 159);
}

}  // namespace
}  // namespace opennrt::isa
