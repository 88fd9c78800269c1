// SPDX-License-Identifier: Apache-2.0
#include "dma/fabric.h"

#include <algorithm>
#include <cerrno>
#include <thread>

#include "verify/verifier.h"

namespace opennrt::emu {

namespace {

// Pointer registers: 24-bit index, ring id in the two top bits.
constexpr std::uint32_t kPointerMask = 0xFFFFFF;
constexpr std::uint32_t kRingIdShift = 30;

// A transfer may ring doorbells whose transfers ring more. Real programs need
// one; beyond this many the rings feed each other without end.
constexpr std::size_t kMaxDoorbells = 1u << 16;

constexpr std::uint64_t kAllPackets = UINT64_MAX;

// The lock of a queue, ahead of one who walks it. For whoever may hold a lock that
// others need: a ring of millions of descriptors is walked for minutes.
class Ahead {
 public:
  explicit Ahead(DmaQueue& queue) : queue_(queue) {
    queue_.wanted.fetch_add(1, std::memory_order_relaxed);
    queue_.mutex.lock();
    queue_.wanted.fetch_sub(1, std::memory_order_relaxed);
  }
  ~Ahead() { queue_.mutex.unlock(); }
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

 private:
  DmaQueue& queue_;
};

void reset_ring(DmaRing& ring) {
  ring.next.store(0, std::memory_order_release);
  ring.ring_id.store(1, std::memory_order_release);
  ring.pending.store(0, std::memory_order_release);
}

std::uint32_t pointer(const DmaRing& ring, std::uint32_t ahead) {
  const std::uint32_t length = ring.length.load(std::memory_order_acquire);
  std::uint64_t index =
      std::uint64_t{ring.next.load(std::memory_order_acquire)} + std::uint64_t{ahead};
  std::uint32_t id = ring.ring_id.load(std::memory_order_acquire);
  if (length != 0 && index >= length) {
    index -= length;
    ++id;
  }
  return (static_cast<std::uint32_t>(index) & kPointerMask) | (id & 3) << kRingIdShift;
}

void attach(DmaRing& ring, const RingConfig& config) {
  ring.base_lo.store(static_cast<std::uint32_t>(config.base), std::memory_order_release);
  ring.base_hi.store(static_cast<std::uint32_t>(config.base >> 32), std::memory_order_release);
  ring.length.store(config.length, std::memory_order_release);
  reset_ring(ring);
}

RingState snapshot(const DmaRing& ring) {
  return {.base = ring.base(),
          .length = ring.length.load(std::memory_order_acquire),
          .head = pointer(ring, 0) & kPointerMask,
          .tail = pointer(ring, ring.pending.load(std::memory_order_acquire)) & kPointerMask};
}

}  // namespace

DmaFabric::DmaFabric(Bus& bus, bool deferred) : bus_(bus), deferred_(deferred) {
  const nrtp_arch_plugin& arch = bus.map().arch();
  const nrtp_product* product = bus.map().product();
  engines_ = arch.geometry->dma_total;
  queues_ = arch.geometry->dma_queues_per_engine;
  table_ = std::make_unique<DmaQueue[]>(std::size_t{engines_} * queues_);
  core_of_.assign(engines_, 0);
  for (std::uint32_t core = 0; core < bus.map().cores(); ++core) {
    const std::uint32_t host = arch.dma->host_engine(product, core);
    if (host < engines_) core_of_[host] = core;
    for (std::uint32_t i = 0; i < arch.geometry->dma_per_core; ++i) {
      const std::uint32_t engine = arch.dma->core_engine(product, core, i);
      if (engine < engines_) core_of_[engine] = core;
    }
  }
}

bool DmaFabric::register_write(std::uint32_t engine, std::uint32_t queue, std::uint32_t dir,
                               std::uint32_t reg, std::uint32_t value, const Origin& who) {
  DmaRing& side = at(engine, queue).ring[dir];
  switch (reg) {
    case NRTP_QREG_BASE_LO:
      side.base_lo.store(value, std::memory_order_release);
      return true;
    case NRTP_QREG_BASE_HI:
      side.base_hi.store(value, std::memory_order_release);
      return true;
    case NRTP_QREG_LENGTH:
      side.length.store(value & kPointerMask, std::memory_order_release);
      return true;
    case NRTP_QREG_HEAD:
    case NRTP_QREG_TAIL:
      return true;  // read-only
    case NRTP_QREG_TAIL_INC:
      if (value != 0)
        ring({Doorbell::Kind::kTailIncrement, static_cast<std::uint8_t>(dir),
              static_cast<std::uint16_t>(queue), engine, value},
             who);
      return true;
    case NRTP_QREG_SW_CTRL:
      side.sw_ctrl.store(value, std::memory_order_release);
      if ((value & bus_.map().arch().dma->sw_ctrl_reset) != 0)
        ring({Doorbell::Kind::kReset, static_cast<std::uint8_t>(dir),
              static_cast<std::uint16_t>(queue), engine, 0},
             who);
      return true;
    case NRTP_QREG_DATA_TAIL_INC: {
      bus_.report(
          who, ErrorType::kDroppedAccess, static_cast<std::uint16_t>(queue),
          "wrote the data tail increment of DMA engine " + std::to_string(engine) + " queue " +
              std::to_string(queue) +
              ", which the software device does not implement: what it releases is not published");
      return true;
    }
    default:
      return false;
  }
}

bool DmaFabric::register_read(std::uint32_t engine, std::uint32_t queue, std::uint32_t dir,
                              std::uint32_t reg, std::uint32_t* out) {
  const DmaRing& side = at(engine, queue).ring[dir];
  switch (reg) {
    case NRTP_QREG_BASE_LO:
      *out = side.base_lo.load(std::memory_order_acquire);
      return true;
    case NRTP_QREG_BASE_HI:
      *out = side.base_hi.load(std::memory_order_acquire);
      return true;
    case NRTP_QREG_LENGTH:
      *out = side.length.load(std::memory_order_acquire);
      return true;
    case NRTP_QREG_HEAD:
      *out = pointer(side, 0);
      return true;
    case NRTP_QREG_TAIL:
      *out = pointer(side, side.pending.load(std::memory_order_acquire));
      return true;
    case NRTP_QREG_SW_CTRL:
      *out = side.sw_ctrl.load(std::memory_order_acquire);
      return true;
    case NRTP_QREG_TAIL_INC:
    case NRTP_QREG_DATA_TAIL_INC:
      *out = 0;
      return true;
    default:
      return false;
  }
}

void DmaFabric::init(std::uint32_t engine, std::uint32_t queue, const RingConfig& tx,
                     const RingConfig& rx) {
  if (engine >= engines_ || queue >= queues_) return;
  DmaQueue& q = at(engine, queue);
  const Ahead lock(q);
  attach(q.ring[kDirTx], tx);
  attach(q.ring[kDirRx], rx);
  q.stopped = q.aborted;
}

int DmaFabric::start(std::uint32_t engine, std::uint32_t queue, std::uint32_t tx_count,
                     std::uint32_t rx_count) {
  if (engine >= engines_ || queue >= queues_) return -EINVAL;
  DmaQueue& q = at(engine, queue);
  if (tx_count > q.ring[kDirTx].length.load(std::memory_order_acquire) ||
      rx_count > q.ring[kDirRx].length.load(std::memory_order_acquire))
    return -EINVAL;
  const Origin host{};
  register_write(engine, queue, kDirRx, NRTP_QREG_TAIL_INC, rx_count, host);
  register_write(engine, queue, kDirTx, NRTP_QREG_TAIL_INC, tx_count, host);
  return 0;
}

void DmaFabric::state(std::uint32_t engine, std::uint32_t queue, RingState* tx, RingState* rx) {
  if (engine >= engines_ || queue >= queues_) {
    *tx = *rx = {};
    return;
  }
  DmaQueue& q = at(engine, queue);
  const Ahead lock(q);
  *tx = snapshot(q.ring[kDirTx]);
  *rx = snapshot(q.ring[kDirRx]);
  tx->aborted = rx->aborted = q.aborted;
}

void DmaFabric::reset_engine(std::uint32_t engine) {
  for (std::uint32_t queue = 0; queue < queues_; ++queue) {
    {
      const Ahead lock(at(engine, queue));
      at(engine, queue).aborted = false;
    }
    init(engine, queue, {}, {});
  }
}

void DmaFabric::abort_engine(std::uint32_t engine) {
  if (engine >= engines_) return;
  for (std::uint32_t queue = 0; queue < queues_; ++queue) {
    const Ahead lock(at(engine, queue));
    at(engine, queue).stopped = at(engine, queue).aborted = true;
  }
}

void DmaFabric::ring(const Doorbell& bell, const Origin& who) {
  if (who.deferred) {
    who.deferred->push_back(bell);
    return;
  }
  std::vector<Doorbell> deferred;  // stays empty, and unallocated, in real programs
  perform(bell, who, &deferred);
  for (std::size_t i = 0; i < deferred.size(); ++i) {
    if (i == kMaxDoorbells) {
      bus_.report(who, ErrorType::kUnitStopped, bell.queue,
                  "rang DMA engine " + std::to_string(bell.engine) + " queue " +
                      std::to_string(bell.queue) + ", whose transfers ring doorbells without end");
      return;
    }
    const Doorbell next = deferred[i];
    perform(next, who, &deferred);
  }
}

void DmaFabric::perform(const Doorbell& bell, const Origin& who, std::vector<Doorbell>* deferred) {
  DmaQueue& q = at(bell.engine, bell.queue);
  DmaRing& side = q.ring[bell.dir];
  std::unique_lock lock(q.mutex);
  if (bell.kind == Doorbell::Kind::kReset) {
    // A program that resets its queues relies on their work being done.
    while (deferred_ && !q.stopped && walk(bell.engine, bell.queue, deferred, kAllPackets)) {
    }
    reset_ring(side);
    q.stopped = q.aborted;
    return;
  }
  const std::uint32_t length = side.length.load(std::memory_order_acquire);
  const std::uint32_t pending = side.pending.load(std::memory_order_relaxed);
  if (bell.count > length || pending > length - bell.count) {
    bus_.report(who, ErrorType::kDroppedAccess, bell.queue,
                "rang " + std::string(bell.dir == kDirTx ? "TX" : "RX") + " of DMA engine " +
                    std::to_string(bell.engine) + " queue " + std::to_string(bell.queue) +
                    " with " + std::to_string(bell.count) + " descriptors, " +
                    std::to_string(pending) + " pending, ring length " + std::to_string(length) +
                    "; the doorbell is dropped");
    return;
  }
  side.pending.store(pending + bell.count, std::memory_order_release);
  if (Verifier* v = bus_.verifier()) v->doorbell(who, bell.engine, bell.queue);
  if (q.stopped) return;
  if (deferred_ && who.kind != Origin::Kind::kHost) {
    const std::uint32_t number = bell.engine * queues_ + bell.queue;
    std::lock_guard pending_lock(pending_mutex_);
    if (std::find(pending_.begin(), pending_.end(), number) == pending_.end())
      pending_.push_back(number);
    return;
  }
  while (walk(bell.engine, bell.queue, deferred, kAllPackets)) {
    lock.unlock();
    while (q.wanted.load(std::memory_order_relaxed) != 0) std::this_thread::yield();
    lock.lock();
    if (q.stopped) return;
  }
}

bool DmaFabric::walk(std::uint32_t engine, std::uint32_t queue, std::vector<Doorbell>* deferred,
                     std::uint64_t packets) {
  Origin dma{.kind = Origin::Kind::kDma,
             .core = core_of_[engine],
             .unit = engine,
             .queue = queue,
             .slot = 0,
             .deferred = deferred};
  return walk_queue(bus_, at(engine, queue), dma, packets);
}

bool DmaFabric::has_pending() {
  if (!deferred_) return false;
  std::lock_guard lock(pending_mutex_);
  return !pending_.empty();
}

bool DmaFabric::perform_pending(std::uint64_t choice) {
  std::uint32_t number = 0;
  {
    std::lock_guard lock(pending_mutex_);
    if (pending_.empty()) return false;
    std::swap(pending_[choice % pending_.size()], pending_.back());
    number = pending_.back();
    pending_.pop_back();
  }
  const std::uint32_t engine = number / queues_, queue = number % queues_;
  std::vector<Doorbell> bells;
  bool more = false;
  {
    DmaQueue& q = at(engine, queue);
    std::lock_guard lock(q.mutex);
    if (!q.stopped) more = walk(engine, queue, &bells, 1);
  }
  if (more) {
    std::lock_guard lock(pending_mutex_);
    if (std::find(pending_.begin(), pending_.end(), number) == pending_.end())
      pending_.push_back(number);
  }
  const Origin dma{.kind = Origin::Kind::kDma,
                   .core = core_of_[engine],
                   .unit = engine,
                   .queue = queue,
                   .slot = 0,
                   .deferred = nullptr};
  std::vector<Doorbell> none;
  for (const Doorbell& bell : bells) perform(bell, dma, &none);
  return more || !bells.empty();
}

}  // namespace opennrt::emu
