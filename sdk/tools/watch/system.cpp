// SPDX-License-Identifier: Apache-2.0
#include "watch/system.h"

#include <fstream>
#include <sstream>

namespace opennrt::tools {

namespace {

constexpr std::size_t kMostCommand = 200, kMostStat = 4096;

std::optional<CpuTicks> ticks_of(std::istringstream& words) {
  CpuTicks t;
  if (!(words >> t.user >> t.nice >> t.system >> t.idle >> t.io_wait >> t.irq >> t.soft_irq))
    return std::nullopt;
  words >> t.steal;
  return t;
}

void read_ticks(const std::string& proc, SystemSample* out) {
  std::ifstream in(proc + "/stat");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "cpu") {
      out->all = ticks_of(words);
    } else if (name.starts_with("cpu")) {
      if (const auto ticks = ticks_of(words)) out->cpus.push_back(*ticks);
    } else if (std::uint64_t count = 0; name == "ctxt" && words >> count) {
      out->context_switches = count;
    }
  }
}

void read_memory(const std::string& proc, SystemSample* out) {
  std::ifstream in(proc + "/meminfo");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kib = 0;
    if (!(words >> name >> kib)) continue;
    const std::uint64_t bytes = kib * 1024;
    if (name == "MemTotal:") out->memory_total = bytes;
    if (name == "MemAvailable:") out->memory_available = bytes;
    if (name == "SwapTotal:") out->swap_total = bytes;
    if (name == "SwapFree:") out->swap_free = bytes;
  }
}

}  // namespace

SystemSample read_system(const std::string& proc) {
  SystemSample out;
  read_ticks(proc, &out);
  read_memory(proc, &out);
  return out;
}

std::optional<ProcessTicks> read_process(long pid, const std::string& proc) {
  std::ifstream in(proc + "/" + std::to_string(pid) + "/stat");
  // Should it end now, reading fails; read() says so without an exception.
  std::string text(kMostStat, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  // The name in between may hold anything.
  const std::size_t end = text.rfind(')');
  if (end == text.npos) return std::nullopt;
  std::istringstream words(text.substr(end + 1));
  constexpr int kFirst = 3, kUser = 14, kSystem = 15, kStarted = 22;  // proc(5)
  ProcessTicks out;
  std::string word;
  for (int field = kFirst; field <= kStarted; ++field) {
    if (field == kUser) {
      words >> out.user;
    } else if (field == kSystem) {
      words >> out.system;
    } else if (field == kStarted) {
      words >> out.started;
    } else {
      words >> word;
      if (field == kFirst && (word == "Z" || word == "X")) return std::nullopt;
    }
  }
  return words ? std::optional(out) : std::nullopt;
}

std::string command_line(long pid, const std::string& proc) {
  for (const char* file : {"cmdline", "comm"}) {
    std::ifstream in(proc + "/" + std::to_string(pid) + "/" + file);
    std::string text(kMostCommand, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    for (char& c : text)
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
    text.erase(text.find_last_not_of(' ') + 1);
    if (!text.empty()) return text;
  }
  return "(ended)";
}

}  // namespace opennrt::tools
