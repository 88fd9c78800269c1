// SPDX-License-Identifier: Apache-2.0
//
// What the program model holds for a valid file.
#include <cstring>

#include "limits.h"
#include "log/log.h"

namespace opennrt::neff {
namespace {

using testing::NeffBuilder;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class LoadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto result = load(neff_.build());
    ASSERT_TRUE(result.is_ok()) << result.status().message();
    program_ = *std::move(result);
    graph_ = &program_.subgraphs.at(0);
  }
  const Variable& variable(std::string_view name) {
    const Variable* found = graph_->find_variable(name);
    EXPECT_NE(found, nullptr) << name;
    return *found;
  }

  NeffBuilder neff_ = testing::sample_neff();
  Program program_;
  Subgraph* graph_ = nullptr;
};

TEST_F(LoadTest, Identity) {
  EXPECT_EQ(program_.name, "sample.neff");
  EXPECT_EQ(program_.uuid[0], 0xA0);
  EXPECT_EQ(program_.uuid[15], 0xAF);
  EXPECT_EQ(program_.compiler_version, "2.99.0+test");
  EXPECT_EQ(program_.target, "sunda");
  EXPECT_EQ(program_.mac_count, 256U);
  EXPECT_EQ(program_.lnc_size, 1U);
}

TEST_F(LoadTest, TensorsInByteOrderOfTheirNames) {
  ASSERT_EQ(program_.inputs.size(), 2U);
  EXPECT_EQ(program_.inputs[0].name, "a_vec");
  EXPECT_EQ(program_.inputs[0].dtype, NRT_DTYPE_FLOAT32);
  EXPECT_EQ(program_.inputs[0].shape, (std::vector<std::uint32_t>{256}));
  EXPECT_EQ(program_.inputs[0].size, 1024U);
  EXPECT_EQ(program_.inputs[1].name, "b_vec");
  EXPECT_EQ(program_.inputs[1].shape, (std::vector<std::uint32_t>{2, 128}));
  ASSERT_EQ(program_.outputs.size(), 1U);  // named twice in the heads
  EXPECT_EQ(program_.outputs[0].shape, (std::vector<std::uint32_t>{8, 32}));
}

// Logged, not applied.
TEST_F(LoadTest, VariableWithOperations) {
  std::string& def = neff_.members.at("sg00/def.json");
  const std::string before = "\"var_id\": 11, ";
  const auto at = def.find(before);
  ASSERT_NE(at, std::string::npos);
  def.insert(at + before.size(), "\"ops\": [{\"op\": \"cast\"}], ");
  ASSERT_TRUE(log::configure({}).is_ok());
  log::set_level(log::Level::kWarn);
  ::testing::internal::CaptureStderr();
  const auto result = load(neff_.build());
  const std::string logged = ::testing::internal::GetCapturedStderr();
  log::set_level(log::Level::kDisabled);
  ASSERT_TRUE(result.is_ok()) << result.status().message();
  EXPECT_NE(logged.find("variable \"tmp\": its 1 operation(s)"), std::string::npos) << logged;
}

