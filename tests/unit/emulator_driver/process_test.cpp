// SPDX-License-Identifier: Apache-2.0
//
// What a process leaves behind, what others see of it, and what two share.
#include <functional>
#include <utility>

#include "driver/operations.h"
#include "harness.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu::test {
namespace {

abi::DmaQueueInit ring(std::uint32_t engine, std::uint32_t queue, std::uint64_t handle) {
  abi::DmaQueueInit a;
  a.eng_id = engine;
  a.qid = queue;
  a.tx_desc_count = a.rx_desc_count = 128;
  a.tx_handle = a.rx_handle = handle;
  return a;
}

abi::DmaQueueState queue_state(Process& p, int fd, std::uint32_t engine, std::uint32_t queue) {
  abi::DmaQueueState tx, rx;
  abi::DmaQueueGetState a;
  a.eng_id = engine;
  a.qid = queue;
  a.tx = reinterpret_cast<std::uintptr_t>(&tx);
  a.rx = reinterpret_cast<std::uintptr_t>(&rx);
  EXPECT_EQ(p.call(fd, abi::kDmaQueueGetState, a), 0);
  return tx;
}

TEST_F(DriverTest, CleanUpOfAProcess) {
  Process p = process(10), q = process(11);
  const int pfd = p.open(), pmisc = p.open(1), qfd = q.open(), qmisc = q.open(1);
  std::uint64_t host = 0, device = 0, other = 0;
  ASSERT_EQ(p.alloc(pfd, 65536, &host, {.host = true}), 0);
  ASSERT_EQ(p.alloc(pfd, kMiB, &device), 0);
  ASSERT_EQ(q.alloc(qfd, 4096, &other), 0);
  abi::NotificationsInitV2 nq;
  nq.nq_type = 1;
  nq.size = 4096;
  nq.on_host_memory = 1;
  ASSERT_EQ(p.call(pfd, abi::kNotificationsInitV2, nq), 0);
  for (auto [engine, queue] : {std::pair{0u, 0u}, {0u, 14u}, {11u, 14u}}) {
    abi::DmaQueueInit a = ring(engine, queue, host);
    ASSERT_EQ(p.call(pfd, abi::kDmaQueueInit, a), 0);
  }
  const std::uint64_t ring_pa = p.pa(pfd, host);
  abi::Crwl lock;
  ASSERT_EQ(p.call(pfd, abi::kCrwlWriterEnter, lock), 0);
  abi::CrwlNcMapExt mark;
  mark.nc_count = 2;
  mark.end_nc_index = 1;
  ASSERT_EQ(p.call(pmisc, abi::kCrwlNcRangeMarkExt0, mark), 0);
  EXPECT_EQ(q.call(qmisc, abi::kCrwlNcRangeMarkExt0, mark), -EBUSY);
  abi::DsInfo store;
  ASSERT_EQ(p.call(pfd, abi::kAcquireNeuronDs, store), 0);

  ASSERT_EQ(p.close(pfd), 0);

  EXPECT_EQ(q.pa(qfd, host), UINT64_MAX);
  EXPECT_EQ(q.pa(qfd, device), UINT64_MAX);
  EXPECT_NE(q.pa(qfd, other), UINT64_MAX);
  EXPECT_NE(q.pa(qfd, nq.mem_handle), UINT64_MAX) << "notification queues outlive the process";
  EXPECT_NE(queue_state(q, qfd, 0, 0).base_addr, ring_pa);
  EXPECT_EQ(queue_state(q, qfd, 0, 0).length, 64u);
  EXPECT_EQ(queue_state(q, qfd, 0, 14).base_addr, ring_pa) << "an instruction ring stays";
  EXPECT_NE(queue_state(q, qfd, 11, 14).base_addr, ring_pa);
  EXPECT_EQ(q.call(qfd, abi::kCrwlWriterEnter, lock), 0) << "the model lock is free";
  store.pid = 10;
  EXPECT_EQ(q.call(qfd, abi::kAcquireNeuronDs, store), -ENOENT);
  EXPECT_EQ(q.call(qmisc, abi::kCrwlNcRangeMarkExt0, mark), -EBUSY) << "misc lane is still open";
  ASSERT_EQ(p.close(pmisc), 0);
  EXPECT_EQ(q.call(qmisc, abi::kCrwlNcRangeMarkExt0, mark), 0);
}

// The memory of an engine that still runs goes to somebody else.
TEST_F(DriverTest, ProgramsEndWithTheirProcess) {
  Process p = process(10), q = process(11);
  const int pfd = p.open(), qfd = q.open();
  Device& device = *machine->node(0)->device;
  const nrtp_arch_plugin& arch = *nrtp_arch_query(1, 0);
  const nrtp_product* const chip = product("trn1.2xlarge");
  const auto start = [&](std::uint32_t engine, std::uint64_t pa) {
    const std::uint64_t block = arch.address->nx_device(chip, 0, engine);
    const auto put = [&](std::uint64_t reg, std::uint64_t value) {
      const auto word = static_cast<std::uint32_t>(value);
      ASSERT_EQ(device.write(block + reg, &word, sizeof word), 0);
    };
    put(arch.ib->nx_start_addr_lo, pa);
    put(arch.ib->nx_start_addr_hi, pa >> 32);
    put(arch.ib->nx_start_ctrl, 1);
  };
  auto for_ever = isa::zero_record<isa::CompareBranchRecord>(isa::kOpCompareBranch);
  for_ever.target_mode = isa::kTargetRelative;
  auto mark = isa::zero_record<isa::ControlRecord>(isa::kOpNop);
  mark.h.update_mode = isa::kUpdateSemInc;
  mark.h.update_index = 50;

  std::uint64_t mine = 0, other = 0, next = 0;
  ASSERT_EQ(p.alloc(pfd, kMiB, &mine), 0);
  ASSERT_EQ(q.alloc(qfd, kMiB, &other), 0);
  const std::uint64_t pa = p.pa(pfd, mine);
  ASSERT_EQ(p.copy(pfd, mine, &for_ever, sizeof for_ever, 0, true), 0);
  ASSERT_EQ(q.copy(qfd, other, &for_ever, sizeof for_ever, 0, true), 0);
  start(NRTP_ENGINE_PE, pa);
  start(NRTP_ENGINE_SP, q.pa(qfd, other));
  ASSERT_TRUE(machine->run(1000));

  ASSERT_EQ(p.close(pfd), 0);
  ASSERT_EQ(q.alloc(qfd, kMiB, &next), 0);
  ASSERT_EQ(q.pa(qfd, next), pa) << "memory of another place says nothing";
  const isa::ControlRecord marks[] = {mark, isa::zero_record<isa::ControlRecord>(isa::kOpHalt)};
  ASSERT_EQ(q.copy(qfd, next, marks, sizeof marks, 0, true), 0);
  EXPECT_TRUE(machine->run(1000)) << "a program of another process ended too";
  EXPECT_EQ(device.semaphore_read(0, 50), 0u);
  start(NRTP_ENGINE_PE, pa);
  machine->run(1000);
  EXPECT_EQ(device.semaphore_read(0, 50), 1u);
}

// Memory of a caller that does something else while the driver reads it.
class Interrupted final : public UserMemory {
 public:
  explicit Interrupted(std::function<void()> between) : between_(std::move(between)) {}
  int read(std::uint64_t address, void* to, std::uint64_t bytes) override {
    if (bytes > 4096 && between_) std::exchange(between_, nullptr)();
    return memory_.read(address, to, bytes);
  }
  int write(std::uint64_t address, const void* from, std::uint64_t bytes) override {
    return memory_.write(address, from, bytes);
  }
  void* direct(std::uint64_t, std::uint64_t) override { return nullptr; }

