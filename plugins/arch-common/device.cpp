// SPDX-License-Identifier: Apache-2.0
#include "arch-common/device.h"

#include <cstdio>
#include <new>

#include "arch-common/address.h"

namespace opennrt::arch_common {
namespace {

struct Device {
  const nrtp_host* host;
  const nrtp_host_dev* dev;
};

void log_error(const Device* device, const char* message) {
  if (!NRTP_HAS(nrtp_host, device->host, log) || device->host->log == nullptr) return;
  device->host->log(device->host->self, NRTP_LOG_ERROR, "arch", message);
}

int write_register(const Device* device, std::uint64_t bar0, std::uint32_t value) {
  return device->dev->reg_write32(device->dev->dev, bar0, &value, 1);
}

}  // namespace

int attach(const nrtp_host* host, const nrtp_host_dev* dev, void** ctx) {
  if (host == nullptr || dev == nullptr || ctx == nullptr) return NRTP_INVALID;
  if (!NRTP_HAS(nrtp_host, host, release) || host->alloc == nullptr || host->release == nullptr) {
    return NRTP_INVALID;
  }
  if (!NRTP_HAS(nrtp_host_dev, dev, reg_write32) || dev->reg_write32 == nullptr ||
      dev->product == nullptr) {
    return NRTP_INVALID;
  }
  void* memory = host->alloc(host->self, sizeof(Device), alignof(Device));
  if (memory == nullptr) return NRTP_RESOURCE;
  *ctx = new (memory) Device{host, dev};
  return NRTP_OK;
}

void detach(void* ctx) {
  if (ctx == nullptr) return;
  const nrtp_host* host = static_cast<Device*>(ctx)->host;
  host->release(host->self, ctx);
}

int fetch_start(const ArchFacts& f, void* ctx, std::uint32_t core, std::uint32_t engine,
                std::uint64_t program_pa) {
  if (ctx == nullptr) return NRTP_INVALID;
  const auto* device = static_cast<const Device*>(ctx);
  const std::uint64_t nx =
      engine < kEngines ? local_to_bar0(f, device->dev->product, core, nx_local(f, engine)) : kNone;
  char message[192];
  if (nx == kNone || program_pa % 64 != 0) {
    std::snprintf(message, sizeof message,
                  "%s: cannot start engine %u of core %u at 0x%llx: no such engine, or the "
                  "address is not a multiple of 64",
                  f.name, engine, core, static_cast<unsigned long long>(program_pa));
    log_error(device, message);
    return NRTP_INVALID;
  }
  if (device->dev->platform == NRTP_PLATFORM_SILICON) {
    std::snprintf(message, sizeof message,
                  "%s: device %u is silicon, whose engine start-up is not published; set device: "
                  "emulator to run on the software device",
                  f.name, device->dev->device_index);
    log_error(device, message);
    return NRTP_INVALID;
  }
  const auto low = static_cast<std::uint32_t>(program_pa);
  const auto high = static_cast<std::uint32_t>(program_pa >> 32);
  if (int status = write_register(device, nx + f.nx_start_addr_lo, low); status != NRTP_OK) {
    return status;
  }
  if (int status = write_register(device, nx + f.nx_start_addr_hi, high); status != NRTP_OK) {
    return status;
  }
  return write_register(device, nx + f.nx_start_ctrl, 1);
}

}  // namespace opennrt::arch_common
