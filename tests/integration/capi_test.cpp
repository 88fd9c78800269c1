// SPDX-License-Identifier: Apache-2.0
//
// The C ABI on the software device, every exported function: wrong states,
// wrong arguments, stale handles, and what a host process may expect of a
// guest. Includes the public headers only.
#include <dirent.h>
#include <gtest/gtest.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_version.h"
#include "support/repeats.h"

namespace {

int entries_of(const char* directory) {
  int n = 0;
  if (DIR* d = opendir(directory)) {
    while (readdir(d) != nullptr) ++n;
    closedir(d);
  }
  return n;
}
int open_descriptors() { return entries_of("/proc/self/fd"); }
int threads() { return entries_of("/proc/self/task"); }

std::vector<char> corpus_file(const char* name) {
  const char* folder = getenv("OPENNRT_CORPUS");
  std::ifstream in(std::string(folder != nullptr ? folder : OPENNRT_DEFAULT_CORPUS) + "/" + name,
                   std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Every guarded function with harmless arguments.
std::vector<std::pair<const char*, NRT_STATUS>> guarded_results() {
  nrt_model_t* model = nullptr;
  nrt_tensor_t* tensor = nullptr;
  nrt_tensor_set_t* set = nullptr;
  nrt_tensor_info_array_t* info = nullptr;
  nrt_model_info_t model_info;
  size_t size = 0;
  char byte = 0;
  return {
      {"nrt_load", nrt_load(&byte, 1, 0, 1, &model)},
      {"nrt_load(NULL)", nrt_load(nullptr, 0, 0, 1, nullptr)},
      {"nrt_unload", nrt_unload(model)},
      {"nrt_get_model_info", nrt_get_model_info(model, &model_info, 4, &size)},
      {"nrt_get_model_tensor_info", nrt_get_model_tensor_info(model, &info)},
      {"nrt_free_model_tensor_info", nrt_free_model_tensor_info(nullptr)},
      {"nrt_execute", nrt_execute(model, set, set)},
      {"nrt_execute_repeat", nrt_execute_repeat(model, set, set, 2)},
      {"nrt_tensor_allocate",
       nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 16, "t", &tensor)},
      {"nrt_tensor_allocate_empty", nrt_tensor_allocate_empty("t", &tensor)},
      {"nrt_tensor_attach_buffer", nrt_tensor_attach_buffer(tensor, &byte, 1)},
      {"nrt_tensor_allocate_slice", nrt_tensor_allocate_slice(tensor, 0, 1, "s", &tensor)},
      {"nrt_tensor_read", nrt_tensor_read(tensor, &byte, 0, 1)},
      {"nrt_tensor_write", nrt_tensor_write(tensor, &byte, 0, 1)},
      {"nrt_tensor_memset", nrt_tensor_memset(tensor, 0, 1, 1)},
      {"nrt_tensor_copy", nrt_tensor_copy(tensor, 0, tensor, 0, 1)},
      {"nrt_allocate_tensor_set", nrt_allocate_tensor_set(&set)},
      {"nrt_add_tensor_to_tensor_set", nrt_add_tensor_to_tensor_set(set, "t", tensor)},
      {"nrt_get_tensor_from_tensor_set", nrt_get_tensor_from_tensor_set(set, "t", &tensor)},
  };
}

// The functions without a status: they do nothing outside INIT.
void void_functions_are_harmless() {
  auto* junk = reinterpret_cast<nrt_tensor_t*>(0x1234);
  nrt_tensor_t* tensor = junk;
  nrt_tensor_free(&tensor);
  EXPECT_EQ(tensor, junk);
  nrt_tensor_set_t* set = junk;
  nrt_destroy_tensor_set(&set);
  EXPECT_EQ(set, junk);
  EXPECT_EQ(nrt_tensor_get_va(junk), nullptr);
  EXPECT_EQ(nrt_tensor_get_size(junk), 0u);
  EXPECT_EQ(nrt_tensor_get_size(nullptr), 0u);
  nrt_tensor_free(nullptr);
  nrt_destroy_tensor_set(nullptr);
}

TEST(CapiBeforeInit, GuardedFunctionsAreUninitialized) {
  for (const auto& [name, code] : guarded_results()) EXPECT_EQ(code, NRT_UNINITIALIZED) << name;
  void_functions_are_harmless();
  nrt_close();
}

TEST(CapiBeforeInit, QueriesWork) {
  uint32_t total = 0, visible = 0;
  EXPECT_EQ(nrt_get_total_nc_count(&total), NRT_SUCCESS);
  EXPECT_EQ(total, 2u);  // one Trainium1 device
  EXPECT_EQ(nrt_get_total_vnc_count(&total), NRT_SUCCESS);
  EXPECT_EQ(total, 2u);
  EXPECT_EQ(nrt_get_visible_nc_count(&visible), NRT_SUCCESS);
  EXPECT_EQ(visible, 2u);
  setenv("NEURON_RT_VISIBLE_CORES", "1", 1);
  EXPECT_EQ(nrt_get_visible_vnc_count(&visible), NRT_SUCCESS);
  EXPECT_EQ(visible, 1u);
  EXPECT_EQ(nrt_get_total_vnc_count(&total), NRT_SUCCESS);
  EXPECT_EQ(total, 2u);
  setenv("NEURON_RT_VISIBLE_CORES", "0,1,7", 1);
  EXPECT_EQ(nrt_get_visible_vnc_count(&visible), NRT_INVALID);
  setenv("NEURON_RT_VISIBLE_CORES", "5", 1);
  EXPECT_EQ(nrt_get_visible_vnc_count(&visible), NRT_INVALID);
  unsetenv("NEURON_RT_VISIBLE_CORES");
  setenv("NEURON_RT_NUM_CORES", "1", 1);
  EXPECT_EQ(nrt_get_visible_vnc_count(&visible), NRT_SUCCESS);
  EXPECT_EQ(visible, 1u);
  unsetenv("NEURON_RT_NUM_CORES");
  for (auto f : {nrt_get_total_nc_count, nrt_get_total_vnc_count, nrt_get_visible_nc_count,
                 nrt_get_visible_vnc_count})
    EXPECT_EQ(f(nullptr), NRT_INVALID);
}

TEST(CapiBeforeInit, InstanceInfo) {
  nrt_instance_info_t info{};
  ASSERT_EQ(nrt_get_instance_info(&info, sizeof info), NRT_SUCCESS);
  EXPECT_EQ(info.family, uint32_t{NRT_INSTANCE_TRN1});
  EXPECT_EQ(info.size, uint32_t{NRT_INSTANCE_SIZE_2XL});
  EXPECT_STREQ(info.arch_name, "sunda");
  memset(&info, 0x5A, sizeof info);
  ASSERT_EQ(nrt_get_instance_info(&info, 8), NRT_SUCCESS);  // callers of older headers
  EXPECT_EQ(info.family, uint32_t{NRT_INSTANCE_TRN1});
  EXPECT_EQ(info.arch_name[0], 0x5A);
  EXPECT_EQ(nrt_get_instance_info(nullptr, 32), NRT_INVALID);
}

TEST(CapiBeforeInit, VersionNegotiatesItsSize) {
  nrt_version_t v;
  memset(&v, 0x5A, sizeof v);
  EXPECT_EQ(nrt_get_version(nullptr, sizeof v), NRT_INVALID);
  EXPECT_EQ(nrt_get_version(&v, 159), NRT_FAILURE);
  EXPECT_EQ(v.rt_detail[0], 0x5A);
  EXPECT_EQ(nrt_get_version(&v, 200), NRT_SUCCESS);
  EXPECT_EQ(v.rt_major, 2u);
  EXPECT_EQ(strncmp(v.rt_detail, "libnrt version 2.31", 19), 0);
  EXPECT_EQ(v.git_hash[0], 0x5A);
  EXPECT_EQ(nrt_get_version(&v, sizeof v), NRT_SUCCESS);
  EXPECT_EQ(strlen(v.git_hash), 40u);
}

TEST(CapiStatusNames, AreTheIdentifiers) {
  EXPECT_STREQ(nrt_get_status_as_str(NRT_SUCCESS), "NRT_SUCCESS");
  EXPECT_STREQ(nrt_get_status_as_str(NRT_EXEC_HW_ERR_HBM_UE), "NRT_EXEC_HW_ERR_HBM_UE");
  EXPECT_STREQ(nrt_get_status_as_str(static_cast<NRT_STATUS>(8)), "UNKNOWN");
  EXPECT_STREQ(nrt_get_status_as_str(static_cast<NRT_STATUS>(-1)), "UNKNOWN");
}

TEST(CapiInit, BadConfigurationFailsAndARetryWorks) {
  setenv("NEURON_RT_EXEC_TIMEOUT", "soon", 1);
  EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, nullptr, nullptr), NRT_INVALID);
  unsetenv("NEURON_RT_EXEC_TIMEOUT");
  for (const auto& [name, code] : guarded_results()) EXPECT_EQ(code, NRT_UNINITIALIZED) << name;
  setenv("OPENNRT_DEVICE", "no-such-port", 1);
  EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_INVALID);
  setenv("OPENNRT_DEVICE", "emulator", 1);
  setenv("NEURON_RT_VISIBLE_CORES", "2", 1);
  EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_INVALID);
  setenv("NEURON_RT_VISIBLE_CORES", "1", 1);
  EXPECT_EQ(nrt_init(static_cast<nrt_framework_type_t>(99), "", ""), NRT_SUCCESS);
  uint32_t visible = 0;
  EXPECT_EQ(nrt_get_visible_vnc_count(&visible), NRT_SUCCESS);
  EXPECT_EQ(visible, 1u);
  nrt_tensor_t* t = nullptr;
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 1, 16, "t", &t), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 16, "t", &t), NRT_SUCCESS);
  EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);  // no effect
  EXPECT_EQ(nrt_tensor_get_size(t), 16u);
  nrt_close();
  unsetenv("NEURON_RT_VISIBLE_CORES");
}

