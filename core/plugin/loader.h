// SPDX-License-Identifier: Apache-2.0
//
// Plugin loader: from "arch 2" or "the port named emulator" to a validated
// table. Manifests are read first, a library is opened only when it is the
// next choice. A refused one is reported with its path and reason, and the next
// candidate is tried. Libraries and tables stay until process exit.
//
// Threading: every member may be called from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "config/config.h"
#include "opennrt/arch.h"
#include "opennrt/ndl.h"
#include "opennrt/port.h"
#include "plugin/discovery.h"
#include "plugin/host.h"

namespace opennrt::plugin {

class Loader {
 public:
  Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;
  // The loader of the process; never destroyed.
  static Loader& instance();

  // Search path, disabled names and plugins.arch from now on.
  // code: an address inside libnrt.so.1 when this loader is not part of it.
  void configure(std::shared_ptr<const config::Config> config, const void* code = nullptr);
  const nrtp_host* host() const { return host_.table(); }
  Host& host_services() { return host_; }

  // arch_type 0: the only arch present, else that of trn1.2xlarge. NRT_INVALID:
  // no usable plugin, with the reason of each one that was refused.
  Result<const nrtp_arch_plugin*> arch(std::uint32_t arch_type);
  Result<const nrtp_arch_plugin*> arch_of_product(std::string_view product);
  // A product whose silicon runs models of that target; empty: no usable plugin
  // knows the target.
  std::string product_of_target(std::string_view target);
  Result<const nrtp_ndl_ops*> ndl(std::string_view name);
  Result<const nrtp_sys_port*> port(std::string_view name);
  bool exists(Kind kind, std::string_view name);

  // Names of all arch plugins found, for messages. Opens none of them.
  std::vector<std::string> arch_names();

  // Every candidate with its verdict and reason. Opens all libraries.
  std::vector<Candidate> list_candidates();

 private:
  // Result of opening one library, remembered by path of the library.
  struct Opened {
    const void* table = nullptr;
    std::string reason;  // why it was refused
  };
  const Opened& open(const Manifest& manifest);
  Result<const void*> judge(const Manifest& manifest);
  template <typename Accept>
  // remedy: what else helps when there is none, "..., or ".
  Result<const void*> first_usable(const char* what, Accept accept, std::string_view remedy = {});
  std::vector<Candidate> candidates();
  std::set<std::uint32_t> arch_types();

  std::mutex mutex_;  // guards everything below; not held while a plugin runs, except its query
  Search search_;
  std::string arch_name_;  // plugins.arch, empty = auto
  std::map<std::string, Opened> opened_;
  Host host_;
};

}  // namespace opennrt::plugin
