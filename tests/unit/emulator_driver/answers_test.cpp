// SPDX-License-Identifier: Apache-2.0
//
// Requests that answer from tables: processes, pod, profiles, log, descriptors.
#include "harness.h"

namespace opennrt::emu::test {
namespace {

struct Apps {
  abi::GetAppsInfo head;
  abi::AppInfo app[4];
};

Apps apps(Process& p, int fd, std::uint16_t flags, std::uint32_t capacity) {
  Apps a;
  a.head.apps_info_flags = flags;
  a.head.capacity = capacity;
  EXPECT_EQ(p.call(fd, abi::kDeviceGetAllAppsInfo, a), 0);
  return a;
}

// As recorded: locks of cores with flag 1, memory with flag 2, in the order of attach.
TEST_F(DriverTest, AppsInfo) {
  Process p = process(10), q = process(11);
  const int pfd = p.open(), qfd = q.open();
  std::uint64_t h = 0;
  ASSERT_EQ(p.alloc(pfd, 4096, &h), 0);
  ASSERT_EQ(q.alloc(qfd, 65536, &h, {.host = true}), 0);
  ASSERT_EQ(q.alloc(qfd, kMiB, &h), 0);
  abi::Crwl lock;
  lock.nc_id = 1;
  std::memset(lock.uuid.value, 0x77, sizeof lock.uuid.value);
  ASSERT_EQ(q.call(qfd, abi::kCrwlWriterEnter, lock), 0);
  EXPECT_EQ(apps(p, pfd, 3, 0).head.size, 0u);
  EXPECT_EQ(apps(p, pfd, 3, 1).head.size, 1u);
  const Apps all = apps(p, pfd, 3, 4);
  ASSERT_EQ(all.head.size, 2u);
  EXPECT_EQ(all.app[0].pid, 10);
  EXPECT_EQ(all.app[0].nc_lock_map, 0);
  EXPECT_EQ(all.app[0].device_mem_size, 4096u);
  EXPECT_EQ(all.app[1].pid, 11);
  EXPECT_EQ(all.app[1].nc_lock_map, 2);
  EXPECT_EQ(all.app[1].uuid_data[1].value[31], 0x77);
  EXPECT_EQ(all.app[1].host_mem_size, 65536u);
  EXPECT_EQ(all.app[1].device_mem_size, kMiB);
  EXPECT_EQ(apps(p, pfd, 1, 4).app[1].host_mem_size, 0u);
  EXPECT_EQ(apps(p, pfd, 2, 4).app[1].nc_lock_map, 0);
  ASSERT_EQ(q.close(qfd), 0);
  EXPECT_EQ(apps(p, pfd, 3, 4).head.size, 1u);
}

TEST_F(DriverTest, StandaloneBoard) {
  Process p = process(10);
  const int fd = p.open(1);  // the misc lane
  abi::PodInfo info;
  EXPECT_EQ(p.call(fd, abi::kPodInfo, info), -EINVAL) << "no size";
  info.sz = sizeof info;
  EXPECT_EQ(p.call(fd, abi::kPodInfo, info), 0);
  EXPECT_EQ(info.pod_type, 0);
  EXPECT_EQ(info.pod_sz, 0);
  abi::PodStatusV2 status;
  status.v1.sz = sizeof status.v1;
  EXPECT_EQ(p.call(fd, abi::kPodStatusV2, status), -EINVAL) << "size of the first form";
  status.v1.sz = sizeof status;
  EXPECT_EQ(p.call(fd, abi::kPodStatusV2, status), 0);
  EXPECT_EQ(status.v1.state, 4u);
  EXPECT_EQ(status.v1.node_id, -1);
  EXPECT_EQ(status.modes_supported, 0u);
  abi::PodCtrlV2 control;
  control.v1.sz = sizeof control;
  EXPECT_EQ(p.call(fd, abi::kPodCtrlV2, control), 0);
  EXPECT_EQ(control.v1.state, 4u) << "of this family";
  abi::GetLogicalToPhysicalNcMap map;
  EXPECT_EQ(p.call(fd, abi::kGetLogicalToPhysicalNcMap, map), -524);
}

TEST_F(DriverTest, LogAndMetrics) {
  Process p = process(10);
  const int fd = p.open();
  std::vector<char> text(600, 'x');
  abi::Printk line;
  line.buffer = reinterpret_cast<std::uintptr_t>(text.data());
  for (const auto& [size, result] : {std::pair{0u, -EBADMSG}, {512u, -EBADMSG}, {513u, -EFAULT}}) {
    line.size = size;
    EXPECT_EQ(p.call(fd, abi::kPrintk, line), result) << size;
  }
  text[511] = '\0';
  line.size = 512;
  EXPECT_EQ(p.call(fd, abi::kPrintk, line), 0);
  abi::PostMetric metric;
  metric.data = line.buffer;
  metric.data_size = 128;
  EXPECT_EQ(p.call(fd, abi::kPostMetric, metric), 0);
  metric.data_size = 129;
  EXPECT_EQ(p.call(fd, abi::kPostMetric, metric), -E2BIG);
  abi::MetricsCtrl control;
  EXPECT_EQ(p.call(fd, abi::kMetricsCtrl, control), 0);
  abi::AvailablePerfProfiles profiles;
  EXPECT_EQ(p.call(fd, abi::kAvailablePerfProfiles, profiles), 0);
  EXPECT_EQ(profiles.num_profiles, 1);
  EXPECT_EQ(profiles.bitmap[0], 1);
}

// More descriptors than are moved at a time, in and out again.
TEST_F(DriverTest, ManyDescriptors) {
  constexpr std::uint32_t kCount = 6000;
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t ring = 0;
  ASSERT_EQ(p.alloc(fd, kCount * 16, &ring, {.host = true}), 0);
  std::vector<std::uint64_t> in(2 * kCount), out(2 * kCount);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = i % 2 ? 0x1000 + i : ~i;
  abi::DmaCopyDescriptors64 write;
  write.mem_handle = ring;
  write.buffer = reinterpret_cast<std::uintptr_t>(in.data());
  write.num_descs = kCount;
  ASSERT_EQ(p.call(fd, abi::kDmaCopyDescriptors64, write), 0);
  abi::DmaQueueInit init;
  init.eng_id = 1;
  init.tx_desc_count = init.rx_desc_count = kCount;
  init.tx_handle = init.rx_handle = ring;
  ASSERT_EQ(p.call(fd, abi::kDmaQueueInit, init), 0);
  abi::DmaDescriptorCopyout read;
  read.eng_id = 1;
  read.count = kCount;
  read.buffer = reinterpret_cast<std::uintptr_t>(out.data());
  ASSERT_EQ(p.call(fd, abi::kDmaDescriptorCopyout, read), 0);
  EXPECT_EQ(in, out);
  read.start_index = 1;
  EXPECT_EQ(p.call(fd, abi::kDmaDescriptorCopyout, read), -EFBIG);
  read.count = 0;
  EXPECT_EQ(p.call(fd, abi::kDmaDescriptorCopyout, read), -EINVAL);
  // A foreign host address late in the list.
  in[2 * kCount - 1] = 0x10000FFFF000;
  EXPECT_EQ(p.call(fd, abi::kDmaCopyDescriptors64, write), -EINVAL);
  write.num_descs = UINT32_MAX;
  EXPECT_EQ(p.call(fd, abi::kDmaCopyDescriptors64, write), -EINVAL);
}

// A scrub by a process that is not attached would leave its memory behind.
TEST_F(DriverTest, ScrubNeedsAnAttach) {
  Process p = process(10), child = process(11);
  const int fd = p.open();
  abi::HbmScrubStart scrub;
  EXPECT_EQ(child.call(fd, abi::kHbmScrubStart, scrub), -EACCES);
  EXPECT_EQ(p.call(fd, abi::kHbmScrubStart, scrub), 0);
  EXPECT_EQ(apps(p, fd, 2, 4).app[0].host_mem_size, 16u * 2 * 524288 + kMiB + 4096)
      << "two rings of each engine, sources, markers";
}

}  // namespace
}  // namespace opennrt::emu::test
