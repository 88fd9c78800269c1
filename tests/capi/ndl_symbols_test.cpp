// SPDX-License-Identifier: Apache-2.0
//
// The driver layer as monitoring programs use it: its functions are found in the
// symbol table of the loaded libnrt.so.1, which does not export them, and drive
// the software device.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "ndl/ndl.h"
#include "nrt/nrt.h"
#include "support/symbol_table.h"

namespace {

// NDL(open_device)(..) calls ndl_open_device as found.
#define NDL(name) ONRT_HIDDEN(ndl_##name)

class NdlFunctions : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(NDL(open_device), nullptr);
    ASSERT_EQ(dlsym(RTLD_DEFAULT, "ndl_open_device"), nullptr) << "not exported";
    ASSERT_EQ(NDL(open_device)(0, nullptr, &device), 0);
  }
  void TearDown() override {
    if (device != nullptr) {
      EXPECT_EQ(NDL(close_device)(device), 0);
    }
    NDL(device_cached_fd_close_all)();
  }
  std::uint64_t alloc(std::size_t bytes, std::uint32_t host = 0) {
    std::uint64_t memory = 0;
    EXPECT_EQ(NDL(memory_alloc)(
                  device, bytes, 0, host, 0, 0, 0,
                  host ? NEURON_MEMALLOC_TYPE_TENSORS_HOST : NEURON_MEMALLOC_TYPE_TENSORS_DEVICE,
                  &memory),
              0);
    return memory;
  }
  ndl_device_t* device = nullptr;
};

TEST_F(NdlFunctions, DeviceAndDriverDescribeThemselves) {
  int indexes[MAX_NEURON_DEVICE_COUNT];
  EXPECT_EQ(NDL(available_devices)(indexes, MAX_NEURON_DEVICE_COUNT), 1);
  EXPECT_EQ(indexes[0], 0);
  EXPECT_EQ(NDL(available_devices)(nullptr, 3), -EINVAL);
  EXPECT_EQ(device->device_index, 0);
  EXPECT_EQ(device->device_type, 2) << "trn1";
  EXPECT_EQ(device->device_revision, 240);
  EXPECT_GT(device->hbm_size, 0u);
  EXPECT_GT(device->csr_size[0], 0u);
  ndl_version_info_t version{};
  EXPECT_EQ(NDL(get_version)(&version), 0);
  EXPECT_EQ(version.driver_major_version, 2);
  EXPECT_EQ(version.driver_minor_version, 27);
  EXPECT_STREQ(version.driver_full_version, "2.27.4.0");
  EXPECT_EQ(version.library_major_version, 1);
  EXPECT_EQ(NDL(get_version)(nullptr), -EINVAL);
  std::uint32_t low = 0, high = 0;
  EXPECT_EQ(NDL(get_compatible_version)(&low, &high), 0);
  EXPECT_EQ(low, 5u);
  EXPECT_EQ(high, 7u);
  EXPECT_TRUE(NDL(feature_supported)(-1, NEURON_DRIVER_FEATURE_MEM_ALLOC64));
  EXPECT_FALSE(NDL(feature_supported)(-1, 1u << 20));
  EXPECT_FALSE(NDL(feature_supported)(-1, 0));
  EXPECT_EQ(NDL(get_board_info)(&low, &high), 0);
  EXPECT_EQ(low, 2u);
  std::uint8_t slot = 0, function = 9;
  EXPECT_EQ(NDL(get_device_bdf_ext)(0, &low, &high, &slot, &function), 0);
  EXPECT_EQ(NDL(get_device_bdf_ext)(5, &low, &high, &slot, &function), -EINVAL);
  EXPECT_EQ(NDL(get_device_bdf)(-1, &high, &slot, &function), -EINVAL);
  neuron_app_info* apps = nullptr;
  std::size_t count = 0;
  EXPECT_EQ(NDL(get_all_apps_info)(device, &apps, &count, APP_INFO_ALL), 0);
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(apps[0].pid, getpid());
  std::free(apps);
}

