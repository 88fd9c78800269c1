// SPDX-License-Identifier: Apache-2.0
#include "plugin/validate.h"

#include <cstring>
#include <string_view>

#include "plugin/manifest.h"

namespace opennrt::plugin {

namespace {

// "san=asan;version=1.2" -> "asan"; no such part -> "none".
std::string_view sanitizer_of(const char* build) {
  std::string_view text(build != nullptr ? build : "");
  while (!text.empty()) {
    const auto end = text.find(';');
    const std::string_view part = text.substr(0, end);
    if (part.starts_with("san=")) return part.substr(4);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return "none";
}

std::string kind_text(std::uint32_t kind) {
  if (kind >= NRTP_KIND_ARCH && kind <= NRTP_KIND_PORT)
    return std::string(kind_name(static_cast<Kind>(kind)));
  return fmt::format("kind {}", kind);
}

// Pointer member of a table or group at `offset`; nullptr when outside `bytes`.
const void* member_at(const void* table, std::uint32_t bytes, std::size_t offset) {
  if (offset + sizeof(void*) > bytes) return nullptr;
  const void* value = nullptr;
  std::memcpy(&value, static_cast<const char*>(table) + offset, sizeof value);
  return value;
}

struct Member {
  const char* name;
  std::size_t offset;
};

template <std::size_t N>
Status require_members(const void* table, std::uint32_t bytes, const char* group,
                       const Member (&members)[N], const std::string& file) {
  for (const Member& m : members)
    if (member_at(table, bytes, m.offset) == nullptr)
      return Status::invalid("{}: mandatory member {}{} is missing", file, group, m.name);
  return {};
}

Status require_group(const void* group, std::uint32_t expected, const char* name,
                     const std::string& file) {
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, group, sizeof bytes);
  if (bytes < expected)
    return Status::invalid("{}: group {} has {} bytes, version 1.0 has {}", file, name, bytes,
                           expected);
  return {};
}

#define M(type, member) {#member, offsetof(type, member)}
constexpr Member kArchMembers[] = {
    M(nrtp_arch_plugin, geometry), M(nrtp_arch_plugin, address),      M(nrtp_arch_plugin, dma),
    M(nrtp_arch_plugin, sync),     M(nrtp_arch_plugin, caps),         M(nrtp_arch_plugin, ib),
    M(nrtp_arch_plugin, tables),   M(nrtp_arch_plugin, neff_targets), M(nrtp_arch_plugin, products),
    M(nrtp_arch_plugin, attach),   M(nrtp_arch_plugin, detach),       M(nrtp_arch_plugin, name)};
constexpr Member kAddressMembers[] = {
    M(nrtp_arch_address, local_to_device), M(nrtp_arch_address, local_to_bar0),
    M(nrtp_arch_address, topsp_device),    M(nrtp_arch_address, topsp_bar0),
    M(nrtp_arch_address, event_addr),      M(nrtp_arch_address, sem_addr),
    M(nrtp_arch_address, hbm_to_bar4),     M(nrtp_arch_address, default_hbm),
    M(nrtp_arch_address, cores_of_hbm),    M(nrtp_arch_address, classify),
    M(nrtp_arch_address, bar0_to_device),  M(nrtp_arch_address, csr_regions),
    M(nrtp_arch_address, coretype),        M(nrtp_arch_address, nx_device),
    M(nrtp_arch_address, nx_bar0),         M(nrtp_arch_address, tpb_csr_device),
    M(nrtp_arch_address, misc_ram_device), M(nrtp_arch_address, notific_bar0)};
constexpr Member kDmaMembers[] = {
    M(nrtp_arch_dma, udma_bar0),      M(nrtp_arch_dma, udma_device),
    M(nrtp_arch_dma, sdma_misc_bar0), M(nrtp_arch_dma, notific_bar0),
    M(nrtp_arch_dma, queue_reg),      M(nrtp_arch_dma, bcast_device),
    M(nrtp_arch_dma, core_engine),    M(nrtp_arch_dma, host_engine),
    M(nrtp_arch_dma, host_queue),     M(nrtp_arch_dma, is_host_engine),
    M(nrtp_arch_dma, runtime_ring),   M(nrtp_arch_dma, alloc_class)};
constexpr Member kIbMembers[] = {M(nrtp_arch_ib, step)};
constexpr Member kPortMembers[] = {
    M(nrtp_sys_port, name),      M(nrtp_sys_port, attach), M(nrtp_sys_port, detach),
    M(nrtp_sys_port, open),      M(nrtp_sys_port, close),  M(nrtp_sys_port, ioctl),
    M(nrtp_sys_port, mmap),      M(nrtp_sys_port, munmap), M(nrtp_sys_port, exists),
    M(nrtp_sys_port, read_text), M(nrtp_sys_port, now_us), M(nrtp_sys_port, sleep_us)};
#undef M

}  // namespace

Status check_head(const nrtp_head& head, nrtp_kind kind, std::uint32_t major,
                  std::uint32_t table_bytes, std::uint64_t host_features, const std::string& file) {
  if (head.magic != NRTP_MAGIC)
    return Status::invalid("{}: wrong magic 0x{:08x}, expected 0x{:08x}", file, head.magic,
                           NRTP_MAGIC);
  if (head.size < sizeof(nrtp_head))
    return Status::invalid("{}: table has {} bytes, version 1.0 has {}", file, head.size,
                           table_bytes);
  if (head.kind != static_cast<std::uint32_t>(kind))
    return Status::invalid("{}: is a plugin of kind {}, expected {}", file, kind_text(head.kind),
                           kind_text(kind));
  if (head.abi_major != major)
    return Status::invalid(
        "{}: plugin ABI {}.{}, this runtime has {}.{}; install the plugin "
        "package of the same major version",
        file, head.abi_major, head.abi_minor, major, NRTP_ABI_MINOR);
  if (head.size < table_bytes)
    return Status::invalid("{}: table has {} bytes, version 1.0 has {}", file, head.size,
                           table_bytes);
  if (head.host_minor_min > NRTP_ABI_MINOR)
    return Status::invalid("{}: needs host ABI {}.{}, this runtime has {}.{}; update the runtime",
                           file, major, head.host_minor_min, major, NRTP_ABI_MINOR);
  if ((head.host_features_required & ~host_features) != 0)
    return Status::invalid("{}: needs host features 0x{:x}, this runtime has 0x{:x}", file,
                           head.host_features_required, host_features);
  const std::string_view theirs = sanitizer_of(head.build);
  if (theirs != OPENNRT_BUILD_SAN)
    return Status::invalid("{}: built with sanitizer '{}', this runtime with '{}'", file, theirs,
                           OPENNRT_BUILD_SAN);
  return {};
}

Status check_arch(const nrtp_arch_plugin& t, std::uint32_t manifest_arch_type,
                  const std::string& file) {
  ONRT_TRY(require_members(&t, t.head.size, "", kArchMembers, file));
  if (t.arch_type != manifest_arch_type)
    return Status::invalid("{}: is for arch {}, its manifest says {}", file, t.arch_type,
                           manifest_arch_type);
  if (t.n_products == 0 || t.product_stride < sizeof(nrtp_product))
    return Status::invalid("{}: {} products of {} bytes, need at least 1 of {}", file, t.n_products,
                           t.product_stride, sizeof(nrtp_product));
  ONRT_TRY(require_group(t.geometry, sizeof *t.geometry, "geometry", file));
  ONRT_TRY(require_group(t.address, sizeof *t.address, "address", file));
  ONRT_TRY(require_group(t.dma, sizeof *t.dma, "dma", file));
  ONRT_TRY(require_group(t.sync, sizeof *t.sync, "sync", file));
  ONRT_TRY(require_group(t.caps, sizeof *t.caps, "caps", file));
  ONRT_TRY(require_group(t.ib, offsetof(nrtp_arch_ib, isa), "ib", file));
  ONRT_TRY(require_group(t.tables, sizeof *t.tables, "tables", file));
  if (t.geometry->tpbs == 0 || t.geometry->engines == 0 || t.geometry->engines > NRTP_MAX_ENGINES)
    return Status::invalid("{}: geometry has {} cores and {} engines, need 1 or more and 1 to {}",
                           file, t.geometry->tpbs, t.geometry->engines, NRTP_MAX_ENGINES);
  ONRT_TRY(require_members(t.address, t.address->size, "address.", kAddressMembers, file));
  ONRT_TRY(require_members(t.dma, t.dma->size, "dma.", kDmaMembers, file));
  return require_members(t.ib, t.ib->size, "ib.", kIbMembers, file);
}

Status check_port(const nrtp_sys_port& t, const std::string& file) {
  return require_members(&t, t.head.size, "", kPortMembers, file);
}

}  // namespace opennrt::plugin
