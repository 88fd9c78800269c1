// SPDX-License-Identifier: Apache-2.0
//
// Semaphores (signed 32 bits) and events (0 or 1) of one core. A release by
// the writer and an acquire by the waiter order the data they guard, as DMA
// and engine writes are visible before their semaphore moves.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace opennrt::emu {

class SyncBank {
 public:
  static constexpr std::uint32_t kCount = 256;

  std::int32_t semaphore(std::uint32_t i) const { return sem_[i].load(std::memory_order_acquire); }
  void set_semaphore(std::uint32_t i, std::int32_t v) {
    sem_[i].store(v, std::memory_order_release);
  }
  // Wraps like the 32-bit counter it is. Returns the new value.
  std::int32_t add_semaphore(std::uint32_t i, std::uint32_t delta) {
    const std::int32_t before =
        sem_[i].fetch_add(static_cast<std::int32_t>(delta), std::memory_order_acq_rel);
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(before) + delta);
  }

  std::uint32_t event(std::uint32_t i) const { return evt_[i].load(std::memory_order_acquire); }
  void set_event(std::uint32_t i, bool on) { evt_[i].store(on ? 1 : 0, std::memory_order_release); }
  // Takes the event from `from` to the other value; false when it was not `from`.
  bool flip_event(std::uint32_t i, bool from) {
    std::uint32_t expected = from ? 1 : 0;
    return evt_[i].compare_exchange_strong(expected, from ? 0 : 1, std::memory_order_acq_rel);
  }

  void clear() {
    for (auto& s : sem_) s.store(0, std::memory_order_release);
    for (auto& e : evt_) e.store(0, std::memory_order_release);
  }

 private:
  std::array<std::atomic<std::int32_t>, kCount> sem_{};
  std::array<std::atomic<std::uint32_t>, kCount> evt_{};
};

}  // namespace opennrt::emu
