// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <unistd.h>

#include <array>

#include "nrt/nrt_experimental.h"
#include "table.h"

namespace opennrt::status_table {
namespace {

std::uint64_t address_of(const nrt_tensor_t* t) {
  return reinterpret_cast<std::uintptr_t>(nrt_tensor_get_va(t));
}

int hbm() {
  void* address = nullptr;
  std::size_t bytes = 0;
  return nrt_get_hbm_mmap_va(0, 0, &address, &bytes);
}

int dmabuf(std::uint64_t va, std::uint64_t bytes) {
  int fd = -1;
  const NRT_STATUS status = nrt_get_dmabuf_fd(va, bytes, &fd);
  if (status == NRT_SUCCESS) close(fd);
  return status;
}

int dmabuf_v2(std::uint64_t va, std::uint64_t bytes) {
  int fd = -1;
  std::uint64_t offset = 0;
  const NRT_STATUS status = nrt_get_dmabuf_fd_v2(va, bytes, &fd, &offset);
  if (status == NRT_SUCCESS) close(fd);
  return status;
}

const std::array kProbes = {
    Probe{"nrt_host_device_id_get", Guard::kFull,
          [](Objects&) -> int {
            std::uint32_t id = 0;
            return nrt_host_device_id_get(0, &id);
          }},
    Probe{"nrt_host_device_id_rid_map_get", Guard::kFull,
          [](Objects&) -> int {
            std::uint32_t map[64], n = 64;
            return nrt_host_device_id_rid_map_get(&n, map);
          }},
    // The driver of Trainium1 does not map an HBM as a whole.
    Probe{"nrt_get_hbm_mmap_va", Guard::kFull, [](Objects&) { return hbm(); }, {NRT_INVALID}},
    Probe{"nrt_get_vnc_memory_stats", Guard::kFull,
          [](Objects&) -> int {
            nrt_vnc_memory_stats_t stats;
            std::size_t n = 0;
            return nrt_get_vnc_memory_stats(0, &stats, sizeof stats, &n);
          }},
    // A software device has no card next to it.
    Probe{"nrt_get_attached_efa_bdf",
          Guard::kFull,
          [](Objects& o) -> int {
            char text[32];
            std::size_t n = sizeof text;
            return nrt_get_attached_efa_bdf(nrt_tensor_get_va(o.a), text, &n);
          },
          {NRT_FAILURE}},
    Probe{"nrt_get_dmabuf_fd", Guard::kFull,
          [](Objects& o) { return dmabuf(address_of(o.a), o.bytes); }},
    Probe{"nrt_get_dmabuf_fd_v2", Guard::kFull,
          [](Objects& o) { return dmabuf_v2(address_of(o.a) + 4096, 4096); }},
    Probe{"nrt_memcpy_to_device", Guard::kNone,
          [](Objects&) -> int {
            char to[4] = {};
            return nrt_memcpy_to_device(to, "abc", 4);
          }},
};

void questions(Report& r) {
  start(r);
  std::uint32_t id = 0, n = 0, map[64] = {};
  const char* f = "nrt_host_device_id_get";
  r.null(f, 1, {NRT_INVALID}, nrt_host_device_id_get(0, nullptr));
  for (const int device : {-1, 1, 1 << 30})
    r.call(f, {NRT_INVALID}, "device " + std::to_string(device),
           nrt_host_device_id_get(device, &id));
  f = "nrt_host_device_id_rid_map_get";
  r.null(f, 0, {NRT_INVALID}, nrt_host_device_id_rid_map_get(nullptr, map));
  r.call(f, {NRT_INVALID}, "table of 0 entries", nrt_host_device_id_rid_map_get(&n, map));
  n = 64;
  r.null(f, 1, {NRT_INVALID}, nrt_host_device_id_rid_map_get(&n, nullptr));
  f = "nrt_get_vnc_memory_stats";
  nrt_vnc_memory_stats_t stats;
  std::size_t size = 0;
  r.null(f, 1, {NRT_INVALID}, nrt_get_vnc_memory_stats(0, nullptr, 16, &size));
  r.null(f, 3, {NRT_INVALID}, nrt_get_vnc_memory_stats(0, &stats, 16, nullptr));
  for (const std::uint32_t vnc : {2u, ~0u})
    r.call(f, {NRT_INVALID}, "logical core " + std::to_string(vnc),
           nrt_get_vnc_memory_stats(vnc, &stats, 16, &size));
  f = "nrt_get_attached_efa_bdf";
  char text[32];
  std::size_t length = sizeof text;
  int here = 0;
  r.null(f, 0, {NRT_INVALID}, nrt_get_attached_efa_bdf(nullptr, text, &length));
  r.null(f, 1, {NRT_INVALID}, nrt_get_attached_efa_bdf(&here, nullptr, &length));
  r.null(f, 2, {NRT_INVALID}, nrt_get_attached_efa_bdf(&here, text, nullptr));
  r.call(f, {NRT_FAILURE}, "address of no device", nrt_get_attached_efa_bdf(&here, text, &length));
  f = "nrt_memcpy_to_device";
  r.call(f, {NRT_SUCCESS}, "nothing", nrt_memcpy_to_device(text, text + 8, 0));
  r.null(f, 0, {NRT_SUCCESS}, nrt_memcpy_to_device(nullptr, text, 0));
  r.null(f, 1, {NRT_SUCCESS}, nrt_memcpy_to_device(text, nullptr, 0));
  nrt_close();
}

void shared_memory(Report& r) {
  start(r);
  nrt_tensor_t* t = nullptr;
  r.need(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 65536, "t", &t) == NRT_SUCCESS,
         "a tensor");
  const std::uint64_t va = address_of(t);
  int here = 0, fd = -1;
  std::uint64_t offset = 0;
  r.null("nrt_get_dmabuf_fd", 2, {NRT_INVALID}, nrt_get_dmabuf_fd(va, 4096, nullptr));
  r.null("nrt_get_dmabuf_fd_v2", 2, {NRT_INVALID},
         nrt_get_dmabuf_fd_v2(va, 4096, nullptr, &offset));
  r.null("nrt_get_dmabuf_fd_v2", 3, {NRT_INVALID}, nrt_get_dmabuf_fd_v2(va, 4096, &fd, nullptr));
  constexpr std::pair<const char*, int (*)(std::uint64_t, std::uint64_t)> kBoth[] = {
      {"nrt_get_dmabuf_fd", dmabuf}, {"nrt_get_dmabuf_fd_v2", dmabuf_v2}};
  for (const auto& [f, call] : kBoth) {
    r.call(f, {NRT_INVALID}, "address of no device",
           call(reinterpret_cast<std::uintptr_t>(&here), 4096));
    r.call(f, {NRT_INVALID}, "address 0", call(0, 4096));
    r.call(f, {NRT_INVALID}, "size 0", call(va, 0));
    r.call(f, {NRT_INVALID}, "longer than the memory", call(va, std::uint64_t{1} << 60));
    faults().fail("DMABUF_FD", ENOMEM, 0);
    r.call(f, {NRT_RESOURCE}, "driver out of memory", call(va, 4096));
    faults().fail("DMABUF_FD", EIO, 0);
    r.call(f, {NRT_FAILURE}, "driver fails", call(va, 4096));
    faults().fail("DMABUF_FD", ENOTTY, 0);
    r.call(f, {NRT_INVALID}, "driver without dma-bufs", call(va, 4096));
    faults().clear();
  }
  r.call("nrt_get_dmabuf_fd", {NRT_INVALID}, "inside the region", dmabuf(va + 4096, 4096));
  nrt_close();
}

// Trainium2 maps each HBM as a whole.
void mapped_hbm(Report& r) {
  setenv("OPENNRT_EMULATOR_PRODUCT", "trn2.3xlarge", 1);
  start(r);
  const char* const f = "nrt_get_hbm_mmap_va";
  void* address = nullptr;
  std::size_t bytes = 0;
  faults().fail("RESOURCE_MMAP_INFO", EIO, 0);
  r.call(f, {NRT_FAILURE}, "driver fails", hbm());
  faults().clear();
  r.call(f, {NRT_SUCCESS}, "HBM 0 of device 0", hbm());
  from_threads(r, f, {NRT_SUCCESS}, [](int) { return hbm(); });
  r.call(f, {NRT_INVALID_HANDLE}, "HBM 4", nrt_get_hbm_mmap_va(0, 4, &address, &bytes));
  r.call(f, {NRT_INVALID}, "HBM -1", nrt_get_hbm_mmap_va(0, -1, &address, &bytes));
  r.call(f, {NRT_INVALID}, "device 1", nrt_get_hbm_mmap_va(1, 0, &address, &bytes));
  r.null(f, 2, {NRT_INVALID}, nrt_get_hbm_mmap_va(0, 0, nullptr, &bytes));
  r.null(f, 3, {NRT_INVALID}, nrt_get_hbm_mmap_va(0, 0, &address, nullptr));
  nrt_close();
}

constexpr std::array kScenes = {Scene{"devices", questions}, Scene{"shared memory", shared_memory},
                                Scene{"mapped HBM", mapped_hbm}};

}  // namespace

std::span<const Probe> devices_probes() { return kProbes; }
std::span<const Scene> devices_scenes() { return kScenes; }

}  // namespace opennrt::status_table
