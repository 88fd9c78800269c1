// SPDX-License-Identifier: Apache-2.0
//
// opennrt top as a process: for pipes, and on a terminal.
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <utility>

#include "watch_lab.h"

namespace opennrt::test {
namespace {

using simdjson::dom::element;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class ToolTop : public WatchLab {
 protected:
  int top(const std::string& options, const std::string& variables = "") {
    return run("'" OPENNRT_TOP "' " + options, variables);
  }
};

// The tool on a terminal of its own.
class OnTerminal {
 public:
  enum class As { kChild, kLeader };  // of a shell that stays, so that the terminal does
  OnTerminal(const std::string& line, unsigned short columns, unsigned short rows,
             As as = As::kChild) {
    winsize size{};
    size.ws_col = columns;
    size.ws_row = rows;
    pid_ = ::forkpty(&fd_, nullptr, nullptr, &size);
    if (pid_ != 0) {
      ::tcgetattr(fd_, &before_);
      return;
    }
    ::setenv("TERM", "xterm", 1);
    const std::string whole =
        as == As::kLeader ? "exec " + line : line + "; echo \"ended $?\"; sleep 100";
    execl("/bin/sh", "sh", "-c", whole.c_str(), nullptr);
    _exit(127);
  }
  ~OnTerminal() {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(fd_);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;
  void type(const char* keys) {
    [[maybe_unused]] const ssize_t n = ::write(fd_, keys, std::strlen(keys));
  }
  void resize(unsigned short columns, unsigned short rows) {
    winsize size{};
    size.ws_col = columns;
    size.ws_row = rows;
    ::ioctl(fd_, TIOCSWINSZ, &size);
  }
  // What came since the last call that returned true, until it has the text.
  bool shows(const std::string& text) {
    for (int i = 0; i < 3000; ++i) {
      const std::size_t at = text_.find(text);
      if (at != std::string::npos) {
        seen_ = text_.substr(0, at + text.size());
        text_.erase(0, at + text.size());
        return true;
      }
      pollfd in{fd_, POLLIN, 0};
      char part[4096];
      if (::poll(&in, 1, 10) != 1) continue;
      const ssize_t n = ::read(fd_, part, sizeof part);
      if (n <= 0) return false;
      text_.append(part, static_cast<std::size_t>(n));
    }
    return false;
  }
  const std::string& seen() const { return seen_; }
  std::string rest() const { return text_; }
  void forget() { text_.clear(); }
  pid_t pid() const { return pid_; }
  // The exit code of a leader, or 1000 + its signal; -1: it goes on.
  int ended() {
    for (int i = 0; i < 3000; ++i) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_)
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
      ::usleep(10'000);
    }
    return -1;
  }
  // Bytes that wait to be read here.
  int unread() const {
    int bytes = 0;
    ::ioctl(fd_, FIONREAD, &bytes);
    return bytes;
  }
  // Pid of the tool, a child of the shell.
  pid_t tool() const {
    const std::string file =
        "/proc/" + std::to_string(pid_) + "/task/" + std::to_string(pid_) + "/children";
    return std::atoi(Program::contents(file).c_str());
  }
  bool as_before() const {
    termios now{};
    ::tcgetattr(fd_, &now);
    return now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag &&
           now.c_oflag == before_.c_oflag;
  }
  bool has_keys() const {
    termios now{};
    ::tcgetattr(fd_, &now);
    return (now.c_lflag & (ICANON | ECHO)) == 0;
  }

