// SPDX-License-Identifier: Apache-2.0
#include "engine/core.h"

#include <algorithm>
#include <thread>

#include "compute/pe_array.h"

namespace opennrt::emu {

namespace {

// Cores of the process that are being run.
std::atomic<std::uint32_t> busy_cores{0};

// Multiply-adds of one run that are worth a team (a millisecond), and the runs for
// which it is kept after the last such one.
constexpr std::uint64_t kHeavy = 50'000'000;
constexpr std::uint32_t kHeavyRuns = 64;

// Looks before a thread that waits lets others have the CPU.
constexpr std::uint32_t kSpins = 1000;

void wait_a_little(std::uint32_t* spins) {
  if (++*spins % kSpins == 0)
    std::this_thread::yield();
  else
    WorkShare::relax();
}

}  // namespace

Core::Core(Bus* bus, std::uint32_t index, std::uint32_t engines, std::uint32_t threads)
    : index_(index), n_engines_(engines), threads_(threads) {
  for (std::uint32_t e = 0; e < n_engines_; ++e) engines_[e].configure(bus, &sync_, index, e);
  // Who watches wants one order of events.
  if (bus->verifier() || bus->inspector()) threads_ = 1;
}
Core::~Core() = default;

// Threads beside the calling one; 0: not worth it.
std::uint32_t Core::members_wanted() {
  if (threads_ == 1 || heavy_runs_ == 0) return 0;
  const std::uint32_t threads =
      threads_per_core(threads_, busy_cores.load(std::memory_order_relaxed));
  return threads < 2 ? 0 : team_.hire(threads - 1);
}

std::uint64_t Core::run_engines(std::uint64_t budget) {
  const std::uint64_t before = engines_[NRTP_ENGINE_PE].state().multiply_adds;
  const std::uint32_t members = members_wanted();
  std::uint64_t retired = 0;
  if (members != 0) {
    retired = run_with_team(budget, members);
  } else {
    bool progress = true;
    bool forward = true;
    while (progress && retired < budget && !stopped()) {
      progress = false;
      for (std::uint32_t i = 0; i < n_engines_ && retired < budget; ++i) {
        const std::uint32_t e = forward ? i : n_engines_ - 1 - i;
        const std::uint64_t n = engines_[e].run(std::min(kTurn, budget - retired));
        retired += n;
        progress |= n != 0;
      }
      // The barriers of real images pass from PE to SP and back.
      forward = !forward;
    }
  }
  if (engines_[NRTP_ENGINE_PE].state().multiply_adds - before > kHeavy)
    heavy_runs_ = kHeavyRuns;
  else if (heavy_runs_ != 0)
    --heavy_runs_;
  return retired;
}

// PE on the first thread of the team.
void Core::run_pe() {
  Sequencer& pe = engines_[NRTP_ENGINE_PE];
  constexpr std::uint64_t kPeTurn = 16;
  while (!over_.load(std::memory_order_acquire)) {
    const std::uint64_t seen = others_epoch_.load(std::memory_order_acquire);
    if (const std::uint64_t n = pe.run(kPeTurn); n != 0) {
      pe_retired_.fetch_add(n, std::memory_order_relaxed);
      pe_epoch_.fetch_add(1, std::memory_order_release);
      continue;
    }
    pe_blocked_at_.store(seen, std::memory_order_release);
    for (std::uint32_t spins = 0; others_epoch_.load(std::memory_order_acquire) == seen &&
                                  !over_.load(std::memory_order_acquire);)
      wait_a_little(&spins);
  }
}

void Core::help(std::uint32_t member) {
  if (member == 0) return run_pe();
  const auto scratch = std::make_unique<PeScratch>();
  for (std::uint32_t spins = 0; !over_.load(std::memory_order_acquire);)
    if (!share_.help(*scratch)) wait_a_little(&spins);
}

std::uint64_t Core::run_with_team(std::uint64_t budget, std::uint32_t members) {
  if (!scratch_) scratch_ = std::make_unique<PeScratch>();
  over_.store(false, std::memory_order_relaxed);
  pe_retired_.store(0, std::memory_order_relaxed);
  others_epoch_.fetch_add(1, std::memory_order_relaxed);  // PE has not seen this one
  engines_[NRTP_ENGINE_PE].state().share = &share_;
  team_.start(
      members, [](void* core, std::uint32_t member) { static_cast<Core*>(core)->help(member); },
      this);
  std::uint64_t retired = 0;  // by the other engines
  for (std::uint32_t spins = 0;;) {
    const std::uint64_t pe_seen = pe_epoch_.load(std::memory_order_acquire);
    bool progress = false;
    for (std::uint32_t e = 0; e < n_engines_; ++e) {
      if (e == NRTP_ENGINE_PE) continue;
      const std::uint64_t n = engines_[e].run(kTurn);
      retired += n;
      progress |= n != 0;
    }
    if (progress) others_epoch_.fetch_add(1, std::memory_order_release);
    if (stopped() || retired + pe_retired_.load(std::memory_order_relaxed) >= budget) break;
    if (progress) continue;
    // Nobody can go on, and each has seen what the other did last.
    if (pe_blocked_at_.load(std::memory_order_acquire) ==
            others_epoch_.load(std::memory_order_relaxed) &&
        pe_epoch_.load(std::memory_order_acquire) == pe_seen)
      break;
    if (!share_.help(*scratch_)) wait_a_little(&spins);
  }
  over_.store(true, std::memory_order_release);
  for (std::uint32_t spins = 0; !team_.finished();)
    if (!share_.help(*scratch_)) wait_a_little(&spins);
  engines_[NRTP_ENGINE_PE].state().share = nullptr;
  return retired + pe_retired_.load(std::memory_order_relaxed);
}

void Core::forget_freed_memory() {
  freed_.take([this](std::uint64_t address, std::uint64_t bytes) {
    for (std::uint32_t e = 0; e < n_engines_; ++e) engines_[e].memory_freed(address, bytes);
  });
}

std::uint64_t Core::run(std::uint64_t budget) {
  std::uint64_t retired = 0;
  // A wake that arrives between the last look and the release of the token is
  // seen by the next round of this loop.
  while (ready_.load(std::memory_order_seq_cst) && retired < budget) {
    if (!take_token()) return retired;
    ready_.exchange(false, std::memory_order_seq_cst);  // sees what the waker did
    busy_cores.fetch_add(1, std::memory_order_relaxed);
    forget_freed_memory();
    retired += run_engines(budget - retired);
    busy_cores.fetch_sub(1, std::memory_order_relaxed);
    const bool stop = stopped();
    if (stop || retired >= budget) wake();  // it has not looked at everything
    give_token();
    if (stop) break;
  }
  return retired;
}

bool Core::take_token_to_run() {
  if (!stopped() && take_token()) return true;
  wake();  // whoever asks has not looked
  return false;
}

std::uint64_t Core::run_engine(std::uint32_t engine, std::uint64_t budget) {
  if (!take_token_to_run()) return 0;
  forget_freed_memory();
  const std::uint64_t retired = engines_[engine].run(budget);
  give_token();
  return retired;
}

bool Core::run_generator(std::uint32_t engine) {
  if (!take_token_to_run()) return false;
  const bool done = engines_[engine].perform_pending_transfer();
  give_token();
  return done;
}

void Core::stop_and_take_token() {
  stop_requests_.fetch_add(1, std::memory_order_seq_cst);
  while (!take_token()) std::this_thread::yield();
}

// In this order: who gets the token next and still saw the request would leave
// without a look, and nobody would come back for what wake() announced.
void Core::go_on_and_give_token() {
  stop_requests_.fetch_sub(1, std::memory_order_seq_cst);
  give_token();
}

void Core::end_programs(std::span<const MemoryRange> gone) {
  stop_and_take_token();
  for (std::uint32_t e = 0; e < n_engines_; ++e) engines_[e].end_program(gone);
  wake();  // before the token is free: the core must not look idle
  go_on_and_give_token();
}

void Core::reset() {
  stop_and_take_token();
  for (std::uint32_t e = 0; e < n_engines_; ++e) engines_[e].reset();
  sync_.clear();
  notifications_.reset();
  ready_.store(false, std::memory_order_release);
  go_on_and_give_token();
}

// An engine turn is short, but a whole run may not end at all.
bool Core::wait_for_token() {
  for (int attempt = 0; !take_token(); ++attempt) {
    if (attempt == 1000) return false;
    std::this_thread::yield();
  }
  return true;
}

std::string Core::describe_engine(std::uint32_t engine, std::uint64_t* program_counter) {
  if (engine >= n_engines_ || !wait_for_token()) return {};
  *program_counter = engines_[engine].program_counter();
  std::string text = engines_[engine].describe_state();
  give_token();
  return text;
}

std::string Core::describe() {
  const std::string name = "core " + std::to_string(index_) + ": ";
  if (!wait_for_token()) return name + "running";
  std::string text;
  for (std::uint32_t e = 0; e < n_engines_; ++e) {
    const std::string one = engines_[e].describe();
    if (one.empty()) continue;
    if (!text.empty()) text += "; ";
    text += one;
  }
  give_token();
  return name + (text.empty() ? "all engines stopped" : text);
}

}  // namespace opennrt::emu
