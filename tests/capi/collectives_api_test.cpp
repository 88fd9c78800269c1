// SPDX-License-Identifier: Apache-2.0
//
// Collectives, transfers and what a collectives library asks, through the C ABI.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "nrt/nec.h"
#include "nrt/nrt_async_sendrecv.h"
#include "support/vecadd_client.h"

namespace opennrt::test {
namespace {

constexpr char kHere[] = "127.0.0.1";

class CollectivesApi : public ::testing::Test {
 protected:
  void start(const char* product = "trn1.2xlarge") {
    setenv("OPENNRT_EMULATOR_PRODUCT", product, 1);
    ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  }
  void enable_transfers() {
    setenv("NEURON_RT_ASYNC_SENDRECV_EXPERIMENTAL_ENABLED", "1", 1);
    setenv("NEURON_RT_ASYNC_SENDRECV_BOOTSTRAP_PORT", "42000", 1);
  }
  void TearDown() override {
    nrt_close();
    for (const char* name : {"OPENNRT_EMULATOR_PRODUCT", "OPENNRT_EMULATOR_DEVICES",
                             "NEURON_RT_ASYNC_SENDRECV_EXPERIMENTAL_ENABLED",
                             "NEURON_RT_ASYNC_SENDRECV_BOOTSTRAP_PORT", "NEURON_RT_VISIBLE_CORES"})
      unsetenv(name);
  }
};

TEST_F(CollectivesApi, OneRankNeedsNobody) {
  start();
  EXPECT_EQ(nrt_build_global_comm(0, 0, 1), NRT_SUCCESS);
  EXPECT_EQ(nrt_build_global_comm(0, 0, 1), NRT_SUCCESS);
  EXPECT_EQ(nrt_cc_global_comm_init(1, 0, 1), NRT_SUCCESS);
  EXPECT_EQ(nrt_barrier(0, 0, 1), NRT_SUCCESS);
  char in[] = "mine", out[sizeof in] = {};
  EXPECT_EQ(nrt_all_gather(0, 0, 1, sizeof in, in, out), NRT_SUCCESS);
  EXPECT_STREQ(out, "mine");
}

TEST_F(CollectivesApi, WrongArgumentsAndSeveralRanks) {
  start();
  char in[4] = {}, out[8] = {};
  EXPECT_EQ(nrt_build_global_comm(2, 0, 1), NRT_INVALID);
  EXPECT_EQ(nrt_build_global_comm(-1, 0, 1), NRT_INVALID);
  EXPECT_EQ(nrt_build_global_comm(0, 1, 1), NRT_INVALID);
  EXPECT_EQ(nrt_build_global_comm(0, 0, 0), NRT_INVALID);
  EXPECT_EQ(nrt_cc_global_comm_init(0xFFFFFFFF, 0, 1), NRT_INVALID);
  EXPECT_EQ(nrt_cc_global_comm_init(0, 3, 3), NRT_INVALID);
  EXPECT_EQ(nrt_barrier(300, 0, 1), NRT_INVALID);
  EXPECT_EQ(nrt_barrier(0, 2, 2), NRT_INVALID);
  EXPECT_EQ(nrt_all_gather(0, 0, 1, 4, nullptr, out), NRT_INVALID);
  EXPECT_EQ(nrt_all_gather(0, 0, 1, 4, in, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_all_gather(9, 0, 1, 4, in, out), NRT_INVALID);
  EXPECT_EQ(nrt_all_gather(0, 1, 1, 4, in, out), NRT_INVALID);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(nrt_build_global_comm(0, 0, 2), NRT_FAILURE);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("communicators of several ranks"),
            std::string::npos);
  EXPECT_EQ(nrt_cc_global_comm_init(0, 1, 2), NRT_FAILURE);
  EXPECT_EQ(nrt_all_gather(0, 1, 2, 4, in, out), NRT_FAILURE);
  EXPECT_EQ(nrt_barrier(1, 0, 2), NRT_FAILURE);
  EXPECT_EQ(nrt_barrier(1, 0, 1), NRT_FAILURE);  // broken for good
  EXPECT_EQ(nrt_barrier(0, 0, 1), NRT_SUCCESS);
  EXPECT_EQ(nrt_build_global_comm(0, 1, 2), NRT_INVALID);  // it has another rank
  // A new runtime begins anew.
  nrt_close();
  start();
  EXPECT_EQ(nrt_barrier(1, 0, 1), NRT_SUCCESS);
}

TEST_F(CollectivesApi, LoadOfASingleRank) {
  start();
  const std::vector<char> neff = read_file(OPENNRT_VECADD_NEFF);
  nrt_model_t* model = nullptr;
  ASSERT_EQ(nrt_load_collectives(neff.data(), neff.size(), 0, 1, 0, 1, &model), NRT_SUCCESS);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(nrt_unload(model), NRT_SUCCESS);
  // The communicator is there now.
  EXPECT_EQ(nrt_build_global_comm(0, 1, 2), NRT_INVALID);
  EXPECT_EQ(nrt_load_collectives(neff.data(), neff.size(), 0, 1, 0, 2, &model), NRT_FAILURE);
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(nrt_load_collectives(neff.data(), neff.size(), 0, 1, 0, 0, &model), NRT_INVALID);
  EXPECT_EQ(nrt_load_collectives(neff.data(), neff.size(), 0, 1, 1, 1, &model), NRT_INVALID);
  EXPECT_EQ(nrt_load_collectives(nullptr, 1, 0, 1, 0, 1, &model), NRT_INVALID);
  EXPECT_EQ(nrt_load_collectives(neff.data(), 0, 0, 1, 0, 1, &model), NRT_INVALID);
  EXPECT_EQ(nrt_load_collectives(neff.data(), neff.size(), 0, 2, 0, 1, &model), NRT_INVALID);
  EXPECT_EQ(nrt_load_collectives(neff.data(), neff.size(), 7, 1, 0, 1, &model), NRT_INVALID);
  EXPECT_EQ(nrt_load_collectives(neff.data(), neff.size(), 0, 1, 0, 1, nullptr), NRT_INVALID);
}

TEST_F(CollectivesApi, CallableInEveryState) {
  EXPECT_EQ(nrt_cc_create_stream(1), NRT_SUCCESS);
  int err = 0;
  char text[64] = {};
  EXPECT_EQ(nrt_get_libnccl_net(&err, text, sizeof text), nullptr);
  EXPECT_NE(err, 0);
  EXPECT_NE(std::strstr(text, "network plugins"), nullptr);
  char small[4] = {'x', 'x', 'x', 'x'};
  EXPECT_EQ(nrt_get_libnccl_net(&err, small, 3), nullptr);
  EXPECT_STREQ(small, "ne");
  EXPECT_EQ(small[3], 'x');
  EXPECT_EQ(nrt_get_libnccl_net(nullptr, nullptr, 9), nullptr);
  EXPECT_EQ(nrt_get_libnccl_net(&err, text, 0), nullptr);
}

std::vector<NRT_STATUS> all_guarded() {
  nrt_model_t* model = nullptr;
  return {nrt_build_global_comm(-1, 0, 0), nrt_cc_global_comm_init(99, 0, 0), nrt_barrier(-1, 0, 0),
          nrt_all_gather(-1, 0, 0, 0, nullptr, nullptr),
          nrt_load_collectives(nullptr, 0, 0, 0, 0, 0, &model)};
}

std::vector<NRT_STATUS> all_transfers() {
  return {nrt_async_sendrecv_get_max_num_communicators_per_lnc(nullptr),
          nrt_async_sendrecv_get_max_num_pending_request(nullptr),
          nrt_async_sendrecv_init(0),
          nrt_async_sendrecv_close(0),
          nrt_async_sendrecv_connect(nullptr, 0, 0, nullptr),
          nrt_async_sendrecv_accept(nullptr, 0, 0, nullptr),
          nrt_async_sendrecv_test_comm(nullptr, nullptr),
          nrt_async_sendrecv_send_tensor(nullptr, 0, 0, nullptr, nullptr),
          nrt_async_sendrecv_recv_tensor(nullptr, 0, 0, nullptr, nullptr),
          nrt_async_sendrecv_test_request(nullptr, nullptr, nullptr),
          nrt_async_sendrecv_flush(0)};
}

TEST_F(CollectivesApi, StatesComeFirst) {
  const std::size_t n = all_guarded().size(), transfers = all_transfers().size();
  EXPECT_EQ(all_guarded(), std::vector<NRT_STATUS>(n, NRT_UNINITIALIZED));
  EXPECT_EQ(all_transfers(), std::vector<NRT_STATUS>(transfers, NRT_FAILURE));
  start();
  EXPECT_EQ(all_guarded(), std::vector<NRT_STATUS>(n, NRT_INVALID));
  EXPECT_EQ(all_transfers(), std::vector<NRT_STATUS>(transfers, NRT_FAILURE));
  const pid_t child = fork();
  if (child == 0)
    _exit(all_guarded() == std::vector<NRT_STATUS>(n, NRT_FAILURE) &&
                  all_transfers() == std::vector<NRT_STATUS>(transfers, NRT_FAILURE) &&
                  !nec_is_mla_available(0, 0) && nec_get_device_count(nullptr, 0) == 1
              ? 0
              : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(CollectivesApi, TransfersAreOffUnlessAskedFor) {
  start();
  EXPECT_EQ(nrt_async_sendrecv_init(0), NRT_FAILURE);
  // Settings are those of nrt_init.
  enable_transfers();
  EXPECT_EQ(nrt_async_sendrecv_init(0), NRT_FAILURE);
  nrt_close();
  setenv("NEURON_RT_ASYNC_SENDRECV_BOOTSTRAP_PORT", "", 1);
  start();
  EXPECT_EQ(nrt_async_sendrecv_init(0), NRT_FAILURE);
  nrt_close();
  for (const char* port : {"0", "65536", "x", "1x"}) {
    setenv("NEURON_RT_ASYNC_SENDRECV_BOOTSTRAP_PORT", port, 1);
    EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_INVALID) << port;
  }
  setenv("NEURON_RT_ASYNC_SENDRECV_BOOTSTRAP_PORT", "1", 1);
  start();
  EXPECT_EQ(nrt_async_sendrecv_init(0), NRT_SUCCESS);
  EXPECT_EQ(nrt_async_sendrecv_init(0), NRT_FAILURE);
  int limit = 0;
  EXPECT_EQ(nrt_async_sendrecv_get_max_num_communicators_per_lnc(&limit), NRT_SUCCESS);
  EXPECT_EQ(limit, 128);
  EXPECT_EQ(nrt_async_sendrecv_get_max_num_pending_request(&limit), NRT_SUCCESS);
  EXPECT_EQ(limit, 128);
}

// From the HBM of one core to that of the other.
TEST_F(CollectivesApi, TensorsTravelBetweenCores) {
  enable_transfers();
  start();
  ASSERT_EQ(nrt_async_sendrecv_init(0), NRT_SUCCESS);
  ASSERT_EQ(nrt_async_sendrecv_init(1), NRT_SUCCESS);
  nrt_async_sendrecv_comm_t *from = nullptr, *to = nullptr;
  ASSERT_EQ(nrt_async_sendrecv_connect(kHere, 1, 0, &from), NRT_SUCCESS);
  bool done = true;
  EXPECT_EQ(nrt_async_sendrecv_test_comm(from, &done), NRT_SUCCESS);
  EXPECT_FALSE(done);
  ASSERT_EQ(nrt_async_sendrecv_accept(kHere, 0, 1, &to), NRT_SUCCESS);
  EXPECT_EQ(nrt_async_sendrecv_test_comm(from, &done), NRT_SUCCESS);
  EXPECT_TRUE(done);
  constexpr std::size_t kBytes = 3 << 20;
  nrt_tensor_t *source = nullptr, *target = nullptr;
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, kBytes, "s", &source), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 1, kBytes, "t", &target), NRT_SUCCESS);
  std::vector<std::uint8_t> data(kBytes), got(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) data[i] = static_cast<std::uint8_t>(i * 31 >> 3);
  ASSERT_EQ(nrt_tensor_write(source, data.data(), 0, kBytes), NRT_SUCCESS);
  nrt_async_sendrecv_request_t *sent = nullptr, *received = nullptr;
  EXPECT_EQ(nrt_async_sendrecv_send_tensor(target, 0, 1, from, &sent), NRT_FAILURE);
  EXPECT_EQ(nrt_async_sendrecv_send_tensor(source, 1, kBytes, from, &sent), NRT_FAILURE);
  EXPECT_EQ(nrt_async_sendrecv_recv_tensor(target, 0, 1, from, &sent), NRT_FAILURE);
  ASSERT_EQ(nrt_async_sendrecv_send_tensor(source, 0, kBytes, from, &sent), NRT_SUCCESS);
  ASSERT_EQ(nrt_async_sendrecv_recv_tensor(target, 0, kBytes, to, &received), NRT_SUCCESS);
  std::size_t size = 0;
  EXPECT_EQ(nrt_async_sendrecv_test_request(received, &done, &size), NRT_SUCCESS);
  EXPECT_TRUE(done);
  EXPECT_EQ(size, kBytes);
  EXPECT_EQ(nrt_async_sendrecv_flush(1), NRT_SUCCESS);
  EXPECT_EQ(nrt_async_sendrecv_test_request(sent, &done, &size), NRT_SUCCESS);
  EXPECT_EQ(nrt_async_sendrecv_test_request(sent, &done, &size), NRT_INVALID_HANDLE);
  ASSERT_EQ(nrt_tensor_read(target, got.data(), 0, kBytes), NRT_SUCCESS);
  EXPECT_EQ(got, data);
  nrt_tensor_free(&source);
  nrt_tensor_free(&target);
  EXPECT_EQ(nrt_async_sendrecv_close(0), NRT_SUCCESS);
  EXPECT_EQ(nrt_async_sendrecv_close(1), NRT_SUCCESS);
  EXPECT_EQ(nrt_async_sendrecv_test_comm(from, &done), NRT_INVALID_HANDLE);
}