TEST(CapiInit, KernelWithoutADeviceSaysWhatIsMissing) {
  if (access("/dev/neuron0", F_OK) == 0) GTEST_SKIP() << "this machine has a device";
  setenv("OPENNRT_DEVICE", "kernel", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_INVALID);
  const std::string text = testing::internal::GetCapturedStderr();
  setenv("OPENNRT_DEVICE", "emulator", 1);
  EXPECT_NE(text.find("kernel driver is not loaded"), std::string::npos) << text;
  EXPECT_NE(text.find("device: emulator"), std::string::npos) << text;
}

TEST(CapiInit, InitCloseHundredTimes) {
  ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  nrt_close();
  const int descriptors = open_descriptors(), before = threads();
  for (int i = 0; i < opennrt::test::repeats(100); ++i) {
    ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS) << i;
    nrt_close();
  }
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(threads(), before);
}

TEST(CapiInit, ConcurrentInitIsSerialised) {
  std::vector<std::thread> all;
  std::atomic<int> failed{0};
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&] {
      if (nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") != NRT_SUCCESS) ++failed;
    });
  for (auto& t : all) t.join();
  EXPECT_EQ(failed, 0);
  nrt_close();
}

TEST(CapiClose, OtherThreadsSeeOneOfTheDocumentedCodes) {
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
    std::atomic<bool> stop{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> all;
    for (int t = 0; t < 3; ++t)
      all.emplace_back([&] {
        while (!stop) {
          nrt_tensor_t* tensor = nullptr;
          const NRT_STATUS code =
              nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_VIRTUAL, -1, 64, "t", &tensor);
          if (code == NRT_SUCCESS) {
            char byte = 1;
            const NRT_STATUS w = nrt_tensor_write(tensor, &byte, 63, 1);
            if (w != NRT_SUCCESS && w != NRT_CLOSED && w != NRT_UNINITIALIZED && w != NRT_INVALID)
              ++wrong;
            nrt_tensor_free(&tensor);
          } else if (code != NRT_CLOSED && code != NRT_UNINITIALIZED) {
            ++wrong;
          }
        }
      });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    nrt_close();
    stop = true;
    for (auto& t : all) t.join();
    EXPECT_EQ(wrong, 0);
  }
}

