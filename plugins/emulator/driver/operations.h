// SPDX-License-Identifier: Apache-2.0
//
// The operations behind the request table, one function per request form. Each
// returns what the ioctl returns: >= 0 or -errno.
#pragma once

#include "driver/request.h"

namespace opennrt::emu {

// What DEVICE_INFO reports as the driver-side base of BAR 0; BAR_READ and
// BAR_WRITE addresses are relative to it.
inline constexpr std::uint64_t kBar0Base = 0x600000000000;

// --- ops_info.cpp ---
std::int64_t do_nothing(Call&);
std::int64_t refuse_notty(Call&);
std::int64_t refuse_failed(Call&);
std::int64_t refuse_unsupported(Call&);
std::int64_t reply_one_byte(Call&);
std::int64_t device_info(Call&);
std::int64_t device_basic_info(Call&);
std::int64_t driver_info_get(Call&);
std::int64_t compatible_version(Call&);
std::int64_t device_app_pid(Call&);
std::int64_t device_bdf(Call&);
std::int64_t device_bdf_ext(Call&, abi::DeviceBdfExt&);
std::int64_t host_device_id(Call&);
std::int64_t rid_map(Call&);
std::int64_t core_map(Call&);
std::int64_t pod_info(Call&, abi::PodInfo&);
std::int64_t pod_status(Call&, abi::PodStatus&);
std::int64_t pod_status_v2(Call&, abi::PodStatusV2&);
std::int64_t pod_ctrl(Call&, abi::PodCtrl&);
std::int64_t pod_ctrl_v2(Call&, abi::PodCtrlV2&);
std::int64_t print_text(Call&, abi::Printk&);
std::int64_t dump_pid_state(Call&, abi::NcPidStateDump&);
std::int64_t post_metric(Call&, abi::PostMetric&);
std::int64_t power_profile_set(Call&, abi::PowerProfile&);
std::int64_t power_profile_get(Call&, abi::PowerProfile&);
std::int64_t power_profile_list(Call&, abi::AvailablePerfProfiles&);
std::int64_t metrics_ctrl(Call&, abi::MetricsCtrl&);
std::int64_t throttling_notifications(Call&, abi::ThrottlingNotifications&);
std::int64_t apps_info(Call&, abi::GetAppsInfo&);

// --- ops_memory.cpp ---
std::int64_t mem_alloc(Call&, abi::MemAlloc&);
std::int64_t mem_alloc_v2(Call&, abi::MemAllocV2&);
std::int64_t mem_alloc_v2mt(Call&, abi::MemAllocV2MemType&);
std::int64_t mem_alloc_v2mt64(Call&, abi::MemAllocV2MemType64&);
std::int64_t mem_free(Call&, abi::MemFree&);
std::int64_t mem_get_pa(Call&, abi::MemGetPa&);
std::int64_t mem_get_info(Call&, abi::MemGetInfo&);
std::int64_t mem_get_extended_info(Call&, abi::MemGetExtendedInfo&);
std::int64_t mem_mc_info(Call&, abi::MemGetMcMmapInfo&);
std::int64_t mem_mc_info_v2(Call&, abi::MemGetMcMmapInfoV2&);
std::int64_t resource_mmap_info(Call&, abi::ResourceMmapInfo&);
std::int64_t dump_mem_chunks(Call&, abi::DumpMemChunks&);
std::int64_t va_placement(Call&, abi::GetVaPlacement&);
std::int64_t dmabuf_fd(Call&, abi::DmabufFd&);

// --- ops_copy.cpp ---
std::int64_t mem_copy(Call&, abi::MemCopy&);
std::int64_t mem_copy64(Call&, abi::MemCopy64&);
std::int64_t mem_buf_copy(Call&, abi::MemBufCopy&);
std::int64_t mem_buf_copy64(Call&, abi::MemBufCopy64&);
std::int64_t mem_set(Call&, abi::Memset&);
std::int64_t mem_set64(Call&, abi::Memset64&);
std::int64_t mem_copy_async(Call&, abi::MemCopyAsync&);
std::int64_t mem_copy_async64(Call&, abi::MemCopyAsync64&);
std::int64_t mem_copy_async_wait(Call&, abi::MemCopyAsyncWait&);
std::int64_t zero_copy(Call&, abi::MemBufCopy64zc&);
std::int64_t zero_copy_batches(Call&, abi::MemBufCopy64zcBatches&);
std::int64_t program_engine(Call&, abi::ProgramEngine&);
std::int64_t program_engine_nc(Call&, abi::ProgramEngineNc&);
std::int64_t program_engine_nc64(Call&, abi::ProgramEngineNc64&);

// --- ops_dma.cpp ---
std::int64_t dma_eng_set_state(Call&, abi::DmaEngSetState&);
std::int64_t dma_eng_get_state(Call&, abi::DmaEngGetState&);
std::int64_t dma_queue_init(Call&, abi::DmaQueueInit&);
std::int64_t dma_queue_init_batch(Call&);
std::int64_t dma_queue_release(Call&, abi::DmaQueueRelease&);
std::int64_t dma_queue_copy_start(Call&, abi::DmaQueueCopyStart&);
std::int64_t dma_ack_completed(Call&, abi::DmaAckCompleted&);
std::int64_t dma_queue_get_state(Call&, abi::DmaQueueGetState&);
std::int64_t dma_copy_descriptors(Call&, abi::DmaCopyDescriptors&);
std::int64_t dma_copy_descriptors64(Call&, abi::DmaCopyDescriptors64&);
std::int64_t dma_descriptor_copyout(Call&, abi::DmaDescriptorCopyout&);
std::int64_t h2t_alloc(Call&, abi::H2tDmaAllocQueues&);
std::int64_t h2t_free(Call&, abi::H2tDmaFreeQueues&);

// --- ops_sync.cpp ---
std::int64_t semaphore_increment(Call&, abi::Semaphore&);
std::int64_t semaphore_decrement(Call&, abi::Semaphore&);
std::int64_t semaphore_read(Call&, abi::Semaphore&);
std::int64_t semaphore_write(Call&, abi::Semaphore&);
std::int64_t event_set(Call&, abi::Event&);
std::int64_t event_get(Call&, abi::Event&);
std::int64_t bar_read(Call&, abi::BarRw&);
std::int64_t bar_write(Call&, abi::BarRw&);
std::int64_t read_hw_counters(Call&, abi::ReadHwCounters&);

// --- ops_notify.cpp ---
std::int64_t notifications_init_v1(Call&, abi::NotificationsInitV1&);
std::int64_t notifications_init_v2(Call&, abi::NotificationsInitV2&);
std::int64_t notifications_init_realloc(Call&, abi::NotificationsInitWithReallocV2&);
// Node locked by the caller.
void free_notification_queues(Machine&, DeviceNode&, std::uint32_t core_mask, bool topsps);

// --- ops_reset.cpp ---
std::int64_t device_reset(Call&);
std::int64_t device_ready(Call&);
std::int64_t nc_reset(Call&, abi::DeviceReset&);
std::int64_t nc_reset_ready(Call&, abi::DeviceReady&);
std::int64_t core_init_set(Call&, abi::CinitSet&);
std::int64_t model_started_count(Call&, abi::NcModelStartedCount&);
std::int64_t hbm_scrub_start(Call&, abi::HbmScrubStart&);
std::int64_t hbm_scrub_wait(Call&, abi::HbmScrubWait&);

// --- ops_shared.cpp ---
std::int64_t reader_enter(Call&, abi::Crwl&);
std::int64_t reader_exit(Call&, abi::Crwl&);
std::int64_t writer_enter(Call&, abi::Crwl&);
std::int64_t writer_downgrade(Call&, abi::Crwl&);
std::int64_t range_mark(Call&, abi::CrwlNcMap&);
std::int64_t range_mark_ext(Call&, abi::CrwlNcMapExt&);
std::int64_t range_unmark(Call&, abi::CrwlNcMap&);
std::int64_t range_unmark_ext(Call&, abi::CrwlNcMapExt&);
std::int64_t store_acquire(Call&, abi::DsInfo&);
std::int64_t store_release(Call&, abi::DsInfo&);

}  // namespace opennrt::emu
