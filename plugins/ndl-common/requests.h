// SPDX-License-Identifier: Apache-2.0
//
// Requests of the Neuron kernel driver: codes, argument sizes, lanes. Used by
// the NDL plugins, which send them, and by the emulated driver, which answers
// them. Depends on nothing but the standard headers.
//
// A code is direction, encoded size, magic and number. Older requests carry a
// bare pointer: they encode size 8 whatever the struct, so the bytes the driver
// copies stand in kRequests, not in the code. Several forms share a number and
// differ in the encoded size.
//
// Source of the facts: aws-neuron-driver 2.24.7.0 to 2.27.4.0.
#pragma once

#include "ndl-common/request_device.h"
#include "ndl-common/request_memory.h"
#include "ndl-common/request_queue.h"

namespace opennrt::ndl {

enum RequestDir : uint32_t { kDirNone = 0, kDirWrite = 1, kDirRead = 2, kDirReadWrite = 3 };

inline constexpr uint32_t kRequestMagic = 0x4E;
inline constexpr uint64_t kBarePointer = 8;

constexpr uint32_t make_request(RequestDir dir, uint32_t number, uint64_t encoded_bytes) {
  return dir << 30 | static_cast<uint32_t>(encoded_bytes) << 16 | kRequestMagic << 8 | number;
}
constexpr uint32_t request_number(uint32_t code) { return code & 0xFF; }
constexpr uint32_t request_bytes(uint32_t code) { return code >> 16 & 0x3FFF; }

inline constexpr uint32_t kDeviceReset = make_request(kDirNone, 1, 0);
inline constexpr uint32_t kDeviceReady = make_request(kDirRead, 2, sizeof(uint8_t));
inline constexpr uint32_t kDeviceInfo = make_request(kDirRead, 3, kBarePointer);
inline constexpr uint32_t kDeviceInit = make_request(kDirRead, 4, kBarePointer);
inline constexpr uint32_t kDeviceRelease = make_request(kDirNone, 5, 0);
inline constexpr uint32_t kDeviceAppPid = make_request(kDirRead, 6, sizeof(int32_t));
inline constexpr uint32_t kAppsInfo = make_request(kDirRead, 7, kBarePointer);
inline constexpr uint32_t kBarRead = make_request(kDirRead, 11, kBarePointer);
inline constexpr uint32_t kBarWrite = make_request(kDirWrite, 12, kBarePointer);
inline constexpr uint32_t kPostMetric = make_request(kDirWrite, 13, kBarePointer);
inline constexpr uint32_t kMemAllocV1 = make_request(kDirRead, 21, kBarePointer);
inline constexpr uint32_t kMemFree = make_request(kDirRead, 22, kBarePointer);
inline constexpr uint32_t kMemCopy32 = make_request(kDirRead, 23, kBarePointer);
inline constexpr uint32_t kMemCopy = make_request(kDirRead, 23, sizeof(ndl_mem_copy));
inline constexpr uint32_t kBufCopy32 = make_request(kDirReadWrite, 24, kBarePointer);
inline constexpr uint32_t kBufCopy = make_request(kDirReadWrite, 24, sizeof(ndl_buf_copy));
inline constexpr uint32_t kMemGetPa = make_request(kDirRead, 25, kBarePointer);
inline constexpr uint32_t kMemGetInfo = make_request(kDirRead, 26, kBarePointer);
inline constexpr uint32_t kProgramEngineV1 = make_request(kDirReadWrite, 27, kBarePointer);
inline constexpr uint32_t kMemSet32 = make_request(kDirRead, 28, kBarePointer);
inline constexpr uint32_t kMemSet = make_request(kDirRead, 28, sizeof(ndl_mem_set));
inline constexpr uint32_t kMemGetExtendedInfo = make_request(kDirRead, 29, kBarePointer);
inline constexpr uint32_t kDmaEngineInit = make_request(kDirRead, 30, kBarePointer);
inline constexpr uint32_t kDmaEngineSet = make_request(kDirRead, 31, kBarePointer);
inline constexpr uint32_t kDmaEngineGet = make_request(kDirReadWrite, 32, kBarePointer);
inline constexpr uint32_t kDmaQueueInit = make_request(kDirRead, 33, kBarePointer);
inline constexpr uint32_t kDmaQueueRelease = make_request(kDirRead, 34, kBarePointer);
inline constexpr uint32_t kDmaStart = make_request(kDirRead, 35, kBarePointer);
inline constexpr uint32_t kDmaAck = make_request(kDirRead, 36, kBarePointer);
inline constexpr uint32_t kDmaQueueGet = make_request(kDirReadWrite, 37, kBarePointer);
inline constexpr uint32_t kDescWrite32 = make_request(kDirRead, 38, kBarePointer);
inline constexpr uint32_t kDescWrite = make_request(kDirRead, 38, sizeof(ndl_desc_write));
inline constexpr uint32_t kDescRead = make_request(kDirReadWrite, 39, kBarePointer);
inline constexpr uint32_t kDmaQuiesce = make_request(kDirRead, 40, kBarePointer);
inline constexpr uint32_t kSemaphoreIncrement = make_request(kDirRead, 41, kBarePointer);
inline constexpr uint32_t kSemaphoreDecrement = make_request(kDirRead, 42, kBarePointer);
inline constexpr uint32_t kSemaphoreRead = make_request(kDirReadWrite, 43, kBarePointer);
inline constexpr uint32_t kSemaphoreWrite = make_request(kDirRead, 44, kBarePointer);
inline constexpr uint32_t kEventSet = make_request(kDirRead, 45, kBarePointer);
inline constexpr uint32_t kEventGet = make_request(kDirReadWrite, 46, kBarePointer);
inline constexpr uint32_t kNqInitV1 = make_request(kDirRead, 51, kBarePointer);
inline constexpr uint32_t kNqDestroyV1 = make_request(kDirRead, 52, kBarePointer);
inline constexpr uint32_t kNqInitV2 = make_request(kDirRead, 53, kBarePointer);
inline constexpr uint32_t kNqInit = make_request(kDirRead, 54, kBarePointer);
inline constexpr uint32_t kNqInfo = make_request(kDirRead, 58, kBarePointer);
inline constexpr uint32_t kHwCounters = make_request(kDirRead, 61, kBarePointer);
inline constexpr uint32_t kDataStoreAcquire = make_request(kDirRead, 71, kBarePointer);
inline constexpr uint32_t kDataStoreRelease = make_request(kDirRead, 72, kBarePointer);
inline constexpr uint32_t kCoreReaderEnter = make_request(kDirWrite, 81, kBarePointer);
inline constexpr uint32_t kCoreReaderExit = make_request(kDirWrite, 82, kBarePointer);
inline constexpr uint32_t kCoreWriterEnter = make_request(kDirWrite, 83, kBarePointer);
inline constexpr uint32_t kCoreWriterDowngrade = make_request(kDirWrite, 84, kBarePointer);
inline constexpr uint32_t kCoreRangeMark64 = make_request(kDirWrite, 85, kBarePointer);
inline constexpr uint32_t kCoreRangeMark =
    make_request(kDirReadWrite, 85, sizeof(ndl_core_range512));
inline constexpr uint32_t kCoreRangeUnmark64 = make_request(kDirWrite, 86, kBarePointer);
inline constexpr uint32_t kCoreRangeUnmark = make_request(kDirWrite, 86, sizeof(ndl_core_range512));
inline constexpr uint32_t kCoreInitState = make_request(kDirWrite, 91, kBarePointer);
inline constexpr uint32_t kStartedCount = make_request(kDirWrite, 92, kBarePointer);
inline constexpr uint32_t kCompatWindow = make_request(kDirWrite, 93, kBarePointer);
inline constexpr uint32_t kBoardInfo = make_request(kDirWrite, 100, kBarePointer);
inline constexpr uint32_t kBdf = make_request(kDirRead, 101, kBarePointer);
inline constexpr uint32_t kMemAllocV2 = make_request(kDirRead, 102, kBarePointer);
inline constexpr uint32_t kMemAllocV2Mt = make_request(kDirRead, 102, sizeof(ndl_mem_alloc_v2mt));
inline constexpr uint32_t kMemAllocV2Mt64 =
    make_request(kDirRead, 102, sizeof(ndl_mem_alloc_v2mt64));
inline constexpr uint32_t kCoreReset = make_request(kDirRead, 103, kBarePointer);
inline constexpr uint32_t kCoreReady = make_request(kDirRead, 104, kBarePointer);
inline constexpr uint32_t kProgramEngine32 = make_request(kDirReadWrite, 105, kBarePointer);
inline constexpr uint32_t kProgramEngine =
    make_request(kDirReadWrite, 105, sizeof(ndl_program_engine));
inline constexpr uint32_t kDeviceResetStatus = make_request(kDirRead, 106, sizeof(uint8_t));
inline constexpr uint32_t kBdfExt = make_request(kDirRead, 106, kBarePointer);
inline constexpr uint32_t kDmabuf = make_request(kDirRead, 107, kBarePointer);
inline constexpr uint32_t kMemCopyAsync32 =
    make_request(kDirReadWrite, 108, sizeof(ndl_mem_copy_async32));
inline constexpr uint32_t kMemCopyAsync =
    make_request(kDirReadWrite, 108, sizeof(ndl_mem_copy_async));
inline constexpr uint32_t kMemCopyWait = make_request(kDirWrite, 109, sizeof(ndl_mem_copy_wait));
inline constexpr uint32_t kDriverInfo = make_request(kDirRead, 110, sizeof(ndl_driver_info));
inline constexpr uint32_t kChunkInfoV1 =
    make_request(kDirReadWrite, 111, sizeof(ndl_chunk_info_v1));
inline constexpr uint32_t kChunkInfo = make_request(kDirReadWrite, 111, sizeof(ndl_chunk_info));
inline constexpr uint32_t kResourceInfo = make_request(kDirReadWrite, 112, sizeof(ndl_resource));
inline constexpr uint32_t kPrintk = make_request(kDirWrite, 113, sizeof(ndl_printk));
inline constexpr uint32_t kHostDeviceId = make_request(kDirRead, 114, sizeof(ndl_host_device_id));
inline constexpr uint32_t kRidMap = make_request(kDirReadWrite, 115, sizeof(ndl_rid_map));
inline constexpr uint32_t kMemDump = make_request(kDirRead, 116, kBarePointer);
inline constexpr uint32_t kPidDump = make_request(kDirReadWrite, 117, sizeof(ndl_pid_dump));
inline constexpr uint32_t kScrubStart = make_request(kDirReadWrite, 118, sizeof(ndl_scrub_start));
inline constexpr uint32_t kScrubWait = make_request(kDirReadWrite, 119, sizeof(ndl_scrub_wait));
inline constexpr uint32_t kCoreMap = make_request(kDirReadWrite, 120, sizeof(ndl_core_map_query));
inline constexpr uint32_t kPodInfo = make_request(kDirReadWrite, 121, sizeof(ndl_pod_info));
inline constexpr uint32_t kPodStatusV1 =
    make_request(kDirReadWrite, 122, sizeof(ndl_pod_status_v1));
inline constexpr uint32_t kPodStatus = make_request(kDirReadWrite, 122, sizeof(ndl_pod_status));
inline constexpr uint32_t kPodCtrlV1 = make_request(kDirReadWrite, 123, sizeof(ndl_pod_ctrl_v1));
inline constexpr uint32_t kPodCtrl = make_request(kDirReadWrite, 123, sizeof(ndl_pod_ctrl));
inline constexpr uint32_t kBufZerocopy = make_request(kDirReadWrite, 124, sizeof(ndl_buf_zerocopy));
inline constexpr uint32_t kH2tAlloc = make_request(kDirReadWrite, 125, sizeof(ndl_h2t_alloc));
inline constexpr uint32_t kH2tFree = make_request(kDirReadWrite, 126, sizeof(ndl_h2t_free));
inline constexpr uint32_t kPerfProfileSet = make_request(kDirWrite, 127, sizeof(ndl_perf_profile));
inline constexpr uint32_t kMetricsCtrl = make_request(kDirWrite, 128, sizeof(ndl_metrics_ctrl));
inline constexpr uint32_t kZerocopyBatches =
    make_request(kDirReadWrite, 129, sizeof(ndl_zerocopy_batches));
inline constexpr uint32_t kThrottling = make_request(kDirWrite, 130, sizeof(ndl_throttling));
inline constexpr uint32_t kVaPlacement = make_request(kDirWrite, 131, sizeof(ndl_va_placement));
inline constexpr uint32_t kPerfProfileGet =
    make_request(kDirReadWrite, 132, sizeof(ndl_perf_profile));
inline constexpr uint32_t kDmaQueueInitBatch =
    make_request(kDirRead, 133, sizeof(ndl_dma_queue_init_batch));
inline constexpr uint32_t kPerfProfileList =
    make_request(kDirReadWrite, 134, sizeof(ndl_perf_profiles));
inline constexpr uint32_t kCompletionQueues =
    make_request(kDirReadWrite, 135, sizeof(ndl_completion_queues));

// Limits of the driver.
inline constexpr uint32_t kMaxDevices = 64;
inline constexpr uint32_t kMaxCoresPerDevice = 8;
inline constexpr uint32_t kMaxProcessesPerDevice = 16;
inline constexpr uint32_t kMaxBarReads = 100;    // registers per kBarRead
inline constexpr uint32_t kMaxQueueBatch = 255;  // entries per kDmaQueueInitBatch
inline constexpr uint32_t kMaxPrintk = 512;      // bytes
inline constexpr uint32_t kMaxCoreMap = 128;     // entries per kCoreMap
inline constexpr uint32_t kMaxDmaEngines = 132;
inline constexpr uint32_t kMaxDmaQueues = 16;
inline constexpr uint64_t kDescriptorBytes = 16;
// 2032 descriptors of 64 KiB per asynchronous slot.
inline constexpr uint64_t kMaxAsyncCopy = 133169152;
inline constexpr uint64_t kDataStoreBytes = 262144;
inline constexpr int32_t kDefaultH2tQueue = -1;
// nq cookie of a queue in device memory: map it by handle instead.
inline constexpr uint64_t kNoCookie = ~uint64_t{0};

// kMisc: answered on descriptors opened write-only, and on every other too.
enum class Lane : uint8_t { kDevice, kMisc };

struct RequestInfo {
  uint32_t code;
  uint32_t arg_bytes;  // what the driver copies
  Lane lane;
  bool attached;     // the caller must have opened the node itself, else -EACCES
  const char* name;  // the driver's name, for logs
};

inline constexpr RequestInfo kRequests[] = {
    {kDeviceReset, 0, Lane::kDevice, false, "DEVICE_RESET"},
    {kDeviceReady, sizeof(uint8_t), Lane::kDevice, false, "DEVICE_READY"},
    {kDeviceInfo, sizeof(ndl_device_info), Lane::kDevice, false, "DEVICE_INFO"},
    {kDeviceInit, sizeof(ndl_device_init), Lane::kDevice, false, "DEVICE_INIT"},
    {kDeviceRelease, 0, Lane::kDevice, false, "DEVICE_RELEASE"},
    {kDeviceAppPid, sizeof(int32_t), Lane::kDevice, false, "DEVICE_APP_PID"},
    {kAppsInfo, sizeof(ndl_apps_info), Lane::kDevice, false, "DEVICE_GET_ALL_APPS_INFO"},
    {kBarRead, sizeof(ndl_bar_access), Lane::kDevice, false, "BAR_READ"},
    {kBarWrite, sizeof(ndl_bar_access), Lane::kDevice, true, "BAR_WRITE"},
    {kPostMetric, sizeof(ndl_post_metric), Lane::kDevice, true, "POST_METRIC"},
    {kMemAllocV1, sizeof(ndl_mem_alloc_v1), Lane::kDevice, true, "MEM_ALLOC"},
    {kMemFree, sizeof(ndl_mem_free), Lane::kDevice, true, "MEM_FREE"},
    {kMemCopy32, sizeof(ndl_mem_copy32), Lane::kDevice, true, "MEM_COPY"},
    {kMemCopy, sizeof(ndl_mem_copy), Lane::kDevice, false, "MEM_COPY64"},
    {kBufCopy32, sizeof(ndl_buf_copy32), Lane::kDevice, false, "MEM_BUF_COPY"},
    {kBufCopy, sizeof(ndl_buf_copy), Lane::kDevice, false, "MEM_BUF_COPY64"},
    {kMemGetPa, sizeof(ndl_mem_pa), Lane::kDevice, true, "MEM_GET_PA"},
    {kMemGetInfo, sizeof(ndl_mem_info), Lane::kDevice, true, "MEM_GET_INFO"},
    {kProgramEngineV1, sizeof(ndl_program_engine_v1), Lane::kDevice, false, "PROGRAM_ENGINE"},
    {kMemSet32, sizeof(ndl_mem_set32), Lane::kDevice, false, "MEMSET"},
    {kMemSet, sizeof(ndl_mem_set), Lane::kDevice, false, "MEMSET64"},
    {kMemGetExtendedInfo, sizeof(ndl_mem_extended_info), Lane::kDevice, false,
     "MEM_GET_EXTENDED_INFO"},
    {kDmaEngineInit, sizeof(ndl_dma_engine_init), Lane::kDevice, true, "DMA_ENG_INIT"},
    {kDmaEngineSet, sizeof(ndl_dma_engine_set), Lane::kDevice, true, "DMA_ENG_SET_STATE"},
    {kDmaEngineGet, sizeof(ndl_dma_engine_query), Lane::kDevice, false, "DMA_ENG_GET_STATE"},
    {kDmaQueueInit, sizeof(ndl_dma_queue_init), Lane::kDevice, true, "DMA_QUEUE_INIT"},
    {kDmaQueueRelease, sizeof(ndl_dma_queue_release), Lane::kDevice, true, "DMA_QUEUE_RELEASE"},
    {kDmaStart, sizeof(ndl_dma_start), Lane::kDevice, false, "DMA_QUEUE_COPY_START"},
    {kDmaAck, sizeof(ndl_dma_ack), Lane::kDevice, true, "DMA_ACK_COMPLETED"},
    {kDmaQueueGet, sizeof(ndl_dma_queue_query), Lane::kDevice, false, "DMA_QUEUE_GET_STATE"},
    {kDescWrite32, sizeof(ndl_desc_write32), Lane::kDevice, true, "DMA_COPY_DESCRIPTORS"},
    {kDescWrite, sizeof(ndl_desc_write), Lane::kDevice, false, "DMA_COPY_DESCRIPTORS64"},
    {kDescRead, sizeof(ndl_desc_read), Lane::kDevice, false, "DMA_DESCRIPTOR_COPYOUT"},
    {kDmaQuiesce, sizeof(ndl_dma_quiesce), Lane::kDevice, false, "DMA_QUIESCE_QUEUES"},
    {kSemaphoreIncrement, sizeof(ndl_semaphore), Lane::kDevice, false, "SEMAPHORE_INCREMENT"},
    {kSemaphoreDecrement, sizeof(ndl_semaphore), Lane::kDevice, false, "SEMAPHORE_DECREMENT"},
    {kSemaphoreRead, sizeof(ndl_semaphore), Lane::kDevice, false, "SEMAPHORE_READ"},
    {kSemaphoreWrite, sizeof(ndl_semaphore), Lane::kDevice, false, "SEMAPHORE_WRITE"},
    {kEventSet, sizeof(ndl_event), Lane::kDevice, false, "EVENT_SET"},
    {kEventGet, sizeof(ndl_event), Lane::kDevice, false, "EVENT_GET"},
    {kNqInitV1, sizeof(ndl_nq_init_v1), Lane::kDevice, true, "NOTIFICATIONS_INIT_V1"},
    {kNqDestroyV1, sizeof(ndl_nq_destroy_v1), Lane::kDevice, false, "NOTIFICATIONS_DESTROY_V1"},
    {kNqInitV2, sizeof(ndl_nq_init_v2), Lane::kDevice, true, "NOTIFICATIONS_INIT_V2"},
    {kNqInit, sizeof(ndl_nq_init), Lane::kDevice, true, "NOTIFICATIONS_INIT_WITH_REALLOC_V2"},
    {kNqInfo, sizeof(ndl_nq_info), Lane::kDevice, false, "NOTIFICATIONS_QUEUE_INFO"},
    {kHwCounters, sizeof(ndl_hw_counters), Lane::kDevice, false, "READ_HW_COUNTERS"},
    {kDataStoreAcquire, sizeof(ndl_data_store), Lane::kDevice, false, "ACQUIRE_NEURON_DS"},
    {kDataStoreRelease, sizeof(ndl_data_store), Lane::kDevice, false, "RELEASE_NEURON_DS"},
    {kCoreReaderEnter, sizeof(ndl_core_lock), Lane::kDevice, false, "CRWL_READER_ENTER"},
    {kCoreReaderExit, sizeof(ndl_core_lock), Lane::kDevice, false, "CRWL_READER_EXIT"},
    {kCoreWriterEnter, sizeof(ndl_core_lock), Lane::kDevice, false, "CRWL_WRITER_ENTER"},
    {kCoreWriterDowngrade, sizeof(ndl_core_lock), Lane::kDevice, false, "CRWL_WRITER_DOWNGRADE"},
    {kCoreRangeMark64, sizeof(ndl_core_range64), Lane::kMisc, false, "CRWL_NC_RANGE_MARK"},
    {kCoreRangeMark, sizeof(ndl_core_range512), Lane::kMisc, false, "CRWL_NC_RANGE_MARK_EXT0"},
    {kCoreRangeUnmark64, sizeof(ndl_core_range64), Lane::kMisc, false, "CRWL_NC_RANGE_UNMARK"},
    {kCoreRangeUnmark, sizeof(ndl_core_range512), Lane::kMisc, false, "CRWL_NC_RANGE_UNMARK_EXT0"},
    {kCoreInitState, sizeof(ndl_core_init_state), Lane::kDevice, false, "CINIT_SET_STATE"},
    {kStartedCount, sizeof(ndl_started_count), Lane::kDevice, false, "NC_MODEL_STARTED_COUNT"},
    {kCompatWindow, sizeof(ndl_compat_window), Lane::kMisc, false, "COMPATIBLE_VERSION"},
    {kBoardInfo, sizeof(ndl_board_info), Lane::kMisc, false, "DEVICE_BASIC_INFO"},
    {kBdf, sizeof(ndl_bdf), Lane::kDevice, false, "DEVICE_BDF"},
    {kMemAllocV2, sizeof(ndl_mem_alloc_v2), Lane::kDevice, false, "MEM_ALLOC_V2"},
    {kMemAllocV2Mt, sizeof(ndl_mem_alloc_v2mt), Lane::kDevice, false, "MEM_ALLOC_V2MT"},
    {kMemAllocV2Mt64, sizeof(ndl_mem_alloc_v2mt64), Lane::kDevice, false, "MEM_ALLOC_V2MT64"},
    {kCoreReset, sizeof(ndl_core_reset), Lane::kDevice, false, "NC_RESET"},
    {kCoreReady, sizeof(ndl_core_ready), Lane::kDevice, false, "NC_RESET_READY"},
    {kProgramEngine32, sizeof(ndl_program_engine32), Lane::kDevice, false, "PROGRAM_ENGINE_NC"},
    {kProgramEngine, sizeof(ndl_program_engine), Lane::kDevice, false, "PROGRAM_ENGINE_NC64"},
    {kDeviceResetStatus, sizeof(uint8_t), Lane::kDevice, false, "DEVICE_RESET_STATUS"},
    {kBdfExt, sizeof(ndl_bdf_ext), Lane::kMisc, false, "DEVICE_BDF_EXT"},
    {kDmabuf, sizeof(ndl_dmabuf), Lane::kMisc, false, "DMABUF_FD"},
    {kMemCopyAsync32, sizeof(ndl_mem_copy_async32), Lane::kDevice, true, "MEM_COPY_ASYNC"},
    {kMemCopyAsync, sizeof(ndl_mem_copy_async), Lane::kDevice, false, "MEM_COPY_ASYNC64"},
    {kMemCopyWait, sizeof(ndl_mem_copy_wait), Lane::kDevice, true, "MEM_COPY_ASYNC_WAIT"},
    {kDriverInfo, sizeof(ndl_driver_info), Lane::kMisc, false, "DRIVER_INFO_GET"},
    {kChunkInfoV1, sizeof(ndl_chunk_info_v1), Lane::kDevice, false, "MEM_MC_GET_INFO"},
    {kChunkInfo, sizeof(ndl_chunk_info), Lane::kDevice, false, "MEM_MC_GET_INFO_V2"},
    {kResourceInfo, sizeof(ndl_resource), Lane::kDevice, false, "RESOURCE_MMAP_INFO"},
    {kPrintk, sizeof(ndl_printk), Lane::kMisc, false, "PRINTK"},
    {kHostDeviceId, sizeof(ndl_host_device_id), Lane::kDevice, false, "HOST_DEVICE_ID"},
    {kRidMap, sizeof(ndl_rid_map), Lane::kMisc, false, "HOST_DEVICE_ID_TO_RID_MAP"},
    {kMemDump, sizeof(ndl_mem_dump), Lane::kDevice, false, "DUMP_MEM_CHUNKS"},
    {kPidDump, sizeof(ndl_pid_dump), Lane::kMisc, false, "NC_PID_STATE_DUMP"},
    {kScrubStart, sizeof(ndl_scrub_start), Lane::kDevice, false, "HBM_SCRUB_START"},
    {kScrubWait, sizeof(ndl_scrub_wait), Lane::kDevice, false, "HBM_SCRUB_WAIT"},
    {kCoreMap, sizeof(ndl_core_map_query), Lane::kMisc, false, "GET_LOGICAL_TO_PHYSICAL_NC_MAP"},
    {kPodInfo, sizeof(ndl_pod_info), Lane::kMisc, false, "POD_INFO"},
    {kPodStatusV1, sizeof(ndl_pod_status_v1), Lane::kMisc, false, "POD_STATUS"},
    {kPodStatus, sizeof(ndl_pod_status), Lane::kMisc, false, "POD_STATUS_V2"},
    {kPodCtrlV1, sizeof(ndl_pod_ctrl_v1), Lane::kMisc, false, "POD_CTRL"},
    {kPodCtrl, sizeof(ndl_pod_ctrl), Lane::kMisc, false, "POD_CTRL_V2"},
    {kBufZerocopy, sizeof(ndl_buf_zerocopy), Lane::kDevice, false, "MEM_BUF_ZEROCOPY64"},
    {kH2tAlloc, sizeof(ndl_h2t_alloc), Lane::kDevice, false, "H2T_DMA_ALLOC_QUEUES"},
    {kH2tFree, sizeof(ndl_h2t_free), Lane::kDevice, false, "H2T_DMA_FREE_QUEUES"},
    {kPerfProfileSet, sizeof(ndl_perf_profile), Lane::kDevice, false, "POWER_PROFILE"},
    {kMetricsCtrl, sizeof(ndl_metrics_ctrl), Lane::kDevice, false, "METRICS_CTRL"},
    {kZerocopyBatches, sizeof(ndl_zerocopy_batches), Lane::kDevice, false,
     "MEM_BUF_ZEROCOPY64_BATCHES"},
    {kThrottling, sizeof(ndl_throttling), Lane::kDevice, false, "THROTTLING_NOTIFICATIONS"},
    {kVaPlacement, sizeof(ndl_va_placement), Lane::kMisc, false, "GET_VA_PLACEMENT"},
    {kPerfProfileGet, sizeof(ndl_perf_profile), Lane::kDevice, false, "GET_PERFORMANCE_PROFILE"},
    {kDmaQueueInitBatch, sizeof(ndl_dma_queue_init_batch), Lane::kDevice, false,
     "DMA_QUEUE_INIT_BATCH"},
    {kPerfProfileList, sizeof(ndl_perf_profiles), Lane::kDevice, false, "AVAILABLE_PERF_PROFILES"},
    {kCompletionQueues, sizeof(ndl_completion_queues), Lane::kDevice, false,
     "GET_ASYNC_H2T_DMA_COMPL_QUEUES"},
};

// nullptr: not a request of this interface.
constexpr const RequestInfo* find_request(uint32_t code) {
  for (const RequestInfo& info : kRequests)
    if (info.code == code) return &info;
  return nullptr;
}

}  // namespace opennrt::ndl
