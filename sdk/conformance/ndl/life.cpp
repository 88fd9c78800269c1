// SPDX-License-Identifier: Apache-2.0
//
// Reset, reservation of cores, the clock; and everything at once.
#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <vector>

#include "ndl/ndl_silicon.h"

namespace opennrt::conform {
namespace {

class NdlLife : public NdlSiliconCase {};
class NdlReservation : public NdlSiliconCase {
 protected:
  using Bitmap = std::array<std::uint64_t, 8>;
  int mark(std::uint32_t count, std::uint32_t first, std::uint32_t last, Bitmap* out) {
    return ndl().share->range_mark(ctx(), count, first, last, &longest, out->data());
  }
  static bool has(const Bitmap& bitmap, std::uint32_t core) {
    return (bitmap[core / 64] >> core % 64 & 1) != 0;
  }
  static int count(const Bitmap& bitmap) {
    int out = 0;
    for (const std::uint64_t word : bitmap) out += __builtin_popcountll(word);
    return out;
  }
  std::uint32_t longest = 77;
};
class NdlTime : public NdlCase {};
class NdlStress : public NdlSiliconCase {};

TEST_F(NdlLife, CoresBecomeReadyOnce) {
  std::uint32_t request = 0, ready = 77;
  ASSERT_EQ(ndl().life->reset(ctx(), dev(), (1u << cores()) - 1, &request), 0);
  ASSERT_EQ(ndl().life->ready(ctx(), dev(), request, &ready), 0);
  EXPECT_EQ(ready, 1u);
  // The wait consumed the request: a second one is not ready, or an error.
  if (ndl().life->ready(ctx(), dev(), request, &ready) == 0) {
    EXPECT_EQ(ready, 0u);
  }
}

TEST_F(NdlLife, UnknownRequestsAreNeverReady) {
  for (const std::uint32_t request : {0x12345678u, UINT32_MAX}) {
    std::uint32_t ready = 77;
    if (ndl().life->ready(ctx(), dev(), request, &ready) == 0) {
      EXPECT_EQ(ready, 0u) << request;
    }
  }
}

TEST_F(NdlReservation, EachCoreOnce) {
  Bitmap all{}, more{};
  ASSERT_EQ(mark(cores(), 0, cores() - 1, &all), 0);
  EXPECT_EQ(count(all), static_cast<int>(cores()));
  for (std::uint32_t core = 0; core < cores(); ++core) EXPECT_TRUE(has(all, core)) << core;
  longest = 77;
  EXPECT_EQ(mark(1, 0, cores() - 1, &more), -EBUSY);
  EXPECT_EQ(longest, 0u);
  ASSERT_EQ(ndl().share->range_unmark(ctx(), all.data()), 0);
  ASSERT_EQ(mark(1, cores() - 1, cores() - 1, &more), 0);
  EXPECT_EQ(count(more), 1);
  EXPECT_TRUE(has(more, cores() - 1));
  if (cores() > 1) {
    EXPECT_EQ(mark(cores(), 0, cores() - 1, &all), -EBUSY);
    EXPECT_EQ(longest, cores() - 1) << "the longest run that is free";
  }
  ASSERT_EQ(ndl().share->range_unmark(ctx(), more.data()), 0);
}

TEST_F(NdlReservation, OthersAreRefused) {
  Bitmap bitmap{};
  EXPECT_LT(mark(1, 5, 4, &bitmap), 0) << "a range that ends before it begins";
  EXPECT_LT(mark(1, 0, 100'000, &bitmap), 0) << "more cores than a bitmap has";
  EXPECT_LT(mark(600, 0, 511, &bitmap), 0) << "more cores than a bitmap has";
  EXPECT_EQ(count(bitmap), 0);
  ASSERT_EQ(mark(cores(), 0, cores() - 1, &bitmap), 0) << "nothing was marked";
  ASSERT_EQ(ndl().share->range_unmark(ctx(), bitmap.data()), 0);
}

TEST_F(NdlTime, NeverGoesBackAndSleepsEnd) {
  std::uint64_t last = ndl().misc->now_us(ctx());
  EXPECT_GT(last, 0u);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t now = ndl().misc->now_us(ctx());
    ASSERT_GE(now, last);
    last = now;
  }
  for (const std::uint32_t us : {0u, 1u, 49u, 50u, 1000u}) ndl().misc->sleep_us(ctx(), us);
}

TEST_F(NdlStress, ThreadsShareADevice) {
  constexpr std::uint32_t kThreads = 6, kRounds = 150;
  std::vector<std::thread> threads;
  std::vector<int> failures(kThreads);
  for (std::uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::vector<std::uint8_t> in(5000), out(in.size());
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        const std::uint32_t host = round % 2;
        // Never what an earlier round may have left there.
        std::fill(in.begin(), in.end(), static_cast<std::uint8_t>(t * kRounds + round + 1));
        std::uint64_t mem = 0;
        if (ndl().mem->alloc(ctx(), dev(), 8192, 0, host, 0, 0, t % cores(),
                             host ? NRTP_MEM_MISC_HOST : NRTP_MEM_TENSORS_DEVICE, &mem) != 0) {
          ++failures[t];
          continue;
        }
        void* va = nullptr;
        std::uint64_t pa = 0;
        failures[t] += ndl().copy->in(ctx(), mem, 7, in.data(), in.size()) != 0;
        failures[t] += ndl().mem->get_pa(ctx(), mem, &pa) != 0;
        failures[t] += ndl().mem->map(ctx(), mem, &va) != 0;
        failures[t] +=
            va == nullptr || !std::equal(in.begin(), in.end(), static_cast<std::uint8_t*>(va) + 7);
        std::fill(out.begin(), out.end(), std::uint8_t{0});
        failures[t] += ndl().copy->out(ctx(), mem, 7, out.data(), out.size()) != 0;
        failures[t] += in != out;
        failures[t] += ndl().mem->free(ctx(), mem) != 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, std::vector<int>(kThreads));
}

TEST_F(NdlStress, ThreadsOpenAndCloseTheirOwn) {
  constexpr std::uint32_t kThreads = 4, kRounds = 50;
  std::vector<std::thread> threads;
  std::vector<int> failures(kThreads);
  for (std::uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        std::uint64_t own = 0, mem = 0;
        if (ndl().device->open(ctx(), 0, &own, nullptr) != 0) {
          ++failures[t];
          continue;
        }
        failures[t] +=
            ndl().mem->alloc(ctx(), own, 4096, 0, 0, 0, 0, 0, NRTP_MEM_TENSORS_DEVICE, &mem) != 0;
        failures[t] += ndl().sync->sem_inc(ctx(), own, 0, 44, 1) != 0;
        failures[t] += ndl().device->close(ctx(), own) != 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, std::vector<int>(kThreads));
  std::uint32_t value = 0;
  ASSERT_EQ(ndl().sync->sem_read(ctx(), dev(), 0, 44, &value), 0);
  EXPECT_EQ(value, kThreads * kRounds);
}

TEST_F(NdlStress, ContextsComeAndGo) {
  const SoftwareDevice& device = software_device();
  for (int round = 0; round < 100; ++round) {
    void* other = nullptr;
    ASSERT_EQ(
        subject().ndl()->attach(TestHost::instance().table(), device.port, device.ctx, &other), 0)
        << "round " << round;
    ASSERT_EQ(ndl().probe->probe(other), 0) << "round " << round;
    std::uint64_t own = 0;
    ASSERT_EQ(ndl().device->open(other, 0, &own, nullptr), 0) << "round " << round;
    ASSERT_EQ(ndl().sync->sem_inc(other, own, 0, 45, 1), 0);
    if (round % 2 == 0) {
      ASSERT_EQ(ndl().device->close(other, own), 0);
    }
    subject().ndl()->detach(other);  // with an open device every other time
  }
  std::uint32_t value = 0;
  ASSERT_EQ(ndl().sync->sem_read(ctx(), dev(), 0, 45, &value), 0);
  EXPECT_EQ(value, 100u);
}

}  // namespace
}  // namespace opennrt::conform
