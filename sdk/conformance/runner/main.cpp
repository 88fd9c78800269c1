// SPDX-License-Identifier: Apache-2.0
//
// opennrt-conform, which `opennrt conform` runs: the interface rules, tried on a plugin.
#include <Poco/Util/HelpFormatter.h>
#include <Poco/Util/Option.h>
#include <Poco/Util/OptionException.h>
#include <Poco/Util/OptionProcessor.h>
#include <Poco/Util/OptionSet.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "opennrt/whole_file.hpp"
#include "runner/report.h"
#include "runner/run.h"

namespace opennrt::conform {
namespace {

struct Options {
  Settings settings;
  std::string json, junit;  // "-": standard output
  bool list = false, rules = false, verbose = false;
};

Poco::Util::OptionSet option_set() {
  using Poco::Util::Option;
  Poco::Util::OptionSet set;
  set.addOption(Option("help", "h", "print this text"));
  set.addOption(Option("quick", "q", "the cases that take less than a minute together (default)"));
  set.addOption(Option("full", "f", "all cases, those under load and by chance, too"));
  set.addOption(Option("filter", "", "only cases whose name or rule fits one of the globs")
                    .argument("GLOB[,GLOB]"));
  set.addOption(Option("time-limit", "", "of one case; default 20").argument("SECONDS"));
  set.addOption(
      Option("json", "", "the report for programs; - is standard output").argument("FILE"));
  set.addOption(
      Option("junit", "", "the report for test dashboards; - is standard output").argument("FILE"));
  set.addOption(Option("verbose", "v", "name the cases that passed, too"));
  set.addOption(Option("list", "l", "list the cases, run none"));
  set.addOption(Option("rules", "", "the interface rules as a table, without a plugin"));
  return set;
}

void usage(const Poco::Util::OptionSet& set, std::ostream& to) {
  Poco::Util::HelpFormatter help(set);
  help.setUnixStyle(true);
  help.setWidth(100);
  help.setCommand("opennrt conform");
  help.setUsage("[options] PLUGIN.so");
  help.setHeader(
      "Tries the interface rules on a plugin: silicon family, driver layer or system port, by its "
      "query function. Each case runs in a process of its own with a time limit, so that a plugin "
      "that crashes, hangs or exits fails that case and no other. Driver layers and ports are "
      "tried on the software device. What a plugin does not offer is skipped and listed.");
  help.setFooter(
      "Exit code: 0 no case failed, 1 a case failed or a report cannot be written, 2 "
      "wrong usage.");
  help.format(to);
}

double seconds_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0.1 && value <= 86400))
    throw Poco::Util::OptionException("time-limit: '" + text + "' is no number from 0.1 to 86400");
  return value;
}

// False: help was asked for. Throws OptionException.
bool parse(const std::vector<std::string>& words, const Poco::Util::OptionSet& set, Options* out) {
  Poco::Util::OptionProcessor processor(set);
  processor.setUnixStyle(true);
  for (const std::string& word : words) {
    std::string name, value;
    if (!processor.process(word, name, value)) {
      if (!out->settings.plugin.empty() || word.empty() || word[0] == '-')
        throw Poco::Util::UnknownOptionException(word);
      out->settings.plugin = word;
      continue;
    }
    if (name == "help") return false;
    if (name == "full") out->settings.full = true;
    if (name == "quick") out->settings.full = false;
    if (name == "filter") out->settings.filter = value;
    if (name == "time-limit") out->settings.time_limit_s = seconds_of(value);
    if (name == "json") out->json = value;
    if (name == "junit") out->junit = value;
    out->verbose |= name == "verbose";
    out->list |= name == "list";
    out->rules |= name == "rules";
  }
  processor.checkRequired();
  if (out->settings.plugin.empty() && !out->rules && !out->list)
    throw Poco::Util::MissingOptionException("name a plugin");
  if (out->json == "-" && out->junit == "-")
    throw Poco::Util::IncompatibleOptionsException("json and junit both to standard output");
  return true;
}

