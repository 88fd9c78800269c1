// SPDX-License-Identifier: Apache-2.0
//
// opennrt-conform, which `opennrt conform` runs: the interface rules, tried on a plugin.
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "command_line.h"
#include "opennrt/whole_file.hpp"
#include "runner/report.h"
#include "runner/run.h"

namespace opennrt::conform {
namespace {

using tools::Arguments;
using tools::CommandLine;
using tools::Option;
using tools::UsageError;

struct Options {
  Settings settings;
  std::string json, junit;  // "-": standard output
  bool list = false, rules = false, verbose = false;
};

CommandLine command_line() {
  return {
      {.command = "opennrt conform",
       .usage = "[options] PLUGIN.so",
       .header =
           "Tries the interface rules on a plugin: silicon family, driver layer or system port, by "
           "its query function. Each case runs in a process of its own with a time limit, so that "
           "a plugin that crashes, hangs, exits or leaves processes behind fails that case and no "
           "other. Driver layers and ports are tried on the software device. What a plugin does "
           "not offer is skipped and listed.",
       .footer =
           "Exit code: 0 no case failed, 1 a case failed or a report cannot be written, 2 wrong "
           "usage."},
      {Option("quick", "q", "the cases that take less than a minute together (default)"),
       Option("full", "f", "all cases, those under load and by chance, too"),
       Option("filter", "", "only cases whose name or rule fits one of the globs")
           .argument("GLOB[,GLOB]"),
       Option("time-limit", "", "of one case; default 20").argument("SECONDS"),
       Option("json", "", "the report for programs; - is standard output").argument("FILE"),
       Option("junit", "", "the report for test dashboards; - is standard output").argument("FILE"),
       Option("verbose", "v", "name the cases that passed, too"),
       Option("list", "l", "list the cases, run none"),
       Option("rules", "", "the interface rules as a table, without a plugin")}};
}

// A file of the name cannot hold both reports; a device like /dev/null takes them all.
bool same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto place = [&error](const fs::path& path) {
    const fs::path whole = fs::absolute(path, error);
    return fs::weakly_canonical(whole.parent_path(), error) / whole.filename();
  };
  return place(a) == place(b) && !fs::is_character_file(a, error);
}

Options options_of(const Arguments& arguments) {
  Options out;
  for (const auto& [name, value] : arguments.all) {
    if (name == "full") out.settings.full = true;
    if (name == "quick") out.settings.full = false;
    if (name == "filter") out.settings.filter = value;
    if (name == "time-limit")
      out.settings.time_limit_s = tools::seconds_of(name, value, 0.1, 86400);
    if (name == "json") out.json = value;
    if (name == "junit") out.junit = value;
    out.verbose |= name == "verbose";
    out.list |= name == "list";
    out.rules |= name == "rules";
  }
  if (!arguments.words.empty() || (!out.rules && !out.list))
    out.settings.plugin = arguments.only_word("PLUGIN.so");
  if (out.json == "-" && out.junit == "-")
    throw UsageError("--json and --junit both to standard output");
  if (!out.json.empty() && !out.junit.empty() && same_file(out.json, out.junit))
    throw UsageError("--json and --junit both to " + out.json);
  return out;
}

// While the temporary file of a report is there, the signals that end a program wait.
class Undisturbed {
 public:
  Undisturbed() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) sigaddset(&ending, signal);
    ::sigprocmask(SIG_BLOCK, &ending, &before_);
  }
  ~Undisturbed() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  sigset_t before_{};
};

// A report file, tried before the cases run so that a wrong name costs nothing. A regular
// one is not there before its text is; a pipe or a device stays open.
class ReportFile {
 public:
  bool open(const std::string& path) {
    path_ = path;
    if (path.empty() || path == "-") return true;
    struct stat info{};
    direct_ = ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
    if (direct_) return told(file_.create(path, WholeFile::Pipes::kAllow));
    const Undisturbed while_it_is_there;
    return told(WholeFile().create(path));
  }
  bool finish(const std::string& text) {
    if (path_.empty()) return true;
    if (path_ == "-") return std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (direct_) return told(write(file_, text));
    const Undisturbed while_it_is_there;
    WholeFile file;
    int error = file.create(path_);
    if (error == 0) error = write(file, text);
    return told(error);
  }

 private:
  static int write(WholeFile& file, const std::string& text) {
    const int error = file.write(text.data(), text.size());
    return error != 0 ? error : file.commit();
  }
  bool told(int error) const {
    if (error != 0)
      std::fprintf(stderr, "opennrt conform: %s: %s\n", path_.c_str(), std::strerror(error));
    return error == 0;
  }
  std::string path_;
  bool direct_ = false;
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
  // A filter that fits a plugin finds nothing in one that is none.
  if (report.cases.empty() && report.plugin.problem.empty()) {
    throw UsageError("no case fits --filter " + options.settings.filter);
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

// Settings of GoogleTest are meant for a test that runs this program, not for the cases.
void forget_test_settings() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name(*entry, std::strcspn(*entry, "="));
    if (name.starts_with("GTEST_") || name.starts_with("TESTBRIDGE_") ||
        name == "XML_OUTPUT_FILE" || name == "TEST_PREMATURE_EXIT_FILE")
      names.push_back(name);
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
}

int act(Options options) {
  options.settings.checks =
      std::filesystem::read_symlink("/proc/self/exe").replace_filename("opennrt-conform-checks");
  if (!options.rules) return options.list ? list_cases(options) : run_cases(options);
  std::fputs(rules_text().c_str(), stdout);
  return tools::kDone;
}

int run(const tools::Words& words) {
  return command_line().run(words,
                            [](const Arguments& arguments) { return act(options_of(arguments)); });
}

}  // namespace
}  // namespace opennrt::conform

int main(int argc, char** argv) {
  opennrt::conform::forget_test_settings();
  // Beyond the limit of file sizes a write is to fail, not to end the program.
  std::signal(SIGXFSZ, SIG_IGN);
  // Lines appear as their cases end.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return opennrt::tools::tool_main(argc, argv, opennrt::conform::run);
}
