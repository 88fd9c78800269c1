// SPDX-License-Identifier: Apache-2.0
//
// The services a plugin gets from this runtime (nrtp_host).
#pragma once

#include <memory>
#include <string>

#include "config/config.h"
#include "opennrt/plugin.h"

namespace opennrt::plugin {

class Loader;

// While it lives, errors that plugins report on this thread are kept instead of
// logged, so that the caller's own message can carry them.
class CapturedErrors {
 public:
  CapturedErrors();
  ~CapturedErrors();
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }  // joined by "; "
  // Called by the host services.
  static bool take(std::string_view text) noexcept;

 private:
  std::string text_;
  CapturedErrors* const outer_;
};

// One table for the whole process; it outlives every plugin.
class Host {
 public:
  explicit Host(Loader& loader);
  const nrtp_host* table() const { return &table_; }
  // Answers config_get from now on.
  void set_config(std::shared_ptr<const config::Config> config);
  // From the n-th call (1 = next) on, the named fault point returns `status`;
  // 0 disarms it. For tests.
  void arm_fault(const std::string& point, std::uint64_t n, int status);

 private:
  struct State;
  State* const state_;  // never freed
  nrtp_host table_{};
};

}  // namespace opennrt::plugin
