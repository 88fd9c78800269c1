// SPDX-License-Identifier: Apache-2.0
//
// TDRV on the real driver layer and the software device: bring-up with self
// test, and real vector-add programs with bit-exact results.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "nds/slab.h"
#include "neff/program.h"
#include "support/device_stack.h"
#include "tdrv/tdrv.h"

namespace opennrt::tdrv {
namespace {

constexpr std::uint64_t kTimeoutMs = 30'000;

std::filesystem::path corpus() {
  const char* dir = std::getenv("OPENNRT_CORPUS");
  return dir != nullptr ? dir : OPENNRT_DEFAULT_CORPUS;
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

class TdrvSmoke : public ::testing::Test {
 protected:
  TdrvSmoke() : stack_(OPENNRT_TEST_PLUGIN_DIR, "sunda") {
    options_.logical_cores = {{PhysicalCore{0, 0}}};
  }

  std::unique_ptr<Tdrv> bring_up() {
    auto tdrv = Tdrv::bring_up(stack_.bindings(), options_);
    EXPECT_TRUE(tdrv.is_ok()) << tdrv.status().message();
    return tdrv.is_ok() ? *std::move(tdrv) : nullptr;
  }

  std::shared_ptr<const neff::Program> load(const std::string& name) {
    const auto path = corpus() / name;
    if (!std::filesystem::exists(path)) return nullptr;
    neff::LoadLimits limits;
    for (const char* const* t = stack_.arch().neff_targets; *t != nullptr; ++t) {
      limits.targets.push_back(*t);
    }
    limits.known_targets = limits.targets;
    limits.running_on = "sunda";
    const auto bytes = read_file(path);
    auto program = neff::load_program(bytes, limits);
    EXPECT_TRUE(program.is_ok()) << program.status().message();
    if (!program.is_ok()) return nullptr;
    return std::make_shared<const neff::Program>(*std::move(program));
  }

  static Status run(Tdrv& tdrv, Execution& execution) {
    ONRT_TRY(tdrv.arm(execution));
    ONRT_TRY(tdrv.kick(execution));
    StepResult result = StepResult::kInFlight;
    while ((result = tdrv.step(execution, kTimeoutMs)) == StepResult::kInFlight) tdrv.relax(1);
    if (result == StepResult::kDone) return Status::ok();
    const Status& status = tdrv.status(execution);
    return {status.code(), std::string(status.message())};
  }

  void stop(Tdrv& tdrv, Execution& execution) {
    ASSERT_TRUE(tdrv.bind_stop(execution).is_ok());
    const Status status = run(tdrv, execution);
    EXPECT_TRUE(status.is_ok()) << status.message();
    tdrv.finish(execution);
  }

  test::DeviceStack stack_;
  BringUpOptions options_;
};

TEST_F(TdrvSmoke, BringUpAnswersTheSelfTestAndTearsDown) {
  auto tdrv = bring_up();
  ASSERT_NE(tdrv, nullptr);
  tdrv->tear_down();
  tdrv->tear_down();  // idempotent
  // The devices can be opened again.
  tdrv.reset();
  ASSERT_NE(bring_up(), nullptr);
}

TEST_F(TdrvSmoke, TensorsKeepTheirBytes) {
  auto tdrv = bring_up();
  ASSERT_NE(tdrv, nullptr);
  for (const std::uint64_t bytes : {1ull, 4096ull, 20'000ull, 700'001ull, 5'000'003ull}) {
    auto tensor = tdrv->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, bytes, "t");
    ASSERT_TRUE(tensor.is_ok()) << tensor.status().message();
    std::vector<std::uint8_t> in(bytes), out(bytes);
    for (std::uint64_t i = 0; i < bytes; ++i) in[i] = static_cast<std::uint8_t>(i * 7 + (i >> 9));
    ASSERT_TRUE((*tensor)->write(in.data(), 0, bytes).is_ok());
    ASSERT_TRUE((*tensor)->read(out.data(), 0, bytes).is_ok());
    EXPECT_EQ(in, out);
    ASSERT_NE((*tensor)->va(), nullptr);
    EXPECT_EQ(std::memcmp((*tensor)->va(), in.data(), bytes), 0);
    ASSERT_TRUE((*tensor)->set(0x5A, 0, bytes).is_ok());
    ASSERT_TRUE((*tensor)->read(out.data(), 0, bytes).is_ok());
    EXPECT_EQ(out, std::vector<std::uint8_t>(bytes, 0x5A));
  }
}

class VectorAdd : public TdrvSmoke, public ::testing::WithParamInterface<const char*> {};

TEST_P(VectorAdd, IsBitExact) {
  const auto program = load(GetParam());
  if (program == nullptr) {
    if (HasFailure()) return;
    GTEST_SKIP() << GetParam() << " is not in " << corpus();
  }
  ASSERT_EQ(program->inputs.size(), 2u);
  ASSERT_EQ(program->outputs.size(), 1u);
  auto tdrv = bring_up();
  ASSERT_NE(tdrv, nullptr);
  auto staged = tdrv->stage(program, 0, 1);
  ASSERT_TRUE(staged.is_ok()) << staged.status().message();
  const std::shared_ptr<Model> model = *staged;
  std::vector<std::unique_ptr<Tensor>> tensors;
  std::vector<Tensor*> inputs, outputs;
  for (const auto* list : {&program->inputs, &program->outputs}) {
    for (const auto& info : *list) {
      auto tensor = tdrv->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, info.size, info.name);
      ASSERT_TRUE(tensor.is_ok()) << tensor.status().message();
      (list == &program->inputs ? inputs : outputs).push_back(tensor->get());
      tensors.push_back(*std::move(tensor));
    }
  }
  auto execution = tdrv->make_execution(0);
  ASSERT_TRUE(execution.is_ok());
  const std::size_t n = program->inputs[0].size / sizeof(float);
  std::vector<float> a(n), b(n), out(n);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = static_cast<float>(i % 977) * 0.37f + static_cast<float>(round);
      b[i] = 1.0f / static_cast<float>(i + 1 + static_cast<std::size_t>(round));
    }
    ASSERT_TRUE(inputs[0]->write(a.data(), 0, n * sizeof(float)).is_ok());
    ASSERT_TRUE(inputs[1]->write(b.data(), 0, n * sizeof(float)).is_ok());
    ASSERT_TRUE(outputs[0]->set(0xFF, 0, n * sizeof(float)).is_ok());
    Status status = tdrv->bind(**execution, *model, inputs, outputs);
    ASSERT_TRUE(status.is_ok()) << status.message();
    status = run(*tdrv, **execution);
    ASSERT_TRUE(status.is_ok()) << status.message();
    tdrv->finish(**execution);
    EXPECT_TRUE(tdrv->is_current(*model));
    ASSERT_TRUE(outputs[0]->read(out.data(), 0, n * sizeof(float)).is_ok());
    for (std::size_t i = 0; i < n; ++i) {
      const float expected = a[i] + b[i];
      ASSERT_EQ(std::memcmp(&out[i], &expected, sizeof(float)), 0)
          << "element " << i << ": " << out[i] << " instead of " << expected << ", round " << round;
    }
  }
  EXPECT_EQ(tdrv->unstage(model).code(), NRT_FAILURE);  // still current
  stop(*tdrv, **execution);
  EXPECT_FALSE(tdrv->is_current(*model));
  EXPECT_TRUE(tdrv->unstage(model).is_ok());
  const auto use = tdrv->memory_use(0);
  ASSERT_TRUE(use.is_ok());
  EXPECT_GT(use->limit, use->used);
}