TEST_F(LoadTest, Variables) {
  ASSERT_EQ(graph_->variables.size(), 12U);
  for (std::uint32_t id = 0; id < 12; ++id) EXPECT_EQ(graph_->variables[id].var_id, id);
  EXPECT_EQ(variable("SB").type, VariableType::kStateBuffer);
  EXPECT_EQ(variable("SB").size, 0x2000000U);
  EXPECT_EQ(variable("tmp").alignment, 128U);
  EXPECT_EQ(variable("half").backing, BackingBuffer::kLocal);
  EXPECT_EQ(variable("spill").backing, BackingBuffer::kMain);
  EXPECT_EQ(variable("spill").backing_offset, 8192U);
  EXPECT_EQ(graph_->scratchpad_bytes, 8192U + 4096U);
  EXPECT_EQ(variable("cell").referenced_var_id, 1U);
  EXPECT_EQ(variable("DGETable0").list, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(variable("DGETable0").size, 24U);
  EXPECT_EQ(graph_->find_variable("none"), nullptr);
}

TEST_F(LoadTest, ConstantsWithoutTheirHeader) {
  const std::string npy = neff_.members.at("sg00/weights.npy");
  EXPECT_EQ(text_of(variable("weights").content), npy.substr(npy.size() - 256));
  EXPECT_EQ(text_of(variable("raw").content), neff_.members.at("sg00/raw.bin"));
}

TEST_F(LoadTest, NumPyFormatTwo) {
  const std::string data(256, 'k');
  neff_.members["sg00/weights.npy"] = testing::make_npy("<f2", "(128,)", data, 2);
  const auto program = load(neff_.build());
  ASSERT_TRUE(program.is_ok()) << program.status().message();
  EXPECT_EQ(text_of(program->subgraphs[0].find_variable("weights")->content), data);
}

TEST_F(LoadTest, Queues) {
  ASSERT_EQ(graph_->queues.size(), 3U);
  EXPECT_EQ(graph_->queues[0].name, "qPoolDynamic");
  const QueueSet& sp = *graph_->find_queue("qSPIO0");
  EXPECT_EQ(sp.type, QueueType::kIn);
  EXPECT_EQ(sp.owner, Engine::kSp);
  EXPECT_EQ(sp.num_queues, 16U);
  EXPECT_EQ(sp.semaphores, (std::vector<std::uint32_t>{8, 9, 10, 11}));
  const QueueSet& dynamic = *graph_->find_queue("qPoolDynamic");
  EXPECT_EQ(dynamic.num_queues, 1U);
  EXPECT_EQ(dynamic.dge_scratch_bytes, 16384U);
  const QueueSet& pool = *graph_->find_queue("qPoolIO0");
  EXPECT_EQ(pool.type, QueueType::kOut);
  EXPECT_EQ(pool.instances, (std::vector<std::string>{"qPoolIO0_a"}));
  ASSERT_EQ(pool.blocks.size(), 2U);
  EXPECT_EQ(pool.blocks[0].id, 3U);  // ascending, not file order
  EXPECT_EQ(pool.blocks[0].instance_name, "qPoolIO0_a");
  EXPECT_EQ(pool.find_block(7), &pool.blocks[1]);
  EXPECT_EQ(pool.find_block(5), nullptr);
  EXPECT_EQ(graph_->find_queue("qPoolIO"), nullptr);
}

TEST_F(LoadTest, CopyDescriptor) {
  const Block& block = graph_->find_queue("qSPIO0")->blocks[0];
  EXPECT_EQ(block.semaphore, 8U);
  EXPECT_FALSE(block.event.has_value());
  ASSERT_EQ(block.descriptors.size(), 1U);
  const Descriptor& d = block.descriptors[0];
  EXPECT_EQ(d.op, DmaOp::kCopy);
  ASSERT_EQ(d.from.size(), 1U);
  EXPECT_EQ(d.from[0].var_id, 2U);
  EXPECT_EQ(d.from[0].dims, 2U);
  EXPECT_EQ(d.from[0].sizes[0], 8U);
  EXPECT_EQ(d.from[0].sizes[1], 128U);
  EXPECT_EQ(d.from[0].sizes[2], 1U);
  EXPECT_EQ(d.from[0].steps[1], 8);
  EXPECT_EQ(d.from[0].dtype, 10);
  EXPECT_EQ(d.to.var_id, 0U);
  EXPECT_EQ(d.to.steps[1], 262144);
  const Descriptor& next = graph_->find_queue("qSPIO0")->blocks[1].descriptors[0];
  EXPECT_EQ(next.to.offset, 64U);
  EXPECT_EQ(next.to.dtype, 3);  // uint8 by default
  EXPECT_EQ(next.tiling_dimensions, 1U);
}

TEST_F(LoadTest, ComputeDescriptors) {
  const Block& block = graph_->find_queue("qSPIO0")->blocks[2];
  EXPECT_EQ(block.event, 20U);
  EXPECT_FALSE(block.semaphore.has_value());
  EXPECT_EQ(block.remote_semaphores, (std::vector<std::uint32_t>{33}));
  EXPECT_EQ(block.function_start, "f0");
  ASSERT_EQ(block.descriptors.size(), 6U);
  const auto& d = block.descriptors;
  EXPECT_EQ(d[0].op, DmaOp::kCast);
  EXPECT_EQ(d[0].to.dtype, 7);
  EXPECT_EQ(d[1].op, DmaOp::kAdd);
  ASSERT_EQ(d[1].from.size(), 2U);
  EXPECT_EQ(d[1].from[1].var_id, 1U);
  EXPECT_EQ(d[1].from[1].offset, 960U);
  EXPECT_EQ(d[2].op, DmaOp::kMax);
  EXPECT_EQ(d[2].constant, -1.5F);
  EXPECT_EQ(d[3].op, DmaOp::kFma);
  EXPECT_EQ(d[3].scale, (std::vector<float>{0.5F, 2.0F}));
  EXPECT_EQ(d[4].op, DmaOp::kTranspose);
  EXPECT_EQ(d[4].transpose_op, "WZXY");
  EXPECT_EQ(d[4].transpose_shape, (std::array<std::uint32_t, 4>{1, 1, 16, 8}));
  EXPECT_EQ(d[4].transpose_element_bytes, 2U);
  EXPECT_EQ(d[4].tiling_dimensions, 2U);
  EXPECT_EQ(d[5].from[0].steps[1], -32);
}

TEST_F(LoadTest, StreamsAndTables) {
  EXPECT_EQ(text_of(graph_->streams[4]), neff_.members.at("sg00/SP.bin"));
  EXPECT_EQ(graph_->stream_members[4], "sg00/SP.bin");
  EXPECT_EQ(graph_->streams[0].size(), 64U);
  ASSERT_EQ(graph_->act_sets.size(), 1U);
  EXPECT_EQ(graph_->act_sets[0].name, "exp_set");
  EXPECT_EQ(text_of(graph_->act_sets[0].buckets), neff_.members.at("sg00/exp_bkt.bin"));
  EXPECT_EQ(text_of(graph_->act_sets[0].control), neff_.members.at("sg00/exp_ctrl.bin"));
  EXPECT_EQ(graph_->act_sets[0].profile_json, neff_.members.at("sg00/exp_set.json"));
  ASSERT_EQ(graph_->dve_tables.size(), 3U);
  EXPECT_EQ(graph_->dve_tables[0].name, "opcode");
  EXPECT_EQ(graph_->dve_tables[1].name, "control_fast");
  EXPECT_EQ(graph_->dve_tables[2].name, "datapath");
  EXPECT_EQ(graph_->dve_tables[2].data.size(), 8192U);
  ASSERT_TRUE(graph_->fp8.has_value());
  EXPECT_TRUE(graph_->fp8->range_extension);
  EXPECT_EQ(graph_->fp8->emax_e5m2, 15U);
  EXPECT_FALSE(graph_->fp8->sns);
  EXPECT_EQ(graph_->runtime_event_count, 12U);
  EXPECT_EQ(graph_->runtime_semaphore_count, 3U);
}

TEST_F(LoadTest, SpansOutliveTheFileAndTheProgramObject) {
  std::span<const std::byte> raw;
  std::shared_ptr<const void> storage;
  {
    std::string file = neff_.build();
    auto result = load(file);
    ASSERT_TRUE(result.is_ok());
    std::memset(file.data(), 0, file.size());
    raw = result->subgraphs[0].find_variable("raw")->content;
    storage = result->storage;
  }
  EXPECT_EQ(text_of(raw), neff_.members.at("sg00/raw.bin"));
}

TEST_F(LoadTest, FeaturesByNameAndPriority) {
  neff_.replace("sg00/def.json", "\"neff_features\": []",
                "\"neff_features\": [\"neff_feature_vnc\", \"neff_feature_of_tomorrow\"]");
  neff_.replace("sg00/SP.json", "\"id\": 1, ",
                "\"id\": 1, \"priority_class\": 3, \"section_start_desc\": false, ");
  const auto program = load(neff_.build());
  ASSERT_TRUE(program.is_ok()) << program.status().message();
  EXPECT_EQ(program->subgraphs[0].features,
            (std::vector<std::string>{"neff_feature_vnc", "neff_feature_of_tomorrow"}));
  EXPECT_EQ(program->subgraphs[0].find_queue("qSPIO0")->blocks[1].priority_class, 3U);
}

TEST_F(LoadTest, MissingEngineIsAnEmptyStream) {
  neff_.replace("sg00/def.json", "\"pe\": \"PE.json\", ", "");
  const auto program = load(neff_.build());
  ASSERT_TRUE(program.is_ok()) << program.status().message();
  EXPECT_TRUE(program->subgraphs[0].streams[0].empty());
}

TEST_F(LoadTest, AbsentSectionsAreDefaults) {
  neff_.replace("sg00/def.json", "\"fp8_conversion_config\"", "\"#a\"");
  neff_.replace("sg00/def.json", "\"runtime_event_count\"", "\"#b\"");
  neff_.replace("sg00/def.json", "\"runtime_semaphore_count\"", "\"#c\"");
  neff_.members.erase("hlo_stats.json");
  neff_.members.erase("info.json");
  const auto program = load(neff_.build());
  ASSERT_TRUE(program.is_ok()) << program.status().message();
  EXPECT_FALSE(program->subgraphs[0].fp8.has_value());
  EXPECT_EQ(program->subgraphs[0].runtime_event_count, 9U);
  EXPECT_EQ(program->subgraphs[0].runtime_semaphore_count, 3U);
  EXPECT_EQ(program->mac_count, 0U);
  EXPECT_EQ(program->compiler_version, "");
}

TEST_F(LoadTest, UnknownTensorDtypeCountsBytes) {
  neff_.replace("neff.json", "[\"float32\", \"float32\", \"float32\", \"float32\"]",
                "[\"float8\", \"float32\", \"float32\", \"float32\"]");
  neff_.replace("neff.json", "[[256], ", "[[1024], ");
  const auto program = load(neff_.build());
  ASSERT_TRUE(program.is_ok()) << program.status().message();
  EXPECT_EQ(program->inputs[0].dtype, NRT_DTYPE_UNKNOWN);
  EXPECT_EQ(program->inputs[0].size, 1024U);
}

TEST_F(LoadTest, TensorDtypes) {
  const std::pair<const char*, std::pair<nrt_dtype_t, unsigned>> rows[] = {
      {"float32", {NRT_DTYPE_FLOAT32, 4}},   {"float16", {NRT_DTYPE_FLOAT16, 2}},
      {"bfloat16", {NRT_DTYPE_BFLOAT16, 2}}, {"int8", {NRT_DTYPE_INT8, 1}},
      {"uint8", {NRT_DTYPE_UINT8, 1}},       {"int16", {NRT_DTYPE_INT16, 2}},
      {"uint16", {NRT_DTYPE_UINT16, 2}},     {"int32", {NRT_DTYPE_INT32, 4}},
      {"uint32", {NRT_DTYPE_UINT32, 4}},     {"int64", {NRT_DTYPE_INT64, 8}},
      {"uint64", {NRT_DTYPE_UINT64, 8}},
  };
  for (const auto& [name, expected] : rows) {
    NeffBuilder neff = neff_;
    neff.replace("neff.json", "[\"float32\", \"float32\", \"float32\", \"float32\"]",
                 std::string("[\"") + name + "\", \"float32\", \"float32\", \"float32\"]");
    neff.replace("neff.json", "[[256], ", "[[" + std::to_string(1024 / expected.second) + "], ");
    const auto program = load(neff.build());
    ASSERT_TRUE(program.is_ok()) << name << ": " << program.status().message();
    EXPECT_EQ(program->inputs[0].dtype, expected.first) << name;
  }
}

TEST_F(LoadTest, KelpJsonWhenNeffJsonIsAbsent) {
  neff_.members["kelp.json"] = neff_.members.at("neff.json");
  neff_.members.erase("neff.json");
  EXPECT_TRUE(load(neff_.build()).is_ok());
}

TEST_F(LoadTest, OutlineNeedsNoFittingProcess) {
  const auto bytes = neff_.build();
  const auto outline = read_outline(testing::as_bytes(bytes));
  ASSERT_TRUE(outline.is_ok()) << outline.status().message();
  EXPECT_EQ(outline->target, "sunda");
  EXPECT_EQ(outline->lnc_size, 0U);  // version 1 headers do not bind it
  EXPECT_EQ(read_outline({}).status().code(), NRT_INVALID);
}

TEST_F(LoadTest, RefusedTargetEndsWithTheRemedyOfTheProcess) {
  LoadLimits limits = test_limits();
  limits.targets = {"cayman", "v3"};
  limits.remedy = [](std::string_view target) { return "turn to " + std::string(target); };
  const auto refused = load(neff_.build(), limits);
  EXPECT_EQ(refused.status().code(), NRT_INVALID);
  EXPECT_TRUE(refused.status().message().ends_with("compile it for this target or turn to sunda"))
      << refused.status().message();
}

TEST_F(LoadTest, SetOfTwentyFiveFunctions) {
  std::string list;
  for (int i = 0; i < 24; ++i) list += R"({"func_name": "f", "func_id": 1}, )";
  neff_.replace("sg00/exp_set.json", "\"profile_meta_data\": [", "\"profile_meta_data\": [" + list);
  const auto program = load(neff_.build());
  EXPECT_TRUE(program.is_ok()) << program.status().message();
}

// Programs may use every semaphore that the runtime leaves them: 3 to 255.
TEST_F(LoadTest, FirstAndLastSemaphore) {
  neff_.replace("sg00/def.json", "[8, 9, 10, 11]", "[3, 9, 10, 255]");
  const auto program = load(neff_.build());
  EXPECT_TRUE(program.is_ok()) << program.status().message();
}

// A partition has 256 KiB.
TEST_F(LoadTest, ScratchUpToTheEndOfItsPartition) {
  neff_.replace("sg00/def.json", "\"SB_scratch_partition_offset\": 0",
                "\"SB_scratch_partition_offset\": 245760");
  const auto program = load(neff_.build());
  EXPECT_TRUE(program.is_ok()) << program.status().message();
}

TEST_F(LoadTest, AnyTarget) {
  neff_.replace("kelf-0.json", "\"sunda\"", "\"*\"");
  EXPECT_TRUE(load(neff_.build()).is_ok());
  neff_.replace("kelf-0.json", "\"*\"", "\"v2\"");
  EXPECT_TRUE(load(neff_.build()).is_ok());
}

TEST(LoadTwoCores, RemoteVariablesAndFourTables) {
  LoadLimits limits = test_limits();
  limits.targets = {"cayman", "v3"};
  limits.lnc_size = 2;
  limits.sbuf_reservation_required = true;
  const auto program = load(testing::sample_neff("cayman", 2).build(), limits);
  ASSERT_TRUE(program.is_ok()) << program.status().message();
  ASSERT_EQ(program->subgraphs.size(), 2U);
  EXPECT_EQ(program->subgraphs[1].name, "sg01");
  EXPECT_EQ(program->lnc_size, 2U);
  const Variable& other = *program->subgraphs[0].find_variable("SB{1}");
  ASSERT_TRUE(other.remote.has_value());
  EXPECT_EQ(other.remote->subgraph, 1U);
  EXPECT_EQ(other.remote->var_id, 0U);
  EXPECT_EQ(other.size, 0x2000000U);
  EXPECT_EQ(program->subgraphs[1].find_variable("SB{0}")->remote->subgraph, 0U);
  ASSERT_EQ(program->subgraphs[0].dve_tables.size(), 4U);
  EXPECT_EQ(program->subgraphs[0].dve_tables[2].name, "control_slow");
}

TEST(LoadTwoCores, OneSubgraphRunsOnTwoCores) {
  LoadLimits limits = test_limits();
  limits.lnc_size = 2;
  EXPECT_TRUE(load(testing::sample_neff("sunda", 1).build(), limits).is_ok());
}

TEST(Names, Engines) {
  EXPECT_STREQ(engine_name(Engine::kPe), "PE");
  EXPECT_STREQ(engine_name(Engine::kSp), "SP");
}

}  // namespace
}  // namespace opennrt::neff
