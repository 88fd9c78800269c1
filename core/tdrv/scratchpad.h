// SPDX-License-Identifier: Apache-2.0
//
// Scratchpad arena: one region of HBM that the models of one core share, since
// only one of them runs at a time. Its contents have no lifetime across
// executions. A model keeps the region it was placed on alive: a larger model
// gets a larger region, and the old one goes with the last model on it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "tdrv/dmem.h"

namespace opennrt::tdrv {

class Scratchpad {
 public:
  static constexpr std::uint64_t kUnit = 4ull << 20;  // the region is a multiple of it

  void configure(std::shared_ptr<Allocator> allocator) { allocator_ = std::move(allocator); }
  void release() {
    region_.reset();
    allocator_.reset();
  }

  // A region of at least `bytes`, shared with the other models of the core.
  Result<DmemPtr> acquire(std::uint64_t bytes);

 private:
  std::mutex mutex_;  // guards region_
  std::shared_ptr<Allocator> allocator_;
  std::weak_ptr<Dmem> region_;
};

}  // namespace opennrt::tdrv
