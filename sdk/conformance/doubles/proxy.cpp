// SPDX-License-Identifier: Apache-2.0
//
// The proxies of the three kinds; which one is built says PROXY_ARCH, PROXY_NDL or
// PROXY_PORT. See proxy.h.
#include "proxy.h"

#if defined(PROXY_ARCH)
#include "opennrt/arch.h"
#elif defined(PROXY_NDL)
#include "opennrt/ndl.h"
#else
#include "opennrt/port.h"
#endif

#if defined(PROXY_ARCH)
namespace opennrt::doubles {
template <>
inline constexpr std::size_t previous_size<nrtp_arch_ib> = offsetof(nrtp_arch_ib, isa);
}
#endif

namespace {

using namespace opennrt::doubles;

#define SLOT(name) put_slot<&G::name>(settings, group, (prefix + #name).c_str());
#define GROUP(type, name, ...)                                                       \
  {                                                                                  \
    static Copy<type> copy;                                                          \
    put_group(settings, table.name, copy, #name, [&]([[maybe_unused]] auto& group) { \
      using G [[maybe_unused]] = type;                                               \
      [[maybe_unused]] const std::string prefix = #name ".";                         \
      __VA_ARGS__                                                                    \
    });                                                                              \
  }

#if defined(PROXY_ARCH)
using Table = nrtp_arch_plugin;
constexpr const char* kSymbol = NRTP_ARCH_QUERY_SYMBOL;
constexpr std::uint32_t kMajor = NRTP_ARCH_ABI_MAJOR, kMinor = NRTP_ARCH_ABI_MINOR;
constexpr std::uint32_t kTruncated = offsetof(Table, attach);
constexpr std::uint32_t kPrevious = offsetof(Table, driver);  // bytes of version 1.0

void put_groups(Settings& settings, Table& table) {
  GROUP(nrtp_arch_geometry, geometry, )
  GROUP(nrtp_arch_address, address,
        SLOT(local_to_device) SLOT(local_to_bar0) SLOT(topsp_device) SLOT(topsp_bar0)
            SLOT(event_addr) SLOT(sem_addr) SLOT(hbm_to_bar4) SLOT(default_hbm) SLOT(cores_of_hbm)
                SLOT(classify) SLOT(bar0_to_device) SLOT(csr_regions) SLOT(coretype) SLOT(nx_device)
                    SLOT(nx_bar0) SLOT(tpb_csr_device) SLOT(misc_ram_device) SLOT(notific_bar0))
  GROUP(nrtp_arch_dma, dma,
        SLOT(udma_bar0) SLOT(udma_device) SLOT(sdma_misc_bar0) SLOT(notific_bar0) SLOT(queue_reg)
            SLOT(bcast_device) SLOT(core_engine) SLOT(host_engine) SLOT(host_queue)
                SLOT(is_host_engine) SLOT(runtime_ring) SLOT(alloc_class) SLOT(encode_embedded_sem)
                    SLOT(encode_compute_op))
  GROUP(nrtp_arch_sync, sync, )
  GROUP(nrtp_arch_caps, caps, )
  GROUP(nrtp_arch_ib, ib, SLOT(step) SLOT(lower_pseudo) SLOT(validate_inst) SLOT(validate_image))
  GROUP(nrtp_arch_tables, tables, SLOT(stage_dve) SLOT(stage_act) SLOT(default_dve))
  GROUP(nrtp_arch_hal, hal,
        SLOT(core_init) SLOT(core_fini) SLOT(topsp_init) SLOT(notific_init) SLOT(intc_init)
            SLOT(nq_config) SLOT(nq_enable) SLOT(fetch_start) SLOT(read_pc) SLOT(seed)
                SLOT(read_overflow) SLOT(reset_dma_engine))
  GROUP(nrtp_arch_fabric, fabric,
        SLOT(max_devices) SLOT(mesh_max_folds) SLOT(p2p_port) SLOT(mesh_engine) SLOT(barrier_sem)
            SLOT(remote_hbm))
  GROUP(nrtp_arch_timing, timing, )
  GROUP(nrtp_arch_semantics, semantics, SLOT(claims) SLOT(execute))
  GROUP(nrtp_arch_driver, driver, SLOT(neighbours) SLOT(routing_id))
}

void put_slots(Settings& settings, Table& group) {
  using G = Table;
  const std::string prefix;
  SLOT(attach) SLOT(detach)
}

#elif defined(PROXY_NDL)
using Table = nrtp_ndl_ops;
constexpr const char* kSymbol = NRTP_NDL_QUERY_SYMBOL;
constexpr std::uint32_t kMajor = NRTP_NDL_ABI_MAJOR, kMinor = NRTP_NDL_ABI_MINOR;
constexpr std::uint32_t kTruncated = offsetof(Table, misc);
constexpr std::uint32_t kPrevious = 0;  // there is none

