// SPDX-License-Identifier: Apache-2.0
//
// Register programming that needs a device. On silicon the microcode start-up
// has no published register description, so starting an engine is refused
// there; the software device runs the same sequence.
#include <cstdio>
#include <new>

#include "layout.h"

namespace opennrt::sunda {
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

int fetch_start(void* ctx, std::uint32_t core, std::uint32_t engine, std::uint64_t program_pa) {
  if (ctx == nullptr) return NRTP_INVALID;
  const auto* device = static_cast<const Device*>(ctx);
  const std::uint64_t nx = kAddress.nx_bar0(device->dev->product, core, engine);
  char message[160];
  if (nx == UINT64_MAX || program_pa % 64 != 0) {
    std::snprintf(message, sizeof message,
                  "sunda: cannot start engine %u of core %u at 0x%llx: no such engine, or the "
                  "address is not a multiple of 64",
                  engine, core, static_cast<unsigned long long>(program_pa));
    log_error(device, message);
    return NRTP_INVALID;
  }
  if (device->dev->platform == NRTP_PLATFORM_SILICON) {
    std::snprintf(message, sizeof message,
                  "sunda: device %u is silicon, whose engine start registers are not published; "
                  "set device: emulator to run on the software device",
                  device->dev->device_index);
    log_error(device, message);
    return NRTP_INVALID;
  }
  const auto low = static_cast<std::uint32_t>(program_pa);
  const auto high = static_cast<std::uint32_t>(program_pa >> 32);
  if (int status = write_register(device, nx + kNxStartAddrLo, low); status != NRTP_OK) {
    return status;
  }
  if (int status = write_register(device, nx + kNxStartAddrHi, high); status != NRTP_OK) {
    return status;
  }
  return write_register(device, nx + kNxStartCtrl, 1);
}

}  // namespace

constinit const nrtp_arch_hal kHal = {
    .size = sizeof(nrtp_arch_hal),
    .reserved = 0,
    .core_init = nullptr,
    .core_fini = nullptr,
    .topsp_init = nullptr,
    .notific_init = nullptr,
    .intc_init = nullptr,
    .nq_config = nullptr,
    .nq_enable = nullptr,
    .fetch_start = fetch_start,
    .read_pc = nullptr,
    .seed = nullptr,
    .read_overflow = nullptr,
    .reset_dma_engine = nullptr,
};

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

}  // namespace opennrt::sunda
