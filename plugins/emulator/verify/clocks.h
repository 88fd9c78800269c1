// SPDX-License-Identifier: Apache-2.0
//
// Order between the units of a device (engines, DMA queues, the host): vector
// clocks, joined through semaphores, events and doorbells.
//
// A unit's work is a sequence of epochs, one per instruction record or DMA
// packet. Unit B is after epoch e of unit A when B has acquired a release that
// A made at e or later. A wait for a counting semaphore acquires exactly the
// releases that bring the count to the threshold, so that work which merely
// happened to be done already does not count as ordered.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace opennrt::emu {

using Actor = std::uint32_t;            // dense
inline constexpr Actor kHostActor = 0;  // between executions: ordered with everything

// One epoch of one actor; zero: nothing.
class Moment {
 public:
  Moment() = default;
  Moment(Actor actor, std::uint32_t epoch) : bits_(std::uint64_t{actor} << 32 | epoch) {}
  Actor actor() const { return static_cast<Actor>(bits_ >> 32); }
  std::uint32_t epoch() const { return static_cast<std::uint32_t>(bits_); }  // from 1
  explicit operator bool() const { return bits_ != 0; }
  bool operator==(const Moment&) const = default;

 private:
  std::uint64_t bits_ = 0;
};

// What an actor had done and knew when it released something.
struct Release {
  Actor actor = 0;
  std::uint32_t epoch = 0;
  std::shared_ptr<const std::vector<std::uint32_t>> known;  // epochs of the others
};

class Clocks {
 public:
  // Starts the actor's next epoch; `slot` is where its record or descriptor is.
  Moment begin(Actor actor, std::uint64_t slot);
  Moment now(Actor actor) { return {actor, state(actor).epoch}; }
  // The same for an epoch that no release covers before the next begin().
  Moment begin_unreleased(Actor actor, std::uint64_t slot);
  // Address given to begin(); 0 when it is too long ago.
  std::uint64_t slot_of(Moment moment) const;

  bool is_before(Moment earlier, Actor actor) {
    if (!earlier || earlier.actor() == actor || earlier.actor() == kHostActor) return true;
    const std::vector<std::uint32_t>& known = state(actor).known;
    return earlier.actor() < known.size() && known[earlier.actor()] >= earlier.epoch();
  }

  Release release(Actor actor);
  void acquire(Actor actor, const Release& release);
  // After everything that any actor has done.
  void acquire_all(Actor actor);

 private:
  // Epochs of which the slot is remembered, per actor.
  static constexpr std::size_t kHistory = 1 << 16;
  struct State {
    std::uint32_t epoch = 1;
    std::uint32_t unreleased = 0;  // the last epoch, or none
    std::vector<std::uint32_t> known;
    std::shared_ptr<const std::vector<std::uint32_t>> published;  // copy of known, if unchanged
    std::vector<std::uint64_t> slots;                             // ring, by epoch
  };
  State& state(Actor actor) {
    if (actor >= states_.size()) states_.resize(actor + 1);
    return states_[actor];
  }
  std::vector<State> states_;
};

// The releases through one semaphore since it was last set to a value.
class SemaphoreOrder {
 public:
  void set(Release by, std::int32_t value);
  void add(Release by, std::int32_t new_value);
  // `actor` has seen the semaphore reach `threshold`, counting up.
  void passed(Clocks& clocks, Actor actor, std::int32_t threshold);
  // `actor` has seen the semaphore in a state that a later count may undo.
  void passed_exactly(Clocks& clocks, Actor actor);

 private:
  struct Step {
    Release by;
    std::int32_t value;  // after it
  };
  std::vector<Step> steps_;  // [0]: the setting
  bool rising_ = true;       // no step has lowered the value
  std::unordered_map<Actor, std::size_t> joined_;
};

}  // namespace opennrt::emu
