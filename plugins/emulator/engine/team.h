// SPDX-License-Identifier: Apache-2.0
//
// The threads that help the one that runs a core. They are started when a core
// first has much to do, sleep while it has not, take no signals, and end with
// the team. A forked child has a copy of the object and none of the threads: it
// never touches it (see port.cpp).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace opennrt::emu {

class Team {
 public:
  using Body = void (*)(void* context, std::uint32_t member);

  Team() = default;
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Makes `members` threads at least, as far as the system allows; how many there
  // are. Not while they work.
  std::uint32_t hire(std::uint32_t members);
  // body(context, 0 to members - 1), each on its thread.
  void start(std::uint32_t members, Body body, void* context);
  // Whether all have returned, and what they did is visible.
  bool finished() const { return working_.load(std::memory_order_acquire) == 0; }

 private:
  void serve(std::uint32_t member);

  std::mutex mutex_;
  std::condition_variable called_;
  std::vector<std::thread> threads_;
  std::uint64_t round_ = 0;  // guarded by mutex_, as the following
  std::uint32_t members_ = 0;
  Body body_ = nullptr;
  void* context_ = nullptr;
  bool ended_ = false;
  std::atomic<std::uint32_t> working_{0};
};

// Threads for one core: `setting`, or the CPUs of the process divided among
// `busy` cores.
std::uint32_t threads_per_core(std::uint32_t setting, std::uint32_t busy);

}  // namespace opennrt::emu
