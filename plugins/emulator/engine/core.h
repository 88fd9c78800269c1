// SPDX-License-Identifier: Apache-2.0
//
// One core: its synchronisation bank, notification queues and sequencers, and
// the cooperative scheduler over them.
//
// Threading: wake(), sync() and notifications() from any thread. The sequencers
// run under the run token; whoever holds it runs them, others leave. When PE has
// much to do and threads are allowed, a thread of the team runs PE beside the
// holder, who runs the others and helps with products while those wait; they meet
// in semaphores only, as on silicon. A program without races gives the same bits.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "compute/work_share.h"
#include "device/bus.h"
#include "device/notification.h"
#include "device/sync_bank.h"
#include "engine/freed_memory.h"
#include "engine/sequencer.h"
#include "engine/team.h"

namespace opennrt::emu {

class Core {
 public:
  // threads: to run this core with, 0 = by the CPUs of the process.
  Core(Bus* bus, std::uint32_t index, std::uint32_t engines, std::uint32_t threads);
  ~Core();

  SyncBank& sync() { return sync_; }
  NotificationBlock& notifications() { return notifications_; }
  Sequencer& engine(std::uint32_t e) { return engines_[e]; }
  std::uint32_t engines() const { return n_engines_; }

  // A semaphore, event or start register was written from outside: an engine
  // may be able to go on.
  void wake() { ready_.store(true, std::memory_order_seq_cst); }
  bool runnable() const {
    return ready_.load(std::memory_order_acquire) && !token_.load(std::memory_order_acquire);
  }

  // Device memory was given back: the engines forget what they decoded there.
  void memory_freed(std::uint64_t address, std::uint64_t bytes) { freed_.add(address, bytes); }

  // Sum over the engines of the slots they have reached: moves while programs do.
  std::uint64_t slots_reached() const {
    std::uint64_t sum = 0;
    for (std::uint32_t e = 0; e < n_engines_; ++e) sum += engines_[e].slots_reached();
    return sum;
  }
  // Nothing to do and nobody at it.
  bool idle() const {
    return !token_.load(std::memory_order_seq_cst) && !ready_.load(std::memory_order_seq_cst);
  }

  // Runs the engines until none progresses or the budget is used up, unless
  // another thread does so already. Returns the weight of the retired records.
  std::uint64_t run(std::uint64_t budget);

  // For a scheduler that chooses itself: one engine, or one transfer of its
  // descriptor generator. take_wake: as run() does before it looks.
  std::uint64_t run_engine(std::uint32_t engine, std::uint64_t budget);
  bool run_generator(std::uint32_t engine);
  void take_wake() { ready_.exchange(false, std::memory_order_seq_cst); }

  // Stops a run in another thread; engines whose instructions lie in `gone` stop for
  // good, the others go on.
  void end_programs(std::span<const MemoryRange> gone);
  // Stops a run in another thread, then clears engines, semaphores, events and
  // notification queues.
  void reset();

  std::string describe();
  // Without the name of the engine; empty when it is stopped or being run.
  std::string describe_engine(std::uint32_t engine, std::uint64_t* program_counter);

 private:
  // Records an engine may retire before the others get their turn: keeps a
  // polling loop in one image from starving the engine it waits for.
  static constexpr std::uint64_t kTurn = 64;

  // Sequentially consistent with ready_: either the waker gets the token or the
  // holder sees the wake after giving it back.
  bool take_token() { return !token_.exchange(true, std::memory_order_seq_cst); }
  void forget_freed_memory();
  void give_token() { token_.store(false, std::memory_order_seq_cst); }
  std::uint64_t run_engines(std::uint64_t budget);
  std::uint64_t run_with_team(std::uint64_t budget, std::uint32_t members);
  void help(std::uint32_t member);
  void run_pe();
  std::uint32_t members_wanted();
  bool take_token_to_run();
  void stop_and_take_token();
  void go_on_and_give_token();
  bool stopped() const { return stop_requests_.load(std::memory_order_acquire) != 0; }
  bool wait_for_token();

  std::uint32_t index_, n_engines_;
  std::uint32_t threads_;
  SyncBank sync_;
  NotificationBlock notifications_;
  std::array<Sequencer, NRTP_MAX_ENGINES> engines_;
  std::atomic<bool> ready_{false}, token_{false};
  std::atomic<std::uint32_t> stop_requests_{0};
  FreedMemory freed_;

  // --- of the team; used under the token
  std::uint32_t heavy_runs_ = 0;  // runs for which the team stays in use
  WorkShare share_;
  std::unique_ptr<PeScratch> scratch_;  // of the token's holder
  std::atomic<bool> over_{false};       // the team's threads return
  // Changes whenever PE, or another engine, has got on.
  std::atomic<std::uint64_t> pe_epoch_{0}, others_epoch_{0};
  // PE could not go on although it had seen what the others did up to then.
  std::atomic<std::uint64_t> pe_blocked_at_{0};
  std::atomic<std::uint64_t> pe_retired_{0};
  Team team_;  // last: its threads use all of the above
};

}  // namespace opennrt::emu
