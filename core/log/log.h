// SPDX-License-Identifier: Apache-2.0
//
// Logging front end. A line is formatted only when its module admits the
// level. The back end is spdlog; the line format is documented in
// core/log/README.md and parsed by tools. Nothing is written to stdout: errors
// and everything else go to stderr, syslog or the configured file.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace opennrt::log {

enum class Level { kDisabled = 0, kError = 1, kWarn = 2, kInfo = 3, kDebug = 4, kTrace = 5 };

// Module tags, at most five characters are shown.
enum class Module { kNrt, kKmgr, kTdrv, kHal, kNdl, kNeff, kPlugin, kEmu, kConfig, kNlog, kCount };

std::string_view module_tag(Module module);

bool enabled(Module module, Level level) noexcept;
// Highest level that is written, of one module or of all.
void set_level(Module module, Level level) noexcept;
void set_level(Level level) noexcept;
// text: one line, no newline. function: name of the calling function.
void write(Module module, Level level, std::string_view function, std::string_view text) noexcept;

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
