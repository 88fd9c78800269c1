// SPDX-License-Identifier: Apache-2.0
//
// A launch in a process of its own, for it changes signals and becomes the parent
// of orphans.
#pragma once

#include "launcher/launch.h"
#include "run_program.h"

namespace opennrt::emu::test {

// before: in that process, first.
template <typename F>
Ended launched(const launcher::Launch& launch, F before) {
  const Directory directory;
  const std::string out = directory / "out", error = directory / "error";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), 1);
    ::dup2(::open(error.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), 2);
    before();
    bool last = false;
    const int code = launcher::run(launch, &last);
    std::fflush(nullptr);
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  Ended ended;
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ended.out = contents(out);
  ended.error = contents(error);
  return ended;
}

inline Ended launched(const launcher::Launch& launch) {
  return launched(launch, [] {});
}

inline launcher::Launch program(std::vector<std::string> words, bool guard = true) {
  launcher::Launch launch;
  launch.path = words[0];
  launch.arguments = std::move(words);
  launch.guard = guard;
  return launch;
}

}  // namespace opennrt::emu::test
