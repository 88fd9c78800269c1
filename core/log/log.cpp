// SPDX-License-Identifier: Apache-2.0
#include "log/log.h"

#include <spdlog/logger.h>
#include <strings.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

#include "log/context.h"
#include "log/hold_back.h"
#include "log/kernel_log.h"
#include "log/line.h"
#include "log/ring.h"
#include "log/sink.h"

namespace opennrt::log {

namespace {

constexpr std::array<std::string_view, kModules> kTags = {"NRT",  "NMGR", "TDRV", "HAL",  "NDL",
                                                          "NEFF", "PLUG", "EMU",  "CONF", "NLOG"};

struct ModuleState {
  std::atomic<int> level{static_cast<int>(Level::kError)};
  std::atomic<bool> console{true}, syslog{false};
};
constinit std::array<ModuleState, kModules> g_modules{};
constinit std::atomic<bool> g_forked{false};
// Hours since the epoch << 32 | seconds east of UTC, of the last look-up.
constinit std::atomic<std::uint64_t> g_offset{~0ull};

// The back end; never destroyed: lines may still come while the process exits.
struct Backend {
  std::shared_ptr<FileSink> file_sink = std::make_shared<FileSink>();
  spdlog::logger console{"opennrt", std::make_shared<ConsoleSink>()};
  spdlog::logger file{"opennrt", file_sink};
  std::mutex open_mutex;
  Backend() {
    console.set_level(spdlog::level::trace);
    file.set_level(spdlog::level::trace);
  }
};

Backend& backend() {
  static Backend* const instance = new Backend;
  return *instance;
}

ModuleState& state(Module module) { return g_modules[static_cast<std::size_t>(module)]; }

// The zone is looked up once per hour, which covers every change of it.
std::int64_t local_offset(std::int64_t now) {
  const auto hour = static_cast<std::uint64_t>(now / 3600) << 32;
  const std::uint64_t known = g_offset.load(std::memory_order_relaxed);
  if ((known & 0xFFFFFFFF00000000ull) == hour || g_forked.load(std::memory_order_relaxed))
    return known == ~0ull ? 0 : static_cast<std::int32_t>(known & 0xFFFFFFFFu);
  tm local{};
  const time_t seconds = now;
  localtime_r(&seconds, &local);
  g_offset.store(hour | static_cast<std::uint32_t>(local.tm_gmtoff), std::memory_order_relaxed);
  return local.tm_gmtoff;
}

spdlog::level::level_enum spd_level(Level level) {
  if (level == Level::kError) return spdlog::level::err;
  return level == Level::kWarn ? spdlog::level::warn : spdlog::level::info;
}

}  // namespace

std::string_view module_tag(Module module) { return kTags[static_cast<std::size_t>(module)]; }

std::optional<Module> module_of(std::string_view tag) {
  if (tag.size() == 4 && strncasecmp(tag.data(), "KMGR", 4) == 0) return Module::kKmgr;
  for (std::size_t i = 0; i < kModules; ++i)
    if (tag.size() == kTags[i].size() && strncasecmp(tag.data(), kTags[i].data(), tag.size()) == 0)
      return static_cast<Module>(i);
  return std::nullopt;
}

Status configure(const Settings& settings) {
  for (std::size_t i = 0; i < kModules; ++i) {
    const ModuleSettings& from = settings.modules[i];
    g_modules[i].level = static_cast<int>(from.level);
    g_modules[i].console = from.console;
    g_modules[i].syslog = from.syslog;
  }
  set_coalescing(settings.coalesce);
  const std::lock_guard lock(backend().open_mutex);
  Status opened = backend().file_sink->open(settings.file);
  // Somebody has to hear why.
  if (!opened)
    for (auto& m : g_modules) m.console = true;
  return opened;
}

void set_level(Module module, Level level) noexcept {
  state(module).level.store(static_cast<int>(level), std::memory_order_relaxed);
}

void set_level(Level level) noexcept {
  for (auto& m : g_modules) m.level.store(static_cast<int>(level), std::memory_order_relaxed);
}

bool enabled(Module module, Level level) noexcept {
  return static_cast<int>(level) <= state(module).level.load(std::memory_order_relaxed);
}

namespace {

void append_now(fmt::memory_buffer& out, Module module, Level level, std::string_view function,
                std::string_view text) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const LineHead head{.seconds = now.tv_sec + local_offset(now.tv_sec),
                      .microseconds = static_cast<std::uint32_t>(now.tv_nsec / 1000),
                      .pid = getpid(),
                      .tid = syscall(SYS_gettid),
                      .level = level,
                      .module = module_tag(module),
                      .function = function};
  append_line(out, head, text);
}

enum class Origin { kCore, kPlugin };

// Every sink but the console.
void write_elsewhere(Origin origin, Module module, Level level, spdlog::string_view_t line,
                     std::string_view text) {
  backend().file.log(spd_level(level), line);
  if (state(module).syslog) write_syslog(static_cast<int>(level), text.data(), text.size());
  if (g_forked.load(std::memory_order_relaxed)) return;
  keep_line(current_core(), text);
  if (origin == Origin::kCore) write_kernel_log(text);
}

void write_line(Origin origin, Module module, Level level, std::string_view function,
                std::string_view text) noexcept {
  try {
    if (inside_kernel_log()) return;  // its echo
    fmt::memory_buffer line;
    append_now(line, module, level, function, text);
    const spdlog::string_view_t view(line.data(), line.size());
    write_elsewhere(origin, module, level, view, text);
    if (state(module).console && !hold_back(level, {line.data(), line.size()}))
      backend().console.log(spd_level(level), view);
  } catch (...) {  // a line that cannot be written is lost, the caller goes on
  }
}

}  // namespace

void write(Module module, Level level, std::string_view function, std::string_view text) noexcept {
  write_line(Origin::kCore, module, level, function, text);
}

void write_from_plugin(Module module, Level level, std::string_view function,
                       std::string_view text) noexcept {
  write_line(Origin::kPlugin, module, level, function, text);
}

void write_for_support(Level level, std::string_view function, std::string_view text) noexcept {
  constexpr Module kModule = Module::kNrt;
  if (enabled(kModule, std::max(level, Level::kInfo)))
    return write_line(Origin::kPlugin, kModule, level, function, text);
  if (!enabled(kModule, level)) return;
  try {
    fmt::memory_buffer line;
    append_now(line, kModule, level, function, text);
    write_elsewhere(Origin::kPlugin, kModule, level, {line.data(), line.size()}, text);
  } catch (...) {  // as above
  }
}

std::string line_of_now(Module module, Level level, std::string_view function,
                        std::string_view text) {
  fmt::memory_buffer line;
  append_now(line, module, level, function, text);
  return {line.data(), line.size()};
}

void write_console(Level level, std::string_view lines) {
  backend().console.log(spd_level(level), spdlog::string_view_t(lines.data(), lines.size()));
}

void write_with_block(Module module, Level level, std::string_view function, std::string_view text,
                      std::string_view block) noexcept {
  try {
    fmt::memory_buffer line;
    append_now(line, module, level, function, text);
    write_elsewhere(Origin::kCore, module, level, {line.data(), line.size()}, text);
    if (!state(module).console && block.empty()) return;
    if (!block.empty()) {
      line.append(std::string_view("\n\t"));
      line.append(block);
    }
    backend().console.log(spd_level(level), {line.data(), line.size()});
  } catch (...) {  // as above
  }
}

void enter_forked_child() noexcept { g_forked = true; }

}  // namespace opennrt::log
