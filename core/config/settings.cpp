// SPDX-License-Identifier: Apache-2.0
#include "config/settings.h"

#include <algorithm>

#include "opennrt/ndl.h"

namespace opennrt::config {

namespace {

#include "config/settings_table.inc"

constexpr bool rows_match_keys() {
  for (std::size_t i = 0; i < kSettings; ++i)
    if (static_cast<std::size_t>(kTable[i].id) != i) return false;
  return true;
}
static_assert(rows_match_keys(), "rows must stand in the order of enum Key");

static_assert(kTable[static_cast<std::size_t>(Key::kEmulatorDevices)].max ==
                  NRTP_MAX_PROCESS_DEVICES,
              "emulator.devices ends where a process does");

}  // namespace

std::span<const Setting, kSettings> settings() { return kTable; }

const Setting& setting(Key key) { return kTable[static_cast<std::size_t>(key)]; }

const Setting* find_setting(std::string_view key) {
  const auto row = std::find_if(std::begin(kTable), std::end(kTable),
                                [key](const Setting& r) { return r.key == key; });
  return row == std::end(kTable) ? nullptr : &*row;
}

std::span<const std::string_view> removed_variables() { return kRemovedVariables; }

}  // namespace opennrt::config
