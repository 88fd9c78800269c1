// SPDX-License-Identifier: Apache-2.0
//
// One core: its synchronisation bank, notification queues and sequencers, and
// the cooperative scheduler over them.
//
// Threading: wake(), sync() and notifications() from any thread. The sequencers
// run under the run token; whoever holds it runs them, others leave.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "device/bus.h"
#include "device/notification.h"
#include "device/sync_bank.h"
#include "engine/sequencer.h"

namespace opennrt::emu {

class Core {
 public:
  Core(Bus* bus, std::uint32_t index, std::uint32_t engines);

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

  // Stops a run in another thread, then clears engines, semaphores, events and
  // notification queues.
  void reset();

  std::string describe();
  // Without the name of the engine; empty when it is stopped or being run.
  std::string describe_engine(std::uint32_t engine, std::uint64_t* program_counter);

 private:
  // Records an engine may retire before the others get their turn: keeps a
  // polling loop in one image from starving the engine it waits for.
  static constexpr std::uint64_t kTurn = 1024;

  // Sequentially consistent with ready_: either the waker gets the token or the
  // holder sees the wake after giving it back.
  bool take_token() { return !token_.exchange(true, std::memory_order_seq_cst); }
  void give_token() { token_.store(false, std::memory_order_seq_cst); }
  std::uint64_t run_engines(std::uint64_t budget);
  bool wait_for_token();

  std::uint32_t index_, n_engines_;
  SyncBank sync_;
  NotificationBlock notifications_;
  std::array<Sequencer, NRTP_MAX_ENGINES> engines_;
  std::atomic<bool> ready_{false}, token_{false};
  std::atomic<std::uint32_t> stop_requests_{0};
};

}  // namespace opennrt::emu
