// SPDX-License-Identifier: Apache-2.0
//
// Semaphores, events and registers, over every core of the device.
#include <cerrno>
#include <thread>
#include <vector>

#include "ndl/ndl_silicon.h"

namespace opennrt::conform {
namespace {

class NdlSemaphores : public NdlSiliconCase {};
class NdlEvents : public NdlSiliconCase {};
class NdlRegisters : public NdlSiliconCase {
 protected:
  // BAR 0 offset of a device address; 0 when no register window has it.
  std::uint64_t bar0_of(std::uint64_t device) const {
    std::uint32_t n = 0;
    const nrtp_csr_region* regions = arch().address->csr_regions(product(), &n);
    for (std::uint32_t i = 0; i < n; ++i)
      if (device >= regions[i].device && device - regions[i].device < regions[i].bytes)
        return regions[i].bar0 + (device - regions[i].device);
    return 0;
  }
  std::uint64_t semaphore(std::uint32_t index, std::uint32_t op) const {
    return bar0_of(arch().address->sem_addr(product(), 0, index, op));
  }
};

TEST_F(NdlSemaphores, EachIsItsOwn) {
  const nrtp_ndl_sync& sync = *ndl().sync;
  const auto value_of = [](std::uint32_t core, std::uint32_t i) { return 1000 * (core + 1) + i; };
  for (std::uint32_t core = 0; core < cores(); ++core)
    for (std::uint32_t i = 0; i < geometry().semaphores; ++i)
      ASSERT_EQ(sync.sem_write(ctx(), dev(), core, i, value_of(core, i)), 0) << core << "/" << i;
  for (std::uint32_t core = 0; core < cores(); ++core)
    for (std::uint32_t i = 0; i < geometry().semaphores; ++i) {
      std::uint32_t value = 0;
      ASSERT_EQ(sync.sem_read(ctx(), dev(), core, i, &value), 0);
      ASSERT_EQ(value, value_of(core, i)) << core << "/" << i;
      ASSERT_EQ(sync.sem_write(ctx(), dev(), core, i, 0), 0);
    }
}

TEST_F(NdlSemaphores, OthersAreRefused) {
  const nrtp_ndl_sync& sync = *ndl().sync;
  for (std::uint32_t i = 0; i < geometry().semaphores; ++i)
    ASSERT_EQ(sync.sem_write(ctx(), dev(), 0, i, 0), 0);
  const auto expect_refused = [&](std::uint32_t core, std::uint32_t index) {
    std::uint32_t value = 77;
    EXPECT_LT(sync.sem_inc(ctx(), dev(), core, index, 1), 0) << core << "/" << index;
    EXPECT_LT(sync.sem_dec(ctx(), dev(), core, index, 1), 0) << core << "/" << index;
    EXPECT_LT(sync.sem_write(ctx(), dev(), core, index, 1), 0) << core << "/" << index;
    EXPECT_LT(sync.sem_read(ctx(), dev(), core, index, &value), 0) << core << "/" << index;
    EXPECT_EQ(value, 77u) << core << "/" << index;
  };
  // Records have 8 bits for them.
  for (const std::uint32_t index : {256u, 0x10000u, UINT32_MAX}) expect_refused(0, index);
  for (const std::uint32_t core : {cores(), cores() + 100, UINT32_MAX}) expect_refused(core, 0);
  for (std::uint32_t i = 0; i < geometry().semaphores; ++i) {
    std::uint32_t value = 77;
    ASSERT_EQ(sync.sem_read(ctx(), dev(), 0, i, &value), 0);
    ASSERT_EQ(value, 0u) << "semaphore " << i << " changed";
  }
}

TEST_F(NdlSemaphores, ThreadsLoseNoIncrement) {
  constexpr std::uint32_t kThreads = 4, kRounds = 1000;
  std::vector<std::thread> threads;
  std::vector<int> failures(kThreads);
  for (std::uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < kRounds; ++i) {
        failures[t] += ndl().sync->sem_inc(ctx(), dev(), 0, 33, 2) != 0;
        failures[t] += ndl().sync->sem_dec(ctx(), dev(), 0, 33, 1) != 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, std::vector<int>(kThreads));
  std::uint32_t value = 0;
  ASSERT_EQ(ndl().sync->sem_read(ctx(), dev(), 0, 33, &value), 0);
  EXPECT_EQ(value, kThreads * kRounds);
}

TEST_F(NdlEvents, EachIsSetAndClearedAlone) {
  const nrtp_ndl_sync& sync = *ndl().sync;
  const auto expect_all = [&](std::uint32_t core, std::uint32_t set) {
    for (std::uint32_t i = 0; i < geometry().events; ++i) {
      std::uint32_t value = 77;
      ASSERT_EQ(sync.event_get(ctx(), dev(), core, i, &value), 0);
      ASSERT_EQ(value, i == set ? 1u : 0u) << core << "/" << i;
    }
  };
  for (std::uint32_t core = 0; core < cores(); ++core) {
    for (std::uint32_t i = 0; i < geometry().events; ++i)
      ASSERT_EQ(sync.event_set(ctx(), dev(), core, i, 0), 0);
    for (const std::uint32_t i : {0u, 1u, geometry().events / 2, geometry().events - 1}) {
      ASSERT_EQ(sync.event_set(ctx(), dev(), core, i, 1), 0);
      expect_all(core, i);
      ASSERT_EQ(sync.event_set(ctx(), dev(), core, i, 0), 0);
    }
    expect_all(core, UINT32_MAX);
  }
}

TEST_F(NdlEvents, OthersAreRefused) {
  for (const std::uint32_t index : {257u, 0x10000u, UINT32_MAX}) {
    std::uint32_t value = 77;
    EXPECT_LT(ndl().sync->event_set(ctx(), dev(), 0, index, 1), 0) << index;
    EXPECT_LT(ndl().sync->event_get(ctx(), dev(), 0, index, &value), 0) << index;
    EXPECT_EQ(value, 77u);
  }
  for (const std::uint32_t core : {1000u, UINT32_MAX}) {
    std::uint32_t value = 77;
    EXPECT_LT(ndl().sync->event_set(ctx(), dev(), core, 1, 1), 0) << core;
    EXPECT_LT(ndl().sync->event_get(ctx(), dev(), core, 1, &value), 0) << core;
  }
}

// Semaphores are registers too: both ways lead to the same.
TEST_F(NdlRegisters, WritesAndReadsReachTheHardware) {
  const std::uint64_t set = semaphore(35, NRTP_SEM_SET), inc = semaphore(35, NRTP_SEM_INC),
                      get = semaphore(35, NRTP_SEM_READ);
  if (set == 0 || inc == 0 || get == 0) GTEST_SKIP() << "semaphores are not in BAR 0";
  const std::uint64_t where[] = {set, inc, inc};
  const std::uint32_t values[] = {40, 1, 2};
  ASSERT_EQ(ndl().reg->write(ctx(), dev(), where, 3, values), 0);
  std::uint32_t value = 0;
  ASSERT_EQ(ndl().sync->sem_read(ctx(), dev(), 0, 35, &value), 0);
  EXPECT_EQ(value, 43u);
  ASSERT_EQ(ndl().sync->sem_write(ctx(), dev(), 0, 35, 9), 0);
  ASSERT_EQ(ndl().reg->read(ctx(), dev(), &get, 1, &value), 0);
  EXPECT_EQ(value, 9u);
}

TEST_F(NdlRegisters, ManyAreReadAtOnce) {
  if (semaphore(0, NRTP_SEM_READ) == 0) GTEST_SKIP() << "semaphores are not in BAR 0";
  const std::uint32_t n = 5 * geometry().semaphores;
  std::vector<std::uint64_t> where(n);
  std::vector<std::uint32_t> values(n + 1, 77);
  for (std::uint32_t i = 0; i < geometry().semaphores; ++i)
    ASSERT_EQ(ndl().sync->sem_write(ctx(), dev(), 0, i, i + 1), 0);
  for (std::uint32_t i = 0; i < n; ++i)
    where[i] = semaphore(i % geometry().semaphores, NRTP_SEM_READ);
  ASSERT_EQ(ndl().reg->read(ctx(), dev(), where.data(), n, values.data()), 0);
  for (std::uint32_t i = 0; i < n; ++i)
    ASSERT_EQ(values[i], i % geometry().semaphores + 1) << "entry " << i;
  EXPECT_EQ(values[n], 77u) << "behind the last";
}

TEST_F(NdlRegisters, PlacesOutsideAreRefused) {
  for (const std::uint64_t where : {std::uint64_t{1}, std::uint64_t{2}, info().bar_size[0],
                                    info().bar_size[0] - 2, UINT64_MAX, UINT64_MAX - 3}) {
    std::uint32_t value = 77;
    EXPECT_LT(ndl().reg->read(ctx(), dev(), &where, 1, &value), 0) << std::hex << where;
    EXPECT_LT(ndl().reg->write(ctx(), dev(), &where, 1, &value), 0) << std::hex << where;
    EXPECT_EQ(value, 77u);
  }
}

}  // namespace
}  // namespace opennrt::conform
