// SPDX-License-Identifier: Apache-2.0
#include "runner/run.h"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "runner/child.h"

namespace opennrt::conform {

namespace {

bool offers(const PluginFacts& plugin, std::string_view what) {
  return std::find(plugin.offers.begin(), plugin.offers.end(), what) != plugin.offers.end();
}

bool matches(const std::string& filter, const char* name, const Rule& rule) {
  if (filter.empty()) return true;
  for (std::size_t at = 0; at <= filter.size();) {
    const std::size_t end = std::min(filter.find(',', at), filter.size());
    const std::string glob = filter.substr(at, end - at);
    if (::fnmatch(glob.c_str(), name, 0) == 0 || ::fnmatch(glob.c_str(), rule.id, 0) == 0)
      return true;
    at = end + 1;
  }
  return false;
}

// The case that a plugin without a table fails; the others have nothing to look at.
constexpr std::string_view kOpens = "Load.OpensAndDescribesItself";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// "file.cpp:3: Failed\nreason\n..." -> "reason", "file.cpp:3: Expected ..." -> "Expected ...".
std::string gist(const std::string& failure) {
  const std::size_t place = failure.find(": ");
  std::string text = place == failure.npos ? failure : failure.substr(place + 2);
  if (text.starts_with("Failed\n")) text.erase(0, 7);
  return first_line(text);
}

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

std::string left_text(const Child& child) {
  std::string out = "left " + std::to_string(child.left) +
                    (child.left == 1 ? " process" : " processes") + " behind";
  if (child.staying > 0) out += ", of which " + std::to_string(child.staying) + " cannot be ended";
  return out;
}

// How the process of a case ended, in terms of the case.
void judge(const Child& child, double limit_s, CaseResult* out) {
  out->seconds = child.seconds;
  out->failures = child.all("failure");
  out->output = child.output;
  const std::string end = child.last("end");
  const std::string where = end.empty() ? "" : " after the case";
  const std::string forged =
      child.forged ? "; other lines than those of the case came on descriptor 3" : "";
  switch (child.end) {
    case Child::End::kNotStarted:
      out->outcome = Outcome::kFailed;
      out->detail = child.problem;
      return;
    case Child::End::kUnwatched:
      out->outcome = Outcome::kCrashed;
      out->detail = child.problem + where;
      break;
    case Child::End::kTimeLimit:
      out->outcome = Outcome::kHung;
      out->detail = "did not end in " + number_text(limit_s) + " s" + where;
      break;
    case Child::End::kSignal:
      out->outcome = Outcome::kCrashed;
      out->detail = signal_text(child.code) + where;
      break;
    case Child::End::kExited:
      if (end.empty() || (end != "failed" && child.code != 0)) {
        out->outcome = Outcome::kExited;
        out->detail = "the process exited with code " + std::to_string(child.code) +
                      (end.empty() ? " in the case" : where) + forged;
      } else if (end == "failed") {
        out->outcome = Outcome::kFailed;
        out->detail = out->failures.empty() ? "failed" : gist(out->failures.front());
      } else if (end == "skipped") {
        out->outcome = Outcome::kSkipped;
        out->detail = first_line(child.last("skipped"));
      } else {
        out->outcome = Outcome::kPassed;
      }
  }
  // One whose time is over had no chance to end what it started.
  if (child.left > 0 && child.end != Child::End::kTimeLimit) {
    const std::string left = left_text(child);
    out->failures.push_back(left);
    out->detail = is_bad(out->outcome) ? out->detail + "; " + left : left;
    if (!is_bad(out->outcome)) out->outcome = Outcome::kFailed;
  }
  if (is_bad(out->outcome)) out->at = child.last("at");
  if (!is_bad(out->outcome)) out->output.clear();
}

}  // namespace

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "passed";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kCrashed:
      return "crashed";
    case Outcome::kHung:
      return "hung";
    case Outcome::kExited:
      return "exited";
    case Outcome::kSkipped:
      break;
  }
  return "skipped";
}

std::size_t Report::count(Outcome outcome) const {
  return static_cast<std::size_t>(std::count_if(
      cases.begin(), cases.end(), [&](const CaseResult& c) { return c.outcome == outcome; }));
}

bool Report::good() const {
  return problem.empty() && plugin.problem.empty() &&
         std::none_of(cases.begin(), cases.end(),
                      [](const CaseResult& c) { return is_bad(c.outcome); });
}

PluginFacts describe(const Settings& settings, std::string* problem) {
  PluginFacts out;
  out.path = settings.plugin;
  // Its cases start there, and a relative path of the plugin is read there.
  std::error_code error;
  if (std::filesystem::current_path(error).empty()) {
    *problem = "the working directory cannot be used: " + error.message() + "; change to another";
    return out;
  }
  const Child child = run_child({settings.checks, "--describe", "--plugin=" + settings.plugin},
                                settings.time_limit_s);
  if (child.end == Child::End::kNotStarted) {
    *problem = child.problem;
    return out;
  }
  out.kind = child.last("kind");
  out.name = child.last("name");
  out.abi = child.last("abi");
  out.build = child.last("build");
  out.arch_type = child.last("arch_type");
  out.offers = child.all("has");
  out.problem = child.last("problem");
  if (child.last("end") != "passed") {
    CaseResult ended;
    judge(child, settings.time_limit_s, &ended);
    const std::string at = child.last("at");
    out.problem = ended.detail + (at.empty() ? "" : " while " + at);
  }
  return out;
}

std::vector<Planned> plan(const Settings& settings, const PluginFacts& plugin) {
  std::vector<Planned> out;
  for (const Rule& rule : rules()) {
    if (std::string_view(rule.kind) != "any" && plugin.kind != rule.kind) continue;
    if (!settings.full && !rule.quick) continue;
    for (const char* name : rule.cases) {
      if (!matches(settings.filter, name, rule)) continue;
      Planned item{name, &rule, ""};
      if (!plugin.problem.empty() && std::string_view(name) != kOpens) {
        item.not_run = "not run: there is no table to look at";
      } else if (*rule.needs != '\0' && !offers(plugin, rule.needs)) {
        item.not_run = std::string("not offered: ") + rule.needs;
      }
      out.push_back(item);
    }
  }
  return out;
}

Report run_all(const Settings& settings, const std::function<void(const CaseResult&)>& done) {
  const auto start = std::chrono::steady_clock::now();
  Report report;
  report.full = settings.full;
  report.time_limit_s = settings.time_limit_s;
  report.plugin = describe(settings, &report.problem);
  if (!report.problem.empty()) return report;
  for (const Planned& item : plan(settings, report.plugin)) {
    CaseResult result;
    result.name = item.name;
    result.rule = item.rule;
    result.detail = item.not_run;
    if (item.not_run.empty())
      judge(run_child({settings.checks, std::string("--case=") + item.name,
                       "--plugin=" + settings.plugin, "--gtest_brief=1"},
                      settings.time_limit_s),
            settings.time_limit_s, &result);
    done(result);
    report.cases.push_back(std::move(result));
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace opennrt::conform
