// SPDX-License-Identifier: Apache-2.0
#include "nds/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "nds/records.h"
#include "nds/slab.h"

namespace opennrt::nds {
namespace {

class Readers : public ::testing::Test {
 protected:
  void SetUp() override { slab_.commit_header(); }
  unsigned char* bytes() { return reinterpret_cast<unsigned char*>(words_.data()); }
  StoreReading read(std::size_t size = kSlabBytes) { return read_store(words_.data(), size); }
  ModelRecord model(std::uint32_t id, std::uint8_t core) {
    ModelRecord record{};
    record.info.model_id = id;
    record.info.nc_index = core;
    std::strcpy(record.info.name, "net");
    return record;
  }
  int add_model(const ModelRecord& record) {
    const int slot = slab_.take_model();
    slab_.publish(Slab::model_offset(static_cast<std::uint32_t>(slot)), record);
    return slot;
  }
  unsigned char* record_at(int slot) {
    return bytes() + Slab::model_offset(static_cast<std::uint32_t>(slot));
  }
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(kSlabBytes / 8);
  Slab slab_{words_.data(), kSlabBytes};
};

TEST_F(Readers, WhatAProcessShows) {
  store(slab_.core_counter(0, kInferences), 7);
  store(slab_.core_counter(3, kHardwareRepairableHbm), 8);
  store(slab_.core_counter(15, kMacs), 9);
  store(slab_.device_counter(kHostMemory + 4), 10);
  const Process process{.framework_type = 3,
                        .tag = std::string_view("a tag of more than thirty-one characters"),
                        .framework = {.major = 2, .minor = 9, .build = 1},
                        .fal = {},
                        .runtime = {.major = 2, .minor = 31, .build = 24}};
  slab_.publish(kProcessInfoAt, process_record(process));
  slab_.publish(kProcessInfoExtAt, extended_process_record(process));
  ModelRecord record = model(10001, 2);
  record.info.model_node_id = 1;
  record.info.sg_index = 1;
  record.info.uuid[0] = '\x91';
  record.info.uuid[15] = '\x0f';
  record.memory.model_mem_usage[0][NDS_DMA_MEM_USAGE_SLOT_MISC].total_size = 4096;
  record.memory.model_mem_usage[1][NDS_DMA_MEM_USAGE_SLOT_CODE].total_size = 8192;
  add_model(record);
  add_model(model(10002, 0));

  const StoreReading got = read();
  ASSERT_EQ(got.readable, Readable::kYes);
  EXPECT_EQ(got.version, 100000u);
  EXPECT_EQ(got.cores[0][28], 7u);
  EXPECT_EQ(got.cores[3][40], 8u);
  EXPECT_EQ(got.cores[15][29], 9u);
  EXPECT_EQ(got.device[10], 10u);
  EXPECT_EQ(got.tag, "a tag of more than thirty-one characters");
  EXPECT_EQ(got.framework_type, 3);
  EXPECT_EQ(got.runtime.build, 24u);
  EXPECT_EQ(got.framework.minor, 9);
  EXPECT_EQ(got.damaged_models, 0u);
  EXPECT_FALSE(got.damaged_process);
  ASSERT_EQ(got.models.size(), 2u);
  EXPECT_EQ(got.models[0].model_id, 10001u);
  EXPECT_EQ(got.models[0].node_id, 1u);
  EXPECT_EQ(got.models[0].subgraph, 1u);
  EXPECT_EQ(got.models[0].core, 2u);
  EXPECT_EQ(got.models[0].name, "net");
  EXPECT_EQ(got.models[0].uuid[0], 0x91);
  EXPECT_EQ(got.models[0].uuid[15], 0x0F);
  EXPECT_EQ(got.models[0].bytes[0][4], 4096u);
  EXPECT_EQ(got.models[0].bytes[1][0], 8192u);
  EXPECT_EQ(reason_of(got, kSlabBytes), "");
}

TEST_F(Readers, NothingOfAStoreThatIsCut) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, kLeastBytes - 1}) {
    const StoreReading got = read(size);
    EXPECT_EQ(got.readable, Readable::kTooSmall) << size;
    EXPECT_THAT(reason_of(got, size), ::testing::HasSubstr(std::to_string(size) + " bytes, 67200"));
  }
  EXPECT_EQ(read(kLeastBytes).readable, Readable::kYes);
  EXPECT_EQ(read_store(nullptr, 0).readable, Readable::kTooSmall);
}

TEST_F(Readers, HeadersThatAreNone) {
  words_[0] = 0;
  EXPECT_EQ(read().readable, Readable::kNotYet);
  words_[0] = 0x0001'86A1'0073'646E;
  const StoreReading newer = read();
  EXPECT_EQ(newer.readable, Readable::kOtherVersion);
  EXPECT_EQ(reason_of(newer, kSlabBytes),
            "its data store has layout version 100001, this program reads version 100000");
  words_[0] = 0x0001'86A0'0073'646F;
  EXPECT_EQ(read().readable, Readable::kNoStore);
  EXPECT_THAT(reason_of(read(), kSlabBytes), ::testing::HasSubstr("does not begin as one"));
}