class Capi : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS); }
  void TearDown() override { nrt_close(); }

  static nrt_tensor_t* tensor(size_t bytes,
                              nrt_tensor_placement_t placement = NRT_TENSOR_PLACEMENT_DEVICE,
                              int vnc = 0) {
    nrt_tensor_t* t = nullptr;
    EXPECT_EQ(nrt_tensor_allocate(placement, vnc, bytes, nullptr, &t), NRT_SUCCESS);
    return t;
  }
};

TEST_F(Capi, ForkedChildIsToldAndTheParentGoesOn) {
  nrt_tensor_t* t = tensor(16);
  const pid_t child = fork();
  if (child == 0) {
    int wrong = 0;
    for (const auto& [name, code] : guarded_results()) wrong += code != NRT_FAILURE;
    wrong += nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") != NRT_FAILURE;
    uint32_t n = 0;
    wrong += nrt_get_visible_vnc_count(&n) != NRT_SUCCESS || n != 2;
    wrong += nrt_get_total_vnc_count(&n) != NRT_SUCCESS || n != 2;
    nrt_instance_info_t info;
    wrong += nrt_get_instance_info(&info, sizeof info) != NRT_SUCCESS;
    wrong += nrt_tensor_get_va(t) != nullptr;
    nrt_tensor_free(&t);
    nrt_close();
    _exit(wrong);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  char byte = 7;
  EXPECT_EQ(nrt_tensor_write(t, &byte, 0, 1), NRT_SUCCESS);
}

TEST_F(Capi, TensorArguments) {
  nrt_tensor_t* t = nullptr;
  using P = nrt_tensor_placement_t;
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 16, "t", nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_allocate(static_cast<P>(3), 0, 16, "t", &t), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 2, 16, "t", &t), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, -1, 16, "t", &t), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 0, "t", &t), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, 0, (4u << 20) + 1, "t", &t),
            NRT_RESOURCE);
  t = reinterpret_cast<nrt_tensor_t*>(0x1234);
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, size_t{1} << 50, "t", &t),
            NRT_RESOURCE);
  EXPECT_EQ(t, nullptr);
  EXPECT_EQ(nrt_tensor_allocate_empty("t", nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_attach_buffer(nullptr, &t, 8), NRT_INVALID);
  t = tensor(16);
  EXPECT_EQ(nrt_tensor_attach_buffer(t, nullptr, 8), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_attach_buffer(t, &t, 0), NRT_INVALID);
  nrt_tensor_t* s = nullptr;
  EXPECT_EQ(nrt_tensor_allocate_slice(nullptr, 0, 1, "s", &s), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_allocate_slice(t, 0, 1, "s", nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_allocate_slice(t, 8, 9, "s", &s), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_allocate_slice(t, SIZE_MAX, 2, "s", &s), NRT_INVALID);
  char buffer[32] = {};
  EXPECT_EQ(nrt_tensor_read(nullptr, buffer, 0, 1), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_read(t, nullptr, 0, 1), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_write(nullptr, buffer, 0, 1), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_write(t, nullptr, 0, 1), NRT_INVALID);
  for (auto [offset, size] : std::vector<std::pair<size_t, size_t>>{
           {0, 17}, {16, 1}, {17, 0}, {SIZE_MAX, 1}, {1, SIZE_MAX}, {8, 9}}) {
    EXPECT_EQ(nrt_tensor_read(t, buffer, offset, size), NRT_INVALID) << offset << "+" << size;
    EXPECT_EQ(nrt_tensor_write(t, buffer, offset, size), NRT_INVALID) << offset << "+" << size;
    EXPECT_EQ(nrt_tensor_memset(t, offset, 0, size), NRT_INVALID) << offset << "+" << size;
    EXPECT_EQ(nrt_tensor_copy(t, offset, t, 0, size), NRT_INVALID) << offset << "+" << size;
    EXPECT_EQ(nrt_tensor_copy(t, 0, t, offset, size), NRT_INVALID) << offset << "+" << size;
  }
  EXPECT_EQ(nrt_tensor_read(t, buffer, 16, 0), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_write(t, buffer, 0, 0), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_memset(nullptr, 0, 0, 1), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_copy(nullptr, 0, t, 0, 1), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_copy(t, 0, nullptr, 0, 1), NRT_INVALID);
}

TEST_F(Capi, TensorBytesTravel) {
  for (auto placement :
       {NRT_TENSOR_PLACEMENT_DEVICE, NRT_TENSOR_PLACEMENT_HOST, NRT_TENSOR_PLACEMENT_VIRTUAL}) {
    nrt_tensor_t* t = tensor(10000, placement);
    EXPECT_EQ(nrt_tensor_get_size(t), 10000u);
    std::vector<unsigned char> in(5000), out(10000);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i * 7);
    ASSERT_EQ(nrt_tensor_memset(t, 0, 0x1AB, 10000), NRT_SUCCESS);
    ASSERT_EQ(nrt_tensor_write(t, in.data(), 1234, in.size()), NRT_SUCCESS);
    nrt_tensor_t* slice = nullptr;
    ASSERT_EQ(nrt_tensor_allocate_slice(t, 1234, 100, nullptr, &slice), NRT_SUCCESS);
    ASSERT_EQ(nrt_tensor_memset(slice, 99, 0xEE, 1), NRT_SUCCESS);
    in[99] = 0xEE;
    ASSERT_EQ(nrt_tensor_read(t, out.data(), 0, out.size()), NRT_SUCCESS);
    EXPECT_EQ(out[1233], 0xAB);
    EXPECT_EQ(memcmp(out.data() + 1234, in.data(), in.size()), 0);
    EXPECT_EQ(out[6234], 0xAB);
    const auto* va = static_cast<unsigned char*>(nrt_tensor_get_va(t));
    ASSERT_NE(va, nullptr);
    EXPECT_EQ(va[1234 + 99], 0xEE);
    EXPECT_EQ(nrt_tensor_get_va(slice), va + 1234);
    nrt_tensor_free(&t);  // the slice keeps the storage
    EXPECT_EQ(t, nullptr);
    ASSERT_EQ(nrt_tensor_read(slice, out.data(), 99, 1), NRT_SUCCESS);
    EXPECT_EQ(out[0], 0xEE);
    nrt_tensor_free(&slice);
  }
}

