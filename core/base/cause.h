// SPDX-License-Identifier: Apache-2.0
//
// Well-known causes of failures, and what to do about each. A Status carries
// its cause to the public call, whose one line of log ends with the remedy.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace opennrt {

// The numbers of causes other than the first are our own.
enum class Cause : std::int8_t {
  kNone = -1,
  kForeignNeff = 0,
  kDeviceMemory,
  kDeviceInUse,
  kNoDevice,
  kConfiguration,
  kExecutionTimeout,
  kPluginMissing,
  kDeviceLost,
  kCount
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(Cause::kCount)>
    kResolutions = {
        "compile the model for the silicon of this machine; a software device becomes other "
        "silicon with OPENNRT_EMULATOR_PRODUCT",
        "free tensors, unload models, or spread the models over more cores; a software device "
        "gets more memory with OPENNRT_EMULATOR_HBM_BYTES",
        "end the process that holds the cores (fuser -v /dev/neuron*), or choose free ones with "
        "NEURON_RT_VISIBLE_CORES",
        "check that the driver is loaded and that /dev/neuron* is visible and accessible here, or "
        "run on the software device with OPENNRT_DEVICE=emulator",
        "correct the named settings; `opennrt config` shows each value and where it comes from",
        "look for what the named engines wait for; a program that is only slow needs a larger "
        "NEURON_RT_EXEC_TIMEOUT when it is loaded",
        "`opennrt plugins` shows where plugins are looked for, what was found and why it was "
        "refused; install the missing package or repair the refused one",
        "nrt_close, then nrt_init: that starts a new software device",
};

constexpr std::string_view resolution(Cause cause) {
  return cause == Cause::kNone ? std::string_view() : kResolutions[static_cast<std::size_t>(cause)];
}

}  // namespace opennrt
