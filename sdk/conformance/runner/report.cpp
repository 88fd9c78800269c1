// SPDX-License-Identifier: Apache-2.0
#include "runner/report.h"

#include <simdjson.h>

#include <cstdio>
#include <map>
#include <string_view>

#include "json_text.h"

namespace opennrt::conform {

namespace {

using tools::json_string;

constexpr Outcome kOutcomes[] = {Outcome::kPassed, Outcome::kFailed, Outcome::kCrashed,
                                 Outcome::kHung,   Outcome::kExited, Outcome::kSkipped};

std::string seconds_text(double seconds) {
  char out[32];
  std::snprintf(out, sizeof out, "%.3f", seconds);
  return out;
}

std::string indented(const std::string& text, const char* by) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += by + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

// Text that an XML parser takes: no control characters, valid UTF-8, and neither of
// U+FFFE and U+FFFF.
std::string xml(std::string_view text) {
  const bool valid = simdjson::validate_utf8(text.data(), text.size());
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\n') {
      out += "&#10;";
    } else if ((byte < 0x20 && c != '\t') || byte == 0x7F || (byte >= 0x80 && !valid)) {
      out += '?';
    } else if (const std::string_view three = text.substr(i, 3);
               three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {
      out += '?';
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

std::string json_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? ", " : "") + json_string(text);
  return out + "]";
}

// All that is known of a case that did not pass.
std::string full_text(const CaseResult& c) {
  std::string out = "rule " + std::string(c.rule->id) + ": " + c.rule->must +
                    "\notherwise: " + c.rule->consequence + "\n";
  if (c.failures.empty()) out += c.detail + "\n";
  for (const std::string& failure : c.failures) out += failure + "\n";
  if (!c.at.empty()) out += "at: " + c.at + "\n";
  if (!c.output.empty()) out += "output:\n" + c.output;
  return out;
}

}  // namespace

std::string case_text(const CaseResult& c) {
  std::string out = std::string(outcome_name(c.outcome)) + "  " + c.name + ": " + c.detail;
  if (!c.at.empty()) out += " (" + c.at + ")";
  out += "\n  rule " + std::string(c.rule->id) + ": " + c.rule->must + "\n";
  // Of a case that failed in many places the first ones say it.
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < c.failures.size() && i < kShown; ++i)
    out += indented(c.failures[i], "  | ");
  if (c.failures.size() > kShown)
    out += "  | and " + std::to_string(c.failures.size() - kShown) + " more failures\n";
  if (c.outcome != Outcome::kFailed && !c.output.empty()) {
    constexpr std::size_t kTail = 2000;
    out += indented(c.output.size() > kTail ? c.output.substr(c.output.size() - kTail) : c.output,
                    "  > ");
  }
  return out;
}

std::string summary_text(const Report& report) {
  std::map<std::string, std::size_t> reasons;
  for (const CaseResult& c : report.cases)
    if (c.outcome == Outcome::kSkipped) ++reasons[c.detail];
  std::string out;
  for (const auto& [reason, n] : reasons)
    out += "skipped  " + reason + " (" + std::to_string(n) + ")\n";
  if (!report.plugin.problem.empty()) out += "plugin   " + report.plugin.problem + "\n";
  for (const Outcome outcome : kOutcomes)
    out += std::to_string(report.count(outcome)) + " " + outcome_name(outcome) +
           (outcome == Outcome::kSkipped ? "" : ", ");
  char time[64];
  std::snprintf(time, sizeof time, " in %.1f s\n", report.seconds);
  return out + time;
}

