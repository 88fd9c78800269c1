// SPDX-License-Identifier: Apache-2.0
//
// Variables of every type on the device: scratchpad slices, pointers, the
// argument table, and what an execution writes anew.
#include <gtest/gtest.h>

#include <cstring>

#include "fake_driver.h"
#include "tdrv/model.h"
#include "tdrv/tdrv.h"

namespace opennrt::tdrv {
namespace {

using neff::VariableType;

// sunda with form 2.30, whose steps are those of 2.27.
struct LaterForm {
  explicit LaterForm(const nrtp_arch_plugin& base) : plugin(base), ib(*base.ib) {
    ib.form_mask |= NRTP_FORM_BIT_2_30;
    ib.validate_image = nullptr;
    ib.step = [](std::uint32_t which, const nrtp_ib_env* env, nrtp_ibuf* out) {
      if (which == NRTP_STEP_LIBRARY_LOAD || which == NRTP_STEP_LIBRARY_CLEAR) {
        return static_cast<int>(NRTP_OK);
      }
      nrtp_ib_env older = *env;
      older.form = NRTP_FORM_2_27;
      const nrtp_arch_plugin* arch = nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR);
      return arch->ib->step(which, &older, out);
    };
    plugin.ib = &ib;
  }
  LaterForm(const LaterForm&) = delete;
  LaterForm& operator=(const LaterForm&) = delete;
  nrtp_arch_plugin plugin;
  nrtp_arch_ib ib;
};

class StagingOf : public ::testing::Test {
 protected:
  StagingOf() : later_(driver_.arch()), program_(*test::small_program()) {
    bindings_ = driver_.bindings();
    bindings_.arch = &later_.plugin;
  }
  void bring_up(std::uint32_t form = NRTP_FORM_2_30) {
    BringUpOptions options;
    options.logical_cores = {{PhysicalCore{0, 0}}};
    options.form = form;
    auto tdrv = Tdrv::bring_up(bindings_, options);
    ASSERT_TRUE(tdrv.is_ok()) << tdrv.status().message();
    tdrv_ = *std::move(tdrv);
    x_ = *tdrv_->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8192, "x");
    y_ = *tdrv_->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8192, "y");
  }
  neff::Variable& add(const char* name, VariableType type, std::uint64_t size) {
    neff::Variable v;
    v.name = name;
    v.type = type;
    v.size = size;
    v.var_id = static_cast<std::uint32_t>(graph().variables.size());
    graph().variables.push_back(v);
    return graph().variables.back();
  }
  neff::Subgraph& graph() { return program_.subgraphs[0]; }
  Result<std::shared_ptr<Model>> stage() {
    return tdrv_->stage(std::make_shared<neff::Program>(program_), 0, 1);
  }
  std::string refused(NRT_STATUS code = NRT_INVALID) {
    auto model = stage();
    EXPECT_FALSE(model.is_ok());
    if (model.is_ok()) return "";
    EXPECT_EQ(model.status().code(), code);
    return std::string(model.status().message());
  }
  const CoreModel& core(const std::shared_ptr<Model>& model) {
    return *static_cast<ModelImpl&>(*model).cores()[0];
  }
  std::uint64_t word(std::uint64_t pa) {
    std::uint64_t value = 0;
    std::memcpy(&value, driver_.at(pa, 8), 8);
    return value;
  }
  // Packets of one run's IO switch.
  std::vector<test::FakeDriver::Packet> run(Model& model, Tensor* x, Tensor* y) {
    auto execution = *tdrv_->make_execution(0);
    Tensor* const in[] = {x};
    Tensor* const out[] = {y};
    driver_.packets.clear();
    EXPECT_TRUE(tdrv_->bind(*execution, model, in, out).is_ok());
    EXPECT_TRUE(tdrv_->arm(*execution).is_ok());
    EXPECT_TRUE(tdrv_->kick(*execution).is_ok());
    EXPECT_EQ(driver_.ring_error, "");
    while (tdrv_->step(*execution, 1000) == StepResult::kInFlight) tdrv_->relax(1000);
    EXPECT_TRUE(tdrv_->status(*execution).is_ok()) << tdrv_->status(*execution).message();
    tdrv_->finish(*execution);
    return driver_.packets;
  }

  test::FakeDriver driver_;
  LaterForm later_;
  Bindings bindings_;
  neff::Program program_;
  std::unique_ptr<Tdrv> tdrv_;
  std::unique_ptr<Tensor> x_, y_;
};
#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

