// SPDX-License-Identifier: Apache-2.0
//
// The slab of one process on one device: what lies where. Readers are other
// programs, of any release.
//
// Source: counters and cores, the driver; records, the public neuron_ds.h with
// natural alignment; offsets of both agree with public analyses, except that of
// the process tag (5 here, as the published struct has it).
#pragma once

#include <cstddef>
#include <cstdint>

#include "nrt/nds/neuron_ds.h"

namespace opennrt::nds {

inline constexpr std::size_t kSlabBytes = 262144;
inline constexpr std::size_t kLeastBytes = 0x10680;  // end of what is defined

// "nds\0" and version 100000, stored and compared as one word.
inline constexpr std::uint64_t kHeader = 0x000186A0'0073646E;

inline constexpr std::uint32_t kDeviceCounters = 31;
inline constexpr std::uint32_t kCoreCounters = 95;
inline constexpr std::uint32_t kCores = 16;  // physical cores of a device
inline constexpr std::uint32_t kModels = 64;
inline constexpr std::uint32_t kMemorySlots = 5;  // uses of memory that are counted

inline constexpr std::size_t kProcessInfoAt = 0x04E0;
inline constexpr std::size_t kModelMapAt = 0x0520;
inline constexpr std::size_t kModelsAt = 0x0528;
inline constexpr std::size_t kProcessInfoExtAt = 0xAD28;

// Every record begins with its hash.
struct ProcessInfoRecord {
  std::uint32_t hash;
  nds_process_info_t info;
};
struct ProcessInfoExtRecord {
  std::uint32_t hash;
  nds_process_info_ext_t info;
};
struct ModelRecord {
  std::uint32_t hash;
  nds_model_node_info_t info;
  nds_model_node_mem_usage_info_t memory;
};
static_assert(sizeof(ProcessInfoRecord) == 64 && sizeof(ProcessInfoExtRecord) == 260);
static_assert(sizeof(ModelRecord) == 672 && offsetof(ModelRecord, memory) == 288);
static_assert(kProcessInfoAt + sizeof(ProcessInfoRecord) == kModelMapAt);
static_assert(kModelsAt + kModels * sizeof(ModelRecord) == kProcessInfoExtAt);

enum DeviceCounter : std::uint32_t {
  kRuntimeVersion = 0,
  kFrameworkVersion = 1,
  kFalVersion = 2,
  kFeatures = 3,
  kLowestNeffVersion = 4,
  kHighestNeffVersion = 5,
  kHostMemory = 6,  // 5 of them, by nds memory slot
};

enum CoreCounter : std::uint32_t {
  kTimeInUse = 0,
  kCompleted = 1,
  kCompletedWithErrors = 2,
  kCompletedWithNumericalErrors = 3,
  kTimedOut = 4,
  kIncorrectInput = 5,
  kFailedToQueue = 6,
  kErrorGeneric = 7,
  kErrorNumerical = 8,
  kErrorModel = 9,
  kErrorTransient = 10,
  kErrorHardware = 11,
  kErrorRuntime = 12,
  kLatencyDevice = 13,
  kLatencyTotal = 14,
  kCoreTime = 15,
  kGenericFail = 16,
  kErrorResource = 17,
  kErrorResourceCore = 18,
  kErrorInvalid = 19,
  kErrorNeffVersion = 20,
  kDeviceMemory = 22,  // 5 of them, by nds memory slot
  kModelLoads = 27,
  kInferences = 28,
  kMacs = 29,
  kOutOfBounds = 30,
  kHardwareCollectives = 31,
  kHardwareHbm = 32,
  kHardwareCore = 33,
  kHardwareDmaAbort = 34,
  kQueueOverflow = 35,
  kSoftwareSemaphore = 36,
  kSoftwareEvent = 37,
  kSoftwarePsumCollision = 38,
  kSoftwareSequencerFatal = 39,
  kHardwareRepairableHbm = 40,
};

}  // namespace opennrt::nds
