// SPDX-License-Identifier: Apache-2.0
//
// opennrt-monitor, which `opennrt monitor` runs: what the processes on the devices do,
// as JSON lines and for Prometheus.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "command_line.h"
#include "log/log.h"
#include "monitor/bell.h"
#include "monitor/endpoint.h"
#include "monitor/metrics.h"
#include "monitor/report.h"
#include "output.h"
#include "watch/period.h"
#include "watch/source.h"

namespace {

using namespace opennrt::tools;

// When a sample is too old to be told, the longer one: a device that does not answer
// is told before.
constexpr double kStalePeriods = 3, kStaleSeconds = 3;

struct Options {
  bool quiet = false;
  double period_s = 5;
  std::int64_t count = 0;  // 0: until it is ended
  std::optional<Poco::Net::SocketAddress> address;
};

CommandLine command_line() {
  return {
      {.command = "opennrt monitor",
       .usage = "[options]",
       .header =
           "Writes a JSON object a line: executions, errors, latencies, utilization and memory of "
           "the processes on the devices, as they count them in their data stores, and the load of "
           "the host. Names are those of neuron-monitor; what is not known is null, with a reason "
           "in `error`. Counts are of the period before the line. Starts no software device, keeps "
           "none, and holds no device. Metrics of a sample that is older than three periods are "
           "not served: opennrt_machine_up is 0 then.",
       .footer = "Exit code: 0 when it was told to end, also by a closed pipe or a signal; 1 when "
                 "standard output or the address fails, or settings are wrong."},
      {Option("period", "p", "time between two lines (default 5)").argument("SECONDS"),
       Option("count", "n", "end after so many lines").argument("N"),
       Option("json", "j", "JSON lines on standard output; so it is without, too"),
       Option("prometheus", "P",
              std::string("serve http://ADDR:PORT/metrics; without a value ") + kDefaultAddress +
                  ", with port 0 one that is free, which standard error tells")
           .argument("ADDR:PORT", false),
       Option("quiet", "q", "no lines on standard output; with --prometheus")}};
}

Poco::Net::SocketAddress address_of(const std::string& text) {
  Poco::Net::SocketAddress address;
  if (!parse_address(text.empty() ? kDefaultAddress : text, &address))
    bad_value("prometheus", text, "ADDR:PORT in numbers, for example 0.0.0.0:9464 or [::1]:9464");
  return address;
}

Options options_of(const Arguments& arguments) {
  Options out;
  bool may_follow = false;  // the value of --prometheus, as a word of its own
  for (const auto& [name, value] : arguments.all) {
    if (name.empty() && !may_follow) throw UsageError("unexpected argument " + value);
    if (name.empty() || name == "prometheus") out.address = address_of(value);
    may_follow = name == "prometheus" && value.empty();
    if (name == "quiet") out.quiet = true;
    if (name == "period") out.period_s = seconds_of(name, value, kShortestPeriod, kLongestPeriod);
    if (name == "count") out.count = number_of(name, value, 1);
  }
  if (out.quiet && !out.address) throw UsageError("--quiet without --prometheus shows nothing");
  return out;
}

// From then on the figures of a sample say nothing of now.
Page::Clock::time_point stale_from(const Sample& sample, double period_s) {
  const double age_s = std::max(kStalePeriods * period_s, kStaleSeconds);
  return Page::Clock::time_point(std::chrono::duration_cast<Page::Clock::duration>(
      std::chrono::duration<double>(sample.at_s + age_s)));
}

// The reason, once for each time that it changes.
void tell_reason(const Sample& sample, std::string* told) {
  std::string reason = sample.machine.reason;
  if (!sample.error.empty()) reason += (reason.empty() ? "" : "; ") + sample.error;
  if (reason == *told) return;
  if (!reason.empty()) std::fprintf(stderr, "opennrt monitor: %s\n", reason.c_str());
  *told = std::move(reason);
}

int watch(const Options& options, Surroundings& here) {
  Bell bell;
  Page page;
  std::unique_ptr<Endpoint> endpoint;
  Source source(here);
  std::string told;
  Sample before = source.take();
  tell_reason(before, &told);
  if (options.address) {
    page.set(metrics_of(before, figures_of(nullptr, before)), stale_metrics_of(before),
             stale_from(before, options.period_s));
    try {
      endpoint = std::make_unique<Endpoint>(*options.address, page);
    } catch (const std::system_error& e) {
      std::fprintf(stderr, "opennrt monitor: %s cannot be served: %s\n",
                   options.address->toString().c_str(), e.code().message().c_str());
      return 1;
    }
    std::fprintf(stderr, "opennrt monitor: serves http://%s/metrics\n",
                 endpoint->address().toString().c_str());
  }
  double next_s = before.at_s;
  for (std::int64_t line = 0; options.count == 0 || line < options.count; ++line) {
    // What was missed, while the machine slept, is not made up for.
    next_s = std::max(next_s, before.at_s - options.period_s) + options.period_s;
    if (!bell.sleep_until(next_s)) return 0;
    Sample now = source.take();
    const PeriodFigures figures = figures_of(&before, now);
    tell_reason(now, &told);
    if (endpoint)
      page.set(metrics_of(now, figures), stale_metrics_of(now), stale_from(now, options.period_s));
    if (!options.quiet) {
      const Written written = print_now(report_of(now, figures) + "\n");
      if (written != Written::kYes) return written == Written::kReaderGone ? 0 : 1;
    }
    before = std::move(now);
  }
  return 0;
}

int start(const Options& options) {
  Surroundings here;
  if (!here.loaded().status.is_ok()) {
    std::fprintf(stderr, "opennrt monitor: %s\n",
                 std::string(here.loaded().status.message()).c_str());
    return 1;
  }
  return watch(options, here);
}

int run(const Words& words) {
  return command_line().run(
      words, [](const Arguments& arguments) { return start(options_of(arguments)); });
}

}  // namespace

int main(int argc, char** argv) {
  opennrt::log::set_level(opennrt::log::Level::kDisabled);
  return tool_main(argc, argv, run);
}