// Logical cores of transfers are those of the host.
TEST_F(CollectivesApi, TransfersCountCoresOverTheHost) {
  enable_transfers();
  setenv("NEURON_RT_VISIBLE_CORES", "1", 1);
  start();
  EXPECT_EQ(nrt_async_sendrecv_init(0), NRT_FAILURE);
  EXPECT_EQ(nrt_async_sendrecv_init(1), NRT_SUCCESS);
  nrt_async_sendrecv_comm_t* comm = nullptr;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(nrt_async_sendrecv_connect("192.0.2.1", 1, 1, &comm), NRT_FAILURE);
  EXPECT_EQ(comm, nullptr);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("transfers between processes"),
            std::string::npos);
}

// With an initialised runtime and without.
TEST_F(CollectivesApi, NecAnswersInEveryState) {
  setenv("OPENNRT_EMULATOR_PRODUCT", "trn1.32xlarge", 1);
  setenv("OPENNRT_EMULATOR_DEVICES", "16", 1);
  const auto expect_all = [] {
    int devices[16];
    std::fill(std::begin(devices), std::end(devices), -7);
    EXPECT_EQ(nec_get_device_count(devices, 3), 16);
    EXPECT_EQ(devices[2], 2);
    EXPECT_EQ(devices[3], -7);
    EXPECT_EQ(nec_get_device_count(nullptr, 5), 16);
    std::uint32_t domain = 9, bus = 9, size = 0;
    std::uint8_t slot = 0, function = 9, other = 0;
    EXPECT_EQ(nec_get_device_pci_bdf(0, &domain, &bus, &slot, &function), 0);
    EXPECT_EQ(domain, 0u);
    EXPECT_EQ(function, 0u);
    EXPECT_EQ(nec_get_device_pci_bdf(1, &domain, &bus, &other, &function), 0);
    EXPECT_NE(slot, other);
    EXPECT_EQ(nec_get_device_pci_bdf(16, &domain, &bus, &slot, &function), -ENODEV);
    EXPECT_EQ(nec_get_device_pci_bdf(-1, &domain, &bus, &slot, &function), -ENODEV);
    EXPECT_EQ(nec_get_device_pci_bdf(0, nullptr, &bus, &slot, &function), -EINVAL);
    EXPECT_EQ(nec_get_device_pci_bdf(0, &domain, &bus, &slot, nullptr), -EINVAL);
    EXPECT_EQ(nec_get_virtual_core_size(&size), NRT_SUCCESS);
    EXPECT_EQ(size, 1u);
    EXPECT_EQ(nec_get_virtual_core_size(nullptr), NRT_INVALID);
  };
  expect_all();
  start("trn1.32xlarge");
  expect_all();
  char line[] = "a line";
  nec_ndl_printk(line, sizeof line, 0);
  nec_ndl_printk(nullptr, 1, 0);
}

