// SPDX-License-Identifier: Apache-2.0
//
// Faults of the driver on request: which request they meet, what it returns, and
// that the tables hold.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "driver/operations.h"
#include "harness.h"
#include "kill_process.h"
#include "support/driver_books.h"

namespace opennrt::emu::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::uint32_t index_of(const char* request) {
  const auto table = request_table();
  for (std::size_t i = 0; i < table.size(); ++i)
    if (std::string(table[i].name) == request) return static_cast<std::uint32_t>(i);
  ADD_FAILURE() << request;
  return 0;
}

FaultLimits limits() {
  FaultLimits l{.devices = 2, .cores = 2, .rings = 16, .channels = 2};
  for (const RequestEntry& entry : request_table()) l.requests.push_back(entry.name);
  return l;
}

std::vector<Fault> parse(const std::string& text) {
  std::vector<Fault> faults;
  std::string error;
  EXPECT_TRUE(parse_faults(text, limits(), &faults, &error)) << error;
  return faults;
}

class DriverFaultsTest : public DriverTest {
 protected:
  void SetUp() override {}
  void build_with(const std::string& faults, std::uint32_t devices = 1) {
    MachineConfig config = default_config();
    config.devices = devices;
    config.faults = parse(faults);
    config.kill_process = [this](const Client& client) {
      killed.push_back(client.pid);
      return true;
    };
    build(config);
  }
  void TearDown() override {
    if (!machine) return;
    EXPECT_EQ(MachineBooks::check(*machine), "");
  }
  std::vector<std::uint32_t> killed;
};

TEST(DriverFaultSetting, EveryKey) {
  const auto faults = parse(
      "[{ioctl: MEM_ALLOC_V2MT64, n: 3, count: 2, errno: ENOMEM, device: 1},"
      "{ioctl: BAR_READ, latency_us: 0x10}, {residue: 8, ioctl: MEM_FREE}, {ioctl: MEM_FREE, "
      "errno: 524}, {point: kill_process, ioctl: NC_RESET}, {point: memory_exhausted, channel: 1, "
      "after_bytes: 4096}, {point: memory_exhausted, host: true, after_bytes: 0}, {point: "
      "reset_failed, n: 0}, {point: reset_delayed, n: 2, reset_delay_ms: 7}]");
  ASSERT_EQ(faults.size(), 9u);
  EXPECT_EQ(faults[0].request, index_of("MEM_ALLOC_V2MT64"));
  EXPECT_EQ(faults[0].device, 1u);
  EXPECT_EQ(faults[0].error, ENOMEM);
  for (const auto& [number, covered] :
       {std::pair{1u, false}, {2u, false}, {3u, true}, {4u, true}, {5u, false}})
    EXPECT_EQ(faults[0].covers(number), covered) << number;
  EXPECT_EQ(faults[1].latency_us, 16u);
  EXPECT_TRUE(faults[1].covers(1) && faults[1].covers(1000)) << "without n every request";
  EXPECT_EQ(faults[2].residue, 8u);
  EXPECT_EQ(faults[3].error, 524);
  EXPECT_EQ(faults[4].point, Fault::Point::kKillProcess);
  EXPECT_EQ(faults[5].channel, 1u);
  EXPECT_TRUE(faults[6].host);
  EXPECT_TRUE(faults[7].covers(0));
  EXPECT_FALSE(faults[7].covers(1));
  EXPECT_EQ(faults[8].reset_delay_ms, 7u);
}

