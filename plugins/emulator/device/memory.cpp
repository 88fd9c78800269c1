// SPDX-License-Identifier: Apache-2.0
#include "device/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace opennrt::emu {

namespace {

std::string describe(const char* what, const char* name, std::uint64_t bytes, int error) {
  return std::string(what) + " of " + name + " (" + std::to_string(bytes) +
         " bytes) failed: " + std::strerror(error);
}

// The limit of this process, "" when there is none below `bytes`.
std::string limit_text(__rlimit_resource resource, const char* option, std::uint64_t bytes) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      (resource == RLIMIT_FSIZE && limit.rlim_cur >= bytes))
    return "";
  return std::string("limited to ") + std::to_string(limit.rlim_cur) + " bytes (ulimit " + option +
         ")";
}

constexpr const char* kHbmSetting = "OPENNRT_EMULATOR_HBM_BYTES (emulator.hbm_bytes)";
constexpr const char* kHostSetting = "OPENNRT_EMULATOR_HOST_BYTES (emulator.host_bytes)";

const char* size_setting(const std::string& name) {
  if (name == "opennrt-hbm") return kHbmSetting;
  return name == "opennrt-host" ? kHostSetting : nullptr;
}

}  // namespace

std::unique_ptr<Region> Region::create(const char* name, std::uint64_t bytes, std::string* error) {
  // Beyond the limit the system ends the process by a signal.
  if (const std::string limit = limit_text(RLIMIT_FSIZE, "-f", bytes); !limit.empty()) {
    const char* setting = size_setting(name);
    *error = std::string("device memory ") + name + " is a memory file of " +
             std::to_string(bytes) + " bytes, files of this process are " + limit +
             "; raise the limit" + (setting ? std::string(" or lower ") + setting : "");
    return nullptr;
  }
  int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd >= 0 && fd <= STDERR_FILENO) {
    // The process closed its standard streams. What it prints all the same must
    // not land in device memory.
    const int low = fd;
    fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int reason = errno;
    close(low);
    errno = reason;
  }
  if (fd < 0) {
    *error = describe("memfd_create", name, bytes, errno);
    return nullptr;
  }
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    *error = describe("ftruncate", name, bytes, errno);
    close(fd);
    return nullptr;
  }
  // Whoever gets the descriptor cannot take pages away under the others.
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    *error = describe("sealing", name, bytes, errno);
    close(fd);
    return nullptr;
  }
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (data == MAP_FAILED) {
    const int reason = errno;
    const std::string limit = limit_text(RLIMIT_AS, "-v", bytes);
    // HBM and host memory take most of the address space, whichever region comes last.
    *error = describe("mmap", name, bytes, reason) + "; " +
             (limit.empty()
                  ? ""
                  : "the address space of this process is " + limit + ": raise the limit or ") +
             "lower " + kHbmSetting + " or " + kHostSetting;
    close(fd);
    return nullptr;
  }
  madvise(data, bytes, MADV_DONTDUMP);
  // As with the kernel driver, a child does not inherit device memory.
  madvise(data, bytes, MADV_DONTFORK);
  return std::unique_ptr<Region>(new Region(fd, static_cast<std::uint8_t*>(data), bytes));
}

Region::~Region() {
  munmap(data_, bytes_);
  close(fd_);
}

void Region::discard(std::uint64_t offset, std::uint64_t bytes) {
  if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(bytes)) != 0)
    std::memset(data_ + offset, 0, bytes);
}

std::unique_ptr<DeviceMemory> DeviceMemory::create(const MemoryConfig& config, std::string* error) {
  auto memory = std::make_unique<DeviceMemory>();
  for (std::uint32_t i = 0; i < config.hbm_channels; ++i) {
    auto region = Region::create("opennrt-hbm", config.hbm_channel_bytes, error);
    if (!region) return nullptr;
    memory->hbm_.push_back(std::move(region));
  }
  for (std::uint32_t i = 0; i < config.cores; ++i) {
    auto sbuf = Region::create("opennrt-sbuf", config.sbuf_window_bytes, error);
    if (!sbuf) return nullptr;
    auto psum = Region::create("opennrt-psum", config.psum_window_bytes, error);
    if (!psum) return nullptr;
    memory->sbuf_.push_back(std::move(sbuf));
    memory->psum_.push_back(std::move(psum));
  }
  memory->host_ =
      config.host ? config.host : Region::create("opennrt-host", config.host_bytes, error);
  if (!memory->host_) return nullptr;
  return memory;
}

Region* DeviceMemory::find(const void* p) {
  for (auto* list : {&hbm_, &sbuf_, &psum_})
    for (auto& region : *list)
      if (region->contains(p)) return region.get();
  return host_->contains(p) ? host_.get() : nullptr;
}

}  // namespace opennrt::emu
