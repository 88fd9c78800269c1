// SPDX-License-Identifier: Apache-2.0
#include "neff/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace opennrt::neff {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

// "max", an unreadable file and an unset v1 limit all mean: no limit.
std::uint64_t read_limit(const std::string& file) {
  std::ifstream in(file);
  std::string text;
  if (!(in >> text)) return kNone;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : kNone;
}

// The limits of a group and of every group above it.
std::uint64_t group_limit(const std::string& root, std::string group, const char* file) {
  std::uint64_t limit = kNone;
  while (true) {
    limit = std::min(limit, read_limit(root + group + "/" + file));
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos || group.empty()) return limit;
    group.resize(slash);
  }
}

std::uint64_t cgroup_limit() {
  std::uint64_t limit = kNone;
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty())  // version 2
      limit = std::min(limit, group_limit("/sys/fs/cgroup", group, "memory.max"));
    else if (controllers.find("memory") != std::string_view::npos)
      limit = std::min(limit, group_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
  }
  return limit;
}

}  // namespace

std::uint64_t memory_limit_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGE_SIZE);
  const std::uint64_t ram =
      pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)
                            : kNone;
  return std::min(ram, cgroup_limit());
}

}  // namespace opennrt::neff
