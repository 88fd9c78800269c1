// SPDX-License-Identifier: Apache-2.0
//
// opennrt-top, which `opennrt top` runs: devices, cores, processes and models, live.
#include <Poco/Util/HelpFormatter.h>
#include <Poco/Util/Option.h>
#include <Poco/Util/OptionException.h>
#include <Poco/Util/OptionProcessor.h>
#include <Poco/Util/OptionSet.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "log/log.h"
#include "top/screen.h"
#include "top/terminal.h"
#include "watch/output.h"
#include "watch/source.h"

namespace {

using namespace opennrt::tools;

struct Options {
  bool help = false, json = false;
  double interval_s = 1;
  unsigned long batch = 0;  // samples; 0: on the terminal, or without an end
  Sort sort = Sort::kExecutions;
};

Poco::Util::OptionSet option_set() {
  using Poco::Util::Option;
  Poco::Util::OptionSet set;
  set.addOption(Option("help", "h", "print this text"));
  set.addOption(
      Option("interval", "i", "time between two samples (default 1)").argument("SECONDS"));
  set.addOption(
      Option("sort", "s", "processes by executions, pid, memory or utilization").argument("KEY"));
  set.addOption(Option("once", "1", "one sample as plain text; so it is without a terminal, too"));
  set.addOption(Option("batch", "b", "so many samples as plain text").argument("N"));
  set.addOption(
      Option("json", "j", "one JSON object a line, until it is ended or --once, --batch"));
  return set;
}

void usage(const Poco::Util::OptionSet& set, std::ostream& to) {
  Poco::Util::HelpFormatter help(set);
  help.setUnixStyle(true);
  help.setWidth(100);
  help.setCommand("opennrt top");
  help.setUsage("[options]");
  help.setHeader(
      "Shows devices, the load of their cores, the processes on them with their executions, errors "
      "and memory, and the models they have loaded, as processes count them in their data stores. "
      "Starts no software device, keeps none, and holds no device. Keys: q ends, s sorts by "
      "something else, p stops and goes on. LAST is the latency of the last execution, DEVICE "
      "and HOST are memory, CPU% is of all CPUs of the host; a load counts where an execution "
      "ends.");
  help.setFooter(
      "Exit code: 0, also when a closed pipe ends it; 1 when devices should be there and are not, "
      "settings are wrong, or standard output fails.");
  help.format(to);
}

void bad(const std::string& option, const std::string& value, const std::string& wanted) {
  throw Poco::Util::InvalidArgumentException("--" + option + " " + value + ": must be " + wanted);
}

Sort parse_sort(const std::string& text) {
  for (std::size_t i = 0; i < std::size(kSortNames); ++i)
    if (text == kSortNames[i]) return static_cast<Sort>(i);
  bad("sort", text, "executions, pid, memory or utilization");
  return {};
}

Options parse(const std::vector<std::string>& words, const Poco::Util::OptionSet& set) {
  Options out;
  Poco::Util::OptionProcessor processor(set);
  processor.setUnixStyle(true);
  for (const std::string& word : words) {
    std::string name, value;
    if (!processor.process(word, name, value)) throw Poco::Util::UnknownOptionException(word);
    if (name == "help") out.help = true;
    if (name == "json") out.json = true;
    if (name == "once") out.batch = 1;
    if (name == "interval" && !parse_seconds(value, &out.interval_s))
      bad(name, value, "0.05 to 86400 seconds");
    if (name == "batch" && !parse_count(value, &out.batch)) bad(name, value, "1 or more");
    if (name == "sort") out.sort = parse_sort(value);
  }
  processor.checkRequired();  // an option whose value never came
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
  for (unsigned long n = 0; options.batch == 0 || n < options.batch; ++n) {
    if (!alone) sleep_until(before.at_s + options.interval_s);
    Sample now = source.take();
    const PeriodFigures figures = figures_of(&before, now);
    std::string text = options.json ? json_of(now, figures) : text_of(now, figures, options.sort);
    if (options.json || n + 1 != options.batch) text += "\n";
    const Written written = write_out("top", text);
    if (written != Written::kYes) return written == Written::kReaderGone ? 0 : 1;
    const bool good = now.machine.good && now.error.empty();
    before = std::move(now);
    if (alone || n + 1 == options.batch) return good ? 0 : 1;
  }
  return 0;
}

// Returns the signal that ended it; 0: q, or the terminal is gone.
int live(const Options& options, Surroundings& here, Terminal& terminal) {
  Source source(here);
  std::optional<Sample> before;
  Sample now = source.take();
  PeriodFigures figures = figures_of(nullptr, now);
  Look look{.sort = options.sort, .interval_s = options.interval_s};
  for (;;) {
    terminal.size(&look.columns, &look.rows);
    if (!terminal.draw(screen_of(now, figures, look))) return 0;
    char key = 0;
    switch (terminal.wait(now.at_s + (look.paused ? kLongestPeriod : options.interval_s), &key)) {
      case Terminal::Event::kEnd:
        return terminal.ending();
      case Terminal::Event::kKey:
        if (key == 'q' || key == 'Q') return 0;
        if (key == 's' || key == 'S') look.sort = next(look.sort);
        if (key == 'p' || key == 'P') look.paused = !look.paused;
        break;
      case Terminal::Event::kTime:
        if (look.paused) break;
        before = std::move(now);
        now = source.take();
        figures = figures_of(&*before, now);
        break;
      case Terminal::Event::kResized:
        break;
    }
  }
}

int run(const std::vector<std::string>& words) {
  const Poco::Util::OptionSet set = option_set();
  Options options;
  try {
    options = parse(words, set);
  } catch (const Poco::Util::OptionException& e) {
    std::fprintf(stderr, "opennrt top: %s\n", e.displayText().c_str());
    usage(set, std::cerr);
    return 2;
  }
  if (options.help) {
    usage(set, std::cout);
    return 0;
  }
  Surroundings here;
  const bool terminal_asked = options.batch == 0 && !options.json;
  if (!terminal_asked || ::isatty(STDOUT_FILENO) != 1 || hopeless(here)) {
    if (terminal_asked) options.batch = 1;
    return batch(options, here);
  }
  int signal = 0;
  {
    Terminal terminal;
    if (!terminal.ok()) {
      std::fprintf(stderr, "opennrt top: %s\n", terminal.error().c_str());
      return 1;
    }
    signal = live(options, here, terminal);
  }
  if (signal == 0 || signal == SIGINT) return 0;
  // Ends by it, now that the terminal is as it was.
  std::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(signal);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  opennrt::log::set_level(opennrt::log::Level::kDisabled);
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "opennrt top: %s\n", e.what());
    return 1;
  }
}
