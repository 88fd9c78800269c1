// SPDX-License-Identifier: Apache-2.0
#include "ndl-common/fork_guard.h"

#include <pthread.h>

namespace opennrt::ndl {

std::atomic<uint32_t> g_fork_generation{0};

namespace {
// The child of a fork has one thread; a lock-free atomic is all it may touch.
void mark_child() { g_fork_generation.fetch_add(1, std::memory_order_relaxed); }
}  // namespace

int install_fork_handler() noexcept {
  static const int result = pthread_atfork(nullptr, nullptr, mark_child);
  return -result;
}

}  // namespace opennrt::ndl