 private:
  DirectMemory memory_;
  std::function<void()> between_;
};

TEST_F(DriverTest, MemoryFreedUnderACopyGoesToNobody) {
  for (const bool by_close : {false, true}) {
    for (const bool host : {false, true}) {
      Process p = process(10), q = process(11);
      const int pfd = p.open(), qfd = q.open();
      std::uint64_t mine = 0, during = 0, after = 0;
      ASSERT_EQ(p.alloc(pfd, 8192, &mine, {.host = host}), 0);
      const std::uint64_t pa = p.pa(pfd, mine);
      Interrupted memory([&] {
        EXPECT_EQ(by_close ? p.close(pfd) : p.free(pfd, mine), 0);
        EXPECT_EQ(p.pa(qfd, mine), UINT64_MAX);
        EXPECT_EQ(q.alloc(qfd, 8192, &during, {.host = host}), 0);
        EXPECT_NE(q.pa(qfd, during), pa) << "the copy would go on into memory of another process";
      });
      const std::vector<char> bytes(8192, 'x');
      abi::MemBufCopy64 copy;
      copy.mem_handle = mine;
      copy.buffer = reinterpret_cast<std::uintptr_t>(bytes.data());
      copy.size = 8000;
      copy.copy_to_mem_handle = 1;
      EXPECT_EQ(p.raw(pfd, abi::kMemBufCopy64, reinterpret_cast<std::uintptr_t>(&copy), memory), 0);
      EXPECT_NE(during, 0u) << "the copy did not ask for the bytes";
      ASSERT_EQ(q.alloc(qfd, 8192, &after, {.host = host}), 0);
      EXPECT_EQ(q.pa(qfd, after), pa) << "what was freed did not come back";
      EXPECT_EQ(q.close(qfd), 0);
      if (!by_close) {
        EXPECT_EQ(p.close(pfd), 0);
      }
    }
  }
}

TEST_F(DriverTest, EachCloseCallDetachesOnce) {
  Process p = process(10);
  const int a = p.open(), b = p.open();
  std::uint64_t h = 0;
  ASSERT_EQ(p.alloc(a, 4096, &h), 0);
  ASSERT_EQ(p.close(b), 0);
  EXPECT_NE(p.pa(a, h), UINT64_MAX);
  const int copy = machine->duplicate(a);
  ASSERT_GE(copy, 0);
  ASSERT_EQ(p.close(copy), 0);
  EXPECT_EQ(p.pa(a, h), UINT64_MAX) << "the attach is gone, the descriptor is not";
  abi::DeviceInfo info;
  EXPECT_EQ(p.call(a, abi::kDeviceInfo, info), 0);
  EXPECT_EQ(machine->duplicate(b), -EBADF);
}

TEST_F(DriverTest, HostAddressesInDescriptorsAreChecked) {
  Process p = process(10), q = process(11), outsider = process(12);
  const int pfd = p.open(), qfd = q.open(), misc = outsider.open(1);
  (void)misc;
  std::uint64_t mine = 0, theirs = 0;
  ASSERT_EQ(p.alloc(pfd, 4096, &mine, {.host = true}), 0);
  ASSERT_EQ(q.alloc(qfd, 4096, &theirs, {.host = true}), 0);
  const std::uint64_t foreign = q.pa(qfd, theirs);
  std::uint64_t desc[2] = {0, 0};
  abi::DmaCopyDescriptors64 a;
  a.mem_handle = mine;
  a.buffer = reinterpret_cast<std::uintptr_t>(desc);
  a.num_descs = 1;
  const auto write = [&](std::uint64_t address) {
    desc[1] = address;
    return p.call(pfd, abi::kDmaCopyDescriptors64, a);
  };
  EXPECT_EQ(write(p.pa(pfd, mine) + 4095), 0);
  EXPECT_EQ(write(foreign), 0) << "any chunk of an attached device";
  EXPECT_EQ(write(0x100000000000), -EINVAL) << "host memory of nobody";
  EXPECT_EQ(write(0x1000), 0) << "device addresses are not checked";
  a.queue_type = 2;
  EXPECT_EQ(write(0x1000), -1);
  a.queue_type = 0;
  a.num_descs = 257;
  EXPECT_EQ(write(0x1000), -EINVAL);
  a.num_descs = 1;
  ASSERT_EQ(q.close(qfd), 0);
  EXPECT_EQ(write(foreign), -EINVAL);
}

TEST_F(DriverTest, AsyncSlots) {
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t host = 0, device = 0;
  ASSERT_EQ(p.alloc(fd, 65536, &host, {.host = true}), 0);
  ASSERT_EQ(p.alloc(fd, 65536, &device), 0);
  std::vector<std::uint8_t> in(65536), out(65536);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint8_t>(i * 7 + (i >> 8));
  ASSERT_EQ(p.copy(fd, host, in.data(), in.size(), 0, true), 0);
  const auto start = [&](std::int32_t previous, std::uint64_t offset, std::uint64_t bytes) {
    abi::MemCopyAsync64 a;
    a.src_mem_handle = host;
    a.dst_mem_handle = device;
    a.size = bytes;
    a.src_offset = a.dst_offset = offset;
    a.pwait_handle = static_cast<std::uint32_t>(previous);
    const std::int64_t r = p.call(fd, abi::kMemCopyAsync64, a);
    return r != 0 ? r : std::int64_t{a.wait_handle};
  };
  const auto wait = [&](std::int32_t slot) {
    abi::MemCopyAsyncWait a;
    a.src_mem_handle = host;
    a.dst_mem_handle = device;
    a.pwait_handle = static_cast<std::uint32_t>(slot);
    return p.call(fd, abi::kMemCopyAsyncWait, a);
  };
  EXPECT_EQ(start(-1, 0, 32768), 1);
  EXPECT_EQ(start(1, 32768, 16384), 2);
  EXPECT_EQ(start(2, 49152, 16384), 1);
  EXPECT_EQ(wait(2), -EINVAL) << "chained slots are collected by the chain";
  EXPECT_EQ(wait(1), 0);
  EXPECT_EQ(wait(1), -EINVAL) << "the second wait";
  EXPECT_EQ(start(1, 0, 16), -EINVAL);
  EXPECT_EQ(start(3, 0, 16), -EINVAL);
  EXPECT_EQ(start(-2, 0, 16), -EINVAL);
  EXPECT_EQ(start(0, 0, 16), 0) << "synchronous";
  for (std::int32_t slot : {0, 3, -1}) EXPECT_EQ(wait(slot), -EINVAL);
  ASSERT_EQ(p.copy(fd, device, out.data(), out.size(), 0, false), 0);
  EXPECT_EQ(in, out);
}

TEST_F(DriverTest, AsyncTransferHasALimit) {
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t a_handle = 0, b_handle = 0;
  constexpr std::uint64_t kMax = 133169152;
  ASSERT_EQ(p.alloc(fd, kMax + 4096, &a_handle), 0);
  ASSERT_EQ(p.alloc(fd, kMax + 4096, &b_handle, {.channel = 1}), 0);
  abi::MemCopyAsync64 a;
  a.src_mem_handle = a_handle;
  a.dst_mem_handle = b_handle;
  a.size = kMax + 1;
  a.pwait_handle = UINT32_MAX;
  EXPECT_EQ(p.call(fd, abi::kMemCopyAsync64, a), -EINVAL);
}

TEST_F(DriverTest, QueueRules) {
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t h = 0;
  ASSERT_EQ(p.alloc(fd, 65536, &h, {.host = true}), 0);
  const auto init = [&](auto change) {
    abi::DmaQueueInit a = ring(1, 3, h);
    change(a);
    return p.call(fd, abi::kDmaQueueInit, a);
  };
  EXPECT_EQ(init([](auto&) {}), 0);
  EXPECT_EQ(init([](auto& a) { a.eng_id = 132; }), -EINVAL);
  EXPECT_EQ(init([](auto& a) { a.eng_id = 34; }), -EINVAL) << "an engine this family lacks";
  EXPECT_EQ(init([](auto& a) { a.qid = 16; }), -EINVAL);
  EXPECT_EQ(init([](auto& a) { a.tx_desc_count = 33; }), -1);
  EXPECT_EQ(init([](auto& a) { a.rx_desc_count = 16; }), -EINVAL);
  EXPECT_EQ(init([](auto& a) { a.rxc_handle = 5; }), -1);
  EXPECT_EQ(init([](auto& a) { a.eng_id = 32, a.qid = 0; }), -EALREADY) << "the driver's own";
  const auto start = [&](std::uint32_t tx, std::uint32_t rx, std::uint32_t queue) {
    abi::DmaQueueCopyStart a;
    a.eng_id = 1;
    a.qid = queue;
    a.tx_desc_count = tx;
    a.rx_desc_count = rx;
    return p.call(fd, abi::kDmaQueueCopyStart, a);
  };
  EXPECT_EQ(start(1, 0, 3), -1);
  EXPECT_EQ(start(129, 1, 3), -1);
  EXPECT_EQ(start(1, 129, 3), -1);
  EXPECT_EQ(start(1, 1, 4), -1) << "never set up";
  EXPECT_EQ(start(1, 1, 16), -1);
  ASSERT_EQ(init([](auto& a) { a.tx_handle = a.rx_handle = 0; }), 0);
  EXPECT_EQ(start(1, 1, 3), -EINVAL) << "no ring memory";
  ASSERT_EQ(init([](auto& a) { a.tx_handle = a.rx_handle = 999; }), 0);
  EXPECT_EQ(queue_state(p, fd, 1, 3).base_addr, 0u) << "an unknown handle counts as none";
}

TEST_F(DriverTest, ResetOfOneCoreLeavesTheOther) {
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t h = 0;
  ASSERT_EQ(p.alloc(fd, 65536, &h, {.host = true}), 0);
  for (std::uint32_t engine : {1u, 17u}) {
    abi::DmaQueueInit a = ring(engine, 2, h);
    ASSERT_EQ(p.call(fd, abi::kDmaQueueInit, a), 0);
  }
  abi::NotificationsInitV2 nq[2];
  for (std::uint32_t core : {0u, 1u}) {
    nq[core].nq_dev_id = core;
    nq[core].nq_type = 1;
    nq[core].engine_index = 4;
    nq[core].size = 4096;
    ASSERT_EQ(p.call(fd, abi::kNotificationsInitV2, nq[core]), 0);
    abi::Semaphore s;
    s.nc_id = core;
    s.value = 5;
    ASSERT_EQ(p.call(fd, abi::kSemaphoreWrite, s), 0);
    abi::CinitSet c;
    c.nc_id = core;
    c.state = 1;
    ASSERT_EQ(p.call(fd, abi::kCinitSetState, c), 0);
  }
  abi::DeviceReset reset;
  reset.nc_map = 2;
  ASSERT_EQ(p.call(fd, abi::kNcReset, reset), 0);
  EXPECT_EQ(reset.request_id, 10u);
  EXPECT_EQ(p.call(fd, abi::kNcReset, reset), 1) << "one is pending until it is collected";
  abi::DeviceReady ready;
  ready.request_id = reset.request_id;
  ASSERT_EQ(p.call(fd, abi::kNcResetReady, ready), 0);
  EXPECT_EQ(ready.result, 0);
  ASSERT_EQ(p.call(fd, abi::kNcResetReady, ready), 0);
  EXPECT_EQ(ready.result, 1) << "collected once";

  EXPECT_NE(p.pa(fd, nq[0].mem_handle), UINT64_MAX);
  EXPECT_EQ(p.pa(fd, nq[1].mem_handle), UINT64_MAX);
  EXPECT_EQ(machine->node(0)->device->semaphore_read(0, 0), 5u);
  EXPECT_EQ(machine->node(0)->device->semaphore_read(1, 0), 0u);
  abi::CinitSet c;
  c.state = 2;
  EXPECT_EQ(p.call(fd, abi::kCinitSetState, c), 0);
  EXPECT_EQ(c.new_state, 2u);
  c.nc_id = 1;
  EXPECT_EQ(p.call(fd, abi::kCinitSetState, c), 0);
  EXPECT_EQ(c.new_state, 3u);
  abi::DmaQueueCopyStart start;
  start.eng_id = 17;
  start.qid = 2;
  start.rx_desc_count = 1;
  EXPECT_EQ(p.call(fd, abi::kDmaQueueCopyStart, start), -1) << "its ring is gone";
  start.eng_id = 1;
  EXPECT_EQ(p.call(fd, abi::kDmaQueueCopyStart, start), 0);
}

TEST_F(DriverTest, FaultPointsAreNamedAfterRequests) {
  nrtp_host host{};
  host.size = sizeof host;
  host.fault = [](void*, const char* point) -> int {
    return std::strcmp(point, "MEM_ALLOC_V2MT64") == 0 ? NRTP_RESOURCE : NRTP_OK;
  };
  MachineConfig config = default_config();
  config.host = &host;
  build(config);
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t h = 0;
  EXPECT_EQ(p.alloc(fd, 4096, &h), -ENOMEM);
  abi::DeviceInfo info;
  EXPECT_EQ(p.call(fd, abi::kDeviceInfo, info), 0);
}

TEST_F(DriverTest, BatchStopsAtTheFirstFailure) {
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t h = 0;
  ASSERT_EQ(p.alloc(fd, 65536, &h, {.host = true}), 0);
  auto batch = std::make_unique<abi::DmaQueueInitBatch>();
  batch->count = 3;
  for (std::uint32_t i = 0; i < 3; ++i) batch->entries[i] = ring(2, i, h);
  batch->entries[1].qid = 16;
  EXPECT_EQ(p.call(fd, abi::kDmaQueueInitBatch, *batch), -EINVAL);
  EXPECT_EQ(queue_state(p, fd, 2, 0).length, 128u);
  EXPECT_EQ(queue_state(p, fd, 2, 2).length, 0u);
  batch->count = 256;
  EXPECT_EQ(p.call(fd, abi::kDmaQueueInitBatch, *batch), -E2BIG);
}

TEST_F(DriverTest, StoresAreReusedInTheOrderOfClearing) {
  std::vector<int> fds;
  std::vector<std::uint64_t> cookies;
  for (std::uint32_t pid = 1; pid <= 16; ++pid) {
    Process p = process(pid);
    fds.push_back(p.open());
    abi::DsInfo store;
    ASSERT_EQ(p.call(fds.back(), abi::kAcquireNeuronDs, store), 0);
    EXPECT_EQ(store.size, 262144u);
    cookies.push_back(store.mmap_offset);
  }
  for (std::uint32_t pid : {5u, 2u}) {
    Process p = process(pid);
    abi::DsInfo store;
    EXPECT_EQ(p.call(fds[pid - 1], abi::kReleaseNeuronDs, store), 0);
  }
  for (std::uint32_t pid : {2u, 5u}) {
    Process p = process(pid);
    abi::DsInfo store;
    ASSERT_EQ(p.call(fds[pid - 1], abi::kAcquireNeuronDs, store), 0);
    EXPECT_EQ(store.mmap_offset, cookies[pid == 2 ? 4 : 1]);
  }
}

TEST_F(DriverTest, StoreCountersAreFolded) {
  Process p = process(10);
  const int fd = p.open();
  abi::DsInfo store;
  ASSERT_EQ(p.call(fd, abi::kAcquireNeuronDs, store), 0);
  void* map = nullptr;
  ASSERT_EQ(p.mmap(fd, store.size, 3, store.mmap_offset, &map), 0);
  auto* bytes = static_cast<std::uint8_t*>(map);
  const std::uint64_t five = 5, seven = 7;
  std::memcpy(bytes + 256 + 8, &five, 8);           // counter 1 of core 0
  std::memcpy(bytes + 55936 + 512 + 8, &seven, 8);  // counter 32 of core 1
  abi::DsInfo release;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(p.call(fd, abi::kReleaseNeuronDs, release), 0);
  EXPECT_EQ(machine->node(0)->store_totals[0][1], 5u);
  EXPECT_EQ(machine->node(0)->store_totals[1][32], 7u);
  EXPECT_EQ(bytes[256 + 8], 0) << "cleared at once";
}

TEST_F(DriverTest, ReadersWaitForTheWriterAndGiveUp) {
  Process p = process(10), q = process(11);
  const int pfd = p.open(), qfd = q.open();
  abi::Crwl lock;
  std::memset(lock.uuid.value, 0x11, sizeof lock.uuid.value);
  ASSERT_EQ(p.call(pfd, abi::kCrwlWriterEnter, lock), 0);
  EXPECT_EQ(q.call(qfd, abi::kCrwlReaderEnter, lock), -EBUSY);
  ASSERT_EQ(p.call(pfd, abi::kCrwlWriterDowngrade, lock), 0);
  EXPECT_EQ(q.call(qfd, abi::kCrwlReaderEnter, lock), -ENOENT) << "not the writer's process";
  EXPECT_EQ(p.call(pfd, abi::kCrwlReaderEnter, lock), 0);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(p.call(pfd, abi::kCrwlReaderExit, lock), 0);
  EXPECT_EQ(p.call(pfd, abi::kCrwlReaderExit, lock), -EINVAL);
}

// The search goes on two cores past an occupied one.
TEST_F(DriverTest, CoreRangeSearchSkipsACore) {
  Process p = process(10);
  const int fd = p.open(1);
  const auto mark = [&](std::uint32_t count, std::uint32_t start, std::uint32_t end) {
    abi::CrwlNcMapExt a;
    a.nc_count = count;
    a.start_nc_index = start;
    a.end_nc_index = end;
    const std::int64_t r = p.call(fd, abi::kCrwlNcRangeMarkExt0, a);
    return r == 0 ? static_cast<std::int64_t>(a.bitmap[0]) : r;
  };
  ASSERT_EQ(mark(1, 1, 1), 0x2);
  ASSERT_EQ(mark(1, 4, 4), 0x10);
  EXPECT_EQ(mark(2, 0, 7), 0xC0);
  EXPECT_EQ(mark(2, 0, 7), -EBUSY) << "although 2 and 3 are free";
  EXPECT_EQ(mark(1, 8, 7), -EINVAL);
  EXPECT_EQ(mark(1, 0, 512), -EINVAL);
  EXPECT_EQ(mark(1, UINT32_MAX, UINT32_MAX), -EINVAL);
}

TEST_F(DriverTest, SynchronisationLimits) {
  Process p = process(10);
  const int fd = p.open();
  abi::Semaphore s;
  s.semaphore_index = 255;
  s.value = 7;
  EXPECT_EQ(p.call(fd, abi::kSemaphoreWrite, s), 0);
  s.value = 3;
  EXPECT_EQ(p.call(fd, abi::kSemaphoreIncrement, s), 0);
  s.value = 12;
  EXPECT_EQ(p.call(fd, abi::kSemaphoreDecrement, s), 0);
  EXPECT_EQ(p.call(fd, abi::kSemaphoreRead, s), 0);
  EXPECT_EQ(s.value, 0xFFFFFFFEu);
  for (std::uint32_t request : {abi::kSemaphoreRead, abi::kSemaphoreWrite, abi::kSemaphoreIncrement,
                                abi::kSemaphoreDecrement}) {
    abi::Semaphore bad;
    bad.semaphore_index = 256;
    EXPECT_EQ(p.call(fd, request, bad), -EINVAL);
    bad.semaphore_index = 65536;
    EXPECT_EQ(p.call(fd, request, bad), -EINVAL);
    bad.semaphore_index = 0;
    bad.nc_id = 2;
    EXPECT_EQ(p.call(fd, request, bad), -E2BIG);
  }
  abi::Event e;
  e.event_index = 256;
  EXPECT_EQ(p.call(fd, abi::kEventSet, e), -EINVAL);
  e.event_index = 0;
  e.nc_id = 2;
  EXPECT_EQ(p.call(fd, abi::kEventGet, e), -E2BIG);
}

TEST_F(DriverTest, BlockedRegistersAndOrderOfWrites) {
  Process p = process(10);
  const int fd = p.open();
  const nrtp_arch_plugin* arch = machine->config().arch;
  std::uint64_t addresses[3];
  std::uint32_t values[3] = {5, 1, 9};
  const std::uint64_t semaphore = kBar0Base + 0x2701400;
  abi::BarRw a;
  a.address = reinterpret_cast<std::uintptr_t>(addresses);
  a.data = reinterpret_cast<std::uintptr_t>(values);
  a.count = 3;
  for (std::uint32_t engine : {0u, 17u, 33u})
    for (std::uint32_t dir : {0u, 1u})
      for (std::uint32_t reg : {std::uint32_t{NRTP_QREG_BASE_LO}, std::uint32_t{NRTP_QREG_BASE_HI},
                                std::uint32_t{NRTP_QREG_TAIL_INC}}) {
        addresses[0] = semaphore;
        addresses[1] = kBar0Base + arch->dma->udma_bar0(machine->config().product, engine) +
                       arch->dma->queue_reg(15, dir, reg);
        addresses[2] = semaphore;
        EXPECT_EQ(p.call(fd, abi::kBarWrite, a), -EINVAL);
        EXPECT_EQ(machine->node(0)->device->semaphore_read(0, 0), 5u)
            << "writes before the blocked one are done, those behind it are not";
      }
  for (std::uint64_t offset : {0x30FA01F0, 0x30FA0800}) {
    addresses[0] = kBar0Base + offset;
    EXPECT_EQ(p.call(fd, abi::kBarWrite, a), -EINVAL);
  }
  a.count = 1;
  for (std::uint64_t address : {std::uint64_t{0}, kBar0Base - 4, kBar0Base + 0x3FFFFFFE,
                                kBar0Base + 0x40000000, UINT64_MAX}) {
    addresses[0] = address;
    EXPECT_EQ(p.call(fd, abi::kBarRead, a), -EINVAL) << std::hex << address;
    EXPECT_EQ(p.call(fd, abi::kBarWrite, a), -EINVAL) << std::hex << address;
  }
}

}  // namespace
}  // namespace opennrt::emu::test
