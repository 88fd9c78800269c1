// SPDX-License-Identifier: Apache-2.0
//
// A small program with barriers of engines and DMA and with two instances of a
// queue set, through the C ABI on the software device.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "nrt/nrt.h"
#include "opennrt/neffkit/neffkit.h"

namespace opennrt {
namespace {

// out = x + w_a + w_b over 128 partitions of 16 floats. The weights come through
// one queue set whose instances take turns; DVE adds after all engines have met.
constexpr const char* kSource = R"(
name: ordering
target: sunda
inputs:
  - {name: x, dtype: float32, shape: [2048]}
outputs:
  - {name: out, dtype: float32, shape: [2048]}
subgraphs:
  - name: sg00
    variables:
      - {name: w_a, type: file, dtype: float32, values: [100], repeat: 2048}
      - {name: w_b, type: file, dtype: float32, values: [2000], repeat: 2048}
    queues:
      - {name: qSPLoad, type: in, owner: sp, num_queues: 16, semaphores: [8]}
      - {name: qSPW, type: data, owner: sp, num_queues: 16, semaphores: [9]}
      - {name: qPoolStore, type: out, owner: pool, num_queues: 16, semaphores: [12]}
    blocks:
      - queue: qSPLoad
        id: 0
        semaphore: 8
        descriptors:
          - from: {variable: x, offset: 0, sizes: [64, 128], steps: [1, 64], dtype: float32}
            to: {variable: SB, offset: 0, sizes: [64, 128], steps: [1, 0x40000], dtype: float32}
      - queue: qSPW
        id: 0
        semaphore: 9
        descriptors:
          - from: {variable: w_a, offset: 0, sizes: [64, 128], steps: [1, 64], dtype: float32}
            to: {variable: SB, offset: 64, sizes: [64, 128], steps: [1, 0x40000], dtype: float32}
      - queue: qSPW
        id: 1
        semaphore: 9
        descriptors:
          - from: {variable: w_b, offset: 0, sizes: [64, 128], steps: [1, 64], dtype: float32}
            to: {variable: SB, offset: 128, sizes: [64, 128], steps: [1, 0x40000], dtype: float32}
      - queue: qPoolStore
        id: 0
        semaphore: 12
        descriptors:
          - from: {variable: SB, offset: 256, sizes: [64, 128], steps: [1, 0x40000], dtype: float32}
            to: {variable: out, offset: 0, sizes: [64, 128], steps: [1, 64], dtype: float32}
    engines:
      sp:
        - SET_ORDERING_MODE
        - PSEUDO_DMATRIGGER queue_name="qSPLoad" block_id=0
        - PSEUDO_DMATRIGGER queue_name="qSPW" block_id=0
        - PSEUDO_DMABARRIER
        - PSEUDO_DMASWAP_QUEUE_SET queue_name="qSPW_b" swap=1
        - PSEUDO_DMATRIGGER queue_name="qSPW_b" block_id=0
        - PSEUDO_DMABARRIER
        - PSEUDO_SYNC_BARRIER
      pe:
        - SET_ORDERING_MODE
        - PSEUDO_SYNC_BARRIER
      act:
        - SET_ORDERING_MODE
        - PSEUDO_SYNC_BARRIER
      dve:
        - SET_ORDERING_MODE
        - PSEUDO_SYNC_BARRIER
        - TENSOR_TENSOR_ARITH_OP
          in0_in1_dtype=FP32/FP32 out_dtype=FP32 op=ADD num_active_channels=128
          src0.addr=0 src0.step=1,0,0 src0.num=16,1,1
          src1.addr=64 src1.step=1,0,0 src1.num=16,1,1
          dst.addr=192 dst.step=1,0,0 dst.num=16,1,1
        - TENSOR_TENSOR_ARITH_OP update=SEM_INC_COMPLETE(6)
          in0_in1_dtype=FP32/FP32 out_dtype=FP32 op=ADD num_active_channels=128
          src0.addr=192 src0.step=1,0,0 src0.num=16,1,1
          src1.addr=128 src1.step=1,0,0 src1.num=16,1,1
          dst.addr=256 dst.step=1,0,0 dst.num=16,1,1
      pool:
        - SET_ORDERING_MODE
        - PSEUDO_SYNC_BARRIER
        - PSEUDO_DMATRIGGER wait=SEM_GE_IMM(6) value=1 queue_name="qPoolStore" block_id=0
        - PSEUDO_DMABARRIER
)";

void replace(std::vector<neffkit::Member>& members, const std::string& name,
             const std::string& from, const std::string& to) {
  for (neffkit::Member& m : members) {
    if (m.name != name) continue;
    std::string text(m.bytes.begin(), m.bytes.end());
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << name << ": " << from;
    text.replace(at, from.size(), to);
    m.bytes.assign(text.begin(), text.end());
    return;
  }
  FAIL() << "no member " << name;
}

// The second block of qSPW becomes the first of another instance.
std::vector<std::uint8_t> model() {
  neffkit::Program program;
  std::string error;
  std::vector<std::uint8_t> neff;
  EXPECT_TRUE(neffkit::parse_program(kSource, "ordering.yaml", &program, &error)) << error;
  auto members = neffkit::make_members(program);
  replace(members, "sg00/def.json", "\"qSPW\": {",
          "\"qSPW\": {\"queue_instances\": [\"qSPW_a\", \"qSPW_b\"], ");
  replace(members, "sg00/SP.json", "\"queue\": \"qSPW\", \"id\": 0",
          "\"queue\": \"qSPW\", \"instance_name\": \"qSPW_a\", \"id\": 0");
  replace(members, "sg00/SP.json", "\"queue\": \"qSPW\", \"id\": 1",
          "\"queue\": \"qSPW\", \"instance_name\": \"qSPW_b\", \"id\": 0");
  EXPECT_TRUE(neffkit::pack_neff(program, members, &neff, &error)) << error;
  return neff;
}

class OrderingRecords : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("OPENNRT_DEVICE", "emulator", 1);
    setenv("OPENNRT_EMULATOR_PRODUCT", "trn1.2xlarge", 1);
    unsetenv("OPENNRT_EMULATOR_UNCONFIRMED_INSTRUCTIONS");
  }
  void TearDown() override { nrt_close(); }
};

