// SPDX-License-Identifier: Apache-2.0
//
// Tells a forked child from the process that attached: the driver binds an
// open descriptor to the process that opened it, so a child must not use it.
#pragma once

#include <atomic>
#include <cstdint>

namespace opennrt::ndl {

// Number of forks between the loading of the plugin and this process. Only the
// child handler of fork writes it.
extern std::atomic<uint32_t> g_fork_generation;

// Installs the child handler, once per process. 0 or -errno.
int install_fork_handler() noexcept;

}  // namespace opennrt::ndl