TEST_F(NdlFunctions, MemoryIsWrittenMappedAndFreed) {
  std::vector<std::uint8_t> pattern(10000), back(10000);
  std::iota(pattern.begin(), pattern.end(), std::uint8_t{3});
  const std::uint64_t memory = alloc(20000);
  const auto* info = reinterpret_cast<const ndl_mem_info_t*>(memory);
  EXPECT_EQ(info->device, device);
  EXPECT_EQ(info->size, 20480u);
  std::uint64_t pa = 0;
  EXPECT_EQ(NDL(memory_get_pa)(memory, &pa), 0);
  EXPECT_EQ(info->pa, pa);
  EXPECT_EQ(NDL(memory_buf_copyin)(memory, pattern.data(), 7, pattern.size()), 0);
  EXPECT_EQ(NDL(memory_buf_copyout)(memory, back.data(), 7, back.size()), 0);
  EXPECT_EQ(back, pattern);
  void* va = nullptr;
  EXPECT_EQ(NDL(memory_map)(memory, &va), 0);
  EXPECT_EQ(info->mmap_va, va);
  EXPECT_EQ(std::memcmp(static_cast<char*>(va) + 7, pattern.data(), pattern.size()), 0);
  EXPECT_EQ(NDL(memset)(memory, 7, 0x5A, 4), 0);
  EXPECT_EQ(static_cast<std::uint8_t*>(va)[10], 0x5A);
  int on_device = 9, hbm = 9;
  EXPECT_EQ(NDL(get_va_placement)(va, &on_device, &hbm), 0);
  EXPECT_EQ(on_device, 0);
  EXPECT_EQ(hbm, 0);
  const std::uint64_t other = alloc(20000, 1);
  EXPECT_EQ(NDL(memory_copy)(memory, other, 7, 0, 10000), 0);
  int wait = -1;
  EXPECT_EQ(NDL(memory_copy_as)(memory, other, 0, 0, 4096, 0, &wait), 0);
  EXPECT_EQ(NDL(memory_copy_as_wait)(memory, wait), 0);
  std::uint64_t cookie = 0, bytes = 0, handle = 0;
  EXPECT_EQ(NDL(mem_get_mc_mmap_info)(device, pa, &cookie, &bytes, &handle), 0);
  EXPECT_EQ(cookie, pa);
  EXPECT_EQ(NDL(memory_unmap)(memory), 0);
  EXPECT_EQ(NDL(memory_unmap)(memory), -EINVAL) << "not mapped";
  EXPECT_EQ(NDL(memory_free)(memory), 0);
  EXPECT_EQ(NDL(memory_free)(memory), -EINVAL) << "given back";
  EXPECT_EQ(NDL(memory_map)(memory, &va), -EINVAL);
  EXPECT_EQ(NDL(memory_buf_copyin)(0, pattern.data(), 0, 4), -EINVAL);
  EXPECT_EQ(NDL(memory_buf_copyin)(other, pattern.data(), 20480, 4), -EINVAL) << "past the end";
  EXPECT_EQ(NDL(memory_alloc)(device, 4096, 0, 0, 0, 0, 0, 9, nullptr), -EINVAL);
  ndl_copy_buf_t *buffer = nullptr, *again = nullptr;
  EXPECT_EQ(NDL(get_copy_buf)(device, 1, &buffer), 0);
  EXPECT_EQ(NDL(get_copy_buf)(device, 1, &again), 0);
  EXPECT_EQ(buffer, again);
  EXPECT_EQ(buffer, &device->cpy_bufs[1]);
  EXPECT_EQ(NDL(memory_buf_copyin)(buffer->mem_handle, pattern.data(), 0, 100), 0);
  EXPECT_EQ(std::memcmp(buffer->mmap_va, pattern.data(), 100), 0);
  EXPECT_EQ(NDL(memory_free)(buffer->mem_handle), -EINVAL) << "the device's own";
  EXPECT_EQ(NDL(get_copy_buf)(device, 8, &buffer), -EINVAL);
}