TEST_F(Capi, CopyBetweenPlacements) {
  nrt_tensor_t *d = tensor(64), *e = tensor(64), *far = tensor(64, NRT_TENSOR_PLACEMENT_DEVICE, 1);
  nrt_tensor_t* v = tensor(64, NRT_TENSOR_PLACEMENT_VIRTUAL, -1);
  char in[64], out[64];
  for (int i = 0; i < 64; ++i) in[i] = static_cast<char>(i);
  ASSERT_EQ(nrt_tensor_write(v, in, 0, 64), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_copy(v, 0, d, 8, 56), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_copy(d, 8, e, 0, 56), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_read(e, out, 0, 56), NRT_SUCCESS);
  EXPECT_EQ(memcmp(in, out, 56), 0);
  EXPECT_EQ(nrt_tensor_copy(d, 0, far, 0, 64), NRT_INVALID);  // another HBM channel
}

TEST_F(Capi, EmptyTensorAndAttachedBuffer) {
  nrt_tensor_t* t = nullptr;
  ASSERT_EQ(nrt_tensor_allocate_empty(nullptr, &t), NRT_SUCCESS);
  char buffer[8] = "abcdefg", out[8];
  EXPECT_EQ(nrt_tensor_get_va(t), nullptr);
  EXPECT_EQ(nrt_tensor_read(t, out, 0, 1), NRT_INVALID);
  ASSERT_EQ(nrt_tensor_attach_buffer(t, buffer, 8), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_get_va(t), buffer);
  ASSERT_EQ(nrt_tensor_read(t, out, 0, 8), NRT_SUCCESS);
  EXPECT_STREQ(out, "abcdefg");
  nrt_tensor_free(&t);
}

