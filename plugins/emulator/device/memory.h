// SPDX-License-Identifier: Apache-2.0
//
// Backing store of one emulated device. Every region is a range of a memfd
// mapped MAP_SHARED | MAP_NORESERVE, so that the same bytes can later be shared
// with other processes; pages exist only once touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace opennrt::emu {

// Of device space.
struct MemoryRange {
  std::uint64_t begin, bytes;
};

// One memfd and its mapping.
class Region {
 public:
  // name: shown in /proc/self/maps. Returns nullptr with *error filled on failure.
  static std::unique_ptr<Region> create(const char* name, std::uint64_t bytes, std::string* error);
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  std::uint8_t* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }
  int fd() const { return fd_; }
  bool contains(const void* p) const {
    const auto* b = static_cast<const std::uint8_t*>(p);
    return b >= data_ && b < data_ + bytes_;
  }
  // Gives the pages of the range back; they read as zero afterwards.
  void discard(std::uint64_t offset, std::uint64_t bytes);

 private:
  Region(int fd, std::uint8_t* data, std::uint64_t bytes) : fd_(fd), data_(data), bytes_(bytes) {}
  int fd_;
  std::uint8_t* data_;
  std::uint64_t bytes_;
};

struct MemoryConfig {
  std::uint32_t hbm_channels = 0;
  std::uint64_t hbm_channel_bytes = 0;
  std::uint64_t host_bytes = 0;  // DMA-able host memory of the driver
  // Host memory shared by all devices of a machine; null: a region of its own.
  std::shared_ptr<Region> host;
  std::uint32_t cores = 0;
  std::uint64_t sbuf_window_bytes = 0, psum_window_bytes = 0;
};

class DeviceMemory {
 public:
  static std::unique_ptr<DeviceMemory> create(const MemoryConfig& config, std::string* error);
  Region& hbm(std::uint32_t channel) { return *hbm_[channel]; }
  Region& host() { return *host_; }
  Region& sbuf(std::uint32_t core) { return *sbuf_[core]; }
  Region& psum(std::uint32_t core) { return *psum_[core]; }
  // The region that holds the byte, else nullptr.
  Region* find(const void* p);
  std::uint32_t hbm_channels() const { return static_cast<std::uint32_t>(hbm_.size()); }
  std::uint32_t cores() const { return static_cast<std::uint32_t>(sbuf_.size()); }

 private:
  std::vector<std::unique_ptr<Region>> hbm_, sbuf_, psum_;
  std::shared_ptr<Region> host_;
};

}  // namespace opennrt::emu
