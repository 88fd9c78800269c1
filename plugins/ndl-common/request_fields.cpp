// SPDX-License-Identifier: Apache-2.0
#include "ndl-common/request_fields.h"

#include <cstring>

namespace opennrt::ndl {
namespace {

using enum FieldDir;

template <typename Member>
constexpr Spot spot_of(size_t offset) {
  using Element = std::remove_all_extents_t<Member>;
  return {static_cast<uint16_t>(offset), static_cast<uint16_t>(sizeof(Member)),
          static_cast<uint16_t>(sizeof(Element)), std::is_signed_v<Element>};
}
#define AT(type, member) spot_of<decltype(std::declval<type&>().member)>(offsetof(type, member))

// The whole argument of a request without a struct.
template <typename T>
constexpr Spot scalar() {
  return spot_of<T>(0);
}
constexpr Spot after(size_t bytes) { return {static_cast<uint16_t>(bytes), 0, 0, false}; }

constexpr Extent times(Spot count, size_t unit, size_t base = 0) {
  return {count, static_cast<uint32_t>(unit), static_cast<uint32_t>(base)};
}
constexpr Extent fixed(size_t bytes) { return {{}, 0, static_cast<uint32_t>(bytes)}; }

// A direction, or the member that decides it.
struct Direction {
  constexpr Direction(FieldDir d) : dir(d) {}
  constexpr explicit Direction(Spot by) : dir(kSwitched), decides(by) {}
  FieldDir dir;
  Spot decides;
};
constexpr Direction switched(Spot by) { return Direction(by); }

enum Freedom : bool { kCompared = true, kFree = false };

constexpr Field number(const char* name, Spot spot, FieldDir dir, Freedom freedom = kCompared) {
  return {name, spot, dir, FieldKind::kNumber, freedom, spot.element_bytes, {}, {}, {}};
}
constexpr Field in(const char* name, Spot spot, Freedom freedom = kCompared) {
  return number(name, spot, kIn, freedom);
}
constexpr Field out(const char* name, Spot spot) { return number(name, spot, kOut); }
constexpr Field inout(const char* name, Spot spot) { return number(name, spot, kInOut); }
constexpr Field unread(const char* name, Spot spot) { return number(name, spot, kUnread); }
constexpr Field bytes(const char* name, Spot spot, FieldDir dir, Freedom freedom = kCompared) {
  return {name, spot, dir, FieldKind::kBytes, freedom, 1, fixed(spot.bytes), {}, {}};
}
constexpr Field address(const char* name, Spot spot) {
  return {name, spot, kIn, FieldKind::kAddress, true, 0, {}, {}, {}};
}
constexpr Field buffer(const char* name, Spot spot, Direction dir, Extent extent,
                       Freedom freedom = kCompared) {
  return {name, spot, dir.dir, FieldKind::kBuffer, freedom, 1, extent, dir.decides, {}};
}
constexpr Field numbers(const char* name, Spot spot, FieldDir dir, uint16_t element,
                        Extent extent) {
  return {name, spot, dir, FieldKind::kNumbers, true, element, extent, {}, {}};
}
constexpr uint16_t end_of(std::span<const Field> fields) {
  size_t end = 0, align = 1;
  for (const Field& f : fields) {
    if (f.spot.offset + size_t{f.spot.bytes} > end) end = f.spot.offset + size_t{f.spot.bytes};
    if (f.spot.element_bytes > align && f.spot.element_bytes <= 8) align = f.spot.element_bytes;
  }
  return static_cast<uint16_t>((end + align - 1) / align * align);
}
constexpr Field structs(const char* name, Spot spot, FieldDir dir, std::span<const Field> inner,
                        Extent extent) {
  return {name, spot, dir, FieldKind::kStructs, true, end_of(inner), extent, {}, inner};
}
constexpr Field records(const char* name, Spot spot, FieldDir dir, std::span<const Field> inner,
                        Extent extent) {
  return {name, spot, dir, FieldKind::kRecords, true, end_of(inner), extent, {}, inner};
}

// --- Structs that fields lead to or consist of

constexpr Field kEngineStateFields[] = {
    out("revision_id", AT(ndl_dma_engine_state, revision_id)),
    out("max_queues", AT(ndl_dma_engine_state, max_queues)),
    out("num_queues", AT(ndl_dma_engine_state, num_queues)),
    out("tx_state", AT(ndl_dma_engine_state, tx_state)),
    out("rx_state", AT(ndl_dma_engine_state, rx_state)),
};
constexpr Field kQueueStateFields[] = {
    out("hw_status", AT(ndl_dma_queue_state, hw_status)),
    out("sw_status", AT(ndl_dma_queue_state, sw_status)),
    out("base_addr", AT(ndl_dma_queue_state, base)),
    out("length", AT(ndl_dma_queue_state, length)),
    out("head_pointer", AT(ndl_dma_queue_state, head)),
    out("tail_pointer", AT(ndl_dma_queue_state, tail)),
    out("completion_base_addr", AT(ndl_dma_queue_state, completion_base)),
    out("completion_head", AT(ndl_dma_queue_state, completion_head)),
};
constexpr Field kChunkFields[] = {
    out("pa", AT(ndl_mem_chunk, pa)),
    out("size", AT(ndl_mem_chunk, bytes)),
    out("mem_type", AT(ndl_mem_chunk, type)),
};
constexpr Field kAppFields[] = {
    out("pid", AT(ndl_app_info, pid)),
    out("nc_lock_map", AT(ndl_app_info, lock_map)),
    bytes("uuid_data", AT(ndl_app_info, uuid), kOut),
    out("host_mem_size", AT(ndl_app_info, host_bytes)),
    out("device_mem_size", AT(ndl_app_info, device_bytes)),
};
constexpr Field kCompletionQueueFields[] = {
    out("mmap_offset", AT(ndl_completion_queue, cookie)),
    out("mmap_size", AT(ndl_completion_queue, mmap_size)),
};
constexpr Field kBatchOpFields[] = {
    in("offset", AT(ndl_zerocopy_op, offset)),
    in("size", AT(ndl_zerocopy_op, bytes)),
    buffer("buffer", AT(ndl_zerocopy_op, buffer), switched(AT(ndl_zerocopy_batches, to_device)),
           times(AT(ndl_zerocopy_op, bytes), 1)),
};
constexpr Field kBatchFields[] = {
    in("mem_handle", AT(ndl_zerocopy_batch, handle)),
    in("mem_handle_offset", AT(ndl_zerocopy_batch, offset)),
    structs("ops_ptr", AT(ndl_zerocopy_batch, ops), kIn, kBatchOpFields,
            times(AT(ndl_zerocopy_batch, count), sizeof(ndl_zerocopy_op))),
    in("num_ops", AT(ndl_zerocopy_batch, count)),
    in("bar4_wr_threshold", AT(ndl_zerocopy_batch, bar4_threshold)),
    in("flags", AT(ndl_zerocopy_batch, flags)),
    address("context", AT(ndl_zerocopy_batch, context)),
};
constexpr Field kDeviceInfoFields[] = {
    out("architecture", AT(ndl_device_info, arch)),
    out("revision", AT(ndl_device_info, revision)),
    out("connected_device_count", AT(ndl_device_info, n_connected)),
    out("connected_devices", AT(ndl_device_info, connected)),
    out("bar_address", AT(ndl_device_info, bar_address)),
    out("bar_size", AT(ndl_device_info, bar_size)),
};
constexpr Field kDeviceInitFields[] = {
    in("mem_regions", AT(ndl_device_init, regions)),
};
constexpr Field kAppsInfoFields[] = {
    in("apps_info_flags", AT(ndl_apps_info, flags)),
    in("capacity", AT(ndl_apps_info, capacity)),
    out("size", AT(ndl_apps_info, count)),
    records("app_data", after(sizeof(ndl_apps_info)), kOut, kAppFields,
            times(AT(ndl_apps_info, capacity), sizeof(ndl_app_info))),
};
constexpr Field kBarReadFields[] = {
    in("bar", AT(ndl_bar_access, bar)),
    numbers("address", AT(ndl_bar_access, addresses), kIn, 8, times(AT(ndl_bar_access, count), 8)),
    numbers("data", AT(ndl_bar_access, values), kOut, 4, times(AT(ndl_bar_access, count), 4)),
    in("count", AT(ndl_bar_access, count)),
};
constexpr Field kBarWriteFields[] = {
    in("bar", AT(ndl_bar_access, bar)),
    numbers("address", AT(ndl_bar_access, addresses), kIn, 8, times(AT(ndl_bar_access, count), 8)),
    numbers("data", AT(ndl_bar_access, values), kIn, 4, times(AT(ndl_bar_access, count), 4)),
    in("count", AT(ndl_bar_access, count)),
};
constexpr Field kPostMetricFields[] = {
    buffer("data", AT(ndl_post_metric, data), kIn, times(AT(ndl_post_metric, bytes), 1), kFree),
    in("data_size", AT(ndl_post_metric, bytes), kFree),
};
constexpr Field kMemAllocV1Fields[] = {
    in("size", AT(ndl_mem_alloc_v1, bytes)),
    in("host_memory", AT(ndl_mem_alloc_v1, host)),
    in("dram_channel", AT(ndl_mem_alloc_v1, channel)),
    in("dram_region", AT(ndl_mem_alloc_v1, region)),
    in("nc_id", AT(ndl_mem_alloc_v1, core)),
    numbers("mem_handle", AT(ndl_mem_alloc_v1, out_handle), kOut, 8, fixed(8)),
};
constexpr Field kMemFreeFields[] = {
    in("mem_handle", AT(ndl_mem_free, handle)),
};
constexpr Field kMemCopy32Fields[] = {
    in("src_mem_handle", AT(ndl_mem_copy32, src)),
    in("dst_mem_handle", AT(ndl_mem_copy32, dst)),
    in("size", AT(ndl_mem_copy32, bytes)),
    in("src_offset", AT(ndl_mem_copy32, src_offset)),
    in("dst_offset", AT(ndl_mem_copy32, dst_offset)),
};
constexpr Field kMemCopyFields[] = {
    in("src_mem_handle", AT(ndl_mem_copy, src)),
    in("dst_mem_handle", AT(ndl_mem_copy, dst)),
    in("size", AT(ndl_mem_copy, bytes)),
    in("src_offset", AT(ndl_mem_copy, src_offset)),
    in("dst_offset", AT(ndl_mem_copy, dst_offset)),
};
constexpr Field kBufCopy32Fields[] = {
    in("mem_handle", AT(ndl_buf_copy32, handle)),
    buffer("buffer", AT(ndl_buf_copy32, buffer), switched(AT(ndl_buf_copy32, to_device)),
           times(AT(ndl_buf_copy32, bytes), 1)),
    in("size", AT(ndl_buf_copy32, bytes)),
    in("offset", AT(ndl_buf_copy32, offset)),
    in("copy_to_mem_handle", AT(ndl_buf_copy32, to_device)),
};
constexpr Field kBufCopyFields[] = {
    in("mem_handle", AT(ndl_buf_copy, handle)),
    buffer("buffer", AT(ndl_buf_copy, buffer), switched(AT(ndl_buf_copy, to_device)),
           times(AT(ndl_buf_copy, bytes), 1)),
    in("size", AT(ndl_buf_copy, bytes)),
    in("offset", AT(ndl_buf_copy, offset)),
    in("copy_to_mem_handle", AT(ndl_buf_copy, to_device)),
};
constexpr Field kMemPaFields[] = {
    in("mem_handle", AT(ndl_mem_pa, handle)),
    numbers("pa", AT(ndl_mem_pa, out_pa), kOut, 8, fixed(8)),
};
constexpr Field kMemInfoFields[] = {
    in("mem_handle", AT(ndl_mem_info, handle)),
    numbers("mmap_offset", AT(ndl_mem_info, out_cookie), kOut, 8, fixed(8)),
    numbers("pa", AT(ndl_mem_info, out_pa), kOut, 8, fixed(8)),
};
constexpr Field kProgramEngineV1Fields[] = {
    in("dst", AT(ndl_program_engine_v1, dst)),
    buffer("buffer", AT(ndl_program_engine_v1, buffer), kIn,
           times(AT(ndl_program_engine_v1, bytes), 1)),
    in("size", AT(ndl_program_engine_v1, bytes)),
    in("offset", AT(ndl_program_engine_v1, offset)),
};
constexpr Field kMemSet32Fields[] = {
    in("mem_handle", AT(ndl_mem_set32, handle)),
    in("offset", AT(ndl_mem_set32, offset)),
    in("value", AT(ndl_mem_set32, value)),
    in("size", AT(ndl_mem_set32, bytes)),
};
constexpr Field kMemSetFields[] = {
    in("mem_handle", AT(ndl_mem_set, handle)),
    in("offset", AT(ndl_mem_set, offset)),
    in("value", AT(ndl_mem_set, value)),
    in("size", AT(ndl_mem_set, bytes)),
};
constexpr Field kMemExtendedInfoFields[] = {
    inout("mem_handle", AT(ndl_mem_extended_info, handle)),
    inout("version", AT(ndl_mem_extended_info, version)),
    out("host_memory", AT(ndl_mem_extended_info, host)),
    out("mmap_offset", AT(ndl_mem_extended_info, cookie)),
    out("pa", AT(ndl_mem_extended_info, pa)),
    out("pid", AT(ndl_mem_extended_info, pid)),
    out("size", AT(ndl_mem_extended_info, bytes)),
};
constexpr Field kDmaEngineInitFields[] = {
    in("eng_id", AT(ndl_dma_engine_init, engine)),
};
constexpr Field kDmaEngineSetFields[] = {
    in("eng_id", AT(ndl_dma_engine_set, engine)),
    in("state", AT(ndl_dma_engine_set, state)),
};
constexpr Field kDmaEngineQueryFields[] = {
    in("eng_id", AT(ndl_dma_engine_query, engine)),
    structs("state", AT(ndl_dma_engine_query, out_state), kOut, kEngineStateFields,
            fixed(sizeof(ndl_dma_engine_state))),
};
constexpr Field kDmaQueueInitFields[] = {
    in("eng_id", AT(ndl_dma_queue_init, engine)),
    in("qid", AT(ndl_dma_queue_init, queue)),
    in("tx_desc_count", AT(ndl_dma_queue_init, tx_count)),
    in("rx_desc_count", AT(ndl_dma_queue_init, rx_count)),
    in("tx_handle", AT(ndl_dma_queue_init, tx)),
    in("rx_handle", AT(ndl_dma_queue_init, rx)),
    in("rxc_handle", AT(ndl_dma_queue_init, completion)),
    in("axi_port", AT(ndl_dma_queue_init, axi_port)),
};
constexpr Field kDmaQueueReleaseFields[] = {
    in("eng_id", AT(ndl_dma_queue_release, engine)),
    in("qid", AT(ndl_dma_queue_release, queue)),
};
constexpr Field kDmaStartFields[] = {
    in("eng_id", AT(ndl_dma_start, engine)),
    in("qid", AT(ndl_dma_start, queue)),
    in("tx_desc_count", AT(ndl_dma_start, tx_count)),
    in("rx_desc_count", AT(ndl_dma_start, rx_count)),
};
constexpr Field kDmaAckFields[] = {
    in("eng_id", AT(ndl_dma_ack, engine)),
    in("qid", AT(ndl_dma_ack, queue)),
    in("count", AT(ndl_dma_ack, count)),
};
constexpr Field kDmaQueueQueryFields[] = {
    in("eng_id", AT(ndl_dma_queue_query, engine)),
    in("qid", AT(ndl_dma_queue_query, queue)),
    structs("tx", AT(ndl_dma_queue_query, out_tx), kOut, kQueueStateFields,
            fixed(sizeof(ndl_dma_queue_state))),
    structs("rx", AT(ndl_dma_queue_query, out_rx), kOut, kQueueStateFields,
            fixed(sizeof(ndl_dma_queue_state))),
};
constexpr Field kDescWrite32Fields[] = {
    in("mem_handle", AT(ndl_desc_write32, handle)),
    buffer("buffer", AT(ndl_desc_write32, buffer), kIn,
           times(AT(ndl_desc_write32, count), kDescriptorBytes)),
    in("num_descs", AT(ndl_desc_write32, count)),
    in("offset", AT(ndl_desc_write32, offset)),
    in("queue_type", AT(ndl_desc_write32, queue_type)),
};
constexpr Field kDescWriteFields[] = {
    in("mem_handle", AT(ndl_desc_write, handle)),
    buffer("buffer", AT(ndl_desc_write, buffer), kIn,
           times(AT(ndl_desc_write, count), kDescriptorBytes)),
    in("num_descs", AT(ndl_desc_write, count)),
    in("offset", AT(ndl_desc_write, offset)),
    in("queue_type", AT(ndl_desc_write, queue_type)),
};
constexpr Field kDescReadFields[] = {
    in("eng_id", AT(ndl_desc_read, engine)),
    in("qid", AT(ndl_desc_read, queue)),
    in("type", AT(ndl_desc_read, type)),
    in("start_index", AT(ndl_desc_read, first)),
    in("count", AT(ndl_desc_read, count)),
    buffer("buffer", AT(ndl_desc_read, buffer), kOut,
           times(AT(ndl_desc_read, count), kDescriptorBytes)),
};
constexpr Field kDmaQuiesceFields[] = {
    in("nc_id", AT(ndl_dma_quiesce, core)),
    in("engine_count", AT(ndl_dma_quiesce, count)),
    in("queue_mask", AT(ndl_dma_quiesce, queue_mask)),
};
constexpr Field kSemaphoreFields[] = {
    in("nc_id", AT(ndl_semaphore, core)),
    in("semaphore_index", AT(ndl_semaphore, index)),
    in("value", AT(ndl_semaphore, value)),
};
constexpr Field kSemaphoreReadFields[] = {
    in("nc_id", AT(ndl_semaphore, core)),
    in("semaphore_index", AT(ndl_semaphore, index)),
    out("value", AT(ndl_semaphore, value)),
};
constexpr Field kEventSetFields[] = {
    in("nc_id", AT(ndl_event, core)),
    in("event_index", AT(ndl_event, index)),
    in("value", AT(ndl_event, value)),
};
constexpr Field kEventGetFields[] = {
    in("nc_id", AT(ndl_event, core)),
    in("event_index", AT(ndl_event, index)),
    out("value", AT(ndl_event, value)),
};
constexpr Field kNqInitV1Fields[] = {
    in("nc_id", AT(ndl_nq_init_v1, core)),
    in("nq_type", AT(ndl_nq_init_v1, nq_type)),
    in("engine_index", AT(ndl_nq_init_v1, engine_index)),
    in("size", AT(ndl_nq_init_v1, bytes)),
    out("mmap_offset", AT(ndl_nq_init_v1, cookie)),
};
constexpr Field kNqDestroyV1Fields[] = {
    in("mmap_offset", AT(ndl_nq_destroy_v1, cookie)),
};
constexpr Field kNqInitV2Fields[] = {
    in("nq_dev_id", AT(ndl_nq_init_v2, device_id)),
    in("nq_dev_type", AT(ndl_nq_init_v2, device_type)),
    in("nq_type", AT(ndl_nq_init_v2, nq_type)),
    in("engine_index", AT(ndl_nq_init_v2, engine_index)),
    in("size", AT(ndl_nq_init_v2, bytes)),
    in("on_host_memory", AT(ndl_nq_init_v2, host)),
    in("dram_channel", AT(ndl_nq_init_v2, channel)),
    in("dram_region", AT(ndl_nq_init_v2, region)),
    out("mmap_offset", AT(ndl_nq_init_v2, cookie)),
    out("mem_handle", AT(ndl_nq_init_v2, handle)),
};
constexpr Field kNqInitFields[] = {
    in("nq_dev_id", AT(ndl_nq_init, device_id)),
    in("nq_dev_type", AT(ndl_nq_init, device_type)),
    in("nq_type", AT(ndl_nq_init, nq_type)),
    in("engine_index", AT(ndl_nq_init, engine_index)),
    in("size", AT(ndl_nq_init, bytes)),
    in("on_host_memory", AT(ndl_nq_init, host)),
    in("dram_channel", AT(ndl_nq_init, channel)),
    in("dram_region", AT(ndl_nq_init, region)),
    in("force_alloc_mem", AT(ndl_nq_init, force)),
    out("mmap_offset", AT(ndl_nq_init, cookie)),
    out("mem_handle", AT(ndl_nq_init, handle)),
};
constexpr Field kNqInfoFields[] = {
    in("nq_dev_id", AT(ndl_nq_info, device_id)), in("nq_dev_type", AT(ndl_nq_info, device_type)),
    in("nq_type", AT(ndl_nq_info, nq_type)),     in("engine_index", AT(ndl_nq_info, engine_index)),
    out("head", AT(ndl_nq_info, head)),          out("phase_bit", AT(ndl_nq_info, phase_bit)),
};
constexpr Field kHwCountersFields[] = {
    numbers("address", AT(ndl_hw_counters, addresses), kIn, 8,
            times(AT(ndl_hw_counters, count), 8)),
    numbers("data", AT(ndl_hw_counters, values), kOut, 4, times(AT(ndl_hw_counters, count), 4)),
    in("count", AT(ndl_hw_counters, count)),
};
constexpr Field kDataStoreFields[] = {
    in("pid", AT(ndl_data_store, pid)),
    out("mmap_offset", AT(ndl_data_store, cookie)),
    out("size", AT(ndl_data_store, bytes)),
};
constexpr Field kCoreLockFields[] = {
    in("nc_id", AT(ndl_core_lock, core)),
    bytes("uuid", AT(ndl_core_lock, uuid), kIn, kFree),
};
constexpr Field kCoreRange64Fields[] = {
    in("nc_count", AT(ndl_core_range64, count)),
    in("start_nc_index", AT(ndl_core_range64, first)),
    in("end_nc_index", AT(ndl_core_range64, last)),
    out("max_nc_available", AT(ndl_core_range64, longest_free)),
    inout("bitmap", AT(ndl_core_range64, bitmap)),
};
constexpr Field kCoreRange512Fields[] = {
    in("nc_count", AT(ndl_core_range512, count)),
    in("start_nc_index", AT(ndl_core_range512, first)),
    in("end_nc_index", AT(ndl_core_range512, last)),
    out("max_nc_available", AT(ndl_core_range512, longest_free)),
    inout("bitmap", AT(ndl_core_range512, bitmap)),
};
constexpr Field kCoreInitStateFields[] = {
    in("nc_id", AT(ndl_core_init_state, core)),
    in("state", AT(ndl_core_init_state, state)),
    out("new_state", AT(ndl_core_init_state, new_state)),
};
constexpr Field kStartedCountFields[] = {
    in("nc_id", AT(ndl_started_count, core)),
    out("started_count", AT(ndl_started_count, started_count)),
};
constexpr Field kCompatWindowFields[] = {
    out("max", AT(ndl_compat_window, max)),
    out("min", AT(ndl_compat_window, min)),
};
constexpr Field kBoardInfoFields[] = {
    out("architecture", AT(ndl_board_info, arch)),
    out("revision", AT(ndl_board_info, revision)),
};
constexpr Field kBdfFields[] = {
    out("bus_number", AT(ndl_bdf, bus)),
    out("slot", AT(ndl_bdf, slot)),
    out("func", AT(ndl_bdf, function)),
};
constexpr Field kMemAllocV2Fields[] = {
    in("size", AT(ndl_mem_alloc_v2, bytes)),
    in("align", AT(ndl_mem_alloc_v2, align)),
    in("host_memory", AT(ndl_mem_alloc_v2, host)),
    in("dram_channel", AT(ndl_mem_alloc_v2, channel)),
    in("dram_region", AT(ndl_mem_alloc_v2, region)),
    in("nc_id", AT(ndl_mem_alloc_v2, core)),
    numbers("mem_handle", AT(ndl_mem_alloc_v2, out_handle), kOut, 8, fixed(8)),
};
constexpr Field kMemAllocV2mtFields[] = {
    in("size", AT(ndl_mem_alloc_v2mt, bytes)),
    in("align", AT(ndl_mem_alloc_v2mt, align)),
    in("host_memory", AT(ndl_mem_alloc_v2mt, host)),
    in("dram_channel", AT(ndl_mem_alloc_v2mt, channel)),
    in("dram_region", AT(ndl_mem_alloc_v2mt, region)),
    in("nc_id", AT(ndl_mem_alloc_v2mt, core)),
    in("mem_type", AT(ndl_mem_alloc_v2mt, type)),
    numbers("mem_handle", AT(ndl_mem_alloc_v2mt, out_handle), kOut, 8, fixed(8)),
};
constexpr Field kMemAllocV2mt64Fields[] = {
    in("size", AT(ndl_mem_alloc_v2mt64, bytes)),
    in("align", AT(ndl_mem_alloc_v2mt64, align)),
    in("host_memory", AT(ndl_mem_alloc_v2mt64, host)),
    in("dram_channel", AT(ndl_mem_alloc_v2mt64, channel)),
    in("dram_region", AT(ndl_mem_alloc_v2mt64, region)),
    in("nc_id", AT(ndl_mem_alloc_v2mt64, core)),
    in("mem_type", AT(ndl_mem_alloc_v2mt64, type)),
    numbers("mem_handle", AT(ndl_mem_alloc_v2mt64, out_handle), kOut, 8, fixed(8)),
    unread("pad", AT(ndl_mem_alloc_v2mt64, unread)),
};
constexpr Field kCoreResetFields[] = {
    in("nc_map", AT(ndl_core_reset, core_mask)),
    out("request_id", AT(ndl_core_reset, request_id)),
};
constexpr Field kCoreReadyFields[] = {
    in("request_id", AT(ndl_core_ready, request_id)),
    out("result", AT(ndl_core_ready, result)),
};
constexpr Field kProgramEngine32Fields[] = {
    in("nc_id", AT(ndl_program_engine32, core)),
    in("dst", AT(ndl_program_engine32, dst)),
    buffer("buffer", AT(ndl_program_engine32, buffer), kIn,
           times(AT(ndl_program_engine32, bytes), 1)),
    in("size", AT(ndl_program_engine32, bytes)),
    in("offset", AT(ndl_program_engine32, offset)),
};
constexpr Field kProgramEngineFields[] = {
    in("nc_id", AT(ndl_program_engine, core)),
    in("dst", AT(ndl_program_engine, dst)),
    buffer("buffer", AT(ndl_program_engine, buffer), kIn, times(AT(ndl_program_engine, bytes), 1)),
    in("size", AT(ndl_program_engine, bytes)),
    in("offset", AT(ndl_program_engine, offset)),
};
constexpr Field kBdfExtFields[] = {
    in("nd_index", AT(ndl_bdf_ext, index)),  out("domain", AT(ndl_bdf_ext, domain)),
    out("bus_number", AT(ndl_bdf_ext, bus)), out("slot", AT(ndl_bdf_ext, slot)),
    out("func", AT(ndl_bdf_ext, function)),
};
constexpr Field kDmabufFields[] = {
    address("va", AT(ndl_dmabuf, va)),
    in("size", AT(ndl_dmabuf, bytes)),
    numbers("fd", AT(ndl_dmabuf, out_fd), kOut, 4, fixed(4)),
};
constexpr Field kMemCopyAsync32Fields[] = {
    in("src_mem_handle", AT(ndl_mem_copy_async32, src)),
    in("dst_mem_handle", AT(ndl_mem_copy_async32, dst)),
    in("size", AT(ndl_mem_copy_async32, bytes)),
    in("src_offset", AT(ndl_mem_copy_async32, src_offset)),
    in("dst_offset", AT(ndl_mem_copy_async32, dst_offset)),
    address("host_prefetch_addr", AT(ndl_mem_copy_async32, prefetch_va)),
    in("pwait_handle", AT(ndl_mem_copy_async32, wait_in)),
    out("wait_handle", AT(ndl_mem_copy_async32, wait_out)),
};
constexpr Field kMemCopyAsyncFields[] = {
    in("src_mem_handle", AT(ndl_mem_copy_async, src)),
    in("dst_mem_handle", AT(ndl_mem_copy_async, dst)),
    in("size", AT(ndl_mem_copy_async, bytes)),
    in("src_offset", AT(ndl_mem_copy_async, src_offset)),
    in("dst_offset", AT(ndl_mem_copy_async, dst_offset)),
    address("host_prefetch_addr", AT(ndl_mem_copy_async, prefetch_va)),
    in("pwait_handle", AT(ndl_mem_copy_async, wait_in)),
    out("wait_handle", AT(ndl_mem_copy_async, wait_out)),
};
constexpr Field kMemCopyWaitFields[] = {
    in("src_mem_handle", AT(ndl_mem_copy_wait, src)),
    in("dst_mem_handle", AT(ndl_mem_copy_wait, dst)),
    in("pwait_handle", AT(ndl_mem_copy_wait, wait_in)),
};
constexpr Field kDriverInfoFields[] = {
    out("architecture", AT(ndl_driver_info, arch)),
    out("revision", AT(ndl_driver_info, revision)),
    out("version", AT(ndl_driver_info, version)),
    out("size", AT(ndl_driver_info, bytes)),
    out("feature_flags1", AT(ndl_driver_info, features)),
};
constexpr Field kChunkInfoV1Fields[] = {
    in("pa", AT(ndl_chunk_info_v1, pa)),
    out("mmap_offset", AT(ndl_chunk_info_v1, cookie)),
    out("size", AT(ndl_chunk_info_v1, bytes)),
};
constexpr Field kChunkInfoFields[] = {
    in("pa", AT(ndl_chunk_info, pa)),
    out("mmap_offset", AT(ndl_chunk_info, cookie)),
    out("size", AT(ndl_chunk_info, bytes)),
    out("mem_handle", AT(ndl_chunk_info, handle)),
};
constexpr Field kResourceFields[] = {
    in("block", AT(ndl_resource, block)),       in("block_id", AT(ndl_resource, block_id)),
    in("resource", AT(ndl_resource, resource)), out("offset", AT(ndl_resource, offset)),
    out("size", AT(ndl_resource, bytes)),
};
constexpr Field kPrintkFields[] = {
    buffer("buffer", AT(ndl_printk, buffer), kIn, times(AT(ndl_printk, bytes), 1), kFree),
    in("size", AT(ndl_printk, bytes), kFree),
    in("action", AT(ndl_printk, action)),
};
constexpr Field kHostDeviceIdFields[] = {
    out("host_device_id", AT(ndl_host_device_id, id)),
};
constexpr Field kRidMapFields[] = {
    out("count", AT(ndl_rid_map, count)),
    out("host_did_to_rid_map", AT(ndl_rid_map, rid)),
};
constexpr Field kMemDumpFields[] = {
    in("hbm_index", AT(ndl_mem_dump, hbm)),
    in("num_entries_in", AT(ndl_mem_dump, capacity)),
    out("num_entries_out", AT(ndl_mem_dump, count)),
    structs("data", AT(ndl_mem_dump, chunks), kOut, kChunkFields,
            times(AT(ndl_mem_dump, capacity), sizeof(ndl_mem_chunk))),
};
constexpr Field kPidDumpFields[] = {
    in("size", AT(ndl_pid_dump, bytes)),
    in("nc_id", AT(ndl_pid_dump, core)),
    in("filter_log_owner", AT(ndl_pid_dump, filter_owner)),
    in("log_dump_limit", AT(ndl_pid_dump, limit)),
};
constexpr Field kScrubStartFields[] = {
    in("nc_id", AT(ndl_scrub_start, core)),
    in("hbm_index", AT(ndl_scrub_start, hbm)),
    in("axi_port", AT(ndl_scrub_start, axi_port)),
    in("init_val", AT(ndl_scrub_start, value)),
};
constexpr Field kScrubWaitFields[] = {
    in("nc_id", AT(ndl_scrub_wait, core)),
    in("hbm_index", AT(ndl_scrub_wait, hbm)),
};
constexpr Field kCoreMapQueryFields[] = {
    numbers(
        "map", AT(ndl_core_map_query, entries), kOut, 4,
        times(AT(ndl_core_map_query, capacity), sizeof(ndl_core_map_entry), sizeof(ndl_core_map))),
    in("max_map_entries", AT(ndl_core_map_query, capacity)),
    in("mapping_version", AT(ndl_core_map_query, version)),
};
constexpr Field kPodInfoFields[] = {
    inout("sz", AT(ndl_pod_info, bytes)),
    out("pod_type", AT(ndl_pod_info, type)),
    out("pod_id", AT(ndl_pod_info, pod_id)),
    out("pod_sz", AT(ndl_pod_info, nodes)),
};
constexpr Field kPodStatusV1Fields[] = {
    in("sz", AT(ndl_pod_status_v1, bytes)),      out("pod_id", AT(ndl_pod_status_v1, pod_id)),
    out("state", AT(ndl_pod_status_v1, state)),  out("pod_type", AT(ndl_pod_status_v1, type)),
    out("pod_sz", AT(ndl_pod_status_v1, nodes)), out("node_id", AT(ndl_pod_status_v1, node_id)),
};
constexpr Field kPodStatusFields[] = {
    in("v1.sz", AT(ndl_pod_status, v1.bytes)),
    out("v1.pod_id", AT(ndl_pod_status, v1.pod_id)),
    out("v1.state", AT(ndl_pod_status, v1.state)),
    out("v1.pod_type", AT(ndl_pod_status, v1.type)),
    out("v1.pod_sz", AT(ndl_pod_status, v1.nodes)),
    out("v1.node_id", AT(ndl_pod_status, v1.node_id)),
    out("mode", AT(ndl_pod_status, mode)),
    out("modes_supported", AT(ndl_pod_status, modes)),
};
constexpr Field kPodCtrlV1Fields[] = {
    in("sz", AT(ndl_pod_ctrl_v1, bytes)),
    in("ctrl", AT(ndl_pod_ctrl_v1, ctrl)),
    in("timeout", AT(ndl_pod_ctrl_v1, timeout)),
    out("state", AT(ndl_pod_ctrl_v1, state)),
};
constexpr Field kPodCtrlFields[] = {
    in("v1.sz", AT(ndl_pod_ctrl, v1.bytes)),
    in("v1.ctrl", AT(ndl_pod_ctrl, v1.ctrl)),
    in("v1.timeout", AT(ndl_pod_ctrl, v1.timeout)),
    out("v1.state", AT(ndl_pod_ctrl, v1.state)),
    in("mode", AT(ndl_pod_ctrl, mode)),
};
constexpr Field kBufZerocopyFields[] = {
    in("mem_handle", AT(ndl_buf_zerocopy, handle)),
    buffer("buffer", AT(ndl_buf_zerocopy, buffer), switched(AT(ndl_buf_zerocopy, to_device)),
           times(AT(ndl_buf_zerocopy, bytes), 1)),
    in("size", AT(ndl_buf_zerocopy, bytes)),
    in("offset", AT(ndl_buf_zerocopy, offset)),
    in("is_copy_to_device", AT(ndl_buf_zerocopy, to_device)),
    in("bar4_wr_threshold", AT(ndl_buf_zerocopy, bar4_threshold)),
    in("h2t_qid", AT(ndl_buf_zerocopy, queue)),
    unread("dummy", AT(ndl_buf_zerocopy, unused)),
};
constexpr Field kH2tAllocFields[] = {
    in("sz", AT(ndl_h2t_alloc, bytes)),
    in("nc_id", AT(ndl_h2t_alloc, core)),
    in("copy_queue_cnt", AT(ndl_h2t_alloc, copy_count)),
    in("service_queue_cnt", AT(ndl_h2t_alloc, service_count)),
    out("copy_queue_bmap", AT(ndl_h2t_alloc, copy_bitmap)),
    out("service_queue_bmap", AT(ndl_h2t_alloc, service_bitmap)),
    out("copy_default_queue", AT(ndl_h2t_alloc, default_queue)),
};
constexpr Field kH2tFreeFields[] = {
    in("sz", AT(ndl_h2t_free, bytes)),
    in("nc_id", AT(ndl_h2t_free, core)),
    in("fill0", AT(ndl_h2t_free, fill0)),
    in("queue_bmap", AT(ndl_h2t_free, bitmap)),
};
constexpr Field kPerfProfileSetFields[] = {
    in("sz", AT(ndl_perf_profile, bytes)),
    in("ctrl", AT(ndl_perf_profile, ctrl)),
    in("profile", AT(ndl_perf_profile, profile)),
};
constexpr Field kMetricsCtrlFields[] = {
    in("mode", AT(ndl_metrics_ctrl, mode)),
};
constexpr Field kZerocopyBatchesFields[] = {
    in("sequence_num", AT(ndl_zerocopy_batches, sequence_num)),
    structs("batches_ptr", AT(ndl_zerocopy_batches, batches), kIn, kBatchFields,
            times(AT(ndl_zerocopy_batches, count), sizeof(ndl_zerocopy_batch))),
    in("num_batches", AT(ndl_zerocopy_batches, count)),
    in("is_copy_to_device", AT(ndl_zerocopy_batches, to_device)),
    in("h2t_qid", AT(ndl_zerocopy_batches, queue)),
    in("flags", AT(ndl_zerocopy_batches, flags)),
};
constexpr Field kThrottlingFields[] = {
    in("enable", AT(ndl_throttling, enable)),
};
constexpr Field kVaPlacementFields[] = {
    address("va", AT(ndl_va_placement, va)),
    out("device_index", AT(ndl_va_placement, device)),
    out("hbm_index", AT(ndl_va_placement, hbm)),
};
constexpr Field kPerfProfileGetFields[] = {
    in("sz", AT(ndl_perf_profile, bytes)),
    in("ctrl", AT(ndl_perf_profile, ctrl)),
    out("profile", AT(ndl_perf_profile, profile)),
};
constexpr Field kDmaQueueInitBatchFields[] = {
    in("count", AT(ndl_dma_queue_init_batch, count)),
    records("entries", AT(ndl_dma_queue_init_batch, entries), kIn, kDmaQueueInitFields,
            times(AT(ndl_dma_queue_init_batch, count), sizeof(ndl_dma_queue_init))),
};
constexpr Field kPerfProfilesFields[] = {
    in("requested_feature", AT(ndl_perf_profiles, feature)),
    out("num_profiles", AT(ndl_perf_profiles, count)),
    out("bitmap", AT(ndl_perf_profiles, bitmap)),
};
constexpr Field kCompletionQueuesFields[] = {
    in("nc_id", AT(ndl_completion_queues, core)),
    in("qid_bitmap", AT(ndl_completion_queues, queue_bitmap)),
    records("compl_queue_info", AT(ndl_completion_queues, queues), kOut, kCompletionQueueFields,
            fixed(sizeof(ndl_completion_queues::queues))),
};
constexpr Field kByteFields[] = {
    out("value", scalar<uint8_t>()),
};
constexpr Field kPidFields[] = {
    out("pid", scalar<int32_t>()),
};

constexpr RequestShape kShapes[] = {
    {kDeviceReset, Match::kExact, {}},
    {kDeviceReady, Match::kExact, kByteFields},
    {kDeviceInfo, Match::kExact, kDeviceInfoFields},
    {kDeviceInit, Match::kExact, kDeviceInitFields},
    {kDeviceRelease, Match::kExact, {}},
    {kDeviceAppPid, Match::kExact, kPidFields},
    {kAppsInfo, Match::kExact, kAppsInfoFields},
    {kBarRead, Match::kExact, kBarReadFields},
    {kBarWrite, Match::kExact, kBarWriteFields},
    {kPostMetric, Match::kExact, kPostMetricFields},
    {kMemAllocV1, Match::kExact, kMemAllocV1Fields},
    {kMemFree, Match::kExact, kMemFreeFields},
    {kMemCopy32, Match::kNumberAndSize, kMemCopy32Fields},
    {kMemCopy, Match::kNumberAndSize, kMemCopyFields},
    {kBufCopy32, Match::kNumberAndSize, kBufCopy32Fields},
    {kBufCopy, Match::kNumberAndSize, kBufCopyFields},
    {kMemGetPa, Match::kExact, kMemPaFields},
    {kMemGetInfo, Match::kExact, kMemInfoFields},
    {kProgramEngineV1, Match::kExact, kProgramEngineV1Fields},
    {kMemSet32, Match::kNumberAndSize, kMemSet32Fields},
    {kMemSet, Match::kNumberAndSize, kMemSetFields},
    {kMemGetExtendedInfo, Match::kExact, kMemExtendedInfoFields},
    {kDmaEngineInit, Match::kExact, kDmaEngineInitFields},
    {kDmaEngineSet, Match::kExact, kDmaEngineSetFields},
    {kDmaEngineGet, Match::kExact, kDmaEngineQueryFields},
    {kDmaQueueInit, Match::kExact, kDmaQueueInitFields},
    {kDmaQueueRelease, Match::kExact, kDmaQueueReleaseFields},
    {kDmaStart, Match::kExact, kDmaStartFields},
    {kDmaAck, Match::kExact, kDmaAckFields},
    {kDmaQueueGet, Match::kExact, kDmaQueueQueryFields},
    {kDescWrite32, Match::kNumberAndSize, kDescWrite32Fields},
    {kDescWrite, Match::kNumberAndSize, kDescWriteFields},
    {kDescRead, Match::kExact, kDescReadFields},
    {kDmaQuiesce, Match::kExact, kDmaQuiesceFields},
    {kSemaphoreIncrement, Match::kExact, kSemaphoreFields},
    {kSemaphoreDecrement, Match::kExact, kSemaphoreFields},
    {kSemaphoreRead, Match::kExact, kSemaphoreReadFields},
    {kSemaphoreWrite, Match::kExact, kSemaphoreFields},
    {kEventSet, Match::kExact, kEventSetFields},
    {kEventGet, Match::kExact, kEventGetFields},
    {kNqInitV1, Match::kExact, kNqInitV1Fields},
    {kNqDestroyV1, Match::kExact, kNqDestroyV1Fields},
    {kNqInitV2, Match::kExact, kNqInitV2Fields},
    {kNqInit, Match::kExact, kNqInitFields},
    {kNqInfo, Match::kExact, kNqInfoFields},
    {kHwCounters, Match::kExact, kHwCountersFields},
    {kDataStoreAcquire, Match::kExact, kDataStoreFields},
    {kDataStoreRelease, Match::kExact, kDataStoreFields},
    {kCoreReaderEnter, Match::kExact, kCoreLockFields},
    {kCoreReaderExit, Match::kExact, kCoreLockFields},
    {kCoreWriterEnter, Match::kExact, kCoreLockFields},
    {kCoreWriterDowngrade, Match::kExact, kCoreLockFields},
    {kCoreRangeMark64, Match::kExact, kCoreRange64Fields},
    {kCoreRangeMark, Match::kExact, kCoreRange512Fields},
    {kCoreRangeUnmark64, Match::kExact, kCoreRange64Fields},
    {kCoreRangeUnmark, Match::kExact, kCoreRange512Fields},
    {kCoreInitState, Match::kExact, kCoreInitStateFields},
    {kStartedCount, Match::kExact, kStartedCountFields},
    {kCompatWindow, Match::kExact, kCompatWindowFields},
    {kBoardInfo, Match::kExact, kBoardInfoFields},
    {kBdf, Match::kExact, kBdfFields},
    {kMemAllocV2, Match::kNumberAndSize, kMemAllocV2Fields},
    {kMemAllocV2Mt, Match::kNumberAndSize, kMemAllocV2mtFields},
    {kMemAllocV2Mt64, Match::kNumberAndSize, kMemAllocV2mt64Fields},
    {kCoreReset, Match::kExact, kCoreResetFields},
    {kCoreReady, Match::kExact, kCoreReadyFields},
    {kProgramEngine32, Match::kNumberAndSize, kProgramEngine32Fields},
    {kProgramEngine, Match::kNumberAndSize, kProgramEngineFields},
    {kDeviceResetStatus, Match::kExact, kByteFields},
    {kBdfExt, Match::kExact, kBdfExtFields},
    {kDmabuf, Match::kExact, kDmabufFields},
    {kMemCopyAsync32, Match::kNumberAndSize, kMemCopyAsync32Fields},
    {kMemCopyAsync, Match::kNumberAndSize, kMemCopyAsyncFields},
    {kMemCopyWait, Match::kExact, kMemCopyWaitFields},
    {kDriverInfo, Match::kNumberAndSize, kDriverInfoFields},
    {kChunkInfoV1, Match::kNumberAndSize, kChunkInfoV1Fields},
    {kChunkInfo, Match::kNumberAndSize, kChunkInfoFields},
    {kResourceInfo, Match::kExact, kResourceFields},
    {kPrintk, Match::kExact, kPrintkFields},
    {kHostDeviceId, Match::kExact, kHostDeviceIdFields},
    {kRidMap, Match::kNumberAndSize, kRidMapFields},
    {kMemDump, Match::kExact, kMemDumpFields},
    {kPidDump, Match::kExact, kPidDumpFields},
    {kScrubStart, Match::kExact, kScrubStartFields},
    {kScrubWait, Match::kExact, kScrubWaitFields},
    {kCoreMap, Match::kExact, kCoreMapQueryFields},
    {kPodInfo, Match::kNumberAndSize, kPodInfoFields},
    {kPodStatusV1, Match::kNumberAndSize, kPodStatusV1Fields},
    {kPodStatus, Match::kNumberAndSize, kPodStatusFields},
    {kPodCtrlV1, Match::kNumberAndSize, kPodCtrlV1Fields},
    {kPodCtrl, Match::kNumberAndSize, kPodCtrlFields},
    {kBufZerocopy, Match::kNumberAndSize, kBufZerocopyFields},
    {kH2tAlloc, Match::kExact, kH2tAllocFields},
    {kH2tFree, Match::kExact, kH2tFreeFields},
    {kPerfProfileSet, Match::kExact, kPerfProfileSetFields},
    {kMetricsCtrl, Match::kExact, kMetricsCtrlFields},
    {kZerocopyBatches, Match::kExact, kZerocopyBatchesFields},
    {kThrottling, Match::kExact, kThrottlingFields},
    {kVaPlacement, Match::kNumberAndSize, kVaPlacementFields},
    {kPerfProfileGet, Match::kExact, kPerfProfileGetFields},
    {kDmaQueueInitBatch, Match::kExact, kDmaQueueInitBatchFields},
    {kPerfProfileList, Match::kExact, kPerfProfilesFields},
    {kCompletionQueues, Match::kExact, kCompletionQueuesFields},
};

// --- The table holds every request once, and nothing outside its argument.

constexpr bool complete() {
  if (std::size(kShapes) != std::size(kRequests)) return false;
  for (size_t i = 0; i < std::size(kShapes); ++i)
    if (kShapes[i].code != kRequests[i].code) return false;
  return true;
}
static_assert(complete());

constexpr bool inside(std::span<const Field> fields, size_t bytes) {
  size_t end = 0;
  for (const Field& f : fields) {
    if (f.spot.offset < end) return false;  // overlaps the one before
    end = f.spot.offset + size_t{f.spot.bytes};
    if (end > bytes) return false;
    if (f.extent.count.offset + size_t{f.extent.count.bytes} > bytes) return false;
    if (!f.inner.empty() && !inside(f.inner, f.element_bytes)) return false;
  }
  return true;
}
constexpr bool all_inside() {
  for (size_t i = 0; i < std::size(kShapes); ++i)
    if (!inside(kShapes[i].fields, kRequests[i].arg_bytes)) return false;
  return true;
}
static_assert(all_inside());

static_assert(end_of(kEngineStateFields) == sizeof(ndl_dma_engine_state));
static_assert(end_of(kQueueStateFields) == sizeof(ndl_dma_queue_state));
static_assert(end_of(kChunkFields) == sizeof(ndl_mem_chunk));
static_assert(end_of(kAppFields) == sizeof(ndl_app_info));
static_assert(end_of(kCompletionQueueFields) == sizeof(ndl_completion_queue));
static_assert(end_of(kBatchOpFields) == sizeof(ndl_zerocopy_op));
static_assert(end_of(kBatchFields) == sizeof(ndl_zerocopy_batch));
static_assert(end_of(kDmaQueueInitFields) == sizeof(ndl_dma_queue_init));

}  // namespace

std::span<const RequestShape> request_shapes() { return kShapes; }

const RequestShape* find_shape(uint32_t code) {
  for (const RequestShape& shape : kShapes)
    if (shape.code == code) return &shape;
  for (const RequestShape& shape : kShapes)
    if (shape.match == Match::kNumberAndSize &&
        request_number(shape.code) == request_number(code) &&
        request_bytes(shape.code) == request_bytes(code) && (code >> 8 & 0xFF) == kRequestMagic)
      return &shape;
  return nullptr;
}

const RequestShape* find_shape(const char* name) {
  for (const RequestShape& shape : kShapes)
    if (std::strcmp(shape.name(), name) == 0) return &shape;
  return nullptr;
}

}  // namespace opennrt::ndl
