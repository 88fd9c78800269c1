// SPDX-License-Identifier: Apache-2.0
//
// Questions about devices and memory, shared descriptors, deprecated counts,
// microcode and the callback of the implicit mode, through the C ABI.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "support/vecadd_client.h"

namespace opennrt::test {
namespace {

class DeviceApi : public ::testing::Test {
 protected:
  void start(const char* product) {
    setenv("OPENNRT_EMULATOR_PRODUCT", product, 1);
    ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  }
  void TearDown() override {
    nrt_close();
    for (const char* name : {"OPENNRT_EMULATOR_PRODUCT", "OPENNRT_EMULATOR_DEVICES",
                             "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "NEURON_RT_ENABLE_P2P"})
      unsetenv(name);
  }
};

TEST_F(DeviceApi, NumbersOfDevices) {
  setenv("OPENNRT_EMULATOR_DEVICES", "16", 1);
  start("trn1.32xlarge");
  std::uint32_t map[64] = {}, count = 64;
  ASSERT_EQ(nrt_host_device_id_rid_map_get(&count, map), NRT_SUCCESS);
  EXPECT_EQ(count, 16u);
  // Every routing id names one device.
  std::vector<int> seen(16, 0);
  for (std::uint32_t i = 0; i < count; ++i) {
    ASSERT_LT(map[i], 16u);
    ++seen[map[i]];
  }
  EXPECT_EQ(seen, std::vector<int>(16, 1));
  for (int device = 0; device < 16; ++device) {
    std::uint32_t id = 99;
    EXPECT_EQ(nrt_host_device_id_get(device, &id), NRT_SUCCESS);
    EXPECT_EQ(id, static_cast<std::uint32_t>(device));
  }
  std::uint32_t id = 99;
  for (int device : {-1, 16, 1 << 30}) EXPECT_EQ(nrt_host_device_id_get(device, &id), NRT_INVALID);
  EXPECT_EQ(id, 99u);
  EXPECT_EQ(nrt_host_device_id_get(0, nullptr), NRT_INVALID);
  count = 15;
  EXPECT_EQ(nrt_host_device_id_rid_map_get(&count, map), NRT_INVALID);
  EXPECT_EQ(count, 15u);
  EXPECT_EQ(nrt_host_device_id_rid_map_get(nullptr, map), NRT_INVALID);
  EXPECT_EQ(nrt_host_device_id_rid_map_get(&count, nullptr), NRT_INVALID);
}

TEST_F(DeviceApi, MemoryStatsFollowTheTensors) {
  start("trn1.2xlarge");
  nrt_vnc_memory_stats_t before{}, with{}, after{};
  std::size_t n = 0;
  ASSERT_EQ(nrt_get_vnc_memory_stats(0, &before, sizeof before, &n), NRT_SUCCESS);
  EXPECT_EQ(n, sizeof before);
  EXPECT_GT(before.bytes_limit, 8ull << 30);
  EXPECT_LT(before.bytes_used, before.bytes_limit);
  nrt_tensor_t* t = nullptr;
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 32 << 20, "t", &t), NRT_SUCCESS);
  ASSERT_EQ(nrt_get_vnc_memory_stats(0, &with, sizeof with, &n), NRT_SUCCESS);
  EXPECT_EQ(with.bytes_used, before.bytes_used + (32 << 20));
  nrt_tensor_free(&t);
  ASSERT_EQ(nrt_get_vnc_memory_stats(0, &after, sizeof after, &n), NRT_SUCCESS);
  EXPECT_EQ(after.bytes_used, before.bytes_used);
  // An older caller's structure ends after the first member.
  nrt_vnc_memory_stats_t small{7, 7};
  ASSERT_EQ(nrt_get_vnc_memory_stats(1, &small, 8, &n), NRT_SUCCESS);
  EXPECT_EQ(n, 8u);
  EXPECT_EQ(small.bytes_limit, 7u);
  EXPECT_EQ(nrt_get_vnc_memory_stats(2, &small, 16, &n), NRT_INVALID);
  EXPECT_EQ(nrt_get_vnc_memory_stats(0xFFFFFFFF, &small, 16, &n), NRT_INVALID);
  EXPECT_EQ(nrt_get_vnc_memory_stats(0, nullptr, 16, &n), NRT_INVALID);
  EXPECT_EQ(nrt_get_vnc_memory_stats(0, &small, 16, nullptr), NRT_INVALID);
}

// The limit is the machine's: what is beyond it is refused.
TEST_F(DeviceApi, MemoryStatsKnowTheMemoryOfTheMachine) {
  setenv("OPENNRT_EMULATOR_HBM_BYTES", "256M", 1);
  start("trn1.2xlarge");
  unsetenv("OPENNRT_EMULATOR_HBM_BYTES");
  nrt_vnc_memory_stats_t stats{};
  std::size_t n = 0;
  ASSERT_EQ(nrt_get_vnc_memory_stats(0, &stats, sizeof stats, &n), NRT_SUCCESS);
  EXPECT_EQ(stats.bytes_limit, (256u - 16) << 20);  // without the firmware's part
  nrt_tensor_t* t = nullptr;
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, stats.bytes_limit + 1, "t", &t),
            NRT_RESOURCE);
}

