// SPDX-License-Identifier: Apache-2.0
//
// Small integers for memory chunks: first 1, freed numbers come back last-in
// first-out (aws-neuron-driver 2.24.7.0).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace opennrt::emu {

struct Chunk;

// Not thread-safe. Two levels, so that an empty table costs nothing.
class HandleTable {
 public:
  static constexpr std::uint32_t kLeaf = 8192, kLeaves = 512;
  static constexpr std::uint64_t kMax = std::uint64_t{kLeaf} * kLeaves;

  // 0: the table is full.
  std::uint64_t add(Chunk* chunk) {
    std::uint64_t handle = 0;
    if (!free_.empty()) {
      handle = free_.back();
      free_.pop_back();
    } else if (next_ < kMax) {
      handle = next_++;
    } else {
      return 0;
    }
    auto& leaf = leaves_[handle / kLeaf];
    if (!leaf) leaf = std::make_unique<Leaf>();
    (*leaf)[handle % kLeaf] = chunk;
    return handle;
  }
  Chunk* find(std::uint64_t handle) const {
    if (handle == 0 || handle >= kMax) return nullptr;
    const auto& leaf = leaves_[handle / kLeaf];
    return leaf ? (*leaf)[handle % kLeaf] : nullptr;
  }
  void remove(std::uint64_t handle) {
    if (!find(handle)) return;
    (*leaves_[handle / kLeaf])[handle % kLeaf] = nullptr;
    free_.push_back(handle);
  }

  bool full() const { return free_.empty() && next_ >= kMax; }
  std::uint64_t live() const { return next_ - 1 - free_.size(); }

 private:
  using Leaf = std::array<Chunk*, kLeaf>;
  std::array<std::unique_ptr<Leaf>, kLeaves> leaves_;
  std::vector<std::uint64_t> free_;
  std::uint64_t next_ = 1;
};

}  // namespace opennrt::emu
