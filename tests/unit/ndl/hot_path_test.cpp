// SPDX-License-Identifier: Apache-2.0
//
// What an execution calls takes no memory: semaphore requests, queue starts,
// copies and register accesses.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "opennrt/ndl.h"

namespace {
std::atomic<uint64_t> g_allocations{0};

// Not inlined: the compiler would see malloc() meet delete.
[[gnu::noinline]] void* counted(std::size_t bytes) noexcept {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes ? bytes : 1);
}
[[gnu::noinline]] void release(void* p) noexcept { std::free(p); }
}  // namespace

void* operator new(std::size_t bytes) {
  if (void* p = counted(bytes)) return p;
  throw std::bad_alloc();
}
void* operator new[](std::size_t bytes) {
  if (void* p = counted(bytes)) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }

extern "C" const nrtp_ndl_ops* nrtp_ndl_query(uint32_t host_major, uint32_t host_minor);

namespace {

uint64_t g_requests = 0;
int64_t g_result = 0;

int open_any(void*, const char*, uint32_t) { return 3; }
int close_any(void*, int) { return 0; }
int64_t count_request(void*, int, uint32_t code, uintptr_t arg) {
  ++g_requests;
  if (code == 0x80384E66) {  // memory allocation: the handle is written through a pointer
    **reinterpret_cast<uint64_t**>(arg + 40) = 1;
    return 0;
  }
  return g_result;
}
int map_any(void*, int, uint64_t, uint32_t, uint64_t, void** out) {
  *out = &g_requests;
  return 0;
}
int unmap_any(void*, void*, uint64_t) { return 0; }
int exists_any(void*, const char*) { return 1; }
int64_t read_none(void*, const char*, char*, size_t) { return -2; }
uint64_t now(void*) { return 0; }
void sleep_none(void*, uint32_t) {}

constexpr nrtp_sys_port kPort = {
    .head = NRTP_HEAD_INIT(nrtp_sys_port, PORT, "1.0"),
    .name = "counting",
    .attach = [](const nrtp_host*, void**) { return 0; },
    .detach = [](void*) {},
    .open = open_any,
    .close = close_any,
    .ioctl = count_request,
    .mmap = map_any,
    .munmap = unmap_any,
    .exists = exists_any,
    .read_text = read_none,
    .now_us = now,
    .sleep_us = sleep_none,
    .control = nullptr,
};

uint32_t g_log_lines = 0;
void count_line(void*, uint32_t, const char*, const char*) { ++g_log_lines; }
uint32_t errors_only(void*, uint32_t level, const char*) { return level <= NRTP_LOG_ERROR; }

class HotPath : public ::testing::Test {
 protected:
  void SetUp() override {
    host.size = sizeof host;
    host.log = count_line;
    host.log_enabled = errors_only;
    ops = nrtp_ndl_query(1, 0);
    ASSERT_EQ(ops->attach(&host, &kPort, nullptr, &ctx), 0);
    ASSERT_EQ(ops->device->open(ctx, 0, &dev, nullptr), 0);
    ASSERT_EQ(ops->mem->alloc(ctx, dev, 65536, 0, 0, 0, 0, 0, 9, &mem), 0);
    g_result = 0;
  }
  void TearDown() override { ops->detach(ctx); }

  // One round of what an execution may call.
  void round(int expected) {
    uint32_t value = 0;
    uint64_t offset = 0x100, pa = 0;
    int32_t wait = -1;
    char buffer[64] = {};
    const nrtp_copy_op op = {0, 64, buffer};
    const nrtp_copy_batch batch = {mem, 0, &op, 1, 0};
    ASSERT_EQ(ops->sync->sem_inc(ctx, dev, 0, 1, 1), expected);
    ASSERT_EQ(ops->sync->sem_read(ctx, dev, 0, 1, &value), expected);
    ASSERT_EQ(ops->dma->queue_start(ctx, dev, 0, 0, 1, 1), expected);
    ASSERT_EQ(ops->dma->desc_write(ctx, mem, buffer, 0, 4, 0), expected);
    ASSERT_EQ(ops->reg->write(ctx, dev, &offset, 1, &value), expected);
    ASSERT_EQ(ops->reg->read(ctx, dev, &offset, 1, &value), expected);
    ASSERT_EQ(ops->copy->in(ctx, mem, 0, buffer, 64), expected);
    ASSERT_EQ(ops->copy->out(ctx, mem, 0, buffer, 64), expected);
    ASSERT_EQ(ops->copy->copy_async(ctx, mem, mem, 0, 64, 64, 0, &wait), expected);
    ASSERT_EQ(ops->copy->copy_wait(ctx, mem, 1), expected);
    ASSERT_EQ(ops->copy->batch(ctx, dev, &batch, 1, 0, -1), expected);
    if (!expected) {
      ASSERT_EQ(ops->mem->get_pa(ctx, mem, &pa), 0);
    }
  }

  nrtp_host host{};
  const nrtp_ndl_ops* ops = nullptr;
  void* ctx = nullptr;
  uint64_t dev = 0, mem = 0;
};

TEST_F(HotPath, TakesNoMemory) {
  round(0);  // opens the cached descriptor
  const uint64_t before = g_allocations, requests = g_requests;
  for (int i = 0; i < 100; ++i) round(0);
  EXPECT_EQ(g_allocations - before, 0u);
  EXPECT_EQ(g_requests - requests, 1100u) << "one request per call";
}

TEST_F(HotPath, FailuresTakeNoMemoryAndNoLine) {
  round(0);
  g_result = -22;
  const uint64_t before = g_allocations;
  g_log_lines = 0;
  for (int i = 0; i < 100; ++i) round(-22);
  EXPECT_EQ(g_allocations - before, 0u);
  EXPECT_EQ(g_log_lines, 0u);
  g_result = 0;
}

// The counter itself works.
TEST_F(HotPath, TheCounterCounts) {
  const uint64_t before = g_allocations;
  void* other = nullptr;
  ASSERT_EQ(ops->attach(&host, &kPort, nullptr, &other), 0);
  EXPECT_GT(g_allocations - before, 0u);
  ops->detach(other);
}

}  // namespace