TEST_F(DeviceApi, HbmIsMappedAsAWholeWhereTheDriverCan) {
  start("trn2.3xlarge");
  void* va = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(nrt_get_hbm_mmap_va(0, 0, &va, &bytes), NRT_SUCCESS);
  ASSERT_NE(va, nullptr);
  EXPECT_GE(bytes, 16ull << 30);
  // A tensor is found where its device address says.
  nrt_tensor_t* t = nullptr;
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 4096, "t", &t), NRT_SUCCESS);
  nrt_tensor_device_allocation_info_t info{};
  ASSERT_EQ(nrt_tensor_get_device_allocation_info(t, &info), NRT_SUCCESS);
  void* hbm = nullptr;
  ASSERT_EQ(nrt_get_hbm_mmap_va(0, info.hbm_index, &hbm, &bytes), NRT_SUCCESS);
  const std::uint64_t text = 0x1122334455667788;
  ASSERT_EQ(nrt_tensor_write(t, &text, 0, 8), NRT_SUCCESS);
  // HBM begins at a multiple of its window, which no offset reaches.
  const std::uint64_t offset = info.physical_address & ((1ull << 36) - 1);
  std::uint64_t got = 0;
  std::memcpy(&got, static_cast<char*>(hbm) + offset, 8);
  EXPECT_EQ(got, text);
  const std::uint64_t other = 42;
  EXPECT_EQ(nrt_memcpy_to_device(static_cast<char*>(hbm) + offset, &other, 8), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_read(t, &got, 0, 8), NRT_SUCCESS);
  EXPECT_EQ(got, other);
  nrt_tensor_free(&t);
  EXPECT_EQ(nrt_get_hbm_mmap_va(0, 4, &va, &bytes), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_get_hbm_mmap_va(0, -1, &va, &bytes), NRT_INVALID);
  EXPECT_EQ(nrt_get_hbm_mmap_va(1, 0, &va, &bytes), NRT_INVALID);
  EXPECT_EQ(nrt_get_hbm_mmap_va(0, 0, nullptr, &bytes), NRT_INVALID);
  EXPECT_EQ(nrt_get_hbm_mmap_va(0, 0, &va, nullptr), NRT_INVALID);
  nrt_close();
  start("trn1.2xlarge");
  EXPECT_EQ(nrt_get_hbm_mmap_va(0, 0, &va, &bytes), NRT_INVALID);
}

