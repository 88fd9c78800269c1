// SPDX-License-Identifier: Apache-2.0
//
// What a process sees of a machine elsewhere is what it sees of one of its own.
#include <sys/mman.h>

#include <atomic>
#include <numeric>

#include "lab.h"

namespace opennrt::emu::remote::test {

namespace {

class RemoteClient : public RemoteTest {
 protected:
  void SetUp() override {
    RemoteTest::SetUp();
    client = attach();
    ASSERT_TRUE(client);
    fd = client->open("/dev/neuron0", 2);
    ASSERT_GE(fd, Client::kFirstDescriptor);
  }
  void TearDown() override {
    client.reset();
    RemoteTest::TearDown();
  }
  std::unique_ptr<Client> client;
  int fd = -1;
};

TEST_F(RemoteClient, SmallAndLargeBuffersArriveAndComeBack) {
  for (const std::uint64_t bytes :
       {std::uint64_t{1}, std::uint64_t{4096}, std::uint64_t{8191}, std::uint64_t{8192},
        std::uint64_t{100'001}, 5 * kMiB + 3, 9 * kMiB + 1}) {
    std::uint64_t handle = 0;
    ASSERT_EQ(alloc(*client, fd, bytes, &handle), 0);
    std::vector<std::uint8_t> in(bytes), out(bytes, 0xEE);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
    ASSERT_EQ(copy(*client, fd, handle, in.data(), bytes, 0, true), 0);
    ASSERT_EQ(copy(*client, fd, handle, out.data(), bytes, 0, false), 0);
    EXPECT_TRUE(in == out) << bytes;
    EXPECT_EQ(release(*client, fd, handle), 0);
  }
}

TEST_F(RemoteClient, BadPointersGiveEfaultAndLeaveNothingBehind) {
  const Books before = books();
  auto* const bad = reinterpret_cast<std::uint64_t*>(0x10000);
  EXPECT_EQ(alloc(*client, fd, 4096, bad), -EFAULT);
  EXPECT_TRUE(books() == before);
  EXPECT_EQ(client->ioctl(fd, abi::kMemGetPa, 0x10000), -EFAULT);
  EXPECT_EQ(client->ioctl(fd, abi::kMemGetPa, 0), -EFAULT);
  EXPECT_EQ(client->ioctl(fd, abi::kMemGetPa, 0xFFFF888000000000), -EFAULT);

  std::uint64_t handle = 0;
  ASSERT_EQ(alloc(*client, fd, 4 * kMiB, &handle), 0);
  abi::MemGetPa a;
  a.mem_handle = handle;
  a.pa = 0x10000;
  EXPECT_EQ(client->ioctl(fd, abi::kMemGetPa, reinterpret_cast<std::uintptr_t>(&a)), -EFAULT);
  // A buffer that ends in the middle, in both sizes of copy and directions.
  const std::size_t page = 4096;
  void* p = mmap(nullptr, 64 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(p, MAP_FAILED);
  munmap(static_cast<char*>(p) + 32 * page, 32 * page);
  for (const std::uint64_t bytes : {33 * page, std::size_t{4 * kMiB}})
    for (const bool to_device : {true, false})
      EXPECT_EQ(copy(*client, fd, handle, p, bytes, 0, to_device), -EFAULT);
  EXPECT_EQ(copy(*client, fd, handle, static_cast<char*>(p) + 32 * page - 4, 8, 0, true), -EFAULT);
  // Memory that may be read only.
  mprotect(p, 32 * page, PROT_READ);
  EXPECT_EQ(copy(*client, fd, handle, p, 32 * page, 0, true), 0);
  EXPECT_EQ(copy(*client, fd, handle, p, 32 * page, 0, false), -EFAULT);
  munmap(p, 32 * page);
  // So large that mappings are looked at: a hole, a part without the access, a file
  // that is shorter than its mapping.
  ASSERT_EQ(alloc(*client, fd, 16 * kMiB, &handle), 0);
  const std::size_t large = 12 * kMiB;
  auto* m = static_cast<char*>(
      mmap(nullptr, large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(m), MAP_FAILED);
  EXPECT_EQ(copy(*client, fd, handle, m, large, 0, true), 0);
  mprotect(m + 5 * kMiB, page, PROT_READ);
  EXPECT_EQ(copy(*client, fd, handle, m, large, 0, true), 0);
  EXPECT_EQ(copy(*client, fd, handle, m, large, 0, false), -EFAULT);
  munmap(m + 5 * kMiB, page);
  EXPECT_EQ(copy(*client, fd, handle, m, large, 0, true), -EFAULT);
  munmap(m, large);
  const int file = memfd_create("short", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, static_cast<off_t>(kMiB)), 0);
  m = static_cast<char*>(mmap(nullptr, large, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0));
  ASSERT_NE(static_cast<void*>(m), MAP_FAILED);
  EXPECT_EQ(copy(*client, fd, handle, m, large, 0, true), -EFAULT);
  EXPECT_EQ(copy(*client, fd, handle, m, large, 0, false), -EFAULT);
  munmap(m, large);
  ::close(file);
  EXPECT_EQ(client->lost(), "");
}

// The argument ends with its page, or its last bytes are missing.
TEST_F(RemoteClient, AnArgumentAtTheEndOfAPage) {
  const std::size_t page = 4096;
  void* p = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(p, MAP_FAILED);
  mprotect(static_cast<char*>(p) + page, page, PROT_NONE);
  auto* last = reinterpret_cast<abi::Semaphore*>(static_cast<char*>(p) + page) - 1;
  *last = abi::Semaphore{};
  EXPECT_EQ(client->ioctl(fd, abi::kSemaphoreRead, reinterpret_cast<std::uintptr_t>(last)), 0);
  EXPECT_EQ(client->ioctl(fd, abi::kSemaphoreRead, reinterpret_cast<std::uintptr_t>(last) + 4),
            -EFAULT);
  munmap(p, 2 * page);
}

TEST_F(RemoteClient, MappingsShowDeviceMemory) {
  std::uint64_t handle = 0;
  ASSERT_EQ(alloc(*client, fd, kMiB, &handle), 0);
  const std::uint64_t pa = pa_of(*client, fd, handle);
  void* view = nullptr;
  ASSERT_EQ(client->mmap(fd, kMiB, 3, pa, &view), 0);
  std::vector<std::uint8_t> in(kMiB);
  std::iota(in.begin(), in.end(), std::uint8_t{0});
  ASSERT_EQ(copy(*client, fd, handle, in.data(), kMiB, 0, true), 0);
  EXPECT_EQ(std::memcmp(view, in.data(), kMiB), 0);
  static_cast<std::uint8_t*>(view)[77] = 99;
  std::uint8_t byte = 0;
  ASSERT_EQ(copy(*client, fd, handle, &byte, 1, 77, false), 0);
  EXPECT_EQ(byte, 99);

  std::string reply;
  ASSERT_EQ(client->control(
                ("backing " + std::to_string(reinterpret_cast<std::uintptr_t>(view) + 5)).c_str(),
                &reply),
            0);
  abi::GetVaPlacement place;
  place.va = reinterpret_cast<std::uintptr_t>(view) + 4096;
  const int misc = client->open("/dev/neuron0", 1);
  ASSERT_GE(misc, 0);
  EXPECT_EQ(client->ioctl(misc, abi::kGetVaPlacement, reinterpret_cast<std::uintptr_t>(&place)), 0);
  EXPECT_EQ(place.device_index, 0);
  // The dma-buf is a descriptor of the kernel with the same bytes.
  int shared = -1;
  abi::DmabufFd request;
  request.va = reinterpret_cast<std::uintptr_t>(view);
  request.fd = reinterpret_cast<std::uintptr_t>(&shared);
  ASSERT_EQ(client->ioctl(misc, abi::kDmabufFd, reinterpret_cast<std::uintptr_t>(&request)), 0);
  ASSERT_GE(shared, 0);
  EXPECT_EQ(pread(shared, &byte, 1, static_cast<off_t>(std::stoull(reply) - 5 + 77)), 1);
  EXPECT_EQ(byte, 99);
  EXPECT_NE(ftruncate(shared, 0), 0) << "the device's memory could be taken away";
  EXPECT_TRUE(fcntl(shared, F_GETFD) & FD_CLOEXEC);
  close(shared);

  EXPECT_EQ(client->munmap(view, kMiB), 0);
  EXPECT_EQ(client->munmap(view, kMiB), -EINVAL);
  EXPECT_EQ(client->ioctl(misc, abi::kGetVaPlacement, reinterpret_cast<std::uintptr_t>(&place)),
            -ENXIO);
}

TEST_F(RemoteClient, RefusedMappingsChangeNothing) {
  void* out = nullptr;
  EXPECT_EQ(client->mmap(fd, 4096, 3, 0x123000, &out), -EPERM);
  EXPECT_EQ(client->mmap(fd, 0, 3, 0, &out), -EINVAL);
  EXPECT_EQ(client->mmap(fd, UINT64_MAX, 3, 0, &out), -EINVAL);
  EXPECT_EQ(client->mmap(fd, std::uint64_t{1} << 60, 3, 0, &out), -EPERM);
  EXPECT_EQ(client->mmap(5, 4096, 3, 0, &out), -EBADF);
  EXPECT_EQ(out, nullptr);
  // At a place of the caller's: what is there stays.
  void* mine = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<int*>(mine) = 7;
  EXPECT_EQ(client->mmap(fd, 4096, 3, 0x123000, &out, mine), -EPERM);
  EXPECT_EQ(*static_cast<int*>(mine), 7);
  munmap(mine, 4096);
}

TEST_F(RemoteClient, AForeignChunkIsReadOnly) {
  std::uint64_t handle = 0;
  ASSERT_EQ(alloc(*client, fd, 8192, &handle), 0);
  const std::uint64_t pa = pa_of(*client, fd, handle);
  const std::uint32_t word = 0xCAFE;
  ASSERT_EQ(copy(*client, fd, handle, &word, 4, 0, true), 0);
  const pid_t pid = spawn([&] {
    signal(SIGSEGV, SIG_DFL);  // no report of a sanitizer
    auto other = attach();
    const int theirs = other->open("/dev/neuron0", 2);
    void* view = nullptr;
    if (theirs < 0 || other->mmap(theirs, 8192, 3, pa, &view) != 0) return 1;
    if (*static_cast<std::uint32_t*>(view) != 0xCAFE) return 2;
    *static_cast<volatile std::uint32_t*>(view) = 1;  // SIGSEGV
    return 3;
  });
  EXPECT_EQ(wait_for(pid), 1000 + SIGSEGV);
}

TEST_F(RemoteClient, TextsAndCommands) {
  EXPECT_EQ(client->exists("/dev/neuron0"), 1);
  EXPECT_EQ(client->exists("/dev/neuron1"), 0);
  char text[64];
  const std::int64_t n = client->read_text("/sys/module/neuron/version", text, sizeof text);
  ASSERT_GT(n, 0);
  EXPECT_EQ(text[n], '\0');
  EXPECT_EQ(client->read_text("/sys/module/neuron/version", text, 2), 2);
  EXPECT_EQ(client->read_text("/nothing", text, sizeof text), -ENOENT);
  EXPECT_EQ(client->write_text("/sys/class/neuron_device/neuron0/reset", "1"), 1);
  EXPECT_EQ(client->write_text("/nothing", "1"), -ENOENT);
  std::string reply;
  EXPECT_EQ(client->control("no such command", &reply), -EINVAL);
  EXPECT_EQ(client->control("stuck", &reply), 0);
  EXPECT_EQ(reply.substr(0, 2), "1 ");
  ASSERT_EQ(client->control("holders 0", &reply), 0);
  EXPECT_EQ(reply.find(std::to_string(getpid()) + " "), 0u) << reply;
  EXPECT_NE(reply.find("emulator_remote_test"), std::string::npos) << reply;
}

// A request that waits in the driver does not hold other threads.
TEST_F(RemoteClient, ThreadsDoNotWaitForEachOther) {
  abi::Crwl lock;
  ASSERT_EQ(client->ioctl(fd, abi::kCrwlWriterEnter, reinterpret_cast<std::uintptr_t>(&lock)), 0);
  std::atomic<bool> waited{false};
  std::thread waiter([&] {
    abi::Crwl mine;
    EXPECT_EQ(client->ioctl(fd, abi::kCrwlReaderEnter, reinterpret_cast<std::uintptr_t>(&mine)),
              -EBUSY);
    waited = true;
  });
  int during = 0;
  for (; during < 100 && !waited; ++during) {
    abi::Semaphore s;
    ASSERT_EQ(client->ioctl(fd, abi::kSemaphoreRead, reinterpret_cast<std::uintptr_t>(&s)), 0);
  }
  // The first one would have come back after the waiter.
  EXPECT_GE(during, 2);
  waiter.join();
}

TEST_F(RemoteClient, ManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 30; ++round) {
        std::uint64_t handle = 0;
        ASSERT_EQ(alloc(*client, fd, 64 << 10, &handle), 0);
        std::vector<int> in(16 << 10, t * 1000 + round), out(16 << 10);
        ASSERT_EQ(copy(*client, fd, handle, in.data(), 64 << 10, 0, true), 0);
        ASSERT_EQ(copy(*client, fd, handle, out.data(), 64 << 10, 0, false), 0);
        ASSERT_EQ(in, out);
        ASSERT_EQ(release(*client, fd, handle), 0);
      }
    });
  for (std::thread& t : threads) t.join();
}

TEST_F(RemoteClient, AForkedChildIsRefusedAndHarmless) {
  const pid_t pid = spawn([&] {
    std::uint64_t handle = 0;
    void* out = nullptr;
    if (client->open("/dev/neuron0", 2) != -EACCES) return 1;
    if (alloc(*client, fd, 4096, &handle) != -EACCES) return 2;
    if (client->mmap(fd, 4096, 3, 0, &out) != -EACCES) return 3;
    if (client->close(fd) != -EACCES) return 4;
    return 0;
  });
  EXPECT_EQ(wait_for(pid), 0);
  std::uint64_t handle = 0;
  EXPECT_EQ(alloc(*client, fd, 4096, &handle), 0);
}

// As on the kernel's driver: the child has the descriptors, but no attach.
TEST_F(RemoteClient, AChildAdoptsTheDescriptors) {
  const int second = client->duplicate(fd);
  ASSERT_GE(second, 0);
  ForkToken token;
  ASSERT_EQ(client->fork_prepare(&token), 0);
  const pid_t pid = spawn([&] {
    if (client->adopt(token) != 0) return 1;
    std::uint64_t handle = 0;
    if (alloc(*client, fd, 4096, &handle) != -EACCES) return 2;
    abi::Semaphore s;
    if (client->ioctl(second, abi::kSemaphoreRead, reinterpret_cast<std::uintptr_t>(&s)) != 0)
      return 3;
    std::uint32_t first = 0;
    if (client->ioctl(fd, abi::kDeviceAppPid, reinterpret_cast<std::uintptr_t>(&first)) != 0 ||
        first == static_cast<std::uint32_t>(getpid()))
      return 4;
    if (client->close(second) != 0) return 5;
    if (client->open("/dev/neuron0", 2) < 0) return 6;
    return alloc(*client, fd, 4096, &handle) == 0 ? 0 : 7;
  });
  client->cancel(token);
  EXPECT_EQ(wait_for(pid), 0);
  ASSERT_TRUE(soon([&] { return server->processes().size() == 1; }));
  const Books after = books();
  EXPECT_EQ(after.attached, 1u);
  EXPECT_EQ(after.descriptors, 1u) << "descriptors of the child are left";
  std::uint64_t handle = 0;
  EXPECT_EQ(alloc(*client, fd, 4096, &handle), 0) << "the parent lost its attach";
  EXPECT_EQ(client->close(second), 0);
}

TEST_F(RemoteClient, ATokenIsGoodForOneChildOnly) {
  ForkToken token;
  ASSERT_EQ(client->fork_prepare(&token), 0);
  const pid_t first = spawn([&] { return client->adopt(token) == 0 ? 0 : 1; });
  EXPECT_EQ(wait_for(first), 0);
  const pid_t second = spawn([&] { return client->adopt(token) == -EACCES ? 0 : 1; });
  EXPECT_EQ(wait_for(second), 0);
  client->cancel(token);
  // A fork that never came, and a child that ends before it takes anything.
  ASSERT_EQ(client->fork_prepare(&token), 0);
  client->cancel(token);
  ASSERT_EQ(client->fork_prepare(&token), 0);
  const pid_t third = spawn([] { return 0; });
  client->cancel(token);
  EXPECT_EQ(wait_for(third), 0);
  // The parent itself is no child.
  ASSERT_EQ(client->fork_prepare(&token), 0);
  EXPECT_EQ(client->adopt(token), -EINVAL);
  client->cancel(token);
  EXPECT_TRUE(soon([&] { return books().descriptors == 1 && books().processes == 1; }));
}

TEST_F(RemoteClient, AllCallsFailAfterTheServerHasGone) {
  std::uint64_t handle = 0;
  ASSERT_EQ(alloc(*client, fd, kMiB, &handle), 0);
  void* view = nullptr;
  ASSERT_EQ(client->mmap(fd, kMiB, 3, pa_of(*client, fd, handle), &view), 0);
  static_cast<int*>(view)[5] = 55;
  stop();
  // The server lived in this process, which does not end: connections are closed.
  EXPECT_LT(alloc(*client, fd, 4096, &handle), 0);
  EXPECT_LT(client->open("/dev/neuron0", 2), 0);
  EXPECT_LT(client->exists("/dev/neuron0"), 0);
  EXPECT_EQ(static_cast<int*>(view)[5], 55);
  client->sleep_us(1000);
}

}  // namespace

}  // namespace opennrt::emu::remote::test
