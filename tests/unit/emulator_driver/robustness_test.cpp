// SPDX-License-Identifier: Apache-2.0
//
// Bad pointers, random arguments, many threads.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "driver/request.h"
#include "harness.h"
#include "support/driver_books.h"

namespace opennrt::emu::test {
namespace {

TEST(UserMemory, DirectRefusesImplausibleAddresses) {
  DirectMemory memory;
  std::uint64_t word = 1;
  for (std::uint64_t address :
       {std::uint64_t{0}, kLowAddress, std::uint64_t{0xFFFF}, kKernelAddress,
        std::uint64_t{1} << 47, (std::uint64_t{1} << 47) - 4, UINT64_MAX}) {
    EXPECT_EQ(memory.read(address, &word, sizeof word), -EFAULT) << std::hex << address;
    EXPECT_EQ(memory.write(address, &word, sizeof word), -EFAULT) << std::hex << address;
    EXPECT_EQ(memory.direct(address, sizeof word), nullptr);
  }
  EXPECT_EQ(memory.read(0, &word, 0), 0) << "nothing can be read from anywhere";
  EXPECT_EQ(memory.direct(0x20000, SIZE_MAX), nullptr);
}

TEST(UserMemory, CheckedStopsAtTheUnmappedPage) {
  void* pages = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(munmap(static_cast<char*>(pages) + 4096, 4096), 0);
  CheckedMemory memory(getpid());
  const std::uint64_t end = reinterpret_cast<std::uintptr_t>(pages) + 4096;
  std::uint8_t buffer[64] = {};
  EXPECT_EQ(memory.read(end - 64, buffer, 64), 0);
  EXPECT_EQ(memory.read(end - 63, buffer, 64), -EFAULT);
  EXPECT_EQ(memory.write(end - 4, buffer, 8), -EFAULT);
  munmap(pages, 4096);
}

TEST_F(DriverTest, BadArgumentPointerOfEveryRequest) {
  Process p = process(10);
  const int fd = p.open();
  DirectMemory direct;
  CheckedMemory checked(getpid());
  for (const RequestEntry& entry : request_table())
    for (UserMemory* memory :
         {static_cast<UserMemory*>(&direct), static_cast<UserMemory*>(&checked)})
      for (std::uint64_t address : {std::uint64_t{0}, kLowAddress, kKernelAddress}) {
        const std::int64_t r = p.raw(fd, entry.code, address, *memory);
        if (r == 0 || r == -ENOTTY || r == -1 || r == -524) continue;  // looks at nothing
        EXPECT_TRUE(r == -EFAULT || r == -EACCES) << entry.name << ": " << r;
      }
}

// Random arguments never crash, hang or leave the machine unusable.
TEST_F(DriverTest, RandomArguments) {
  Process p = process(10);
  const int fd = p.open(), misc = p.open(1);
  CheckedMemory memory(getpid());
  std::mt19937_64 random(20240607);
  std::vector<std::uint64_t> argument(2048);
  std::vector<std::uint64_t> inner(512);
  const std::uint64_t pointer = reinterpret_cast<std::uintptr_t>(inner.data());
  const auto table = request_table();
  for (int round = 0; round < 20000; ++round) {
    const RequestEntry& entry = table[random() % table.size()];
    const std::string name = entry.name;
    // These wait on purpose.
    if (name.starts_with("CRWL_READER") || name.starts_with("CRWL_WRITER") ||
        name == "CINIT_SET_STATE" || name == "HBM_SCRUB_START")
      continue;
    for (std::size_t i = 0; i < 16; ++i) {
      const std::uint64_t interesting[] = {
          0,       1,      2, 16, 4096, 1ull << 32, INT64_MAX, UINT64_MAX, random(), random() % 64,
          pointer, pointer};
      argument[i] = interesting[random() % std::size(interesting)];
    }
    if (name == "DMA_QUEUE_INIT_BATCH") argument[0] %= 4;
    (void)p.raw(random() % 8 ? fd : misc, entry.code,
                reinterpret_cast<std::uintptr_t>(argument.data()), memory);
  }
  const int fresh = process(11).open();
  ASSERT_GE(fresh, 0);
  Process q = process(11);
  std::uint64_t h = 0;
  EXPECT_EQ(q.alloc(fresh, 4096, &h), 0);
}

class DriverThreads : public DriverTest {
 protected:
  static constexpr int kThreads = 4;
  template <typename F>
  void in_threads(F f) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) threads.emplace_back([&, t] { f(t); });
    for (std::thread& thread : threads) thread.join();
  }
};