void put_groups(Settings& settings, Table& table) {
  GROUP(nrtp_ndl_probe, probe,
        SLOT(probe) SLOT(get_version) SLOT(get_compatible_version) SLOT(feature_supported)
            SLOT(register_soft_incompat) SLOT(product_name))
  GROUP(nrtp_ndl_device, device,
        SLOT(available) SLOT(open) SLOT(close) SLOT(board_info) SLOT(bdf) SLOT(bdf_ext)
            SLOT(host_device_id) SLOT(rid_map) SLOT(nc_map) SLOT(apps_info) SLOT(close_all))
  GROUP(nrtp_ndl_reg, reg, SLOT(read) SLOT(write) SLOT(hw_counters) SLOT(map_region) SLOT(hbm_va))
  GROUP(nrtp_ndl_mem, mem,
        SLOT(alloc) SLOT(alloc_contig) SLOT(free) SLOT(get_pa) SLOT(map) SLOT(map_contig)
            SLOT(unmap) SLOT(mc_info) SLOT(copy_buf) SLOT(dmabuf_fd) SLOT(va_placement) SLOT(dump))
  GROUP(nrtp_ndl_copy, copy,
        SLOT(in) SLOT(out) SLOT(zc_in) SLOT(zc_out) SLOT(batch) SLOT(copy) SLOT(copy_async)
            SLOT(copy_wait) SLOT(set) SLOT(program_engine))
  GROUP(nrtp_ndl_dma, dma,
        SLOT(eng_set_state) SLOT(eng_get_state) SLOT(queue_init) SLOT(queue_init_batch)
            SLOT(queue_release) SLOT(queue_start) SLOT(queue_ack) SLOT(queue_state) SLOT(desc_write)
                SLOT(desc_read) SLOT(h2t_alloc) SLOT(h2t_free) SLOT(compl_queues))
  GROUP(nrtp_ndl_sync, sync,
        SLOT(sem_inc) SLOT(sem_dec) SLOT(sem_read) SLOT(sem_write) SLOT(event_get) SLOT(event_set))
  GROUP(nrtp_ndl_nq, nq, SLOT(init) SLOT(handle) SLOT(bytes) SLOT(map) SLOT(destroy))
  GROUP(nrtp_ndl_life, life,
        SLOT(reset) SLOT(ready) SLOT(nc_state) SLOT(started_count) SLOT(scrub_start)
            SLOT(scrub_wait))
  GROUP(nrtp_ndl_share, share,
        SLOT(nds_open) SLOT(nds_close) SLOT(reader_enter) SLOT(reader_exit) SLOT(writer_enter)
            SLOT(writer_downgrade) SLOT(range_mark) SLOT(range_unmark))
  GROUP(nrtp_ndl_pod, pod,
        SLOT(info) SLOT(election_state) SLOT(mapping_info) SLOT(status) SLOT(ctrl))
  GROUP(nrtp_ndl_misc, misc,
        SLOT(printk) SLOT(dump_nc_pid) SLOT(profile_set) SLOT(profile_get) SLOT(profile_list)
            SLOT(throttling) SLOT(metrics) SLOT(now_us) SLOT(sleep_us) SLOT(control)
                SLOT(memory_errors))
}

void put_slots(Settings& settings, Table& group) {
  using G = Table;
  const std::string prefix;
  SLOT(attach) SLOT(detach) SLOT(caps)
}

#elif defined(PROXY_PORT)
using Table = nrtp_sys_port;
constexpr const char* kSymbol = NRTP_PORT_QUERY_SYMBOL;
constexpr std::uint32_t kMajor = NRTP_PORT_ABI_MAJOR, kMinor = NRTP_PORT_ABI_MINOR;
constexpr std::uint32_t kTruncated = offsetof(Table, sleep_us);
constexpr std::uint32_t kPrevious = offsetof(Table, control);  // bytes of version 1.0

void put_groups([[maybe_unused]] Settings& settings, [[maybe_unused]] Table& table) {}

void put_slots(Settings& settings, Table& group) {
  using G = Table;
  const std::string prefix;
  SLOT(attach)
  SLOT(detach)
  SLOT(open)
  SLOT(close)
  SLOT(ioctl)
  SLOT(mmap) SLOT(munmap) SLOT(exists) SLOT(read_text) SLOT(now_us) SLOT(sleep_us) SLOT(control)
}

#endif

const Table* make_table() {
  const auto* const target = open_target<Table>(kSymbol, kMajor, kMinor);
  if (target == nullptr) return nullptr;
  static Copy<Table> copy;
  Settings settings;
  copy.take(target);
  copy.table.head.size =
      copy.table.head.size < sizeof(Table) ? copy.table.head.size : sizeof(Table);
  put_groups(settings, copy.table);
  put_slots(settings, copy.table);
  if (!settings.left_over().empty())
    return static_cast<const Table*>(refuse("no such slot: " + settings.left_over()));
  if (settings.table == "previous-minor" && kPrevious != 0) {
    copy.table.head.abi_minor -= 1;
    cut(copy, kPrevious);
  } else if (!damage(settings.table, copy.table.head, sizeof copy.bytes, kTruncated)) {
    return static_cast<const Table*>(
        refuse("unknown OPENNRT_DOUBLE_TABLE: " + std::string(settings.table)));
  }
  return &copy.table;
}

const Table* query(std::uint32_t host_major) {
  const std::string_view how = setting("OPENNRT_DOUBLE_TABLE");
  if (how == "throws") throw std::runtime_error("double: the query throws");
  if (how == "returns-null") return nullptr;
  static const Table* const table = make_table();
  return host_major == kMajor ? table : nullptr;
}

}  // namespace

extern "C" {
#if defined(PROXY_ARCH)
NRTP_EXPORT const nrtp_arch_plugin* nrtp_arch_query(uint32_t host_major, uint32_t) {
  return query(host_major);
}
#elif defined(PROXY_NDL)
NRTP_EXPORT const nrtp_ndl_ops* nrtp_ndl_query(uint32_t host_major, uint32_t) {
  return query(host_major);
}
#else
NRTP_EXPORT const nrtp_sys_port* nrtp_port_query(uint32_t host_major, uint32_t) {
  return query(host_major);
}
#endif
}
