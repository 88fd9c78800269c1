// SPDX-License-Identifier: Apache-2.0
//
// Memory: places, mappings, limits, every kind of copy.
#include <cerrno>
#include <cstring>
#include <map>
#include <numeric>
#include <vector>

#include "ndl/ndl_silicon.h"

namespace opennrt::conform {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

class NdlPlaces : public NdlSiliconCase {};
class NdlMaps : public NdlSiliconCase {};
class NdlCopies : public NdlSiliconCase {
 protected:
  static std::vector<std::uint8_t> numbered(std::size_t bytes, std::uint8_t first = 1) {
    std::vector<std::uint8_t> out(bytes);
    std::iota(out.begin(), out.end(), first);
    return out;
  }
  std::vector<std::uint8_t> read(std::uint64_t mem, std::size_t bytes) {
    std::vector<std::uint8_t> out(bytes, 0xEE);
    EXPECT_EQ(ndl().copy->out(ctx(), mem, 0, out.data(), bytes), 0);
    return out;
  }
};

TEST_F(NdlPlaces, AllocationsAreApart) {
  for (const bool host : {false, true}) {
    std::map<std::uint64_t, std::uint64_t> taken;  // begin, end
    for (const std::uint64_t bytes : {4096ull, 100ull, 65536ull, 4097ull, 1ull, 12288ull})
      for (int i = 0; i < 8; ++i) {
        std::uint64_t pa = 0;
        ASSERT_EQ(ndl().mem->get_pa(ctx(), allocate(bytes, host), &pa), 0);
        EXPECT_TRUE(taken.emplace(pa, pa + bytes).second) << "two at 0x" << std::hex << pa;
      }
    std::uint64_t last = 0;
    for (const auto& [begin, end] : taken) {
      EXPECT_GE(begin, last) << "overlap at 0x" << std::hex << begin;
      last = end;
    }
  }
}

TEST_F(NdlPlaces, AddressesAreOfTheMemoryThatIsAsked) {
  std::uint64_t device = UINT64_MAX, host = UINT64_MAX;
  ASSERT_EQ(ndl().mem->get_pa(ctx(), allocate(4096), &device), 0);
  ASSERT_EQ(ndl().mem->get_pa(ctx(), allocate(4096, true), &host), 0);
  EXPECT_EQ(kind_of(device), std::uint32_t{NRTP_ADDR_HBM});
  EXPECT_EQ(kind_of(host | geometry().host_window_base), std::uint32_t{NRTP_ADDR_HOST});
}

TEST_F(NdlPlaces, AlignmentIsKept) {
  for (const std::uint64_t align : {std::uint64_t{4096}, std::uint64_t{65536}, kMiB}) {
    allocate(4096);  // so that the next is not aligned by chance
    std::uint64_t mem = 0, pa = 1;
    ASSERT_EQ(
        ndl().mem->alloc(ctx(), dev(), 8192, align, 0, 0, 0, 0, NRTP_MEM_TENSORS_DEVICE, &mem), 0);
    ASSERT_EQ(ndl().mem->get_pa(ctx(), mem, &pa), 0);
    EXPECT_EQ(pa % align, 0u) << align;
    EXPECT_EQ(ndl().mem->free(ctx(), mem), 0);
  }
}

TEST_F(NdlPlaces, WhatCannotBeIsRefused) {
  std::uint64_t mem = 0;
  const auto alloc = [&](std::uint64_t bytes, std::uint32_t channel, std::uint32_t core) {
    return ndl().mem->alloc(ctx(), dev(), bytes, 0, 0, channel, 0, core, NRTP_MEM_TENSORS_DEVICE,
                            &mem);
  };
  EXPECT_LT(alloc(std::uint64_t{1} << 60, 0, 0), 0) << "more than there is";
  EXPECT_LT(alloc(UINT64_MAX, 0, 0), 0) << "a size that wraps";
  EXPECT_LT(alloc(4096, geometry().n_hbm, 0), 0) << "a channel that is not there";
  EXPECT_LT(alloc(4096, UINT32_MAX, 0), 0) << "a channel that is not there";
  EXPECT_LT(alloc(4096, 0, 1000), 0) << "a core that is not there";
}

TEST_F(NdlPlaces, MemoryEndsWithAnErrorAndComesBack) {
  constexpr std::uint64_t kBytes = 16 * kMiB;
  const std::uint64_t limit = product()->hbm_channel_bytes * geometry().n_hbm / kBytes + 1;
  std::vector<std::uint64_t> taken;
  int status = 0;
  while (taken.size() <= limit) {
    std::uint64_t mem = 0;
    status = ndl().mem->alloc(ctx(), dev(), kBytes, 0, 0, 0, 0, 0, NRTP_MEM_TENSORS_DEVICE, &mem);
    if (status != 0) break;
    taken.push_back(mem);
  }
  EXPECT_LT(status, 0) << taken.size() << " pieces of a channel with fewer";
  ASSERT_FALSE(taken.empty());
  for (const std::uint64_t mem : taken) ASSERT_EQ(ndl().mem->free(ctx(), mem), 0);
  for (std::size_t i = 0; i < taken.size(); ++i)
    ASSERT_NE(allocate(kBytes), 0u) << "piece " << i << " of " << taken.size() << " again";
}

TEST_F(NdlMaps, AMappingShowsTheMemory) {
  constexpr std::size_t kBytes = 3 * 4096;
  for (const bool host : {true, false}) {
    const std::uint64_t mem = allocate(kBytes, host);
    void *va = nullptr, *again = nullptr;
    ASSERT_EQ(ndl().mem->map(ctx(), mem, &va), 0);
    ASSERT_NE(va, nullptr);
    ASSERT_EQ(ndl().mem->map(ctx(), mem, &again), 0);
    EXPECT_EQ(va, again) << "mapping twice gives the same";
    std::memset(va, 0x31, kBytes);
    std::vector<char> seen(kBytes);
    ASSERT_EQ(ndl().copy->out(ctx(), mem, 0, seen.data(), kBytes), 0);
    EXPECT_EQ(seen, std::vector<char>(kBytes, 0x31));
    const std::vector<char> other(kBytes, 0x32);
    ASSERT_EQ(ndl().copy->in(ctx(), mem, 0, other.data(), kBytes), 0);
    EXPECT_EQ(std::memcmp(va, other.data(), kBytes), 0);
  }
}

TEST_F(NdlMaps, UnmappingKeepsTheBytes) {
  const std::uint64_t mem = allocate(4096, true);
  void* va = nullptr;
  EXPECT_LT(ndl().mem->unmap(ctx(), mem), 0) << "it is not mapped";
  ASSERT_EQ(ndl().mem->map(ctx(), mem, &va), 0);
  std::memset(va, 0x5C, 4096);
  ASSERT_EQ(ndl().mem->unmap(ctx(), mem), 0);
  EXPECT_LT(ndl().mem->unmap(ctx(), mem), 0) << "twice";
  ASSERT_EQ(ndl().mem->map(ctx(), mem, &va), 0);
  EXPECT_EQ(static_cast<char*>(va)[4095], 0x5C);
}

TEST_F(NdlMaps, FreeUnmaps) {
  constexpr std::uint64_t kBytes = 64 * kMiB;
  for (int i = 0; i < 500; ++i) {
    std::uint64_t mem = 0;
    void* va = nullptr;
    ASSERT_EQ(ndl().mem->alloc(ctx(), dev(), kBytes, 0, 1, 0, 0, 0, NRTP_MEM_MISC_HOST, &mem), 0)
        << "round " << i;
    ASSERT_EQ(ndl().mem->map(ctx(), mem, &va), 0) << "round " << i;
    static_cast<char*>(va)[kBytes - 1] = 1;
    ASSERT_EQ(ndl().mem->free(ctx(), mem), 0) << "round " << i;
  }
}

TEST_F(NdlCopies, PiecesLandWhereTheyBelong) {
  const std::uint64_t mem = allocate(8192);
  const auto bytes = numbered(8192);
  ASSERT_EQ(ndl().copy->in(ctx(), mem, 0, bytes.data(), bytes.size()), 0);
  for (const std::size_t at : {0u, 1u, 63u, 4095u, 4096u, 8191u}) {
    const std::uint8_t mark = 0xC3;
    ASSERT_EQ(ndl().copy->in(ctx(), mem, at, &mark, 1), 0);
    auto expected = bytes;
    expected[at] = mark;
    EXPECT_EQ(read(mem, 8192), expected) << "at " << at;
    ASSERT_EQ(ndl().copy->in(ctx(), mem, at, &bytes[at], 1), 0);
  }
}

TEST_F(NdlCopies, OffsetsThatWrapAreRefused) {
  const std::uint64_t mem = allocate(4096), other = allocate(4096);
  char byte = 0;
  std::int32_t wait = -1;
  for (const std::uint64_t at : {std::uint64_t{1} << 32, UINT64_MAX - 4095, UINT64_MAX}) {
    EXPECT_LT(ndl().copy->in(ctx(), mem, at, &byte, 1), 0) << at;
    EXPECT_LT(ndl().copy->out(ctx(), mem, at, &byte, 1), 0) << at;
    EXPECT_LT(ndl().copy->copy_async(ctx(), mem, other, at, 0, 64, 0, &wait), 0) << at;
    EXPECT_LT(ndl().copy->copy_async(ctx(), mem, other, 0, at, 64, 0, &wait), 0) << at;
  }
  EXPECT_LT(ndl().copy->in(ctx(), mem, 0, &byte, UINT64_MAX), 0);
  EXPECT_LT(ndl().copy->copy_async(ctx(), mem, other, 1, 0, 4096, 0, &wait), 0);
  EXPECT_EQ(byte, 0);
}

TEST_F(NdlCopies, AsyncChainsArrive) {
  const std::uint64_t src = allocate(16384), dst = allocate(16384);
  const auto bytes = numbered(16384, 7);
  ASSERT_EQ(ndl().copy->in(ctx(), src, 0, bytes.data(), bytes.size()), 0);
  std::int32_t wait = -1;
  for (std::uint64_t at = 0; at < 16384; at += 4096)
    ASSERT_EQ(ndl().copy->copy_async(ctx(), src, dst, at, at, 4096, 0, &wait), 0) << at;
  ASSERT_GT(wait, 0);
  ASSERT_EQ(ndl().copy->copy_wait(ctx(), dst, wait), 0);
  EXPECT_EQ(read(dst, 16384), bytes);
  EXPECT_LT(ndl().copy->copy_wait(ctx(), dst, wait), 0) << "nothing is in flight";
}

TEST_F(NdlCopies, BadWaitsAreRefused) {
  const std::uint64_t src = allocate(4096), dst = allocate(4096);
  for (std::int32_t bad : {-2, 3, 1000, INT32_MIN}) {
    EXPECT_LT(ndl().copy->copy_wait(ctx(), dst, bad), 0) << bad;
    EXPECT_LT(ndl().copy->copy_async(ctx(), src, dst, 0, 0, 64, 0, &bad), 0);
  }
  EXPECT_LT(ndl().copy->copy_wait(ctx(), dst, -1), 0);
}

TEST_F(NdlCopies, SetFillsTheRangeAlone) {
  const std::uint64_t mem = allocate(8192);
  auto expected = numbered(8192);
  ASSERT_EQ(ndl().copy->in(ctx(), mem, 0, expected.data(), expected.size()), 0);
  const int status = ndl().copy->set(ctx(), mem, 4090, 0x99, 13);
  if (status == -EINVAL) GTEST_SKIP() << "not offered";
  ASSERT_EQ(status, 0);
  std::fill_n(expected.begin() + 4090, 13, 0x99);
  EXPECT_EQ(read(mem, 8192), expected);
  EXPECT_LT(ndl().copy->set(ctx(), mem, 8192, 0, 1), 0);
  EXPECT_LT(ndl().copy->set(ctx(), mem, 1, 0, UINT64_MAX), 0);
}

TEST_F(NdlCopies, CopyMovesTheRangeAlone) {
  const std::uint64_t src = allocate(8192), dst = allocate(8192);
  const auto bytes = numbered(8192, 3);
  auto expected = std::vector<std::uint8_t>(8192, 0x11);
  ASSERT_EQ(ndl().copy->in(ctx(), src, 0, bytes.data(), bytes.size()), 0);
  ASSERT_EQ(ndl().copy->in(ctx(), dst, 0, expected.data(), expected.size()), 0);
  const int status = ndl().copy->copy(ctx(), src, dst, 1024, 512, 4096);
  if (status == -EINVAL) GTEST_SKIP() << "not offered";
  ASSERT_EQ(status, 0);
  std::copy_n(bytes.begin() + 1024, 4096, expected.begin() + 512);
  EXPECT_EQ(read(dst, 8192), expected);
  EXPECT_LT(ndl().copy->copy(ctx(), src, dst, 8000, 0, 4096), 0);
  EXPECT_LT(ndl().copy->copy(ctx(), src, dst, 0, 8000, 4096), 0);
}

TEST_F(NdlCopies, TheCopyBufferOfACoreStages) {
  nrtp_ndl_copy_buf buffer{}, again{};
  const int status = ndl().mem->copy_buf(ctx(), dev(), 0, &buffer);
  if (status == -EINVAL) GTEST_SKIP() << "not offered";
  ASSERT_EQ(status, 0);
  ASSERT_NE(buffer.va, nullptr);
  ASSERT_GE(buffer.bytes, 8192u);
  ASSERT_EQ(ndl().mem->copy_buf(ctx(), dev(), 0, &again), 0);
  EXPECT_EQ(again.va, buffer.va) << "one of each core";
  const auto bytes = numbered(8192, 9);
  std::memcpy(buffer.va, bytes.data(), bytes.size());
  const std::uint64_t mem = allocate(8192);
  std::int32_t wait = -1;
  ASSERT_EQ(ndl().copy->copy_async(ctx(), buffer.mem, mem, 0, 0, 8192, 0, &wait), 0);
  ASSERT_EQ(ndl().copy->copy_wait(ctx(), mem, wait), 0);
  EXPECT_EQ(read(mem, 8192), bytes);
  EXPECT_LT(ndl().mem->free(ctx(), buffer.mem), 0) << "it is not the caller's";
}

}  // namespace
}  // namespace opennrt::conform
