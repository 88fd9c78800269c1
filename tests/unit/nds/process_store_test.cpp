// SPDX-License-Identifier: Apache-2.0
#include "nds/process_store.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

namespace opennrt::nds {
namespace {

// A driver layer that lends one slab.
struct Lender {
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(kSlabBytes / 8);
  std::uint64_t bytes = kSlabBytes;
  int error = 0, opened = 0, closed = 0;
};

int lend(void* ctx, std::uint64_t, std::int32_t pid, void** out, std::uint64_t* bytes) {
  auto& lender = *static_cast<Lender*>(ctx);
  EXPECT_EQ(pid, 0);
  if (lender.error != 0) return lender.error;
  ++lender.opened;
  *out = lender.words.data();
  *bytes = lender.bytes;
  return 0;
}

int take_back(void* ctx, std::uint64_t, std::int32_t pid, void* va, std::uint64_t bytes) {
  auto& lender = *static_cast<Lender*>(ctx);
  EXPECT_EQ(pid, 0);
  EXPECT_EQ(va, lender.words.data());
  EXPECT_EQ(bytes, lender.bytes);
  ++lender.closed;
  return 0;
}

class ProcessStores : public ::testing::Test {
 protected:
  ProcessStores() {
    share_.size = sizeof share_;
    share_.nds_open = lend;
    share_.nds_close = take_back;
    ops_.share = &share_;
  }
  std::uint64_t core(std::uint32_t c, std::uint32_t k) {
    return *Slab(lender_.words.data(), kSlabBytes).core_counter(c, k);
  }
  std::uint64_t device(std::uint32_t i) { return lender_.words[1 + i]; }
  Lender lender_;
  nrtp_ndl_share share_{};
  nrtp_ndl_ops ops_{};
  ProcessStore store_{&ops_, &lender_};
};

TEST_F(ProcessStores, DescribesTheProcess) {
  store_.open(1, 0);
  store_.describe({.framework_type = 1,
                   .tag = "trainer",
                   .framework = {.major = 1, .minor = 13, .build = 1},
                   .fal = {.major = 2, .minor = 0, .build = 9},
                   .runtime = {.major = 2, .minor = 31, .build = 24}});
  EXPECT_EQ(Slab(lender_.words.data(), kSlabBytes).check_header(), 0);
  EXPECT_EQ(device(0), 0x0000'021F'0000'0018ull);
  EXPECT_EQ(device(1), 0x0001'010D'0000'0001ull);
  EXPECT_EQ(device(2), 0x0000'0200'0000'0009ull);
}

TEST_F(ProcessStores, CountsExecutions) {
  store_.open(1, 0);
  store_.execution_ended(1, {.device_us = 70, .total_us = 90, .macs = 1000});
  store_.execution_ended(1, {.status = NRT_EXEC_COMPLETED_WITH_ERR,
                             .errors = kPsumCollision | kTransient,
                             .device_us = 30,
                             .total_us = 40,
                             .macs = 1000});
  store_.execution_ended(1, {.status = NRT_EXEC_COMPLETED_WITH_NUM_ERR, .macs = 1000});
  EXPECT_EQ(core(1, 0), 100u);  // busy
  EXPECT_EQ(core(1, 1), 1u);
  EXPECT_EQ(core(1, 2), 1u);
  EXPECT_EQ(core(1, 3), 1u);
  EXPECT_EQ(core(1, 8), 1u);
  EXPECT_EQ(core(1, 10), 1u);
  EXPECT_EQ(core(1, 38), 1u);
  EXPECT_EQ(core(1, 13), 0u);  // of the last one
  EXPECT_EQ(core(1, 28), 3u);
  EXPECT_EQ(core(1, 29), 3000u);
  EXPECT_EQ(core(0, 28), 0u);
  store_.call_failed(0, NRT_EXEC_BAD_INPUT);
  store_.call_failed(0, NRT_EXEC_UNIT_UNRECOVERABLE);  // has no counter
  EXPECT_EQ(core(0, 5), 1u);
}

TEST_F(ProcessStores, CountsMemory) {
  store_.open(1, 0);
  store_.memory_changed(2, Memory::kDevice, NDS_DMA_MEM_USAGE_SLOT_SCRATCHPAD, 4096, true);
  store_.memory_changed(2, Memory::kDevice, NDS_DMA_MEM_USAGE_SLOT_SCRATCHPAD, 1096, false);
  store_.memory_changed(2, Memory::kHost, NDS_DMA_MEM_USAGE_SLOT_MISC, 64, true);
  store_.memory_changed(2, Memory::kHost, NDS_DMA_MEM_USAGE_SLOT_COUNT, 64, true);  // no such slot
  EXPECT_EQ(core(2, 25), 3000u);
  EXPECT_EQ(device(10), 64u);
}

TEST_F(ProcessStores, ModelsComeAndGo) {
  store_.open(1, 0);
  nds_model_node_info_t info{};
  info.model_id = 10001;
  info.nc_index = 1;
  nds_model_node_mem_usage_info_t memory{};
  memory.model_mem_usage[1][0] = {.total_size = 777, .chunk_count = 2};
  EXPECT_EQ(store_.add_model(info, memory), 0);
  EXPECT_EQ(store_.add_model(info, memory), 1);
  EXPECT_EQ(core(1, 27), 2u);
  Slab slab(lender_.words.data(), kSlabBytes);
  ModelRecord record{};
  slab.read(Slab::model_offset(1), &record);
  EXPECT_EQ(record.info.model_id, 10001u);
  EXPECT_EQ(record.memory.model_mem_usage[1][0].total_size, 777u);
  store_.remove_model(0);
  store_.remove_model(-1);
  EXPECT_EQ(slab.model_map(), 2u);
}

TEST_F(ProcessStores, WithoutASlabNothingHappens) {
  const auto use = [this] {
    store_.describe({});
    store_.execution_ended(0, {});
    store_.call_failed(0, NRT_INVALID);
    store_.feature_used(BIT_INDEX_MULTICORE_FEATURE);
    store_.memory_changed(0, Memory::kDevice, 0, 1, true);
    EXPECT_LT(store_.add_model({}, {}), 0);
    store_.remove_model(0);
  };
  use();  // not open
  lender_.error = -ENOMEM;
  store_.open(1, 0);
  use();
  lender_.error = 0;
  lender_.bytes = 4096;  // too small
  store_.open(1, 0);
  use();
  store_.close();
  EXPECT_EQ(lender_.closed, 1);
  use();
  EXPECT_EQ(lender_.words, std::vector<std::uint64_t>(kSlabBytes / 8));
  share_.nds_open = nullptr;
  store_.open(1, 0);
  use();
}

TEST_F(ProcessStores, ManyThreads) {
  store_.open(1, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this] {
      for (int i = 0; i < 500; ++i) {
        store_.execution_ended(0, {});
        store_.remove_model(store_.add_model({}, {}));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(core(0, 28), 2000u);
  EXPECT_EQ(core(0, 27), 2000u);
  EXPECT_EQ(Slab(lender_.words.data(), kSlabBytes).model_map(), 0u);
}

TEST_F(ProcessStores, IsGivenBackOnce) {
  {
    ProcessStore store(&ops_, &lender_);
    store.open(1, 0);
    store.close();
    store.close();
  }
  EXPECT_EQ(lender_.opened, 1);
  EXPECT_EQ(lender_.closed, 1);
}

}  // namespace
}  // namespace opennrt::nds
