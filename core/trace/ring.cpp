// SPDX-License-Identifier: Apache-2.0
#include "trace/ring.h"

#include <sys/mman.h>

#include <algorithm>

namespace opennrt::trace {

namespace {

using Words = std::uint64_t[7 + kPayloadWords];

// A writer that sleeps in the middle of an event, or never will write its own
// because it found the place taken.
constexpr auto kPatience = std::chrono::seconds(1);

void pack(const Record& r, std::uint64_t ticket, Words& w) {
  w[0] = static_cast<std::uint64_t>(r.event.type) | static_cast<std::uint64_t>(r.event.phase) << 8 |
         static_cast<std::uint64_t>(r.event.core) << 32;
  w[1] = r.event.tracking;
  w[2] = r.event.sequence;
  w[3] = r.id;
  w[4] = ticket;
  w[5] = r.thread;
  w[6] = r.time_ns;
  std::copy(r.event.data.begin(), r.event.data.end(), &w[7]);
}

void unpack(const Words& w, Record& r) {
  r.event.type = static_cast<EventType>(w[0] & 0xFF);
  r.event.phase = static_cast<Phase>(w[0] >> 8 & 0xFF);
  r.event.core = static_cast<std::uint32_t>(w[0] >> 32);
  r.event.tracking = w[1];
  r.event.sequence = w[2];
  r.id = w[3];
  r.core_id = w[4];
  r.thread = w[5];
  r.time_ns = w[6];
  std::copy(&w[7], &w[7] + kPayloadWords, r.event.data.begin());
}

}  // namespace

Result<std::unique_ptr<Ring>> Ring::create(std::uint64_t capacity) {
  if (capacity == 0) return Status::invalid("a trace ring of 0 events");
  // Zeroed by the kernel; an all-zero slot is one that no ticket has reached.
  void* memory = mmap(nullptr, capacity * sizeof(Slot), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return Status::resource(
        "no address space for a trace ring of {} events ({} bytes); ask for fewer events per core",
        capacity, capacity * sizeof(Slot));
  return std::unique_ptr<Ring>(new Ring(static_cast<Slot*>(memory), capacity));
}

Ring::~Ring() { munmap(slots_, capacity_ * sizeof(Slot)); }

void Ring::push(const Record& record) noexcept {
  const std::uint64_t ticket = head_.fetch_add(1, std::memory_order_relaxed);
  Slot& slot = slots_[ticket % capacity_];
  std::uint64_t state = slot.state.load(std::memory_order_relaxed);
  // Lapped while this thread slept, or still being written by one that sleeps:
  // this event is the one that is lost.
  if (state > 2 * ticket || (state & 1) != 0) return;
  if (!slot.state.compare_exchange_strong(state, 2 * ticket + 1, std::memory_order_acquire,
                                          std::memory_order_relaxed))
    return;
  Words words;
  pack(record, ticket, words);
  // Released one by one: a reader that sees a new word also sees the odd state.
  for (std::size_t i = 0; i < kWords; ++i) slot.word[i].store(words[i], std::memory_order_release);
  slot.state.store(2 * ticket + 2, std::memory_order_release);
}

Ring::Read Ring::read(std::uint64_t ticket, Record& out) const {
  const Slot& slot = slots_[ticket % capacity_];
  const std::uint64_t wanted = 2 * ticket + 2;
  const std::uint64_t before = slot.state.load(std::memory_order_acquire);
  if (before != wanted) return before < wanted ? Read::kNotYet : Read::kGone;
  Words words;
  for (std::size_t i = 0; i < kWords; ++i) words[i] = slot.word[i].load(std::memory_order_acquire);
  if (slot.state.load(std::memory_order_relaxed) != wanted) return Read::kGone;
  unpack(words, out);
  return Read::kTaken;
}

void Ring::drain(std::uint64_t most, std::vector<Record>& out) {
  const std::uint64_t end = head_.load(std::memory_order_acquire);
  if (end > capacity_ && tail_ < end - capacity_) {
    lost_ += end - capacity_ - tail_;
    tail_ = end - capacity_;
  }
  for (std::uint64_t taken = 0; tail_ < end && taken < most;) {
    Record record;
    const Read result = read(tail_, record);
    if (result == Read::kNotYet && !closed_) {
      const auto now = std::chrono::steady_clock::now();
      if (waiting_for_ != tail_) {
        waiting_for_ = tail_;
        waiting_since_ = now;
      }
      if (now - waiting_since_ < kPatience) return;
    }
    if (result == Read::kTaken) {
      out.push_back(record);
      ++taken;
    } else {
      ++lost_;
    }
    ++tail_;
  }
}

}  // namespace opennrt::trace
