// SPDX-License-Identifier: Apache-2.0
//
// Logical cores of two physical cores: programs of two subgraphs and of one.
#include <gtest/gtest.h>

#include <cstring>

#include "allocation_count.h"
#include "fake_driver.h"
#include "tdrv/execution.h"
#include "tdrv/logical_core.h"
#include "tdrv/model.h"
#include "tdrv/tdrv.h"

namespace opennrt::tdrv {
namespace {

constexpr std::uint32_t kSizesOneAndTwo = 3;  // lnc_mask

std::shared_ptr<neff::Program> two_core_program() {
  auto program = std::make_shared<neff::Program>(*test::small_program());
  program->name = "pair";
  program->lnc_size = 2;
  program->subgraphs.push_back(program->subgraphs[0]);
  program->subgraphs[1].name = "sg01";
  return program;
}

std::uint32_t add_variable(neff::Subgraph& sg, neff::Variable v) {
  v.var_id = static_cast<std::uint32_t>(sg.variables.size());
  sg.variables.push_back(std::move(v));
  return sg.variables.back().var_id;
}

std::uint32_t add_remote(neff::Subgraph& sg, const char* name, neff::RemoteReference of) {
  neff::Variable v;
  v.name = name;
  v.type = neff::VariableType::kRemote;
  v.remote = of;
  return add_variable(sg, std::move(v));
}

std::uint32_t add_scratch(neff::Subgraph& sg, const char* name, neff::BackingBuffer backing) {
  neff::Variable v;
  v.name = name;
  v.type = neff::VariableType::kVirtual;
  v.size = 4096;
  v.backing_offset = 8192;
  v.backing = backing;
  return add_variable(sg, std::move(v));
}

class LogicalCoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    BringUpOptions options;
    options.logical_cores = {{PhysicalCore{0, 0}, PhysicalCore{0, 1}}};
    options.lnc_size = 2;
    auto up = Tdrv::bring_up(driver_.bindings(), options);
    ASSERT_TRUE(up.is_ok()) << up.status().message();
    tdrv_ = *std::move(up);
    x_ = *tdrv_->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8192, "x");
    y_ = *tdrv_->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8192, "y");
    execution_ = *tdrv_->make_execution(0);
    forget();
  }
  void forget() {
    driver_.packets.clear();
    driver_.requests.clear();
    driver_.request_cores.clear();
    driver_.kicks.clear();
  }
  std::shared_ptr<Model> stage(std::shared_ptr<const neff::Program> program) {
    auto model = tdrv_->stage(std::move(program), 0, ++last_id_);
    EXPECT_TRUE(model.is_ok()) << model.status().message();
    return model.is_ok() ? *model : nullptr;
  }
  Status start(Model& model) {
    Tensor* const in[] = {x_.get()};
    Tensor* const out[] = {y_.get()};
    ONRT_TRY(tdrv_->bind(*execution_, model, in, out));
    ONRT_TRY(tdrv_->arm(*execution_));
    return tdrv_->kick(*execution_);
  }
  StepResult wait(std::uint64_t timeout_ms = 100) {
    StepResult r = StepResult::kInFlight;
    while ((r = tdrv_->step(*execution_, timeout_ms)) == StepResult::kInFlight) tdrv_->relax(1000);
    return r;
  }
  void run(Model& model) {
    const Status started = start(model);
    ASSERT_TRUE(started.is_ok()) << started.message();
    ASSERT_EQ(wait(), StepResult::kDone) << tdrv_->status(*execution_).message();
    tdrv_->finish(*execution_);
    ASSERT_EQ(driver_.ring_error, "");
  }
  void stop() {
    ASSERT_TRUE(tdrv_->bind_stop(*execution_).is_ok());
    ASSERT_TRUE(tdrv_->arm(*execution_).is_ok());
    ASSERT_TRUE(tdrv_->kick(*execution_).is_ok());
    ASSERT_EQ(wait(), StepResult::kDone) << tdrv_->status(*execution_).message();
    tdrv_->finish(*execution_);
  }
  std::string message() const { return std::string(tdrv_->status(*execution_).message()); }

  test::FakeDriver driver_{kSizesOneAndTwo};
  std::unique_ptr<Tdrv> tdrv_;
  std::unique_ptr<Tensor> x_, y_;
  std::unique_ptr<Execution> execution_;
  std::uint32_t last_id_ = 0;
};

