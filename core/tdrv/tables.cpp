// SPDX-License-Identifier: Apache-2.0
#include "tdrv/tables.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "tdrv/pring.h"

namespace opennrt::tdrv {
namespace {

// The parameter RAM belongs to no program: reciprocals 1/1 .. 1/256 in FP32.
std::vector<std::byte> parameter_ram() {
  std::vector<std::byte> bytes(256 * sizeof(float));
  for (std::size_t i = 0; i < 256; ++i) {
    const float value = 1.0f / static_cast<float>(i + 1);
    std::memcpy(bytes.data() + i * sizeof(float), &value, sizeof(float));
  }
  return bytes;
}

}  // namespace

Result<std::vector<TablePart>> dve_tables(const nrtp_arch_plugin& arch,
                                          const neff::Subgraph& subgraph) {
  const nrtp_arch_tables& tables = *arch.tables;
  std::uint32_t n_defaults = 0;
  const nrtp_blob* defaults =
      tables.default_dve != nullptr ? tables.default_dve(&n_defaults) : nullptr;
  std::vector<TablePart> parts;
  for (std::uint32_t i = 0; i < tables.n_dve; ++i) {
    const nrtp_table_slot& slot = tables.dve[i];
    if (slot.bytes == 0) continue;
    TablePart part;
    part.name = slot.name;
    part.local = slot.local;
    for (const neff::NamedBlob& blob : subgraph.dve_tables) {
      if (blob.name == slot.name) part.content = blob.data;
    }
    for (std::uint32_t d = 0; part.content.empty() && d < n_defaults; ++d) {
      if (std::string_view(defaults[d].name) == slot.name) {
        part.content = {static_cast<const std::byte*>(defaults[d].data), defaults[d].bytes};
      }
    }
    if (part.content.empty() && part.name == "param_ram") {
      part.owned = parameter_ram();
      part.content = part.owned;
    }
    if (part.content.empty()) {
      return Status::invalid("DVE table '{}': the program brings none and arch {} has no default",
                             slot.name, arch.name);
    }
    if (part.content.size() > slot.bytes) {
      return Status::resource("DVE table '{}' has {} bytes, arch {} has room for {}", slot.name,
                              part.content.size(), arch.name, slot.bytes);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<TableRing> place_table_ring(CoreNode& core, const std::shared_ptr<Allocator>& owner,
                                   std::span<const TablePart> parts, std::uint32_t event,
                                   std::uint32_t kick, Usage usage, std::vector<DmemPtr>& memory) {
  const Bindings& bindings = core.bindings();
  const nrtp_arch_dma& dma = *bindings.arch->dma;
  VirtualRing ring;
  const auto append = [&](std::uint64_t src, std::uint64_t dst, std::uint32_t bytes, bool barrier) {
    const CopyPair pair = copy_packet(src, dst, bytes, dma, barrier);
    ring.tx.push_back(pair.tx);
    ring.rx.push_back(pair.rx);
  };
  for (const TablePart& part : parts) {
    ONRT_ASSIGN(DmemPtr table,
                owner->allocate({.bytes = part.content.size(), .usage = usage, .hint = part.name}));
    ONRT_TRY(table->copy_in(0, part.content.data(), part.content.size()));
    const std::uint64_t target =
        bindings.arch->address->local_to_device(bindings.product, core.core(), part.local);
    for (std::uint64_t done = 0; done < part.content.size(); done += kMaxDescriptorBytes) {
      const std::uint64_t n =
          std::min<std::uint64_t>(kMaxDescriptorBytes, part.content.size() - done);
      append(table->address() + done, target + done, static_cast<std::uint32_t>(n), false);
    }
    memory.push_back(std::move(table));
  }
  const std::uint64_t one = dma.event_const_addr[1];
  const std::uint64_t event_address =
      bindings.arch->address->event_addr(bindings.product, core.core(), event);
  // The usual kick releases a fixed number; spare descriptors repeat the first
  // word of the first table. Tables beyond one descriptor need a longer kick.
  if (ring.tx.empty() && kick > 1) {
    return Status::failure("no tables for a ring of {} descriptors", kick);
  }
  while (ring.tx.size() + 1 < kick) {
    const CopyPair pair =
        copy_packet(ring.tx.front().address, ring.rx.front().address, 4, dma, false);
    ring.tx.push_back(pair.tx);
    ring.rx.push_back(pair.rx);
  }
  append(one, event_address, 4, true);

  RingImage image;
  const std::uint64_t tx = image.add(ring.tx);
  const std::uint64_t rx = image.add(ring.rx);
  ONRT_ASSIGN(DmemPtr rings, owner->allocate({.bytes = image.bytes().size(),
                                              .alignment = RingImage::kBoundary,
                                              .usage = Usage::kDmaRing,
                                              .hint = "table ring"}));
  ONRT_TRY(rings->copy_in(0, image.bytes().data(), image.bytes().size()));
  TableRing placed;
  placed.present = true;
  placed.descriptors = static_cast<std::uint32_t>(ring.tx.size());
  placed.m2s_base = rings->address() + tx;
  placed.s2m_base = rings->address() + rx;
  memory.push_back(std::move(rings));
  return placed;
}

}  // namespace opennrt::tdrv
