// SPDX-License-Identifier: Apache-2.0
//
// What no plugin may do to the process that opens it. OPENNRT_DOUBLE_DOES=PLACE:DEED, for
// example "attach:umask", is done once, in load, query, attach or detach; a deed that is
// not known ends the process with code 86.
#pragma once

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace opennrt::doubles {

[[noreturn]] inline void stay_behind() {
  prctl(PR_SET_NAME, "left-behind");
  signal(SIGTERM, SIG_IGN);
  for (;;) pause();
}

inline void write_to(int fd, const char* text) {
  if (write(fd, text, strlen(text)) < 0) _exit(9);
}

inline void misdeed(const char* place) {
  static bool done = false;
  const char* setting = getenv("OPENNRT_DOUBLE_DOES");
  const size_t length = strlen(place);
  if (done || setting == nullptr || strncmp(setting, place, length) != 0 || setting[length] != ':')
    return;
  done = true;
  const char* deed = setting + length + 1;
  const auto is = [deed](const char* name) { return strcmp(deed, name) == 0; };
  if (is("nothing")) {
  } else if (is("leave")) {  // with every descriptor, standard output among them
    if (fork() == 0) stay_behind();
  } else if (is("leave-session")) {
    if (fork() == 0) {
      setsid();
      stay_behind();
    }
  } else if (is("leave-twice")) {
    const pid_t first = fork();
    if (first == 0) {
      setsid();
      if (fork() != 0) _exit(0);
      stay_behind();
    }
    waitpid(first, nullptr, 0);
  } else if (is("leave-many")) {
    for (int i = 0; i < 20; ++i)
      if (fork() == 0) stay_behind();
  } else if (is("leave-relay")) {  // never the same process for long
    if (fork() == 0) {
      prctl(PR_SET_NAME, "left-behind");
      for (int i = 0; i < 1000000; ++i)
        if (fork() != 0) _exit(0);
      stay_behind();
    }
  } else if (is("leave-printing")) {
    if (fork() == 0) {
      prctl(PR_SET_NAME, "left-behind");
      for (;;) write_to(1, "still here\n");
    }
  } else if (is("leave-hanging")) {
    if (fork() == 0) {
      setsid();
      stay_behind();
    }
    prctl(PR_SET_NAME, "left-behind");
    for (;;) pause();
  } else if (is("short-lived")) {  // decent: gone soon after its parent
    int ends[2];
    if (pipe(ends) == 0 && fork() == 0) {
      close(ends[1]);
      char byte;
      _exit(read(ends[0], &byte, 1) == 0 ? 0 : 9);
    }
    close(ends[0]);
  } else if (is("daemonise")) {
    if (fork() != 0) _exit(0);
    setsid();
  } else if (is("forge")) {
    write_to(3, "end\tpassed\n");
    _exit(0);
  } else if (is("close-all")) {
    for (int fd = 0; fd < 256; ++fd) close(fd);
    // The file has the number of a descriptor of the host then.
    for (int fd = 0; fd <= 3; ++fd)
      if (open(fd < 3 ? "/dev/null" : "written-to", O_RDWR | O_CREAT, 0644) != fd) _exit(9);
  } else if (is("kill-parent")) {
    kill(getppid(), SIGKILL);
    for (;;) pause();
  } else if (is("noncharacters")) {
    write_to(1, "\xEF\xBF\xBE and \xEF\xBF\xBF, \xEF\xBF\xBD is one\n");
    abort();
  } else if (is("umask")) {
    umask(0777);
  } else if (is("directory")) {
    if (chdir("/") != 0) _exit(9);
  } else if (is("environment")) {
    setenv("PATH", "/none", 1);
  } else if (is("new-variable")) {
    setenv("OPENNRT_DOUBLE_WAS_HERE", "1", 1);
  } else if (is("no-environment")) {
    clearenv();
  } else if (is("handler")) {
    signal(SIGUSR1, [](int) {});
  } else if (is("ignored-signal")) {
    signal(SIGTERM, SIG_IGN);
  } else if (is("signal-mask")) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGINT);
    pthread_sigmask(SIG_BLOCK, &one, nullptr);
  } else if (is("limit")) {
    const rlimit limit{64, 64};
    setrlimit(RLIMIT_NOFILE, &limit);
  } else if (is("alarm")) {
    alarm(1000);
  } else if (is("standard-input")) {
    close(0);
  } else if (is("output-mode")) {
    fcntl(1, F_SETFL, fcntl(1, F_GETFL) | O_NONBLOCK);
  } else if (is("locale")) {
    setlocale(LC_ALL, "C.UTF-8");
  } else if (is("group")) {
    setsid();
    setpgid(0, getpgid(getppid()));
  } else {
    fprintf(stderr, "OPENNRT_DOUBLE_DOES: no such deed: %s\n", deed);
    _exit(86);
  }
}

}  // namespace opennrt::doubles
