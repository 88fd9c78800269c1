// SPDX-License-Identifier: Apache-2.0
//
// Driver releases that the emulated driver can be.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace opennrt::emu {

struct DriverVersion {
  std::uint32_t major = 0, minor = 0, patch = 0, maintenance = 0;
  auto operator<=>(const DriverVersion&) const = default;
};

inline constexpr DriverVersion kDriver2_24{2, 24, 7, 0};
inline constexpr DriverVersion kDriver2_25{2, 25, 4, 0};
inline constexpr DriverVersion kDriver2_26{2, 26, 5, 0};
inline constexpr DriverVersion kDriver2_27{2, 27, 4, 0};

struct DriverPreset {
  const char* text;
  DriverVersion version;
  std::uint64_t features;  // word 0 of DRIVER_INFO_GET
};

inline constexpr DriverPreset kDriverPresets[] = {
    {"2.24.7.0", kDriver2_24, 0x0FF},
    {"2.25.4.0", kDriver2_25, 0x1FF},
    {"2.26.5.0", kDriver2_26, 0x1FF},
    {"2.27.4.0", kDriver2_27, 0x1FF},
};
inline constexpr const char* kDefaultDriver = "2.27.4.0";

// nullptr: no such preset.
constexpr const DriverPreset* find_driver_preset(std::string_view text) {
  for (const DriverPreset& preset : kDriverPresets)
    if (text == preset.text) return &preset;
  return nullptr;
}

}  // namespace opennrt::emu