TEST_F(DeviceApi, DmabufShowsTheTensor) {
  start("trn1.2xlarge");
  nrt_tensor_t* t = nullptr;
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 3 * 4096, "t", &t), NRT_SUCCESS);
  auto* va = static_cast<std::uint8_t*>(nrt_tensor_get_va(t));
  ASSERT_NE(va, nullptr);
  const auto address = reinterpret_cast<std::uint64_t>(va);
  std::vector<std::uint8_t> data(3 * 4096);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i * 7);
  ASSERT_EQ(nrt_tensor_write(t, data.data(), 0, data.size()), NRT_SUCCESS);
  int fd = -1;
  ASSERT_EQ(nrt_get_dmabuf_fd(address, 3 * 4096, &fd), NRT_SUCCESS);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(close(fd), 0);
  std::uint64_t offset = 0;
  ASSERT_EQ(nrt_get_dmabuf_fd_v2(address + 4096, 4096, &fd, &offset), NRT_SUCCESS);
  void* view =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  ASSERT_NE(view, MAP_FAILED);
  EXPECT_EQ(std::memcmp(view, data.data() + 4096, 4096), 0);
  static_cast<std::uint8_t*>(view)[5] = 0xAB;
  std::uint8_t got = 0;
  ASSERT_EQ(nrt_tensor_read(t, &got, 4096 + 5, 1), NRT_SUCCESS);
  EXPECT_EQ(got, 0xAB);
  munmap(view, 4096);
  close(fd);

  fd = -7;
  EXPECT_EQ(nrt_get_dmabuf_fd(address + 4096, 4096, &fd), NRT_INVALID);
  EXPECT_EQ(nrt_get_dmabuf_fd(address, 0, &fd), NRT_INVALID);
  EXPECT_EQ(nrt_get_dmabuf_fd(address, 3 * 4096 + 1, &fd), NRT_INVALID);
  EXPECT_EQ(nrt_get_dmabuf_fd(address, ~0ull, &fd), NRT_INVALID);
  EXPECT_EQ(nrt_get_dmabuf_fd(reinterpret_cast<std::uint64_t>(data.data()), 1, &fd), NRT_INVALID);
  EXPECT_EQ(nrt_get_dmabuf_fd(0, 1, &fd), NRT_INVALID);
  EXPECT_EQ(nrt_get_dmabuf_fd(address, 1, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_get_dmabuf_fd_v2(address + 3 * 4096, 1, &fd, &offset), NRT_INVALID);
  EXPECT_EQ(nrt_get_dmabuf_fd_v2(address + 4096, 2 * 4096 + 1, &fd, &offset), NRT_INVALID);
  EXPECT_EQ(nrt_get_dmabuf_fd_v2(address, 1, nullptr, &offset), NRT_INVALID);
  EXPECT_EQ(nrt_get_dmabuf_fd_v2(address, 1, &fd, nullptr), NRT_INVALID);
  nrt_tensor_t* host = nullptr;
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, 0, 4096, "h", &host), NRT_SUCCESS);
  EXPECT_EQ(nrt_get_dmabuf_fd(reinterpret_cast<std::uint64_t>(nrt_tensor_get_va(host)), 1, &fd),
            NRT_INVALID);
  nrt_tensor_free(&host);
  nrt_tensor_free(&t);
  EXPECT_EQ(nrt_get_dmabuf_fd(address, 1, &fd), NRT_INVALID);
  EXPECT_EQ(fd, -7);
}

TEST_F(DeviceApi, DmabufNeedsPeerToPeer) {
  setenv("NEURON_RT_ENABLE_P2P", "0", 1);
  start("trn1.2xlarge");
  nrt_tensor_t* t = nullptr;
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 4096, "t", &t), NRT_SUCCESS);
  const auto address = reinterpret_cast<std::uint64_t>(nrt_tensor_get_va(t));
  int fd = -7;
  std::uint64_t offset = 0;
  EXPECT_EQ(nrt_get_dmabuf_fd(address, 4096, &fd), NRT_INVALID);
  EXPECT_EQ(nrt_get_dmabuf_fd_v2(address, 4096, &fd, &offset), NRT_INVALID);
  EXPECT_EQ(fd, -7);
  nrt_tensor_free(&t);
}

