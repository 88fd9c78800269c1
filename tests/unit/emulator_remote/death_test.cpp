// SPDX-License-Identifier: Apache-2.0
//
// Processes that end, at any point: what they held comes back.
#include <random>

#include "lab.h"

namespace opennrt::emu::remote::test {

namespace {

class Death : public RemoteTest {
 protected:
  // Everything a process can hold, over and over.
  [[noreturn]] void use_everything() {
    auto client = attach();
    for (;;) {
      const int fd = client->open("/dev/neuron0", 2);
      const int read_only = client->open("/dev/neuron0", 0);
      const int misc = client->open("/dev/neuron0", 1);
      if (fd < 0 || read_only < 0 || misc < 0) _exit(1);
      abi::CrwlNcMap mark;
      mark.nc_count = 1;
      mark.end_nc_index = 1;
      client->ioctl(misc, abi::kCrwlNcRangeMark, reinterpret_cast<std::uintptr_t>(&mark));
      std::uint64_t handle[3] = {};
      alloc(*client, fd, 4096, &handle[0]);
      alloc(*client, fd, kMiB, &handle[1], true);
      alloc(*client, fd, 5 * kMiB, &handle[2]);
      std::vector<char> bytes(kMiB, 'x');
      copy(*client, fd, handle[2], bytes.data(), bytes.size(), 4096, true);
      void* view = nullptr;
      if (client->mmap(fd, kMiB, 3, pa_of(*client, fd, handle[1]), &view) == 0)
        std::memset(view, 'y', kMiB);
      abi::DsInfo store;
      client->ioctl(fd, abi::kAcquireNeuronDs, reinterpret_cast<std::uintptr_t>(&store));
      abi::Crwl lock;
      client->ioctl(fd, abi::kCrwlWriterEnter, reinterpret_cast<std::uintptr_t>(&lock));
      copy(*client, fd, handle[2], bytes.data(), bytes.size(), 0, false);
      ForkToken token;
      if (client->fork_prepare(&token) == 0) client->cancel(token);
      client->ioctl(fd, abi::kCrwlReaderExit, reinterpret_cast<std::uintptr_t>(&lock));
      if (view) client->munmap(view, kMiB);
      release(*client, fd, handle[1]);
      for (const int number : {read_only, fd, misc}) client->close(number);
    }
  }
};

TEST_F(Death, KilledAtAnyPointEverythingReturns) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const pid_t pid = spawn([&] {
      use_everything();
      return 0;
    });
    ASSERT_TRUE(soon([&] { return server->processes().knows(static_cast<std::uint32_t>(pid)); }));
    std::this_thread::sleep_for(std::chrono::microseconds(round == 0 ? 50'000 : random() % 8000));
    kill(pid, SIGKILL);
    ASSERT_EQ(wait_for(pid), 1000 + SIGKILL);
    ASSERT_TRUE(soon([&] { return server->processes().size() == 0; })) << round;
    const Books after = books();
    EXPECT_TRUE(after == Books{}) << round;
  }
  // The pools are whole: what fitted at the start fits now.
  auto client = attach();
  const int fd = client->open("/dev/neuron0", 2);
  EXPECT_EQ(fd, Client::kFirstDescriptor);
  std::uint64_t handle = 0;
  EXPECT_EQ(alloc(*client, fd, 128 * kMiB, &handle, true), 0);
  EXPECT_EQ(alloc(*client, fd, std::uint64_t{1} << 29, &handle), 0);
  abi::Crwl lock;
  EXPECT_EQ(client->ioctl(fd, abi::kCrwlWriterEnter, reinterpret_cast<std::uintptr_t>(&lock)), 0);
}

// exec closes connections and keeps descriptors of a process: a connection that
// ends says nothing about the process.
TEST_F(Death, TheEndOfAConnectionReleasesNothing) {
  auto client = attach();
  const int fd = client->open("/dev/neuron0", 2);
  std::uint64_t handle = 0;
  ASSERT_EQ(alloc(*client, fd, 4096, &handle), 0);
  client.reset();
  client = attach();
  EXPECT_NE(pa_of(*client, fd, handle), UINT64_MAX);
  EXPECT_EQ(client->close(fd), 0);
  EXPECT_EQ(books().chunks, 0u);
}

TEST_F(Death, ASeventeenthProcessIsRefusedUntilOneEnds) {
  std::vector<pid_t> pids;
  for (int i = 0; i < 16; ++i)
    pids.push_back(spawn([&] {
      auto mine = attach();
      if (mine->open("/dev/neuron0", 2) < 0) return 1;
      pause();
      return 0;
    }));
  ASSERT_TRUE(soon([&] { return books().attached == 16; }));
  auto client = attach();
  EXPECT_EQ(client->open("/dev/neuron0", 2), -EBUSY);
  std::string reply;
  ASSERT_EQ(client->control("holders 0", &reply), 0);
  for (const pid_t pid : pids)
    EXPECT_NE(reply.find(std::to_string(pid) + " "), std::string::npos) << pid;
  kill(pids[3], SIGKILL);
  EXPECT_TRUE(soon([&] { return client->open("/dev/neuron0", 2) >= 0; }));
  for (const pid_t pid : pids) {
    kill(pid, SIGKILL);
    wait_for(pid);
  }
}

// The next request after the end of a process finds its place free at once.
TEST_F(Death, WhoSawAnEndFindsThePlaceFree) {
  const auto holder = [&] {
    auto mine = attach();
    if (mine->open("/dev/neuron0", 2) < 0) return 1;
    pause();
    return 0;
  };
  std::vector<pid_t> pids;
  for (int i = 0; i < 16; ++i) pids.push_back(spawn(holder));
  auto client = attach();
  for (int round = 0; round < 40; ++round) {
    ASSERT_TRUE(soon([&] { return books().attached == 16; })) << round;
    pid_t& one = pids[static_cast<std::size_t>(round) % pids.size()];
    kill(one, SIGKILL);
    wait_for(one);
    const int fd = client->open("/dev/neuron0", 2);
    EXPECT_GE(fd, 0) << round;
    if (fd >= 0) {
      EXPECT_EQ(client->close(fd), 0);
    }
    one = spawn(holder);
  }
  for (const pid_t pid : pids) {
    kill(pid, SIGKILL);
    wait_for(pid);
  }
}

// A child that was forked without a word holds the parent's sockets open.
// A transfer of millions of descriptors ends with its process, and the others are
// served as if it had ended at once.
TEST_F(Death, ALongTransferEndsWithItsProcess) {
  constexpr std::uint32_t kCount = 2u << 20, kEngine = 0, kQueue = 1;
  auto mine = attach();
  ASSERT_TRUE(mine);
  const int fd = mine->open("/dev/neuron0", 2);
  std::uint64_t last = 0;
  ASSERT_EQ(alloc(*mine, fd, 65536, &last), 0);
  const std::uint64_t last_pa = pa_of(*mine, fd, last);
  const pid_t pid = spawn([&] {
    auto client = attach();
    const int own = client->open("/dev/neuron0", 2);
    std::uint64_t ring[2] = {}, data[2] = {};
    for (int side = 0; side < 2; ++side)
      if (alloc(*client, own, kCount * 16, &ring[side]) != 0 ||
          alloc(*client, own, 65536, &data[side]) != 0)
        return 1;
    const std::vector<char> ones(65536, 1);
    if (copy(*client, own, data[0], ones.data(), ones.size(), 0, true) != 0) return 2;
    struct Item {
      std::uint32_t control, meta;
      std::uint64_t address;
    };
    constexpr std::uint32_t kRingId = 1u << 24, kFirst = 1u << 26, kLast = 1u << 27;
    for (int side = 0; side < 2; ++side) {
      std::vector<Item> items(
          kCount, {side ? kRingId : kRingId | kFirst | kLast, 0, pa_of(*client, own, data[side])});
      if (side) items.back().address = last_pa;
      if (copy(*client, own, ring[side], items.data(), items.size() * sizeof(Item), 0, true) != 0)
        return 3;
    }
    abi::DmaQueueInit init;
    init.eng_id = kEngine;
    init.qid = kQueue;
    init.tx_desc_count = init.rx_desc_count = kCount;
    init.tx_handle = ring[0];
    init.rx_handle = ring[1];
    if (client->ioctl(own, abi::kDmaQueueInit, reinterpret_cast<std::uintptr_t>(&init)) != 0)
      return 4;
    abi::DmaQueueCopyStart go;
    go.eng_id = kEngine;
    go.qid = kQueue;
    go.tx_desc_count = go.rx_desc_count = kCount;
    client->ioctl(own, abi::kDmaQueueCopyStart, reinterpret_cast<std::uintptr_t>(&go));
    return 5;
  });
  // Under way: the queue is asked about, which does not wait for the end either. At
  // the end the head is 0 again.
  RingState tx, rx;
  ASSERT_TRUE(soon([&] {
    machine->node(0)->device->queue_state(kEngine, kQueue, &tx, &rx);
    return tx.head != 0;
  }));
  kill(pid, SIGKILL);
  ASSERT_EQ(wait_for(pid), 1000 + SIGKILL);
  std::uint64_t handle = 0;
  EXPECT_EQ(alloc(*mine, fd, 4096, &handle), 0);
  EXPECT_TRUE(soon([&] { return !server->processes().knows(static_cast<std::uint32_t>(pid)); }));
  char byte = 9;
  ASSERT_EQ(copy(*mine, fd, last, &byte, 1, 0, false), 0);
  EXPECT_EQ(byte, 0) << "the transfer went on to its end";
  EXPECT_EQ(mine->close(fd), 0);
}

TEST_F(Death, AChildThatOutlivesItsParentHoldsNothing) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t pid = spawn([&] {
    auto mine = attach();
    if (mine->open("/dev/neuron0", 2) < 0) return 1;
    const pid_t orphan = fork();
    if (orphan == 0) {
      pause();
      _exit(0);
    }
    [[maybe_unused]] const ssize_t n = write(ready[1], &orphan, sizeof orphan);
    pause();
    return 0;
  });
  pid_t orphan = -1;
  ASSERT_EQ(read(ready[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  ASSERT_EQ(books().attached, 1u);
  kill(pid, SIGKILL);
  wait_for(pid);
  EXPECT_TRUE(soon([&] { return books().attached == 0 && books().processes == 0; }));
  EXPECT_EQ(kill(orphan, SIGKILL), 0) << "it did not outlive its parent";
  close(ready[0]);
  close(ready[1]);
}

}  // namespace

}  // namespace opennrt::emu::remote::test
