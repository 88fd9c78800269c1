// SPDX-License-Identifier: Apache-2.0
//
// Scratchpad arena: pages of HBM that the models of one core share, since only
// one of them runs at a time. A model keeps the pages it was placed on alive.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tdrv/dmem.h"

namespace opennrt::tdrv {

class Scratchpad {
 public:
  static constexpr std::uint32_t kMaxPages = 1024;
  static constexpr std::uint64_t kPageUnit = 4ull << 20;  // pages are allocated in this unit

  void configure(std::shared_ptr<Allocator> allocator, std::uint64_t page_bytes) {
    allocator_ = std::move(allocator);
    page_bytes_ = page_bytes;
  }
  void release() {
    pages_.clear();
    allocator_.reset();
  }

  // What one model holds: index = page number, NULL = a page it does not use.
  using Pages = std::vector<DmemPtr>;
  // Device address of [offset, offset + bytes). The range lies in one page:
  // NRT_RESOURCE otherwise, naming the variable and the remedy.
  Result<std::uint64_t> place(Pages& held, std::string_view variable, std::uint64_t offset,
                              std::uint64_t bytes);
  // Makes pages large enough for every range a model will place, so that a page
  // is not replaced while the model is being placed.
  Status reserve(Pages& held, std::uint64_t offset, std::uint64_t bytes);

 private:
  std::mutex mutex_;  // guards pages_
  std::shared_ptr<Allocator> allocator_;
  std::uint64_t page_bytes_ = 512ull << 20;
  std::vector<std::weak_ptr<Dmem>> pages_;
};

}  // namespace opennrt::tdrv
