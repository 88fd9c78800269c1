// SPDX-License-Identifier: Apache-2.0
#include "tdrv/exec_queue.h"

#include <gtest/gtest.h>

#include <vector>

#include "fake_driver.h"

namespace opennrt::tdrv {
namespace {

TEST(EncodeRequest, FlatFromForm230) {
  RequestFields f;
  f.model_switch = true;
  f.reload_sequencer = true;
  for (std::uint64_t e = 0; e < 5; ++e) f.engine_address[e] = 0x100000000ull * (e + 1) + 0x10 * e;
  const RequestWords w = encode_request(NRTP_FORM_2_30, f);
  EXPECT_EQ(w, (RequestWords{1, 0, 0x10, 0x20, 0x30, 0x40, 1, 2, 3, 4, 5, 1, 0}));
}

TEST(EncodeRequest, InterleavedBefore) {
  RequestFields f;
  f.reload_sequencer = f.load_tables = true;  // words that these forms do not have
  for (std::uint64_t e = 0; e < 5; ++e) f.engine_address[e] = 0x100000000ull * (e + 1) + 0x10 * e;
  for (const std::uint32_t form : {NRTP_FORM_2_25, NRTP_FORM_2_27}) {
    EXPECT_EQ(encode_request(form, f),
              (RequestWords{0, 0, 1, 0x10, 2, 0x20, 3, 0x30, 4, 0x40, 5, 0, 0}));
  }
}

class ExecQueueTest : public ::testing::Test {
 protected:
  ExecQueueTest()
      : pool_(std::make_shared<MemoryPool>(driver_.bindings().ndl, &driver_, 77, 0)),
        allocator_(Allocator::make(pool_, 0, 0, "test")) {}
  Status create(std::uint32_t depth, std::uint32_t descriptors = 0) {
    return queue_.create({.allocator = allocator_,
                          .arch = &driver_.arch(),
                          .product = &driver_.product(),
                          .core = 0,
                          .depth = depth,
                          .descriptors = descriptors});
  }
  test::FakeDriver driver_;
  std::shared_ptr<MemoryPool> pool_;
  std::shared_ptr<Allocator> allocator_;
  ExecQueue queue_;
};

TEST_F(ExecQueueTest, OneRequestIsStagingCopyLoadEventTransfersAndSwitchEvent) {
  ASSERT_TRUE(create(4).is_ok());
  const Transfer io[] = {{0x1000, 0x2000, 8}, {0x3000, 0x4000, 4}};
  RequestWords request{};
  request[1] = 0xABCD;
  std::uint32_t used = 0;
  ASSERT_TRUE(queue_.stage(request, io, used).is_ok());
  EXPECT_EQ(used, 5u);
  driver_.run_request();
  EXPECT_EQ(driver_.ring_error, "");
  ASSERT_EQ(driver_.packets.size(), 5u);
  const auto& arch = driver_.arch();
  const std::uint64_t one = arch.dma->event_const_addr[1];
  const auto event = [&](std::uint32_t entry) {
    return arch.address->event_addr(&driver_.product(), 0, arch.sync->id[entry]);
  };
  EXPECT_EQ(driver_.packets[0].bytes, 52u);
  EXPECT_EQ(driver_.packets[0].dst, queue_.request_pa());
  EXPECT_EQ(driver_.packets[1].src, one);
  EXPECT_EQ(driver_.packets[1].dst, event(NRTP_SYNC_REQUEST_LOAD));
  EXPECT_EQ(driver_.packets[1].bytes, 4u);
  EXPECT_EQ(driver_.packets[2].src, 0x1000u);
  EXPECT_EQ(driver_.packets[3].dst, 0x4000u);
  EXPECT_EQ(driver_.packets[4].src, one);
  EXPECT_EQ(driver_.packets[4].dst, event(NRTP_SYNC_IOQ_CODE_SWITCH));
  ASSERT_EQ(driver_.requests.size(), 1u);
  EXPECT_EQ(driver_.requests[0][1], 0xABCDu);
}

TEST_F(ExecQueueTest, RingIdsOverManyLaps) {
  ASSERT_TRUE(create(2, 64).is_ok());
  const Transfer io[] = {{1, 2, 8}, {3, 4, 4}, {5, 6, 8}, {7, 8, 4}};  // 7 per request: no divisor
  for (std::uint32_t i = 0; i < 1000; ++i) {
    RequestWords request{};
    request[1] = i;
    std::uint32_t used = 0;
    ASSERT_TRUE(queue_.stage(request, io, used).is_ok()) << i;
    driver_.run_request();
    ASSERT_EQ(driver_.ring_error, "") << i;
    ASSERT_EQ(driver_.requests.back()[1], i);
    queue_.retire(used);
  }
  // 7000 descriptors: 109 laps and 24 entries.
  EXPECT_EQ(queue_.next(), 7000u % 64);
  EXPECT_EQ(queue_.ring_id(), (1 + 7000 / 64) % 4u);
}

TEST_F(ExecQueueTest, FullAtDepthAndUsableAfterACompletion) {
  ASSERT_TRUE(create(3).is_ok());
  std::uint32_t used = 0;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue_.stage({}, {}, used).is_ok());
  EXPECT_EQ(queue_.stage({}, {}, used).code(), NRT_QUEUE_FULL);
  queue_.retire(used);
  EXPECT_TRUE(queue_.stage({}, {}, used).is_ok());
}

TEST_F(ExecQueueTest, InFlightRequestsKeepTheirOwnStaging) {
  ASSERT_TRUE(create(3).is_ok());
  std::uint32_t used = 0;
  for (std::uint32_t i = 1; i <= 3; ++i) {
    RequestWords request{};
    request[2] = i;
    ASSERT_TRUE(queue_.stage(request, {}, used).is_ok());
  }
  for (std::uint32_t i = 1; i <= 3; ++i) {
    driver_.run_request();
    EXPECT_EQ(driver_.requests.back()[2], i);
  }
}

TEST_F(ExecQueueTest, RefusesMoreThanTheRingHolds) {
  ASSERT_TRUE(create(8, 64).is_ok());
  const std::vector<Transfer> io(46, Transfer{1, 2, 4});
  std::uint32_t used = 0;
  EXPECT_EQ(queue_.stage({}, io, used).code(), NRT_QUEUE_FULL);  // 49 + gap of 16 > 64
  EXPECT_TRUE(queue_.stage({}, std::span(io).first(45), used).is_ok());
  EXPECT_EQ(queue_.stage({}, {}, used).code(), NRT_QUEUE_FULL);
  queue_.retire(48);
  EXPECT_TRUE(queue_.stage({}, {}, used).is_ok());
}

TEST_F(ExecQueueTest, StagingMakesNoDriverCall) {
  ASSERT_TRUE(create(8).is_ok());
  const std::uint64_t calls = driver_.calls;
  std::uint32_t used = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(queue_.stage({}, {}, used).is_ok());
    queue_.retire(used);
  }
  EXPECT_EQ(driver_.calls, calls);
}

}  // namespace
}  // namespace opennrt::tdrv
