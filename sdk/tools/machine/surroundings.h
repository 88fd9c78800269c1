// SPDX-License-Identifier: Apache-2.0
//
// Where a tool is: settings, plugins, device nodes, the software device. For tools
// that are no clients of the library; nothing here starts a daemon or changes
// anything.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "book/driver.h"
#include "book/machine.h"
#include "config/config.h"
#include "link/libraries.h"
#include "plugin/loader.h"
#include "remote/client.h"

namespace opennrt::tools {

class Surroundings {
 public:
  Surroundings();

  const config::Environment& environment() const { return environment_; }
  const config::Loaded& loaded() const { return loaded_; }
  const config::Config& config() const { return *loaded_.config; }
  plugin::Loader& loader() { return loader_; }
  const std::string& library() const { return library_; }  // our libnrt.so.1

  // A path of the system; tests have another root (OPENNRT_TEST_ROOT).
  std::string system(const std::string& path) const { return root_ + path; }
  bool real() const { return root_.empty(); }
  // First line of a file of the system; empty: none.
  std::string line_of(const std::string& path) const;
  // Numbers of the /dev/neuron* there are.
  const std::vector<unsigned>& nodes() const { return nodes_; }

  // Programs would use the kernel's devices, or the software device.
  bool on_kernel() const;
  bool on_emulator() const;
  bool shared_machine() const;
  std::string socket() const;
  // Empty: the socket is there; "nothing serves ..." where a daemon may be started;
  // else why it cannot be reached.
  std::string socket_trouble() const;
  // Of who only looks at what is served there: starts nothing, keeps nothing, and waits
  // for no answer longer than kPatienceMs.
  static constexpr std::uint32_t kPatienceMs = 2000;
  emu::remote::Options watch_options() const;
  // A daemon answers there. *error: why not.
  bool daemon_serves(std::string* error);

  // The silicon that programs would find; nullptr: not known without a device.
  const nrtp_arch_plugin* arch();
  const nrtp_product* product();  // of a software device

  // The devices as nrt_init finds them. Starts no daemon: null without a reason in
  // *error where one would be needed, or where tests have another root.
  const book::Driver* driver(std::string* error);
  const book::Machine* machine(std::string* error);

 private:
  void look();

  std::string root_, library_;
  config::Environment environment_;
  config::Loaded loaded_;
  plugin::Loader loader_;
  std::vector<unsigned> nodes_;
  bool looked_ = false;
  bool asked_ = false, serves_ = false;  // the daemon, once
  std::string refusal_;
  std::unique_ptr<book::Driver> driver_;
  std::unique_ptr<book::Machine> machine_;
  std::string trouble_;
};

}  // namespace opennrt::tools