 private:
  int fd_ = -1;
  pid_t pid_ = 0;
  termios before_{};
  std::string text_, seen_;
};

constexpr char kEntered[] = "\x1b[?1049h";
constexpr char kLeft[] = "\x1b[?25h\x1b[?1049l";

TEST_F(ToolTop, FiguresAgree) {
  const pid_t first = client(7, 0, "NEURON_PROCESS_TAG=first");
  const pid_t second = client(5, 1);
  ASSERT_EQ(top("--json --batch 2 --interval 0.1"), 0) << errors_;
  const auto all = lines(out_);
  ASSERT_EQ(all.size(), 2u);
  const element sample = parsed(all[1]);
  const auto processes = sample["processes"].get_array().value();
  ASSERT_EQ(processes.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto process =
        processes.at(processes.at(0)["pid"].get_int64().value() == first ? i : 1 - i);
    EXPECT_EQ(process["pid"].get_int64().value(), i == 0 ? first : second);
    EXPECT_EQ(process["executions_total"].get_uint64().value(), i == 0 ? 7u : 5u);
    EXPECT_EQ(process["executions"].get_uint64().value(), 0u);
    EXPECT_EQ(process["device_memory"].get_uint64().value(), memory_of(i));
    EXPECT_EQ(process["models"].get_array().value().size(), 1u);
    EXPECT_EQ(process["cores"].at(0)["logical"].get_uint64().value(), i);
    EXPECT_TRUE(process["error"].is_null());
  }
  EXPECT_EQ(sample["devices"].at(0)["cores"].at(1)["pid"].get_int64().value(), second);
  ASSERT_EQ(top("--once --interval 0.1 --sort pid"), 0);
  EXPECT_THAT(out_, ContainsRegex("opennrt top  [0-9:]+  trn1.2xlarge, driver [0-9.]+, "
                                  "opennrt-emud \\(pid [0-9]+, "));
  EXPECT_THAT(out_, HasSubstr("\n1 devices, 2 processes, 2 models, 0.0 executions/s\n"));
  EXPECT_THAT(out_, ContainsRegex("\n *" + std::to_string(first) +
                                  " 0 +0\\.0 +7 +0 +[0-9.]+ +[0-9.]+M [^\n]*first, "));
  EXPECT_THAT(out_, ContainsRegex("\n *" + std::to_string(second) + " 1 +0\\.0 +5 +0 "));
  EXPECT_THAT(out_, Not(HasSubstr("\x1b")));
  ASSERT_EQ(top("--batch 3 --interval 0.05"), 0);
  std::size_t heads = 0;
  for (const std::string& line : lines(out_)) heads += line.starts_with("opennrt top  ");
  EXPECT_EQ(heads, 3u);
}

TEST_F(ToolTop, ProcessScopeSaysHowToShare) {
  EXPECT_EQ(top("--once", "OPENNRT_EMULATOR_SCOPE=process"), 0) << errors_;
  EXPECT_THAT(out_, HasSubstr("every process has a software device of its own"));
  EXPECT_THAT(out_, HasSubstr("set OPENNRT_EMULATOR_SCOPE=machine"));
  // The same sentence as ls has.
  EXPECT_EQ(run("'" OPENNRT_LS "'", "OPENNRT_EMULATOR_SCOPE=process"), 0);
  const std::string sentence = lines(out_).at(0);
  EXPECT_EQ(top("--json", "OPENNRT_EMULATOR_SCOPE=process"), 0);  // and ends
  EXPECT_EQ(std::string(parsed(lines(out_).at(0))["reason"].get_string().value()), sentence);
  EXPECT_EQ(daemon(), 0);
}

TEST_F(ToolTop, NothingServesYet) {
  EXPECT_EQ(top("--once --interval 0.05"), 0) << errors_;
  EXPECT_THAT(out_, HasSubstr("nothing serves " + directory_ + "/s/emud.sock: "));
  EXPECT_EQ(daemon(), 0);
  EXPECT_EQ(top("--once", "OPENNRT_DEVICE=kernel OPENNRT_TEST_ROOT=" + directory_), 1);
  EXPECT_THAT(out_, HasSubstr("the kernel driver is not loaded"));
}

TEST_F(ToolTop, ASocketThatIsNone) {
  std::filesystem::create_directory(directory_ + "/s");
  std::ofstream(directory_ + "/s/emud.sock") << "text\n";
  EXPECT_EQ(top("--once --interval 0.05"), 1);
  EXPECT_THAT(out_, HasSubstr(directory_ + "/s/emud.sock is no socket; move it away, or set "
                                           "emulator.socket to another path"));
}

TEST_F(ToolTop, OnATerminal) {
  client(7, 0);
  OnTerminal terminal(environment() + "'" OPENNRT_TOP "' --interval 0.1", 80, 24);
  ASSERT_TRUE(terminal.shows(kEntered));
  ASSERT_TRUE(terminal.shows("by executions"));
  EXPECT_TRUE(terminal.has_keys());
  ASSERT_TRUE(terminal.shows(std::to_string(programs_[0]->pid())));
  ASSERT_TRUE(terminal.shows("q quit   s sort   p pause"));
  terminal.type("s");
  ASSERT_TRUE(terminal.shows("by pid"));
  terminal.type("p");
  ASSERT_TRUE(terminal.shows("by pid, paused"));
  terminal.type("x");  // no key
  terminal.type("p");
  ASSERT_TRUE(terminal.shows("by pid\x1b["));
  // Another size: no line is longer, and there are no more.
  terminal.resize(40, 10);
  ASSERT_TRUE(terminal.shows("\x1b[J"));
  ::usleep(300'000);
  terminal.forget();
  ASSERT_TRUE(terminal.shows("\x1b[J"));
  ASSERT_TRUE(terminal.shows("\x1b[J"));
  std::string frame = terminal.seen();
  std::size_t rows = 1;
  for (std::size_t at; (at = frame.find("\r\n")) != std::string::npos; ++rows) {
    std::string line = frame.substr(0, at);
    for (std::size_t escape; (escape = line.find('\x1b')) != std::string::npos;)
      line.erase(escape, line.find_first_of("HKmJ", escape) - escape + 1);
    std::erase(line, '\r');  // of the terminal
    EXPECT_LE(line.size(), 40u) << line;
    frame.erase(0, at + 2);
  }
  EXPECT_LE(rows, 10u);
  EXPECT_GT(rows, 4u);
  terminal.type("q");
  ASSERT_TRUE(terminal.shows(kLeft));
  ASSERT_TRUE(terminal.shows("ended 0"));
  EXPECT_TRUE(terminal.as_before());
}

TEST_F(ToolTop, SignalsGiveTheTerminalBack) {
  const struct {
    int signal;
    const char* ended;
  } kSignals[] = {{SIGINT, "ended 0"}, {SIGTERM, "ended 143"}, {SIGHUP, "ended 129"}};
  for (const auto& [signal, ended] : kSignals) {
    SCOPED_TRACE(signal);
    OnTerminal terminal(environment() + "'" OPENNRT_TOP "' --interval 0.1", 80, 24);
    ASSERT_TRUE(terminal.shows(kEntered));
    ASSERT_TRUE(terminal.shows("q quit"));
    EXPECT_TRUE(terminal.has_keys());
    ::kill(terminal.tool(), signal);
    ASSERT_TRUE(terminal.shows(kLeft));
    ASSERT_TRUE(terminal.shows(ended));
    EXPECT_TRUE(terminal.as_before());
  }
}

TEST_F(ToolTop, StoppedAndContinued) {
  OnTerminal terminal("set -m; " + environment() + "'" OPENNRT_TOP "' --interval 0.1; " +
                          "echo \"stopped $?\"; read line; fg >/dev/null",
                      80, 24);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(terminal.shows(kEntered));
    ASSERT_TRUE(terminal.shows("q quit"));
    EXPECT_TRUE(terminal.has_keys());
    if (round == 1) break;
    terminal.type("\x1a");  // ^Z
    ASSERT_TRUE(terminal.shows(kLeft));
    ASSERT_TRUE(terminal.shows("stopped 148"));
    EXPECT_TRUE(terminal.as_before());
    terminal.type("\n");
  }
  terminal.type("q");
  ASSERT_TRUE(terminal.shows("ended 0"));
}

// Without a shell that could let it go on it goes on by itself.
TEST_F(ToolTop, NobodyWouldContinueIt) {
  OnTerminal terminal(environment() + "'" OPENNRT_TOP "' --interval 0.1", 80, 24,
                      OnTerminal::As::kLeader);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(terminal.shows(kEntered));
    ASSERT_TRUE(terminal.shows("q quit"));
    if (round < 2) terminal.type("\x1a");  // ^Z
  }
  terminal.type("q");
  EXPECT_TRUE(terminal.shows(kLeft));
  EXPECT_EQ(terminal.ended(), 0);
}

TEST_F(ToolTop, ASampleThatNeverEnds) {
  const std::string line = environment(endless_root()) + "'" OPENNRT_TOP "' --interval 0.1";
  for (const bool key : {true, false}) {
    OnTerminal terminal(line, 80, 24, OnTerminal::As::kLeader);
    ASSERT_TRUE(terminal.shows(kEntered));
    if (key)
      terminal.type("xq");
    else
      terminal.type("\x03");  // ^C
    EXPECT_TRUE(terminal.shows(kLeft));
    EXPECT_EQ(terminal.ended(), 0);
  }
  OnTerminal terminal(line, 80, 24);
  ASSERT_TRUE(terminal.shows(kEntered));
  ::kill(terminal.tool(), SIGTERM);
  EXPECT_TRUE(terminal.shows(kLeft));
  EXPECT_TRUE(terminal.shows("ended 143"));
  EXPECT_TRUE(terminal.as_before());
}

TEST_F(ToolTop, ADaemonThatIsStopped) {
  client(2, 0);
  const std::string line = environment() + "'" OPENNRT_TOP "' --interval 0.1";
  OnTerminal terminal(line, 300, 24);
  ASSERT_TRUE(terminal.shows("1 processes"));
  const pid_t pid = stop_daemon();
  EXPECT_TRUE(terminal.shows(is_stopped(pid)));
  EXPECT_EQ(top("--once --interval 0.05"), 1);
  EXPECT_THAT(out_, HasSubstr(is_stopped(pid)));
  ::kill(pid, SIGCONT);
  EXPECT_TRUE(terminal.shows("1 processes"));
  terminal.type("q");
  EXPECT_TRUE(terminal.shows("ended 0"));
}

// A terminal that takes nothing: after ^S, and one that nobody reads.
TEST_F(ToolTop, ATerminalThatTakesNothing) {
  const std::string line = environment() + "'" OPENNRT_TOP "' --interval 0.05";
  {
    OnTerminal terminal(line, 80, 24);
    ASSERT_TRUE(terminal.shows("q quit"));
    terminal.type("\x13");  // ^S
    ::usleep(500'000);
    ::kill(terminal.tool(), SIGTERM);
    EXPECT_TRUE(terminal.shows(kLeft));
    EXPECT_TRUE(terminal.shows("ended 143"));
    EXPECT_TRUE(terminal.as_before());
  }
  OnTerminal terminal(line, 300, 100, OnTerminal::As::kLeader);
  ASSERT_TRUE(terminal.shows("q quit"));
  int before = -1;
  EXPECT_TRUE(soon([&] {
    ::usleep(300'000);
    return std::exchange(before, terminal.unread()) == terminal.unread();
  }));
  ::kill(terminal.pid(), SIGTERM);
  EXPECT_EQ(terminal.ended(), 1000 + SIGTERM);
}

TEST_F(ToolTop, RatesOfAPeriod) {
  client(3, 0);
  Program tool(environment() + "'" OPENNRT_TOP "' --json --interval 0.2", directory_ + "/top");
  ASSERT_TRUE(soon([&] { return !lines(tool.output()).empty(); })) << tool.errors();
  more(0);
  std::uint64_t sum = 0;
  ASSERT_TRUE(soon([&] {
    sum = 0;
    for (const std::string& line : lines(tool.output()))
      sum += parsed(line)["processes"].at(0)["executions"].get_uint64().value();
    return sum >= 3;
  }));
  EXPECT_EQ(sum, 3u);
  for (const std::string& line : lines(tool.output())) {
    const element sample = parsed(line);
    const auto process = sample["processes"].at(0);
    EXPECT_NEAR(process["executions_per_second"].get_double().value() *
                    sample["period"].get_double().value(),
                static_cast<double>(process["executions"].get_uint64().value()), 1e-6);
  }
}

TEST_F(ToolTop, ATerminalThatCannot) {
  OnTerminal terminal("TERM=dumb " + environment() + "'" OPENNRT_TOP "'", 80, 24);
  ASSERT_TRUE(terminal.shows("ended 1"));
  EXPECT_THAT(terminal.seen(), HasSubstr("use --batch"));
  EXPECT_THAT(terminal.seen(), Not(HasSubstr(kEntered)));
}

TEST_F(ToolTop, OutputThatFails) {
  EXPECT_EQ(run("sh -c \"'" OPENNRT_TOP "' --json --interval 0.05 | head -n 1 >/dev/null\""), 0);
  EXPECT_THAT(errors_, Not(HasSubstr("standard output")));
  EXPECT_EQ(run("sh -c \"'" OPENNRT_TOP "' --once --interval 0.05 >/dev/full\""), 1);
  EXPECT_THAT(errors_, HasSubstr("opennrt top: standard output: cannot write: No space left"));
}

TEST_F(ToolTop, Usage) {
  EXPECT_EQ(top("--help"), 0);
  EXPECT_THAT(out_, HasSubstr("usage: opennrt top"));
  for (const char* wrong : {"--nonsense", "word", "--interval 0", "--interval", "--batch 0",
                            "--batch x", "--sort colour"}) {
    EXPECT_EQ(top(wrong), 2) << wrong;
    EXPECT_THAT(errors_, HasSubstr("opennrt top: ")) << wrong;
  }
  EXPECT_EQ(top("--once", "NEURON_RT_EXEC_TIMEOUT=x"), 1);
  EXPECT_THAT(out_, HasSubstr("NEURON_RT_EXEC_TIMEOUT"));
}

}  // namespace
}  // namespace opennrt::test
