// SPDX-License-Identifier: Apache-2.0
#include "verify/clocks.h"

#include <algorithm>

namespace opennrt::emu {

Moment Clocks::begin(Actor actor, std::uint64_t slot) {
  State& s = state(actor);
  s.unreleased = 0;
  ++s.epoch;
  if (s.slots.empty()) s.slots.resize(kHistory);
  s.slots[s.epoch % kHistory] = slot;
  return {actor, s.epoch};
}

Moment Clocks::begin_unreleased(Actor actor, std::uint64_t slot) {
  const Moment moment = begin(actor, slot);
  state(actor).unreleased = 1;
  return moment;
}

std::uint64_t Clocks::slot_of(Moment moment) const {
  if (moment.actor() >= states_.size()) return 0;
  const State& s = states_[moment.actor()];
  if (s.slots.empty() || s.epoch - moment.epoch() >= kHistory) return 0;
  return s.slots[moment.epoch() % kHistory];
}

Release Clocks::release(Actor actor) {
  State& s = state(actor);
  if (!s.published) s.published = std::make_shared<const std::vector<std::uint32_t>>(s.known);
  return {actor, s.epoch - s.unreleased, s.published};
}

void Clocks::acquire(Actor actor, const Release& release) {
  // Releases of one actor know ever more, so knowing one is knowing all before.
  if (!release.known || is_before({release.actor, release.epoch}, actor)) return;
  State& s = state(actor);
  s.published.reset();
  const std::vector<std::uint32_t>& other = *release.known;
  if (s.known.size() < std::max<std::size_t>(other.size(), release.actor + 1))
    s.known.resize(std::max<std::size_t>(other.size(), release.actor + 1));
  for (std::size_t i = 0; i < other.size(); ++i) s.known[i] = std::max(s.known[i], other[i]);
  s.known[release.actor] = std::max(s.known[release.actor], release.epoch);
}

void Clocks::acquire_all(Actor actor) {
  State& s = state(actor);
  s.published.reset();
  s.known.resize(states_.size());
  for (std::size_t i = 0; i < states_.size(); ++i) s.known[i] = states_[i].epoch;
}

void SemaphoreOrder::set(Release by, std::int32_t value) {
  steps_.clear();
  joined_.clear();
  rising_ = true;
  steps_.push_back({std::move(by), value});
}

void SemaphoreOrder::add(Release by, std::int32_t new_value) {
  if (!steps_.empty() && new_value < steps_.back().value) rising_ = false;
  steps_.push_back({std::move(by), new_value});
}

void SemaphoreOrder::passed(Clocks& clocks, Actor actor, std::int32_t threshold) {
  if (!rising_) return passed_exactly(clocks, actor);
  std::size_t& next = joined_[actor];
  // Everything up to the step that reaches the threshold.
  while (next < steps_.size()) {
    const bool reached = next > 0 && steps_[next - 1].value >= threshold;
    if (reached) break;
    clocks.acquire(actor, steps_[next++].by);
  }
}

void SemaphoreOrder::passed_exactly(Clocks& clocks, Actor actor) {
  for (std::size_t& next = joined_[actor]; next < steps_.size(); ++next)
    clocks.acquire(actor, steps_[next].by);
}

}  // namespace opennrt::emu
