// SPDX-License-Identifier: Apache-2.0
//
// The data store as monitoring programs use it: functions found in the symbol
// table of libnrt.so.1, on the software device.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "ndl/ndl.h"
#include "nrt/nds/neuron_ds.h"
#include "support/symbol_table.h"

namespace {

#define NDL(name) ONRT_HIDDEN(ndl_##name)
#define NDS(name) ONRT_HIDDEN(nds_##name)

class NdsFunctions : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(NDS(open), nullptr);
    ASSERT_EQ(dlsym(RTLD_DEFAULT, "nds_open"), nullptr) << "not exported";
    ASSERT_EQ(NDL(open_device)(0, nullptr, &device_), 0);
    ASSERT_EQ(NDS(open)(device_, 0, &own_), 0);
  }
  void TearDown() override {
    if (own_ != nullptr) {
      EXPECT_EQ(NDS(close)(own_), 0);
    }
    if (device_ != nullptr) {
      EXPECT_EQ(NDL(close_device)(device_), 0);
    }
    NDL(device_cached_fd_close_all)();
  }
  // The same slab as others see it.
  nds_instance_t* reader() {
    nds_instance_t* out = nullptr;
    EXPECT_EQ(NDS(open)(device_, getpid(), &out), 0);
    return out;
  }
  ndl_device_t* device_ = nullptr;
  nds_instance_t* own_ = nullptr;
};

TEST_F(NdsFunctions, WrongArguments) {
  nds_instance_t* out = nullptr;
  EXPECT_EQ(NDS(open)(nullptr, 0, &out), -EINVAL);
  EXPECT_EQ(NDS(open)(device_, 0, nullptr), -EINVAL);
  EXPECT_EQ(NDS(open)(device_, -5, &out), -EINVAL);
  EXPECT_EQ(NDS(open)(device_, 0x3FFFFFFF, &out), -ENOENT) << "no such process";
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(NDS(close)(nullptr), -EINVAL);
  std::uint64_t value = 1;
  EXPECT_EQ(NDS(increment_nc_counter)(nullptr, 0, 0, 1), -EINVAL);
  EXPECT_EQ(NDS(get_nc_counter)(nullptr, 0, 0, &value), -EINVAL);
  EXPECT_EQ(NDS(get_nc_counter)(own_, 0, 0, nullptr), -EINVAL);
  EXPECT_EQ(NDS(set_nc_counter)(own_, 0, 0, nullptr), -EINVAL);
  EXPECT_EQ(NDS(set_nd_counter)(own_, 0, nullptr), -EINVAL);
  for (const int core : {-1, 16, 1 << 30})
    EXPECT_EQ(NDS(increment_nc_counter)(own_, core, 0, 1), -EINVAL) << core;
  EXPECT_EQ(NDS(increment_nc_counter)(own_, 15, 95, 1), -EINVAL);
  EXPECT_EQ(NDS(decrement_nc_counter)(own_, 15, UINT32_MAX, 1), -EINVAL);
  EXPECT_EQ(NDS(increment_nd_counter)(own_, 31, 1), -EINVAL);
  EXPECT_EQ(NDS(or_nd_counter)(own_, 3, 64), -EINVAL);
  EXPECT_EQ(NDS(obj_new)(nullptr, 0), nullptr);
  EXPECT_EQ(NDS(obj_new)(own_, 3), nullptr);
  EXPECT_EQ(NDS(obj_new)(own_, -1), nullptr);
  EXPECT_EQ(NDS(obj_commit)(nullptr), -EINVAL);
  EXPECT_EQ(NDS(obj_delete)(nullptr), -EINVAL);
  EXPECT_EQ(NDS(obj_handle_to_process_info)(nullptr), nullptr);
  std::size_t count = 0;
  nds_obj_handle_t* models = nullptr;
  EXPECT_EQ(NDS(read_all_model_nodes)(nullptr, &models, &count), -EINVAL);
  EXPECT_EQ(NDS(read_all_model_nodes)(own_, nullptr, &count), -EINVAL);
  EXPECT_EQ(NDS(read_all_model_nodes)(own_, &models, nullptr), -EINVAL);
  EXPECT_EQ(NDS(read_process_info)(nullptr), nullptr);
}

TEST_F(NdsFunctions, CountersForOneWriterAndManyReaders) {
  nds_instance_t* other = reader();
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(NDS(increment_nc_counter)(own_, 1, 28, 10), 0);
  EXPECT_EQ(NDS(decrement_nc_counter)(own_, 1, 28, 3), 0);
  std::uint64_t value = 0;
  EXPECT_EQ(NDS(get_nc_counter)(other, 1, 28, &value), 0);
  EXPECT_EQ(value, 7u);
  value = 1234;
  EXPECT_EQ(NDS(set_nc_counter)(own_, 12, 94, &value), 0);
  value = 0;
  EXPECT_EQ(NDS(get_nc_counter)(other, 12, 94, &value), 0);
  EXPECT_EQ(value, 1234u);
  value = 5;
  EXPECT_EQ(NDS(set_nd_counter)(own_, 6, &value), 0);
  EXPECT_EQ(NDS(increment_nd_counter)(own_, 6, 2), 0);
  EXPECT_EQ(NDS(decrement_nd_counter)(own_, 6, 1), 0);
  EXPECT_EQ(NDS(or_nd_counter)(own_, 3, 1), 0);
  EXPECT_EQ(NDS(get_nd_counter)(other, 6, &value), 0);
  EXPECT_EQ(value, 6u);
  EXPECT_EQ(NDS(get_nd_counter)(other, 3, &value), 0);
  EXPECT_EQ(value & 2, 2u);
  EXPECT_EQ(NDS(increment_nc_counter)(other, 1, 28, 1), -EPERM);
  EXPECT_EQ(NDS(set_nd_counter)(other, 6, &value), -EPERM);
  EXPECT_EQ(NDS(or_nd_counter)(other, 3, 0), -EPERM);
  nds_obj_handle_t object = NDS(obj_new)(other, OBJECT_TYPE_PROCESS_INFO);
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(NDS(obj_commit)(object), -EPERM);
  EXPECT_EQ(NDS(obj_delete)(object), 0);
  EXPECT_EQ(NDS(close)(other), 0);
}

