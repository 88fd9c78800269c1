// SPDX-License-Identifier: Apache-2.0
//
// Constants of a program on one HBM that its instances use together. The memory
// goes with the last instance.
//
// Threading: any thread. One instance uploads a constant while others that want
// it wait.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "neff/program.h"
#include "tdrv/dmem.h"
#include "tdrv/software_device.h"

namespace opennrt::tdrv {

class SharedWeights {
 public:
  // software: outlives the object.
  SharedWeights(std::shared_ptr<Allocator> allocator, const SoftwareDevice& software)
      : allocator_(std::move(allocator)), software_(&software) {}
  ~SharedWeights();
  SharedWeights(const SharedWeights&) = delete;
  SharedWeights& operator=(const SharedWeights&) = delete;

  // Device address of the constant, uploaded once. UINT64_MAX: this program has
  // other bytes under the same identity, the caller needs a copy of its own.
  Result<std::uint64_t> place(const neff::Variable& constant);

 private:
  struct Constant {
    DmemPtr memory;
    std::size_t digest = 0;
  };
  const std::shared_ptr<Allocator> allocator_;
  const SoftwareDevice* const software_;
  std::mutex mutex_;                             // guards constants_
  std::map<std::uint32_t, Constant> constants_;  // by var_id
};

// Of one device.
class WeightRegistry {
 public:
  struct Key {
    std::array<std::uint8_t, 16> uuid{};
    std::uint32_t subgraph = 0, channel = 0;
    auto operator<=>(const Key&) const = default;
  };
  // The weights of that identity, made by `make` if no instance has any.
  template <typename Make>
  std::shared_ptr<SharedWeights> get(const Key& key, Make&& make) {
    const std::lock_guard lock(mutex_);
    std::erase_if(weights_, [](const auto& entry) { return entry.second.expired(); });
    std::shared_ptr<SharedWeights> found = weights_[key].lock();
    if (!found) weights_[key] = found = std::forward<Make>(make)();
    return found;
  }

 private:
  std::mutex mutex_;  // guards weights_
  std::map<Key, std::weak_ptr<SharedWeights>> weights_;
};

}  // namespace opennrt::tdrv
