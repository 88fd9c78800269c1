// SPDX-License-Identifier: Apache-2.0
//
// opennrt-top, which `opennrt top` runs: devices, cores, processes and models, live.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "log/log.h"
#include "output.h"
#include "top/sampler.h"
#include "top/screen.h"
#include "top/terminal.h"
#include "watch/period.h"
#include "watch/source.h"

namespace {

using namespace opennrt::tools;

constexpr double kNever = 1e9;  // seconds
constexpr std::chrono::milliseconds kEndPatience{200};

struct Options {
  bool json = false;
  double interval_s = 1;
  std::int64_t batch = 0;  // samples; 0: on the terminal, or without an end
  Sort sort = Sort::kExecutions;
};

CommandLine command_line() {
  return {
      {.command = "opennrt top",
       .usage = "[options]",
       .header =
           "Shows devices, the load of their cores, the processes on them with their executions, "
           "errors and memory, and the models they have loaded, as processes count them in their "
           "data stores. Starts no software device, keeps none, and holds no device. Keys: q ends, "
           "s sorts by something else, p stops and goes on. LAST is the latency of the last "
           "execution, DEVICE and HOST are memory, CPU% is of all CPUs of the host; a load counts "
           "where an execution ends.",
       .footer =
           "Exit code: 0, also when a closed pipe ends it; 1 when devices should be there and are "
           "not, settings are wrong, or standard output fails."},
      {Option("interval", "i", "time between two samples (default 1)").argument("SECONDS"),
       Option("sort", "s", "processes by executions, pid, memory or utilization").argument("KEY"),
       Option("once", "1", "one sample as plain text; so it is without a terminal, too"),
       Option("batch", "b", "so many samples as plain text").argument("N"),
       Option("json", "j", "one JSON object a line, until it is ended or --once, --batch")}};
}

Sort parse_sort(const std::string& text) {
  for (std::size_t i = 0; i < std::size(kSortNames); ++i)
    if (text == kSortNames[i]) return static_cast<Sort>(i);
  bad_value("sort", text, "executions, pid, memory or utilization");
}

Options options_of(const Arguments& arguments) {
  arguments.want_words(0, 0);
  Options out;
  for (const auto& [name, value] : arguments.all) {
    if (name == "json") out.json = true;
    if (name == "once") out.batch = 1;
    if (name == "interval")
      out.interval_s = seconds_of(name, value, kShortestPeriod, kLongestPeriod);
    if (name == "batch") out.batch = number_of(name, value, 1);
    if (name == "sort") out.sort = parse_sort(value);
  }
  return out;
}

void sleep_until(double at_s) {
  const timespec at{
      static_cast<time_t>(at_s),
      static_cast<long>((at_s - static_cast<double>(static_cast<time_t>(at_s))) * 1e9)};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
  }
}

// Nothing comes by waiting: processes have devices of their own, or settings are wrong.
bool hopeless(const Surroundings& here) {
  return !here.loaded().status.is_ok() || !(here.on_kernel() || here.shared_machine());
}

int batch(const Options& options, Surroundings& here) {
  Source source(here);
  Sample before = source.take();
  const bool alone = hopeless(here);
  for (std::int64_t n = 0; options.batch == 0 || n < options.batch; ++n) {
    if (!alone) sleep_until(before.at_s + options.interval_s);
    Sample now = source.take();
    const PeriodFigures figures = figures_of(&before, now);
    std::string text = options.json ? json_of(now, figures) : text_of(now, figures, options.sort);
    if (options.json || n + 1 != options.batch) text += "\n";
    const Written written = print_now(text);
    if (written != Written::kYes) return written == Written::kReaderGone ? 0 : 1;
    const bool good = now.machine.good && now.error.empty();
    before = std::move(now);
    if (alone || n + 1 == options.batch) return good ? 0 : 1;
  }
  return 0;
}

// Returns the signal that ended it; 0: q, or the terminal is gone.
int live(const Options& options, Sampler& sampler, Terminal& terminal) {
  std::optional<Sample> now;
  PeriodFigures figures;
  Look look{.sort = options.sort, .interval_s = options.interval_s};
  bool asked = true;
  sampler.ask();
  for (;;) {
    terminal.size(&look.columns, &look.rows);
    if (now && !terminal.draw(screen_of(*now, figures, look))) return 0;
    const bool waits = asked || look.paused;
    char key = 0;
    switch (terminal.wait((now ? now->at_s : 0) + (waits ? kNever : options.interval_s),
                          sampler.ready(), &key)) {
      case Terminal::Event::kEnd:
        return terminal.ending();
      case Terminal::Event::kKey:
        if (key == 'q' || key == 'Q') return 0;
        if (key == 's' || key == 'S') look.sort = next(look.sort);
        if (key == 'p' || key == 'P') look.paused = !look.paused;
        break;
      case Terminal::Event::kTime:
        if (waits) break;
        asked = true;
        sampler.ask();
        break;
      case Terminal::Event::kReady:
        if (std::optional<Sample> next = sampler.take()) {
          asked = false;
          figures = figures_of(now ? &*now : nullptr, *next);
          now = std::move(next);
        }
        break;
      case Terminal::Event::kResized:
        break;
    }
  }
}

int show(Options options) {
  Surroundings here;
  const bool terminal_asked = options.batch == 0 && !options.json;
  if (!terminal_asked || ::isatty(STDOUT_FILENO) != 1 || hopeless(here)) {
    if (terminal_asked) options.batch = 1;
    return batch(options, here);
  }
  Sampler sampler(here);
  int signal = 0;
  {
    Terminal terminal;
    if (!terminal.ok()) {
      std::fprintf(stderr, "opennrt top: %s\n", terminal.error().c_str());
      return 1;
    }
    signal = live(options, sampler, terminal);
  }
  if (signal == 0 || signal == SIGINT) {
    // Nobody waits for a sample that nobody will see.
    if (!sampler.idle_within(kEndPatience)) ::_exit(0);
    return 0;
  }
  // Ends by it, now that the terminal is as it was.
  std::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(signal);
  return 1;
}

int run(const Words& words) {
  return command_line().run(words,
                            [](const Arguments& arguments) { return show(options_of(arguments)); });
}

}  // namespace

int main(int argc, char** argv) {
  opennrt::log::set_level(opennrt::log::Level::kDisabled);
  return tool_main(argc, argv, run);
}
