// SPDX-License-Identifier: Apache-2.0
//
// The loader understands what the builder writes; every example builds and
// loads.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "neff/program.h"
#include "opennrt/isa/records.h"
#include "test_source.h"

namespace opennrt::neffkit {
namespace {

neff::LoadLimits limits(const char* target) {
  neff::LoadLimits l;
  l.targets = {target};
  l.known_targets = {"sunda", "cayman", "mariana"};
  l.running_on = target;
  l.validate_hash = true;
  return l;
}

Result<neff::Program> load(std::string_view source, const char* target = "sunda") {
  std::vector<std::uint8_t> bytes;
  std::string error;
  EXPECT_TRUE(build_neff(source, "s.yaml", &bytes, &error)) << error;
  return neff::load_program(std::as_bytes(std::span(bytes)), limits(target));
}

TEST(Loader, ReadsBackWhatTheSourceSays) {
  const auto program = load(kSource);
  ASSERT_TRUE(program.is_ok()) << program.status().message();
  EXPECT_EQ(program->target, "sunda");
  ASSERT_EQ(program->inputs.size(), 1u);
  EXPECT_EQ(program->inputs[0].name, "x");
  EXPECT_EQ(program->inputs[0].dtype, NRT_DTYPE_FLOAT32);
  EXPECT_EQ(program->inputs[0].size, 512u);
  ASSERT_EQ(program->outputs.size(), 1u);
  ASSERT_EQ(program->subgraphs.size(), 1u);
  const neff::Subgraph& sg = program->subgraphs[0];
  EXPECT_EQ(sg.runtime_semaphore_count, 3u);
  EXPECT_EQ(sg.runtime_event_count, 12u);
  const neff::Variable* w = sg.find_variable("w");
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->content.size(), 16u);
  const neff::Variable* tmp = sg.find_variable("tmp");
  ASSERT_NE(tmp, nullptr);
  EXPECT_EQ(tmp->type, neff::VariableType::kVirtual);
  EXPECT_EQ(sg.scratchpad_bytes, 4160u);
  const neff::QueueSet* queue = sg.find_queue("qLoad");
  ASSERT_NE(queue, nullptr);
  EXPECT_EQ(queue->num_queues, 16u);
  EXPECT_EQ(queue->owner, neff::Engine::kSp);
  ASSERT_EQ(queue->blocks.size(), 1u);
  EXPECT_EQ(queue->blocks[0].semaphore, 8u);
  ASSERT_EQ(queue->blocks[0].descriptors.size(), 1u);
  const neff::Descriptor& d = queue->blocks[0].descriptors[0];
  EXPECT_EQ(d.to.sizes[1], 128u);
  EXPECT_EQ(d.to.steps[1], 0x40000);
  EXPECT_EQ(sg.streams[2].size(), 192u);
  EXPECT_EQ(static_cast<std::uint8_t>(sg.streams[2][64]), isa::kOpPseudoDmaTrigger);
  EXPECT_EQ(sg.dve_tables.size(), 3u);
}

TEST(Loader, ReadsTheOtherDescriptorForms) {
  const std::string added = broken(
      "- from: {variable: x, sizes: [4, 128], steps: [1, 4], dtype: float32}",
      "- op: fma\n            scale: [1, 0.5]\n            from: [{variable: x, sizes: [4, 128], "
      "steps: [1, 4], dtype: float32}, {variable: x, sizes: [4, 128], steps: [1, 4], dtype: "
      "float32}]");
  const auto program = load(added);
  ASSERT_TRUE(program.is_ok()) << program.status().message();
  const neff::Descriptor& d =
      program->subgraphs[0].find_queue("qLoad")->blocks.at(0).descriptors.at(0);
  EXPECT_EQ(d.op, neff::DmaOp::kFma);
  EXPECT_EQ(d.from.size(), 2u);
  EXPECT_EQ(d.scale, (std::vector<float>{1.0F, 0.5F}));
}

TEST(Loader, NewerFamilyLoadsToo) {
  const auto program = load(broken("target: sunda", "target: cayman"), "cayman");
  ASSERT_TRUE(program.is_ok()) << program.status().message();
  EXPECT_EQ(program->target, "cayman");
  EXPECT_EQ(program->subgraphs[0].dve_tables.size(), 4u);
}

TEST(Loader, EveryExampleBuildsAndLoads) {
  std::size_t examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(OPENNRT_EXAMPLES_SOURCE)) {
    if (entry.path().extension() != ".yaml") continue;
    ++examples;
    std::ifstream in(entry.path());
    const std::string source((std::istreambuf_iterator<char>(in)), {});
    Program p;
    std::string error;
    ASSERT_TRUE(parse_program(source, entry.path().string(), &p, &error)) << error;
    const auto program = load(source, isa::generation_name(p.target));
    EXPECT_TRUE(program.is_ok()) << entry.path() << ": " << program.status().message();
  }
  EXPECT_GT(examples, 0u);
}

}  // namespace
}  // namespace opennrt::neffkit