TEST_F(DeviceApi, SoftwareDevicesHaveNoNetworkCard) {
  start("trn1.2xlarge");
  nrt_tensor_t* t = nullptr;
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 4096, "t", &t), NRT_SUCCESS);
  char text[16] = "untouched";
  std::size_t len = sizeof text;
  EXPECT_EQ(nrt_get_attached_efa_bdf(nrt_tensor_get_va(t), text, &len), NRT_FAILURE);
  EXPECT_EQ(nrt_get_attached_efa_bdf(text, text, &len), NRT_FAILURE);
  EXPECT_EQ(nrt_get_attached_efa_bdf(nullptr, text, &len), NRT_INVALID);
  EXPECT_EQ(nrt_get_attached_efa_bdf(text, nullptr, &len), NRT_INVALID);
  EXPECT_EQ(nrt_get_attached_efa_bdf(text, text, nullptr), NRT_INVALID);
  EXPECT_STREQ(text, "untouched");
  EXPECT_EQ(len, sizeof text);
  nrt_tensor_free(&t);
}

TEST_F(DeviceApi, DeprecatedCountsAreOneInEveryState) {
  auto* const any = reinterpret_cast<nrt_model_t*>(this);
  const auto expect_one = [any] {
    std::uint32_t n = 0;
    EXPECT_EQ(nrt_get_model_nc_count(any, &n), NRT_SUCCESS);
    EXPECT_EQ(n, 1u);
    n = 0;
    EXPECT_EQ(nrt_get_model_vnc_count(any, &n), NRT_SUCCESS);
    EXPECT_EQ(n, 1u);
    n = 0;
    EXPECT_EQ(nrt_get_model_instance_count(any, &n), NRT_SUCCESS);
    EXPECT_EQ(n, 1u);
    EXPECT_EQ(nrt_get_model_nc_count(nullptr, &n), NRT_INVALID);
    EXPECT_EQ(nrt_get_model_vnc_count(any, nullptr), NRT_INVALID);
    EXPECT_EQ(nrt_get_model_instance_count(any, nullptr), NRT_INVALID);
    EXPECT_EQ(nrt_get_model_instance_count(nullptr, &n), NRT_INVALID);
  };
  expect_one();
  start("trn1.2xlarge");
  expect_one();
}

TEST_F(DeviceApi, MicrocodeIsForTheTimeBeforeInit) {
  std::uint8_t code[4] = {}, data[2] = {};
  nrt_ucode_info info{{code, sizeof code}, {data, sizeof data}};
  EXPECT_EQ(nrt_set_pool_eng_ucode(nullptr), NRT_INVALID);
  for (auto spoil : {+[](nrt_ucode_info& i) { i.iram.bin = nullptr; },
                     +[](nrt_ucode_info& i) { i.iram.size = 0; },
                     +[](nrt_ucode_info& i) { i.dram.bin = nullptr; },
                     +[](nrt_ucode_info& i) { i.dram.size = 0; }}) {
    nrt_ucode_info wrong = info;
    spoil(wrong);
    EXPECT_EQ(nrt_set_pool_eng_ucode(&wrong), NRT_INVALID);
  }
  ASSERT_EQ(nrt_set_pool_eng_ucode(&info), NRT_SUCCESS);
  setenv("NEURON_RT_LOG_LEVEL", "WARN", 1);
  ::testing::internal::CaptureStderr();
  start("trn1.2xlarge");
  // The device is told to be one that has no use for it.
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("nrt_set_pool_eng_ucode"),
            std::string::npos);
  EXPECT_EQ(nrt_set_pool_eng_ucode(&info), NRT_FAILURE);
  EXPECT_EQ(nrt_set_pool_eng_ucode(nullptr), NRT_FAILURE);
  nrt_close();
  // It was for one nrt_init.
  ::testing::internal::CaptureStderr();
  start("trn1.2xlarge");
  EXPECT_EQ(::testing::internal::GetCapturedStderr().find("nrt_set_pool_eng_ucode"),
            std::string::npos);
  unsetenv("NEURON_RT_LOG_LEVEL");
}

struct Reports {
  struct Report {
    std::uint32_t model, vnc;
    std::uint64_t job;
    NRT_STATUS status;
    std::thread::id thread;
  };
  std::vector<Report> all;
  static void note(void* self, std::uint32_t model, std::uint32_t vnc, std::uint64_t job,
                   NRT_STATUS status) {
    static_cast<Reports*>(self)->all.push_back(
        {model, vnc, job, status, std::this_thread::get_id()});
  }
};

