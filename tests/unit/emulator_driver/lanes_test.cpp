// SPDX-License-Identifier: Apache-2.0
//
// Opening, lanes, attach, versions.
#include <set>

#include "driver/request.h"
#include "harness.h"

namespace opennrt::emu::test {
namespace {

TEST_F(DriverTest, PathsThatExist) {
  EXPECT_EQ(machine->exists("/dev/neuron0"), 1);
  for (const char* path : {"/dev/neuron1", "/dev/neuron", "/dev/neuron00", "/dev/neuron0x",
                           "/dev/neuron-1", "/dev/null", ""})
    EXPECT_EQ(machine->exists(path), 0) << path;
  EXPECT_EQ(process(10).open(2, "/dev/neuron1"), -ENOENT);
}

TEST_F(DriverTest, DescriptorsAreNoRealOnes) {
  Process p = process(10);
  const int fd = p.open();
  EXPECT_GE(fd, 1 << 20);
  EXPECT_EQ(p.close(fd), 0);
  EXPECT_EQ(p.close(fd), -EBADF);
  EXPECT_EQ(p.close(-1), -EBADF);
  EXPECT_EQ(p.close(0), -EBADF);
  abi::DeviceInfo info;
  EXPECT_EQ(p.call(fd, abi::kDeviceInfo, info), -EBADF);
}

TEST_F(DriverTest, TooManyDescriptors) {
  Process p = process(10);
  std::vector<int> fds;
  int fd = 0;
  while ((fd = p.open(1)) >= 0) fds.push_back(fd);
  EXPECT_EQ(fd, -EMFILE);
  EXPECT_GE(fds.size(), 1000u);
  const int device = p.open(2);
  EXPECT_EQ(device, -EMFILE);
  p.close(fds.back());
  EXPECT_GE(p.open(2), 0) << "the failed open must not leave an attach behind";
}

TEST_F(DriverTest, EveryDeviceRequestIsRefusedOnTheMiscLane) {
  Process p = process(10);
  for (std::uint32_t flags : {1u, 3u}) {
    const int fd = p.open(flags);
    CheckedMemory memory(getpid());
    for (const RequestEntry& entry : request_table()) {
      if (entry.lane == Lane::kMisc) continue;
      std::vector<std::uint8_t> argument(16384);
      EXPECT_EQ(p.raw(fd, entry.code, reinterpret_cast<std::uintptr_t>(argument.data()), memory),
                -EINVAL)
          << entry.name;
    }
  }
}

TEST_F(DriverTest, UnknownRequestsAreInvalidNotUnsupported) {
  Process p = process(10);
  const int fd = p.open();
  std::vector<std::uint8_t> argument(16384);
  for (std::uint32_t code : {0u, 0x4E00u, 0x80084E08u, 0x80084EFFu, 0x80084D15u, 0x5401u,
                             0x80104E66u, 0xC0404E6Cu, 0x80174E6Eu})
    EXPECT_EQ(p.call(fd, code, argument[0]), -EINVAL) << std::hex << code;
}

TEST_F(DriverTest, SixteenProcessesAttach) {
  std::vector<int> fds;
  for (std::uint32_t pid = 1; pid <= 16; ++pid) {
    Process p = process(pid);
    fds.push_back(p.open());
    ASSERT_GE(fds.back(), 0);
  }
  EXPECT_EQ(process(17).open(), -EBUSY);
  EXPECT_GE(process(17).open(1), 0) << "the misc lane needs no slot";
  EXPECT_GE(process(3).open(), 0) << "an attached process opens again";
  EXPECT_EQ(process(5).close(fds[4]), 0);
  EXPECT_GE(process(17).open(), 0);
}

// A descriptor inherited over fork does not attach the child.
TEST_F(DriverTest, GateRefusesUnattachedProcesses) {
  Process parent = process(10), child = process(11);
  const int fd = parent.open();
  std::uint64_t handle = 0;
  ASSERT_EQ(parent.alloc(fd, 4096, &handle), 0);
  CheckedMemory memory(getpid());
  std::set<std::string> gated;
  for (const RequestEntry& entry : request_table()) {
    if (entry.gate == Gate::kNone) continue;
    gated.insert(entry.name);
    std::vector<std::uint8_t> argument(16384);
    EXPECT_EQ(child.raw(fd, entry.code, reinterpret_cast<std::uintptr_t>(argument.data()), memory),
              -EACCES)
        << entry.name;
  }
  EXPECT_EQ(gated.size(), 19u) << "18 requests and DRIVER_INFO_SET";
  // The driver forgets the newer forms of allocation; the emulator does not.
  std::uint64_t out = 77;
  EXPECT_EQ(child.alloc(fd, 4096, &out), -EACCES);
  EXPECT_EQ(out, 77u);
  EXPECT_NE(parent.pa(fd, handle), UINT64_MAX);
}

TEST_F(DriverTest, OldDriversLackNewRequests) {
  struct Row {
    std::uint32_t code;
    const char* first;  // version that has it
  };
  const Row rows[] = {{abi::kMemBufZerocopy64, "2.25.4.0"},
                      {abi::kH2tDmaAllocQueues, "2.25.4.0"},
                      {abi::kMetricsCtrl, "2.25.4.0"},
                      {abi::kMemBufZerocopy64Batches, "2.25.4.0"},
                      {abi::kThrottlingNotifications, "2.26.5.0"},
                      {abi::kGetVaPlacement, "2.26.5.0"},
                      {abi::kAvailablePerfProfiles, "2.27.4.0"}};
  for (const DriverPreset& preset : kDriverPresets) {
    MachineConfig config = default_config();
    config.driver = &preset;
    build(config);
    Process p = process(10);
    const int fd = p.open();
    abi::DeviceDriverInfo info;
    ASSERT_EQ(p.call(fd, abi::kDriverInfoGet, info), 0);
    EXPECT_EQ(info.feature_flags1 >> 8 & 1, preset.version >= kDriver2_25 ? 1u : 0u);
    for (const Row& row : rows) {
      const RequestEntry* entry = find_request(row.code, Lane::kDevice);
      ASSERT_NE(entry, nullptr);
      EXPECT_EQ(machine->at_least(entry->since),
                preset.version >= find_driver_preset(row.first)->version)
          << entry->name << " in " << preset.text;
    }
    char text[32] = {};
    EXPECT_GT(machine->read_text("/sys/module/neuron/version", text, sizeof text), 0);
    EXPECT_EQ(std::string(text), std::string(preset.text) + "\n");
  }
}

// Zero copy is announced on this family and refused all the same.
// A masked bit takes its requests along; the other forms of the number stay.
TEST_F(DriverTest, MaskedFeaturesLackTheirRequests) {
  MachineConfig config = default_config();
  config.driver_features = kKnownFeatures & ~(1u << 6 | 1u << 2);
  config.driver_without = {"PRINTK"};
  build(config);
  Process p = process(10);
  const int fd = p.open();
  abi::DeviceDriverInfo info;
  ASSERT_EQ(p.call(fd, abi::kDriverInfoGet, info), 0);
  EXPECT_EQ(info.feature_flags1, 0x1BBu);
  std::uint64_t handle = 0;
  EXPECT_EQ(p.alloc(fd, 4096, &handle), -EINVAL);
  abi::MemAllocV2MemType older;
  older.size = 4096;
  older.mem_type = 9;
  older.mem_handle = reinterpret_cast<std::uintptr_t>(&handle);
  EXPECT_EQ(p.call(fd, abi::kMemAllocV2mt, older), 0);
  abi::DmaQueueInitBatch batch;
  EXPECT_EQ(p.call(fd, abi::kDmaQueueInitBatch, batch), -EINVAL);
  abi::Printk line;
  EXPECT_EQ(p.call(fd, abi::kPrintk, line), -EINVAL);
}

// To a driver without the feature the type is no other than an unknown one.
TEST_F(DriverTest, ContiguousMemoryIsOrdinaryWithoutItsFeature) {
  std::uint64_t pa[2] = {};
  for (const std::uint32_t bit : {0u, 7u}) {
    MachineConfig config = default_config();
    config.driver_features = kKnownFeatures & ~(std::uint64_t{1} << bit);
    build(config);
    Process p = process(10);
    const int fd = p.open();
    std::uint64_t handle = 0;
    ASSERT_EQ(p.alloc(fd, 65536, &handle, {.type = 19}), 0);
    pa[bit == 7] = p.pa(fd, handle);
  }
  EXPECT_EQ(pa[0], 2 * kGiB - kGiB - 65536) << "at the end of the main pool";
  EXPECT_NE(pa[1], pa[0]);
}

TEST_F(DriverTest, NamesOfNoRequestAreRefused) {
  MachineConfig config = default_config();
  config.driver_without = {"PRINTK", "PRINT"};
  std::string error;
  EXPECT_EQ(Machine::create(config, &error), nullptr);
  EXPECT_NE(error.find("emulator.driver_without names \"PRINT\""), std::string::npos) << error;
}

TEST_F(DriverTest, ZeroCopyBitIsNotSufficient) {
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t handle = 0;
  ASSERT_EQ(p.alloc(fd, 65536, &handle), 0);
  std::vector<std::uint8_t> data(16384, 3);
  abi::MemBufCopy64zc a;
  a.mem_handle = handle;
  a.buffer = reinterpret_cast<std::uintptr_t>(data.data());
  a.size = data.size();
  a.is_copy_to_device = 1;
  a.h2t_qid = -1;
  EXPECT_EQ(p.call(fd, abi::kMemBufZerocopy64, a), -EINVAL);
  a.size = 4096;
  a.bar4_wr_threshold = 8192;
  EXPECT_EQ(p.call(fd, abi::kMemBufZerocopy64, a), 0) << "short writes go through BAR 4";
  std::vector<std::uint8_t> back(4096);
  ASSERT_EQ(p.copy(fd, handle, back.data(), back.size(), 0, false), 0);
  EXPECT_TRUE(std::equal(back.begin(), back.end(), data.begin()));
}

// The request table of the plugins that send them, against ours.
TEST(DriverRequests, BothSidesAgree) {
  for (const ndl::RequestInfo& sent : ndl::kRequests) {
    const RequestEntry* entry = find_request(sent.code, Lane::kDevice);
    if (std::string(sent.name) == "GET_ASYNC_H2T_DMA_COMPL_QUEUES") {
      EXPECT_EQ(entry, nullptr) << "optional, not emulated";
      continue;
    }
    ASSERT_NE(entry, nullptr) << sent.name;
    EXPECT_STREQ(entry->name, sent.name);
    EXPECT_EQ(entry->lane == Lane::kMisc, sent.lane == ndl::Lane::kMisc) << sent.name;
    EXPECT_EQ(entry->gate == Gate::kAttached, sent.attached) << sent.name;
  }
}

TEST(DriverFacts, FollowFromTheTableWhereThePluginHasNone) {
  nrtp_arch_plugin arch = *nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR);
  const ArchFacts real = make_arch_facts(arch, *arch.products);
  EXPECT_EQ(real.misc_ram_bar0, 0x30FA0000u);
  EXPECT_EQ(real.bar0_bytes, 0x40000000u);
  EXPECT_EQ(real.instruction_queue, 14u);
  EXPECT_EQ(real.compat_min, 5u);
  EXPECT_TRUE(real.single_node_pod);

