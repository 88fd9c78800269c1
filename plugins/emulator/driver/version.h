// SPDX-License-Identifier: Apache-2.0
//
// Driver releases that the emulated driver can be, and what a release or a
// masked feature bit takes away from the requests.
//
// Feature words and requests are those of the released sources, aws-neuron-driver
// 2.19.64.0, 2.20.28.0 and 2.24.7.0 to 2.26.5.0; 2.27.4.0 has the word of
// 2.26.5.0 (assumed). What first shows in 2.24.7.0 may have come with one of the
// releases after 2.20.28.0 (assumed: not before). Limits and errors are those of
// the newer releases throughout.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace opennrt::emu {

struct DriverVersion {
  std::uint32_t major = 0, minor = 0, patch = 0, maintenance = 0;
  auto operator<=>(const DriverVersion&) const = default;
};

inline constexpr DriverVersion kDriver2_19{2, 19, 64, 0};
inline constexpr DriverVersion kDriver2_20{2, 20, 28, 0};
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
    {"2.19.64.0", kDriver2_19, 0x03F}, {"2.20.28.0", kDriver2_20, 0x07F},
    {"2.24.7.0", kDriver2_24, 0x0FF},  {"2.25.4.0", kDriver2_25, 0x1FF},
    {"2.26.5.0", kDriver2_26, 0x1FF},  {"2.27.4.0", kDriver2_27, 0x1FF},
};
inline constexpr const char* kDefaultDriver = "2.27.4.0";

inline constexpr std::uint64_t kKnownFeatures = 0x1FF;
inline constexpr std::uint32_t kContiguousBit = 7;  // memory type 19; no request of its own

// Requests that exist only with a feature bit, by the names of the table.
struct FeatureRequest {
  std::uint32_t bit;
  std::string_view request;
};
inline constexpr FeatureRequest kFeatureRequests[] = {
    {0, "DMABUF_FD"},
    {1, "MEM_COPY_ASYNC"},
    {1, "MEM_COPY_ASYNC64"},
    {1, "MEM_COPY_ASYNC_WAIT"},
    {2, "DMA_QUEUE_INIT_BATCH"},
    {3, "CRWL_NC_RANGE_MARK_EXT0"},
    {3, "CRWL_NC_RANGE_UNMARK_EXT0"},
    {4, "MEM_ALLOC_V2MT"},
    {5, "HBM_SCRUB_START"},
    {5, "HBM_SCRUB_WAIT"},
    {6, "MEM_ALLOC_V2MT64"},
    {6, "MEM_COPY64"},
    {6, "MEM_BUF_COPY64"},
    {6, "MEMSET64"},
    {6, "DMA_COPY_DESCRIPTORS64"},
    {6, "PROGRAM_ENGINE_NC64"},
    {6, "MEM_COPY_ASYNC64"},
    {8, "MEM_BUF_ZEROCOPY64"},
    {8, "MEM_BUF_ZEROCOPY64_BATCHES"},
};

// Whether a driver with this feature word has the request.
constexpr bool has_request(std::uint64_t features, std::string_view request) {
  for (const FeatureRequest& need : kFeatureRequests)
    if (need.request == request && !(features >> need.bit & 1)) return false;
  return true;
}

// nullptr: no such preset.
constexpr const DriverPreset* find_driver_preset(std::string_view text) {
  for (const DriverPreset& preset : kDriverPresets)
    if (text == preset.text) return &preset;
  return nullptr;
}

}  // namespace opennrt::emu