INSTANTIATE_TEST_SUITE_P(Corpus, VectorAdd,
                         ::testing::Values("vecadd_1tile_sunda.neff", "vecadd_2tiles_sunda_a.neff",
                                           "vecadd_2tiles_sunda_b.neff",
                                           "vecadd_2tiles_sunda_c.neff"));

// What another program reads in the slab of this process.
TEST_F(TdrvSmoke, MonitoringProgramsSeeWhatRuns) {
  const auto program = load("vecadd_1tile_sunda.neff");
  if (program == nullptr) {
    if (HasFailure()) return;
    GTEST_SKIP() << "not in " << corpus();
  }
  options_.process = {.framework_type = 3, .tag = "smoke"};
  auto tdrv = bring_up();
  ASSERT_NE(tdrv, nullptr);
  const Bindings& b = stack_.bindings();
  std::uint64_t dev = 0, bytes = 0;
  nrtp_ndl_device_info facts{};
  ASSERT_EQ(b.ndl->device->open(b.ndl_ctx, 0, &dev, &facts), 0);
  void* data = nullptr;
  ASSERT_EQ(b.ndl->share->nds_open(b.ndl_ctx, dev, 0, &data, &bytes), 0);
  const nds::Slab slab(data, bytes);
  EXPECT_EQ(slab.check_header(), 0);
  nds::ProcessInfoRecord process{};
  slab.read(nds::kProcessInfoAt, &process);
  EXPECT_STREQ(process.info.tag, "smoke");
  EXPECT_EQ(process.info.framework_type, 3);
  const auto counter = [&](std::uint32_t k) { return *slab.core_counter(0, k); };
  EXPECT_EQ(counter(nds::kInferences), 0u) << "the self test is no inference";

  const std::uint64_t code = counter(nds::kDeviceMemory), tensors = counter(nds::kDeviceMemory + 1);
  auto staged = tdrv->stage(program, 0, 4711);
  ASSERT_TRUE(staged.is_ok()) << staged.status().message();
  EXPECT_GT(counter(nds::kDeviceMemory), code);
  EXPECT_EQ(counter(nds::kModelLoads), 1u);
  ASSERT_EQ(slab.model_map(), 1u);
  nds::ModelRecord model{};
  slab.read(nds::Slab::model_offset(0), &model);
  EXPECT_EQ(model.info.model_id, 4711u);
  EXPECT_EQ(model.info.name, program->name.substr(0, 255));
  EXPECT_EQ(model.memory.model_mem_usage[1][NDS_DMA_MEM_USAGE_SLOT_CODE].total_size,
            counter(nds::kDeviceMemory) - code);

  std::vector<std::unique_ptr<Tensor>> owned;
  std::vector<Tensor*> inputs, outputs;
  for (const auto* list : {&program->inputs, &program->outputs})
    for (const auto& info : *list) {
      auto tensor = tdrv->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, info.size, info.name);
      ASSERT_TRUE(tensor.is_ok());
      ASSERT_TRUE((*tensor)->set(0, 0, info.size).is_ok());
      (list == &program->inputs ? inputs : outputs).push_back(tensor->get());
      owned.push_back(*std::move(tensor));
    }
  EXPECT_GT(counter(nds::kDeviceMemory + 1), tensors);
  auto execution = tdrv->make_execution(0);
  ASSERT_TRUE(execution.is_ok());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(tdrv->bind(**execution, **staged, inputs, outputs).is_ok());
    const Status status = run(*tdrv, **execution);
    ASSERT_TRUE(status.is_ok()) << status.message();
    tdrv->finish(**execution);
  }
  EXPECT_EQ(counter(nds::kInferences), 2u);
  EXPECT_EQ(counter(nds::kCompleted), 2u);
  EXPECT_EQ(counter(nds::kMacs), 2 * program->mac_count);
  EXPECT_LE(counter(nds::kLatencyDevice), counter(nds::kTimeInUse));
  inputs[0] = nullptr;
  EXPECT_EQ(tdrv->bind(**execution, **staged, inputs, outputs).code(), NRT_EXEC_BAD_INPUT);
  EXPECT_EQ(counter(nds::kIncorrectInput), 1u);

  stop(*tdrv, **execution);
  EXPECT_EQ(counter(nds::kInferences), 2u);
  ASSERT_TRUE(tdrv->unstage(*staged).is_ok());
  (*staged).reset();
  owned.clear();
  EXPECT_EQ(slab.model_map(), 0u);
  EXPECT_EQ(counter(nds::kDeviceMemory), code);
  EXPECT_EQ(counter(nds::kDeviceMemory + 1), tensors);
  EXPECT_EQ(b.ndl->share->nds_close(b.ndl_ctx, dev, 0, data, bytes), 0);
  EXPECT_EQ(b.ndl->device->close(b.ndl_ctx, dev), 0);
}

// Programs with weights, activation tables and scratchpads are placed and leave
// nothing behind, whether or not the software device can run them yet.
class Staging : public TdrvSmoke, public ::testing::WithParamInterface<const char*> {};

TEST_P(Staging, PlacesAndReleases) {
  const auto program = load(GetParam());
  if (program == nullptr) {
    if (HasFailure()) return;
    GTEST_SKIP() << GetParam() << " is not in " << corpus();
  }
  auto tdrv = bring_up();
  ASSERT_NE(tdrv, nullptr);
  const std::uint64_t before = tdrv->memory_use(0)->used;
  auto model = tdrv->stage(program, 0, 1);
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_GT(tdrv->memory_use(0)->used, before);
  EXPECT_TRUE(tdrv->unstage(*model).is_ok());
  EXPECT_EQ(tdrv->memory_use(0)->used, before);
}

INSTANTIATE_TEST_SUITE_P(Corpus, Staging,
                         ::testing::Values("vecadd_1tile_sunda.neff", "conv_f32_n1_sunda.neff",
                                           "conv_f32_n2_sunda.neff", "convpool_f16_n2_sunda.neff"));

}  // namespace
}  // namespace opennrt::tdrv
