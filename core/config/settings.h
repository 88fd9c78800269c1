// SPDX-License-Identifier: Apache-2.0
//
// The table of settings: one row per configuration key with its type, range,
// default, environment variables and what a bad value does.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace opennrt::config {

enum class Type {
  kBool,      // 0 1 true false yes no on off, any case
  kUint,      // decimal or 0x hex
  kSize,      // as kUint, also with K, M, G, T or KiB, MiB, GiB, TiB
  kEnum,      // one of Setting::choices, any case
  kLevel,     // log level, by substring
  kLocation,  // CONSOLE and/or SYSLOG by substring, or a path
  kString,    // verbatim
  kList,      // comma separated; in files also a sequence
  kCores,     // "0-3,5": ranges of logical cores, contiguous in the end
  kOpaque,    // any YAML value; kept as flow text for a plugin to read
};

enum class OnBad {
  kFail,     // NRT_INVALID
  kDefault,  // WARN, the value of the next lower layer stays
  kClamp,    // WARN, nearest legal value
};

// Rows of the table, in its order.
enum class Key : std::uint8_t {
  kVersion,
  kCoresCount,
  kCoresVisible,
  kCoresLncSize,
  kCoresResetOnInit,
  kExecRuntimeForm,
  kExecTimeoutS,
  kExecXuQueueDepth,
  kExecImplicitAsyncDepth,
  kLoadValidateHash,
  kLoadAllowLegacyNeff,
  kMemoryScratchpadPageMb,
  kLogLevel,
  kLogLocation,
  kLogFile,
  kInspectEnable,
  kInspectOnFail,
  kInspectOutputDir,
  kInspectSystemProfile,
  kInspectDeviceProfile,
  kInspectCpuUtil,
  kInspectHostMemory,
  kInspectFilterCores,
  kInspectFilterTypes,
  kInspectMaxEvents,
  kDebugStreamRingEvents,
  kDevice,
  kNdl,
  kPluginsPath,
  kPluginsDisable,
  kPluginsArch,
  kEmulatorProduct,
  kEmulatorDevices,
  kEmulatorArch,
  kEmulatorScope,
  kEmulatorVerify,
  kEmulatorVerifyOrderSeed,
  kEmulatorVerifyPoison,
  kEmulatorVerifyRaces,
  kEmulatorVerifyCoverage,
  kEmulatorVerifyBounds,
  kEmulatorInspect,
  kEmulatorInspectDir,
  kEmulatorReport,
  kEmulatorUnconfirmedInstructions,
  kEmulatorFaults,
  kEmulatorIdleExitS,
  kEmulatorSocket,
  kEmulatorRecord,
  kEmulatorHbmBytes,
  kEmulatorHostBytes,
  kEmulatorThreads,
  kEmulatorStrict,
  kEmulatorSeed,
  kEmulatorTiming,
  kEmulatorDriverVersion,
  kCount
};
inline constexpr std::size_t kSettings = static_cast<std::size_t>(Key::kCount);

struct Setting {
  Key id{};
  std::string_view key{};  // dotted path in the files
  Type type{};
  std::string_view fallback{};  // text of the default; empty = unset
  std::uint64_t min = 0, max = ~0ull;
  std::uint64_t multiple_of = 1;
  std::string_view choices{};  // kEnum: separated by '|'
  OnBad bad = OnBad::kFail;
  std::array<std::string_view, 2> variables{};  // the first one that is set wins
  bool per_load = false;                        // environment is read again by nrt_load
  bool appends = false;                         // kList: an upper layer adds, instead of replacing
};

std::span<const Setting, kSettings> settings();
const Setting& setting(Key key);
// nullptr: no such key.
const Setting* find_setting(std::string_view key);

}  // namespace opennrt::config
