// SPDX-License-Identifier: Apache-2.0
#include "script.h"

#include <algorithm>

namespace opennrt::replay {

Script::Script(const trace::Session& session) : session_(&session) {
  for (std::size_t place = 0; place < places(); ++place) {
    const trace::Line& now = line(place);
    if (now.thread >= threads_.size()) threads_.resize(now.thread + 1);
    if (now.is_memory()) {
      const bool goes_on = !batches_.empty() && batches_.back().end == place &&
                           line(place - 1).sequence == now.sequence;
      if (goes_on)
        batches_.back().end = place + 1;
      else
        batches_.push_back({place, place + 1});
    } else if (now.call == "control") {
      if (const trace::Value* question = find(now.args, "request"))
        questions_[question->text].places.push_back(place);
    } else {
      threads_[now.thread].places.push_back(place);
    }
  }
}

std::size_t Script::next(std::size_t thread) const {
  const Queue& queue = threads_[thread];
  return queue.at < queue.places.size() ? queue.places[queue.at] : kNowhere;
}

std::size_t Script::left() const {
  std::size_t calls = 0;
  for (const Queue& queue : threads_) calls += queue.places.size() - queue.at;
  return calls;
}

bool Script::take_before(std::size_t place, Batch* out) {
  if (batch_ == batches_.size() || batches_[batch_].begin >= place) return false;
  *out = batches_[batch_++];
  return true;
}

bool Script::take_of_call(std::size_t place, Batch* out) {
  if (batch_ == batches_.size() || batches_[batch_].begin != place + 1) return false;
  const trace::Value* seen = find(line(place + 1).args, "seen");
  if (!seen || (seen->text != "call" && seen->text != "map")) return false;
  *out = batches_[batch_++];
  return true;
}

std::size_t Script::answer(const std::string& question) {
  const auto found = questions_.find(question);
  if (found == questions_.end()) return kNowhere;
  Queue& queue = found->second;
  const std::size_t place = queue.places[queue.at];
  if (queue.at + 1 < queue.places.size()) ++queue.at;
  return place;
}

}  // namespace opennrt::replay