TEST_F(NdsFunctions, ProcessRecords) {
  nds_instance_t* other = reader();
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(NDS(read_process_info)(other), nullptr) << "not yet published";
  nds_obj_handle_t info = NDS(obj_new)(own_, OBJECT_TYPE_PROCESS_INFO);
  nds_obj_handle_t extended = NDS(obj_new)(own_, OBJECT_TYPE_PROCESS_INFO_EXT);
  ASSERT_NE(NDS(obj_handle_to_process_info)(info), nullptr);
  EXPECT_EQ(NDS(obj_handle_to_process_info)(extended), nullptr) << "another type";
  EXPECT_EQ(NDS(obj_handle_to_model_node_info)(info), nullptr);
  NDS(obj_handle_to_process_info)(info)->framework_type = 3;
  std::strcpy(NDS(obj_handle_to_process_info)(info)->tag, "short");
  std::strcpy(NDS(obj_handle_to_process_info_ext)(extended)->tag, "long");
  EXPECT_EQ(NDS(obj_commit)(info), 0);
  EXPECT_EQ(NDS(obj_commit)(extended), 0);
  nds_obj_handle_t seen = NDS(read_process_info)(other);
  nds_obj_handle_t seen_extended = NDS(read_process_info_ext)(other);
  ASSERT_NE(seen, nullptr);
  ASSERT_NE(seen_extended, nullptr);
  EXPECT_STREQ(NDS(obj_handle_to_process_info)(seen)->tag, "short");
  EXPECT_EQ(NDS(obj_handle_to_process_info)(seen)->framework_type, 3);
  EXPECT_STREQ(NDS(obj_handle_to_process_info_ext)(seen_extended)->tag, "long");
  for (nds_obj_handle_t object : {info, extended, seen, seen_extended})
    EXPECT_EQ(NDS(obj_delete)(object), 0);
  EXPECT_EQ(NDS(close)(other), 0);
}

TEST_F(NdsFunctions, ModelRecords) {
  nds_instance_t* other = reader();
  ASSERT_NE(other, nullptr);
  nds_obj_handle_t* seen = nullptr;
  std::size_t count = 9;
  EXPECT_EQ(NDS(read_all_model_nodes)(other, &seen, &count), 0);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(seen, nullptr);
  std::vector<nds_obj_handle_t> models;
  for (std::uint32_t i = 0; i < 64; ++i) {
    nds_obj_handle_t model = NDS(obj_new)(own_, OBJECT_TYPE_MODEL_NODE_INFO);
    ASSERT_NE(model, nullptr);
    NDS(obj_handle_to_model_node_info)(model)->model_id = 100 + i;
    NDS(obj_handle_to_model_node_mem_usage)(model)->model_mem_usage[1][1].total_size = i;
    EXPECT_EQ(NDS(obj_commit)(model), 0);
    models.push_back(model);
  }
  nds_obj_handle_t more = NDS(obj_new)(own_, OBJECT_TYPE_MODEL_NODE_INFO);
  EXPECT_EQ(NDS(obj_commit)(more), -ENOSPC);
  EXPECT_EQ(NDS(obj_delete)(more), 0);
  NDS(obj_handle_to_model_node_info)(models[5])->model_id = 999;
  EXPECT_EQ(NDS(obj_commit)(models[5]), 0) << "again, in its place";
  EXPECT_EQ(NDS(obj_delete)(models[7]), 0);
  models.erase(models.begin() + 7);
  ASSERT_EQ(NDS(read_all_model_nodes)(other, &seen, &count), 0);
  ASSERT_EQ(count, 63u);
  EXPECT_EQ(NDS(obj_handle_to_model_node_info)(seen[5])->model_id, 999u);
  EXPECT_EQ(NDS(obj_handle_to_model_node_info)(seen[7])->model_id, 108u);
  EXPECT_EQ(NDS(obj_handle_to_model_node_mem_usage)(seen[7])->model_mem_usage[1][1].total_size, 8u);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(NDS(obj_delete)(seen[i]), 0);
  std::free(seen);
  for (nds_obj_handle_t model : models) EXPECT_EQ(NDS(obj_delete)(model), 0);
  EXPECT_EQ(NDS(read_all_model_nodes)(other, &seen, &count), 0);
  EXPECT_EQ(count, 0u) << "what a reader deletes are its copies, what the owner deletes is gone";
  EXPECT_EQ(NDS(close)(other), 0);
}

TEST_F(NdsFunctions, AForkedChildGetsNothing) {
  const pid_t child = fork();
  if (child == 0) {
    std::uint64_t value = 0;
    nds_instance_t* out = nullptr;
    std::size_t count = 0;
    nds_obj_handle_t* models = nullptr;
    const bool right = NDS(get_nc_counter)(own_, 0, 0, &value) == -EACCES &&
                       NDS(increment_nd_counter)(own_, 0, 1) == -EACCES &&
                       NDS(read_process_info)(own_) == nullptr &&
                       NDS(read_all_model_nodes)(own_, &models, &count) == -EACCES &&
                       NDS(open)(device_, 0, &out) == -EACCES;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(NDS(increment_nc_counter)(own_, 0, 0, 1), 0);
}

}  // namespace
