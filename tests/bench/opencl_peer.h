// SPDX-License-Identifier: Apache-2.0
//
// An OpenCL device on the CPU (pocl) to compare launches with, opened at run time
// if it is installed. The project does not depend on it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace opennrt::bench {

class OpenClPeer {
 public:
  // nullptr: no OpenCL library, no CPU device, or its compiler failed; *why says so.
  static std::unique_ptr<OpenClPeer> open(std::string* why);
  ~OpenClPeer();
  OpenClPeer(const OpenClPeer&) = delete;
  OpenClPeer& operator=(const OpenClPeer&) = delete;

  // "pthread-cpu ... (pocl)".
  const std::string& name() const { return name_; }
  // Runs a kernel that does nothing, on as many work items as there are compute
  // units so that its threads take part, and waits for its end.
  void launch();

 private:
  struct Library;
  OpenClPeer();
  bool prepare(std::string* why);
  std::unique_ptr<Library> cl_;
  void *context_ = nullptr, *queue_ = nullptr, *program_ = nullptr, *kernel_ = nullptr;
  std::size_t items_ = 1;
  std::string name_;
};

}  // namespace opennrt::bench
