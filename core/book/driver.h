// SPDX-License-Identifier: Apache-2.0
//
// The way to the devices: a system port (the kernel, or a software device) and
// the driver layer plugin over it, attached.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "config/config.h"
#include "opennrt/ndl.h"
#include "opennrt/port.h"
#include "plugin/loader.h"

namespace opennrt::book {

class Driver {
 public:
  // Chooses by `device` and `ndl`, attaches and probes; `ndl: auto` is ndl-kernel,
  // or ndl-compat for a driver it finds too old. NRT_INVALID: no device,
  // no usable plugin, or a driver this runtime cannot drive; the message says
  // which of them and what to do.
  static Result<std::unique_ptr<Driver>> open(plugin::Loader& loader, const config::Config& config);
  // Over a port that the caller has chosen, whatever `device` says.
  static Result<std::unique_ptr<Driver>> open_on(const nrtp_sys_port& port, plugin::Loader& loader,
                                                 const config::Config& config);
  ~Driver();  // detaches
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  const nrtp_ndl_ops& ndl() const { return *ndl_; }
  void* ctx() const { return ndl_ctx_; }
  const std::string& port_name() const { return port_name_; }
  // A software device's answer to one of its commands; empty on silicon, which has
  // none, and when it has nothing to say.
  std::string ask(const std::string& request) const;
  // Why no call can reach the devices any more; empty while they can be reached.
  std::string lost() const { return ask("lost"); }

 private:
  Driver() = default;
  Status attach_port(plugin::Loader& loader, const config::Config& config);
  Status attach_ndl(plugin::Loader& loader, std::string_view name);
  Status find_devices();
  // Finds out by itself which plugin drives this driver.
  Status choose_ndl(plugin::Loader& loader, const std::string& choice);
  // out_error: what the plugin answered.
  Status probe(int* out_error);
  Status no_device() const;
  Status device_lost() const;
  void detach_ndl();

  const nrtp_sys_port* port_ = nullptr;
  void* port_ctx_ = nullptr;
  const nrtp_ndl_ops* ndl_ = nullptr;
  void* ndl_ctx_ = nullptr;
  std::string port_name_;
  bool kernel_ = false;
};

}  // namespace opennrt::book