TEST_F(Capi, StaleAndForeignHandles) {
  nrt_tensor_t *t = tensor(16), *dead = t, *live = tensor(16);
  nrt_tensor_free(&t);
  char byte = 0;
  EXPECT_EQ(nrt_tensor_read(dead, &byte, 0, 1), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_get_size(dead), 0u);
  EXPECT_EQ(nrt_tensor_get_va(dead), nullptr);
  nrt_tensor_set_t* set = nullptr;
  ASSERT_EQ(nrt_allocate_tensor_set(&set), NRT_SUCCESS);
  EXPECT_EQ(nrt_add_tensor_to_tensor_set(set, "x", dead), NRT_INVALID);
  EXPECT_EQ(nrt_add_tensor_to_tensor_set(live, "x", live), NRT_INVALID);  // a tensor as a set
  EXPECT_EQ(nrt_unload(reinterpret_cast<nrt_model_t*>(live)), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_unload(reinterpret_cast<nrt_model_t*>(0x7fff12345678)), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_execute(reinterpret_cast<nrt_model_t*>(0x10), set, set), NRT_INVALID_HANDLE);
  nrt_tensor_free(&dead);
  nrt_tensor_set_t* gone = set;
  nrt_destroy_tensor_set(&set);
  EXPECT_EQ(set, nullptr);
  EXPECT_EQ(nrt_add_tensor_to_tensor_set(gone, "x", live), NRT_INVALID);
  nrt_destroy_tensor_set(&gone);
  // Handles that outlive nrt_close: useless, never harmful.
  nrt_close();
  nrt_tensor_t* old = live;
  nrt_tensor_free(&old);
  ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_read(live, &byte, 0, 1), NRT_INVALID);
  nrt_tensor_free(&live);
}

TEST_F(Capi, TensorSets) {
  nrt_tensor_set_t* set = nullptr;
  EXPECT_EQ(nrt_allocate_tensor_set(nullptr), NRT_INVALID);
  ASSERT_EQ(nrt_allocate_tensor_set(&set), NRT_SUCCESS);
  nrt_tensor_t *a = tensor(1), *b = tensor(2), *got = nullptr;
  EXPECT_EQ(nrt_add_tensor_to_tensor_set(nullptr, "a", a), NRT_INVALID);
  EXPECT_EQ(nrt_add_tensor_to_tensor_set(set, nullptr, a), NRT_INVALID);
  EXPECT_EQ(nrt_add_tensor_to_tensor_set(set, "a", nullptr), NRT_INVALID);
  char name[] = "a";
  ASSERT_EQ(nrt_add_tensor_to_tensor_set(set, name, a), NRT_SUCCESS);
  name[0] = 'z';  // the name was copied
  ASSERT_EQ(nrt_get_tensor_from_tensor_set(set, "a", &got), NRT_SUCCESS);
  EXPECT_EQ(got, a);
  ASSERT_EQ(nrt_add_tensor_to_tensor_set(set, "a", b), NRT_SUCCESS);
  ASSERT_EQ(nrt_get_tensor_from_tensor_set(set, "a", &got), NRT_SUCCESS);
  EXPECT_EQ(got, b);
  got = a;
  EXPECT_EQ(nrt_get_tensor_from_tensor_set(set, "z", &got), NRT_FAILURE);
  EXPECT_EQ(got, a);
  EXPECT_EQ(nrt_get_tensor_from_tensor_set(nullptr, "a", &got), NRT_INVALID);
  EXPECT_EQ(nrt_get_tensor_from_tensor_set(set, nullptr, &got), NRT_INVALID);
  EXPECT_EQ(nrt_get_tensor_from_tensor_set(set, "a", nullptr), NRT_INVALID);
}

