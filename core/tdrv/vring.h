// SPDX-License-Identifier: Apache-2.0
//
// Host-side editable descriptor lists ("vrings") and the lowering of NEFF DMA
// blocks to the 16 rings of a queue set. Pure; addresses of caller tensors are
// templates (variable id + offset) until an execution binds them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "neff/program.h"
#include "opennrt/arch.h"
#include "tdrv/image.h"

namespace opennrt::tdrv {

// 16-byte hardware descriptor; bit-identical on all supported silicon.
struct DmaDescriptor {
  std::uint32_t len_ctrl = 0;
  std::uint32_t meta_ctrl = 0;
  std::uint64_t address = 0;  // bit 61: template, bits 54:36 variable id, bits 35:0 offset
};
static_assert(sizeof(DmaDescriptor) == 16);

// A queue that was reset expects ring id (phase) 1 until its ring wraps. Model
// and table rings never wrap, so every descriptor made here carries 1; who
// copies them into a wrapping ring replaces bits 25:24.
inline constexpr std::uint32_t kLinearRingId = 1;

// A TX descriptor with this bit in len_ctrl carries parameters of an operation
// where others have an address.
inline constexpr std::uint32_t kMetaDescriptor = 1u << 23;

inline constexpr std::uint64_t kTemplateFlag = 1ull << 61;
inline constexpr std::uint64_t template_address(std::uint32_t var_id, std::uint64_t offset) {
  return kTemplateFlag | (static_cast<std::uint64_t>(var_id) << 36) | offset;
}
inline constexpr bool is_template(std::uint64_t address) { return (address & kTemplateFlag) != 0; }
inline constexpr bool is_template(const DmaDescriptor& d) {
  return (d.len_ctrl & kMetaDescriptor) == 0 && is_template(d.address);
}
inline constexpr std::uint32_t template_variable(std::uint64_t address) {
  return static_cast<std::uint32_t>((address >> 36) & 0x7FFFF);
}
inline constexpr std::uint64_t template_offset(std::uint64_t address) {
  return address & 0xF'FFFF'FFFFull;
}

struct VirtualRing {
  std::vector<DmaDescriptor> tx, rx;
};

// The rings of one queue set of one core and what its triggers release.
struct QueueRings {
  std::array<VirtualRing, kMaxRings> rings;
  std::vector<BlockCounts> blocks;  // index = position in set.blocks
  bool caller_sources = false, caller_destinations = false;
};

struct RingInputs {
  const nrtp_arch_plugin* arch = nullptr;
  const nrtp_product* product = nullptr;
  std::uint32_t core = 0;
  std::uint32_t platform = NRTP_PLATFORM_SILICON;
  const neff::Subgraph* subgraph = nullptr;
  // var_id -> device address; UINT64_MAX = caller tensor, becomes a template.
  std::span<const std::uint64_t> variable_address;
  std::uint64_t filler_pa = 0;  // 4-byte word of the model for padding packets
  // Core that remote semaphores of blocks belong to.
  std::optional<std::uint32_t> peer_core;
};

Result<QueueRings> build_queue_rings(const neff::QueueSet& set, const RingInputs& inputs);
// The rings of each instance of a set, one when it has none. Instances take turns
// on fixed addresses: those of several touch no caller tensors.
Result<std::vector<QueueRings>> build_instance_rings(const neff::QueueSet& set,
                                                     const RingInputs& inputs);

// Appends a plain copy of `bytes` (<= 65536 per descriptor pair) to both sides.
void append_copy(VirtualRing& ring, std::uint64_t src, std::uint64_t dst, std::uint64_t bytes);

// Hardware queues that programs on a core may use, in order.
Result<std::vector<std::uint32_t>> model_queues(const nrtp_arch_plugin& arch,
                                                const nrtp_product& product, std::uint32_t core);
// Hardware queue numbers of a subgraph's queue sets, index = position in
// subgraph.queues: `data` sets first, then the others, by byte order of the
// name. NRT_RESOURCE: more sets than queues.
Result<std::vector<std::uint32_t>> assign_hardware_queues(const neff::Subgraph& subgraph,
                                                          const nrtp_arch_plugin& arch,
                                                          const nrtp_product& product,
                                                          std::uint32_t core);

}  // namespace opennrt::tdrv