TEST_F(DeviceApi, ImplicitModeCallsBackAfterEachExecution) {
  setenv("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "4", 1);
  start("trn1.2xlarge");
  Reports reports;
  ASSERT_EQ(nrt_register_async_exec_callback(&Reports::note, &reports), NRT_SUCCESS);
  {
    VecAddModel model(read_file(OPENNRT_VECADD_NEFF), 1);
    ASSERT_EQ(model.status(), NRT_SUCCESS);
    VecAddTensors tensors(model, 1, NRT_TENSOR_PLACEMENT_DEVICE, 1);
    ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
    ASSERT_EQ(nrt_execute_repeat(model.get(), tensors.in(), tensors.out(), 2), NRT_SUCCESS);
    ASSERT_EQ(reports.all.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(reports.all[i].vnc, 1u);
      EXPECT_EQ(reports.all[i].job, i + 1);
      EXPECT_EQ(reports.all[i].status, NRT_SUCCESS);
      EXPECT_EQ(reports.all[i].model, reports.all[0].model);
      EXPECT_EQ(reports.all[i].thread, std::this_thread::get_id());
    }
    // Nothing that was refused is reported.
    EXPECT_NE(nrt_execute(model.get(), tensors.out(), tensors.out()), NRT_SUCCESS);
    EXPECT_EQ(reports.all.size(), 3u);
    EXPECT_EQ(nrt_async_drain_queued_execs(1), NRT_SUCCESS);
    ASSERT_EQ(nrt_register_async_exec_callback(nullptr, nullptr), NRT_SUCCESS);
    ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
    EXPECT_EQ(reports.all.size(), 3u);
  }
  nrt_close();
  // Without the variable nobody is called.
  unsetenv("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS");
  start("trn1.2xlarge");
  ASSERT_EQ(nrt_register_async_exec_callback(&Reports::note, &reports), NRT_SUCCESS);
  VecAddModel model(read_file(OPENNRT_VECADD_NEFF));
  VecAddTensors tensors(model, 1);
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  EXPECT_EQ(reports.all.size(), 3u);
  EXPECT_EQ(nrt_async_drain_queued_execs(0), NRT_SUCCESS);
  for (std::int32_t vnc : {-1, 2, 1 << 30})
    EXPECT_EQ(nrt_async_drain_queued_execs(vnc), NRT_INVALID);
  nrt_register_async_exec_callback(nullptr, nullptr);
}

// What every guarded function says outside of INIT, whatever its arguments.
std::vector<NRT_STATUS> all_guarded() {
  return {nrt_host_device_id_get(-1, nullptr),
          nrt_host_device_id_rid_map_get(nullptr, nullptr),
          nrt_get_hbm_mmap_va(-1, -1, nullptr, nullptr),
          nrt_get_vnc_memory_stats(99, nullptr, 0, nullptr),
          nrt_get_attached_efa_bdf(nullptr, nullptr, nullptr),
          nrt_get_dmabuf_fd(0, 0, nullptr),
          nrt_get_dmabuf_fd_v2(0, 0, nullptr, nullptr),
          nrt_async_drain_queued_execs(-1)};
}

TEST_F(DeviceApi, StatesComeBeforeArguments) {
  const auto all = [](NRT_STATUS status) {
    return std::vector<NRT_STATUS>(all_guarded().size(), status);
  };
  EXPECT_EQ(all_guarded(), all(NRT_UNINITIALIZED));
  start("trn1.2xlarge");
  EXPECT_EQ(all_guarded(), all(NRT_INVALID));
  const pid_t child = fork();
  if (child == 0) {
    const bool right = all_guarded() == all(NRT_FAILURE) &&
                       nrt_register_async_exec_callback(nullptr, nullptr) == NRT_SUCCESS &&
                       nrt_set_pool_eng_ucode(nullptr) == NRT_FAILURE;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  nrt_close();
  EXPECT_EQ(all_guarded(), all(NRT_UNINITIALIZED));
}

}  // namespace
}  // namespace opennrt::test
