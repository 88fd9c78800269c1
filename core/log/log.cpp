// SPDX-License-Identifier: Apache-2.0
#include "log/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>

namespace opennrt::log {

namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Module::kCount)> kTags = {
    "NRT", "NMGR", "TDRV", "HAL", "NDL", "NEFF", "PLUG", "EMU", "CONF", "NLOG"};
constexpr std::array<std::string_view, 6> kLevels = {"", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"};
constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct ModuleLevel {
  std::atomic<int> value{static_cast<int>(Level::kError)};
};
constinit std::array<ModuleLevel, static_cast<std::size_t>(Module::kCount)> g_levels{};

// Never destroyed: lines may still come while the process exits.
spdlog::logger& logger() {
  static spdlog::logger* instance = [] {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    auto* l = new spdlog::logger("opennrt", sink);
    l->set_level(spdlog::level::trace);
    l->set_pattern("%v");
    return l;
  }();
  return *instance;
}

}  // namespace

std::string_view module_tag(Module module) { return kTags[static_cast<std::size_t>(module)]; }

void set_level(Module module, Level level) noexcept {
  g_levels[static_cast<std::size_t>(module)].value.store(static_cast<int>(level),
                                                         std::memory_order_relaxed);
}

void set_level(Level level) noexcept {
  for (auto& l : g_levels) l.value.store(static_cast<int>(level), std::memory_order_relaxed);
}

bool enabled(Module module, Level level) noexcept {
  return static_cast<int>(level) <=
         g_levels[static_cast<std::size_t>(module)].value.load(std::memory_order_relaxed);
}

void write(Module module, Level level, std::string_view function, std::string_view text) noexcept {
  try {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    tm local{};
    localtime_r(&now.tv_sec, &local);
    fmt::memory_buffer line;
    fmt::format_to(std::back_inserter(line),
                   "{:04}-{}-{:02} {:02}:{:02}:{:02}.{:06} {:>5}:{:<5} {:>5} {:>5}:{:<40} {}",
                   local.tm_year + 1900, kMonths[static_cast<std::size_t>(local.tm_mon)],
                   local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec, now.tv_nsec / 1000,
                   getpid(), syscall(SYS_gettid), kLevels[static_cast<std::size_t>(level)],
                   module_tag(module), function, text);
    const auto spd_level = level == Level::kError  ? spdlog::level::err
                           : level == Level::kWarn ? spdlog::level::warn
                                                   : spdlog::level::info;
    logger().log(spd_level, std::string_view(line.data(), line.size()));
  } catch (...) {  // a line that cannot be written is lost, the caller goes on
  }
}

}  // namespace opennrt::log