TEST_F(DriverThreads, AllocateAndFree) {
  Process p = process(10);
  const int fd = p.open();
  std::atomic<int> failures{0};
  in_threads([&](int t) {
    std::mt19937 random(static_cast<unsigned>(t));
    std::vector<std::uint64_t> mine;
    for (int i = 0; i < 500; ++i) {
      std::uint64_t h = 0;
      const bool host = random() % 2;
      if (p.alloc(fd, 4096 * (1 + random() % 8), &h, {.host = host}) != 0) ++failures;
      std::uint64_t mark = h, back = 0;
      if (p.copy(fd, h, &mark, sizeof mark, 0, true) != 0) ++failures;
      if (p.copy(fd, h, &back, sizeof back, 0, false) != 0 || back != h) ++failures;
      mine.push_back(h);
      if (mine.size() > 20) {
        if (p.free(fd, mine.front()) != 0) ++failures;
        mine.erase(mine.begin());
      }
    }
    for (std::uint64_t h : mine)
      if (p.free(fd, h) != 0) ++failures;
  });
  EXPECT_EQ(failures, 0);
  abi::DumpMemChunks dump;
  EXPECT_EQ(p.call(fd, abi::kDumpMemChunks, dump), -EAGAIN);
  EXPECT_EQ(dump.num_entries_out, 1u) << "nothing is left";
}

TEST_F(DriverThreads, OpenCloseAndMap) {
  std::atomic<int> failures{0};
  in_threads([&](int t) {
    Process p = process(static_cast<std::uint32_t>(100 + t));
    for (int i = 0; i < 100; ++i) {
      const int fd = p.open();
      std::uint64_t h = 0;
      void* map = nullptr;
      if (fd < 0 || p.alloc(fd, 8192, &h, {.host = i % 2 == 0}) != 0 ||
          p.mmap(fd, 8192, 3, p.pa(fd, h), &map) != 0) {
        ++failures;
        continue;
      }
      static_cast<std::uint8_t*>(map)[0] = static_cast<std::uint8_t>(t);
      if (p.munmap(map, 8192) != 0 || p.close(fd) != 0) ++failures;
    }
  });
  EXPECT_EQ(failures, 0);
}

// A request on a descriptor that another thread closes sees it open or closed.
TEST_F(DriverThreads, CloseWhileInUse) {
  Process p = process(10);
  std::atomic<int> shared{-1}, failures{0};
  std::atomic<bool> stop{false};
  std::thread user([&] {
    while (!stop) {
      abi::DeviceInfo info;
      const int fd = shared;
      const std::int64_t r = p.call(fd, abi::kDeviceInfo, info);
      if (r != 0 && r != -EBADF) ++failures;
    }
  });
  for (int i = 0; i < 300; ++i) {
    const int fd = p.open();
    shared = fd;
    std::uint64_t h = 0;
    if (p.alloc(fd, 4096, &h) != 0 || p.close(fd) != 0) ++failures;
  }
  stop = true;
  user.join();
  EXPECT_EQ(failures, 0);
}

