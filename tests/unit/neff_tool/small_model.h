// SPDX-License-Identifier: Apache-2.0
//
// A small sound program, loaded, and ways to break it. It copies 128 x 4 bytes
// through the state buffer, with an addition in between.
#pragma once

#include <gtest/gtest.h>

#include <stdlib.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "neff/model.h"
#include "opennrt/neffkit/neffkit.h"

namespace opennrt::tools {

inline constexpr std::string_view kSmall = R"(name: small
target: sunda
inputs:
  - {name: x, dtype: float32, shape: [128]}
outputs:
  - {name: y, dtype: float32, shape: [128]}
subgraphs:
  - name: sg00
    variables:
      - {name: w, type: file, dtype: float32, values: [1.5, -2], repeat: 2}
      - {name: tmp, type: virtual, size: 4096, backing_offset: 64}
    queues:
      - {name: qLoad, type: in, owner: sp, semaphores: [8, 9]}
      - {name: qStore, type: out, owner: pool, semaphores: [10]}
    blocks:
      - queue: qLoad
        id: 0
        semaphore: 8
        descriptors:
          - from: {variable: x, sizes: [4, 128], steps: [1, 4], dtype: float32}
            to: {variable: SB, sizes: [4, 128], steps: [1, 0x40000], dtype: float32}
      - queue: qStore
        id: 0
        semaphore: 10
        descriptors:
          - from: {variable: SB, offset: 96, sizes: [4, 128], steps: [1, 0x40000], dtype: float32}
            to: {variable: y, sizes: [4, 128], steps: [1, 4], dtype: float32}
    engines:
      sp:
        - SET_ORDERING_MODE
        - PSEUDO_DMATRIGGER queue_name="qLoad" block_id=0
      dve:
        - SET_ORDERING_MODE
        - TENSOR_TENSOR_ARITH_OP wait=SEM_GE_IMM(8) update=SEM_INC_COMPLETE(6) value=16
          in0_in1_dtype=FP32/FP32 out_dtype=FP32 op=ADD num_active_channels=128
          src0.addr=0 src0.step=1,0,0 src0.num=1,1,1
          src1.addr=0 src1.step=1,0,0 src1.num=1,1,1
          dst.addr=96 dst.step=1,0,0 dst.num=1,1,1
      pool:
        - SET_ORDERING_MODE
        - PSEUDO_DMATRIGGER wait=SEM_GE_IMM(6) value=1 queue_name="qStore" block_id=0
        - NOP wait=SEM_GE_IMM(10) value=16
)";

using Change = std::function<void(neffkit::Program&)>;

// The file; `change` breaks what the source cannot say. Nothing is checked.
inline std::vector<std::byte> small_neff(const Change& change = nullptr,
                                         std::string_view source = kSmall) {
  neffkit::Program program;
  std::string error;
  EXPECT_TRUE(neffkit::parse_program(source, "small.yaml", &program, &error)) << error;
  if (change) change(program);
  std::vector<std::uint8_t> out;
  EXPECT_TRUE(neffkit::pack_neff(program, neffkit::make_members(program), &out, &error)) << error;
  const auto bytes = std::as_bytes(std::span(out));
  return {bytes.begin(), bytes.end()};
}

inline Model opened(std::span<const std::byte> bytes) {
  auto model = open_model("small.neff", bytes);
  EXPECT_TRUE(model.is_ok()) << model.status().message();
  return model.is_ok() ? *std::move(model) : Model{};
}

inline Model loaded(std::span<const std::byte> bytes) {
  Model model = opened(bytes);
  const Status status = load(model, false);
  EXPECT_TRUE(status.is_ok()) << status.message();
  return model;
}

// A directory that goes away with the test.
class Scratch {
 public:
  Scratch() {
    char name[] = "/tmp/opennrt-neff-XXXXXX";
    EXPECT_NE(mkdtemp(name), nullptr);
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace opennrt::tools