// Tables, spare descriptors and the event are together what the usual kick releases.
TEST_F(StagingOf, TableRingHasAsManyDescriptorsAsItsKick) {
  bring_up(NRTP_FORM_2_27);
  auto model = stage();
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_EQ(core(*model).dve.descriptors, 5u);  // device images of real runs
}

TEST_F(StagingOf, VirtualVariablesAreOverlappingSlicesOfOneRegion) {
  bring_up();
  graph().variables[5].backing_offset = 8192;  // v: [8192, +4096)
  add("v2", VariableType::kVirtual, 6000).backing_offset = 10000;
  add("v3", VariableType::kVirtual, 100).backing_offset = 0;
  // The largest end counts, whatever lies below it.
  add("v4", VariableType::kVirtual, 24ull << 20).backing_offset = 4096;
  neff::Variable& local = add("l", VariableType::kVirtual, 64);
  local.backing = neff::BackingBuffer::kLocal;
  neff::Variable& shared = add("s", VariableType::kVirtual, 64);
  shared.backing = neff::BackingBuffer::kShared;
  auto model = stage();
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  const auto& at = core(*model).variable_address;
  const std::uint64_t base = at[8] - 4096;
  EXPECT_EQ(at[5], base + 8192);
  EXPECT_EQ(at[6], base + 10000);
  EXPECT_EQ(at[7], base);
  EXPECT_GE(core(*model).scratchpad->size(), 4096 + (24ull << 20));
  // `local` slices are apart from those of `main`.
  EXPECT_TRUE(at[9] + 64 <= base || at[9] >= base + 4096 + (24ull << 20));
  // The region of the logical core is another one.
  EXPECT_TRUE(at[10] + 64 <= base || at[10] >= base + core(*model).scratchpad->size());
}

TEST_F(StagingOf, ModelsStayOnTheirRegionWhenALargerOneComes) {
  bring_up();
  auto small = stage();
  ASSERT_TRUE(small.is_ok());
  const std::uint64_t before = core(*small).variable_address[5];
  graph().variables[5].size = 9ull << 20;
  auto large = stage();
  ASSERT_TRUE(large.is_ok());
  EXPECT_NE(core(*large).variable_address[5], before);
  EXPECT_NE(driver_.at(before, 4096), nullptr);  // still allocated
  EXPECT_EQ(core(*small).variable_address[5], before);
  graph().variables[5].size = 4096;
  auto third = stage();
  ASSERT_TRUE(third.is_ok());
  EXPECT_EQ(core(*third).variable_address[5], core(*large).variable_address[5]);
}

TEST_F(StagingOf, PointersHoldTheAddressOfTheirVariable) {
  bring_up();
  add("pw", VariableType::kPointer, 8).referenced_var_id = 3;
  add("px", VariableType::kPointer, 8).referenced_var_id = 1;
  auto model = stage();
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  const auto& at = core(*model).variable_address;
  EXPECT_EQ(word(at[6]), at[3]);
  // x is bound per execution: one more packet of 8 bytes to the cell.
  const auto packets = run(**model, x_.get(), y_.get());
  ASSERT_EQ(packets.size(), 2u + 64 + 1 + 1);
  EXPECT_EQ(packets[66].bytes, 8u);
  EXPECT_EQ(packets[66].dst, at[7]);
  EXPECT_EQ(word(packets[66].src), *x_->device_address());
  auto other = *tdrv_->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8192, "x");
  EXPECT_EQ(word(run(**model, other.get(), y_.get())[66].src), *other->device_address());
}

