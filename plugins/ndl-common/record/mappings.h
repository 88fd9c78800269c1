// SPDX-License-Identifier: Apache-2.0
//
// Mappings of a recorded port and what changes in them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

namespace opennrt::trace {

// Larger mappings, and all beyond the sum, are not watched: their memory is not
// recorded.
inline constexpr uint64_t kMostWatched = 4u << 20;
inline constexpr uint64_t kMostWatchedTogether = 64u << 20;

// Up to this a mapping is small: notification queues are.
inline constexpr uint64_t kMostSmall = 64u << 10;

struct Change {
  uint64_t map, offset;
  std::vector<uint8_t> bytes;
};

// Not thread-safe: the recorder's lock guards it. The memory itself may change
// at any time.
class Mappings {
 public:
  enum class Watch {
    kNever,  // registers: reading them may do something
    kOnce,   // only what it holds when mapped
    kAlways,
  };

  // Returns its number, from 1.
  uint64_t add(void* va, uint64_t bytes, Watch watch, bool* watched);
  // 0: not one of these.
  uint64_t remove(void* va);
  bool holds(uint64_t address, uint64_t bytes) const;
  // What changed since the last look, or since zero in a new mapping. The large
  // ones are looked at when `all`, or when a small one changed: devices write the
  // data first, then the notification.
  void changes(bool all, std::vector<Change>* out);

 private:
  struct Mapping {
    uint64_t number, bytes;
    Watch watch;
    bool fresh = true;  // not looked at yet
    std::unique_ptr<uint64_t, decltype(&std::free)> shadow{nullptr,
                                                           &std::free};  // null: not watched
  };
  void look(uintptr_t va, Mapping& mapping, std::vector<Change>* out);

  std::map<uintptr_t, Mapping> mappings_;
  uint64_t last_ = 0, together_ = 0;
};

}  // namespace opennrt::trace