TEST_F(CollectivesApi, LogicalCoreSizeOfTrn2) {
  start("trn2.3xlarge");
  std::uint32_t size = 0;
  EXPECT_EQ(nec_get_virtual_core_size(&size), NRT_SUCCESS);
  EXPECT_EQ(size, 2u);
}

TEST_F(CollectivesApi, NecTopology) {
  setenv("OPENNRT_EMULATOR_DEVICES", "16", 1);
  start("trn1.32xlarge");
  std::uint32_t routing[64] = {}, count = 64;
  ASSERT_EQ(nrt_host_device_id_rid_map_get(&count, routing), NRT_SUCCESS);
  EXPECT_FALSE(nec_is_mla_available(2, 0));
  EXPECT_EQ(nec_mla_idx_to_rid(2, 0), -1);
  EXPECT_EQ(nec_rid_to_mla_idx(2, 0), -1);
  int positions[] = {0, 1, 2}, hosts[] = {5, 6, 2};
  ASSERT_EQ(nec_build_port_and_rid_map(2, positions, hosts, 3), NRT_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(nec_is_mla_available(2, i));
    const int rid = nec_mla_idx_to_rid(2, i);
    EXPECT_EQ(rid, static_cast<int>(routing[hosts[i]]));
    EXPECT_EQ(nec_rid_to_mla_idx(2, rid), i);
  }
  EXPECT_FALSE(nec_is_mla_available(2, 3));
  EXPECT_FALSE(nec_is_mla_available(3, 0));
  EXPECT_EQ(nec_build_port_and_rid_map(16, positions, hosts, 3), NRT_INVALID);
  EXPECT_EQ(nec_build_port_and_rid_map(2, nullptr, hosts, 3), NRT_INVALID);
  EXPECT_EQ(nec_build_port_and_rid_map(2, positions, nullptr, 3), NRT_INVALID);
  EXPECT_EQ(nec_build_port_and_rid_map(2, positions, hosts, 0), NRT_INVALID);
  EXPECT_EQ(nec_build_port_and_rid_map(2, positions, hosts, 65), NRT_INVALID);
  hosts[0] = 99;
  EXPECT_EQ(nec_build_port_and_rid_map(2, positions, hosts, 3), NRT_INVALID);
  EXPECT_EQ(nec_get_peer_mla_idx(2, 0, 0), -1);
  int peer = 5;
  EXPECT_EQ(nec_get_p2p_pod_peer_node(0, 0, 1, &peer), -EOPNOTSUPP);
  EXPECT_EQ(nec_get_p2p_pod_peer_node(0, 0, 1, nullptr), -EINVAL);
  EXPECT_EQ(peer, 5);
  int can = 7;
  EXPECT_EQ(nec_pod_node_can_access_peer_node(NEC_POD_TYPE_NONE, 0, 3, 0, 3, &can), NRT_SUCCESS);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(nec_pod_node_can_access_peer_node(NEC_POD_TYPE_P2P, 0, 0, 0, 1, &can), NRT_SUCCESS);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(nec_pod_node_can_access_peer_node(NEC_POD_TYPE_INVALID, 0, 0, 0, 0, &can), NRT_INVALID);
  EXPECT_EQ(nec_pod_node_can_access_peer_node(NEC_POD_TYPE_NONE, 0, 0, 0, 0, nullptr), NRT_INVALID);
}