TEST(DriverFaultSetting, BadEntriesNameWhatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {"[{ioctl: MEM_ALLOCX, errno: EIO}]", "no driver request"},
      {"[{ioctl: ALLOC, errno: EIO}]", "there are MEM_ALLOC,"},
      {"[{ioctl: MEM_FREE}]", "needs one of the keys errno, residue, latency_us"},
      {"[{ioctl: MEM_FREE, errno: EWHAT}]", "errno is \"EWHAT\""},
      {"[{ioctl: MEM_FREE, errno: 0}]", "allowed are names such as ENOMEM and 1 to 4095"},
      {"[{ioctl: MEM_FREE, errno: 4096}]", "errno is \"4096\""},
      {"[{ioctl: MEM_FREE, errno: -12}]", "errno is \"-12\""},
      {"[{ioctl: MEM_FREE, errno: EIO, residue: 3}]", "exclude each other"},
      {"[{ioctl: MEM_FREE, residue: 0}]", "residue is 0"},
      {"[{ioctl: MEM_FREE, errno: EIO, n: 0}]", "the first request is 1"},
      {"[{ioctl: MEM_FREE, errno: EIO, count: 2}]", "count needs the key n"},
      {"[{ioctl: MEM_FREE, errno: EIO, n: 1, count: 0}]", "count is 0"},
      {"[{ioctl: MEM_FREE, errno: EIO, core: 0}]", "key core is not known"},
      {"[{ioctl: MEM_FREE, errno: EIO, device: 2}]", "device is \"2\""},
      {"[{ioctl: MEM_FREE, latency_us: 60000001}]", "allowed are 0 to 60000000"},
      {"[{point: kill_process}]", "needs the key ioctl"},
      {"[{point: kill_process, ioctl: MEM_FREE, n: 0}]", "the first request is 1"},
      {"[{point: memory_exhausted}]", "needs the key after_bytes"},
      {"[{point: memory_exhausted, after_bytes: 1, host: 2}]", "host is \"2\""},
      {"[{point: memory_exhausted, after_bytes: 1, host: 1, channel: 0}]", "exclude each other"},
      {"[{point: memory_exhausted, after_bytes: 1, channel: 2}]", "channel is \"2\""},
      {"[{point: reset_delayed}]", "needs the key reset_delay_ms"},
      {"[{point: reset_failed, reset_delay_ms: 600001}]", "reset_delay_ms is"},
      {"[{point: reset_failed, ioctl: MEM_FREE}]", "key ioctl is not known"},
      {"[{point: hang, errno: EIO}]", "key errno is not known"},
      {"[{n: 1}]", "key point is missing, or ioctl"},
  };
  for (const auto& [text, says] : rows) {
    std::vector<Fault> faults(2);
    std::string error;
    EXPECT_FALSE(parse_faults(text, limits(), &faults, &error)) << text;
    EXPECT_NE(error.find(says), std::string::npos) << text << ": " << error;
    EXPECT_EQ(error.find("emulator.faults, entry 1: "), 0u) << error;
    EXPECT_EQ(faults.size(), 2u);
  }
}

TEST_F(DriverFaultsTest, TheNthRequestOfADevice) {
  build_with("[{ioctl: MEM_ALLOC_V2MT64, n: 2, count: 2, errno: EIO}]", 2);
  Process p = process(10);
  const int fd = p.open(), other = p.open(2, "/dev/neuron1");
  std::uint64_t h = 0;
  for (const std::int64_t result : {0, -EIO, -EIO, 0}) {
    EXPECT_EQ(p.alloc(other, 4096, &h), 0) << "another device is not meant";
    EXPECT_EQ(p.alloc(fd, 4096, &h), result);
  }
  EXPECT_EQ(h, 2u) << "what failed took no handle";
}

TEST_F(DriverFaultsTest, ResidueAndLatency) {
  build_with("[{ioctl: MEM_FREE, residue: 8, n: 1}, {ioctl: DEVICE_INFO, latency_us: 20000}]");
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t h = 0;
  ASSERT_EQ(p.alloc(fd, 4096, &h), 0);
  EXPECT_EQ(p.free(fd, h), 8);
  EXPECT_NE(p.pa(fd, h), UINT64_MAX) << "it was not carried out";
  EXPECT_EQ(p.free(fd, h), 0);
  abi::DeviceInfo info;
  const auto begin = steady_clock::now();
  EXPECT_EQ(p.call(fd, abi::kDeviceInfo, info), 0);
  EXPECT_GE(steady_clock::now() - begin, milliseconds(20));
}

// A request that never gets to the driver counts for nothing.
TEST_F(DriverFaultsTest, RefusedRequestsDoNotCount) {
  build_with("[{ioctl: MEM_FREE, n: 1, errno: EIO}]");
  Process p = process(10), stranger = process(11);
  const int fd = p.open(), misc = p.open(1);
  EXPECT_EQ(stranger.free(fd, 1), -EACCES);
  EXPECT_EQ(p.free(misc, 1), -EINVAL);
  EXPECT_EQ(p.free(fd, 1), -EIO);
  EXPECT_EQ(p.free(fd, 1), -EINVAL);
}

