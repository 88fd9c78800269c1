// SPDX-License-Identifier: Apache-2.0
//
// Runs the scenes, each in a process of its own, and makes the table of function
// and status.
//
//   api_status_table [--check] [--tsv] [--verbose] [--scene TEXT]
//
// The table goes to stdout, problems to stderr. --check fails when a call came to
// another status than the specification says, a scene crashed or hung, a function
// has no success, no call in some state or with some pointer NULL, or a documented
// status was reached by nobody and is not listed with a reason.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "table.h"

namespace opennrt::status_table {
namespace {

constexpr int kAtOnce = 3;
constexpr std::chrono::seconds kLimit{120};

struct Running {
  const Scene* scene = nullptr;
  pid_t pid = -1;
  int pipe = -1;
  std::string text, last;
  std::chrono::steady_clock::time_point end;
};

struct Reached {
  std::size_t calls = 0;
  std::string how;  // of the first one
};

struct Table {
  std::map<std::string, std::map<int, Reached>> rows;
  std::map<std::string, std::set<std::string>> conditions;  // by function
  std::map<std::string, std::set<int>> nulls;               // parameters
  std::vector<std::string> problems;

  void problem(const std::string& text) { problems.push_back(text); }

  void add(const std::string& scene, const std::string& line) {
    std::vector<std::string> part;
    std::istringstream in(line);
    for (std::string p; std::getline(in, p, '\t');) part.push_back(p);
    if (part.size() == 2 && part[0] == "need") problem(scene + ": cannot go on without " + part[1]);
    if (part.size() != 6 || part[0] != "row") return;
    const std::string &function = part[1], &how = part[5];
    const int got = std::atoi(part[4].c_str());
    std::vector<int> want;
    std::istringstream wanted(part[3]);
    for (std::string w; std::getline(wanted, w, ',');) want.push_back(std::atoi(w.c_str()));
    Reached& reached = rows[function][got];
    if (reached.calls++ == 0) reached.how = how;
    conditions[function].insert(how);
    if (part[2] != "-") nulls[function].insert(std::atoi(part[2].c_str()));
    if (std::find(want.begin(), want.end(), got) != want.end()) return;
    std::string text = function + ", " + how + ": " + outcome_name(got) + ", must be";
    for (const int w : want) text += " " + outcome_name(w);
    problem(text + " [" + scene + "]");
  }
};

Running begin(const Scene& scene, bool verbose) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  Running r;
  r.scene = &scene;
  r.end = std::chrono::steady_clock::now() + kLimit;
  r.pid = fork();
  if (r.pid == 0) {
    setpgid(0, 0);
    if (!verbose) {
      const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
      dup2(null, 2);
      dup2(null, 1);
    }
    Report report(ends[1]);
    scene.run(report);
    _exit(0);
  }
  close(ends[1]);
  r.pipe = ends[0];
  return r;
}

void take_lines(Running& r, Table& table) {
  for (std::size_t n; (n = r.text.find('\n')) != std::string::npos; r.text.erase(0, n + 1)) {
    const std::string line = r.text.substr(0, n);
    table.add(r.scene->name, line);
    r.last = line;
  }
}

void end(Running& r, Table& table, bool late) {
  if (late) kill(-r.pid, SIGKILL);
  int status = 0;
  waitpid(r.pid, &status, 0);
  close(r.pipe);
  std::replace(r.last.begin(), r.last.end(), '\t', ' ');
  const std::string where = std::string(r.scene->name) + " after '" + r.last + "'";
  if (late)
    table.problem("scene did not end in time: " + where);
  else if (WIFSIGNALED(status))
    table.problem("scene died of signal " + std::to_string(WTERMSIG(status)) + ": " + where);
  else if (WEXITSTATUS(status) != 0)
    table.problem("scene ended with " + std::to_string(WEXITSTATUS(status)) + ": " + where);
}

void run(const std::vector<Scene>& scenes, bool verbose, Table& table) {
  std::vector<Running> running;
  auto next = scenes.begin();
  while (next != scenes.end() || !running.empty()) {
    while (next != scenes.end() && running.size() < kAtOnce)
      running.push_back(begin(*next++, verbose));
    std::vector<pollfd> fds;
    for (const Running& r : running) fds.push_back({.fd = r.pipe, .events = POLLIN, .revents = 0});
    poll(fds.data(), fds.size(), 1000);
    const auto now = std::chrono::steady_clock::now();
    for (std::size_t i = fds.size(); i-- > 0;) {
      Running& r = running[i];
      bool over = now >= r.end;
      if (fds[i].revents != 0) {
        char buffer[4096];
        const ssize_t n = read(r.pipe, buffer, sizeof buffer);
        if (n > 0) r.text.append(buffer, static_cast<std::size_t>(n));
        take_lines(r, table);
        if (n <= 0) {
          end(r, table, false);
          running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
          continue;
        }
      }
      if (!over) continue;
      end(r, table, true);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

bool is_listed(const std::string& function, int status) {
  const auto all = unreached();
  return std::any_of(all.begin(), all.end(), [&](const Unreached& u) {
    return function == u.function && status == u.status;
  });
}

bool reached(const Table& table, const std::string& function, int status) {
  const auto found = table.rows.find(function);
  if (found == table.rows.end()) return false;
  if (found->second.contains(status)) return true;
  // Functions without a status succeed otherwise.
  return status == NRT_SUCCESS &&
         (found->second.contains(kDone) || found->second.contains(kAnswer));
}

bool is_pointer(const std::string& type) {
  return type.find('*') != std::string::npos || type == "NRT_ASYNC_EXEC_STATUS_CALLBACK";
}

// Exported functions of the golden table: names and parameter types.
std::map<std::string, std::vector<std::string>> exported(const YAML::Node& golden) {
  std::map<std::string, std::vector<std::string>> all;
  for (const char* const list : {"functions", "later_functions"})
    for (const YAML::Node& f : golden[list])
      if (!f["node"].IsNull())
        all[f["name"].as<std::string>()] = f["params"].as<std::vector<std::string>>();
  return all;
}

void check_guards(Table& table) {
  const char* const folder = std::getenv("OPENNRT_SPEC");
  const std::string path =
      std::string(folder != nullptr ? folder : OPENNRT_DEFAULT_SPEC) + "/nrt-abi.yaml";
  if (!std::filesystem::exists(path)) return;
  std::map<std::string, std::string> probed;
  for (const Probe& p : all_probes()) probed[p.function] = guard_name(p.guard);
  const YAML::Node spec = YAML::LoadFile(path);
  for (const YAML::Node& f : spec["functions"]) {
    const auto found = probed.find(f["name"].as<std::string>());
    if (found == probed.end()) continue;
    std::string guard = f["guard"].as<std::string>();
    if (guard == "trivial") guard = "none";
    if (guard != found->second)
      table.problem(found->first + ": guard is " + found->second + ", described as " + guard);
  }
}

void check(Table& table, const YAML::Node& golden) {
  for (const auto& [name, parameters] : exported(golden)) {
    if (!reached(table, name, NRT_SUCCESS) && !is_listed(name, NRT_SUCCESS))
      table.problem(name + ": no success");
    for (const char* const state : kStates)
      if (!table.conditions[name].contains(state))
        table.problem(name + ": not called in the condition " + state);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (is_pointer(parameters[i]) && !table.nulls[name].contains(static_cast<int>(i)))
        table.problem(name + ": parameter " + std::to_string(i) + " (" + parameters[i] +
                      ") was never NULL");
  }
  for (const Documented& d : documented())
    for (const int status : d.statuses)
      if (!reached(table, d.function, status) && !is_listed(d.function, status))
        table.problem(std::string(d.function) + ": " + outcome_name(status) +
                      " is documented and was not reached");
  check_guards(table);
}

// Statuses of the ABI, and how many were reached; problems for the others.
std::pair<std::size_t, std::size_t> count_statuses(Table& table, const YAML::Node& golden) {
  std::set<int> all, out;
  for (const auto& value : golden["enums"]["NRT_STATUS"]) all.insert(value.second.as<int>());
  for (const auto& [function, statuses] : table.rows)
    for (const auto& [status, reached_by] : statuses)
      if (all.contains(status)) out.insert(status);
  for (const Unreached& u : unreached_statuses())
    if (!out.contains(u.status)) all.erase(u.status);
  for (const int status : all)
    if (!out.contains(status)) table.problem(outcome_name(status) + ": reached by no function");
  return {out.size(), all.size()};
}

void print(const Table& table, bool tsv) {
  if (!tsv) std::printf("| Function | Reached | Calls | For example |\n|---|---|---|---|\n");
  for (const auto& [function, statuses] : table.rows)
    for (const auto& [status, r] : statuses)
      std::printf(tsv ? "%s\t%s\t%zu\t%s\n" : "| `%s` | %s | %zu | %s |\n", function.c_str(),
                  outcome_name(status).c_str(), r.calls, r.how.c_str());
}

void print_unreached(const Table& table) {
  for (const auto& list : {unreached(), unreached_statuses()})
    for (const Unreached& u : list) {
      const bool now = u.function[0] != '\0' && reached(table, u.function, u.status);
      std::printf("not reached: %s%s%s (%s)%s\n", u.function, u.function[0] != '\0' ? " " : "",
                  outcome_name(u.status).c_str(), u.reason, now ? "; it is reached now" : "");
    }
}

void set_environment() {
  setenv("OPENNRT_DEVICE", "fault", 1);
  setenv("OPENNRT_PLUGIN_PATH", OPENNRT_FAULT_DIR, 1);
  setenv("OPENNRT_FAULT_TARGET", OPENNRT_EMULATOR_LIBRARY, 1);
  setenv("OPENNRT_EMULATOR_PRODUCT", "trn1.2xlarge", 1);
  setenv("NEURON_RT_ASYNC_SENDRECV_EXPERIMENTAL_ENABLED", "1", 1);
  setenv("NEURON_RT_ASYNC_SENDRECV_BOOTSTRAP_PORT", "41001", 1);
  for (const char* const name : {"NEURON_RT_VISIBLE_CORES", "NEURON_RT_NUM_CORES",
                                 "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS"})
    unsetenv(name);
}

int main_of(int argc, char** argv) {
  bool checks = false, tsv = false, verbose = false;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--check") == 0)
      checks = true;
    else if (std::strcmp(argv[i], "--tsv") == 0)
      tsv = true;
    else if (std::strcmp(argv[i], "--verbose") == 0)
      verbose = true;
    else if (std::strcmp(argv[i], "--scene") == 0 && i + 1 < argc)
      only = argv[++i];
    else {
      std::fprintf(stderr, "usage: %s [--check] [--tsv] [--verbose] [--scene TEXT]\n", argv[0]);
      return 2;
    }
  }
  set_environment();
  std::vector<Scene> scenes;
  const auto add = [&](std::span<const Scene> group) {
    for (const Scene& s : group)
      if (std::strstr(s.name, only.c_str()) != nullptr) scenes.push_back(s);
  };
  add(sendrecv_scenes());  // the longest first
#define OPENNRT_ADD_GROUP(name) \
  if (std::strcmp(#name, "sendrecv") != 0) add(name##_scenes());
  OPENNRT_STATUS_GROUPS(OPENNRT_ADD_GROUP)
#undef OPENNRT_ADD_GROUP
  add(state_scenes());
  Table table;
  run(scenes, verbose, table);
  const YAML::Node golden = YAML::LoadFile(OPENNRT_GOLDEN);
  const auto [reached_statuses, statuses] = count_statuses(table, golden);
  if (only.empty()) check(table, golden);
  std::size_t pairs = 0;
  for (const auto& [function, outcomes] : table.rows) pairs += outcomes.size();
  print(table, tsv);
  print_unreached(table);
  std::fflush(stdout);
  for (const std::string& p : table.problems) std::fprintf(stderr, "%s\n", p.c_str());
  std::printf("%zu functions, %zu function x status pairs, %zu of %zu reachable statuses\n",
              table.rows.size(), pairs, reached_statuses, statuses);
  return checks && !table.problems.empty() ? 1 : 0;
}

}  // namespace
}  // namespace opennrt::status_table

int main(int argc, char** argv) {
  try {
    return opennrt::status_table::main_of(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
