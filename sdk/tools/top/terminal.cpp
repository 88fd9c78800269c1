// SPDX-License-Identifier: Apache-2.0
#include "top/terminal.h"

#include <fcntl.h>
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

constexpr std::size_t kWriteAtOnce = 1024;
constexpr double kLeaveSeconds = 0.3;  // for a terminal that takes nothing

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
  // As a file of our own it may be non-blocking, which standard output shares with
  // others.
  out_ = ::open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (out_ < 0) out_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
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
  ::pthread_sigmask(SIG_BLOCK, &ours, &mask_);
  for (int s = 1; s < NSIG; ++s)
    if (sigismember(&ours, s) == 1) {
      ::sigaction(s, &action, nullptr);
      sigdelset(&mask_, s);
    }
  enter();
}

Terminal::~Terminal() {
  leave();
  if (out_ >= 0) ::close(out_);
}

void Terminal::enter() {
  has_keys_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
  if (has_keys_) {
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // ^C and ^Z stay signals
    keys.c_cc[VMIN] = 0;
    keys.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  entered_ = true;
  write_all(kEnter, sizeof kEnter - 1);
}

void Terminal::leave() {
  if (!entered_) return;
  entered_ = false;
  // After ^S it takes nothing more, not even what gives it back. Only what this has
  // stopped can this start.
  ::tcflow(out_, TCOOFF);
  ::tcflow(out_, TCOON);
  write_all(kLeave, sizeof kLeave - 1);
  if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);  // waits for nothing
}

// As ^Z would without us, and back again. The kernel stops nobody whom no shell could
// let go on: then it is back at once.
void Terminal::stop() {
  leave();
  struct sigaction plain{}, ours{};
  plain.sa_handler = SIG_DFL;
  sigemptyset(&plain.sa_mask);
  ::sigaction(SIGTSTP, &plain, &ours);
  sigset_t one, before;
  sigemptyset(&one);
  sigaddset(&one, SIGTSTP);
  ::raise(SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &one, &before);  // here it stops
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::sigaction(SIGTSTP, &ours, nullptr);
  stopped = 0;
  enter();
}

// Who ends leaves what the terminal does not take.
bool Terminal::write_all(const char* text, std::size_t bytes) {
  const double until_s = now_s() + kLeaveSeconds;
  while (bytes > 0) {
    const bool leaves = !entered_;
    if (leaves && now_s() >= until_s) return true;
    if (!leaves && ended_by != 0) return true;
    // Signals come here, but not in the midst of leaving.
    pollfd out{out_, POLLOUT, 0};
    const timespec wait{0, 100'000'000};
    const int ready = ::ppoll(&out, 1, &wait, leaves ? nullptr : &mask_);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t n = ::write(out_, text, std::min(bytes, kWriteAtOnce));
    if (n < 0 && errno == EAGAIN) {  // room for less than it needs
      const timespec pause{0, 10'000'000};
      ::ppoll(nullptr, 0, &pause, leaves ? nullptr : &mask_);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
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

Terminal::Event Terminal::wait(double until_s, int ready, char* key) {
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
    pollfd in[2] = {{has_keys_ ? STDIN_FILENO : -1, POLLIN, 0}, {ready, POLLIN, 0}};
    const int n = ::ppoll(in, 2, &wait, &mask_);
    if (n < 0) continue;  // a signal, seen above
    if (n == 0) return Event::kTime;
    if (in[0].revents == 0) return Event::kReady;
    const ssize_t got = ::read(STDIN_FILENO, key, 1);
    if (got == 1) return Event::kKey;
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    return Event::kEnd;  // hung up
  }
}

}  // namespace opennrt::tools
