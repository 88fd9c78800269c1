// SPDX-License-Identifier: Apache-2.0
//
// The guard sees every call that names a file and has not come through the
// preloaded library: of static programs, of Go, of hand-written assembly. A
// program that names a served file that way would run half with and half without
// devices; it is ended instead. All other calls go on.
//
// It is a seccomp filter that asks this process. Marked calls (preload/system.h)
// and all that name no file do not ask; ioctl does with requests of the driver's
// type.
#pragma once

#include <sys/types.h>

#include <string>

namespace opennrt::emu::launcher {

// In the program, before exec: installs the filter, for it and all it starts.
// Descriptor to listen on, or -errno; -EBUSY: a guard is there already.
int install_guard();

class Guard {
 public:
  explicit Guard(int listener) : listener_(listener) {}
  int listener() const { return listener_; }
  // Answers one call that waits. Process that was ended for it, or 0.
  pid_t answer(std::string* message);

 private:
  int listener_;
};

}  // namespace opennrt::emu::launcher
