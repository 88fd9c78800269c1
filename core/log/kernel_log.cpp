// SPDX-License-Identifier: Apache-2.0
#include "log/kernel_log.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "log/bounded_lock.h"

namespace opennrt::log {

namespace {

// The driver refuses longer texts (aws-neuron-driver 2.24.7.0: 512 bytes).
constexpr std::size_t kMostBytes = 512;

constinit std::mutex g_mutex;  // guards g_to; held while printing
constinit KernelLog g_to;
constinit std::atomic<bool> g_on{false};
constinit thread_local bool t_inside = false;

}  // namespace

void set_kernel_log(KernelLog to) {
  const std::lock_guard lock(g_mutex);
  g_to = to;
  g_on.store(to.print != nullptr, std::memory_order_relaxed);
}

void write_kernel_log(std::string_view body) noexcept {
  if (!g_on.load(std::memory_order_relaxed) || t_inside) return;
  char text[kMostBytes];
  const std::size_t n = std::min(body.size(), kMostBytes - 1);
  memcpy(text, body.data(), n);
  text[n] = '\0';
  const int saved = errno;
  t_inside = true;
  {
    const BoundedLock lock(g_mutex);
    // A driver without this request loses the line.
    if (lock && g_to.print != nullptr)
      g_to.print(g_to.ctx, text, static_cast<std::uint32_t>(n + 1), 0);
  }
  t_inside = false;
  errno = saved;
}

bool inside_kernel_log() noexcept { return t_inside; }

}  // namespace opennrt::log
