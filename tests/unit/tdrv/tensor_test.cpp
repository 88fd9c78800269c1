// SPDX-License-Identifier: Apache-2.0
#include "tdrv/tensor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
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

}  // namespace
}  // namespace opennrt::tdrv
