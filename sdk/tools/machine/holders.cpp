// SPDX-License-Identifier: Apache-2.0
#include "machine/holders.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "output.h"
#include "remote/channel.h"

namespace opennrt::tools {

namespace fs = std::filesystem;

Holder holder_of(long pid, const std::string& command) {
  Holder out{.pid = pid, .command = command, .state = {}};
  const std::string directory = "/proc/" + std::to_string(pid);
  std::ifstream stat(directory + "/stat");
  std::string text;
  std::getline(stat, text);
  if (const std::size_t end = text.rfind(") "); end != text.npos && end + 2 < text.size()) {
    if (text[end + 2] == 'T') out.state = ", stopped";
    if (text[end + 2] == 'Z') out.state = ", ended and not waited for";
  }
  if (out.command.empty()) {
    std::ifstream line(directory + "/cmdline");
    std::getline(line, out.command, '\0');
  }
  timespec now{};
  const std::uint64_t ticks = emu::remote::process_start_time(static_cast<pid_t>(pid));
  if (ticks != 0 && ::clock_gettime(CLOCK_BOOTTIME, &now) == 0)
    out.running_s =
        std::max(0.0, static_cast<double>(now.tv_sec) -
                          static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK)));
  return out;
}

std::string described(const Holder& holder) {
  std::string text =
      "pid " + std::to_string(holder.pid) + " (" + printable(holder.command) + ")" + holder.state;
  if (holder.running_s >= 0)
    text += ", running for " + std::to_string(static_cast<long>(holder.running_s)) + " s";
  return text;
}

std::vector<long> openers(const std::string& file) {
  std::vector<long> out;
  std::error_code code;
  for (const fs::directory_entry& process : fs::directory_iterator("/proc", code)) {
    const std::string name = process.path().filename();
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) == 0) continue;
    const long pid = std::strtol(name.c_str(), nullptr, 10);
    if (pid == ::getpid()) continue;
    std::error_code gone;
    for (const fs::directory_entry& one : fs::directory_iterator(process.path() / "fd", gone)) {
      std::error_code closed;
      if (fs::read_symlink(one.path(), closed) != file) continue;
      out.push_back(pid);
      break;
    }
  }
  return out;
}

}  // namespace opennrt::tools
