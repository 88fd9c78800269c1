// SPDX-License-Identifier: Apache-2.0
//
// The device node behind a port: descriptors, requests of the driver, mappings, texts.
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ndl-common/requests.h"
#include "port/port_case.h"

namespace opennrt::conform {
namespace {

constexpr char kNode[] = "/dev/neuron0";
constexpr char kVersionFile[] = "/sys/module/neuron/version";
constexpr std::uint64_t kPage = 4096;

// The port with a descriptor of the first device; skips where there is none.
class PortDevice : public PortCase {
 protected:
  void SetUp() override {
    PortCase::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    if (port().exists(ctx(), kNode) != 1) GTEST_SKIP() << "no " << kNode;
    at("open");
    fd_ = open();
    ASSERT_GE(fd_, 0);
    at("");
  }
  void TearDown() override {
    if (fd_ >= 0) {
      EXPECT_EQ(port().close(ctx(), fd_), 0);
    }
    PortCase::TearDown();
  }
  int open(std::uint32_t flags = NRTP_OPEN_READ_WRITE) { return port().open(ctx(), kNode, flags); }
  template <typename T>
  std::int64_t request(std::uint32_t code, T& argument, int fd) {
    return port().ioctl(ctx(), fd, code, reinterpret_cast<std::uintptr_t>(&argument));
  }
  template <typename T>
  std::int64_t request(std::uint32_t code, T& argument) {
    return request(code, argument, fd_);
  }
  // Host memory of core 0: its driver handle and the offset that mmap takes.
  struct Memory {
    std::uint64_t handle = 0, cookie = 0;
  };
  Memory allocate(std::uint64_t bytes, int fd) {
    Memory out;
    ndl::ndl_mem_alloc_v2mt64 alloc{};
    alloc.bytes = bytes;
    alloc.host = 1;
    alloc.type = NRTP_MEM_MISC_HOST;
    alloc.out_handle = &out.handle;
    EXPECT_EQ(request(ndl::kMemAllocV2Mt64, alloc, fd), 0);
    std::uint64_t pa = 0;
    ndl::ndl_mem_info info{out.handle, &out.cookie, &pa};
    EXPECT_EQ(request(ndl::kMemGetInfo, info, fd), 0);
    return out;
  }
  Memory allocate(std::uint64_t bytes) { return allocate(bytes, fd_); }
  std::int64_t free(const Memory& memory) {
    ndl::ndl_mem_free arg{memory.handle};
    return request(ndl::kMemFree, arg);
  }
  std::int64_t copy(const Memory& memory, void* buffer, std::uint64_t bytes, bool to_device) {
    ndl::ndl_buf_copy arg{};
    arg.handle = memory.handle;
    arg.buffer = static_cast<std::uint8_t*>(buffer);
    arg.bytes = bytes;
    arg.to_device = to_device;
    return request(ndl::kBufCopy, arg);
  }
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

class PortOpen : public PortDevice {};
class PortRequests : public PortDevice {};
class PortMaps : public PortDevice {
 protected:
  int map(int fd, std::uint64_t bytes, std::uint64_t offset, void** out,
          std::uint32_t prot = NRTP_PROT_READ | NRTP_PROT_WRITE) {
    return port().mmap(ctx(), fd, bytes, prot, offset, out);
  }
  alignas(4096) char untouched_[4096] = {};
};
class PortTexts : public PortDevice {};
class PortStress : public PortDevice {};

TEST_F(PortOpen, DescriptorsDiffer) {
  std::set<int> all = {fd()};
  for (const std::uint32_t flags :
       {NRTP_OPEN_READ_WRITE, NRTP_OPEN_READ_WRITE, NRTP_OPEN_READ, NRTP_OPEN_WRITE}) {
    const int other = open(flags);
    ASSERT_GE(other, 0) << "flags " << flags;
    EXPECT_TRUE(all.insert(other).second);
  }
  all.erase(fd());
  for (const int other : all) EXPECT_EQ(port().close(ctx(), other), 0);
}

TEST_F(PortOpen, AClosedDescriptorIsGone) {
  const int gone = open();
  ASSERT_GE(gone, 0);
  ASSERT_EQ(port().close(ctx(), gone), 0);
  EXPECT_EQ(port().close(ctx(), gone), -EBADF);
  ndl::ndl_device_info info{};
  EXPECT_EQ(request(ndl::kDeviceInfo, info, gone), -EBADF);
  void* va = nullptr;
  EXPECT_EQ(port().mmap(ctx(), gone, kPage, NRTP_PROT_READ, 0, &va), -EBADF);
}

TEST_F(PortOpen, BadPathsAreErrors) {
  const std::string endless = "/dev/" + std::string(100'000, 'n');
  for (const char* path : {"", "/", "/dev/neuron", "/dev/neuron0x", "/dev/neuron64",
                           "/dev/neuron4294967296", "/dev/neuron-1", endless.c_str()}) {
    EXPECT_LT(port().open(ctx(), path, NRTP_OPEN_READ_WRITE), 0) << std::string(path).substr(0, 64);
    EXPECT_LE(port().exists(ctx(), path), 1);
  }
}

TEST_F(PortOpen, MissingPathsAreErrors) {
  char text[8];
  EXPECT_LT(port().open(ctx(), nullptr, NRTP_OPEN_READ_WRITE), 0);
  EXPECT_LE(port().exists(ctx(), nullptr), 0);
  EXPECT_LT(port().read_text(ctx(), nullptr, text, sizeof text), 0);
}

TEST_F(PortOpen, ManyOpensLeaveNothing) {
  for (int i = 0; i < 5000; ++i) {
    const int other = open();
    ASSERT_GE(other, 0) << "round " << i;
    ASSERT_EQ(port().close(ctx(), other), 0) << "round " << i;
  }
}

TEST_F(PortRequests, TheDriverAnswers) {
  ndl::ndl_device_info info{};
  ASSERT_EQ(request(ndl::kDeviceInfo, info), 0);
  EXPECT_NE(info.arch, 0u);
  EXPECT_GT(info.bar_size[0], 0u);
  ndl::ndl_compat_window window{};
  const int misc = open(NRTP_OPEN_WRITE);
  ASSERT_GE(misc, 0);
  EXPECT_EQ(request(ndl::kCompatWindow, window, misc), 0);
  EXPECT_GT(window.max, 0u);
  EXPECT_LE(window.min, window.max);
  EXPECT_EQ(port().close(ctx(), misc), 0);
}

TEST_F(PortRequests, UnknownOnesAreErrors) {
  std::array<std::uint64_t, 512> argument{};
  for (const std::uint32_t code : {0u, UINT32_MAX, 0x80084EFFu, 0x80080001u, 0x5401u})
    EXPECT_LT(request(code, argument), 0) << std::hex << code;
}

TEST_F(PortRequests, RefusalsAreNegative) {
  ndl::ndl_mem_free never{0xDEAD'BEEF};
  EXPECT_LT(request(ndl::kMemFree, never), 0);
  ndl::ndl_semaphore semaphore{1000, 0, 1};
  EXPECT_LT(request(ndl::kSemaphoreIncrement, semaphore), 0);
  ndl::ndl_mem_alloc_v2mt64 huge{};
  std::uint64_t handle = 0;
  huge.bytes = std::uint64_t{1} << 60;
  huge.type = NRTP_MEM_TENSORS_DEVICE;
  huge.out_handle = &handle;
  EXPECT_LT(request(ndl::kMemAllocV2Mt64, huge), 0);
}

TEST_F(PortRequests, ABadPointerIsAnError) {
  EXPECT_LT(port().ioctl(ctx(), fd(), ndl::kSemaphoreRead, 0), 0) << "no argument";
  ndl::ndl_mem_alloc_v2mt64 alloc{};
  alloc.bytes = kPage;
  alloc.type = NRTP_MEM_TENSORS_DEVICE;
  EXPECT_LT(request(ndl::kMemAllocV2Mt64, alloc), 0) << "no place for the handle";
}

TEST_F(PortMaps, AMappingIsTheMemory) {
  constexpr std::uint64_t kBytes = 3 * kPage;
  const Memory memory = allocate(kBytes);
  void* va = nullptr;
  ASSERT_EQ(map(fd(), kBytes, memory.cookie, &va), 0);
  ASSERT_NE(va, nullptr);
  std::memset(va, 0x61, kBytes);
  std::vector<char> seen(kBytes);
  ASSERT_EQ(copy(memory, seen.data(), kBytes, false), 0);
  EXPECT_EQ(seen, std::vector<char>(kBytes, 0x61));
  std::vector<char> other(kBytes, 0x62);
  ASSERT_EQ(copy(memory, other.data(), kBytes, true), 0);
  EXPECT_EQ(std::memcmp(va, other.data(), kBytes), 0);
  EXPECT_EQ(port().munmap(ctx(), va, kBytes), 0);
  ASSERT_EQ(map(fd(), kBytes, memory.cookie, &va), 0) << "again";
  EXPECT_EQ(static_cast<char*>(va)[kBytes - 1], 0x62);
  EXPECT_EQ(port().munmap(ctx(), va, kBytes), 0);
  EXPECT_EQ(free(memory), 0);
}

TEST_F(PortMaps, BadOnesAreErrorsAndGiveNothing) {
  const Memory memory = allocate(2 * kPage);
  void* const untouched = untouched_;
  void* va = untouched;
  EXPECT_LT(map(fd(), 0, memory.cookie, &va), 0) << "no bytes";
  EXPECT_LT(map(fd(), UINT64_MAX, memory.cookie, &va), 0) << "a size that wraps";
  EXPECT_LT(map(fd(), 2 * kPage, memory.cookie + 1, &va), 0) << "inside a page";
  EXPECT_LT(map(fd(), 64 * kPage, memory.cookie, &va), 0) << "beyond the memory";
  EXPECT_LT(map(fd(), kPage, std::uint64_t{1} << 62, &va), 0) << "where nothing is";
  EXPECT_EQ(va, untouched);
  EXPECT_EQ(free(memory), 0);
}

TEST_F(PortMaps, UnmappingWhatIsNotMappedIsAnError) {
  const Memory memory = allocate(kPage);
  void* va = nullptr;
  ASSERT_EQ(map(fd(), kPage, memory.cookie, &va), 0);
  ASSERT_EQ(port().munmap(ctx(), va, kPage), 0);
  EXPECT_LT(port().munmap(ctx(), va, kPage), 0) << "twice";
  EXPECT_LT(port().munmap(ctx(), nullptr, kPage), 0);
  EXPECT_LT(port().munmap(ctx(), untouched_, kPage), 0) << "memory of the process";
  EXPECT_EQ(free(memory), 0);
}

TEST_F(PortMaps, ManyLeaveNothing) {
  for (int i = 0; i < 500; ++i) {
    const Memory memory = allocate(1 << 20);
    void* va = nullptr;
    ASSERT_EQ(map(fd(), 1 << 20, memory.cookie, &va), 0) << "round " << i;
    static_cast<char*>(va)[(1 << 20) - 1] = 1;
    ASSERT_EQ(port().munmap(ctx(), va, 1 << 20), 0) << "round " << i;
    ASSERT_EQ(free(memory), 0) << "round " << i;
  }
}

TEST_F(PortTexts, AreCutToTheBuffer) {
  std::array<char, 64> whole{};
  const std::int64_t length = port().read_text(ctx(), kVersionFile, whole.data(), whole.size());
  if (length == -ENOENT) GTEST_SKIP() << "no " << kVersionFile;
  ASSERT_GT(length, 3);
  ASSERT_LE(length, 64);
  std::array<char, 64> cut;
  cut.fill('#');
  const std::int64_t three = port().read_text(ctx(), kVersionFile, cut.data(), 3);
  EXPECT_LE(three, 3);
  EXPECT_EQ(cut[3], '#') << "written behind the buffer";
  if (three > 0) {
    EXPECT_EQ(std::memcmp(cut.data(), whole.data(), static_cast<std::size_t>(three)), 0);
  }
  cut.fill('#');
  EXPECT_LE(port().read_text(ctx(), kVersionFile, cut.data(), 0), 0);
  EXPECT_EQ(cut[0], '#') << "written into no buffer";
}

TEST_F(PortStress, CallsDoNotDisturbEachOther) {
  constexpr std::uint32_t kThreads = 6, kRounds = 300;
  std::vector<std::thread> threads;
  std::vector<int> failures(kThreads);
  for (std::uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        const int own = open();
        if (own < 0) {
          ++failures[t];
          continue;
        }
        ndl::ndl_semaphore semaphore{0, 50, 1};
        failures[t] += request(ndl::kSemaphoreIncrement, semaphore, own) != 0;
        ndl::ndl_device_info info{};
        failures[t] += request(ndl::kDeviceInfo, info, own) != 0;
        const Memory memory = allocate(kPage, own);
        void* va = nullptr;
        if (port().mmap(ctx(), own, kPage, NRTP_PROT_READ | NRTP_PROT_WRITE, memory.cookie, &va) ==
            0) {
          *static_cast<std::uint32_t*>(va) = t;
          failures[t] += *static_cast<volatile std::uint32_t*>(va) != t;
          failures[t] += port().munmap(ctx(), va, kPage) != 0;
        } else {
          ++failures[t];
        }
        failures[t] += free(memory) != 0;
        failures[t] += port().close(ctx(), own) != 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, std::vector<int>(kThreads));
  ndl::ndl_semaphore semaphore{0, 50, 0};
  ASSERT_EQ(request(ndl::kSemaphoreRead, semaphore), 0);
  EXPECT_EQ(semaphore.value, kThreads * kRounds);
}

TEST_F(PortStress, SleepersAndCallersGoOn) {
  constexpr std::uint32_t kThreads = 4, kRounds = 200;
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        if (t % 2 == 0) port().sleep_us(ctx(), 20);
        ndl::ndl_semaphore semaphore{0, 51, 1};
        request(ndl::kSemaphoreIncrement, semaphore);
      }
    });
  for (std::thread& thread : threads) thread.join();
  ndl::ndl_semaphore semaphore{0, 51, 0};
  ASSERT_EQ(request(ndl::kSemaphoreRead, semaphore), 0);
  EXPECT_EQ(semaphore.value, kThreads * kRounds);
}

// --- control

class PortControlReplies : public PortCase {};

TEST_F(PortControlReplies, MissingArgumentsAreRefused) {
  const nrtp_sys_port& p = port();
  if (!NRTP_HAS(nrtp_sys_port, &p, control) || p.control == nullptr) GTEST_SKIP() << "not offered";
  char reply[8] = "#######";
  EXPECT_LT(p.control(ctx(), nullptr, reply, sizeof reply), 0);
  EXPECT_LT(p.control(ctx(), "no such command", nullptr, 0), 0);
  EXPECT_LT(p.control(ctx(), "no such command", reply, 0), 0);
  const std::string endless(100'000, 'c');
  EXPECT_LT(p.control(ctx(), endless.c_str(), reply, sizeof reply), 0);
}

}  // namespace
}  // namespace opennrt::conform
