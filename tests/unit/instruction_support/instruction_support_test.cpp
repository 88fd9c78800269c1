// SPDX-License-Identifier: Apache-2.0
//
// What opcodes.yaml says the software device executes, against the device: a
// sequencer or exactly one compute family for a device instruction, the loader
// for a pseudo-instruction.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "compute/plan.h"
#include "device/address_map.h"
#include "device/memory.h"
#include "engine/decode.h"
#include "opennrt/isa/support.h"
#include "opennrt/isa/table.h"
#include "tdrv/image/pseudo_records.h"
#include "test_program.h"

namespace opennrt {
namespace {

using isa::Instruction;
using isa::Kind;

class Support : public ::testing::TestWithParam<const Instruction*> {
 protected:
  const Instruction& i() const { return *GetParam(); }
  bool claims_to_execute() const { return isa::device_refusal(i().opcode) == nullptr; }
};

std::vector<const Instruction*> all() {
  std::vector<const Instruction*> list;
  for (const Instruction& i : isa::instructions()) list.push_back(&i);
  return list;
}

// The loader's answer to a program of this one pseudo-instruction. Fields are
// zero, so that most are refused for their fields; what the loader does not
// handle at all is refused for its opcode.
bool loader_handles(std::uint8_t opcode) {
  tdrv::test::TestProgram program;
  std::array<std::uint8_t, isa::kRecordBytes> record{};
  record[0] = opcode;
  record[1] = isa::kRecordBytes / 4;
  program.add(neff::Engine::kSp, record);
  const auto images = tdrv::assemble_images(program.inputs(tdrv::test::sunda()));
  if (images.is_ok()) return true;
  const std::string message(images.status().message());
  const std::string name(tdrv::image::pseudo_name(opcode));
  // What it handles it refuses naming something more than the opcode.
  const bool unknown = message.ends_with("is not supported by this release") &&
                       message.find(name + " (") != std::string::npos &&
                       message.find("code ") == std::string::npos;
  return !unknown;
}

TEST_P(Support, TableAgreesWithTheDevice) {
  const emu::PlanSupport plans = emu::plan_support(i().opcode);
  const bool sequencer = emu::is_sequencer_opcode(i().opcode);
  EXPECT_LE(plans.executing + (sequencer ? 1 : 0), 1u)
      << i().name << " is claimed by more than one family";
  if (i().kind == Kind::kPseudo) {
    EXPECT_EQ(plans.executing, 0u) << i().name;
    EXPECT_FALSE(sequencer) << i().name;
    EXPECT_EQ(loader_handles(i().opcode), claims_to_execute()) << i().name;
    return;
  }
  EXPECT_EQ(sequencer || plans.executing != 0, claims_to_execute()) << i().name;
  EXPECT_EQ(emu::find_plan_maker(i().opcode) != nullptr, plans.executing != 0 || plans.refused)
      << i().name;
}

TEST_P(Support, ARefusalHasAReason) {
  const char* reason = isa::device_refusal(i().opcode);
  if (reason) {
    EXPECT_GE(std::strlen(reason), 10u) << i().name << ": " << reason;
  }
}

// Only what executes is read, and the document shows it.
TEST_P(Support, AReadingBelongsToWhatExecutes) {
  const char* reading = isa::device_reading(i().opcode);
  if (!reading) return;
  EXPECT_TRUE(claims_to_execute()) << i().name;
  EXPECT_GE(std::strlen(reading), 10u) << i().name;
  const std::string line = std::string("executes; reading: ") + reading;
  EXPECT_NE(isa::support_markdown().find("| " + line + " |"), std::string::npos) << i().name;
  EXPECT_NE(isa::support_listing().find(line + "\n"), std::string::npos) << i().name;
  EXPECT_NE(isa::support_json().find(std::string("\"reading\": \"") + reading + "\""),
            std::string::npos)
      << i().name;
}

// A record that is refused for its opcode is refused with the table's words.
TEST_P(Support, TheDeviceGivesTheReasonOfTheTable) {
  const emu::PlanSupport plans = emu::plan_support(i().opcode);
  if (!plans.refused || plans.executing != 0) return;
  const nrtp_arch_plugin& arch = tdrv::test::sunda();
  emu::MemoryConfig config{};
  config.hbm_channels = arch.geometry->n_hbm;
  config.hbm_channel_bytes = config.host_bytes = 1 << 20;
  config.cores = 1;
  config.sbuf_window_bytes = arch.geometry->sbuf_window_bytes;
  config.psum_window_bytes = arch.geometry->psum_window_bytes;
  std::string error;
  const auto memory = emu::DeviceMemory::create(config, &error);
  ASSERT_TRUE(memory) << error;
  const emu::AddressMap map(&arch, arch.products, *memory, 1);
  std::array<std::uint8_t, isa::kRecordBytes> record{};
  record[0] = i().opcode;
  EXPECT_EQ(emu::plan_compute({.map = map}, record.data(), &error), nullptr) << i().name;
  const char* reason = isa::device_refusal(i().opcode);
  ASSERT_NE(reason, nullptr) << i().name;
  EXPECT_NE(error.find(reason), std::string::npos) << i().name << ": " << error;
}

INSTANTIATE_TEST_SUITE_P(All, Support, ::testing::ValuesIn(all()),
                         [](const auto& test) { return test.param->name; });

TEST(SupportTable, CodesThatAreNoInstructionExecuteNowhere) {
  for (std::uint32_t code = 0; code < 256; ++code) {
    const auto opcode = static_cast<std::uint8_t>(code);
    if (isa::find_instruction(opcode)) continue;
    EXPECT_EQ(emu::plan_support(opcode).executing, 0u) << code;
    EXPECT_FALSE(emu::is_sequencer_opcode(opcode)) << code;
  }
}

TEST(SupportTable, SummaryCountsTheTable) {
  std::size_t executes = 0;
  for (const Instruction& i : isa::instructions())
    executes += isa::device_refusal(i.opcode) == nullptr;
  const std::size_t n = isa::instructions().size();
  EXPECT_EQ(isa::support_summary(), std::to_string(executes) + " of " + std::to_string(n) +
                                        " opcodes execute, " + std::to_string(n - executes) +
                                        " only decode");
}

TEST(SupportTable, TheDocumentIsMadeFromTheTable) {
  std::ifstream in(OPENNRT_SOURCE_DIR "/sdk/isa/SUPPORT.md");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text, isa::support_markdown()) << "run: opennrt isa --markdown > sdk/isa/SUPPORT.md";
}

TEST(SupportTable, JsonNamesEveryInstruction) {
  const std::string json = isa::support_json();
  for (const Instruction& i : isa::instructions())
    EXPECT_NE(json.find("\"name\": \"" + std::string(i.name) + "\""), std::string::npos) << i.name;
  EXPECT_EQ(json.find("},\n]"), std::string::npos);
}

}  // namespace
}  // namespace opennrt