  const auto check = [&real](const nrtp_arch_plugin& without) {
    const ArchFacts f = make_arch_facts(without, *without.products);
    EXPECT_EQ(f.misc_ram_bar0, real.misc_ram_bar0);
    EXPECT_EQ(f.bar0_bytes, real.bar0_bytes);
    EXPECT_EQ(f.host_window, f.host_window_mask);
    EXPECT_EQ(f.scrub_engines, real.scrub_engines);
    EXPECT_EQ(f.nx_ring_mask, 0x1Fu);
    // The driver layer speaks version 6 to this family, 10 and 11 to later ones.
    EXPECT_LE(f.compat_min, 6u);
    EXPECT_GE(f.compat_max, 11u);
    EXPECT_FALSE(f.dma_retry || f.nc_map_query || f.power_profiles || f.single_node_pod);
    // SBUF and semaphores of both cores where the real driver has them, and memory.
    for (const nrtp_driver_map& map : real.special) {
      if (map.block != NRTP_DRIVER_TPB) continue;
      EXPECT_TRUE(std::any_of(f.special.begin(), f.special.end(),
                              [&](const nrtp_driver_map& m) {
                                return m.block == map.block && m.id == map.id &&
                                       m.resource == map.resource && m.device == map.device &&
                                       m.bytes == map.bytes && m.bar == map.bar;
                              }))
          << map.id << " " << map.resource;
    }
    EXPECT_EQ(std::count_if(f.special.begin(), f.special.end(),
                            [](const nrtp_driver_map& m) { return m.block == NRTP_DRIVER_HBM; }),
              2);
    EXPECT_TRUE(connected_devices(without, *without.products, 16, 0).empty());
    EXPECT_EQ(routing_id(without, *without.products, 16, 3), 3u);
  };
  nrtp_arch_plugin without = arch;
  without.driver = nullptr;
  check(without);
  // A table of version 1.0 ends before the member.
  arch.head.size = offsetof(nrtp_arch_plugin, driver);
  check(arch);
}

TEST(DriverFacts, NeighboursListEachOther) {
  const nrtp_arch_plugin& arch = *nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR);
  for (auto [name, devices] :
       {std::pair{"trn1.32xlarge", 16u}, {"inf2.48xlarge", 12u}, {"inf2.24xlarge", 6u}}) {
    const nrtp_product* p = product(name);
    ASSERT_NE(p, nullptr) << name;
    for (std::uint32_t d = 0; d < devices; ++d) {
      const auto mine = connected_devices(arch, *p, devices, d);
      EXPECT_FALSE(mine.empty());
      for (std::uint8_t other : mine) {
        const auto theirs = connected_devices(arch, *p, devices, other);
        EXPECT_NE(std::find(theirs.begin(), theirs.end(), d), theirs.end())
            << name << ": " << d << " and " << int{other};
      }
    }
    EXPECT_TRUE(connected_devices(arch, *p, devices - 1, 0).empty());
    EXPECT_TRUE(connected_devices(arch, *p, devices, devices).empty());
  }
}

TEST(DriverFacts, BadConfigurationsAreRefused) {
  std::string error;
  MachineConfig config = default_config();
  config.devices = 65;
  EXPECT_EQ(Machine::create(config, &error), nullptr);
  EXPECT_NE(error.find("emulator.devices"), std::string::npos) << error;
  config = default_config();
  config.hbm_bytes = 1 << 20;
  EXPECT_EQ(Machine::create(config, &error), nullptr);
  EXPECT_NE(error.find("emulator.hbm_bytes"), std::string::npos) << error;
  config = default_config();
  config.host_bytes = 5 * kGiB;
  EXPECT_EQ(Machine::create(config, &error), nullptr);
  EXPECT_NE(error.find("emulator.host_bytes"), std::string::npos) << error;
}

}  // namespace
}  // namespace opennrt::emu::test
