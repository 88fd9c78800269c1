// SPDX-License-Identifier: Apache-2.0
#include "trace/host_sampler.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "trace/json.h"

namespace opennrt::trace {

namespace {

std::string cpu_name(const std::string& proc) {
  std::ifstream file(proc + "/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2, 255);
  }
  return {};
}

}  // namespace

std::vector<HostSampler::CpuTimes> HostSampler::read_times() const {
  std::vector<CpuTimes> out;
  std::ifstream file(proc_ + "/stat");
  for (std::string line; std::getline(file, line);) {
    // "cpu0 user nice system idle iowait ..."; the line "cpu " is their sum.
    if (!line.starts_with("cpu") || line.size() < 4 || line[3] == ' ') continue;
    std::istringstream words(line);
    std::string name;
    words >> name;
    CpuTimes times;
    std::uint64_t value = 0;
    for (int column = 0; column < 8 && words >> value; ++column) {
      times.total += value;
      if (column != 3 && column != 4) times.busy += value;
    }
    out.push_back(times);
  }
  return out;
}

// First field of statm: the whole program size, in pages.
std::uint64_t HostSampler::read_process_bytes() const {
  std::ifstream file(proc_ + "/self/statm");
  std::uint64_t pages = 0;
  file >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void HostSampler::sample(std::uint64_t time_ns) {
  if (samples_.size() >= kMostSamples) return;
  std::vector<CpuTimes> now = read_times();
  Sample out{.time_ns = time_ns, .process_bytes = read_process_bytes(), .utilization = {}};
  if (now.size() == last_.size()) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      const std::uint64_t total = now[i].total - last_[i].total;
      const std::uint64_t busy = now[i].busy - last_[i].busy;
      out.utilization.push_back(total == 0 ? 0.0f
                                           : static_cast<float>(busy) / static_cast<float>(total));
    }
  }
  last_ = std::move(now);
  samples_.push_back(std::move(out));
}

std::string HostSampler::cpu_json() const {
  std::string out = "{\"cpu_name\":";
  append_quoted(cpu_name(proc_), out);
  fmt::format_to(std::back_inserter(out), ",\"cpus\":{},\"samples\":[", last_.size());
  const char* comma = "";
  for (const Sample& s : samples_) {
    if (s.utilization.empty()) continue;
    fmt::format_to(std::back_inserter(out), "{}{{\"timestamp_ns\":{},\"utilization\":[", comma,
                   s.time_ns);
    comma = ",";
    for (std::size_t i = 0; i < s.utilization.size(); ++i)
      fmt::format_to(std::back_inserter(out), "{}{:.4f}", i == 0 ? "" : ",", s.utilization[i]);
    out += "]}";
  }
  return out + "]}\n";
}

std::string HostSampler::memory_json() const {
  struct sysinfo info{};
  const bool known = sysinfo(&info) == 0;
  std::string out =
      fmt::format("{{\"capacity_bytes\":{},\"samples\":[",
                  known ? static_cast<std::uint64_t>(info.totalram) * info.mem_unit : 0);
  const char* comma = "";
  for (const Sample& s : samples_) {
    fmt::format_to(std::back_inserter(out), "{}{{\"timestamp_ns\":{},\"process_bytes\":{}}}", comma,
                   s.time_ns, s.process_bytes);
    comma = ",";
  }
  return out + "]}\n";
}

}  // namespace opennrt::trace
