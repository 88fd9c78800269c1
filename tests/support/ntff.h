// SPDX-License-Identifier: Apache-2.0
//
// Reader of device profiles (.ntff, container versions 4 to 6) as far as tests
// compare with them: images, patch lists and DMA block counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace opennrt::test {

struct NtffPatch {
  std::uint64_t offset = 0;  // bytes in the image
  std::uint64_t slots = 0;
  std::uint64_t type = 0;  // 0 insert, 1 modify, 2 delete
};

struct NtffBlock {
  std::uint64_t id = 0, packets = 0, m2s = 0, s2m = 0;
};

struct NtffQueue {
  std::uint64_t engine = 0;  // DMA engine, global id of the device
  std::uint64_t queue = 0;
  std::uint64_t usage = 0;  // 3 caller tensors, 2 spill and weights, 0 runtime ring
  std::string name;
  std::vector<NtffBlock> blocks;
};

struct NtffEngine {
  std::uint64_t address = 0;  // of the image in device memory
  std::vector<std::uint8_t> image;
  std::vector<NtffPatch> patches;
};

struct NtffSubgraph {
  std::string name;
  std::uint64_t core = 0;
  std::map<std::uint64_t, NtffEngine> engines;  // 0..4 = PE, ACT, POOL, DVE, SP
  std::vector<NtffQueue> queues;
};

struct Ntff {
  std::uint32_t version = 0;
  std::string instance_type;
  std::vector<std::byte> uuid;  // as stored: may be short or long
  std::array<std::uint64_t, 3> runtime_version{};
  std::vector<NtffSubgraph> subgraphs;
};

// false: `error` says what is wrong. Never reads outside `file`.
bool read_ntff(std::span<const std::byte> file, Ntff& out, std::string& error);

}  // namespace opennrt::test
