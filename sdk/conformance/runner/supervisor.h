// SPDX-License-Identifier: Apache-2.0
//
// The process between the runner and a case. What a case starts becomes its child when
// the case has ended, so that it finds, ends and counts all of it; and it ends all when
// the runner ends first, however that happens.
#pragma once

#include <signal.h>
#include <sys/types.h>

namespace opennrt::conform {

// How long what a case leaves behind may take to end by itself, and when it is killed.
constexpr int kSettleMs = 500;
constexpr int kGraceMs = 2000;

struct Supervised {
  char* const* argv = nullptr;    // path of the program, then its arguments
  int output = -1, results = -1;  // ends to write to, of the program
  int notice = -1;                // end to write the Notice to
  pid_t runner = 0;
  sigset_t mask{};  // of the program
};

// Written once, when the case has ended and nothing of it is left.
struct Notice {
  int start_error = 0;   // errno: the program was not started
  pid_t pid = 0;         // of the program
  int status = 0;        // as of waitpid
  bool ordered = false;  // it was running when the runner wanted the end, or ended
  int left = 0;          // processes that it left behind
  int staying = 0;       // of them: not to be ended
};

// Processes whose parent is this one, ended ones that nobody waited for among them.
// Returns their number, and fills at most n.
int own_children(pid_t* out, int n);

// In the process that is to be the supervisor, forked with all signals blocked. The
// order to end is SIGTERM from the runner.
[[noreturn]] void supervise(const Supervised& what);

}  // namespace opennrt::conform