std::string json_text(const Report& r) {
  const PluginFacts& p = r.plugin;
  std::string out = "{\"plugin\": {\"path\": " + json_string(p.path) +
                    ", \"kind\": " + json_string(p.kind) + ", \"name\": " + json_string(p.name) +
                    ", \"abi\": " + json_string(p.abi) + ", \"build\": " + json_string(p.build) +
                    ", \"arch_type\": " + (p.arch_type.empty() ? "null" : p.arch_type) +
                    ", \"offers\": " + json_list(p.offers) +
                    ", \"problem\": " + json_string(p.problem) + "},\n \"list\": \"" +
                    (r.full ? "full" : "quick") +
                    "\", \"time_limit_s\": " + seconds_text(r.time_limit_s) +
                    ", \"seconds\": " + seconds_text(r.seconds) + ",\n ";
  for (const Outcome outcome : kOutcomes)
    out += std::string("\"") + outcome_name(outcome) + "\": " + std::to_string(r.count(outcome)) +
           ", ";
  out += "\n \"cases\": [";
  const char* separator = "\n  ";
  for (const CaseResult& c : r.cases) {
    out += separator;
    separator = ",\n  ";
    out += "{\"name\": " + json_string(c.name) + ", \"rule\": " + json_string(c.rule->id) +
           ", \"must\": " + json_string(c.rule->must) + ", \"status\": \"" +
           outcome_name(c.outcome) + "\", \"seconds\": " + seconds_text(c.seconds) +
           ", \"detail\": " + json_string(c.detail) + ", \"at\": " + json_string(c.at) +
           ", \"failures\": " + json_list(c.failures) + ", \"output\": " + json_string(c.output) +
           "}";
  }
  return out + "]}\n";
}

std::string junit_text(const Report& r) {
  const std::size_t failed = r.count(Outcome::kFailed);
  const std::size_t ended =
      r.count(Outcome::kCrashed) + r.count(Outcome::kHung) + r.count(Outcome::kExited);
  const std::string counts = " tests=\"" + std::to_string(r.cases.size()) + "\" failures=\"" +
                             std::to_string(failed) + "\" errors=\"" + std::to_string(ended) +
                             "\" skipped=\"" + std::to_string(r.count(Outcome::kSkipped)) +
                             "\" time=\"" + seconds_text(r.seconds) + "\"";
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts +
                    ">\n <testsuite name=\"opennrt-conform " +
                    xml(r.plugin.name.empty() ? r.plugin.path : r.plugin.name) + "\"" + counts +
                    ">\n";
  for (const CaseResult& c : r.cases) {
    const std::size_t dot = c.name.find('.');
    out += "  <testcase classname=\"" + xml(c.name.substr(0, dot)) + "\" name=\"" +
           xml(c.name.substr(dot + 1)) + "\" time=\"" + seconds_text(c.seconds) + "\"";
    if (c.outcome == Outcome::kPassed) {
      out += "/>\n";
    } else if (c.outcome == Outcome::kSkipped) {
      out += "><skipped message=\"" + xml(c.detail) + "\"/></testcase>\n";
    } else {
      const char* element = c.outcome == Outcome::kFailed ? "failure" : "error";
      out += std::string("><") + element + " type=\"" + outcome_name(c.outcome) + "\" message=\"" +
             xml(c.detail) + "\">" + xml(full_text(c)) + "</" + element + "></testcase>\n";
    }
  }
  return out + " </testsuite>\n</testsuites>\n";
}

std::string rules_text() {
  std::string out =
      "| Rule | Must | Otherwise | Enforced by | List | Tests |\n|---|---|---|---|---|---|\n";
  for (const Rule& rule : rules()) {
    out += "| `" + std::string(rule.id) + "`";
    if (*rule.needs != '\0') out += std::string(" (") + rule.needs + ")";
    out += std::string(" | ") + rule.must + " | " + rule.consequence + " | " + rule.enforced_by +
           " | " + (rule.quick ? "quick" : "full") + " | ";
    for (const char* const& name : rule.cases)
      out += std::string(&name == rule.cases.data() ? "`" : ", `") + name + "`";
    out += " |\n";
  }
  return out;
}

std::string list_text(const std::vector<Planned>& cases) {
  std::string out;
  for (const Planned& c : cases) {
    out += std::string(c.name) + "  " + c.rule->id + "  " + (c.rule->quick ? "quick" : "full");
    if (*c.rule->needs != '\0') out += std::string("  ") + c.rule->needs;
    if (!c.not_run.empty()) out += "  (" + c.not_run + ")";
    out += "\n";
  }
  return out;
}

}  // namespace opennrt::conform