TEST_F(Readers, DamagedRecordsAreLeftOutAndCounted) {
  add_model(model(1, 0));
  const int damaged = add_model(model(2, 0));
  add_model(model(3, 0));
  const int outside = add_model(model(4, 16));  // no such core
  record_at(damaged)[300] ^= 1;
  StoreReading got = read();
  ASSERT_EQ(got.models.size(), 2u);
  EXPECT_EQ(got.models[0].model_id, 1u);
  EXPECT_EQ(got.models[1].model_id, 3u);
  EXPECT_EQ(got.damaged_models, 2u);
  // The first damaged one does not keep later ones from being checked.
  record_at(outside)[20] ^= 1;
  EXPECT_EQ(read().damaged_models, 2u);
}

TEST_F(Readers, RecordsThatAreNotWrittenYetAreNotDamaged) {
  EXPECT_EQ(slab_.take_model(), 0);
  add_model(model(5, 1));
  const StoreReading got = read();
  ASSERT_EQ(got.models.size(), 1u);
  EXPECT_EQ(got.damaged_models, 0u);
  // Nobody has said who the process is.
  EXPECT_EQ(got.tag, "");
  EXPECT_EQ(got.framework_type, std::nullopt);
  EXPECT_FALSE(got.damaged_process);
}

TEST_F(Readers, ADamagedProcessRecordIsNotBelieved) {
  const Process process{.framework_type = 1, .tag = std::string_view("good")};
  slab_.publish(kProcessInfoAt, process_record(process));
  slab_.publish(kProcessInfoExtAt, extended_process_record(process));
  bytes()[kProcessInfoExtAt + 4] = 'b';
  StoreReading got = read();
  EXPECT_TRUE(got.damaged_process);
  EXPECT_EQ(got.tag, "good");  // of the short record
  bytes()[kProcessInfoAt + 5] = 'b';
  got = read();
  EXPECT_EQ(got.tag, "");
  EXPECT_EQ(got.framework_type, std::nullopt);
}

TEST_F(Readers, TextsWithoutAnEndEndWithTheirField) {
  ModelRecord record = model(1, 0);
  std::memset(record.info.name, 'n', sizeof record.info.name);
  std::memset(record.info.uuid, 'u', sizeof record.info.uuid);
  add_model(record);
  ProcessInfoExtRecord extended{};
  std::memset(extended.info.tag, 't', sizeof extended.info.tag);
  slab_.publish(kProcessInfoExtAt, extended);
  const StoreReading got = read();
  EXPECT_EQ(got.models.at(0).name, std::string(256, 'n'));
  EXPECT_EQ(got.tag, std::string(256, 't'));
}

TEST_F(Readers, AllSlotsTaken) {
  for (std::uint32_t i = 0; i < 64; ++i) add_model(model(i, static_cast<std::uint8_t>(i % 16)));
  EXPECT_EQ(read().models.size(), 64u);
  // A map of ones over nothing.
  std::memset(bytes() + kModelsAt, 0, kModels * sizeof(ModelRecord));
  EXPECT_EQ(read().models.size(), 0u);
}

TEST_F(Readers, NothingIsWritten) {
  add_model(model(1, 0));
  record_at(0)[9] ^= 1;
  const std::vector<std::uint64_t> before = words_;
  read();
  EXPECT_EQ(words_, before);
}

TEST_F(Readers, RubbishBehindAHeader) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    for (std::uint64_t& word : words_) word = random();
    words_[0] = kHeader;
    const StoreReading got = read();
    EXPECT_EQ(got.readable, Readable::kYes);
    EXPECT_TRUE(got.models.empty());  // no hash is right
    EXPECT_GT(got.damaged_models, 0u);
    EXPECT_TRUE(got.damaged_process);
  }
}

TEST(PlausibleBytes, ASumBelowZeroIsNone) {
  EXPECT_EQ(plausible_bytes(0), 0u);
  EXPECT_EQ(plausible_bytes(std::uint64_t{1} << 40), std::uint64_t{1} << 40);
  EXPECT_EQ(plausible_bytes(static_cast<std::uint64_t>(-4096)), std::nullopt);
}

// The owner goes on, and the driver clears: each reading is of a whole store or none.
TEST_F(Readers, WhileTheOwnerWritesAndEnds) {
  std::atomic<bool> done{false};
  std::thread owner([&] {
    for (int i = 0; i < 20'000; ++i) {
      add(slab_.core_counter(0, kInferences), 1);
      std::atomic_ref<std::uint64_t> header(words_[0]);
      if (i % 100 == 0) header.store(0);
      if (i % 100 == 50) slab_.commit_header();
    }
    slab_.commit_header();
    done = true;
  });
  std::uint64_t last = 0;
  while (!done) {
    const StoreReading got = read();
    if (got.readable == Readable::kNotYet) continue;
    ASSERT_EQ(got.readable, Readable::kYes);
    EXPECT_GE(got.cores[0][kInferences], last);
    last = got.cores[0][kInferences];
  }
  owner.join();
  EXPECT_EQ(read().cores[0][kInferences], 20'000u);
}

}  // namespace
}  // namespace opennrt::nds
