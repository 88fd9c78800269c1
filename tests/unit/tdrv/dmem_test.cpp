// SPDX-License-Identifier: Apache-2.0
#include "tdrv/dmem.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "fake_driver.h"

namespace opennrt::tdrv {
namespace {

class DmemTest : public ::testing::Test {
 protected:
  DmemTest()
      : pool_(std::make_shared<MemoryPool>(driver_.bindings().ndl, &driver_, 77, 0)),
        allocator_(Allocator::make(pool_, 2, 0, "test")) {}
  DmemPtr allocate(std::uint64_t bytes, Location location = Location::kDevice) {
    auto memory = allocator_->allocate(
        {.bytes = bytes, .location = location, .usage = Usage::kTensor, .hint = "m"});
    EXPECT_TRUE(memory.is_ok()) << memory.status().message();
    return memory.is_ok() ? *memory : nullptr;
  }
  test::FakeDriver driver_;
  std::shared_ptr<MemoryPool> pool_;
  std::shared_ptr<Allocator> allocator_;
};

TEST_F(DmemTest, CountersUseGrantedBytesAndReturnToZero) {
  DmemPtr a = allocate(100);
  DmemPtr b = allocate(5000);
  EXPECT_EQ(a->size(), 100u);
  EXPECT_EQ(pool_->accounting().channel_total(0), 4096u + 8192u);
  EXPECT_EQ(pool_->accounting().usage_total(2, Usage::kTensor), 12288u);
  EXPECT_EQ(allocator_->live(), 2u);
  b.reset();
  a.reset();
  EXPECT_EQ(pool_->accounting().channel_total(0), 0u);
  EXPECT_EQ(driver_.live_memory(), 0u);
  EXPECT_EQ(allocator_->live(), 0u);
}

TEST_F(DmemTest, RefusesBadRequests) {
  const auto code = [&](const MemoryRequest& r) { return allocator_->allocate(r).status().code(); };
  EXPECT_EQ(code({.bytes = 0}), NRT_INVALID);
  EXPECT_EQ(code({.bytes = 1, .alignment = 12288}), NRT_INVALID);
  EXPECT_EQ(code({.bytes = UINT64_MAX}), NRT_RESOURCE);
  for (const Usage usage : {Usage::kScratchpad, Usage::kCollectives, Usage::kScratchpadNotShared}) {
    EXPECT_EQ(code({.bytes = 1, .location = Location::kHost, .usage = usage}), NRT_INVALID);
  }
  EXPECT_EQ(driver_.calls, 0u);
}

TEST_F(DmemTest, OutOfMemoryReportsTheUse) {
  driver_.hbm_limit = 64 << 10;
  DmemPtr held = allocate(40 << 10);
  auto refused = allocator_->allocate({.bytes = 40 << 10, .usage = Usage::kWeight, .hint = "big"});
  EXPECT_EQ(refused.status().code(), NRT_RESOURCE);
  EXPECT_NE(refused.status().message().find("tensor 40 KiB"), std::string_view::npos)
      << refused.status().message();
  EXPECT_EQ(allocator_->live(), 1u);
}

TEST_F(DmemTest, EachFailingCallLeavesNothing) {
  for (std::uint64_t n = 1; n <= 2; ++n) {  // alloc, get_pa
    driver_.calls = 0;
    driver_.fail_at = n;
    EXPECT_FALSE(allocator_->allocate({.bytes = 4096}).is_ok());
    EXPECT_EQ(driver_.live_memory(), 0u) << n;
    EXPECT_EQ(pool_->accounting().channel_total(0), 0u);
  }
}

TEST_F(DmemTest, AlignmentByTheDriver) {
  auto memory = allocator_->allocate({.bytes = 4096, .alignment = 0x8000});
  ASSERT_TRUE(memory.is_ok());
  EXPECT_EQ((*memory)->address() % 0x8000, 0u);
  EXPECT_EQ((*memory)->align_offset(), 0u);
  EXPECT_EQ(driver_.alignments.back(), 0x8000u);
}

TEST_F(DmemTest, OwnAlignmentWhereTheDriverHasNone) {
  driver_.align_supported = false;
  allocate(4096);  // so that the next address is not aligned by chance
  for (int i = 0; i < 3; ++i) {
    auto memory = allocator_->allocate({.bytes = 6000, .alignment = 0x8000});
    ASSERT_TRUE(memory.is_ok());
    EXPECT_EQ((*memory)->address() % 0x8000, 0u);
    std::vector<char> in(6000, static_cast<char>(i + 1)), out(6000);
    ASSERT_TRUE((*memory)->copy_in(0, in.data(), in.size()).is_ok());
    EXPECT_EQ(std::memcmp(driver_.at((*memory)->address(), 6000), in.data(), 6000), 0);
    ASSERT_TRUE((*memory)->copy_out(0, out.data(), out.size()).is_ok());
    EXPECT_EQ(in, out);
  }
  // Asked once, remembered afterwards.
  EXPECT_EQ(std::count(driver_.alignments.begin(), driver_.alignments.end(), 0x8000u), 1);
}

// Sizes around the chunk rules: one chunk, two halves, 1 MiB steps.
class DmemCopy : public DmemTest, public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(DmemCopy, RoundTripInEveryConfiguration) {
  const std::uint64_t bytes = GetParam();
  std::vector<std::uint8_t> in(bytes), out(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) in[i] = static_cast<std::uint8_t>(i * 13 + (i >> 11));
  struct Case {
    bool buffer, copy, by_driver;
  };
  for (const Case c :
       {Case{true, true, false}, {true, false, false}, {false, true, false}, {true, true, true}}) {
    driver_.has_copy_buf = c.buffer;
    driver_.has_copy = c.copy;
    auto pool = std::make_shared<MemoryPool>(driver_.bindings().ndl, &driver_, 77, 0);
    if (c.by_driver) pool->let_driver_copy();
    auto allocator = Allocator::make(pool, 0, 0, "test");
    auto memory = allocator->allocate({.bytes = bytes + 64, .hint = "m"});
    ASSERT_TRUE(memory.is_ok());
    Status status = (*memory)->copy_in(32, in.data(), bytes);
    ASSERT_TRUE(status.is_ok()) << status.message();
    EXPECT_EQ(std::memcmp(driver_.at((*memory)->address() + 32, bytes), in.data(), bytes), 0);
    std::fill(out.begin(), out.end(), 0);
    status = (*memory)->copy_out(32, out.data(), bytes);
    ASSERT_TRUE(status.is_ok()) << status.message();
    EXPECT_EQ(in, out);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, DmemCopy,
                         ::testing::Values(1, 0x3FFF, 0x4000, 0x4001, 0x5001, 0x100000, 0x100001,
                                           0x300005));

TEST_F(DmemTest, LargeCopyByTheDriverIsOneRequest) {
  pool_->let_driver_copy();
  DmemPtr m = allocate(3 << 20);
  std::vector<char> data(3 << 20, 'x');
  const std::uint64_t before = driver_.calls;
  ASSERT_TRUE(m->copy_in(0, data.data(), data.size()).is_ok());
  ASSERT_TRUE(m->copy_out(0, data.data(), data.size()).is_ok());
  EXPECT_EQ(driver_.calls, before + 2);
  for (int failing = 1; failing <= 2; ++failing) {
    driver_.calls = 0;
    driver_.fail_at = 1;
    const Status s = failing == 1 ? m->copy_in(0, data.data(), data.size())
                                  : m->copy_out(0, data.data(), data.size());
    EXPECT_FALSE(s.is_ok());
  }
}

TEST_F(DmemTest, SmallCopyIsOneRequest) {
  DmemPtr m = allocate(4096);
  char data[100] = {};
  ASSERT_TRUE(m->copy_in(0, data, sizeof(data)).is_ok());  // asks for the buffer
  const std::uint64_t before = driver_.calls;
  ASSERT_TRUE(m->copy_in(0, data, sizeof(data)).is_ok());
  EXPECT_EQ(driver_.calls, before + 1);
}

TEST_F(DmemTest, FailedTransferInTheMiddleIsReportedAndWaitedFor) {
  DmemPtr m = allocate(5 << 20);
  std::vector<char> data(5 << 20, 'x');
  ASSERT_TRUE(m->copy_in(0, data.data(), data.size()).is_ok());
  for (std::uint64_t n = 1; n <= 5; ++n) {
    driver_.fail_at = driver_.calls + n;
    EXPECT_EQ(m->copy_in(0, data.data(), data.size()).code(), NRT_FAILURE) << n;
    driver_.fail_at = driver_.calls + n;
    EXPECT_EQ(m->copy_out(0, data.data(), data.size()).code(), NRT_FAILURE) << n;
    driver_.fail_at = 0;
    // The next copy starts a fresh chain.
    ASSERT_TRUE(m->copy_in(0, data.data(), data.size()).is_ok()) << n;
  }
}

TEST_F(DmemTest, RangesAreChecked) {
  DmemPtr m = allocate(100);
  char byte = 0;
  EXPECT_EQ(m->copy_in(100, &byte, 1).code(), NRT_INVALID);  // granted, but not asked for
  EXPECT_EQ(m->copy_out(0, &byte, 101).code(), NRT_INVALID);
  EXPECT_EQ(m->set(UINT64_MAX, 0, 2).code(), NRT_INVALID);
  EXPECT_TRUE(m->copy_in(100, &byte, 0).is_ok());
}

TEST_F(DmemTest, FillWorksWithoutTheDriversMember) {
  driver_.has_set = false;
  DmemPtr m = allocate(10'000);
  ASSERT_TRUE(m->set(1, 0xA5, 9'998).is_ok());
  const std::byte* at = driver_.at(m->address(), 10'000);
  EXPECT_EQ(at[0], std::byte{0});
  EXPECT_EQ(at[1], std::byte{0xA5});
  EXPECT_EQ(at[9'998], std::byte{0xA5});
  EXPECT_EQ(at[9'999], std::byte{0});
}

TEST_F(DmemTest, ReleaseAllTakesMemoryBackFromItsHolders) {
  DmemPtr m = allocate(4096);
  ASSERT_TRUE(m->map().is_ok());
  allocator_->release_all();
  EXPECT_EQ(driver_.live_memory(), 0u);
  EXPECT_FALSE(m->alive());
  char byte = 0;
  EXPECT_EQ(m->copy_in(0, &byte, 1).code(), NRT_CLOSED);
  EXPECT_EQ(m->map().status().code(), NRT_CLOSED);
  m.reset();  // no second free
  EXPECT_EQ(driver_.count["free"], 1u);
}

TEST_F(DmemTest, MappedOnceAndUnmappedBeforeFree) {
  DmemPtr m = allocate(4096);
  auto first = m->map();
  auto second = m->map();
  ASSERT_TRUE(first.is_ok());
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(driver_.count["map"], 1u);
  m.reset();
  EXPECT_EQ(driver_.count["unmap"], 1u);
  EXPECT_EQ(driver_.live_memory(), 0u);
}

TEST(StatusOfErrno, Table) {
  EXPECT_EQ(status_of_errno(-ENOMEM), NRT_RESOURCE);
  EXPECT_EQ(status_of_errno(-EINVAL), NRT_INVALID);
  EXPECT_EQ(status_of_errno(-EBUSY), NRT_EXEC_NC_BUSY);
  EXPECT_EQ(status_of_errno(-EIO), NRT_FAILURE);
  EXPECT_EQ(status_of_errno(0), NRT_SUCCESS);
}

}  // namespace
}  // namespace opennrt::tdrv