// A report file, opened before the cases run so that a wrong name costs nothing.
class ReportFile {
 public:
  bool open(const std::string& path) {
    path_ = path;
    return path.empty() || path == "-" || told(file_.create(path, WholeFile::Pipes::kAllow));
  }
  bool finish(const std::string& text) {
    if (path_.empty()) return true;
    if (path_ == "-") return std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    int error = file_.write(text.data(), text.size());
    if (error == 0) error = file_.commit();
    return told(error);
  }

 private:
  bool told(int error) const {
    if (error != 0)
      std::fprintf(stderr, "opennrt conform: %s: %s\n", path_.c_str(), std::strerror(error));
    return error == 0;
  }
  std::string path_;
  WholeFile file_;
};

int run_cases(const Options& options) {
  ReportFile json, junit;
  if (!json.open(options.json) || !junit.open(options.junit)) return 1;
  // A report on standard output has it to itself.
  std::FILE* const text = options.json == "-" || options.junit == "-" ? stderr : stdout;
  const Report report = run_all(options.settings, [&](const CaseResult& c) {
    if (is_bad(c.outcome)) {
      std::fputs(case_text(c).c_str(), text);
    } else if (options.verbose) {
      std::fprintf(text, "%s  %s%s%s\n", outcome_name(c.outcome), c.name.c_str(),
                   c.detail.empty() ? "" : ": ", c.detail.c_str());
    }
  });
  if (!report.problem.empty()) {
    std::fprintf(stderr, "opennrt conform: %s\n", report.problem.c_str());
    return 1;
  }
  if (report.cases.empty()) {
    std::fprintf(stderr, "opennrt conform: no case fits --filter %s\n",
                 options.settings.filter.c_str());
    return 2;
  }
  std::fputs(summary_text(report).c_str(), text);
  const bool json_written = json.finish(json_text(report));
  const bool junit_written = junit.finish(junit_text(report));
  return report.good() && json_written && junit_written ? 0 : 1;
}

int list_cases(const Options& options) {
  Settings settings = options.settings;
  PluginFacts plugin;
  std::string problem, text;
  if (!settings.plugin.empty()) {
    plugin = describe(settings, &problem);
    if (problem.empty()) problem = plugin.problem;
    text = list_text(plan(settings, plugin));
  } else {
    settings.full = true;
    std::vector<Planned> all;
    for (const Rule& rule : rules())
      for (const char* name : rule.cases) all.push_back({name, &rule, ""});
    text = list_text(all);
  }
  std::fputs(text.c_str(), stdout);
  if (!problem.empty()) std::fprintf(stderr, "opennrt conform: %s\n", problem.c_str());
  return problem.empty() ? 0 : 1;
}

int run(const std::vector<std::string>& words) {
  const Poco::Util::OptionSet set = option_set();
  Options options;
  try {
    if (!parse(words, set, &options)) {
      usage(set, std::cout);
      return std::cout.flush() ? 0 : 1;
    }
  } catch (const Poco::Exception& e) {
    std::fprintf(stderr, "opennrt conform: %s\n", e.displayText().c_str());
    usage(set, std::cerr);
    return 2;
  }
  options.settings.checks =
      std::filesystem::read_symlink("/proc/self/exe").replace_filename("opennrt-conform-checks");
  int code = 0;
  if (options.rules) {
    std::fputs(rules_text().c_str(), stdout);
  } else {
    code = options.list ? list_cases(options) : run_cases(options);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "opennrt conform: standard output: cannot write\n");
    return code == 0 ? 1 : code;
  }
  return code;
}

}  // namespace
}  // namespace opennrt::conform

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  // Meant for a test that runs this program, not for the cases.
  for (const char* name : {"GTEST_OUTPUT", "GTEST_FILTER", "GTEST_REPEAT", "GTEST_SHUFFLE",
                           "GTEST_TOTAL_SHARDS", "TESTBRIDGE_TEST_ONLY", "XML_OUTPUT_FILE"})
    unsetenv(name);
  // Lines appear as their cases end.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    return opennrt::conform::run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "opennrt conform: %s\n", e.what());
    return 1;
  }
}