// From the archive that callers link.
TEST(NecVersion, ThereIsNoCollectivesLibrary) {
  alignas(nec_version_info_t) std::uint8_t bytes[sizeof(nec_version_info_t) + 1];
  std::memset(bytes, 0xEE, sizeof bytes);
  auto* info = reinterpret_cast<nec_version_info_t*>(bytes);
  EXPECT_EQ(nec_get_version_info(info), NRT_FAILURE);
  EXPECT_EQ(info->major, 0u);
  EXPECT_EQ(info->compatibility_version, 0u);
  EXPECT_EQ(bytes[sizeof bytes - 1], 0xEE);
  EXPECT_EQ(nec_get_version_info(nullptr), NRT_INVALID);
}

TEST(NecTables, SizesAndOffsetsInBytes) {
  std::uint32_t words[4 * 2] = {3, 4, 0, 3, 0, 0, 7, 9};
  enc_host_mem_t memory{};
  memory.va = words;
  memory.size = sizeof words;
  EXPECT_EQ(nec_get_dynamic_send_size_bytes(&memory, 4, 1, 2), 16u);
  EXPECT_EQ(nec_get_dynamic_send_offset_bytes(&memory, 4, 1, 2), 12u);
  EXPECT_EQ(nec_get_dynamic_recv_offset_bytes(&memory, 2, 0, 2), 14u);
  nec_set_recv_size_bytes(&memory, 20, 4, 1, 2);
  EXPECT_EQ(words[5], 5u);
  EXPECT_EQ(nec_get_dynamic_send_size_bytes(&memory, 4, 2, 2), 0u);
  EXPECT_EQ(nec_get_dynamic_send_size_bytes(&memory, 4, 0, 3), 0u);  // too small for three
  EXPECT_EQ(nec_get_dynamic_send_size_bytes(nullptr, 4, 0, 2), 0u);
  nec_set_recv_size_bytes(nullptr, 20, 4, 0, 2);
  volatile std::uint32_t semaphore = 5;
  nec_inc_semaphore(&semaphore, 2);
  EXPECT_EQ(semaphore, 2u);  // the device adds, memory does not
  nec_inc_semaphore(nullptr, 1);
}

}  // namespace
}  // namespace opennrt::test
