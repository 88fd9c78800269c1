// SPDX-License-Identifier: Apache-2.0
#include "log/line.h"

#include <array>
#include <chrono>

namespace opennrt::log {

namespace {

constexpr std::array<std::string_view, 6> kLevels = {"", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

}  // namespace

void append_line(fmt::memory_buffer& out, const LineHead& head, std::string_view text) {
  const std::chrono::sys_seconds time{std::chrono::seconds{head.seconds}};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  fmt::format_to(std::back_inserter(out),
                 "{:04}-{}-{:02} {:02}:{:02}:{:02}.{:06} {:>5}:{:<5} {:>5} {:>5}:{:<40} ",
                 static_cast<int>(date.year()), kMonths[static_cast<unsigned>(date.month()) - 1],
                 static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                 clock.seconds().count(), head.microseconds, head.pid, head.tid,
                 kLevels[static_cast<std::size_t>(head.level)], head.module.substr(0, 5),
                 head.function);
  for (char c : text) out.push_back(static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c);
}

}  // namespace opennrt::log