TEST_F(NdlFunctions, RegistersSemaphoresAndQueues) {
  std::uint32_t value = 0;
  EXPECT_EQ(NDL(nc_semaphore_write)(device, 0, 30, 5), 0);
  EXPECT_EQ(NDL(nc_semaphore_increment)(device, 0, 30, 2), 0);
  EXPECT_EQ(NDL(nc_semaphore_decrement)(device, 0, 30, 1), 0);
  EXPECT_EQ(NDL(nc_semaphore_read)(device, 0, 30, &value), 0);
  EXPECT_EQ(value, 6u);
  EXPECT_EQ(NDL(nc_semaphore_read)(device, -1, 30, &value), -EINVAL);
  // The same semaphore through its register: window of core 0, read registers.
  std::uint64_t address = device->csr_base[0] + 0x2701000 + 30 * 4;
  EXPECT_EQ(NDL(bar_read)(device, 0, &address, 1, &value), 0);
  EXPECT_EQ(value, 6u);
  EXPECT_EQ(NDL(bar_read)(device, 4, &address, 1, &value), -EINVAL);
  address = 0;
  EXPECT_EQ(NDL(bar_read)(device, 0, &address, 1, &value), -EINVAL) << "below the base";
  EXPECT_EQ(NDL(nc_event_set)(device, 1, 9, 1), 0);
  EXPECT_EQ(NDL(nc_event_get)(device, 1, 9, &value), 0);
  EXPECT_EQ(value, 1u);

  const std::uint64_t tx = alloc(4096), rx = alloc(4096);
  EXPECT_EQ(NDL(dma_queue_init)(0, 3, 1, 64, 128, tx, rx, 0, 0), 0);
  neuron_dma_queue_state tx_state{}, rx_state{};
  EXPECT_EQ(NDL(dma_queue_get_state)(0, 3, 1, &tx_state, &rx_state), 0);
  EXPECT_EQ(tx_state.length, 64u);
  EXPECT_EQ(rx_state.length, 128u);
  std::uint64_t pa = 0;
  EXPECT_EQ(NDL(memory_get_pa)(tx, &pa), 0);
  EXPECT_EQ(tx_state.base_addr, pa);
  EXPECT_EQ(NDL(dma_queue_init)(0, 3, 1, 64, 64, tx, rx, rx, 0), -EINVAL) << "completion ring";
  EXPECT_EQ(NDL(dma_queue_init)(0, 3, 1, 64, 64, 77, rx, 0, 0), -EINVAL) << "no such memory";
  EXPECT_EQ(NDL(dma_queue_get_state)(64, 3, 1, &tx_state, &rx_state), -EINVAL);

  std::uint64_t queue = 0, memory = 0;
  void* va = nullptr;
  EXPECT_EQ(
      NDL(notification_init)(device, 0, NQ_DEV_TYPE_NEURON_CORE, 1, 2, 16384, true, 0, 0, &queue),
      0);
  EXPECT_EQ(NDL(notification_get_size)(queue, &value), 0);
  EXPECT_EQ(value, 16384u);
  EXPECT_EQ(NDL(notification_map)(queue, &va), 0);
  EXPECT_EQ(NDL(notification_get_mem_handle)(queue, &memory), 0);
  EXPECT_EQ(NDL(memory_get_pa)(memory, &pa), 0);
  EXPECT_EQ(NDL(notification_destroy)(queue), 0);
  EXPECT_EQ(NDL(notification_destroy)(queue), -EINVAL);
  EXPECT_EQ(NDL(memory_get_pa)(memory, &pa), -EINVAL) << "gone with the queue";
  std::uint32_t request = 0;
  std::uint8_t ready = 0;
  EXPECT_EQ(NDL(reset_ncs)(0, 1, &request), 0);
  EXPECT_EQ(NDL(ready_ncs)(0, request, &ready), 0);
  EXPECT_EQ(ready, 1);
}