TEST_F(Capi, LoadArguments) {
  nrt_model_t* m = reinterpret_cast<nrt_model_t*>(0x1234);
  const std::vector<char> junk(5000, 'x');
  EXPECT_EQ(nrt_load(nullptr, 5, 0, 1, &m), NRT_INVALID);
  EXPECT_EQ(m, nullptr);
  EXPECT_EQ(nrt_load(junk.data(), 0, 0, 1, &m), NRT_INVALID);
  EXPECT_EQ(nrt_load(junk.data(), junk.size(), 0, 1, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_load(junk.data(), junk.size(), 0, 1, &m), NRT_INVALID);
  EXPECT_EQ(nrt_load(junk.data(), junk.size(), 2, 1, &m), NRT_INVALID);
  EXPECT_EQ(nrt_load(junk.data(), junk.size(), -2, 1, &m), NRT_INVALID);
  EXPECT_EQ(nrt_load(junk.data(), junk.size(), 0, 0, &m), NRT_INVALID);
  EXPECT_EQ(nrt_load(junk.data(), junk.size(), 0, 2, &m), NRT_INVALID);
  EXPECT_EQ(m, nullptr);
  EXPECT_EQ(nrt_unload(nullptr), NRT_INVALID);
  setenv("NEURON_RT_EXEC_TIMEOUT", "x", 1);  // read again by every load
  EXPECT_EQ(nrt_load(junk.data(), junk.size(), 0, 1, &m), NRT_INVALID);
  unsetenv("NEURON_RT_EXEC_TIMEOUT");
}

// A loaded vector add with its sets.
class CapiModel : public Capi {
 protected:
  struct Sets {
    nrt_tensor_set_t *in = nullptr, *out = nullptr;
    nrt_tensor_t *a = nullptr, *b = nullptr, *sum = nullptr;
    std::vector<float> va, vb;
  };
  void SetUp() override {
    neff_ = corpus_file("vecadd_1tile_sunda.neff");
    if (neff_.empty()) GTEST_SKIP() << "corpus absent: set OPENNRT_CORPUS";
    Capi::SetUp();
    ASSERT_EQ(nrt_load(neff_.data(), neff_.size(), 0, 1, &model_), NRT_SUCCESS);
    nrt_tensor_info_array_t* info = nullptr;
    ASSERT_EQ(nrt_get_model_tensor_info(model_, &info), NRT_SUCCESS);
    ASSERT_EQ(info->tensor_count, 3u);
    EXPECT_EQ(info->tensor_array[0].usage, NRT_TENSOR_USAGE_INPUT);
    EXPECT_EQ(info->tensor_array[2].usage, NRT_TENSOR_USAGE_OUTPUT);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(info->tensor_array[i].dtype, NRT_DTYPE_FLOAT32);
      EXPECT_GT(info->tensor_array[i].ndim, 0u);
      names_.push_back(info->tensor_array[i].name);
      bytes_ = info->tensor_array[i].size;
    }
    EXPECT_EQ(nrt_free_model_tensor_info(info), NRT_SUCCESS);
  }
  Sets sets(unsigned seed, nrt_tensor_placement_t placement = NRT_TENSOR_PLACEMENT_DEVICE) {
    Sets s;
    const int vnc = placement == NRT_TENSOR_PLACEMENT_VIRTUAL ? -1 : 0;
    s.a = tensor(bytes_, placement, vnc);
    s.b = tensor(bytes_, placement, vnc);
    s.sum = tensor(bytes_, placement, vnc);
    s.va.resize(bytes_ / 4);
    s.vb.resize(bytes_ / 4);
    for (size_t i = 0; i < s.va.size(); ++i) {
      seed = seed * 1664525u + 1013904223u;
      s.va[i] = static_cast<float>(static_cast<int>(seed >> 8)) * 0.001f;
      seed = seed * 1664525u + 1013904223u;
      s.vb[i] = static_cast<float>(static_cast<int>(seed >> 8)) * -0.002f;
    }
    EXPECT_EQ(nrt_tensor_write(s.a, s.va.data(), 0, bytes_), NRT_SUCCESS);
    EXPECT_EQ(nrt_tensor_write(s.b, s.vb.data(), 0, bytes_), NRT_SUCCESS);
    EXPECT_EQ(nrt_allocate_tensor_set(&s.in), NRT_SUCCESS);
    EXPECT_EQ(nrt_allocate_tensor_set(&s.out), NRT_SUCCESS);
    EXPECT_EQ(nrt_add_tensor_to_tensor_set(s.in, names_[0].c_str(), s.a), NRT_SUCCESS);
    EXPECT_EQ(nrt_add_tensor_to_tensor_set(s.in, names_[1].c_str(), s.b), NRT_SUCCESS);
    EXPECT_EQ(nrt_add_tensor_to_tensor_set(s.out, names_[2].c_str(), s.sum), NRT_SUCCESS);
    return s;
  }
  size_t wrong(const Sets& s) {
    std::vector<float> got(bytes_ / 4);
    EXPECT_EQ(nrt_tensor_read(s.sum, got.data(), 0, bytes_), NRT_SUCCESS);
    size_t n = 0;
    for (size_t i = 0; i < got.size(); ++i) n += got[i] != s.va[i] + s.vb[i];
    return n;
  }
  std::vector<char> neff_;
  nrt_model_t* model_ = nullptr;
  std::vector<std::string> names_;
  size_t bytes_ = 0;
};

TEST_F(CapiModel, ThousandExecutionsAreBitExact) {
  const Sets s = sets(1);
  const int before = threads();
  for (int i = 0; i < opennrt::test::repeats(1000); ++i) {
    if (i % 100 == 0) {
      ASSERT_EQ(nrt_tensor_memset(s.sum, 0, 0xFF, bytes_), NRT_SUCCESS);
    }
    ASSERT_EQ(nrt_execute(model_, s.in, s.out), NRT_SUCCESS) << i;
    if (i % 100 == 0) {
      ASSERT_EQ(wrong(s), 0u) << i;
    }
  }
  EXPECT_EQ(wrong(s), 0u);
  EXPECT_EQ(threads(), before);  // synchronous execution creates none
}

