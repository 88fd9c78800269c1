// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include <algorithm>
#include <atomic>

#include "api/entry.h"

using namespace opennrt;
using namespace opennrt::api;

namespace {

const void* address_of(uint64_t va) {
  return reinterpret_cast<const void*>(static_cast<uintptr_t>(va));
}

// Device memory around an address: a tensor, or an HBM mapped as a whole.
struct Owner {
  const void* begin = nullptr;
  uint64_t bytes = 0;
  uint32_t device = 0;
};

std::optional<Owner> owner_of(Session& s, const void* va) {
  if (const auto memory = s.manager().mapped_memory(va); memory && memory->on_device)
    return Owner{memory->begin, memory->bytes, memory->device};
  if (const auto hbm = s.devices().hbm_at(va))
    return Owner{hbm->mapping.va, hbm->mapping.bytes, hbm->device};
  return std::nullopt;
}

Result<Owner> shareable(Session& s, uint64_t va, uint64_t size) {
  if (!s.config().flag(config::Key::kDmaP2p))
    return Status::invalid(
        "{} is 0: device memory is not shared; set NEURON_RT_ENABLE_P2P=1 (dma.p2p: true) before "
        "nrt_init",
        s.config().source(config::Key::kDmaP2p));
  const auto owner = owner_of(s, address_of(va));
  if (!owner)
    return Status::invalid("{:#x} is no CPU address of device memory (nrt_tensor_get_va)", va);
  const uint64_t before = va - reinterpret_cast<uintptr_t>(owner->begin);
  if (size == 0 || size > owner->bytes - before)
    return Status::invalid("size is {}: from {:#x} on the memory has {} bytes", size, va,
                           owner->bytes - before);
  return *owner;
}

}  // namespace

extern "C" {

NRT_STATUS nrt_host_device_id_get(int neuron_dev, uint32_t* host_device_id) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(host_device_id, "host_device_id"));
    ONRT_ASSIGN(*host_device_id, s.devices().host_id(neuron_dev));
    return {};
  });
}

NRT_STATUS nrt_host_device_id_rid_map_get(uint32_t* count, uint32_t* host_did_to_rid_map) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(count, "count"));
    ONRT_TRY(require(host_did_to_rid_map, "host_did_to_rid_map"));
    ONRT_ASSIGN(const std::vector<uint32_t> ids, s.devices().routing_ids());
    if (*count < ids.size())
      return Status::invalid("count is {}, the table has {} entries", *count, ids.size());
    std::copy(ids.begin(), ids.end(), host_did_to_rid_map);
    *count = static_cast<uint32_t>(ids.size());
    return {};
  });
}

NRT_STATUS nrt_get_hbm_mmap_va(int device_id, int hbm_idx, void** addr, size_t* size) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(addr, "addr"));
    ONRT_TRY(require(size, "size"));
    ONRT_ASSIGN(const book::Devices::HbmMapping found, s.devices().map_hbm(device_id, hbm_idx));
    *addr = found.va;
    *size = found.bytes;
    return {};
  });
}

NRT_STATUS nrt_get_vnc_memory_stats(uint32_t vnc, nrt_vnc_memory_stats_t* stats,
                                    size_t stats_size_in, size_t* stats_size_out) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(stats, "stats"));
    ONRT_TRY(require(stats_size_out, "stats_size_out"));
    ONRT_ASSIGN(const tdrv::MemoryUse use, s.manager().memory_use(vnc));
    const nrt_vnc_memory_stats_t out{.bytes_used = use.used, .bytes_limit = use.limit};
    *stats_size_out = std::min(stats_size_in, sizeof out);
    memcpy(stats, &out, *stats_size_out);
    return {};
  });
}

NRT_STATUS nrt_get_attached_efa_bdf(const void* va, char* efa_bdf, size_t* len) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(va, "va"));
    ONRT_TRY(require(efa_bdf, "efa_bdf"));
    ONRT_TRY(require(len, "len"));
    const auto owner = owner_of(s, va);
    if (!owner) return Status::failure("{} is no CPU address of device memory", va);
    ONRT_ASSIGN(const std::string card, s.devices().network_card(owner->device));
    if (*len < card.size() + 1)
      return Status::resource("len is {}, the address {} needs {}", *len, card, card.size() + 1);
    memcpy(efa_bdf, card.c_str(), card.size() + 1);
    *len = card.size();
    return {};
  });
}

NRT_STATUS nrt_get_dmabuf_fd(uint64_t va, uint64_t size, int* fd) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(fd, "fd"));
    ONRT_ASSIGN(const Owner owner, shareable(s, va, size));
    if (owner.begin != address_of(va))
      return Status::invalid("{:#x} is inside device memory that begins at {}", va, owner.begin);
    ONRT_ASSIGN(*fd, s.devices().dmabuf(owner.begin, size));
    return {};
  });
}

NRT_STATUS nrt_get_dmabuf_fd_v2(uint64_t va, uint64_t size, int* fd, uint64_t* offset) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(fd, "fd"));
    ONRT_TRY(require(offset, "offset"));
    ONRT_ASSIGN(const Owner owner, shareable(s, va, size));
    ONRT_ASSIGN(*fd, s.devices().dmabuf(owner.begin, owner.bytes));
    *offset = s.devices().offset_in_dmabuf(owner.begin, address_of(va));
    return {};
  });
}

// Plain stores; the fence makes them visible before a later kick.
NRT_STATUS nrt_memcpy_to_device(void* dest, const void* src, size_t size) {
  return unguarded(__func__, [&]() -> Status {
    if (size == 0) return {};
    ONRT_TRY(require(dest, "dest"));
    ONRT_TRY(require(src, "src"));
    memcpy(dest, src, size);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return {};
  });
}

}  // extern "C"