TEST_F(NdlFunctions, SharedStateAndPods) {
  void* data = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(NDL(nds_open)(device, 0, &data, &size), 0);
  EXPECT_EQ(size, 262144u);
  EXPECT_EQ(NDL(nds_close)(device, 0, data, size), 0);
  EXPECT_EQ(NDL(nds_close)(device, 0, data, size), -EINVAL);
  std::uint64_t bitmap[8] = {};
  std::uint32_t longest = 0;
  EXPECT_EQ(NDL(crwl_nc_range_mark)(2, 0, 1, &longest, bitmap, sizeof bitmap), 0);
  EXPECT_EQ(bitmap[0], 3u);
  EXPECT_EQ(NDL(crwl_nc_range_unmark)(bitmap, sizeof bitmap), 0);
  EXPECT_EQ(NDL(crwl_nc_range_mark)(1, 0, 64, &longest, bitmap, 8), -EINVAL) << "bitmap too short";
  neuron_uuid uuid{};
  uuid.value[0] = 4;
  EXPECT_EQ(NDL(crwl_writer_enter)(device, 0, uuid), 0);
  EXPECT_EQ(NDL(crwl_writer_downgrade)(device, 0, uuid), 0);
  EXPECT_EQ(NDL(crwl_reader_exit)(device, 0, uuid), 0);
  std::uint32_t type = 9, nodes = 9, state = 9, modes = 9;
  neuron_ultraserver_mode mode{};
  int node = 0;
  EXPECT_EQ(NDL(pod_info)(&type, &nodes), 0);
  EXPECT_EQ(NDL(pod_status)(nullptr, &state, &type, &nodes, &node, &mode, &modes), 0);
  EXPECT_EQ(state, static_cast<std::uint32_t>(NEURON_POD_E_STATE_SINGLE_NODE));
  EXPECT_EQ(node, -1);
  char line[] = "test";
  EXPECT_EQ(NDL(printk)(line, sizeof line, 0), 0);
  EXPECT_EQ(NDL(printk)(line, 4, 0), -EBADMSG);
}

TEST_F(NdlFunctions, WhatWasNotHandedOutIsRefused) {
  ndl_device_t fake{};
  std::uint32_t value = 0;
  for (ndl_device_t* bad : {static_cast<ndl_device_t*>(nullptr), &fake}) {
    EXPECT_EQ(NDL(nc_semaphore_read)(bad, 0, 0, &value), -EINVAL);
    EXPECT_EQ(NDL(close_device)(bad), -EINVAL);
  }
  ndl_device_t* none = nullptr;
  EXPECT_EQ(NDL(open_device)(-1, nullptr, &none), -EINVAL);
  EXPECT_EQ(NDL(open_device)(64, nullptr, &none), -EINVAL);
  EXPECT_EQ(NDL(open_device)(0, nullptr, nullptr), -EINVAL);
  EXPECT_EQ(NDL(open_device)(7, nullptr, &none), -ENOENT);
  // A closed device takes its memory along.
  const std::uint64_t memory = alloc(4096);
  ndl_device_t* closed = device;
  EXPECT_EQ(NDL(close_device)(device), 0);
  device = nullptr;
  EXPECT_EQ(NDL(memory_free)(memory), -EINVAL);
  EXPECT_EQ(NDL(nc_semaphore_read)(closed, 0, 0, &value), -EINVAL);
}

TEST_F(NdlFunctions, AForkedChildIsRefused) {
  const std::uint64_t memory = alloc(4096);
  const pid_t child = fork();
  if (child == 0) {
    int wrong = 0;
    void* va = nullptr;
    ndl_device_t* another = nullptr;
    std::uint32_t value = 0;
    wrong += NDL(open_device)(0, nullptr, &another) != -EACCES;
    wrong += NDL(memory_map)(memory, &va) != -EACCES;
    wrong += NDL(memory_free)(memory) != -EACCES;
    wrong += NDL(nc_semaphore_increment)(device, 0, 0, 1) != -EACCES;
    wrong += NDL(get_board_info)(&value, &value) != -EACCES;
    wrong += NDL(close_device)(device) != -EACCES;
    wrong += NDL(feature_supported)(-1, 1);
    _exit(wrong);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(NDL(memory_free)(memory), 0) << "the parent goes on";
}

// Beside an initialised runtime, which has a driver layer of its own.
TEST_F(NdlFunctions, WorkBesideARuntime) {
  ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  const std::uint64_t memory = alloc(4096);
  nrt_close();
  std::uint64_t pa = 0;
  EXPECT_EQ(NDL(memory_get_pa)(memory, &pa), 0) << "survives nrt_close";
  EXPECT_EQ(NDL(memory_free)(memory), 0);
}

}  // namespace
