// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "fake_port.h"

namespace opennrt::ndl_test {
namespace {

constexpr uint32_t kBufCopyCode = 0xC0284E18, kZeroCopyCode = 0xC0304E7C;
constexpr uint32_t kBatchCode = 0xC0204E81, kCopyCode = 0x80284E17, kSetCode = 0x80204E1C;
constexpr uint32_t kAsyncCode = 0xC0384E6C, kWaitCode = 0x40184E6D, kProgramCode = 0xC0284E69;
constexpr uint64_t kGiB = uint64_t{1} << 30;

struct CopyTest : NdlTest {
  void SetUp() override {
    NdlTest::SetUp();
    dev = open_device();
    mem = alloc(dev, 8192);
  }
  // Collects (offset of a field, as u64) of every call.
  std::vector<uint64_t> field(uint32_t code, size_t offset) {
    std::vector<uint64_t> values;
    for (const Call& call : port.calls_of(code))
      values.push_back(get<uint64_t>(call.arg.data(), offset));
    return values;
  }
  uint64_t dev = 0, mem = 0;
  char buffer[8192] = {};
};

TEST_F(CopyTest, InAndOut) {
  EXPECT_EQ(ops->copy->in(ctx, mem, 100, buffer, 50), 0);
  EXPECT_EQ(ops->copy->out(ctx, mem, 200, buffer + 1, 60), 0);
  const auto calls = port.calls_of(kBufCopyCode);
  ASSERT_EQ(calls.size(), 2u);
  const uint8_t* in = calls[0].arg.data();
  EXPECT_EQ(get<uint64_t>(in, 0), 1u);
  EXPECT_EQ(get<const void*>(in, 8), buffer);
  EXPECT_EQ(get<uint64_t>(in, 16), 50u);
  EXPECT_EQ(get<uint64_t>(in, 24), 100u);
  EXPECT_EQ(get<uint64_t>(in, 32), 1u);  // direction and hole
  const uint8_t* out = calls[1].arg.data();
  EXPECT_EQ(get<const void*>(out, 8), buffer + 1);
  EXPECT_EQ(get<uint64_t>(out, 24), 200u);
  EXPECT_EQ(get<uint64_t>(out, 32), 0u);
}

TEST_F(CopyTest, ZeroCopy) {
  EXPECT_EQ(ops->copy->zc_in(ctx, mem, 100, buffer, 50, 5, 4096), 0);
  EXPECT_EQ(ops->copy->zc_out(ctx, mem, 200, buffer, 60, -1), 0);
  const auto calls = port.calls_of(kZeroCopyCode);
  ASSERT_EQ(calls.size(), 2u);
  const uint8_t* in = calls[0].arg.data();
  EXPECT_EQ(get<uint64_t>(in, 0), 1u);
  EXPECT_EQ(get<const void*>(in, 8), buffer);
  EXPECT_EQ(get<uint64_t>(in, 16), 50u);
  EXPECT_EQ(get<uint64_t>(in, 24), 100u);
  EXPECT_EQ(get<uint32_t>(in, 32), 1u);
  EXPECT_EQ(get<uint32_t>(in, 36), 4096u);
  EXPECT_EQ(get<int32_t>(in, 40), 5);
  const uint8_t* out = calls[1].arg.data();
  EXPECT_EQ(get<uint32_t>(out, 32), 0u);
  EXPECT_EQ(get<int32_t>(out, 40), -1);
  // Arch 2 has no zero copy; the caller falls back.
  port.fail(kZeroCopyCode, -EINVAL);
  EXPECT_EQ(ops->copy->zc_in(ctx, mem, 0, buffer, 50, -1, 0), -EINVAL);
  EXPECT_TRUE(port.calls_of(kBufCopyCode).empty());
}

TEST_F(CopyTest, RangesAreCheckedWithoutWrapping) {
  void* bad = buffer;
  for (const auto& [offset, bytes] :
       std::vector<std::pair<uint64_t, uint64_t>>{{8192, 1},
                                                  {0, 8193},
                                                  {8191, 2},
                                                  {~uint64_t{0}, 2},
                                                  {2, ~uint64_t{0}},
                                                  {~uint64_t{0}, ~uint64_t{0}}}) {
    EXPECT_EQ(ops->copy->in(ctx, mem, offset, bad, bytes), -EINVAL);
    EXPECT_EQ(ops->copy->out(ctx, mem, offset, bad, bytes), -EINVAL);
    EXPECT_EQ(ops->copy->zc_in(ctx, mem, offset, bad, bytes, -1, 0), -EINVAL);
    EXPECT_EQ(ops->copy->set(ctx, mem, offset, 0, bytes), -EINVAL);
    EXPECT_EQ(ops->copy->copy(ctx, mem, mem, offset, 0, bytes), -EINVAL);
    EXPECT_EQ(ops->copy->copy(ctx, mem, mem, 0, offset, bytes), -EINVAL);
  }
  EXPECT_EQ(ops->copy->in(ctx, mem, 0, nullptr, 1), -EINVAL);
  EXPECT_EQ(ops->copy->out(ctx, mem, 0, nullptr, 1), -EINVAL);
  EXPECT_EQ(ops->copy->program_engine(ctx, dev, 0, 0, nullptr, 0, 1), -EINVAL);
  EXPECT_EQ(ops->copy->in(ctx, mem, 8191, buffer, 1), 0);
}

// The last page of an allocation that is no multiple of it belongs to it.
TEST_F(CopyTest, TheRangeIsTheRoundedSize) {
  const uint64_t odd = alloc(dev, 100);
  EXPECT_EQ(ops->copy->in(ctx, odd, 4095, buffer, 1), 0);
  EXPECT_EQ(ops->copy->in(ctx, odd, 4096, buffer, 1), -EINVAL);
}

TEST_F(CopyTest, AScratchpadPieceMayBeOverrun) {
  uint64_t pad = 0;
  ASSERT_EQ(ops->mem->alloc_contig(ctx, dev, 4096, 0, 0, &pad), 0);
  EXPECT_EQ(ops->copy->in(ctx, pad, 4096, buffer, 100), 0);
  EXPECT_EQ(ops->copy->in(ctx, pad, ~uint64_t{0}, buffer, 100), -EINVAL);
}

TEST_F(CopyTest, NothingIsSentForNothing) {
  int32_t wait = -1;
  EXPECT_EQ(ops->copy->in(ctx, mem, 0, nullptr, 0), 0);
  EXPECT_EQ(ops->copy->out(ctx, mem, 8192, nullptr, 0), 0);
  EXPECT_EQ(ops->copy->zc_in(ctx, mem, 0, nullptr, 0, -1, 0), 0);
  EXPECT_EQ(ops->copy->copy(ctx, mem, mem, 0, 0, 0), 0);
  EXPECT_EQ(ops->copy->set(ctx, mem, 0, 1, 0), 0);
  EXPECT_EQ(ops->copy->program_engine(ctx, dev, 0, 0, nullptr, 0, 0), 0);
  // A chain needs something to wait for.
  EXPECT_EQ(ops->copy->copy_async(ctx, mem, mem, 0, 0, 0, 0, &wait), -EINVAL);
  EXPECT_EQ(wait, -1);
  EXPECT_EQ(port.calls.size(), 2u);  // DEVICE_INFO, MEM_ALLOC
}

// Drivers count the bytes of a copy in 32 bits.
TEST_F(CopyTest, HugeCopiesGoInPieces) {
  const uint64_t huge = alloc(dev, 6 * kGiB), other = alloc(dev, 6 * kGiB);
  char* base = reinterpret_cast<char*>(0x10000);
  EXPECT_EQ(ops->copy->in(ctx, huge, 8, base, 4 * kGiB + 3), 0);
  EXPECT_THAT(field(kBufCopyCode, 16), ::testing::ElementsAre(kGiB, kGiB, kGiB, kGiB, 3));
  EXPECT_THAT(field(kBufCopyCode, 24),
              ::testing::ElementsAre(8, kGiB + 8, 2 * kGiB + 8, 3 * kGiB + 8, 4 * kGiB + 8));
  EXPECT_THAT(field(kBufCopyCode, 8),
              ::testing::ElementsAre(0x10000, 0x10000 + kGiB, 0x10000 + 2 * kGiB,
                                     0x10000 + 3 * kGiB, 0x10000 + 4 * kGiB));
  EXPECT_EQ(ops->copy->copy(ctx, huge, other, 1, 2, kGiB + 1), 0);
  EXPECT_THAT(field(kCopyCode, 16), ::testing::ElementsAre(kGiB, 1));
  EXPECT_THAT(field(kCopyCode, 24), ::testing::ElementsAre(1, kGiB + 1));
  EXPECT_THAT(field(kCopyCode, 32), ::testing::ElementsAre(2, kGiB + 2));
  EXPECT_EQ(ops->copy->set(ctx, huge, 5, 0xAB, kGiB + 1), 0);
  EXPECT_THAT(field(kSetCode, 8), ::testing::ElementsAre(5, kGiB + 5));
  EXPECT_THAT(field(kSetCode, 24), ::testing::ElementsAre(kGiB, 1));
}

TEST_F(CopyTest, APieceThatFailsStopsTheCopy) {
  const uint64_t huge = alloc(dev, 6 * kGiB);
  int calls = 0;
  port.on(kBufCopyCode, 40, [&](void*) { return int64_t{++calls == 2 ? 4096 : 0}; });
  EXPECT_EQ(ops->copy->in(ctx, huge, 0, buffer, 4 * kGiB), -EFAULT);
  EXPECT_EQ(calls, 2);
}

TEST_F(CopyTest, SetSendsOneByteValue) {
  EXPECT_EQ(ops->copy->set(ctx, mem, 16, 0xAB, 32), 0);
  const auto call = port.calls_of(kSetCode).at(0);
  EXPECT_EQ(get<uint64_t>(call.arg.data(), 0), 1u);
  EXPECT_EQ(get<uint64_t>(call.arg.data(), 8), 16u);
  EXPECT_EQ(get<uint64_t>(call.arg.data(), 16), 0xABu);
  EXPECT_EQ(get<uint64_t>(call.arg.data(), 24), 32u);
}

TEST_F(CopyTest, ProgramEngineAddressesTheDevice) {
  EXPECT_EQ(ops->copy->program_engine(ctx, dev, 3, 0x2000000000, buffer, 64, 128), 0);
  const auto call = port.calls_of(kProgramCode).at(0);
  EXPECT_EQ(get<uint64_t>(call.arg.data(), 0), 3u);
  EXPECT_EQ(get<uint64_t>(call.arg.data(), 8), 0x2000000000u);
  EXPECT_EQ(get<const void*>(call.arg.data(), 16), buffer);
  EXPECT_EQ(get<uint64_t>(call.arg.data(), 24), 128u);
  EXPECT_EQ(get<uint64_t>(call.arg.data(), 32), 64u);
  port.fail(kProgramCode, -ENOMEM);
  EXPECT_EQ(ops->copy->program_engine(ctx, dev, 3, 0, buffer, 64, 128), -ENOMEM);
}

// Handles of two devices may be the same number to the driver.
TEST_F(CopyTest, CopiesStayOnOneDevice) {
  port.add_device(1);
  const uint64_t other = alloc(open_device(1));
  int32_t wait = -1;
  EXPECT_EQ(ops->copy->copy(ctx, mem, other, 0, 0, 16), -EINVAL);
  EXPECT_EQ(ops->copy->copy_async(ctx, other, mem, 0, 0, 16, 0, &wait), -EINVAL);
  const nrtp_copy_op op = {0, 16, buffer};
  const nrtp_copy_batch batch = {other, 0, &op, 1, 0};
  EXPECT_EQ(ops->copy->batch(ctx, dev, &batch, 1, 0, -1), -EINVAL);
  EXPECT_TRUE(port.calls_of(kCopyCode).empty());
}

// --- asynchronous copies

// The driver's rule: -1 starts in slot 1, 1 goes on in slot 2, 2 in slot 1.
int64_t next_slot(void* arg) {
  const auto previous = get<int32_t>(arg, 48);
  put<int32_t>(arg, 52, previous == 1 ? 2 : previous == 0 ? 0 : 1);
  return 0;
}

TEST_F(CopyTest, AChainPassesItsWaitHandleOn) {
  const uint64_t dst = alloc(dev);
  port.on(kAsyncCode, 56, next_slot);
  int32_t wait = -1;
  EXPECT_EQ(ops->copy->copy_async(ctx, mem, dst, 1, 2, 3, 0x4000, &wait), 0);
  EXPECT_EQ(wait, 1);
  EXPECT_EQ(ops->copy->copy_async(ctx, mem, dst, 0, 0, 3, 0, &wait), 0);
  EXPECT_EQ(wait, 2);
  EXPECT_EQ(ops->copy->copy_async(ctx, mem, dst, 0, 0, 3, 0, &wait), 0);
  EXPECT_EQ(wait, 1);
  EXPECT_EQ(ops->copy->copy_wait(ctx, dst, wait), 0);
  const auto call = port.calls_of(kAsyncCode).at(0);
  const uint64_t expected[] = {1, 2, 3, 1, 2, 0x4000};
  for (size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(get<uint64_t>(call.arg.data(), 8 * i), expected[i]) << i;
  EXPECT_EQ(get<int32_t>(call.arg.data(), 48), -1);
  const auto waited = port.calls_of(kWaitCode).at(0);
  EXPECT_EQ(get<uint64_t>(waited.arg.data(), 0), 2u);
  EXPECT_EQ(get<uint64_t>(waited.arg.data(), 8), 2u);
  EXPECT_EQ(get<int32_t>(waited.arg.data(), 16), 1);
}

TEST_F(CopyTest, ACopyLargerThanASlotContinuesItsChain) {
  const uint64_t src = alloc(dev, kGiB), dst = alloc(dev, kGiB);
  port.on(kAsyncCode, 56, next_slot);
  int32_t wait = -1;
  constexpr uint64_t kSlot = 133169152;
  EXPECT_EQ(ops->copy->copy_async(ctx, src, dst, 0, 64, 2 * kSlot + 5, 0x4000, &wait), 0);
  EXPECT_EQ(wait, 1);
  EXPECT_THAT(field(kAsyncCode, 16), ::testing::ElementsAre(kSlot, kSlot, 5));
  EXPECT_THAT(field(kAsyncCode, 24), ::testing::ElementsAre(0, kSlot, 2 * kSlot));
  EXPECT_THAT(field(kAsyncCode, 32), ::testing::ElementsAre(64, kSlot + 64, 2 * kSlot + 64));
  EXPECT_THAT(field(kAsyncCode, 40),
              ::testing::ElementsAre(0x4000, 0x4000 + kSlot, 0x4000 + 2 * kSlot));
  std::vector<int32_t> waits;
  for (const Call& call : port.calls_of(kAsyncCode))
    waits.push_back(get<int32_t>(call.arg.data(), 48));
  EXPECT_THAT(waits, ::testing::ElementsAre(-1, 1, 2));
}

TEST_F(CopyTest, AChainThatBreaksCanStillBeWaitedFor) {
  const uint64_t src = alloc(dev, kGiB), dst = alloc(dev, kGiB);
  int calls = 0;
  port.on(kAsyncCode, 56,
          [&](void* arg) { return ++calls == 2 ? int64_t{-EINVAL} : next_slot(arg); });
  int32_t wait = -1;
  EXPECT_EQ(ops->copy->copy_async(ctx, src, dst, 0, 0, kGiB, 0, &wait), -EINVAL);
  EXPECT_EQ(wait, 1) << "the first piece is in flight";
}

TEST_F(CopyTest, WaitHandlesThatCannotBe) {
  for (int32_t bad : {-2, 3, 99}) {
    EXPECT_EQ(ops->copy->copy_async(ctx, mem, mem, 0, 0, 16, 0, &bad), -EINVAL);
    EXPECT_EQ(ops->copy->copy_wait(ctx, mem, bad), -EINVAL);
  }
  EXPECT_EQ(ops->copy->copy_wait(ctx, mem, 0), -EINVAL);
  EXPECT_EQ(ops->copy->copy_wait(ctx, mem, -1), -EINVAL);
  EXPECT_EQ(ops->copy->copy_async(ctx, mem, mem, 0, 0, 16, 0, nullptr), -EINVAL);
  EXPECT_TRUE(port.calls_of(kAsyncCode).empty());
  EXPECT_TRUE(port.calls_of(kWaitCode).empty());
  port.fail(kWaitCode, -EINVAL);  // an idle slot
  EXPECT_EQ(ops->copy->copy_wait(ctx, mem, 1), -EINVAL);
}

// --- batches

TEST_F(CopyTest, ABatchNamesDriverHandles) {
  const uint64_t second = alloc(dev);
  const nrtp_copy_op ops_a[] = {{0, 16, buffer}, {32, 8, buffer + 16}};
  const nrtp_copy_op ops_b[] = {{4, 4, buffer + 64}};
  const nrtp_copy_batch batches[] = {{mem, 64, ops_a, 2, 4096}, {second, 0, ops_b, 1, 100000}};
  port.on(kBatchCode, 32, [&](void* arg) {
    EXPECT_EQ(get<uint64_t>(arg, 0), 0u);
    EXPECT_EQ(get<uint32_t>(arg, 16), 2u);
    EXPECT_EQ(get<uint16_t>(arg, 20), 1u);
    EXPECT_EQ(get<int32_t>(arg, 24), -1);
    const auto* list = get<const uint8_t*>(arg, 8);
    EXPECT_EQ(get<uint64_t>(list, 0), 1u);
    EXPECT_EQ(get<uint64_t>(list, 8), 64u);
    EXPECT_EQ(get<const void*>(list, 16), ops_a);
    EXPECT_EQ(get<uint32_t>(list, 24), 2u);
    EXPECT_EQ(get<uint16_t>(list, 28), 4096u);
    EXPECT_EQ(get<uint64_t>(list, 40), 2u);
    EXPECT_EQ(get<uint16_t>(list, 40 + 28), 65535u) << "16 bits to the driver";
    return int64_t{0};
  });
  EXPECT_EQ(ops->copy->batch(ctx, dev, batches, 2, 0, -1), 0);
  EXPECT_EQ(port.calls_of(kBatchCode).size(), 1u);
}

TEST_F(CopyTest, ALongBatchFromTheDevice) {
  const nrtp_copy_op op = {0, 16, buffer};
  const std::vector<nrtp_copy_batch> batches(40, nrtp_copy_batch{mem, 0, &op, 1, 0});
  port.on(kBatchCode, 32, [&](void* arg) {
    EXPECT_EQ(get<uint16_t>(arg, 20), 0u);
    EXPECT_EQ(get<int32_t>(arg, 24), 3);
    const auto* list = get<const uint8_t*>(arg, 8);
    EXPECT_EQ(get<uint64_t>(list, 39 * 40), 1u);
    return int64_t{0};
  });
  EXPECT_EQ(ops->copy->batch(ctx, dev, batches.data(), 40, 1, 3), 0);
}

TEST_F(CopyTest, BatchesThatCannotBe) {
  const nrtp_copy_op good = {0, 16, buffer};
  const nrtp_copy_op bad_ops[] = {{8192, 1, buffer},
                                  {~uint64_t{0}, 16, buffer},
                                  {0, 0, buffer},
                                  {0, 16, nullptr},
                                  {8000, 193, buffer}};
  for (const nrtp_copy_op& op : bad_ops) {
    const nrtp_copy_batch batch = {mem, 0, &op, 1, 0};
    EXPECT_EQ(ops->copy->batch(ctx, dev, &batch, 1, 0, -1), -EINVAL);
  }
  const nrtp_copy_batch bad[] = {{0, 0, &good, 1, 0},
                                 {mem, 0, nullptr, 1, 0},
                                 {mem, 0, &good, 0, 0},
                                 {mem, 8190, &good, 1, 0}};
  for (const nrtp_copy_batch& batch : bad)
    EXPECT_EQ(ops->copy->batch(ctx, dev, &batch, 1, 0, -1), -EINVAL);
  const nrtp_copy_batch batch = {mem, 0, &good, 1, 0};
  EXPECT_EQ(ops->copy->batch(ctx, dev, nullptr, 1, 0, -1), -EINVAL);
  EXPECT_EQ(ops->copy->batch(ctx, dev, &batch, 0, 0, -1), -EINVAL);
  EXPECT_EQ(ops->copy->batch(ctx, dev, &batch, 1, 2, -1), -EINVAL);
  EXPECT_EQ(ops->copy->batch(ctx, 0, &batch, 1, 0, -1), -EINVAL);
  EXPECT_TRUE(port.calls_of(kBatchCode).empty());
  port.fail(kBatchCode, -EINVAL);
  EXPECT_EQ(ops->copy->batch(ctx, dev, &batch, 1, 0, -1), -EINVAL);
  EXPECT_TRUE(port.calls_of(kBufCopyCode).empty()) << "falling back is the caller's";
}

}  // namespace
}  // namespace opennrt::ndl_test
