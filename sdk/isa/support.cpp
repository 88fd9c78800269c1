// SPDX-License-Identifier: Apache-2.0
#include "opennrt/isa/support.h"

#include <cstdio>

#include "opennrt/isa/table.h"

namespace opennrt::isa {

namespace {

constexpr const char* kEngineNames[] = {"PE", "ACT", "POOL", "DVE", "SP"};
constexpr std::uint32_t kEngineCount = 5;

std::string code_of(const Instruction& i) {
  char text[8];
  std::snprintf(text, sizeof text, "0x%02x", i.opcode);
  return text;
}

std::string engines_of(const Instruction& i, const char* separator) {
  std::string text;
  std::uint32_t n = 0;
  for (std::uint32_t e = 0; e < kEngineCount; ++e) {
    if (!i.runs_on(e)) continue;
    text += (n++ == 0 ? "" : separator) + std::string(kEngineNames[e]);
  }
  return n == 0 ? "-" : n == kEngineCount ? "any" : text;
}

std::string families_of(const Instruction& i, const char* separator) {
  std::string text;
  std::uint32_t n = 0;
  for (const Generation g : {Generation::kSunda, Generation::kCayman, Generation::kMariana}) {
    if (!i.exists_on(g)) continue;
    text += (n++ == 0 ? "" : separator) + std::string(generation_name(g));
  }
  return n == kGenerations ? "all" : text;
}

const char* kind_of(const Instruction& i) {
  switch (i.kind) {
    case Kind::kPseudo:
      return "pseudo";
    case Kind::kDeprecated:
      return "deprecated";
    case Kind::kInvalid:
      return "invalid";
    case Kind::kExecutable:
      break;
  }
  return "device";
}

struct Counts {
  std::size_t executes = 0, decodes = 0;
};
Counts count_all() {
  Counts n;
  for (const Instruction& i : instructions())
    ++(device_refusal(i.opcode) == nullptr ? n.executes : n.decodes);
  return n;
}

// "executes", "executes; reading: ..." or `before_reason` and the reason.
std::string device_of(const Instruction& i, const char* before_reason) {
  if (const char* refusal = device_refusal(i.opcode)) return std::string(before_reason) + refusal;
  const char* reading = device_reading(i.opcode);
  return reading ? std::string("executes; reading: ") + reading : "executes";
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

}  // namespace

std::string support_summary() {
  const Counts n = count_all();
  return std::to_string(n.executes) + " of " + std::to_string(n.executes + n.decodes) +
         " opcodes execute, " + std::to_string(n.decodes) + " only decode";
}

std::string support_listing() {
  std::string text;
  for (const Instruction& i : instructions()) {
    text += code_of(i) + "  " + padded(i.name, 36) + padded(engines_of(i, ","), 14) +
            padded(families_of(i, ","), 16) + device_of(i, "decodes only: ") + "\n";
  }
  return text;
}

std::string support_markdown() {
  std::string text =
      "# Instructions of the software device\n\n"
      "Made by `opennrt isa --markdown` from `opcodes.yaml`; a test compares it with the table and "
      "the\ntable with the device. \"executes\": programs run with it; a pseudo-instruction "
      "executes "
      "when the\nloader lowers or removes it. Everything else decodes and is refused with the "
      "reason "
      "given.\nAfter \"reading\" stands what of an executed instruction's meaning is our reading: "
      "no public "
      "source\nand no real program confirms it. The device warns once when a program uses such an "
      "instruction;\n`emulator.unconfirmed_instructions: refuse` refuses it.\n\n" +
      support_summary() +
      "\n\n| Code | Instruction | Kind | Engines | Families | Device "
      "|\n|---|---|---|---|---|---|\n";
  for (const Instruction& i : instructions()) {
    text += "| " + code_of(i) + " | " + i.name + " | " + kind_of(i) + " | " + engines_of(i, ", ") +
            " | " + families_of(i, ", ") + " | " + device_of(i, "") + " |\n";
  }
  return text;
}

std::string support_json() {
  const Counts n = count_all();
  std::string text = "{\"instructions\": [";
  bool first = true;
  for (const Instruction& i : instructions()) {
    const char* refusal = device_refusal(i.opcode);
    text += std::string(first ? "\n" : ",\n") + "  {\"code\": " + std::to_string(i.opcode) +
            ", \"name\": \"" + i.name + "\", \"kind\": \"" + kind_of(i) + "\", \"engines\": \"" +
            engines_of(i, ",") + "\", \"families\": \"" + families_of(i, ",") +
            "\", \"executes\": " + (refusal ? "false" : "true");
    if (refusal) text += std::string(", \"reason\": \"") + refusal + "\"";
    if (const char* reading = device_reading(i.opcode))
      text += std::string(", \"reading\": \"") + reading + "\"";
    text += "}";
    first = false;
  }
  return text + "\n], \"executes\": " + std::to_string(n.executes) +
         ", \"decodes\": " + std::to_string(n.decodes) + "}\n";
}

}  // namespace opennrt::isa
