// SPDX-License-Identifier: Apache-2.0
//
// One recording: a filter and a ring per logical core.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "trace/event.h"
#include "trace/ring.h"

namespace opennrt::trace {

inline constexpr std::uint64_t kLeastEvents = 1024, kMostEvents = 1048576;
inline constexpr std::uint64_t kDefaultEvents = 1'000'000;

struct CaptureOptions {
  std::uint64_t events_per_core = kDefaultEvents;  // clamped to kLeastEvents..kMostEvents
  std::bitset<kMaxCores> cores = std::bitset<kMaxCores>().set();
  std::uint64_t types = kAllTypes;
};

inline constexpr std::uint64_t kAllCores = ~0ull;

struct FetchOptions {
  std::uint64_t most_per_core = 0;  // 0: all
  std::uint64_t core = kAllCores;
};

// Threading: push() from any thread; the others by one thread at a time.
class Capture {
 public:
  explicit Capture(const CaptureOptions& options);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  const CaptureOptions& options() const { return options_; }
  // Rings for the enabled cores below `cores` that have none yet. NRT_RESOURCE.
  Status provide(std::uint32_t cores);
  // Ignores what the filter does not want.
  void push(const Record& record) noexcept;
  // Takes events out, core after core, each oldest first.
  void drain(const FetchOptions& options, std::vector<Record>& out);
  // No push() runs any more or will.
  void close();
  std::uint64_t lost() const;

 private:
  CaptureOptions options_;
  std::array<std::atomic<Ring*>, kMaxCores> rings_{};
};

}  // namespace opennrt::trace
