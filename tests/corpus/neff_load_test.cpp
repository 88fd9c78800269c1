// SPDX-License-Identifier: Apache-2.0
//
// Every real model loads with the limits of its arch and says what the
// manifest of the corpus says; models of another arch are refused.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "neff/program.h"

namespace opennrt::neff {
namespace {

namespace fs = std::filesystem;

fs::path corpus() {
  const char* folder = std::getenv("OPENNRT_CORPUS");
  return folder && *folder ? fs::path(folder) : fs::path(OPENNRT_DEFAULT_CORPUS);
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Result<Program> load(const std::string& file, const LoadLimits& limits) {
  return load_program({reinterpret_cast<const std::byte*>(file.data()), file.size()}, limits);
}

// What the arch plugin of a target would say.
LoadLimits limits_of(const std::string& target, std::uint32_t lnc) {
  LoadLimits limits;
  const std::map<std::string, std::string> alias = {
      {"sunda", "v2"}, {"cayman", "v3"}, {"mariana", "v4"}};
  limits.targets = {target, alias.at(target)};
  for (const auto& [name, other] : alias) {
    limits.known_targets.push_back(name);
    limits.known_targets.push_back(other);
  }
  limits.running_on = target + " (test)";
  limits.lnc_size = lnc;
  limits.sbuf_reservation_required = target != "sunda";
  limits.validate_hash = true;
  return limits;
}

struct DtypeName {
  const char* name;
  nrt_dtype_t dtype;
};
constexpr DtypeName kDtypes[] = {{"float32", NRT_DTYPE_FLOAT32},
                                 {"float16", NRT_DTYPE_FLOAT16},
                                 {"bfloat16", NRT_DTYPE_BFLOAT16}};

void expect_tensors(const std::vector<TensorInfo>& tensors, const YAML::Node& expected) {
  ASSERT_EQ(tensors.size(), expected.size());
  EXPECT_TRUE(std::is_sorted(tensors.begin(), tensors.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const TensorInfo& tensor : tensors) {
    SCOPED_TRACE(tensor.name);
    const YAML::Node want = expected[tensor.name];
    ASSERT_TRUE(want.IsDefined());
    EXPECT_EQ(tensor.size, want["bytes"].as<std::uint64_t>());
    EXPECT_EQ(tensor.shape, want["shape"].as<std::vector<std::uint32_t>>());
    const auto* dtype = std::find_if(
        std::begin(kDtypes), std::end(kDtypes),
        [&](const DtypeName& row) { return row.name == want["dtype"].as<std::string>(); });
    ASSERT_NE(dtype, std::end(kDtypes));
    EXPECT_EQ(tensor.dtype, dtype->dtype);
  }
}

std::string uuid_text(const Program& program) {
  std::string text;
  for (const std::uint8_t byte : program.uuid) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

class CorpusLoad : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(corpus() / "manifest.yaml"))
      GTEST_SKIP() << "no corpus in " << corpus() << "; set OPENNRT_CORPUS";
    models_ = YAML::LoadFile((corpus() / "manifest.yaml").string())["models"];
    ASSERT_GT(models_.size(), 0U);
  }
  YAML::Node models_;
};

TEST_F(CorpusLoad, EveryModelEqualsTheManifest) {
  std::size_t loaded = 0;
  for (const YAML::Node& model : models_) {
    const auto file = model["file"].as<std::string>();
    SCOPED_TRACE(file);
    if (model["check"].as<std::string>() == "reject") continue;
    const auto target = model["target"].as<std::string>();
    const auto lnc = model["lnc"].as<std::uint32_t>();
    const auto program = load(read_file(corpus() / file), limits_of(target, lnc));
    ASSERT_TRUE(program.is_ok()) << program.status().message();
    EXPECT_EQ(program->target, target);
    EXPECT_EQ(program->lnc_size, lnc);
    EXPECT_EQ(program->subgraphs.size(), lnc);
    EXPECT_EQ(uuid_text(*program), model["uuid"].as<std::string>());
    expect_tensors(program->inputs, model["inputs"]);
    expect_tensors(program->outputs, model["outputs"]);
    EXPECT_FALSE(program->compiler_version.empty());
    for (const Subgraph& graph : program->subgraphs) {
      // Facts that hold for every real file.
      EXPECT_EQ(graph.runtime_semaphore_count, 3U);
      EXPECT_EQ(graph.runtime_event_count, 12U);
      EXPECT_EQ(graph.dve_tables.size(), target == "sunda" ? 3U : 4U);
      EXPECT_EQ(graph.variables.at(0).name, "SB");
      for (const auto stream : graph.streams) {
        ASSERT_GE(stream.size(), target == "sunda" ? 64U : 128U);
        EXPECT_EQ(stream[0], std::byte{0xB1});
      }
      for (const QueueSet& queue : graph.queues) {
        EXPECT_EQ(queue.num_queues, 16U);
        EXPECT_EQ(queue.blocks.empty(), queue.type == QueueType::kDynamic);
        for (std::size_t at = 0; at < queue.blocks.size(); ++at) {
          const Block& block = queue.blocks[at];
          ASSERT_EQ(block.id, at);
          ASSERT_EQ(block.semaphore, queue.semaphores[at % queue.semaphores.size()]);
        }
      }
    }
    ++loaded;
  }
  EXPECT_GT(loaded, 20U);
}

TEST_F(CorpusLoad, OtherArchIsRefusedWithBothNames) {
  for (const YAML::Node& model : models_) {
    if (model["check"].as<std::string>() == "reject") continue;
    const auto target = model["target"].as<std::string>();
    const std::string other = target == "sunda" ? "cayman" : "sunda";
    const auto program = load(read_file(corpus() / model["file"].as<std::string>()),
                              limits_of(other, model["lnc"].as<std::uint32_t>()));
    ASSERT_FALSE(program.is_ok());
    EXPECT_EQ(program.status().code(), NRT_INVALID);
    const std::string message(program.status().message());
    EXPECT_NE(message.find("built for " + target), std::string::npos) << message;
    EXPECT_NE(message.find("running on " + other), std::string::npos) << message;
  }
}

TEST_F(CorpusLoad, RefusedModelsHaveTheStatusOfTheManifest) {
  std::size_t refused = 0;
  for (const YAML::Node& model : models_) {
    if (model["check"].as<std::string>() != "reject") continue;
    for (const char* target : {"sunda", "cayman", "mariana"}) {
      const auto program =
          load(read_file(corpus() / model["file"].as<std::string>()), limits_of(target, 1));
      ASSERT_FALSE(program.is_ok());
      EXPECT_EQ(program.status().code(), NRT_UNSUPPORTED_NEFF_VERSION);
      EXPECT_NE(program.status().message().find(
                    "compiled for Inferentia1 (neuron-cc 1.x); not supported"),
                std::string_view::npos)
          << program.status().message();
    }
    ++refused;
  }
  EXPECT_EQ(refused, 1U);
}

TEST_F(CorpusLoad, WrongLogicalCoreSizeNamesTheVariable) {
  for (const YAML::Node& model : models_) {
    if (model["check"].as<std::string>() == "reject" || model["lnc"].as<std::uint32_t>() != 2)
      continue;
    const auto program = load(read_file(corpus() / model["file"].as<std::string>()),
                              limits_of(model["target"].as<std::string>(), 1));
    ASSERT_FALSE(program.is_ok());
    EXPECT_EQ(program.status().code(), NRT_INVALID);
    EXPECT_NE(program.status().message().find("NEURON_LOGICAL_NC_CONFIG=2"), std::string_view::npos)
        << program.status().message();
  }
}

// Facts read from the files by other means.
TEST_F(CorpusLoad, DetailsOfTheTwoCoreMixtureModel) {
  const fs::path path = corpus() / "moe_bf16_mariana.neff";
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path;
  const auto program = load(read_file(path), limits_of("mariana", 2));
  ASSERT_TRUE(program.is_ok()) << program.status().message();
  EXPECT_EQ(program->mac_count, 9699328U);
  EXPECT_EQ(program->feature_bits, 0x1209C00U);
  const Subgraph& first = program->subgraphs[0];
  const Variable* remote = first.find_variable("SB{1}");
  ASSERT_NE(remote, nullptr);
  EXPECT_EQ(remote->remote->subgraph, 1U);
  EXPECT_EQ(remote->remote->var_id, 0U);
  EXPECT_EQ(first.find_variable("DGETable0")->list, (std::vector<std::uint32_t>{1, 3, 2, 5, 4, 9}));
  EXPECT_EQ(first.scratchpad_bytes, 4352U);
  EXPECT_EQ(program->subgraphs[1].scratchpad_bytes, 256U);
  ASSERT_EQ(first.act_sets.size(), 3U);
  EXPECT_EQ(first.act_sets[1].name, "natural_log_exp_and_others");
  EXPECT_EQ(first.act_sets[1].buckets.size(), 43200U);
  EXPECT_EQ(first.act_sets[1].control.size(), 6400U);
  const QueueSet* queue = first.find_queue("qPooSpillReload0");
  ASSERT_NE(queue, nullptr);
  const Descriptor& add = queue->blocks.at(0).descriptors.at(0);
  EXPECT_EQ(add.op, DmaOp::kAdd);
  ASSERT_EQ(add.from.size(), 2U);
  EXPECT_EQ(add.from[0].var_id, 0U);
  EXPECT_EQ(add.from[0].offset, 16896U);
  EXPECT_EQ(add.from[1].var_id, 11U);
  EXPECT_EQ(add.to.dtype, 10);
  EXPECT_EQ(first.stream_members[0], "sg00/PE0.bin");
  EXPECT_EQ(first.find_variable("identity_599_sg0000")->content.size(), 32768U);
}

}  // namespace
}  // namespace opennrt::neff
