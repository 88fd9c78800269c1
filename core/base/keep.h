// SPDX-License-Identifier: Apache-2.0
//
// Objects that live until process exit on purpose: code of a host or a plugin
// may use them from any thread for as long as the process runs.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace opennrt {

// The object stays reachable, so leak checkers see that it is meant.
template <typename T>
T* keep_until_exit(std::unique_ptr<T> object) {
  static std::mutex* const mutex = new std::mutex;  // guards `kept`
  static auto* const kept = new std::vector<std::unique_ptr<T>>;
  const std::lock_guard lock(*mutex);
  kept->push_back(std::move(object));
  return kept->back().get();
}

}  // namespace opennrt