TEST_F(DriverFaultsTest, KilledBeforeTheRequest) {
  build_with("[{point: kill_process, ioctl: MEM_ALLOC_V2MT64, n: 2}]");
  Process p = process(10), q = process(11);
  const int pfd = p.open(), qfd = q.open();
  std::uint64_t h = 0;
  EXPECT_EQ(p.alloc(pfd, 4096, &h), 0);
  EXPECT_EQ(q.alloc(qfd, 4096, &h), -EINTR);
  EXPECT_EQ(killed, std::vector<std::uint32_t>{11});
  EXPECT_EQ(p.alloc(pfd, 4096, &h), 0);
  EXPECT_EQ(h, 2u);
}

TEST(DriverFaultSetting, NobodyToKillIsRefused) {
  MachineConfig config = default_config();
  config.faults = parse("[{point: kill_process, ioctl: MEM_FREE}]");
  std::string error;
  EXPECT_EQ(Machine::create(config, &error), nullptr);
  EXPECT_NE(error.find("kill_process"), std::string::npos) << error;
}

TEST(KillProcess, OnlyTheProcessThatIsMeant) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    char c = 0;
    (void)!read(ready[0], &c, 1);
    _exit(0);
  }
  Client client;
  client.pid = static_cast<std::uint32_t>(child);
  // 22 fields of /proc/<pid>/stat; the name of this test has no space.
  std::uint64_t start = 0;
  std::FILE* file = std::fopen(("/proc/" + std::to_string(child) + "/stat").c_str(), "re");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(std::fscanf(file,
                        "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
                        "%*d %*d %*d %*d %lu",
                        &start),
            1);
  std::fclose(file);
  client.start_time = start + 1;
  EXPECT_FALSE(kill_process(client)) << "a later process with its number";
  client.start_time = 0;
  EXPECT_FALSE(kill_process(client)) << "unknown";
  for (const std::uint32_t pid : {0u, 1u, UINT32_MAX, 0x80000001u}) {
    Client nobody;
    nobody.pid = pid;
    nobody.start_time = start;
    EXPECT_FALSE(kill_process(nobody)) << pid;
  }
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "it lives";
  client.start_time = start;
  EXPECT_TRUE(kill_process(client));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(DriverFaultsTest, APoolEndsAndMemoryComesBack) {
  build_with("[{point: memory_exhausted, channel: 1, after_bytes: 12288}]");
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t h[4] = {};
  EXPECT_EQ(p.alloc(fd, 8192, &h[0], {.channel = 1}), 0);
  EXPECT_EQ(p.alloc(fd, 8192, &h[1], {.channel = 1}), -ENOMEM);
  EXPECT_EQ(p.alloc(fd, 4096, &h[1], {.channel = 1}), 0);
  EXPECT_EQ(p.alloc(fd, 4096, &h[2], {.type = 19, .channel = 1}), -ENOMEM);
  EXPECT_EQ(p.alloc(fd, kMiB, &h[2]), 0) << "another channel";
  EXPECT_EQ(p.alloc(fd, kMiB, &h[3], {.host = true}), 0);
  EXPECT_EQ(p.free(fd, h[0]), 0);
  EXPECT_EQ(p.alloc(fd, 8192, &h[0], {.channel = 1}), 0);
}

TEST_F(DriverFaultsTest, HostMemoryEnds) {
  build_with("[{point: memory_exhausted, host: 1, after_bytes: 4096}]");
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t h = 0;
  abi::DsInfo store;
  EXPECT_EQ(p.call(fd, abi::kAcquireNeuronDs, store), -ENOMEM) << "the driver's own too";
  EXPECT_EQ(p.alloc(fd, 8192, &h, {.host = true}), -ENOMEM);
  EXPECT_EQ(p.alloc(fd, 4096, &h, {.host = true}), 0);
  abi::HbmScrubStart scrub;
  EXPECT_EQ(p.call(fd, abi::kHbmScrubStart, scrub), -ENOMEM);
  EXPECT_EQ(p.alloc(fd, kMiB, &h), 0);
}

