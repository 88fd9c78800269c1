// SPDX-License-Identifier: Apache-2.0
#include "nds/slab.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

namespace opennrt::nds {
namespace {

class Slabs : public ::testing::Test {
 protected:
  std::size_t offset(const std::uint64_t* counter) const {
    return static_cast<std::size_t>(reinterpret_cast<const unsigned char*>(counter) -
                                    reinterpret_cast<const unsigned char*>(words_.data()));
  }
  unsigned char* bytes() { return reinterpret_cast<unsigned char*>(words_.data()); }
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(kSlabBytes / 8);
  Slab slab_{words_.data(), kSlabBytes};
};

TEST_F(Slabs, CountersLieWhereReadersLook) {
  for (std::uint32_t i = 0; i <= 30; ++i) EXPECT_EQ(offset(slab_.device_counter(i)), 8u + 8u * i);
  for (std::uint32_t c = 0; c <= 3; ++c) {
    for (std::uint32_t k = 0; k <= 30; ++k)
      EXPECT_EQ(offset(slab_.core_counter(c, k)), 0x100u + 248u * c + 8u * k);
    for (std::uint32_t k = 31; k <= 94; ++k)
      EXPECT_EQ(offset(slab_.core_counter(c, k)), 0xDA80u + 512u * c + 8u * (k - 31));
  }
  for (std::uint32_t c = 4; c <= 15; ++c)
    for (std::uint32_t k = 0; k <= 94; ++k)
      EXPECT_EQ(offset(slab_.core_counter(c, k)), 0xE280u + 768u * (c - 4) + 8u * k);
}

TEST_F(Slabs, WhatThereIsNot) {
  EXPECT_EQ(slab_.device_counter(31), nullptr);
  EXPECT_EQ(slab_.core_counter(0, 95), nullptr);
  EXPECT_EQ(slab_.core_counter(16, 0), nullptr);
  EXPECT_EQ(slab_.core_counter(-1, 0), nullptr);
  EXPECT_EQ(slab_.core_counter(4, 95), nullptr);
  std::uint64_t value = 5;
  for (const int error :
       {add(nullptr, 1), subtract(nullptr, 1), set_bit(nullptr, 0), store(nullptr, 1),
        load(nullptr, &value), load(&value, nullptr), set_bit(&value, 64)})
    EXPECT_EQ(error, -EINVAL);
  EXPECT_EQ(value, 5u);
}

TEST_F(Slabs, TooSmallIsNone) {
  const Slab small(words_.data(), 0x10680 - 1);
  EXPECT_FALSE(small);
  EXPECT_EQ(small.core_counter(0, 0), nullptr);
  EXPECT_EQ(small.device_counter(0), nullptr);
  EXPECT_EQ(small.check_header(), -EINVAL);
  EXPECT_EQ(Slab(small).take_model(), -EINVAL);
  EXPECT_EQ(small.model_map(), 0u);
  ModelRecord record{};
  record.info.model_id = 7;
  small.read(Slab::model_offset(0), &record);
  EXPECT_EQ(record.info.model_id, 0u);
  EXPECT_TRUE(Slab(words_.data(), 0x10680));
}

TEST_F(Slabs, HeaderIsTheLettersAndTheVersion) {
  EXPECT_EQ(slab_.check_header(), -EINVAL);
  slab_.commit_header();
  EXPECT_EQ(std::memcmp(bytes(), "nds\0\xA0\x86\x01\0", 8), 0);
  EXPECT_EQ(slab_.check_header(), 0);
}

TEST_F(Slabs, CountersAreExactUnderThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this] {
      for (int i = 0; i < 20'000; ++i) {
        add(slab_.core_counter(5, 28), 3);
        subtract(slab_.core_counter(5, 28), 1);
        set_bit(slab_.device_counter(3), static_cast<std::uint64_t>(i % 64));
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::uint64_t value = 0;
  EXPECT_EQ(load(slab_.core_counter(5, 28), &value), 0);
  EXPECT_EQ(value, 4u * 20'000 * 2);
  EXPECT_EQ(load(slab_.device_counter(3), &value), 0);
  EXPECT_EQ(value, UINT64_MAX);
}

// Published test vectors of FNV-1a, 32 bits.
TEST(Hash, IsFnv1a) {
  EXPECT_EQ(hash_of("", 0), 0x811c9dc5u);
  EXPECT_EQ(hash_of("a", 1), 0xe40c292cu);
  EXPECT_EQ(hash_of("foobar", 6), 0xbf9cf968u);
}

TEST_F(Slabs, RecordsCarryTheHashOfThemselves) {
  ProcessInfoRecord in{}, out{};
  in.info.framework_type = 3;
  std::strcpy(in.info.tag, "job 7");
  in.info.runtime_version = {.major = 2, .minor = 31, .build = 24};
  slab_.publish(kProcessInfoAt, in);
  unsigned char image[64];
  std::memcpy(image, bytes() + 0x4E0, sizeof image);
  std::uint32_t stored = 0;
  std::memcpy(&stored, image, 4);
  std::memset(image, 0, 4);
  EXPECT_EQ(stored, hash_of(image, sizeof image));
  EXPECT_EQ(image[4], 3);
  EXPECT_STREQ(reinterpret_cast<char*>(image) + 5, "job 7");
  EXPECT_EQ(image[56], 2);
  EXPECT_EQ(image[57], 31);
  EXPECT_EQ(image[60], 24);
  slab_.read(kProcessInfoAt, &out);
  EXPECT_EQ(out.info.runtime_version.build, 24u);
}

TEST_F(Slabs, ATornRecordIsSeenAsItIsAfterASecondLook) {
  ProcessInfoExtRecord in{}, out{};
  std::strcpy(in.info.tag, "whole");
  slab_.publish(kProcessInfoExtAt, in);
  std::memcpy(bytes() + 0xAD28 + 4, "torn!", 5);
  slab_.read(kProcessInfoExtAt, &out);
  EXPECT_STREQ(out.info.tag, "torn!");
  EXPECT_NE(out.hash, 0u);
}

TEST_F(Slabs, ModelSlotsAreTakenFromTheFirstFreeOne) {
  for (int i = 0; i < 64; ++i) EXPECT_EQ(slab_.take_model(), i);
  EXPECT_EQ(slab_.take_model(), -ENOSPC);
  ModelRecord record{};
  record.info.model_id = 0xA5A5A5A5;
  slab_.publish(Slab::model_offset(17), record);
  std::uint32_t id = 0;
  std::memcpy(&id, bytes() + 0x528 + 17 * 672 + 4, 4);
  EXPECT_EQ(id, 0xA5A5A5A5u);
  slab_.drop_model(17);
  slab_.drop_model(3);
  slab_.drop_model(64);  // none
  EXPECT_EQ(slab_.model_map(), ~(std::uint64_t{1} << 17 | std::uint64_t{1} << 3));
  for (std::size_t i = 0; i < 672; ++i) ASSERT_EQ(bytes()[0x528 + 17 * 672 + i], 0) << i;
  EXPECT_EQ(slab_.take_model(), 3);
  EXPECT_EQ(slab_.take_model(), 17);
}

}  // namespace
}  // namespace opennrt::nds
