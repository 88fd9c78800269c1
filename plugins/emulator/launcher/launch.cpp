// SPDX-License-Identifier: Apache-2.0
#include "launcher/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "launcher/guard.h"

namespace opennrt::emu::launcher {

namespace {

constexpr int kForwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

struct Word {  // from the child before exec
  int step;    // 0: guard, 1: exec
  int error;   // 0: fine
};

bool send_word(int socket, Word word, int descriptor = -1) {
  iovec part{&word, sizeof word};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof word);
}

// False: the other side is gone, which is how a successful exec looks.
bool receive_word(int socket, Word* word, int* descriptor) {
  iovec part{word, sizeof *word};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n;
  do {
    n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n != static_cast<ssize_t>(sizeof *word)) return false;
  *descriptor = -1;
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (head && head->cmsg_type == SCM_RIGHTS)
    std::memcpy(descriptor, CMSG_DATA(head), sizeof *descriptor);
  return true;
}

[[noreturn]] void become(const Launch& launch, int socket, const sigset_t& signals, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotStart);
  for (const auto& [name, value] : launch.environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : launch.arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  if (launch.guard) {
    const int listener = install_guard();
    if (!send_word(socket, {0, listener < 0 ? -listener : 0}, listener)) ::_exit(kCannotStart);
    if (listener < 0 && listener != -EBUSY) ::_exit(kCannotStart);
    if (listener >= 0) ::close(listener);
  }
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  // With a slash in it the path is not looked up; a file without "#!" goes to
  // the shell, as from a shell.
  ::execvp(launch.path.c_str(), words.data());
  send_word(socket, {1, errno});
  ::_exit(kCannotRun);
}

void say(const std::string& text) { std::fprintf(stderr, "opennrt emu: %s\n", text.c_str()); }

// A guard nobody listens to has no processes left.
bool deserted(int listener) {
  pollfd wait{listener, 0, 0};
  return ::poll(&wait, 1, 0) == 1 && (wait.revents & (POLLHUP | POLLERR)) != 0;
}

// Answers until the last process of the launch has ended.
void guard_rest(Guard& guard) {
  for (;;) {
    pollfd wait{guard.listener(), POLLIN, 0};
    if (::poll(&wait, 1, -1) < 0 && errno != EINTR) return;
    if (wait.revents & POLLIN) {
      std::string message;
      if (guard.answer(&message) != 0) say(message);
    } else if (wait.revents & (POLLHUP | POLLERR)) {
      return;
    }
  }
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// Reaps what has ended. True when the program is among them.
bool reap(pid_t program, int* status) {
  bool ended = false;
  int one = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &one, WNOHANG)) > 0;) {
    if (pid != program) continue;
    ended = true;
    *status = one;
  }
  return ended;
}

// The program runs.
int attend(const Launch& launch, pid_t program, int listener, int signals, bool* last) {
  Guard guard(listener);
  bool ended_by_guard = false;
  for (;;) {
    pollfd waits[] = {{signals, POLLIN, 0}, {listener, POLLIN, 0}};
    if (::poll(waits, listener >= 0 ? 2 : 1, -1) < 0) continue;
    if (waits[1].revents & POLLIN) {
      std::string message;
      if (const pid_t victim = guard.answer(&message)) {
        say(message);
        ended_by_guard = ended_by_guard || victim == program;
      }
    }
    if (!(waits[0].revents & POLLIN)) continue;
    signalfd_siginfo info;
    if (::read(signals, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) continue;
    if (info.ssi_signo != SIGCHLD) {
      // What the terminal sends has reached the program as well.
      if (info.ssi_code != SI_KERNEL) ::kill(program, static_cast<int>(info.ssi_signo));
      continue;
    }
    int status = 0;
    if (!reap(program, &status)) continue;
    const int code = ended_by_guard ? kCannotRun : code_of(status);
    if (listener < 0 || deserted(listener)) return code;
    // Others are still running: one process stays for them.
    int ready[2];
    if (::pipe2(ready, O_CLOEXEC) != 0) return code;
    const pid_t other = ::fork();
    if (other == 0) {
      ::close(ready[0]);
      if (launch.stay && !launch.stay()) ::_exit(0);
      ::close(ready[1]);
      ::close(STDIN_FILENO);
      ::close(STDOUT_FILENO);
      guard_rest(guard);
      return code;
    }
    ::close(ready[1]);
    char byte;
    [[maybe_unused]] const ssize_t n = ::read(ready[0], &byte, 1);
    ::close(ready[0]);
    *last = other < 0;
    return code;
  }
}

}  // namespace

int run(const Launch& launch, bool* last) {
  *last = true;
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    say(std::string("no socket pair: ") + std::strerror(errno));
    return kCannotStart;
  }
  // Orphans of the launch stay our descendants, whose memory the guard may read.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t all, before;
  sigemptyset(&all);
  sigaddset(&all, SIGCHLD);
  for (const int signal : kForwarded) sigaddset(&all, signal);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  const int signals = ::signalfd(-1, &all, SFD_CLOEXEC);
  const pid_t parent = ::getpid();
  std::fflush(nullptr);
  const pid_t program = signals < 0 ? -1 : ::fork();
  if (program < 0) {
    say(std::string("no process for the program: ") + std::strerror(errno));
    return kCannotStart;
  }
  if (program == 0) {
    ::close(pair[0]);
    become(launch, pair[1], before, parent);
  }
  ::close(pair[1]);
  Word word{};
  int descriptor = -1, listener = -1;
  if (launch.guard) {
    if (!receive_word(pair[0], &word, &descriptor) || (word.error != 0 && word.error != EBUSY)) {
      say(std::string("the guard against calls that bypass the C library cannot be installed (") +
          std::strerror(word.error) + "); --no-guard runs without it");
      ::waitpid(program, nullptr, 0);
      return kCannotStart;
    }
    listener = descriptor;
  }
  // exec closes the socket; until then the guard answers nobody.
  if (receive_word(pair[0], &word, &descriptor)) {
    say(launch.path + ": " + std::strerror(word.error));
    ::waitpid(program, nullptr, 0);
    return word.error == ENOENT ? kNotFound : kCannotRun;
  }
  ::close(pair[0]);
  ::signal(SIGPIPE, SIG_IGN);
  return attend(launch, program, listener, signals, last);
}

}  // namespace opennrt::emu::launcher
