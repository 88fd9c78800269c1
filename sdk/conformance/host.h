// SPDX-License-Identifier: Apache-2.0
//
// What surrounds a plugin under test: host services with the plugins of the installation
// behind them, and the software device. Settings are the defaults and the OPENNRT_*
// variables; files are not read.
#pragma once

#include <string>
#include <vector>

#include "opennrt/arch.h"
#include "opennrt/ndl.h"
#include "opennrt/port.h"

namespace opennrt::conform {

// Host services that also keep what a plugin logs. One for the process.
class TestHost {
 public:
  static TestHost& instance();

  const nrtp_host* table() const { return &table_; }
  // Lines of level ERROR and WARN since the last call.
  std::vector<std::string> take_log();
  // From now on alloc() returns NULL.
  void fail_alloc(bool fail) { fail_ = fail; }
  // Allocations that have not been released.
  std::size_t live() const;

 private:
  TestHost();
  struct State;
  State* const state_;  // never freed
  bool fail_ = false;
  nrtp_host table_{};
};

// The software device: the installation's emulator port, attached once, with the table's
// own context. problem: why there is none.
struct SoftwareDevice {
  const nrtp_sys_port* port = nullptr;
  void* ctx = nullptr;
  std::string problem;
};
const SoftwareDevice& software_device();

}  // namespace opennrt::conform
