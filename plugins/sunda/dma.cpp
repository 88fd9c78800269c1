// SPDX-License-Identifier: Apache-2.0
//
// DMA engines: windows, the rings of the runtime, the queues models may use.
#include <array>

#include "arch-common/udma.h"
#include "layout.h"

namespace opennrt::sunda {
namespace {

constexpr std::uint64_t kNone = UINT64_MAX;
constexpr std::uint32_t kRingClasses = 18;  // NEFF ring types ENG 0 .. GENERIC 17

bool is_host(std::uint32_t engine) { return engine >= kFirstHostEngine && engine < kDmaTotal; }

bool valid_engine(const nrtp_product* product, std::uint32_t engine) {
  if (engine >= kDmaTotal) return false;
  const std::uint32_t core = is_host(engine) ? engine - kFirstHostEngine : engine / kDmaPerCore;
  return valid_core(product, core);
}

std::uint64_t udma_apb(std::uint32_t engine) {
  if (is_host(engine)) return kHostUdmaApb[engine - kFirstHostEngine];
  return engine / kDmaPerCore * kCoreApbStride + engine % kDmaPerCore * kUdmaStride;
}

std::uint64_t sdma_apb(std::uint32_t engine) {
  if (is_host(engine)) return kHostSdmaApb[engine - kFirstHostEngine];
  return engine / kDmaPerCore * kCoreApbStride + kSdmaApb + engine % kDmaPerCore * kSdmaStride;
}

std::uint64_t udma_bar0(const nrtp_product* product, std::uint32_t engine) {
  return valid_engine(product, engine) ? kApbBar0 + udma_apb(engine) : kNone;
}

std::uint64_t udma_device(const nrtp_product* product, std::uint32_t engine) {
  return valid_engine(product, engine) ? kApbDevice + udma_apb(engine) : kNone;
}

std::uint64_t sdma_misc_bar0(const nrtp_product* product, std::uint32_t engine) {
  return valid_engine(product, engine) ? kApbBar0 + sdma_apb(engine) : kNone;
}

std::uint64_t notific_bar0(const nrtp_product* product, std::uint32_t engine) {
  return valid_engine(product, engine) ? kApbBar0 + sdma_apb(engine) + kSdmaNotific : kNone;
}

std::uint64_t bcast_device(const nrtp_product* product, std::uint32_t core) {
  if (!valid_core(product, core)) return kNone;
  return kApbDevice + core * kCoreApbStride + kBroadcastApb;
}

std::uint32_t core_engine(const nrtp_product* product, std::uint32_t core, std::uint32_t index) {
  if (!valid_core(product, core) || index >= kDmaPerCore) return UINT32_MAX;
  return core * kDmaPerCore + index;
}

// The engine and queue of the driver's own copies.
std::uint32_t host_engine(const nrtp_product* product, std::uint32_t core) {
  return valid_core(product, core) ? kFirstHostEngine + core : UINT32_MAX;
}

std::uint32_t host_queue(const nrtp_product* product, std::uint32_t core) {
  return valid_core(product, core) ? 0 : UINT32_MAX;
}

std::uint32_t is_host_engine(const nrtp_product* product, std::uint32_t engine) {
  return valid_engine(product, engine) && is_host(engine) ? 1 : 0;
}

int runtime_ring(const nrtp_product* product, std::uint32_t core, std::uint32_t which,
                 nrtp_dma_slot* out) {
  if (!valid_core(product, core) || out == nullptr) return NRTP_INVALID;
  // Engine index inside the core. Exec and DVE as in device images; ACT has no
  // sample on sunda and follows the order exec, ACT, DVE of the next family.
  std::uint32_t index = 0;
  if (which == NRTP_RING_EXEC) {
    index = 9;
  } else if (which == NRTP_RING_ACT_TABLES) {
    index = 10;
  } else if (which == NRTP_RING_DVE_TABLES) {
    index = 11;
  } else if (which - NRTP_RING_FETCH < kEngines) {
    index = which - NRTP_RING_FETCH;
  } else {
    return NRTP_INVALID;
  }
  *out = {core * kDmaPerCore + index, kRuntimeQueue};
  return NRTP_OK;
}

// A queue set takes one hardware queue on all 16 engines of the core, so the
// answer has one entry per queue, on the core's first engine. The same list
// serves all classes: queues are given out in order of the sets.
int alloc_class(const nrtp_product* product, std::uint32_t ring_class, std::uint32_t core,
                nrtp_dma_slot* out, std::uint32_t* inout_n) {
  if (!valid_core(product, core) || ring_class >= kRingClasses || inout_n == nullptr) {
    return NRTP_INVALID;
  }
  const std::uint32_t capacity = *inout_n;
  if (capacity != 0 && out == nullptr) return NRTP_INVALID;
  *inout_n = kModelQueues;
  if (capacity < kModelQueues) return NRTP_RESOURCE;
  for (std::uint32_t queue = 0; queue < kModelQueues; ++queue) {
    out[queue] = {core * kDmaPerCore, queue};
  }
  return NRTP_OK;
}

}  // namespace

constinit const nrtp_arch_dma kDma = {
    .size = sizeof(nrtp_arch_dma),
    .max_tx_per_packet = 128,
    .max_rx_per_packet = 128,
    .flags = 0,
    .udma_bar0 = udma_bar0,
    .udma_device = udma_device,
    .sdma_misc_bar0 = sdma_misc_bar0,
    .notific_bar0 = notific_bar0,
    .queue_reg = arch_common::udma_queue_reg,
    .bcast_device = bcast_device,
    .core_engine = core_engine,
    .host_engine = host_engine,
    .host_queue = host_queue,
    .is_host_engine = is_host_engine,
    .runtime_ring = runtime_ring,
    .alloc_class = alloc_class,
    .bcast_exclude_shift = 16,
    .sw_ctrl_reset = 0x100,
    .ring_length_written = 0xFFFFF0,
    .queue_page_bytes = arch_common::kUdmaQueuePage,
    .engine_stride = kUdmaStride,
    .dir_stride = arch_common::kUdmaS2mOffset,
    .event_const_addr = kEventConst.data(),
    .encode_embedded_sem = nullptr,
    .encode_compute_op = nullptr,
};

}  // namespace opennrt::sunda
