// SPDX-License-Identifier: Apache-2.0
#include "top/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace opennrt::tools {

namespace {

// Control sequences of ECMA-48 and the alternate screen that terminals since xterm
// have.
constexpr char kEnter[] = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr char kLeave[] = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr char kHome[] = "\x1b[H", kHeading[] = "\x1b[7m", kPlain[] = "\x1b[0m";
constexpr char kRestOfLine[] = "\x1b[K", kRestOfScreen[] = "\x1b[J";

constexpr int kEnds[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
volatile sig_atomic_t ended_by = 0, resized = 0, stopped = 0;

void on_signal(int signal) {
  if (signal == SIGWINCH)
    resized = 1;
  else if (signal == SIGTSTP)
    stopped = 1;
  else
    ended_by = signal;
}

bool write_all(const char* text, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::write(STDOUT_FILENO, text, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {  // somebody made it non-blocking
      pollfd out{STDOUT_FILENO, POLLOUT, 0};
      if (::poll(&out, 1, 1000) > 0) continue;
    }
    if (n <= 0) return false;
    text += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

double now_s() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

Terminal::Terminal() {
  const char* type = std::getenv("TERM");
  if (::isatty(STDOUT_FILENO) != 1)
    error_ = "standard output is no terminal";
  else if (type == nullptr || *type == '\0' || std::strcmp(type, "dumb") == 0)
    error_ = "TERM says that the terminal has no cursor to move; use --batch";
  if (!ok()) return;
  ended_by = 0;
  resized = 0;
  stopped = 0;
  // Signals come while it waits, and nowhere else.
  sigset_t ours;
  sigemptyset(&ours);
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int s : kEnds) sigaddset(&ours, s);
  sigaddset(&ours, SIGWINCH);
  sigaddset(&ours, SIGTSTP);
  ::sigprocmask(SIG_BLOCK, &ours, &mask_);
  for (int s = 1; s < NSIG; ++s)
    if (sigismember(&ours, s) == 1) {
      ::sigaction(s, &action, nullptr);
      sigdelset(&mask_, s);
    }
  enter();
}

Terminal::~Terminal() { leave(); }

void Terminal::enter() {
  has_keys_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
  if (has_keys_) {
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // ^C and ^Z stay signals
    keys.c_cc[VMIN] = 0;
    keys.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
  }
  entered_ = true;
  write_all(kEnter, sizeof kEnter - 1);
}

void Terminal::leave() {
  if (!entered_) return;
  entered_ = false;
  write_all(kLeave, sizeof kLeave - 1);
  if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

// As ^Z would without us, and back again.
void Terminal::stop() {
  leave();
  ::raise(SIGSTOP);
  stopped = 0;
  enter();
}

void Terminal::size(std::size_t* columns, std::size_t* rows) const {
  winsize window{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0;
  *columns = known && window.ws_col != 0 ? window.ws_col : 80;
  *rows = known && window.ws_row != 0 ? window.ws_row : 24;
}

bool Terminal::draw(const std::vector<ScreenLine>& lines) {
  std::string out = kHome;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i != 0) out += "\r\n";
    if (lines[i].heading) out += kHeading;
    out += lines[i].text;
    if (lines[i].heading) out += kPlain;
    out += kRestOfLine;
  }
  out += kRestOfScreen;
  return write_all(out.data(), out.size());
}

int Terminal::ending() const { return ended_by; }

Terminal::Event Terminal::wait(double until_s, char* key) {
  for (;;) {
    if (ended_by != 0) return Event::kEnd;
    if (stopped != 0) {
      stop();
      return Event::kResized;  // it may have another size
    }
    if (resized != 0) {
      resized = 0;
      return Event::kResized;
    }
    const double left = std::max(0.0, until_s - now_s());
    const double whole = std::floor(left);
    const timespec wait{static_cast<time_t>(whole), static_cast<long>((left - whole) * 1e9)};
    pollfd in{has_keys_ ? STDIN_FILENO : -1, POLLIN, 0};
    const int n = ::ppoll(&in, 1, &wait, &mask_);
    if (n < 0) continue;  // a signal, seen above
    if (n == 0) return Event::kTime;
    const ssize_t got = ::read(STDIN_FILENO, key, 1);
    if (got == 1) return Event::kKey;
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    return Event::kEnd;  // hung up
  }
}

}  // namespace opennrt::tools
