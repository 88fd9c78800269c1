// SPDX-License-Identifier: Apache-2.0
#include "engine/core.h"

#include <algorithm>
#include <thread>

namespace opennrt::emu {

Core::Core(Bus* bus, std::uint32_t index, std::uint32_t engines)
    : index_(index), n_engines_(engines) {
  for (std::uint32_t e = 0; e < n_engines_; ++e) engines_[e].configure(bus, index, e);
}

std::uint64_t Core::run_engines(std::uint64_t budget) {
  std::uint64_t retired = 0;
  bool progress = true;
  bool forward = true;
  while (progress && retired < budget && stop_requests_.load(std::memory_order_acquire) == 0) {
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
  return retired;
}

std::uint64_t Core::run(std::uint64_t budget) {
  std::uint64_t retired = 0;
  // A wake that arrives between the last look and the release of the token is
  // seen by the next round of this loop.
  while (ready_.load(std::memory_order_seq_cst) && retired < budget) {
    if (!take_token()) return retired;
    ready_.exchange(false, std::memory_order_seq_cst);  // sees what the waker did
    retired += run_engines(budget - retired);
    const bool stopped = stop_requests_.load(std::memory_order_acquire) != 0;
    if (retired >= budget) wake();
    give_token();
    if (stopped) break;
  }
  return retired;
}

std::uint64_t Core::run_engine(std::uint32_t engine, std::uint64_t budget) {
  if (stop_requests_.load(std::memory_order_acquire) != 0 || !take_token()) return 0;
  const std::uint64_t retired = engines_[engine].run(budget);
  give_token();
  return retired;
}

bool Core::run_generator(std::uint32_t engine) {
  if (stop_requests_.load(std::memory_order_acquire) != 0 || !take_token()) return false;
  const bool done = engines_[engine].perform_pending_transfer();
  give_token();
  return done;
}

void Core::reset() {
  stop_requests_.fetch_add(1, std::memory_order_acq_rel);
  while (!take_token()) std::this_thread::yield();
  for (std::uint32_t e = 0; e < n_engines_; ++e) engines_[e].reset();
  sync_.clear();
  notifications_.reset();
  ready_.store(false, std::memory_order_release);
  give_token();
  stop_requests_.fetch_sub(1, std::memory_order_acq_rel);
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
