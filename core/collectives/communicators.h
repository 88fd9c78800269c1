// SPDX-License-Identifier: Apache-2.0
//
// Global communicators of the logical cores of one initialised runtime.
//
// Threading: every member may be called from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/status.h"

namespace opennrt::collectives {

// Who the communicator is for.
enum class Context : std::uint32_t { kModels = 0, kHost = 1 };

// This process among all: rank `id` of `count`.
struct Rank {
  std::uint32_t id = 0, count = 1;
  bool operator==(const Rank&) const = default;
};

// NRT_INVALID: no ranks, or an id that is not below the count.
Status check_rank(Rank rank);

class Communicators {
 public:
  explicit Communicators(std::uint32_t logical_cores) : cores_(logical_cores) {}

  // NRT_INVALID: no such core, an id that is not below the count, or the core
  // has a communicator of another rank. NRT_FAILURE: more than one rank. The
  // same rank again changes nothing.
  Status build(Context context, std::int64_t core, Rank rank);
  std::optional<Rank> find(Context context, std::int64_t core) const;

  // Builds the communicator of Context::kModels if there is none. Once it could
  // not be built, the barrier of the core fails.
  Status barrier(std::int64_t core, Rank rank);
  // out: `bytes` of every rank, by rank.
  Status all_gather(std::int64_t core, Rank rank, std::uint64_t bytes, const void* in, void* out);

 private:
  struct Core {
    std::array<std::optional<Rank>, 2> ranks;  // by Context
    bool barrier_broken = false;
  };
  Status check(std::int64_t core, Rank rank) const;
  Status build_locked(Context context, Core& core, std::int64_t index, Rank rank);

  mutable std::mutex mutex_;
  std::vector<Core> cores_;
};

// Name of the stream of host-driven collectives; the first use switches them
// on. Process-wide, usable in every state.
void create_stream(std::uint32_t id) noexcept;
std::optional<std::uint32_t> stream() noexcept;

}  // namespace opennrt::collectives
