// SPDX-License-Identifier: Apache-2.0
//
// A small legal source, and a way to break one line of it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "opennrt/neffkit/neffkit.h"

namespace opennrt::neffkit {

// Copies 128 x 4 bytes through SBUF. Lines are counted by the tests.
inline constexpr std::string_view kSource =
    R"(name: small
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
          - from: {variable: SB, sizes: [4, 128], steps: [1, 0x40000], dtype: float32}
            to: {variable: y, sizes: [4, 128], steps: [1, 4], dtype: float32}
    engines:
      sp:
        - SET_ORDERING_MODE
        - PSEUDO_DMATRIGGER queue_name="qLoad" block_id=0
      pool:
        - SET_ORDERING_MODE
        - PSEUDO_DMATRIGGER wait=SEM_GE_IMM(8) value=16 queue_name="qStore" block_id=0
        - NOP wait=SEM_GE_IMM(10) value=16
)";

// kSource with the first `from` replaced by `to`.
inline std::string broken(std::string_view from, std::string_view to) {
  std::string text(kSource);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

// The message for a source that must be refused.
inline std::string refusal(const std::string& source) {
  std::vector<std::uint8_t> neff;
  std::string error;
  EXPECT_FALSE(build_neff(source, "s.yaml", &neff, &error)) << source;
  return error;
}

inline void expect_refused(std::string_view from, std::string_view to, int line,
                           std::string_view part) {
  const std::string error = refusal(broken(from, to));
  EXPECT_EQ(error.rfind("s.yaml:" + std::to_string(line) + ": ", 0), 0u) << error;
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

}  // namespace opennrt::neffkit