TEST_F(CapiModel, FourThreadsWithTheirOwnSets) {
  std::vector<std::thread> all;
  std::atomic<int> failed{0};
  std::vector<Sets> mine;
  for (unsigned t = 0; t < 4; ++t) mine.push_back(sets(100 + t));
  for (unsigned t = 0; t < 4; ++t)
    all.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i)
        if (nrt_execute(model_, mine[t].in, mine[t].out) != NRT_SUCCESS) ++failed;
    });
  for (auto& t : all) t.join();
  EXPECT_EQ(failed, 0);
  for (const Sets& s : mine) EXPECT_EQ(wrong(s), 0u);
}

TEST_F(CapiModel, HostTensorsAndRepeat) {
  const Sets s = sets(7, NRT_TENSOR_PLACEMENT_VIRTUAL);
  ASSERT_EQ(nrt_execute(model_, s.in, s.out), NRT_SUCCESS);
  EXPECT_EQ(wrong(s), 0u);
  for (int n : {-1, 0, 1, 5}) {
    ASSERT_EQ(nrt_tensor_memset(s.sum, 0, 0xFF, bytes_), NRT_SUCCESS);
    ASSERT_EQ(nrt_execute_repeat(model_, s.in, s.out, n), NRT_SUCCESS);
    EXPECT_EQ(wrong(s), 0u);
  }
}

TEST_F(CapiModel, ExecuteArguments) {
  const Sets s = sets(3);
  EXPECT_EQ(nrt_execute(nullptr, s.in, s.out), NRT_INVALID);
  EXPECT_EQ(nrt_execute(model_, nullptr, s.out), NRT_INVALID);
  EXPECT_EQ(nrt_execute(model_, s.in, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_execute_repeat(nullptr, s.in, s.out, 3), NRT_INVALID);
  EXPECT_EQ(nrt_execute_repeat(model_, nullptr, s.out, 3), NRT_INVALID);
  EXPECT_EQ(nrt_execute_repeat(model_, s.in, nullptr, 3), NRT_INVALID);
  EXPECT_EQ(nrt_execute(model_, s.out, s.out), NRT_INVALID);       // one tensor, not two
  EXPECT_EQ(nrt_execute(model_, s.in, s.in), NRT_EXEC_BAD_INPUT);  // no output of that name
  nrt_tensor_t* small = tensor(bytes_ - 4);
  ASSERT_EQ(nrt_add_tensor_to_tensor_set(s.out, names_[2].c_str(), small), NRT_SUCCESS);
  EXPECT_EQ(nrt_execute(model_, s.in, s.out), NRT_EXEC_BAD_INPUT);
  nrt_tensor_t* far = tensor(bytes_, NRT_TENSOR_PLACEMENT_DEVICE, 1);
  ASSERT_EQ(nrt_add_tensor_to_tensor_set(s.out, names_[2].c_str(), far), NRT_SUCCESS);
  EXPECT_EQ(nrt_execute(model_, s.in, s.out), NRT_EXEC_BAD_INPUT);
  ASSERT_EQ(nrt_add_tensor_to_tensor_set(s.out, names_[2].c_str(), s.sum), NRT_SUCCESS);
  EXPECT_EQ(nrt_execute(model_, s.in, s.out), NRT_SUCCESS);
  EXPECT_EQ(wrong(s), 0u);
  nrt_tensor_t* a = s.a;
  nrt_tensor_free(&a);  // still in the set
  EXPECT_EQ(nrt_execute(model_, s.in, s.out), NRT_EXEC_BAD_INPUT);
}

TEST_F(CapiModel, ModelQueries) {
  nrt_model_info_t info{.vnc = 77};
  size_t written = 0;
  EXPECT_EQ(nrt_get_model_info(nullptr, &info, 4, &written), NRT_INVALID);
  EXPECT_EQ(nrt_get_model_info(model_, nullptr, 4, &written), NRT_INVALID);
  EXPECT_EQ(nrt_get_model_info(model_, &info, 4, nullptr), NRT_INVALID);
  ASSERT_EQ(nrt_get_model_info(model_, &info, 2, &written), NRT_SUCCESS);
  EXPECT_EQ(written, 2u);
  ASSERT_EQ(nrt_get_model_info(model_, &info, 400, &written), NRT_SUCCESS);
  EXPECT_EQ(written, 4u);
  EXPECT_EQ(info.vnc, 0u);
  nrt_tensor_info_array_t* array = nullptr;
  EXPECT_EQ(nrt_get_model_tensor_info(nullptr, &array), NRT_INVALID);
  EXPECT_EQ(nrt_get_model_tensor_info(model_, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_free_model_tensor_info(nullptr), NRT_SUCCESS);
}

TEST_F(CapiModel, UnloadMakesTheHandleDead) {
  const Sets s = sets(5);
  ASSERT_EQ(nrt_execute(model_, s.in, s.out), NRT_SUCCESS);
  ASSERT_EQ(nrt_unload(model_), NRT_SUCCESS);
  EXPECT_EQ(nrt_unload(model_), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_execute(model_, s.in, s.out), NRT_INVALID_HANDLE);
  nrt_model_info_t info;
  size_t written = 0;
  nrt_tensor_info_array_t* array = nullptr;
  EXPECT_EQ(nrt_get_model_info(model_, &info, 4, &written), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_get_model_tensor_info(model_, &array), NRT_INVALID_HANDLE);
}

TEST_F(CapiModel, PlacementAndModelSwitches) {
  nrt_model_t *second = nullptr, *third = nullptr;
  ASSERT_EQ(nrt_load(neff_.data(), neff_.size(), -1, -1, &second), NRT_SUCCESS);  // core 1
  ASSERT_EQ(nrt_load(neff_.data(), neff_.size(), 0, -1, &third), NRT_SUCCESS);
  nrt_model_info_t info{};
  size_t written = 0;
  ASSERT_EQ(nrt_get_model_info(second, &info, 4, &written), NRT_SUCCESS);
  EXPECT_EQ(info.vnc, 1u);
  const Sets s = sets(9), u = sets(10);
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(nrt_execute(model_, s.in, s.out), NRT_SUCCESS);
    ASSERT_EQ(nrt_execute(third, u.in, u.out), NRT_SUCCESS);
  }
  EXPECT_EQ(wrong(s), 0u);
  EXPECT_EQ(wrong(u), 0u);
  EXPECT_EQ(nrt_unload(third), NRT_SUCCESS);  // current on core 0
  ASSERT_EQ(nrt_tensor_memset(s.sum, 0, 0xFF, bytes_), NRT_SUCCESS);
  ASSERT_EQ(nrt_execute(model_, s.in, s.out), NRT_SUCCESS);
  EXPECT_EQ(wrong(s), 0u);
}

// A model may go while the core is on its way from it to another one.
TEST_F(CapiModel, UnloadWhileOthersSwitchTheCore) {
  constexpr int kThreads = 3, kRounds = 150;
  std::atomic<int> failed{0};
  std::vector<Sets> all;
  for (int t = 0; t < kThreads; ++t) all.push_back(sets(20 + static_cast<unsigned>(t)));
  std::vector<std::thread> workers;
  for (const Sets& s : all)
    workers.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        nrt_model_t* own = nullptr;
        if (nrt_load(neff_.data(), neff_.size(), 0, -1, &own) != NRT_SUCCESS ||
            nrt_execute(own, s.in, s.out) != NRT_SUCCESS || nrt_unload(own) != NRT_SUCCESS)
          ++failed;
      }
    });
  for (std::thread& w : workers) w.join();
  EXPECT_EQ(failed, 0);
  for (const Sets& s : all) EXPECT_EQ(wrong(s), 0u);
}

