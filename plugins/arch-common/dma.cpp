// SPDX-License-Identifier: Apache-2.0
#include "arch-common/dma.h"

#include "arch-common/windows.h"

namespace opennrt::arch_common {
namespace {

constexpr std::uint32_t kRingClasses = 18;  // NEFF ring types ENG 0 .. GENERIC 17

}  // namespace

const DmaEngineFacts* dma_engine(const ArchFacts& f, const nrtp_product* product,
                                 std::uint32_t engine) {
  if (engine >= f.dma.size() || !valid_core(f, product, f.dma[engine].core)) return nullptr;
  return &f.dma[engine];
}

std::uint64_t udma_device(const ArchFacts& f, const nrtp_product* product, std::uint32_t engine) {
  const DmaEngineFacts* facts = dma_engine(f, product, engine);
  return facts != nullptr ? facts->udma : kNone;
}

std::uint64_t udma_bar0(const ArchFacts& f, const nrtp_product* product, std::uint32_t engine) {
  const DmaEngineFacts* facts = dma_engine(f, product, engine);
  return facts != nullptr ? register_to_bar0(f, facts->udma) : kNone;
}

std::uint64_t sdma_misc_bar0(const ArchFacts& f, const nrtp_product* product,
                             std::uint32_t engine) {
  const DmaEngineFacts* facts = dma_engine(f, product, engine);
  return facts != nullptr ? register_to_bar0(f, facts->misc) : kNone;
}

std::uint32_t core_engine(const ArchFacts& f, const nrtp_product* product, std::uint32_t core,
                          std::uint32_t index) {
  const std::uint32_t per_core = f.geometry->dma_per_core;
  if (!valid_core(f, product, core) || index >= per_core) return UINT32_MAX;
  return core * per_core + index;
}

std::uint32_t is_host_engine(const ArchFacts& f, const nrtp_product* product,
                             std::uint32_t engine) {
  return engine >= f.first_host_engine && dma_engine(f, product, engine) != nullptr ? 1 : 0;
}

int runtime_ring(const ArchFacts& f, const nrtp_product* product, std::uint32_t core,
                 std::uint32_t which, nrtp_dma_slot* out) {
  if (!valid_core(f, product, core) || out == nullptr) return NRTP_INVALID;
  std::uint32_t index = 0;
  if (which == NRTP_RING_EXEC) {
    index = f.rings.exec;
  } else if (which == NRTP_RING_ACT_TABLES) {
    index = f.rings.act_tables;
  } else if (which == NRTP_RING_DVE_TABLES) {
    index = f.rings.dve_tables;
  } else if (which - NRTP_RING_FETCH < kEngines) {
    index = which - NRTP_RING_FETCH;
  } else {
    return NRTP_INVALID;
  }
  *out = {core * f.geometry->dma_per_core + index, kRuntimeQueue};
  return NRTP_OK;
}

// A queue set takes one hardware queue on all 16 engines of the core, so the
// answer has one entry per queue, on the core's first engine. The same list
// serves all classes: queues are given out in order of the sets.
int alloc_class(const ArchFacts& f, const nrtp_product* product, std::uint32_t ring_class,
                std::uint32_t core, nrtp_dma_slot* out, std::uint32_t* inout_n) {
  if (!valid_core(f, product, core) || ring_class >= kRingClasses || inout_n == nullptr) {
    return NRTP_INVALID;
  }
  const std::uint32_t capacity = *inout_n;
  if (capacity != 0 && out == nullptr) return NRTP_INVALID;
  *inout_n = kModelQueues;
  if (capacity < kModelQueues) return NRTP_RESOURCE;
  for (std::uint32_t queue = 0; queue < kModelQueues; ++queue) {
    out[queue] = {core * f.geometry->dma_per_core, queue};
  }
  return NRTP_OK;
}

}  // namespace opennrt::arch_common
