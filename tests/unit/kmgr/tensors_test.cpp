// SPDX-License-Identifier: Apache-2.0
#include "kmgr/tensors.h"

#include <gtest/gtest.h>

#include "fake_tdrv.h"

namespace opennrt::kmgr {
namespace {

class TensorsTest : public ::testing::Test {
 protected:
  TensorHandle make(std::uint64_t bytes) {
    auto h = tensors_.add(std::make_unique<FakeTensor>("t", bytes, true, 0));
    EXPECT_TRUE(h.is_ok());
    return *h;
  }
  Tensors tensors_;
};

TEST_F(TensorsTest, StaleHandlesAreInvalidEverywhere) {
  const TensorHandle t = make(16), dead = make(16);
  tensors_.free(dead);
  char buffer[16] = {};
  EXPECT_EQ(tensors_.read(dead, buffer, 0, 1).code(), NRT_INVALID);
  EXPECT_EQ(tensors_.write(dead, buffer, 0, 1).code(), NRT_INVALID);
  EXPECT_EQ(tensors_.set(dead, 1, 0, 1).code(), NRT_INVALID);
  EXPECT_EQ(tensors_.copy(dead, 0, t, 0, 1).code(), NRT_INVALID);
  EXPECT_EQ(tensors_.copy(t, 0, dead, 0, 1).code(), NRT_INVALID);
  EXPECT_EQ(tensors_.attach(dead, buffer, 1).code(), NRT_INVALID);
  EXPECT_EQ(tensors_.slice(dead, 0, 1, "s").status().code(), NRT_INVALID);
  EXPECT_EQ(tensors_.size(dead), 0u);
  EXPECT_EQ(tensors_.va(dead), nullptr);
  tensors_.free(dead);
  EXPECT_EQ(tensors_.size(t), 16u);
}

TEST_F(TensorsTest, SliceRangesAreThoseOfTheSourceView) {
  const TensorHandle t = make(100);
  auto s = tensors_.slice(t, 10, 50, "s");
  ASSERT_TRUE(s.is_ok());
  EXPECT_EQ(tensors_.size(*s), 50u);
  EXPECT_EQ(static_cast<char*>(tensors_.va(*s)) - static_cast<char*>(tensors_.va(t)), 10);
  EXPECT_TRUE(tensors_.slice(*s, 0, 50, "x").is_ok());
  for (auto [offset, bytes] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 51}, {50, 1}, {51, 0}, {1, 50}, {0, 0}, {~0ull, 2}, {1, ~0ull}})
    EXPECT_EQ(tensors_.slice(*s, offset, bytes, "x").status().code(), NRT_INVALID)
        << offset << " " << bytes;
}

TEST_F(TensorsTest, EmptyTensorGetsStorageByAttach) {
  auto e = tensors_.allocate_empty("e");
  ASSERT_TRUE(e.is_ok());
  EXPECT_EQ(tensors_.size(*e), 0u);
  EXPECT_EQ(tensors_.va(*e), nullptr);
  EXPECT_EQ(tensors_.slice(*e, 0, 1, "s").status().code(), NRT_INVALID);
  char buffer[8];
  ASSERT_TRUE(tensors_.attach(*e, buffer, 8).is_ok());
  EXPECT_EQ(tensors_.va(*e), buffer);
  EXPECT_EQ(tensors_.size(*e), 8u);
}

TEST_F(TensorsTest, SetsInsertReplaceAndLookUp) {
  const TensorHandle a = make(1), b = make(2);
  auto set = tensors_.allocate_set();
  ASSERT_TRUE(set.is_ok());
  ASSERT_TRUE(tensors_.add_to_set(*set, "z", a).is_ok());
  ASSERT_TRUE(tensors_.add_to_set(*set, "a", a).is_ok());
  ASSERT_TRUE(tensors_.add_to_set(*set, "\xff", b).is_ok());
  ASSERT_TRUE(tensors_.add_to_set(*set, "z", b).is_ok());
  EXPECT_EQ(*tensors_.get_from_set(*set, "z"), b);
  EXPECT_EQ(*tensors_.get_from_set(*set, "a"), a);
  EXPECT_EQ(tensors_.get_from_set(*set, "y").status().code(), NRT_FAILURE);
  const auto& entries = tensors_.find_set(*set)->entries();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].name, "a");  // byte order
  EXPECT_EQ(entries[1].name, "z");
  EXPECT_EQ(entries[2].name, "\xff");
  EXPECT_EQ(tensors_.add_to_set(*set, "x", 12345).code(), NRT_INVALID);
  EXPECT_EQ(tensors_.add_to_set(a, "x", a).code(), NRT_INVALID);  // a tensor is no set
  tensors_.free_set(*set);
  EXPECT_EQ(tensors_.add_to_set(*set, "x", a).code(), NRT_INVALID);
  EXPECT_EQ(tensors_.get_from_set(*set, "z").status().code(), NRT_INVALID);
  tensors_.free_set(*set);
}

TEST_F(TensorsTest, ClearInvalidatesAll) {
  const TensorHandle a = make(1);
  auto set = tensors_.allocate_set();
  tensors_.clear();
  EXPECT_FALSE(tensors_.pin(a));
  EXPECT_EQ(tensors_.find_set(*set), nullptr);
}

}  // namespace
}  // namespace opennrt::kmgr