TEST_F(CapiModel, TensorFreedWhileItIsUsed) {
  const Sets s = sets(30, NRT_TENSOR_PLACEMENT_VIRTUAL);
  std::atomic<bool> stop{false};
  std::atomic<int> other{0};
  std::vector<char> out(bytes_);
  std::atomic<nrt_tensor_t*> current{s.sum};
  std::thread user([&] {
    while (!stop) {
      const NRT_STATUS status = nrt_execute(model_, s.in, s.out);
      if (status != NRT_SUCCESS && status != NRT_EXEC_BAD_INPUT) ++other;
      nrt_tensor_read(current, out.data(), 0, bytes_);  // or a dead handle
    }
  });
  for (int i = 0; i < 150; ++i) {
    nrt_tensor_t* old = current;
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    nrt_tensor_free(&old);
    nrt_tensor_t* fresh =
        tensor(bytes_, i % 2 != 0 ? NRT_TENSOR_PLACEMENT_VIRTUAL : NRT_TENSOR_PLACEMENT_DEVICE, 0);
    current = fresh;
  }
  stop = true;
  user.join();
  EXPECT_EQ(other, 0);
}

TEST_F(CapiModel, NothingIsWrittenToStdout) {
  testing::internal::CaptureStdout();
  const Sets s = sets(11);
  EXPECT_EQ(nrt_execute(model_, s.in, s.out), NRT_SUCCESS);
  EXPECT_EQ(nrt_execute(model_, s.in, s.in), NRT_EXEC_BAD_INPUT);
  fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

class SoftwareDevice : public testing::Environment {
 public:
  void SetUp() override {
    setenv("OPENNRT_DEVICE", "emulator", 1);
    setenv("OPENNRT_EMULATOR_PRODUCT", "trn1.2xlarge", 1);
  }
};
const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new SoftwareDevice);

}  // namespace