TEST_F(StagingOf, ArgumentTableFollowsTheBoundTensors) {
  bring_up();
  add("DGETable0", VariableType::kDgeTable, 32).list = {2, 1, 3, 0};
  auto model = stage();
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  const CoreModel& share = core(*model);
  ASSERT_NE(share.argument_table, nullptr);
  const auto packets = run(**model, x_.get(), y_.get());
  ASSERT_EQ(packets.size(), 2u + 64 + 1 + 1);
  EXPECT_EQ(packets[66].bytes, 8u);
  EXPECT_EQ(packets[66].dst, share.argument_table->address());
  const std::uint64_t table = word(packets[66].src);
  EXPECT_EQ(word(table), *y_->device_address());
  EXPECT_EQ(word(table + 8), *x_->device_address());
  EXPECT_EQ(word(table + 16), share.variable_address[3]);
  EXPECT_EQ(word(table + 24), share.variable_address[0]);
  // Other tensors, another table; the old one is back with the old tensors.
  auto other = *tdrv_->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8192, "x");
  const std::uint64_t second = word(run(**model, other.get(), y_.get())[66].src);
  EXPECT_NE(second, table);
  EXPECT_EQ(word(second + 8), *other->device_address());
  EXPECT_EQ(word(run(**model, x_.get(), y_.get())[66].src), table);
}

// Programs whose DMA is all generated have no ring that the IO switch fills.
TEST_F(StagingOf, ArgumentTableWithoutIoQueues) {
  bring_up();
  graph().queues.clear();
  add("DGETable0", VariableType::kDgeTable, 8).list = {1};
  auto model = stage();
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  const auto packets = run(**model, x_.get(), y_.get());
  ASSERT_EQ(packets.size(), 2u + 1 + 1);
  EXPECT_EQ(word(word(packets[2].src)), *x_->device_address());
}

TEST_F(StagingOf, ListsNeedNoPlace) {
  bring_up();
  add("ranks", VariableType::kList, 16).list = {1, 2};
  auto model = stage();
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  EXPECT_EQ(core(*model).variable_address[6], UINT64_MAX);
}

TEST_F(StagingOf, Refusals) {
  bring_up();
  const neff::Program good = program_;
  add("DGETable0", VariableType::kDgeTable, 8).list = {1};
  add("DGETable1", VariableType::kDgeTable, 8).list = {1};
  EXPECT_HAS(refused(), "'DGETable0' and 'DGETable1' of sg00 are dge-tables");
  program_ = good;
  add("DGETable0", VariableType::kDgeTable, 8).list = {77};
  EXPECT_HAS(refused(), "lists variable 77");
  program_ = good;
  add("ranks", VariableType::kList, 8);
  add("p", VariableType::kPointer, 8).referenced_var_id = 6;
  EXPECT_HAS(refused(), "pointer 'p' refers to 'ranks', a variable without an address");
  program_ = good;
  add("p", VariableType::kPointer, 8).referenced_var_id = 99;
  EXPECT_HAS(refused(), "variable 99");
  program_ = good;
  for (int i = 0; i < 1000; ++i) {
    add(("p" + std::to_string(i)).c_str(), VariableType::kPointer, 8).referenced_var_id = 1;
  }
  EXPECT_HAS(refused(NRT_RESOURCE), "1065 IO switch packets, the limit is 1000");
}

TEST_F(StagingOf, DgeTableNeedsTheLaterForm) {
  bring_up(NRTP_FORM_2_25);
  add("DGETable0", VariableType::kDgeTable, 8).list = {1};
  EXPECT_HAS(refused(), "has a dge-table, which image form 225 cannot pass; use form 230");
}

}  // namespace
}  // namespace opennrt::tdrv
