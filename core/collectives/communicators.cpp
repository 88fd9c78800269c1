// SPDX-License-Identifier: Apache-2.0
#include "collectives/communicators.h"

#include <atomic>
#include <cstring>

#include "collectives/unsupported.h"

namespace opennrt::collectives {

namespace {

constexpr std::uint64_t kNoStream = ~0ull;
constinit std::atomic<std::uint64_t> g_stream{kNoStream};

}  // namespace

Status check_rank(Rank rank) {
  if (rank.count == 0) return Status::invalid("the number of ranks is 0");
  if (rank.id >= rank.count)
    return Status::invalid("the rank is {}, must be below the number of ranks, {}", rank.id,
                           rank.count);
  return {};
}

Status Communicators::check(std::int64_t core, Rank rank) const {
  ONRT_TRY(check_rank(rank));
  if (core < 0 || static_cast<std::uint64_t>(core) >= cores_.size())
    return Status::invalid("vnc is {}: this process has the logical cores 0 to {}", core,
                           cores_.size() - 1);
  return {};
}

Status Communicators::build_locked(Context context, Core& core, std::int64_t index, Rank rank) {
  std::optional<Rank>& mine = core.ranks[static_cast<std::size_t>(context)];
  if (mine.has_value()) {
    if (*mine == rank) return {};
    return Status::invalid("logical core {} is rank {} of {} already, not {} of {}", index,
                           mine->id, mine->count, rank.id, rank.count);
  }
  if (rank.count != 1)
    return unsupported(kSeveralRanks)
        .with_context(fmt::format("rank {} of {} on logical core {}", rank.id, rank.count, index));
  mine = rank;
  return {};
}

Status Communicators::build(Context context, std::int64_t core, Rank rank) {
  ONRT_TRY(check(core, rank));
  const std::lock_guard lock(mutex_);
  return build_locked(context, cores_[static_cast<std::size_t>(core)], core, rank);
}

std::optional<Rank> Communicators::find(Context context, std::int64_t core) const {
  if (core < 0 || static_cast<std::uint64_t>(core) >= cores_.size()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return cores_[static_cast<std::size_t>(core)].ranks[static_cast<std::size_t>(context)];
}

Status Communicators::barrier(std::int64_t core, Rank rank) {
  ONRT_TRY(check(core, rank));
  const std::lock_guard lock(mutex_);
  Core& mine = cores_[static_cast<std::size_t>(core)];
  if (mine.barrier_broken)
    return Status::failure("the barrier of logical core {} could not be set up before", core);
  Status built = build_locked(Context::kModels, mine, core, rank);
  // A wrong argument says nothing about the next call.
  if (!built && built.code() != NRT_INVALID) mine.barrier_broken = true;
  return built;  // one rank: everybody is there
}

Status Communicators::all_gather(std::int64_t core, Rank rank, std::uint64_t bytes, const void* in,
                                 void* out) {
  ONRT_TRY(build(Context::kModels, core, rank));
  if (bytes != 0) std::memmove(out, in, bytes);  // one rank: its part is all
  return {};
}

void create_stream(std::uint32_t id) noexcept { g_stream.store(id, std::memory_order_relaxed); }

std::optional<std::uint32_t> stream() noexcept {
  const std::uint64_t id = g_stream.load(std::memory_order_relaxed);
  if (id == kNoStream) return std::nullopt;
  return static_cast<std::uint32_t>(id);
}

}  // namespace opennrt::collectives
