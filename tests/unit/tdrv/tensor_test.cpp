// SPDX-License-Identifier: Apache-2.0
#include "tdrv/tensor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "fake_driver.h"

namespace opennrt::tdrv {
namespace {

class TensorTest : public ::testing::Test {
 protected:
  TensorTest() {
    BringUpOptions options;
    options.logical_cores = {{PhysicalCore{0, 0}}};
    auto up = Tdrv::bring_up(driver_.bindings(), options);
    EXPECT_TRUE(up.is_ok()) << up.status().message();
    tdrv_ = *std::move(up);
  }
  std::unique_ptr<Tensor> make(nrt_tensor_placement_t placement, std::uint64_t bytes) {
    auto tensor = tdrv_->allocate_tensor(placement, 0, bytes, "t");
    EXPECT_TRUE(tensor.is_ok()) << tensor.status().message();
    return tensor.is_ok() ? *std::move(tensor) : nullptr;
  }
  test::FakeDriver driver_;
  std::unique_ptr<Tdrv> tdrv_;
};

constexpr nrt_tensor_placement_t kPlacements[] = {
    NRT_TENSOR_PLACEMENT_DEVICE, NRT_TENSOR_PLACEMENT_HOST, NRT_TENSOR_PLACEMENT_VIRTUAL};

TEST_F(TensorTest, EveryPlacementKeepsBytes) {
  for (const auto placement : kPlacements) {
    auto t = make(placement, 1000);
    EXPECT_EQ(t->size(), 1000u);
    EXPECT_EQ(t->is_device(), placement == NRT_TENSOR_PLACEMENT_DEVICE);
    EXPECT_EQ(t->logical_core(), placement == NRT_TENSOR_PLACEMENT_DEVICE ? 0 : -1);
    EXPECT_EQ(t->device_address().is_ok(), t->is_device());
    const char text[] = "bytes";
    char back[6] = {};
    ASSERT_TRUE(t->write(text, 994, 6).is_ok());
    ASSERT_TRUE(t->read(back, 994, 6).is_ok());
    EXPECT_STREQ(back, text);
    ASSERT_NE(t->va(), nullptr);
    EXPECT_EQ(std::memcmp(static_cast<char*>(t->va()) + 994, text, 6), 0);
    ASSERT_TRUE(t->set(0x33, 0, 1000).is_ok());
    ASSERT_TRUE(t->read(back, 0, 1).is_ok());
    EXPECT_EQ(back[0], 0x33);
  }
}

TEST_F(TensorTest, WrongArguments) {
  const auto code = [&](nrt_tensor_placement_t p, std::uint32_t core, std::uint64_t bytes) {
    return tdrv_->allocate_tensor(p, core, bytes, "t").status().code();
  };
  EXPECT_EQ(code(NRT_TENSOR_PLACEMENT_DEVICE, 0, 0), NRT_INVALID);
  EXPECT_EQ(code(NRT_TENSOR_PLACEMENT_DEVICE, 1, 8), NRT_INVALID);
  EXPECT_EQ(code(static_cast<nrt_tensor_placement_t>(3), 0, 8), NRT_INVALID);
  EXPECT_EQ(code(NRT_TENSOR_PLACEMENT_HOST, 0, kHostTensorLimit), NRT_SUCCESS);
  EXPECT_EQ(code(NRT_TENSOR_PLACEMENT_HOST, 0, kHostTensorLimit + 1), NRT_RESOURCE);
  EXPECT_EQ(code(NRT_TENSOR_PLACEMENT_VIRTUAL, 99, 8), NRT_SUCCESS);  // needs no core
  EXPECT_EQ(code(NRT_TENSOR_PLACEMENT_VIRTUAL, 0, 1ull << 60), NRT_RESOURCE);
  for (const auto placement : kPlacements) EXPECT_EQ(code(placement, 0, SIZE_MAX), NRT_RESOURCE);
  for (const auto placement : kPlacements) {
    auto t = make(placement, 16);
    char buffer[32] = {};
    EXPECT_EQ(t->read(buffer, 0, 17).code(), NRT_INVALID);
    EXPECT_EQ(t->read(buffer, 17, 0).code(), NRT_INVALID);
    EXPECT_TRUE(t->read(buffer, 16, 0).is_ok());
    EXPECT_EQ(t->write(buffer, UINT64_MAX, 2).code(), NRT_INVALID);
    EXPECT_EQ(t->write(nullptr, 0, 1).code(), NRT_INVALID);
    EXPECT_EQ(t->read(nullptr, 0, 1).code(), NRT_INVALID);
    EXPECT_EQ(t->set(0, 1, 16).code(), NRT_INVALID);
  }
}

TEST_F(TensorTest, SlicesShareTheStorage) {
  auto parent = make(NRT_TENSOR_PLACEMENT_DEVICE, 4096);
  auto slice = parent->slice(1024, 512, "s");
  ASSERT_TRUE(slice.is_ok());
  auto inner = (*slice)->slice(256, 256, "i");
  ASSERT_TRUE(inner.is_ok());
  EXPECT_EQ(*(*inner)->device_address(), *parent->device_address() + 1280);
  EXPECT_EQ((*inner)->va(), static_cast<char*>(parent->va()) + 1280);
  EXPECT_EQ((*slice)->slice(256, 257, "x").status().code(), NRT_INVALID);
  EXPECT_EQ(parent->slice(4097, 0, "x").status().code(), NRT_INVALID);
  const std::size_t live = driver_.live_memory();
  parent.reset();
  slice->reset();
  EXPECT_EQ(driver_.live_memory(), live);  // the inner slice still holds it
  char byte = 1;
  EXPECT_TRUE((*inner)->write(&byte, 0, 1).is_ok());
  inner->reset();
  EXPECT_EQ(driver_.live_memory(), live - 1);
}

TEST_F(TensorTest, EmptyTensorNeedsABuffer) {
  auto empty = make_empty_tensor("e");
  ASSERT_TRUE(empty.is_ok());
  Tensor& t = **empty;
  char byte = 0;
  EXPECT_FALSE(t.has_storage());
  EXPECT_EQ(t.size(), 0u);
  EXPECT_EQ(t.va(), nullptr);
  EXPECT_EQ(t.read(&byte, 0, 1).code(), NRT_INVALID);
  EXPECT_EQ(t.slice(0, 0, "s").status().code(), NRT_INVALID);
  EXPECT_EQ(t.attach(nullptr, 8).code(), NRT_INVALID);
  EXPECT_EQ(t.attach(&byte, 0).code(), NRT_INVALID);
  t.begin_access(true);  // no storage: nothing to fence
  t.end_access(true);
  char buffer[8] = "hello";
  ASSERT_TRUE(t.attach(buffer, sizeof(buffer)).is_ok());
  EXPECT_EQ(t.size(), 8u);
  EXPECT_EQ(t.va(), buffer);
  EXPECT_FALSE(t.is_device());
}

TEST_F(TensorTest, AttachDropsTheOldStorage) {
  auto t = make(NRT_TENSOR_PLACEMENT_DEVICE, 4096);
  const std::size_t live = driver_.live_memory();
  char buffer[16];
  ASSERT_TRUE(t->attach(buffer, 16).is_ok());
  EXPECT_EQ(driver_.live_memory(), live - 1);
}

TEST_F(TensorTest, CopiesBetweenAllPlacements) {
  for (const auto from : kPlacements) {
    for (const auto to : kPlacements) {
      auto s = make(from, 64);
      auto t = make(to, 64);
      ASSERT_TRUE(s->set(0x11, 0, 64).is_ok());
      ASSERT_TRUE(t->set(0x22, 0, 64).is_ok());
      ASSERT_TRUE(t->copy_from(*s, 8, 16, 8).is_ok());
      char back[64];
      ASSERT_TRUE(t->read(back, 0, 64).is_ok());
      EXPECT_EQ(back[15], 0x22);
      EXPECT_EQ(back[16], 0x11);
      EXPECT_EQ(back[23], 0x11);
      EXPECT_EQ(back[24], 0x22);
      EXPECT_EQ(t->copy_from(*s, 60, 0, 5).code(), NRT_INVALID);
      EXPECT_EQ(t->copy_from(*s, 0, 60, 5).code(), NRT_INVALID);
    }
  }
}

TEST_F(TensorTest, OverlappingCopyInsideOneStorage) {
  auto t = make(NRT_TENSOR_PLACEMENT_DEVICE, 16);
  ASSERT_TRUE(t->write("0123456789abcdef", 0, 16).is_ok());
  ASSERT_TRUE(t->copy_from(*t, 0, 4, 12).is_ok());
  char back[16];
  ASSERT_TRUE(t->read(back, 0, 16).is_ok());
  EXPECT_EQ(std::string(back, 16), "01230123456789ab");
}

TEST_F(TensorTest, FencesHoldReadersAndWritersBack) {
  auto t = make(NRT_TENSOR_PLACEMENT_VIRTUAL, 16);
  char byte = 1;
  t->begin_access(false);  // a device read does not delay host reads
  ASSERT_TRUE(t->read(&byte, 0, 1).is_ok());
  std::atomic<bool> wrote{false}, read{false};
  std::thread writer([&] {
    EXPECT_TRUE(t->write(&byte, 0, 1).is_ok());
    wrote = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(wrote);
  t->end_access(false);
  writer.join();
  t->begin_access(true);
  char other = 0;
  std::thread reader([&] {
    EXPECT_TRUE(t->read(&other, 0, 1).is_ok());
    read = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(read);
  t->end_access(true);
  reader.join();
}

TEST_F(TensorTest, StorageIsGoneAfterTearDown) {
  auto t = make(NRT_TENSOR_PLACEMENT_DEVICE, 16);
  tdrv_->tear_down();
  char byte = 0;
  EXPECT_EQ(t->read(&byte, 0, 1).code(), NRT_CLOSED);
  EXPECT_EQ(t->device_address().status().code(), NRT_CLOSED);
  EXPECT_EQ(t->va(), nullptr);
  EXPECT_EQ(tdrv_->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8, "t").status().code(),
            NRT_CLOSED);
  EXPECT_EQ(driver_.live_memory(), 0u);
}

class TensorBatch : public TensorTest {
 protected:
  using Op = nrt_tensor_batch_op_t;
  // Two device tensors and a host tensor, three bytes to each.
  void SetUp() override {
    a_ = make(NRT_TENSOR_PLACEMENT_DEVICE, 64);
    auto slice = a_->slice(16, 16, "slice");
    ASSERT_TRUE(slice.is_ok());
    slice_ = *std::move(slice);
    b_ = make(NRT_TENSOR_PLACEMENT_DEVICE, 64);
    host_ = make(NRT_TENSOR_PLACEMENT_VIRTUAL, 64);
    for (Tensor* t : {a_.get(), b_.get(), host_.get()}) ASSERT_TRUE(t->set(0, 0, 64).is_ok());
    driver_.count.clear();
  }
  Status copy(CopyDirection direction, bool wait = true) {
    const TensorRanges all[] = {
        {a_.get(), ops_[0]}, {slice_.get(), ops_[1]}, {b_.get(), ops_[2]}, {host_.get(), ops_[3]}};
    return tdrv_->copy_ranges(all, direction, wait);
  }
  void expect_written() {
    char got[64];
    ASSERT_TRUE(a_->read(got, 0, 64).is_ok());
    EXPECT_EQ(std::string(got, 3), "abc");
    EXPECT_EQ(std::string(got + 16 + 5, 3), "def");
    ASSERT_TRUE(b_->read(got, 0, 64).is_ok());
    EXPECT_EQ(std::string(got + 61, 3), "ghi");
    EXPECT_EQ(got[60], 0);
    ASSERT_TRUE(host_->read(got, 0, 64).is_ok());
    EXPECT_EQ(std::string(got + 1, 3), "jkl");
  }
  std::unique_ptr<Tensor> a_, slice_, b_, host_;
  char text_[13] = "abcdefghijkl";
  std::vector<Op> ops_[4] = {{{0, 3, text_}, {9, 0, nullptr}},
                             {{5, 3, text_ + 3}},
                             {{61, 3, text_ + 6}},
                             {{1, 2, text_ + 9}, {3, 1, text_ + 11}}};
};

TEST_F(TensorBatch, OneRequestWhereTheDriverCan) {
  driver_.has_batch = true;
  ASSERT_TRUE(copy(CopyDirection::kToTensor).is_ok());
  EXPECT_EQ(driver_.count["batch"], 1u);
  EXPECT_EQ(driver_.count["copy"] + driver_.count["copy_async"] + driver_.count["in"], 0u);
  expect_written();
  std::memset(text_, 0, sizeof text_);
  ASSERT_TRUE(copy(CopyDirection::kFromTensor).is_ok());
  EXPECT_STREQ(text_, "abcdefghijkl");
}

TEST_F(TensorBatch, OneByOneWhereItCannot) {
  driver_.has_batch = false;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(copy(CopyDirection::kToTensor).is_ok());
    expect_written();
    std::memset(text_, 0, sizeof text_);
    ASSERT_TRUE(copy(CopyDirection::kFromTensor).is_ok());
    EXPECT_STREQ(text_, "abcdefghijkl");
  }
  EXPECT_EQ(driver_.count["batch"], 1u);  // refused once, remembered
}

TEST_F(TensorBatch, NothingMovesUnlessAllIsRight) {
  driver_.has_batch = true;
  for (const Op wrong :
       {Op{0, 17, text_}, Op{16, 1, text_}, Op{~0ull, 2, text_}, Op{0, 1, nullptr}}) {
    ops_[1] = {wrong};
    EXPECT_EQ(copy(CopyDirection::kToTensor).code(), NRT_INVALID);
  }
  EXPECT_EQ(driver_.count["batch"], 0u);
  char first = 1;
  ASSERT_TRUE(a_->read(&first, 0, 1).is_ok());
  EXPECT_EQ(first, 0);
  auto empty = make_empty_tensor("e");
  ASSERT_TRUE(empty.is_ok());
  const TensorRanges one{empty->get(), ops_[0]};
  EXPECT_EQ(tdrv_->copy_ranges({&one, 1}, CopyDirection::kToTensor, true).code(), NRT_INVALID);
}

TEST_F(TensorBatch, WaitsForExecutionsUnlessToldNot) {
  driver_.has_batch = true;
  b_->begin_access(false);
  // Reading beside a reader does not wait, writing without waiting neither.
  ASSERT_TRUE(copy(CopyDirection::kFromTensor).is_ok());
  std::memcpy(text_, "abcdefghijkl", 12);
  ASSERT_TRUE(copy(CopyDirection::kToTensor, false).is_ok());
  std::atomic<bool> over{false};
  std::thread writer([&] {
    EXPECT_TRUE(copy(CopyDirection::kToTensor).is_ok());
    over = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(over);
  b_->end_access(false);
  writer.join();
}

TEST_F(TensorBatch, GoneDevices) {
  tdrv_->tear_down();
  EXPECT_EQ(copy(CopyDirection::kToTensor).code(), NRT_CLOSED);
}

TEST_F(TensorTest, AllocationAndMappedMemory) {
  auto t = make(NRT_TENSOR_PLACEMENT_DEVICE, 5000);
  auto part = t->slice(100, 10, "p");
  ASSERT_TRUE(part.is_ok());
  const auto whole = t->allocation();
  const auto view = (*part)->allocation();
  ASSERT_TRUE(whole.is_ok() && view.is_ok());
  EXPECT_EQ(view->address, whole->address + 100);
  EXPECT_EQ(whole->address, *t->device_address());
  EXPECT_EQ(view->bytes, 5000u);
  EXPECT_EQ(make(NRT_TENSOR_PLACEMENT_HOST, 8)->allocation().status().code(), NRT_INVALID);
  // Known once it is mapped, from the first byte to the last.
  char* const va = static_cast<char*>(t->va());
  ASSERT_NE(va, nullptr);
  for (std::size_t at : {0u, 4999u}) {
    const auto found = tdrv_->mapped_memory(va + at);
    ASSERT_TRUE(found.has_value()) << at;
    EXPECT_EQ(found->begin, va);
    EXPECT_EQ(found->bytes, 5000u);
    EXPECT_EQ(found->device, 0u);
    EXPECT_TRUE(found->on_device);
  }
  EXPECT_FALSE(tdrv_->mapped_memory(va + 5000).has_value());
  EXPECT_FALSE(tdrv_->mapped_memory(nullptr).has_value());
  auto host = make(NRT_TENSOR_PLACEMENT_HOST, 8);
  const auto found = tdrv_->mapped_memory(host->va());
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->on_device);
  t.reset();
  part->reset();
  EXPECT_FALSE(tdrv_->mapped_memory(va).has_value());
}

}  // namespace
}  // namespace opennrt::tdrv