TEST_F(OrderingRecords, EveryRunStartsWithTheFirstInstance) {
  ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  const auto neff = model();
  nrt_model_t* loaded = nullptr;
  ASSERT_EQ(nrt_load(neff.data(), neff.size(), 0, 1, &loaded), NRT_SUCCESS);
  nrt_tensor_set_t *in = nullptr, *out = nullptr;
  ASSERT_EQ(nrt_allocate_tensor_set(&in), NRT_SUCCESS);
  ASSERT_EQ(nrt_allocate_tensor_set(&out), NRT_SUCCESS);
  constexpr std::size_t kFloats = 2048, kBytes = 4 * kFloats;
  nrt_tensor_t *x = nullptr, *y = nullptr;
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, kBytes, "x", &x), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, kBytes, "out", &y), NRT_SUCCESS);
  ASSERT_EQ(nrt_add_tensor_to_tensor_set(in, "x", x), NRT_SUCCESS);
  ASSERT_EQ(nrt_add_tensor_to_tensor_set(out, "out", y), NRT_SUCCESS);
  for (int run = 0; run < 3; ++run) {
    std::vector<float> values(kFloats), results(kFloats, -1.0f);
    for (std::size_t i = 0; i < kFloats; ++i) values[i] = static_cast<float>(i % 50 + run);
    ASSERT_EQ(nrt_tensor_write(x, values.data(), 0, kBytes), NRT_SUCCESS);
    ASSERT_EQ(nrt_tensor_memset(y, 0, 0xA5, kBytes), NRT_SUCCESS);
    ASSERT_EQ(nrt_execute(loaded, in, out), NRT_SUCCESS) << run;
    ASSERT_EQ(nrt_tensor_read(y, results.data(), 0, kBytes), NRT_SUCCESS);
    for (std::size_t i = 0; i < kFloats; ++i)
      ASSERT_EQ(results[i], values[i] + 2100.0f) << "run " << run << ", element " << i;
  }
  nrt_tensor_free(&x);
  nrt_tensor_free(&y);
  nrt_destroy_tensor_set(&in);
  nrt_destroy_tensor_set(&out);
  EXPECT_EQ(nrt_unload(loaded), NRT_SUCCESS);
}

TEST_F(OrderingRecords, ReadingsCanBeRefused) {
  setenv("OPENNRT_EMULATOR_UNCONFIRMED_INSTRUCTIONS", "refuse", 1);
  ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  const auto neff = model();
  nrt_model_t* loaded = nullptr;
  EXPECT_EQ(nrt_load(neff.data(), neff.size(), 0, 1, &loaded), NRT_INVALID);
  EXPECT_EQ(loaded, nullptr);
}

}  // namespace
}  // namespace opennrt
