// SPDX-License-Identifier: Apache-2.0
#include "profiled_cayman.h"

#include <array>
#include <cstring>

#include "opennrt/isa/records.h"

extern "C" const nrtp_arch_plugin* nrtp_arch_query(std::uint32_t, std::uint32_t);

namespace opennrt::test {

namespace {

constexpr std::uint32_t kFirstCore = 4;
constexpr std::uint64_t kHbm = 0x800000000000, kHbmEnd = 0x801000000000;
constexpr std::uint64_t kUdma = 0x801002000000;  // DMA engine 64, the first of core 4
constexpr std::uint64_t kUdmaStride = 0x100000, kBroadcast = 0x80000;
constexpr std::uint64_t kTile = 0x802800000000, kTileStride = 0x1000000000;
// The state buffer of a tile lies below its registers.
constexpr std::uint64_t kSbufBytes = 0x2000000, kSbufBelow = 0x800000000;
constexpr std::uint64_t kTpbCsr = 0x808006000000, kTpbCsrStride = 0x180000;
constexpr std::uint64_t kSemInc = 0x2701800;
constexpr std::array<std::uint64_t, 5> kNx = {0x2660000, 0x2460000, 0x3060000, 0x2b60000,
                                              0x2860000};
constexpr std::array<std::uint64_t, 5> kRoundMode = {0, 0x210, 0x110, 0x310, 0};
constexpr std::uint32_t kRuntimeQueue = 14;

std::uint64_t local_to_device(const nrtp_product*, std::uint32_t core, std::uint64_t local) {
  const std::uint64_t tile = kTile + (core - kFirstCore) * kTileStride;
  return local < kSbufBytes ? tile - kSbufBelow + local : tile + local;
}
std::uint64_t nx_device(const nrtp_product* p, std::uint32_t core, std::uint32_t engine) {
  return local_to_device(p, core, kNx[engine]);
}
std::uint64_t sem_addr(const nrtp_product* p, std::uint32_t core, std::uint32_t sem,
                       std::uint32_t op) {
  return op == NRTP_SEM_INC ? local_to_device(p, core, kSemInc + 4 * sem) : UINT64_MAX;
}
std::uint64_t udma_device(const nrtp_product*, std::uint32_t engine) {
  return kUdma + (engine - 16 * kFirstCore) * kUdmaStride;
}
std::uint32_t core_engine(const nrtp_product*, std::uint32_t core, std::uint32_t index) {
  return 16 * core + index;
}
std::uint64_t bcast_device(const nrtp_product* p, std::uint32_t core) {
  return udma_device(p, 16 * core) + kBroadcast;
}
int runtime_ring(const nrtp_product*, std::uint32_t core, std::uint32_t which, nrtp_dma_slot* out) {
  constexpr std::array<std::uint32_t, 3> kIndex = {5, 9, 10};  // exec, ACT, DVE
  if (which >= kIndex.size()) return NRTP_INVALID;
  *out = {16 * core + kIndex[which], kRuntimeQueue};
  return NRTP_OK;
}

// HBM, DMA queue registers and "a register at this address".
int classify(const nrtp_product* p, std::uint64_t pa, nrtp_addr_class* out) {
  if (pa < kHbm) return NRTP_INVALID;
  out->local = pa;
  if (pa < kHbmEnd) {
    out->kind = NRTP_ADDR_HBM;
    return NRTP_OK;
  }
  out->kind = NRTP_ADDR_ENGINE;
  const std::uint64_t rel = pa - kUdma;
  const std::uint64_t in_window = rel % kUdmaStride;
  if (pa >= kUdma && rel / kUdmaStride < 32 && in_window < kBroadcast) {
    out->kind = NRTP_ADDR_UDMA;
    out->unit = static_cast<std::uint32_t>(16 * kFirstCore + rel / kUdmaStride);
    out->dir = in_window >= 0x20000 ? 1 : 0;
    const std::uint64_t queue_page = (in_window % 0x20000) / 0x1000;
    out->queue = static_cast<std::uint32_t>(queue_page - 1);
    out->reg = static_cast<std::uint32_t>(in_window % 0x1000);
  }
  static_cast<void>(p);
  return NRTP_OK;
}

void write(nrtp_ibuf* out, std::uint64_t a0, std::uint32_t d0, std::uint64_t a1 = 0) {
  auto r = isa::zero_record<isa::WriteRecord>(isa::kOpWrite);
  r.size0 = 4;
  r.address0 = a0;
  r.data0 = d0;
  if (a1 != 0) {
    r.size1 = 4;
    r.address1 = a1;
  }
  std::memcpy(out->p + out->len, &r, sizeof r);
  out->len += sizeof r;
}

// Registers of the descriptor generators, relative to the NX block.
constexpr std::uint64_t kEngineMask = 0x13A0, kQueueMask = 0x13C0, kAllQueues = 0x13E0,
                        kMode = 0x14C0, kCarveOut = 0x14E0, kSoftware = 0x1500;

int step(std::uint32_t which, const nrtp_ib_env* env, nrtp_ibuf* out) {
  const std::uint64_t nx = nx_device(env->product, env->core, env->engine);
  const bool pool = env->engine == NRTP_ENGINE_POOL;
  const std::uint32_t own = env->hw_dge_queues[env->engine];
  std::uint32_t all = 0;
  for (std::size_t e = 0; e < 5; ++e) all |= env->hw_dge_queues[e];
  const std::uint32_t software = env->sw_dge_queues;
  switch (which) {
    case NRTP_STEP_NX_SETUP:
      if (pool) {
        write(out, nx + kSoftware, software == 0 ? 0 : software << 16 | 0xFFFF);
        write(out, nx + kCarveOut, software == 0 ? 0 : 0x04000000);
      }
      write(out, nx + kEngineMask, own == 0 ? 0 : 0xFFFF);
      write(out, nx + kQueueMask, own);
      write(out, nx + kAllQueues, all);
      write(out, nx + kMode, env->engine == NRTP_ENGINE_DVE ? 5 : 4);
      break;
    case NRTP_STEP_NX_CLEAR:
      if (pool) write(out, nx + kSoftware, 0, nx + kCarveOut);
      write(out, nx + kEngineMask, 0, nx + kQueueMask);
      write(out, nx + kAllQueues, 0);
      break;
    case NRTP_STEP_ROUND_MODE:
      if (kRoundMode[env->engine] != 0) {
        write(out, kTpbCsr + (env->core - kFirstCore) * kTpbCsrStride + kRoundMode[env->engine], 0);
      }
      break;
    case NRTP_STEP_SEM_RESET: {
      auto r = isa::zero_record<isa::RangeClearRecord>(isa::kOpRangeClear);
      r.mode = 1;
      r.first = static_cast<std::uint8_t>(env->sem_first);
      r.last = static_cast<std::uint8_t>(env->sem_last);
      std::memcpy(out->p + out->len, &r, sizeof r);
      out->len += sizeof r;
      break;
    }
    case NRTP_STEP_LIBRARY_LOAD:
    case NRTP_STEP_LIBRARY_CLEAR:
      if (pool) {
        auto r = isa::zero_record<isa::ControlRecord>(isa::kOpPoolConfig);
        r.setter_signature = 0xFF00 | (which == NRTP_STEP_LIBRARY_LOAD ? 1 : 2);
        std::memcpy(out->p + out->len, &r, sizeof r);
        out->len += sizeof r;
      }
      break;
    default:
      break;
  }
  return NRTP_OK;
}

struct Arch {
  Arch() : base(*nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR)) {
    address = *base.address;
    address.local_to_device = local_to_device;
    address.nx_device = nx_device;
    address.sem_addr = sem_addr;
    address.classify = classify;
    dma = *base.dma;
    dma.udma_device = udma_device;
    dma.core_engine = core_engine;
    dma.bcast_device = bcast_device;
    dma.runtime_ring = runtime_ring;
    dma.engine_stride = kUdmaStride;
    dma.flags = NRTP_DMA_STRONG_ORDER_WRITE;
    ib = *base.ib;
    ib.form_default = NRTP_FORM_2_30;
    ib.form_mask = NRTP_FORM_BIT_2_27 | NRTP_FORM_BIT_2_30;
    ib.nx_start_ctrl = 0x4;
    ib.step = step;
    ib.validate_inst = nullptr;
    ib.validate_image = nullptr;
    tables = *base.tables;
    tables.dve_kick = 6;
    tables.act_kick = 5;
    plugin = base;
    plugin.name = "profiled cayman";
    plugin.address = &address;
    plugin.dma = &dma;
    plugin.ib = &ib;
    plugin.tables = &tables;
  }
  const nrtp_arch_plugin& base;
  nrtp_arch_address address{};
  nrtp_arch_dma dma{};
  nrtp_arch_ib ib{};
  nrtp_arch_tables tables{};
  nrtp_arch_plugin plugin{};
};

}  // namespace

const nrtp_arch_plugin& profiled_cayman() {
  static const Arch arch;
  return arch.plugin;
}

}  // namespace opennrt::test
