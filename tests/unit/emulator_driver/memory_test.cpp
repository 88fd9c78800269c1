// SPDX-License-Identifier: Apache-2.0
//
// Allocation, bounds, mappings, limits.
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "opennrt/plugin.h"

namespace opennrt::emu::test {
namespace {

constexpr std::uint32_t kRead = 1, kWrite = 2, kReadWrite = 3;

struct LogLines {
  std::vector<std::string> lines;
  nrtp_host host{};
  LogLines() {
    host.size = sizeof host;
    host.self = this;
    host.log = [](void* self, std::uint32_t level, const char*, const char* text) {
      if (level == NRTP_LOG_ERROR) static_cast<LogLines*>(self)->lines.emplace_back(text);
    };
  }
};

TEST_F(DriverTest, LimitOfTheControlGroupIsNamed) {
  LogLines log;
  MachineConfig config = default_config();
  config.host = &log.host;
  config.memory_limit = 64 * kMiB;
  build(config);
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t a = 0, b = 0;
  ASSERT_EQ(p.alloc(fd, 40 * kMiB, &a), 0);
  EXPECT_EQ(p.alloc(fd, 40 * kMiB, &b), -ENOMEM);
  EXPECT_EQ(p.alloc(fd, 40 * kMiB, &b, {.host = true}), -ENOMEM);
  ASSERT_EQ(log.lines.size(), 2u);
  EXPECT_NE(log.lines[0].find("cgroup memory.max"), std::string::npos) << log.lines[0];
  ASSERT_EQ(p.free(fd, a), 0);
  EXPECT_EQ(p.alloc(fd, 40 * kMiB, &b), 0) << "freed memory counts no more";
}

TEST_F(DriverTest, SmallChannelHasNoSmallPool) {
  MachineConfig config = default_config();
  config.hbm_bytes = kGiB;
  build(config);
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t h = 0;
  ASSERT_EQ(p.alloc(fd, 4096, &h), 0);
  EXPECT_EQ(p.pa(fd, h), 16 * kMiB) << "right above the firmware area";
  EXPECT_EQ(p.alloc(fd, kGiB - 16 * kMiB, &h), -ENOMEM);
  EXPECT_EQ(p.alloc(fd, kGiB - 16 * kMiB - 4096, &h), 0);
}

TEST_F(DriverTest, ArgumentLimitsOfAllocation) {
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t h = 0;
  EXPECT_EQ(p.alloc(fd, 0, &h), -ENOMEM);
  EXPECT_EQ(p.alloc(fd, 0, &h, {.host = true}), -ENOMEM);
  EXPECT_EQ(p.alloc(fd, INT64_MAX, &h), -ENOMEM);
  EXPECT_EQ(p.alloc(fd, UINT64_MAX, &h), -EINVAL);
  EXPECT_EQ(p.alloc(fd, 4096, &h, {.core = 8}), -EINVAL);
  EXPECT_EQ(p.alloc(fd, 4096, &h, {.channel = 2}), -EINVAL);
  EXPECT_EQ(p.alloc(fd, 4096, &h, {.host = true, .channel = 2}), -EINVAL);
  EXPECT_EQ(p.alloc(fd, 4096, &h, {.host = true, .align = 4096}), -EINVAL);
  EXPECT_EQ(p.alloc(fd, 4096, &h, {.align = std::uint64_t{1} << 31}), -EINVAL);
  EXPECT_EQ(h, 0u);
  EXPECT_EQ(p.alloc(fd, 4096, &h), 0);
  EXPECT_EQ(h, 1u) << "no failure used up a handle";
}

TEST_F(DriverTest, BadHandlePointerAllocatesNothing) {
  Process p = process(10);
  const int fd = p.open();
  EXPECT_EQ(p.alloc(fd, kMiB, nullptr), -EFAULT);
  EXPECT_EQ(p.alloc(fd, kMiB, reinterpret_cast<std::uint64_t*>(kLowAddress)), -EFAULT);
  EXPECT_EQ(p.alloc(fd, kMiB, reinterpret_cast<std::uint64_t*>(kKernelAddress)), -EFAULT);
  abi::DumpMemChunks dump;
  EXPECT_EQ(p.call(fd, abi::kDumpMemChunks, dump), -EAGAIN);
  EXPECT_EQ(dump.num_entries_out, 1u) << "only the firmware area";
}

TEST_F(DriverTest, RangesThatWrapAreRefused) {
  for (const char* version : {"2.24.7.0", "2.27.4.0"}) {
    MachineConfig config = default_config();
    config.driver = find_driver_preset(version);
    build(config);
    Process p = process(10);
    const int fd = p.open();
    std::uint64_t h = 0, g = 0;
    ASSERT_EQ(p.alloc(fd, 8192, &h), 0);
    ASSERT_EQ(p.alloc(fd, 8192, &g, {.host = true}), 0);
    std::uint8_t buffer[64];
    for (std::uint64_t handle : {h, g})
      for (auto [offset, bytes] : {std::pair<std::uint64_t, std::uint64_t>{UINT64_MAX - 15, 16},
                                   {0x100000000, ~0xFFFFFFFFull},
                                   {8192, 1},
                                   {8191, 2},
                                   {0, 8193},
                                   {UINT64_MAX, UINT64_MAX}}) {
        EXPECT_EQ(p.copy(fd, handle, buffer, bytes, offset, false), -EINVAL) << offset;
        abi::Memset64 set;
        set.mem_handle = handle;
        set.offset = offset;
        set.size = bytes;
        EXPECT_EQ(p.call(fd, abi::kMemset64, set), -EINVAL) << offset;
        abi::MemCopy64 copy;
        copy.src_mem_handle = h;
        copy.dst_mem_handle = handle;
        copy.dst_offset = offset;
        copy.size = bytes;
        EXPECT_EQ(p.call(fd, abi::kMemCopy64, copy), -EINVAL) << offset;
      }
    EXPECT_EQ(p.copy(fd, h, buffer, 0, 8192, false), 0) << "nothing at the very end is fine";
  }
}

TEST_F(DriverTest, OldFormsSeeTheirWholeRange) {
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t h = 0;
  ASSERT_EQ(p.alloc(fd, 8192, &h), 0);
  std::uint8_t in[16] = {1, 2, 3, 4}, out[16] = {};
  abi::MemBufCopy a;
  a.mem_handle = h;
  a.buffer = reinterpret_cast<std::uintptr_t>(in);
  a.size = 16;
  a.offset = 8176;
  a.copy_to_mem_handle = 1;
  ASSERT_EQ(p.call(fd, abi::kMemBufCopy, a), 0);
  ASSERT_EQ(p.copy(fd, h, out, 16, 8176, false), 0);
  EXPECT_EQ(std::memcmp(in, out, 16), 0);
  a.size = a.offset = UINT32_MAX;
  EXPECT_EQ(p.call(fd, abi::kMemBufCopy, a), -EINVAL);
}

TEST_F(DriverTest, MappingSharesTheBytes) {
  Process p = process(10);
  const int fd = p.open();
  for (bool host : {false, true}) {
    std::uint64_t h = 0;
    ASSERT_EQ(p.alloc(fd, 12288, &h, {.host = host}), 0);
    const std::uint64_t pa = p.pa(fd, h);
    void* map = nullptr;
    ASSERT_EQ(p.mmap(fd, 12288, kReadWrite, pa, &map), 0);
    std::memset(map, 0x5A, 12288);
    std::uint8_t back[4] = {};
    ASSERT_EQ(p.copy(fd, h, back, 4, 12284, false), 0);
    EXPECT_EQ(back[3], 0x5A);
    EXPECT_EQ(p.mmap(fd, 4096, kReadWrite, pa, &map), -EPERM) << "only whole chunks";
    EXPECT_EQ(p.mmap(fd, 12288, kReadWrite, pa + 4096, &map), -EPERM);
    EXPECT_EQ(p.mmap(fd, 12288, kReadWrite, pa + 1, &map), -EINVAL);
    EXPECT_EQ(p.mmap(fd, 0, kReadWrite, pa, &map), -EINVAL);
    EXPECT_EQ(p.mmap(fd, UINT64_MAX, kReadWrite, pa, &map), -EINVAL);
  }
}

TEST_F(DriverTest, UnmapTakesBackExactlyOneMapping) {
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t h = 0;
  ASSERT_EQ(p.alloc(fd, 4096, &h), 0);
  void *a = nullptr, *b = nullptr;
  ASSERT_EQ(p.mmap(fd, 4096, kReadWrite, p.pa(fd, h), &a), 0);
  ASSERT_EQ(p.mmap(fd, 4096, kRead, p.pa(fd, h), &b), 0);
  EXPECT_EQ(p.munmap(a, 8192), -EINVAL);
  EXPECT_EQ(p.munmap(a, 4096), 0);
  EXPECT_EQ(p.munmap(a, 4096), -EINVAL);
  EXPECT_EQ(p.munmap(b, 4096), 0);
  EXPECT_EQ(p.munmap(nullptr, 4096), -EINVAL);
}

TEST_F(DriverTest, LanesAndModesLimitMappings) {
  Process p = process(10);
  const int rw = p.open(2), ro = p.open(0), misc = p.open(1);
  std::uint64_t h = 0;
  ASSERT_EQ(p.alloc(rw, 4096, &h), 0);
  const std::uint64_t pa = p.pa(rw, h);
  void* map = nullptr;
  EXPECT_EQ(p.mmap(misc, 4096, kRead, pa, &map), -EACCES);
  EXPECT_EQ(p.mmap(ro, 4096, kReadWrite, pa, &map), -EACCES);
  EXPECT_EQ(p.mmap(ro, 4096, kWrite, pa, &map), -EACCES);
  EXPECT_EQ(p.mmap(ro, 4096, kRead, pa, &map), 0);
  EXPECT_EQ(p.mmap(12, 4096, kRead, pa, &map), -EBADF);
}

// Another process sees a chunk, but cannot store to it.
TEST_F(DriverTest, ForeignMappingIsReadOnly) {
  Process p = process(10), q = process(11);
  const int pfd = p.open(), qfd = q.open();
  std::uint64_t h = 0;
  ASSERT_EQ(p.alloc(pfd, 4096, &h), 0);
  void *mine = nullptr, *theirs = nullptr;
  ASSERT_EQ(p.mmap(pfd, 4096, kReadWrite, p.pa(pfd, h), &mine), 0);
  ASSERT_EQ(q.mmap(qfd, 4096, kReadWrite, p.pa(pfd, h), &theirs), 0);
  static_cast<std::uint8_t*>(mine)[7] = 42;
  EXPECT_EQ(static_cast<const std::uint8_t*>(theirs)[7], 42);
  CheckedMemory memory(getpid());
  const std::uint32_t word = 1;
  EXPECT_EQ(memory.write(reinterpret_cast<std::uintptr_t>(theirs), &word, sizeof word), -EFAULT);
  EXPECT_EQ(memory.write(reinterpret_cast<std::uintptr_t>(mine), &word, sizeof word), 0);
}

TEST_F(DriverTest, FreedHostMemoryStaysUntilUnmapped) {
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t h = 0, k = 0;
  ASSERT_EQ(p.alloc(fd, 8192, &h, {.host = true}), 0);
  const std::uint64_t pa = p.pa(fd, h);
  void* map = nullptr;
  ASSERT_EQ(p.mmap(fd, 8192, kReadWrite, pa, &map), 0);
  std::memset(map, 9, 8192);
  ASSERT_EQ(p.free(fd, h), 0);
  EXPECT_EQ(static_cast<std::uint8_t*>(map)[100], 9);
  ASSERT_EQ(p.alloc(fd, 8192, &k, {.host = true}), 0);
  EXPECT_NE(p.pa(fd, k), pa) << "not handed out below a live mapping";
  ASSERT_EQ(p.munmap(map, 8192), 0);
  ASSERT_EQ(p.alloc(fd, 8192, &h, {.host = true}), 0);
  EXPECT_EQ(p.pa(fd, h), pa);
  std::uint8_t back[8192];
  ASSERT_EQ(p.copy(fd, h, back, sizeof back, 0, false), 0);
  EXPECT_EQ(std::count(back, back + sizeof back, 0), 8192) << "host memory is handed out as zeros";
}

TEST_F(DriverTest, RegisterWindowsAreNotMapped) {
  Process p = process(10);
  const int fd = p.open();
  abi::ResourceMmapInfo r;
  ASSERT_EQ(p.call(fd, abi::kResourceMmapInfo, r), 0);  // semaphores of core 0
  void* map = nullptr;
  EXPECT_EQ(p.mmap(fd, r.size, kReadWrite, r.offset, &map), -EPERM);
  r.resource = 2;  // SBUF
  ASSERT_EQ(p.call(fd, abi::kResourceMmapInfo, r), 0);
  EXPECT_EQ(p.mmap(fd, r.size, kReadWrite, r.offset, &map), 0);
}

TEST_F(DriverTest, DmabufAndPlacementFollowTheMapping) {
  Process p = process(10), q = process(11);
  const int fd = p.open(), other = q.open();
  std::uint64_t h = 0;
  ASSERT_EQ(p.alloc(fd, 4096, &h, {.channel = 1}), 0);
  void* map = nullptr;
  ASSERT_EQ(p.mmap(fd, 4096, kReadWrite, p.pa(fd, h), &map), 0);
  abi::GetVaPlacement where;
  where.va = reinterpret_cast<std::uintptr_t>(map) + 4095;
  EXPECT_EQ(p.call(fd, abi::kGetVaPlacement, where), 0);
  EXPECT_EQ(where.hbm_index, 1);
  EXPECT_EQ(q.call(other, abi::kGetVaPlacement, where), -ENXIO) << "mapped by somebody else";
  EXPECT_EQ(where.device_index, -1);
  std::int32_t dmabuf = -1;
  abi::DmabufFd a;
  a.va = reinterpret_cast<std::uintptr_t>(map);
  a.fd = reinterpret_cast<std::uintptr_t>(&dmabuf);
  ASSERT_EQ(p.call(fd, abi::kDmabufFd, a), 0);
  EXPECT_EQ(::close(dmabuf), 0) << "a real descriptor";
  ASSERT_EQ(p.munmap(map, 4096), 0);
  EXPECT_EQ(p.call(fd, abi::kDmabufFd, a), -EINVAL);
  EXPECT_EQ(p.call(fd, abi::kGetVaPlacement, where), -ENXIO);
}

}  // namespace
}  // namespace opennrt::emu::test