TEST_F(LogicalCoreTest, EveryCoreIsArmedBeforeTheFirstIsStarted) {
  const auto model = stage(two_core_program());
  for (int i = 0; i < 3; ++i) run(*model);
  ASSERT_EQ(driver_.kicks.size(), 6u);
  for (std::size_t i = 0; i < 6; i += 2) {
    EXPECT_EQ(driver_.kicks[i].core, 0u);
    EXPECT_EQ(driver_.kicks[i].staged_mask, 0b11u);
    EXPECT_EQ(driver_.kicks[i + 1].core, 1u);
    EXPECT_EQ(driver_.kicks[i + 1].staged_mask, 0b10u);  // core 0 has taken its request
  }
  ASSERT_EQ(driver_.requests.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(driver_.requests[i][0], i < 2 ? 1u : 0u) << i;
}

TEST_F(LogicalCoreTest, BothCoresUseTheCallersTensorsThroughTheirOwnRings) {
  const auto model = stage(two_core_program());
  run(*model);
  // Per core: request, its event, two sets with 16 rings of two packets, event.
  constexpr std::size_t kPackets = 2 + 2 * 32 + 1;
  ASSERT_EQ(driver_.packets.size(), 2 * kPackets);
  const auto& dma = *driver_.arch().dma;
  for (std::uint32_t core = 0; core < 2; ++core) {
    for (std::uint32_t set = 0; set < 2; ++set) {
      for (std::uint32_t ring = 0; ring < 16; ++ring) {
        const auto& base = driver_.packets[core * kPackets + 2 + set * 32 + ring * 2];
        const std::uint64_t window =
            dma.udma_device(&driver_.product(), dma.core_engine(&driver_.product(), core, ring));
        EXPECT_EQ(base.dst, window + dma.queue_reg(set, set == 0 ? 1 : 0, NRTP_QREG_BASE_LO));
        std::uint64_t ring_pa = 0;
        std::memcpy(&ring_pa, driver_.at(base.src, 8), 8);
        DmaDescriptor first;
        std::memcpy(&first, driver_.at(ring_pa, 16), 16);
        const Tensor& tensor = set == 0 ? *y_ : *x_;
        EXPECT_EQ(first.address, *tensor.device_address() + ring * 512);
      }
    }
  }
}

TEST_F(LogicalCoreTest, VariablesOfEachCore) {
  auto program = two_core_program();
  std::uint32_t remote = 0, shared = 0, main = 0, local = 0;
  for (std::uint32_t i = 0; i < 2; ++i) {
    neff::Subgraph& sg = program->subgraphs[i];
    remote = add_remote(sg, i == 0 ? "SB{1}" : "SB{0}", {1 - i, 0});
    shared = add_scratch(sg, "shared", neff::BackingBuffer::kShared);
    main = add_scratch(sg, "main", neff::BackingBuffer::kMain);
    local = add_scratch(sg, "local", neff::BackingBuffer::kLocal);
  }
  const auto model = stage(program);
  auto& cores = static_cast<ModelImpl&>(*model).cores();
  ASSERT_EQ(cores.size(), 2u);
  const auto& a = cores[0]->variable_address;
  const auto& b = cores[1]->variable_address;
  const auto& address = *driver_.arch().address;
  EXPECT_EQ(a[0], address.local_to_device(&driver_.product(), 0, 0));
  EXPECT_EQ(b[0], address.local_to_device(&driver_.product(), 1, 0));
  EXPECT_NE(a[0], b[0]);
  EXPECT_EQ(a[remote], b[0]);
  EXPECT_EQ(b[remote], a[0]);
  EXPECT_EQ(a[shared], b[shared]);
  for (const std::uint32_t own : {main, local}) EXPECT_NE(a[own], b[own]) << own;
  // The same offset of different backings: 4096 bytes that do not overlap.
  for (const auto* core : {&a, &b}) EXPECT_GE((*core)[local], (*core)[main] + 4096);
}

// How the cores divide such a buffer is not known.
TEST_F(LogicalCoreTest, ShardedBackingBufferIsRefusedByName) {
  auto program = two_core_program();
  add_scratch(program->subgraphs[1], "half", neff::BackingBuffer::kSharded);
  const auto refused = tdrv_->stage(program, 0, 1);
  EXPECT_EQ(refused.status().code(), NRT_INVALID);
  EXPECT_NE(refused.status().message().find("'half'"), std::string_view::npos);
  EXPECT_NE(refused.status().message().find("sharded"), std::string_view::npos);
}

TEST_F(LogicalCoreTest, BadRemoteReferenceLeavesNothingBehind) {
  auto program = two_core_program();
  add_remote(program->subgraphs[0], "SB{7}", {7, 0});
  const std::size_t live = driver_.live_memory();
  const auto refused = tdrv_->stage(program, 0, 1);
  EXPECT_EQ(refused.status().code(), NRT_INVALID);
  EXPECT_NE(refused.status().message().find("SB{7}"), std::string_view::npos);
  EXPECT_EQ(driver_.live_memory(), live);
}

TEST_F(LogicalCoreTest, OneSubgraphRunsOnTheFirstCoreAlone) {
  const auto single = stage(test::small_program());
  ASSERT_EQ(static_cast<ModelImpl&>(*single).cores().size(), 1u);
  run(*single);
  run(*single);
  ASSERT_EQ(driver_.kicks.size(), 2u);
  EXPECT_EQ(driver_.kicks[0].core, 0u);
  EXPECT_EQ(driver_.kicks[0].staged_mask, 0b01u);
  EXPECT_EQ(driver_.kicks[1].core, 0u);
  forget();
  stop();
  // The second core was in the ready program all the time.
  ASSERT_EQ(driver_.request_cores, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(driver_.requests[0][0], 1u);
  EXPECT_EQ(driver_.requests[1][0], 0u);
  EXPECT_TRUE(tdrv_->unstage(single).is_ok());
}

TEST_F(LogicalCoreTest, ACoreThatWasLeftInAModelKeepsItCurrent) {
  const auto pair = stage(two_core_program());
  const auto single = stage(test::small_program());
  run(*pair);
  run(*single);
  // The second core still waits at the gate of the pair's image.
  EXPECT_TRUE(tdrv_->is_current(*pair));
  EXPECT_TRUE(tdrv_->is_current(*single));
  EXPECT_EQ(tdrv_->unstage(pair).code(), NRT_FAILURE);
  forget();
  run(*pair);
  ASSERT_EQ(driver_.request_cores, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(driver_.requests[0][0], 1u);  // from the single program
  EXPECT_EQ(driver_.requests[1][0], 0u);  // stayed
  EXPECT_FALSE(tdrv_->is_current(*single));
  EXPECT_TRUE(tdrv_->unstage(single).is_ok());
  stop();
  EXPECT_FALSE(tdrv_->is_current(*pair));
  EXPECT_TRUE(tdrv_->unstage(pair).is_ok());
}

TEST_F(LogicalCoreTest, UnstagingGivesTheMemoryOfBothCoresBack) {
  const std::size_t live = driver_.live_memory();
  const auto model = stage(two_core_program());
  run(*model);
  stop();
  EXPECT_GT(driver_.live_memory(), live);
  EXPECT_TRUE(tdrv_->unstage(model).is_ok());
  EXPECT_EQ(driver_.live_memory(), live);
}

TEST_F(LogicalCoreTest, ACoreThatStaysSilentFailsTheExecutionAndIsNamed) {
  const auto model = stage(two_core_program());
  run(*model);
  driver_.silent_cores = 0b10;
  ASSERT_TRUE(start(*model).is_ok());
  EXPECT_EQ(wait(), StepResult::kFailed);
  EXPECT_EQ(tdrv_->status(*execution_).code(), NRT_TIMEOUT);
  EXPECT_NE(message().find("[ND 0][NC 1] PE START"), std::string::npos) << message();
  EXPECT_NE(message().find("[ND 0][NC 1] SP START"), std::string::npos) << message();
  EXPECT_EQ(message().find("[NC 0]"), std::string::npos) << message();
  tdrv_->finish(*execution_);
  EXPECT_TRUE(tdrv_->is_lost(0));
  EXPECT_EQ(start(*model).code(), NRT_EXEC_UNIT_UNRECOVERABLE);
}

TEST_F(LogicalCoreTest, AnErrorOfOneCoreIsTheExecutionsResult) {
  const auto model = stage(two_core_program());
  const std::uint32_t errors = driver_.arch().geometry->error_queue;
  driver_.notify(errors, 3, 9 | 2 << 8, 0, 1);  // sequencer error of core 1's POOL
  ASSERT_TRUE(start(*model).is_ok());
  EXPECT_EQ(wait(), StepResult::kFailed);
  EXPECT_EQ(tdrv_->status(*execution_).code(), NRT_EXEC_COMPLETED_WITH_ERR);
  EXPECT_NE(message().find("[ND 0][NC 1]"), std::string::npos) << message();
  tdrv_->finish(*execution_);
  EXPECT_FALSE(tdrv_->is_lost(0));
  run(*model);
}

// The highest rank of all cores, the first seen on ties; each core keeps its own.
TEST_F(LogicalCoreTest, EachCoreKeepsItsOwnOutcome) {
  const auto model = stage(two_core_program());
  const std::uint32_t errors = driver_.arch().geometry->error_queue;
  driver_.notify(errors, 3, 11, 0, 0);          // not known: NRT_HW_ERROR
  driver_.notify(errors, 3, 6 | 4 << 8, 0, 1);  // semaphore error of core 1's SP
  driver_.notify(errors, 3, 4, 0, 1);           // equal rank, seen later
  ASSERT_TRUE(start(*model).is_ok());
  EXPECT_EQ(wait(), StepResult::kFailed);
  EXPECT_EQ(tdrv_->status(*execution_).code(), NRT_EXEC_COMPLETED_WITH_ERR);
  EXPECT_NE(message().find("[ND 0][NC 1] model 'pair': semaphore error on SP"), std::string::npos)
      << message();
  const auto& execution = static_cast<const ExecutionImpl&>(*execution_);
  EXPECT_EQ(execution.outcome(0).status, NRT_HW_ERROR);
  EXPECT_EQ(execution.outcome(0).errors, 1u << 15);
  EXPECT_EQ(execution.outcome(1).status, NRT_EXEC_COMPLETED_WITH_ERR);
  EXPECT_EQ(execution.outcome(1).errors, 1u << 5 | 1u << 3);
  for (const std::size_t core : {0u, 1u})
    EXPECT_LE(execution.outcome(core).start, execution.outcome(core).end);
  tdrv_->finish(*execution_);
  run(*model);
  EXPECT_EQ(execution.outcome(0).status, NRT_SUCCESS);
  EXPECT_EQ(execution.outcome(1).errors, 0u);
}

TEST_F(LogicalCoreTest, AKickThatReachesOneCoreOnlyLosesThePair) {
  const auto model = stage(two_core_program());
  Tensor* const in[] = {x_.get()};
  Tensor* const out[] = {y_.get()};
  ASSERT_TRUE(tdrv_->bind(*execution_, *model, in, out).is_ok());
  ASSERT_TRUE(tdrv_->arm(*execution_).is_ok());
  driver_.fail_at = driver_.calls + 2;
  const Status kicked = tdrv_->kick(*execution_);
  EXPECT_EQ(kicked.code(), NRT_FAILURE);
  EXPECT_NE(kicked.message().find("[NC 1]"), std::string_view::npos) << kicked.message();
  tdrv_->finish(*execution_);
  EXPECT_TRUE(tdrv_->is_lost(0));
  EXPECT_EQ(start(*model).code(), NRT_EXEC_UNIT_UNRECOVERABLE);
}

TEST_F(LogicalCoreTest, SteadyPathStartsEachCoreOnceAndAllocatesNothing) {
  const auto model = stage(two_core_program());
  run(*model);
  driver_.packets.reserve(100'000);
  driver_.requests.reserve(1'000);
  const std::uint64_t calls = driver_.calls;
  const std::uint64_t before = test::allocation_count();
  for (int i = 0; i < 100; ++i) run(*model);
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_EQ(driver_.calls - calls, 200u);
}

TEST(LogicalCoreOfOne, RefusesTwoSubgraphsAndNamesTheSetting) {
  test::FakeDriver driver;
  BringUpOptions options;
  options.logical_cores = {{PhysicalCore{0, 0}}};
  auto tdrv = Tdrv::bring_up(driver.bindings(), options);
  ASSERT_TRUE(tdrv.is_ok());
  const auto refused = (*tdrv)->stage(two_core_program(), 0, 1);
  EXPECT_EQ(refused.status().code(), NRT_INVALID);
  const std::string text(refused.status().message());
  EXPECT_NE(text.find("nsufficient number of pncs"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("set NEURON_LOGICAL_NC_CONFIG=2")) << text;
}

TEST(LogicalCoreOfTwo, ReadyProgramsOfBothCoresAnswerTheSelfTest) {
  test::FakeDriver driver(kSizesOneAndTwo);
  BringUpOptions options;
  options.lnc_size = 2;
  options.logical_cores = {{PhysicalCore{0, 0}, PhysicalCore{0, 1}}};
  auto tdrv = Tdrv::bring_up(driver.bindings(), options);
  ASSERT_TRUE(tdrv.is_ok()) << tdrv.status().message();
  EXPECT_EQ(driver.request_cores, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(driver.kicks.front().staged_mask, 0b11u);
}

TEST(LogicalCoreOfTwo, ASilentSecondCoreFailsBringUp) {
  test::FakeDriver driver(kSizesOneAndTwo);
  driver.silent_cores = 0b10;
  BringUpOptions options;
  options.lnc_size = 2;
  options.logical_cores = {{PhysicalCore{0, 0}, PhysicalCore{0, 1}}};
  options.self_test_timeout_ms = 5;
  const auto tdrv = Tdrv::bring_up(driver.bindings(), options);
  EXPECT_EQ(tdrv.status().code(), NRT_TIMEOUT);
  EXPECT_NE(tdrv.status().message().find("[NC 1]"), std::string_view::npos);
  EXPECT_EQ(driver.live_memory(), 0u);
}

}  // namespace
}  // namespace opennrt::tdrv
