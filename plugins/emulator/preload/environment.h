// SPDX-License-Identifier: Apache-2.0
//
// The environment of a program that this one starts: with the library, whatever
// the program left of it.
#pragma once

#include <cstddef>

namespace opennrt::emu::preload {

class Environment {
 public:
  // `from` may be null, as for execve. closed: text for kClosedVariable, or null.
  Environment(char* const* from, const char* closed) noexcept;
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // nullptr: no memory.
  char* const* get() const noexcept { return result_; }

 private:
  char* const* result_ = nullptr;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace opennrt::emu::preload
