// SPDX-License-Identifier: Apache-2.0
//
// One attach of a recording, ordered for replaying: what each thread asks next,
// and when memory changes. A place is an index into the lines of the session.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "ndl-common/record/trace.h"

namespace opennrt::replay {

inline constexpr std::size_t kNowhere = ~std::size_t{0};

class Script {
 public:
  explicit Script(const trace::Session& session);

  const trace::Line& line(std::size_t place) const { return session_->lines[place]; }
  std::size_t places() const { return session_->lines.size(); }

  std::size_t threads() const { return threads_.size(); }
  // The next call of a thread, or kNowhere.
  std::size_t next(std::size_t thread) const;
  void advance(std::size_t thread) { ++threads_[thread].at; }
  std::size_t left() const;  // calls of all threads

  // Memory lines that were seen at once: the first place and the one behind.
  struct Batch {
    std::size_t begin, end;
  };
  // The first batch not taken yet that begins before `place`; false: none.
  bool take_before(std::size_t place, Batch* out);
  // One that was seen at the end of the call at `place`.
  bool take_of_call(std::size_t place, Batch* out);

  // What the device last said to a question, in the order it was asked; kNowhere:
  // it was never asked. Questions depend on time, so they are no part of the order
  // of calls.
  std::size_t answer(const std::string& question);

 private:
  struct Queue {
    std::vector<std::size_t> places;
    std::size_t at = 0;
  };
  const trace::Session* session_;
  std::vector<Queue> threads_;
  std::map<std::string, Queue> questions_;
  std::vector<Batch> batches_;
  std::size_t batch_ = 0;
};

}  // namespace opennrt::replay