// Everything at once: whatever is closed under a request, nothing is left.
TEST_F(DriverThreads, RequestsWhileOthersClose) {
  std::atomic<int> shared[3] = {-1, -1, -1};
  std::atomic<bool> stop{false};
  std::thread closer([&] {
    Process p = process(100);
    for (int i = 0; i < 3000; ++i) {
      for (auto& slot : shared) {
        const int old = slot.exchange(p.open(i % 5 == 0 ? 1u : 2u));
        if (old >= 0) (void)p.close(old);
        if (i % 3 == 0) {
          const int copy = machine->duplicate(slot);
          if (copy >= 0) (void)p.close(copy);
        }
      }
    }
    for (auto& slot : shared) (void)p.close(slot);
    stop = true;
  });
  in_threads([&](int t) {
    // Of the same process and of others that use its descriptors.
    Process p = process(t % 2 ? 100u : 101u + static_cast<std::uint32_t>(t));
    std::mt19937 random(static_cast<unsigned>(t));
    char text[64];
    while (!stop) {
      const int fd = shared[random() % 3];
      std::uint64_t h = 0;
      void* map = nullptr;
      if (p.alloc(fd, 8192, &h, {.host = t < 2}) == 0) {
        const std::uint64_t pa = p.pa(fd, h);
        if (p.mmap(fd, 8192, 3, pa, &map) == 0) {
          EXPECT_EQ(p.munmap(map, 8192), 0);
        }
        std::uint64_t mark = h;
        // The handle may be another thread's by now: each has bytes of its own.
        (void)p.copy(fd, h, &mark, sizeof mark, static_cast<std::uint64_t>(t) * 64, true);
        (void)p.free(fd, h);
      }
      abi::DsInfo store;
      (void)p.call(fd, abi::kAcquireNeuronDs, store);
      abi::DeviceReset reset;
      reset.nc_map = 1;
      (void)p.call(fd, abi::kNcReset, reset);
      abi::DeviceReady ready;
      ready.request_id = p.client().pid;
      (void)p.call(fd, abi::kNcResetReady, ready);
      abi::CrwlNcMapExt cores;
      cores.nc_count = 1;
      (void)p.call(fd, abi::kCrwlNcRangeMarkExt0, cores);
      (void)machine->read_text(
          "/sys/class/neuron_device/neuron0/neuron_core0/stats/status/success/total", text,
          sizeof text);
    }
  });
  closer.join();
  EXPECT_EQ(MachineBooks::check_idle(*machine), "");
}

// More handles than one table holds, and the descriptors of a machine.
TEST_F(DriverTest, ManyHandlesAndDescriptors) {
  Process p = process(10);
  const int fd = p.open();
  std::vector<std::uint64_t> handles(20000);
  for (std::size_t i = 0; i < handles.size(); ++i) {
    ASSERT_EQ(p.alloc(fd, 4096, &handles[i]), 0);
    ASSERT_EQ(handles[i], i + 1);
  }
  EXPECT_EQ(MachineBooks::check(*machine), "");
  std::vector<int> copies;
  for (int copy = 0; (copy = machine->duplicate(fd)) >= 0;) copies.push_back(copy);
  EXPECT_EQ(copies.size(), 65535u);
  EXPECT_EQ(machine->duplicate(fd), -EMFILE);
  EXPECT_EQ(process(11).open(), -EMFILE);
  EXPECT_EQ(MachineBooks::check(*machine), "");
  Process other = process(12);
  for (const int copy : copies) ASSERT_EQ(other.close(copy), 0);
  EXPECT_NE(p.pa(fd, handles[19999]), UINT64_MAX) << "another process has detached nobody";
  ASSERT_EQ(p.close(fd), 0);
  EXPECT_EQ(MachineBooks::check_idle(*machine), "");
}

TEST_F(DriverThreads, SemaphoreIncrementsAreNotLost) {
  Process p = process(10);
  const int fd = p.open();
  in_threads([&](int) {
    for (int i = 0; i < 1000; ++i) {
      abi::Semaphore s;
      s.semaphore_index = 9;
      s.value = 1;
      (void)p.call(fd, abi::kSemaphoreIncrement, s);
    }
  });
  EXPECT_EQ(machine->node(0)->device->semaphore_read(0, 9), 4000u);
}

TEST_F(DriverThreads, SecondStarterWaitsForTheFirst) {
  Process p = process(10), q = process(11);
  const int pfd = p.open(), qfd = q.open();
  abi::CinitSet a;
  a.state = 1;
  ASSERT_EQ(p.call(pfd, abi::kCinitSetState, a), 0);
  ASSERT_EQ(a.new_state, 1u);
  std::uint32_t seen = 0;
  std::thread waiter([&] {
    abi::CinitSet b;
    b.state = 1;
    if (q.call(qfd, abi::kCinitSetState, b) == 0) seen = b.new_state;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  a.state = 2;
  EXPECT_EQ(p.call(pfd, abi::kCinitSetState, a), 0);
  waiter.join();
  EXPECT_EQ(seen, 2u);
}

}  // namespace
}  // namespace opennrt::emu::test
