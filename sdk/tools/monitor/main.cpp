// SPDX-License-Identifier: Apache-2.0
//
// opennrt-monitor, which `opennrt monitor` runs: what the processes on the devices do,
// as JSON lines and for Prometheus.
#include <Poco/Exception.h>
#include <Poco/Util/HelpFormatter.h>
#include <Poco/Util/Option.h>
#include <Poco/Util/OptionException.h>
#include <Poco/Util/OptionProcessor.h>
#include <Poco/Util/OptionSet.h>
#include <signal.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "log/log.h"
#include "monitor/endpoint.h"
#include "monitor/metrics.h"
#include "monitor/report.h"
#include "watch/output.h"
#include "watch/source.h"

namespace {

using namespace opennrt::tools;

struct Options {
  bool help = false, quiet = false;
  double period_s = 5;
  unsigned long count = 0;  // 0: until it is ended
  std::optional<Poco::Net::SocketAddress> address;
};

Poco::Util::OptionSet option_set() {
  using Poco::Util::Option;
  Poco::Util::OptionSet set;
  set.addOption(Option("help", "h", "print this text"));
  set.addOption(Option("period", "p", "time between two lines (default 5)").argument("SECONDS"));
  set.addOption(Option("count", "n", "end after so many lines").argument("N"));
  set.addOption(Option("json", "j", "JSON lines on standard output; so it is without, too"));
  set.addOption(Option("prometheus", "P",
                       std::string("serve http://ADDR:PORT/metrics; without a value ") +
                           kDefaultAddress +
                           ", with port 0 one that is free, which standard error tells")
                    .argument("ADDR:PORT", false));
  set.addOption(Option("quiet", "q", "no lines on standard output; with --prometheus"));
  return set;
}

void usage(const Poco::Util::OptionSet& set, std::ostream& to) {
  Poco::Util::HelpFormatter help(set);
  help.setUnixStyle(true);
  help.setWidth(100);
  help.setCommand("opennrt monitor");
  help.setUsage("[options]");
  help.setHeader(
      "Writes a JSON object a line: executions, errors, latencies, utilization and memory of the "
      "processes on the devices, as they count them in their data stores, and the load of the "
      "host. Names are those of neuron-monitor; what is not known is null, with a reason in "
      "`error`. Counts are of the period before the line. Starts no software device, keeps none, "
      "and holds no device.");
  help.setFooter(
      "Exit code: 0 when it was told to end, also by a closed pipe or a signal; 1 when standard "
      "output or the address fails, or settings are wrong.");
  help.format(to);
}

void bad(const std::string& option, const std::string& value, const std::string& wanted) {
  throw Poco::Util::InvalidArgumentException("--" + option + " " + value + ": must be " + wanted);
}

Options parse(const std::vector<std::string>& words, const Poco::Util::OptionSet& set) {
  Options out;
  Poco::Util::OptionProcessor processor(set);
  processor.setUnixStyle(true);
  bool may_follow = false;  // the value of --prometheus, as a word of its own
  for (const std::string& word : words) {
    std::string name, value;
    if (!processor.process(word, name, value)) {
      if (!may_follow) throw Poco::Util::UnknownOptionException(word);
      name = "prometheus";
      value = word;
    }
    if (name.empty()) continue;  // its value comes
    may_follow = name == "prometheus" && value.empty();
    if (name == "help") out.help = true;
    if (name == "quiet") out.quiet = true;
    if (name == "period" && !parse_seconds(value, &out.period_s))
      bad(name, value, "0.05 to 86400 seconds");
    if (name == "count" && !parse_count(value, &out.count)) bad(name, value, "1 or more");
    if (name == "prometheus") {
      Poco::Net::SocketAddress address;
      if (!parse_address(value.empty() ? kDefaultAddress : value, &address))
        bad(name, value, "ADDR:PORT in numbers, for example 0.0.0.0:9464 or [::1]:9464");
      out.address = address;
    }
  }
  processor.checkRequired();
  if (out.quiet && !out.address && !out.help)
    throw Poco::Util::InvalidArgumentException("--quiet without --prometheus shows nothing");
  return out;
}

// Sleeps, or hears that it is to end.
class Bell {
 public:
  Bell() {
    sigemptyset(&signals_);
    for (const int s : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, s);
    // Threads that are made later do not take them.
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  // False: a signal came.
  bool sleep_until(double at_s) const {
    for (;;) {
      timespec now{};
      clock_gettime(CLOCK_MONOTONIC, &now);
      const double left =
          at_s - static_cast<double>(now.tv_sec) - static_cast<double>(now.tv_nsec) * 1e-9;
      const double wait_s = left > 0 ? left : 0;
      const timespec wait{
          static_cast<time_t>(wait_s),
          static_cast<long>((wait_s - static_cast<double>(static_cast<time_t>(wait_s))) * 1e9)};
      if (sigtimedwait(&signals_, nullptr, &wait) >= 0) return false;
      if (left <= 0) return true;
    }
  }

 private:
  sigset_t signals_{};
};

// The reason, once for each time that it changes.
void tell_reason(const Sample& sample, std::string* told) {
  std::string reason = sample.machine.reason;
  if (!sample.error.empty()) reason += (reason.empty() ? "" : "; ") + sample.error;
  if (reason == *told) return;
  if (!reason.empty()) std::fprintf(stderr, "opennrt monitor: %s\n", reason.c_str());
  *told = std::move(reason);
}

int watch(const Options& options, Surroundings& here) {
  const Bell bell;
  Page page;
  std::unique_ptr<Endpoint> endpoint;
  Source source(here);
  std::string told;
  Sample before = source.take();
  tell_reason(before, &told);
  if (options.address) {
    page.set(metrics_of(before, figures_of(nullptr, before)));
    try {
      endpoint = std::make_unique<Endpoint>(*options.address, page);
    } catch (const Poco::Exception& e) {
      std::fprintf(stderr, "opennrt monitor: %s cannot be served: %s\n",
                   options.address->toString().c_str(), e.displayText().c_str());
      return 1;
    }
    std::fprintf(stderr, "opennrt monitor: serves http://%s/metrics\n",
                 endpoint->address().toString().c_str());
  }
  double next_s = before.at_s;
  for (unsigned long line = 0; options.count == 0 || line < options.count; ++line) {
    // What was missed, while the machine slept, is not made up for.
    next_s = std::max(next_s, before.at_s - options.period_s) + options.period_s;
    if (!bell.sleep_until(next_s)) return 0;
    Sample now = source.take();
    const PeriodFigures figures = figures_of(&before, now);
    tell_reason(now, &told);
    if (endpoint) page.set(metrics_of(now, figures));
    if (!options.quiet) {
      const Written written = write_out("monitor", report_of(now, figures) + "\n");
      if (written != Written::kYes) return written == Written::kReaderGone ? 0 : 1;
    }
    before = std::move(now);
  }
  return 0;
}

int run(const std::vector<std::string>& words) {
  const Poco::Util::OptionSet set = option_set();
  Options options;
  try {
    options = parse(words, set);
  } catch (const Poco::Util::OptionException& e) {
    std::fprintf(stderr, "opennrt monitor: %s\n", e.displayText().c_str());
    usage(set, std::cerr);
    return 2;
  }
  if (options.help) {
    usage(set, std::cout);
    return 0;
  }
  Surroundings here;
  if (!here.loaded().status.is_ok()) {
    std::fprintf(stderr, "opennrt monitor: %s\n",
                 std::string(here.loaded().status.message()).c_str());
    return 1;
  }
  return watch(options, here);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  opennrt::log::set_level(opennrt::log::Level::kDisabled);
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "opennrt monitor: %s\n", e.what());
    return 1;
  }
}
