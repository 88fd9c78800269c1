// SPDX-License-Identifier: Apache-2.0
//
// Logging front end. A line is formatted only when its module admits the
// level. The line format is documented in core/log/README.md and parsed by
// tools. Nothing is ever written to stdout: lines go to stderr, syslog or the
// configured file.
//
// Threading: every function may be called from any thread. Writing waits for no
// lock for long, so it also works in a child forked while another thread was
// logging.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace opennrt::log {

enum class Level { kDisabled = 0, kError = 1, kWarn = 2, kInfo = 3, kDebug = 4, kTrace = 5 };

// Module tags, at most five characters are shown.
enum class Module { kNrt, kKmgr, kTdrv, kHal, kNdl, kNeff, kPlugin, kEmu, kConfig, kNlog, kCount };
inline constexpr std::size_t kModules = static_cast<std::size_t>(Module::kCount);

std::string_view module_tag(Module module);
// Module of a tag as the environment spells it ("TDRV"; "KMGR" is the same as
// "NMGR"), any case.
std::optional<Module> module_of(std::string_view tag);

// What one module writes and where.
struct ModuleSettings {
  Level level = Level::kError;
  bool console = true;  // stderr
  bool syslog = false;
};

struct Settings {
  std::array<ModuleSettings, kModules> modules{};
  std::string file;       // receives every emitted line as well; empty = none
  bool coalesce = false;  // one block per failed call (context.h)
};

// Applies the settings. NRT_INVALID when the file cannot be opened; everything
// else is in force then. The file stays open until other settings are applied,
// because lines may come after the runtime was closed.
Status configure(const Settings& settings);

bool enabled(Module module, Level level) noexcept;
// Highest level that is written, of one module or of all.
void set_level(Module module, Level level) noexcept;
void set_level(Level level) noexcept;
// text: one line; control characters are replaced. function: name of the
// calling function.
void write(Module module, Level level, std::string_view function, std::string_view text) noexcept;

// A line that a plugin writes: not for the driver's log (kernel_log.h).
void write_from_plugin(Module module, Level level, std::string_view function,
                       std::string_view text) noexcept;

// To be called in a forked child: the time zone database, whose lock another
// thread of the parent may have held, is not consulted any more.
void enter_forked_child() noexcept;

template <typename... Args>
void format(Module module, Level level, std::string_view function, fmt::format_string<Args...> f,
            Args&&... args) noexcept {
  try {
    fmt::memory_buffer buffer;
    fmt::format_to(std::back_inserter(buffer), f, std::forward<Args>(args)...);
    write(module, level, function, {buffer.data(), buffer.size()});
  } catch (...) {  // out of memory while logging: the line is lost, the caller goes on
  }
}

}  // namespace opennrt::log

#define ONRT_LOG(module, level, ...)                                                           \
  do {                                                                                         \
    if (::opennrt::log::enabled(::opennrt::log::Module::module, ::opennrt::log::Level::level)) \
      ::opennrt::log::format(::opennrt::log::Module::module, ::opennrt::log::Level::level,     \
                             __func__, __VA_ARGS__);                                           \
  } while (0)
