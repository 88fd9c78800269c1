// SPDX-License-Identifier: Apache-2.0
//
// Samples, taken on a thread of their own: who waits for one hears keys and signals
// meanwhile.
//
// Threading: one thread asks and takes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "watch/source.h"

namespace opennrt::tools {

class Sampler {
 public:
  // Throws std::system_error when there is no thread or descriptor left.
  explicit Sampler(Surroundings& here);
  // Waits for the sample that is being taken.
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // For a sample; not while one is being taken or lies here.
  void ask();
  // Readable when it is there.
  int ready() const { return ready_; }
  // Nothing: it is not there.
  std::optional<Sample> take();
  // False: it is being taken for longer than that.
  bool idle_within(std::chrono::milliseconds patience);

 private:
  void run();

  Surroundings& here_;
  const int ready_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool asked_ = false, ends_ = false;
  std::optional<Sample> sample_;
  std::thread thread_;
};

}  // namespace opennrt::tools
