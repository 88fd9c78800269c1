// SPDX-License-Identifier: Apache-2.0
//
// The DMA queues of one device. Each queue is a TX (source) and an RX
// (destination) ring of 16-byte descriptors. Transfers happen on the thread
// that rings the doorbell, packet by packet in trigger order.
//
// Threading: any thread. A queue is walked under its own lock; a thread never
// holds two (doorbells rung by a transfer wait until its queue is released).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "device/bus.h"
#include "device/device.h"

namespace opennrt::emu {

inline constexpr std::uint32_t kDirTx = 0;
inline constexpr std::uint32_t kDirRx = 1;

// One side of a queue. `next`, `ring_id` and `pending` change under the
// queue's lock only; they are atomic because registers show them live.
struct DmaRing {
  std::atomic<std::uint32_t> base_lo{0}, base_hi{0}, length{0};
  std::atomic<std::uint32_t> sw_ctrl{0};  // last value written
  std::atomic<std::uint32_t> next{0};     // index of the first descriptor not processed
  std::atomic<std::uint32_t> ring_id{1};  // phase of `next`
  std::atomic<std::uint32_t> pending{0};  // descriptors released and not processed

  std::uint64_t base() const {
    return std::uint64_t{base_hi.load(std::memory_order_acquire)} << 32 |
           (base_lo.load(std::memory_order_acquire) & ~63u);
  }
};

struct DmaQueue {
  std::mutex mutex;
  // Threads that want the queue while it may be walked for long: the walk lets them
  // in between two packets.
  std::atomic<std::uint32_t> wanted{0};
  bool stopped = false;  // by an error, until a reset; guarded by mutex
  bool aborted = false;  // until the engine is reset; guarded by mutex
  DmaRing ring[2];
  // Transposes whose sides are not one run of memory each; grows to the largest
  // packet seen. Guarded by mutex.
  std::vector<std::uint8_t> scratch;
};

class DmaFabric {
 public:
  // deferred: doorbells of engines only release descriptors, perform_pending()
  // moves the data.
  DmaFabric(Bus& bus, bool deferred);

  std::uint32_t engines() const { return engines_; }
  std::uint32_t queues() const { return queues_; }

  // Queue registers by their meaning (enum nrtp_queue_reg). False: this
  // register has no effect of its own and is only stored.
  bool register_write(std::uint32_t engine, std::uint32_t queue, std::uint32_t dir,
                      std::uint32_t reg, std::uint32_t value, const Origin& who);
  bool register_read(std::uint32_t engine, std::uint32_t queue, std::uint32_t dir,
                     std::uint32_t reg, std::uint32_t* out);

  void init(std::uint32_t engine, std::uint32_t queue, const RingConfig& tx, const RingConfig& rx);
  int start(std::uint32_t engine, std::uint32_t queue, std::uint32_t tx_count,
            std::uint32_t rx_count);
  void state(std::uint32_t engine, std::uint32_t queue, RingState* tx, RingState* rx);
  // Every queue of the engine as after power-on.
  void reset_engine(std::uint32_t engine);
  // The engine gives up: its queues do nothing any more. Call without a queue's lock.
  void abort_engine(std::uint32_t engine);

  // One packet of one of the queues that have work, `choice` picks it. False:
  // no queue could go on.
  bool perform_pending(std::uint64_t choice);
  bool has_pending();

  // Core the engine belongs to, for error records.
  std::uint32_t core_of(std::uint32_t engine) const { return core_of_[engine]; }

 private:
  DmaQueue& at(std::uint32_t engine, std::uint32_t queue) {
    return table_[engine * queues_ + queue];
  }
  void ring(const Doorbell& bell, const Origin& who);
  void perform(const Doorbell& bell, const Origin& who, std::vector<Doorbell>* deferred);
  // With the queue's lock held.
  bool walk(std::uint32_t engine, std::uint32_t queue, std::vector<Doorbell>* deferred,
            std::uint64_t packets);

  Bus& bus_;
  std::uint32_t engines_, queues_;
  std::unique_ptr<DmaQueue[]> table_;
  std::vector<std::uint32_t> core_of_;
  const bool deferred_;
  std::mutex pending_mutex_;            // guards pending_; taken last
  std::vector<std::uint32_t> pending_;  // engine * queues + queue, each once
};

// Performs complete packets, at most `packets`, fewer when somebody wants the queue;
// call with the queue's lock held.
// `who` names the queue; its slot is filled in with the address of the
// descriptor at fault. False: the queue waits or has stopped.
bool walk_queue(Bus& bus, DmaQueue& queue, Origin& who, std::uint64_t packets);

}  // namespace opennrt::emu
