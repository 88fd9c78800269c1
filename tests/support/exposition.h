// SPDX-License-Identifier: Apache-2.0
//
// A strict reader of the Prometheus text format 0.0.4: what a scraper accepts, and
// that each family is announced once, before its samples, which are all different.
#pragma once

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace opennrt::test {

struct Exposition {
  std::map<std::string, std::string> types;  // by family
  // "name{a="x",b="y"}" with labels by name and escapes resolved.
  std::map<std::string, double> samples;
  std::string error;  // of the first line that is wrong

  double at(const std::string& name) const {
    const auto found = samples.find(name);
    return found == samples.end() ? -1 : found->second;
  }
  // Sum over the samples of a family with all of these labels ("pid=\"7\"").
  double sum(const std::string& family, const std::set<std::string>& labels = {}) const {
    double total = 0;
    for (const auto& [name, value] : samples) {
      if (name != family && !name.starts_with(family + "{")) continue;
      bool all = true;
      for (const std::string& label : labels)
        all &= name.find("{" + label) != name.npos || name.find("," + label) != name.npos;
      if (all) total += value;
    }
    return total;
  }
};

namespace exposition_detail {

inline bool name_char(char c, bool first, bool colon) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colon && c == ':') ||
         (!first && c >= '0' && c <= '9');
}

inline std::string take_name(std::string_view* line, bool colon) {
  std::size_t n = 0;
  while (n < line->size() && name_char((*line)[n], n == 0, colon)) ++n;
  const std::string out(line->substr(0, n));
  line->remove_prefix(n);
  return out;
}

inline bool take(std::string_view* line, std::string_view word) {
  if (!line->starts_with(word)) return false;
  line->remove_prefix(word.size());
  return true;
}

inline bool take_value(std::string_view* line, std::string* out) {
  while (!line->empty() && line->front() != '"') {
    char c = line->front();
    line->remove_prefix(1);
    if (c == '\\') {
      if (line->empty()) return false;
      c = line->front();
      line->remove_prefix(1);
      if (c == 'n')
        c = '\n';
      else if (c != '\\' && c != '"')
        return false;
    }
    *out += c;
  }
  return take(line, "\"");
}

inline bool read_sample(std::string_view line, Exposition* out) {
  const std::string name = take_name(&line, true);
  if (name.empty() || out->types.count(name) == 0) return false;
  std::map<std::string, std::string> labels;
  if (take(&line, "{")) {
    do {
      const std::string label = take_name(&line, false);
      std::string value;
      if (label.empty() || label.starts_with("__") || !take(&line, "=\"") ||
          !take_value(&line, &value) || !labels.emplace(label, value).second)
        return false;
    } while (take(&line, ","));
    if (!take(&line, "}")) return false;
  }
  if (!take(&line, " ")) return false;
  const std::string number(line);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0' || number.find_first_of(" \txX") != number.npos) return false;
  if (out->types[name] == "counter" && !(value >= 0)) return false;
  std::string key = name;
  const char* separator = "{";
  for (const auto& [label, text] : labels) {
    key += separator + label + "=\"" + text + "\"";
    separator = ",";
  }
  if (!labels.empty()) key += "}";
  return out->samples.emplace(key, value).second;
}

}  // namespace exposition_detail

inline Exposition parse_exposition(std::string_view text) {
  using namespace exposition_detail;
  Exposition out;
  if (!text.empty() && text.back() != '\n') out.error = "the last line has no end";
  std::string helped, current;
  while (!text.empty() && out.error.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const std::string whole(line);
    bool good = false;
    if (take(&line, "# HELP ")) {
      helped = take_name(&line, true);
      good = !helped.empty() && take(&line, " ") && !line.empty() && out.types.count(helped) == 0;
    } else if (take(&line, "# TYPE ")) {
      const std::string name = take_name(&line, true);
      good = name == helped && take(&line, " ") && (line == "counter" || line == "gauge") &&
             out.types.emplace(name, line).second;
      current = name;
    } else {
      std::string_view copy = line;
      good = take_name(&copy, true) == current && read_sample(line, &out);
    }
    if (!good) out.error = whole;
  }
  return out;
}

}  // namespace opennrt::test
