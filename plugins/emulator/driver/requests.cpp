// SPDX-License-Identifier: Apache-2.0
//
// The request table: one row per request form of the driver. What is not in it
// is unknown, and answered with -EINVAL on both lanes.
#include <algorithm>
#include <array>

#include "driver/operations.h"

namespace opennrt::emu {

namespace {

// clang-format off
constexpr RequestEntry kRequests[] = {
    {"DEVICE_RESET", abi::kDeviceReset, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, device_reset},
    {"DEVICE_READY", abi::kDeviceReady, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, device_ready},
    {"DEVICE_INFO", abi::kDeviceInfo, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, device_info},
    {"DEVICE_INIT", abi::kDeviceInit, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, do_nothing},
    {"DEVICE_RELEASE", abi::kDeviceRelease, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, do_nothing},
    {"DEVICE_APP_PID", abi::kDeviceAppPid, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, device_app_pid},
    {"DEVICE_GET_ALL_APPS_INFO", abi::kDeviceGetAllAppsInfo, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::GetAppsInfo, apps_info>},
    {"BAR_READ", abi::kBarRead, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::BarRw, bar_read>},
    {"BAR_WRITE", abi::kBarWrite, Match::kCode, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::BarRw, bar_write>},
    {"POST_METRIC", abi::kPostMetric, Match::kCode, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::PostMetric, post_metric>},
    {"MEM_ALLOC", abi::kMemAlloc, Match::kCode, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::MemAlloc, mem_alloc, -EACCES>},
    {"MEM_FREE", abi::kMemFree, Match::kCode, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::MemFree, mem_free>},
    {"MEM_COPY", abi::kMemCopy, Match::kNumber, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::MemCopy, mem_copy>},
    {"MEM_COPY64", abi::kMemCopy64, Match::kNumber, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::MemCopy64, mem_copy64>},
    {"MEM_BUF_COPY", abi::kMemBufCopy, Match::kNumber, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::MemBufCopy, mem_buf_copy>},
    {"MEM_BUF_COPY64", abi::kMemBufCopy64, Match::kNumber, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::MemBufCopy64, mem_buf_copy64>},
    {"MEM_GET_PA", abi::kMemGetPa, Match::kCode, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::MemGetPa, mem_get_pa>},
    {"MEM_GET_INFO", abi::kMemGetInfo, Match::kCode, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::MemGetInfo, mem_get_info>},
    {"PROGRAM_ENGINE", abi::kProgramEngine, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::ProgramEngine, program_engine>},
    {"MEMSET", abi::kMemset, Match::kNumber, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::Memset, mem_set>},
    {"MEMSET64", abi::kMemset64, Match::kNumber, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::Memset64, mem_set64>},
    {"MEM_GET_EXTENDED_INFO", abi::kMemGetExtendedInfo, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::MemGetExtendedInfo, mem_get_extended_info>},
    {"DMA_ENG_INIT", abi::kDmaEngInit, Match::kCode, Lane::kDevice, Gate::kAttached, DriverVersion{}, do_nothing},
    {"DMA_ENG_SET_STATE", abi::kDmaEngSetState, Match::kCode, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::DmaEngSetState, dma_eng_set_state>},
    {"DMA_ENG_GET_STATE", abi::kDmaEngGetState, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::DmaEngGetState, dma_eng_get_state>},
    {"DMA_QUEUE_INIT", abi::kDmaQueueInit, Match::kCode, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::DmaQueueInit, dma_queue_init, -EACCES>},
    {"DMA_QUEUE_RELEASE", abi::kDmaQueueRelease, Match::kCode, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::DmaQueueRelease, dma_queue_release>},
    {"DMA_QUEUE_COPY_START", abi::kDmaQueueCopyStart, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::DmaQueueCopyStart, dma_queue_copy_start>},
    {"DMA_ACK_COMPLETED", abi::kDmaAckCompleted, Match::kCode, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::DmaAckCompleted, dma_ack_completed>},
    {"DMA_QUEUE_GET_STATE", abi::kDmaQueueGetState, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::DmaQueueGetState, dma_queue_get_state>},
    {"DMA_COPY_DESCRIPTORS", abi::kDmaCopyDescriptors, Match::kNumber, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::DmaCopyDescriptors, dma_copy_descriptors>},
    {"DMA_COPY_DESCRIPTORS64", abi::kDmaCopyDescriptors64, Match::kNumber, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::DmaCopyDescriptors64, dma_copy_descriptors64>},
    {"DMA_DESCRIPTOR_COPYOUT", abi::kDmaDescriptorCopyout, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::DmaDescriptorCopyout, dma_descriptor_copyout>},
    {"DMA_QUIESCE_QUEUES", abi::kDmaQuiesceQueues, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, refuse_notty},
    {"SEMAPHORE_INCREMENT", abi::kSemaphoreIncrement, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::Semaphore, semaphore_increment>},
    {"SEMAPHORE_DECREMENT", abi::kSemaphoreDecrement, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::Semaphore, semaphore_decrement>},
    {"SEMAPHORE_READ", abi::kSemaphoreRead, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::Semaphore, semaphore_read>},
    {"SEMAPHORE_WRITE", abi::kSemaphoreWrite, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::Semaphore, semaphore_write>},
    {"EVENT_SET", abi::kEventSet, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::Event, event_set>},
    {"EVENT_GET", abi::kEventGet, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::Event, event_get>},
    {"NOTIFICATIONS_INIT_V1", abi::kNotificationsInitV1, Match::kCode, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::NotificationsInitV1, notifications_init_v1>},
    {"NOTIFICATIONS_DESTROY_V1", abi::kNotificationsDestroyV1, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, do_nothing},
    {"NOTIFICATIONS_INIT_V2", abi::kNotificationsInitV2, Match::kCode, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::NotificationsInitV2, notifications_init_v2>},
    {"NOTIFICATIONS_INIT_WITH_REALLOC_V2", abi::kNotificationsInitWithReallocV2, Match::kCode, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::NotificationsInitWithReallocV2, notifications_init_realloc>},
    {"NOTIFICATIONS_QUEUE_INFO", abi::kNotificationsQueueInfo, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, refuse_failed},
    {"READ_HW_COUNTERS", abi::kReadHwCounters, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::ReadHwCounters, read_hw_counters>},
    {"ACQUIRE_NEURON_DS", abi::kAcquireNeuronDs, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::DsInfo, store_acquire>},
    {"RELEASE_NEURON_DS", abi::kReleaseNeuronDs, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::DsInfo, store_release>},
    {"CRWL_READER_ENTER", abi::kCrwlReaderEnter, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::Crwl, reader_enter>},
    {"CRWL_READER_EXIT", abi::kCrwlReaderExit, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::Crwl, reader_exit>},
    {"CRWL_WRITER_ENTER", abi::kCrwlWriterEnter, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::Crwl, writer_enter>},
    {"CRWL_WRITER_DOWNGRADE", abi::kCrwlWriterDowngrade, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::Crwl, writer_downgrade>},
    {"CRWL_NC_RANGE_MARK", abi::kCrwlNcRangeMark, Match::kCode, Lane::kMisc, Gate::kNone, DriverVersion{}, with<abi::CrwlNcMap, range_mark>},
    {"CRWL_NC_RANGE_MARK_EXT0", abi::kCrwlNcRangeMarkExt0, Match::kCode, Lane::kMisc, Gate::kNone, DriverVersion{}, with<abi::CrwlNcMapExt, range_mark_ext>},
    {"CRWL_NC_RANGE_UNMARK", abi::kCrwlNcRangeUnmark, Match::kCode, Lane::kMisc, Gate::kNone, DriverVersion{}, with<abi::CrwlNcMap, range_unmark>},
    {"CRWL_NC_RANGE_UNMARK_EXT0", abi::kCrwlNcRangeUnmarkExt0, Match::kCode, Lane::kMisc, Gate::kNone, DriverVersion{}, with<abi::CrwlNcMapExt, range_unmark_ext>},
    {"CINIT_SET_STATE", abi::kCinitSetState, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::CinitSet, core_init_set>},
    {"NC_MODEL_STARTED_COUNT", abi::kNcModelStartedCount, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::NcModelStartedCount, model_started_count>},
    {"COMPATIBLE_VERSION", abi::kCompatibleVersion, Match::kCode, Lane::kMisc, Gate::kNone, DriverVersion{}, compatible_version},
    {"DEVICE_BASIC_INFO", abi::kDeviceBasicInfo, Match::kCode, Lane::kMisc, Gate::kNone, DriverVersion{}, device_basic_info},
    {"DEVICE_BDF", abi::kDeviceBdf, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, device_bdf},
    {"MEM_ALLOC_V2", abi::kMemAllocV2, Match::kNumber, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::MemAllocV2, mem_alloc_v2>},
    {"MEM_ALLOC_V2MT", abi::kMemAllocV2mt, Match::kNumber, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::MemAllocV2MemType, mem_alloc_v2mt>},
    {"MEM_ALLOC_V2MT64", abi::kMemAllocV2mt64, Match::kNumber, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::MemAllocV2MemType64, mem_alloc_v2mt64>},
    {"NC_RESET", abi::kNcReset, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::DeviceReset, nc_reset>},
    {"NC_RESET_READY", abi::kNcResetReady, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::DeviceReady, nc_reset_ready>},
    {"PROGRAM_ENGINE_NC", abi::kProgramEngineNc, Match::kNumber, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::ProgramEngineNc, program_engine_nc>},
    {"PROGRAM_ENGINE_NC64", abi::kProgramEngineNc64, Match::kNumber, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::ProgramEngineNc64, program_engine_nc64>},
    {"DEVICE_RESET_STATUS", abi::kDeviceResetStatus, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, reply_one_byte},
    {"DEVICE_BDF_EXT", abi::kDeviceBdfExt, Match::kCode, Lane::kMisc, Gate::kNone, DriverVersion{}, with<abi::DeviceBdfExt, device_bdf_ext>},
    {"DMABUF_FD", abi::kDmabufFd, Match::kCode, Lane::kMisc, Gate::kNone, DriverVersion{}, with<abi::DmabufFd, dmabuf_fd>},
    {"MEM_COPY_ASYNC", abi::kMemCopyAsync, Match::kNumber, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::MemCopyAsync, mem_copy_async>},
    {"MEM_COPY_ASYNC64", abi::kMemCopyAsync64, Match::kNumber, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::MemCopyAsync64, mem_copy_async64>},
    {"MEM_COPY_ASYNC_WAIT", abi::kMemCopyAsyncWait, Match::kCode, Lane::kDevice, Gate::kAttached, DriverVersion{}, with<abi::MemCopyAsyncWait, mem_copy_async_wait>},
    {"DRIVER_INFO_GET", abi::kDriverInfoGet, Match::kAtLeast, Lane::kMisc, Gate::kNone, DriverVersion{}, driver_info_get},
    {"DRIVER_INFO_SET", abi::kDriverInfoSet, Match::kAtLeast, Lane::kMisc, Gate::kAttached, DriverVersion{}, refuse_unsupported},
    {"MEM_MC_GET_INFO", abi::kMemMcGetInfo, Match::kNumber, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::MemGetMcMmapInfo, mem_mc_info>},
    {"MEM_MC_GET_INFO_V2", abi::kMemMcGetInfoV2, Match::kNumber, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::MemGetMcMmapInfoV2, mem_mc_info_v2>},
    {"RESOURCE_MMAP_INFO", abi::kResourceMmapInfo, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::ResourceMmapInfo, resource_mmap_info>},
    {"PRINTK", abi::kPrintk, Match::kCode, Lane::kMisc, Gate::kNone, DriverVersion{}, with<abi::Printk, print_text>},
    {"HOST_DEVICE_ID", abi::kHostDeviceId, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, host_device_id},
    {"HOST_DEVICE_ID_TO_RID_MAP", abi::kHostDeviceIdToRidMap, Match::kNumber, Lane::kMisc, Gate::kNone, DriverVersion{}, rid_map},
    {"DUMP_MEM_CHUNKS", abi::kDumpMemChunks, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::DumpMemChunks, dump_mem_chunks>},
    {"NC_PID_STATE_DUMP", abi::kNcPidStateDump, Match::kCode, Lane::kMisc, Gate::kNone, DriverVersion{}, with<abi::NcPidStateDump, dump_pid_state>},
    {"HBM_SCRUB_START", abi::kHbmScrubStart, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::HbmScrubStart, hbm_scrub_start>},
    {"HBM_SCRUB_WAIT", abi::kHbmScrubWait, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, with<abi::HbmScrubWait, hbm_scrub_wait>},
    {"GET_LOGICAL_TO_PHYSICAL_NC_MAP", abi::kGetLogicalToPhysicalNcMap, Match::kCode, Lane::kMisc, Gate::kNone, DriverVersion{}, core_map},
    {"POD_INFO", abi::kPodInfo, Match::kNumber, Lane::kMisc, Gate::kNone, DriverVersion{}, with<abi::PodInfo, pod_info>},
    {"POD_STATUS", abi::kPodStatus, Match::kNumber, Lane::kMisc, Gate::kNone, DriverVersion{}, with<abi::PodStatus, pod_status>},
    {"POD_STATUS_V2", abi::kPodStatusV2, Match::kNumber, Lane::kMisc, Gate::kNone, kDriver2_24, with<abi::PodStatusV2, pod_status_v2>},
    {"POD_CTRL", abi::kPodCtrl, Match::kNumber, Lane::kMisc, Gate::kNone, DriverVersion{}, with<abi::PodCtrl, pod_ctrl>},
    {"POD_CTRL_V2", abi::kPodCtrlV2, Match::kNumber, Lane::kMisc, Gate::kNone, kDriver2_24, with<abi::PodCtrlV2, pod_ctrl_v2>},
    {"MEM_BUF_ZEROCOPY64", abi::kMemBufZerocopy64, Match::kNumber, Lane::kDevice, Gate::kNone, kDriver2_25, with<abi::MemBufCopy64zc, zero_copy>},
    {"H2T_DMA_ALLOC_QUEUES", abi::kH2tDmaAllocQueues, Match::kCode, Lane::kDevice, Gate::kNone, kDriver2_25, with<abi::H2tDmaAllocQueues, h2t_alloc>},
    {"H2T_DMA_FREE_QUEUES", abi::kH2tDmaFreeQueues, Match::kCode, Lane::kDevice, Gate::kNone, kDriver2_25, with<abi::H2tDmaFreeQueues, h2t_free>},
    {"POWER_PROFILE", abi::kPowerProfile, Match::kCode, Lane::kDevice, Gate::kNone, kDriver2_25, with<abi::PowerProfile, power_profile_set>},
    {"METRICS_CTRL", abi::kMetricsCtrl, Match::kCode, Lane::kDevice, Gate::kNone, kDriver2_25, with<abi::MetricsCtrl, metrics_ctrl>},
    {"MEM_BUF_ZEROCOPY64_BATCHES", abi::kMemBufZerocopy64Batches, Match::kCode, Lane::kDevice, Gate::kNone, kDriver2_25, with<abi::MemBufCopy64zcBatches, zero_copy_batches>},
    {"THROTTLING_NOTIFICATIONS", abi::kThrottlingNotifications, Match::kCode, Lane::kDevice, Gate::kNone, kDriver2_26, with<abi::ThrottlingNotifications, throttling_notifications>},
    {"GET_VA_PLACEMENT", abi::kGetVaPlacement, Match::kNumber, Lane::kMisc, Gate::kNone, kDriver2_26, with<abi::GetVaPlacement, va_placement>},
    {"GET_PERFORMANCE_PROFILE", abi::kGetPerformanceProfile, Match::kCode, Lane::kDevice, Gate::kNone, kDriver2_27, with<abi::PowerProfile, power_profile_get>},
    {"DMA_QUEUE_INIT_BATCH", abi::kDmaQueueInitBatch, Match::kCode, Lane::kDevice, Gate::kNone, DriverVersion{}, dma_queue_init_batch},
    {"AVAILABLE_PERF_PROFILES", abi::kAvailablePerfProfiles, Match::kCode, Lane::kDevice, Gate::kNone, kDriver2_27, with<abi::AvailablePerfProfiles, power_profile_list>},
};
// clang-format on

constexpr std::uint32_t kDirection = 3u << 30, kSizeMask = 0x3FFFu << 16, kNumberMask = 0xFFFF;

// First row of each request number, so that a lookup touches one or two rows.
constexpr auto kFirst = [] {
  std::array<std::uint8_t, 256> first{};
  for (auto& f : first) f = 0xFF;
  for (std::size_t i = std::size(kRequests); i-- > 0;)
    first[kRequests[i].code & 0xFF] = static_cast<std::uint8_t>(i);
  return first;
}();
static_assert(std::size(kRequests) < 0xFF);

constexpr bool grouped() {
  for (std::size_t i = 1; i < std::size(kRequests); ++i)
    if ((kRequests[i].code & 0xFF) < (kRequests[i - 1].code & 0xFF)) return false;
  return true;
}
static_assert(grouped(), "rows are sorted by request number");

bool matches(const RequestEntry& entry, std::uint32_t request) {
  switch (entry.match) {
    case Match::kCode:
      return request == entry.code;
    case Match::kNumber:
      return ((request ^ entry.code) & ~kDirection) == 0;
    case Match::kAtLeast:
      return ((request ^ entry.code) & (kDirection | kNumberMask)) == 0 &&
             (request & kSizeMask) >= (entry.code & kSizeMask);
  }
  return false;
}

constexpr bool names_exist() {
  return std::all_of(
      std::begin(kFeatureRequests), std::end(kFeatureRequests), [](const FeatureRequest& need) {
        return std::any_of(std::begin(kRequests), std::end(kRequests),
                           [&](const RequestEntry& row) { return need.request == row.name; });
      });
}
static_assert(names_exist(), "a feature announces a request that is no row");

}  // namespace

std::span<const RequestEntry> request_table() { return kRequests; }

const RequestEntry* find_request(std::uint32_t request, Lane lane) {
  for (std::size_t i = kFirst[request & 0xFF];
       i < std::size(kRequests) && (kRequests[i].code & 0xFF) == (request & 0xFF); ++i)
    if (matches(kRequests[i], request) &&
        (lane == Lane::kDevice || kRequests[i].lane == Lane::kMisc))
      return &kRequests[i];
  return nullptr;
}

}  // namespace opennrt::emu
