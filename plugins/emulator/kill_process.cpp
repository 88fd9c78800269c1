// SPDX-License-Identifier: Apache-2.0
#include "kill_process.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace opennrt::emu {

namespace {

// Field 22 of /proc/<pid>/stat; 0: it cannot be read. The name in field 2 may
// hold anything, so fields count from its end.
std::uint64_t start_time(std::uint32_t pid) {
  std::FILE* file = std::fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "re");
  if (!file) return 0;
  char text[1024];
  const std::size_t n = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[n] = '\0';
  const char* at = std::strrchr(text, ')');
  unsigned long long start = 0;
  for (int field = 2; at && field < 22; ++field) at = std::strchr(at + 1, ' ');
  return at && std::sscanf(at, "%llu", &start) == 1 ? start : 0;
}

}  // namespace

bool kill_process(const Client& client) {
  // 0 and negative numbers are groups, 1 is everybody's parent.
  if (client.pid <= 1 || client.pid > INT32_MAX) return false;
  // The descriptor names one process for good, so that the check holds until the
  // signal is sent.
  const int process = static_cast<int>(syscall(SYS_pidfd_open, client.pid, 0));
  if (process < 0) return false;
  const bool same = client.start_time != 0 && start_time(client.pid) == client.start_time;
  const bool sent = same && syscall(SYS_pidfd_send_signal, process, SIGKILL, nullptr, 0) == 0;
  ::close(process);
  return sent;
}

}  // namespace opennrt::emu