abi::DeviceReady reset(Process& p, int fd) {
  abi::DeviceReset a;
  a.nc_map = 1;
  EXPECT_EQ(p.call(fd, abi::kNcReset, a), 0);
  abi::DeviceReady ready;
  ready.request_id = a.request_id;
  EXPECT_EQ(p.call(fd, abi::kNcResetReady, ready), 0);
  return ready;
}

std::string text(Machine& machine, const std::string& file) {
  char buffer[64] = {};
  const std::int64_t n = machine.read_text(("/sys/class/neuron_device/neuron0/" + file).c_str(),
                                           buffer, sizeof buffer);
  return n < 0 ? "none" : buffer;
}

// The device that failed a reset cannot be opened until one through sysfs succeeds.
TEST_F(DriverFaultsTest, AFailedReset) {
  build_with("[{point: reset_failed, n: 2}, {point: reset_failed, n: 3}]");
  Process p = process(10), q = process(11);
  const int fd = p.open();
  EXPECT_EQ(reset(p, fd).result, 0);
  EXPECT_EQ(reset(p, fd).result, 1);
  EXPECT_EQ(text(*machine, "reset"), "2\n");
  EXPECT_EQ(q.open(), -EINVAL);
  EXPECT_GE(q.open(1), 0) << "the misc lane does not care";
  EXPECT_EQ(p.close(fd), 0);
  EXPECT_EQ(machine->write_text("/sys/class/neuron_device/neuron0/reset", "1"), 1);
  EXPECT_EQ(q.open(), -EINVAL) << "the third reset fails too";
  EXPECT_EQ(machine->write_text("/sys/class/neuron_device/neuron0/reset", "1"), 1);
  EXPECT_GE(q.open(), 0);
  EXPECT_EQ(text(*machine, "neuron_core0/stats/other_info/reset_req_count"), "4\n");
  EXPECT_EQ(text(*machine, "neuron_core0/stats/other_info/reset_fail_count"), "2\n");
  EXPECT_EQ(text(*machine, "neuron_core1/stats/other_info/reset_req_count"), "2\n")
      << "two of them were of core 0 alone";
}

TEST_F(DriverFaultsTest, TheStartUpResetFails) {
  build_with("[{point: reset_failed, n: 0, device: 1}]", 2);
  Process p = process(10);
  EXPECT_GE(p.open(), 0);
  EXPECT_EQ(p.open(2, "/dev/neuron1"), -EINVAL);
}

TEST_F(DriverFaultsTest, ADelayedReset) {
  build_with("[{point: reset_delayed, n: 0, count: 2, reset_delay_ms: 60}]");
  auto begin = steady_clock::now();
  EXPECT_EQ(text(*machine, "reset"), "0\n");
  Process p = process(10);
  const int fd = p.open();
  EXPECT_GE(fd, 0);
  EXPECT_EQ(text(*machine, "reset"), "1\n");
  begin = steady_clock::now();
  EXPECT_EQ(reset(p, fd).result, 0);
  EXPECT_GE(steady_clock::now() - begin, milliseconds(60));
}

// The close waits for the reset, and takes its request with it.
TEST_F(DriverFaultsTest, CloseDuringAReset) {
  build_with("[{point: reset_delayed, n: 1, reset_delay_ms: 60}]");
  Process p = process(10), q = process(11);
  const int fd = p.open(), qfd = q.open();
  abi::DeviceReset a;
  a.nc_map = 1;
  const auto begin = steady_clock::now();
  ASSERT_EQ(p.call(fd, abi::kNcReset, a), 0);
  ASSERT_EQ(p.close(fd), 0);
  EXPECT_GE(steady_clock::now() - begin, milliseconds(60));
  abi::DeviceReady ready;
  ready.request_id = 10;
  ASSERT_EQ(q.call(qfd, abi::kNcResetReady, ready), 0);
  EXPECT_EQ(ready.result, 1);
}

// No fault, no state for it.
TEST_F(DriverFaultsTest, FaultsOfTheSiliconAreNotOfTheDriver) {
  build_with("[{point: hang}, {point: hbm_uncorrected}]");
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t h = 0;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(p.alloc(fd, 4096, &h), 0);
}

}  // namespace
}  // namespace opennrt::emu::test
