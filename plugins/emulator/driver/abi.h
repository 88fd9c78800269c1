// SPDX-License-Identifier: Apache-2.0
//
// The driver's side of the interface in ndl-common/requests.h: the same codes,
// and the argument structures with caller pointers as plain numbers. They are
// addresses in the caller's memory, which only UserMemory can reach.
#pragma once

#include <cstdint>

#include "ndl-common/requests.h"

namespace opennrt::emu::abi {

// Request codes.
inline constexpr std::uint32_t kDeviceReset = ndl::kDeviceReset;
inline constexpr std::uint32_t kDeviceReady = ndl::kDeviceReady;
inline constexpr std::uint32_t kDeviceInfo = ndl::kDeviceInfo;
inline constexpr std::uint32_t kDeviceInit = ndl::kDeviceInit;
inline constexpr std::uint32_t kDeviceRelease = ndl::kDeviceRelease;
inline constexpr std::uint32_t kDeviceAppPid = ndl::kDeviceAppPid;
inline constexpr std::uint32_t kDeviceGetAllAppsInfo = ndl::kAppsInfo;
inline constexpr std::uint32_t kBarRead = ndl::kBarRead;
inline constexpr std::uint32_t kBarWrite = ndl::kBarWrite;
inline constexpr std::uint32_t kPostMetric = ndl::kPostMetric;
inline constexpr std::uint32_t kMemAlloc = ndl::kMemAllocV1;
inline constexpr std::uint32_t kMemFree = ndl::kMemFree;
inline constexpr std::uint32_t kMemCopy = ndl::kMemCopy32;
inline constexpr std::uint32_t kMemCopy64 = ndl::kMemCopy;
inline constexpr std::uint32_t kMemBufCopy = ndl::kBufCopy32;
inline constexpr std::uint32_t kMemBufCopy64 = ndl::kBufCopy;
inline constexpr std::uint32_t kMemGetPa = ndl::kMemGetPa;
inline constexpr std::uint32_t kMemGetInfo = ndl::kMemGetInfo;
inline constexpr std::uint32_t kProgramEngine = ndl::kProgramEngineV1;
inline constexpr std::uint32_t kMemset = ndl::kMemSet32;
inline constexpr std::uint32_t kMemset64 = ndl::kMemSet;
inline constexpr std::uint32_t kMemGetExtendedInfo = ndl::kMemGetExtendedInfo;
inline constexpr std::uint32_t kDmaEngInit = ndl::kDmaEngineInit;
inline constexpr std::uint32_t kDmaEngSetState = ndl::kDmaEngineSet;
inline constexpr std::uint32_t kDmaEngGetState = ndl::kDmaEngineGet;
inline constexpr std::uint32_t kDmaQueueInit = ndl::kDmaQueueInit;
inline constexpr std::uint32_t kDmaQueueRelease = ndl::kDmaQueueRelease;
inline constexpr std::uint32_t kDmaQueueCopyStart = ndl::kDmaStart;
inline constexpr std::uint32_t kDmaAckCompleted = ndl::kDmaAck;
inline constexpr std::uint32_t kDmaQueueGetState = ndl::kDmaQueueGet;
inline constexpr std::uint32_t kDmaCopyDescriptors = ndl::kDescWrite32;
inline constexpr std::uint32_t kDmaCopyDescriptors64 = ndl::kDescWrite;
inline constexpr std::uint32_t kDmaDescriptorCopyout = ndl::kDescRead;
inline constexpr std::uint32_t kDmaQuiesceQueues = ndl::kDmaQuiesce;
inline constexpr std::uint32_t kSemaphoreIncrement = ndl::kSemaphoreIncrement;
inline constexpr std::uint32_t kSemaphoreDecrement = ndl::kSemaphoreDecrement;
inline constexpr std::uint32_t kSemaphoreRead = ndl::kSemaphoreRead;
inline constexpr std::uint32_t kSemaphoreWrite = ndl::kSemaphoreWrite;
inline constexpr std::uint32_t kEventSet = ndl::kEventSet;
inline constexpr std::uint32_t kEventGet = ndl::kEventGet;
inline constexpr std::uint32_t kNotificationsInitV1 = ndl::kNqInitV1;
inline constexpr std::uint32_t kNotificationsDestroyV1 = ndl::kNqDestroyV1;
inline constexpr std::uint32_t kNotificationsInitV2 = ndl::kNqInitV2;
inline constexpr std::uint32_t kNotificationsInitWithReallocV2 = ndl::kNqInit;
inline constexpr std::uint32_t kNotificationsQueueInfo = ndl::kNqInfo;
inline constexpr std::uint32_t kReadHwCounters = ndl::kHwCounters;
inline constexpr std::uint32_t kAcquireNeuronDs = ndl::kDataStoreAcquire;
inline constexpr std::uint32_t kReleaseNeuronDs = ndl::kDataStoreRelease;
inline constexpr std::uint32_t kCrwlReaderEnter = ndl::kCoreReaderEnter;
inline constexpr std::uint32_t kCrwlReaderExit = ndl::kCoreReaderExit;
inline constexpr std::uint32_t kCrwlWriterEnter = ndl::kCoreWriterEnter;
inline constexpr std::uint32_t kCrwlWriterDowngrade = ndl::kCoreWriterDowngrade;
inline constexpr std::uint32_t kCrwlNcRangeMark = ndl::kCoreRangeMark64;
inline constexpr std::uint32_t kCrwlNcRangeMarkExt0 = ndl::kCoreRangeMark;
inline constexpr std::uint32_t kCrwlNcRangeUnmark = ndl::kCoreRangeUnmark64;
inline constexpr std::uint32_t kCrwlNcRangeUnmarkExt0 = ndl::kCoreRangeUnmark;
inline constexpr std::uint32_t kCinitSetState = ndl::kCoreInitState;
inline constexpr std::uint32_t kNcModelStartedCount = ndl::kStartedCount;
inline constexpr std::uint32_t kCompatibleVersion = ndl::kCompatWindow;
inline constexpr std::uint32_t kDeviceBasicInfo = ndl::kBoardInfo;
inline constexpr std::uint32_t kDeviceBdf = ndl::kBdf;
inline constexpr std::uint32_t kMemAllocV2 = ndl::kMemAllocV2;
inline constexpr std::uint32_t kMemAllocV2mt = ndl::kMemAllocV2Mt;
inline constexpr std::uint32_t kMemAllocV2mt64 = ndl::kMemAllocV2Mt64;
inline constexpr std::uint32_t kNcReset = ndl::kCoreReset;
inline constexpr std::uint32_t kNcResetReady = ndl::kCoreReady;
inline constexpr std::uint32_t kProgramEngineNc = ndl::kProgramEngine32;
inline constexpr std::uint32_t kProgramEngineNc64 = ndl::kProgramEngine;
inline constexpr std::uint32_t kDeviceResetStatus = ndl::kDeviceResetStatus;
inline constexpr std::uint32_t kDeviceBdfExt = ndl::kBdfExt;
inline constexpr std::uint32_t kDmabufFd = ndl::kDmabuf;
inline constexpr std::uint32_t kMemCopyAsync = ndl::kMemCopyAsync32;
inline constexpr std::uint32_t kMemCopyAsync64 = ndl::kMemCopyAsync;
inline constexpr std::uint32_t kMemCopyAsyncWait = ndl::kMemCopyWait;
inline constexpr std::uint32_t kDriverInfoGet = ndl::kDriverInfo;
inline constexpr std::uint32_t kDriverInfoSet =
    ndl::make_request(ndl::kDirWrite, 110, sizeof(ndl::ndl_driver_info));
inline constexpr std::uint32_t kMemMcGetInfo = ndl::kChunkInfoV1;
inline constexpr std::uint32_t kMemMcGetInfoV2 = ndl::kChunkInfo;
inline constexpr std::uint32_t kResourceMmapInfo = ndl::kResourceInfo;
inline constexpr std::uint32_t kPrintk = ndl::kPrintk;
inline constexpr std::uint32_t kHostDeviceId = ndl::kHostDeviceId;
inline constexpr std::uint32_t kHostDeviceIdToRidMap = ndl::kRidMap;
inline constexpr std::uint32_t kDumpMemChunks = ndl::kMemDump;
inline constexpr std::uint32_t kNcPidStateDump = ndl::kPidDump;
inline constexpr std::uint32_t kHbmScrubStart = ndl::kScrubStart;
inline constexpr std::uint32_t kHbmScrubWait = ndl::kScrubWait;
inline constexpr std::uint32_t kGetLogicalToPhysicalNcMap = ndl::kCoreMap;
inline constexpr std::uint32_t kPodInfo = ndl::kPodInfo;
inline constexpr std::uint32_t kPodStatus = ndl::kPodStatusV1;
inline constexpr std::uint32_t kPodStatusV2 = ndl::kPodStatus;
inline constexpr std::uint32_t kPodCtrl = ndl::kPodCtrlV1;
inline constexpr std::uint32_t kPodCtrlV2 = ndl::kPodCtrl;
inline constexpr std::uint32_t kMemBufZerocopy64 = ndl::kBufZerocopy;
inline constexpr std::uint32_t kH2tDmaAllocQueues = ndl::kH2tAlloc;
inline constexpr std::uint32_t kH2tDmaFreeQueues = ndl::kH2tFree;
inline constexpr std::uint32_t kPowerProfile = ndl::kPerfProfileSet;
inline constexpr std::uint32_t kMetricsCtrl = ndl::kMetricsCtrl;
inline constexpr std::uint32_t kMemBufZerocopy64Batches = ndl::kZerocopyBatches;
inline constexpr std::uint32_t kThrottlingNotifications = ndl::kThrottling;
inline constexpr std::uint32_t kGetVaPlacement = ndl::kVaPlacement;
inline constexpr std::uint32_t kGetPerformanceProfile = ndl::kPerfProfileGet;
inline constexpr std::uint32_t kDmaQueueInitBatch = ndl::kDmaQueueInitBatch;
inline constexpr std::uint32_t kAvailablePerfProfiles = ndl::kPerfProfileList;
inline constexpr std::uint32_t kGetAsyncH2tDmaComplQueues = ndl::kCompletionQueues;

struct AvailablePerfProfiles {
  std::uint16_t requested_feature = 0;
  std::uint8_t num_profiles = 0;
  std::uint8_t bitmap[32] = {};
};

struct BarRw {
  std::uint32_t bar = 0;
  std::uint64_t address = 0;
  std::uint64_t data = 0;
  std::uint32_t count = 0;
};

struct CinitSet {
  std::uint32_t nc_id = 0;
  std::uint32_t state = 0;
  std::uint32_t new_state = 0;
};

struct CompatibleVersion {
  std::uint32_t max = 0;
  std::uint32_t min = 0;
};
static_assert(sizeof(CompatibleVersion) == 8);

struct Uuid {
  std::uint8_t value[32] = {};
};
static_assert(sizeof(Uuid) == 32);

struct Crwl {
  std::uint32_t nc_id = 0;
  Uuid uuid;
};

struct CrwlNcMap {
  std::uint32_t nc_count = 0;
  std::uint32_t start_nc_index = 0;
  std::uint32_t end_nc_index = 0;
  std::uint32_t max_nc_available = 0;
  std::uint64_t bitmap = 0;
};

struct CrwlNcMapExt {
  std::uint32_t nc_count = 0;
  std::uint32_t start_nc_index = 0;
  std::uint32_t end_nc_index = 0;
  std::uint32_t max_nc_available = 0;
  std::uint64_t bitmap[8] = {};
};

struct DeviceBasicInfo {
  std::uint32_t architecture = 0;
  std::uint32_t revision = 0;
};
static_assert(sizeof(DeviceBasicInfo) == 8);

struct DeviceBdf {
  std::uint32_t bus_number = 0;
  std::uint8_t slot = 0;
  std::uint8_t func = 0;
};
static_assert(sizeof(DeviceBdf) == 8);

struct DeviceBdfExt {
  std::uint32_t nd_index = 0;
  std::uint32_t domain = 0;
  std::uint32_t bus_number = 0;
  std::uint8_t slot = 0;
  std::uint8_t func = 0;
};

struct DeviceDriverInfo {
  std::uint32_t architecture = 0;
  std::uint32_t revision = 0;
  std::uint32_t version = 0;
  std::uint32_t size = 0;
  std::uint64_t feature_flags1 = 0;
};

struct DeviceInfo {
  std::uint32_t architecture = 0;
  std::uint32_t revision = 0;
  std::uint32_t connected_device_count = 0;
  std::uint32_t connected_devices[8] = {};
  std::uint64_t bar_address[2] = {};
  std::uint64_t bar_size[2] = {};
};

struct DeviceReady {
  std::uint32_t request_id = 0;
  std::int32_t result = 0;
};

struct DeviceReset {
  std::uint32_t nc_map = 0;
  std::uint32_t request_id = 0;
};

struct DmaAckCompleted {
  std::uint32_t eng_id = 0;
  std::uint32_t qid = 0;
  std::uint32_t count = 0;
};

struct DmaCopyDescriptors {
  std::uint64_t mem_handle = 0;
  std::uint64_t buffer = 0;
  std::uint32_t num_descs = 0;
  std::uint32_t offset = 0;
  std::uint32_t queue_type = 0;
};

struct DmaCopyDescriptors64 {
  std::uint64_t mem_handle = 0;
  std::uint64_t buffer = 0;
  std::uint32_t num_descs = 0;
  std::uint64_t offset = 0;
  std::uint32_t queue_type = 0;
};

struct DmaDescriptorCopyout {
  std::uint32_t eng_id = 0;
  std::uint32_t qid = 0;
  std::uint32_t type = 0;
  std::uint32_t start_index = 0;
  std::uint32_t count = 0;
  std::uint64_t buffer = 0;
};

struct DmaEngGetState {
  std::uint32_t eng_id = 0;
  std::uint64_t state = 0;
};

struct DmaEngSetState {
  std::uint32_t eng_id = 0;
  std::uint32_t state = 0;
};

struct DmaQueueCopyStart {
  std::uint32_t eng_id = 0;
  std::uint32_t qid = 0;
  std::uint32_t tx_desc_count = 0;
  std::uint32_t rx_desc_count = 0;
};

struct DmaQueueGetState {
  std::uint32_t eng_id = 0;
  std::uint32_t qid = 0;
  std::uint64_t tx = 0;
  std::uint64_t rx = 0;
};

struct DmaQueueInit {
  std::uint32_t eng_id = 0;
  std::uint32_t qid = 0;
  std::uint32_t tx_desc_count = 0;
  std::uint32_t rx_desc_count = 0;
  std::uint64_t tx_handle = 0;
  std::uint64_t rx_handle = 0;
  std::uint64_t rxc_handle = 0;
  std::uint32_t axi_port = 0;
};

struct DmaQueueInitBatch {
  std::uint32_t count = 0;
  DmaQueueInit entries[256] = {};
};

struct DmaQueueRelease {
  std::uint32_t eng_id = 0;
  std::uint32_t qid = 0;
};

struct DmabufFd {
  std::uint64_t va = 0;
  std::uint64_t size = 0;
  std::uint64_t fd = 0;
};

struct DumpMemChunks {
  std::uint32_t hbm_index = 0;
  std::uint32_t num_entries_in = 0;
  std::uint32_t num_entries_out = 0;
  std::uint64_t data = 0;
};

struct Event {
  std::uint32_t nc_id = 0;
  std::uint32_t event_index = 0;
  std::uint32_t value = 0;
};

struct AppInfo {
  std::int32_t pid = 0;
  std::uint8_t nc_lock_map = 0;
  Uuid uuid_data[4] = {};
  std::uint64_t host_mem_size = 0;
  std::uint64_t device_mem_size = 0;
};

struct GetAppsInfo {
  std::uint16_t apps_info_flags = 0;
  std::uint32_t capacity = 0;
  std::uint32_t size = 0;
  std::uint32_t pad = 0;  // an array of AppInfo follows
};

struct GetLogicalToPhysicalNcMap {
  std::uint64_t map = 0;
  std::uint32_t max_map_entries = 0;
  std::uint32_t mapping_version = 0;
};
static_assert(sizeof(GetLogicalToPhysicalNcMap) == 16);

struct GetVaPlacement {
  std::uint64_t va = 0;
  std::int32_t device_index = 0;
  std::int32_t hbm_index = 0;
};

struct H2tDmaAllocQueues {
  std::uint16_t sz = 0;
  std::uint16_t nc_id = 0;
  std::uint16_t copy_queue_cnt = 0;
  std::uint16_t service_queue_cnt = 0;
  std::uint32_t copy_queue_bmap = 0;
  std::uint32_t service_queue_bmap = 0;
  std::uint32_t copy_default_queue = 0;
};

struct H2tDmaFreeQueues {
  std::uint16_t sz = 0;
  std::uint8_t nc_id = 0;
  std::uint8_t fill0 = 0;
  std::uint32_t queue_bmap = 0;
};

struct HbmScrubStart {
  std::uint32_t nc_id = 0;
  std::uint32_t hbm_index = 0;
  std::uint32_t axi_port = 0;
  std::uint32_t init_val = 0;
};

struct HbmScrubWait {
  std::uint32_t nc_id = 0;
  std::uint32_t hbm_index = 0;
};

struct HostDeviceId {
  std::uint32_t host_device_id = 0;
};
static_assert(sizeof(HostDeviceId) == 4);

struct HostDeviceIdToRidMap {
  std::uint32_t count = 0;
  std::uint32_t host_did_to_rid_map[64] = {};
};
static_assert(sizeof(HostDeviceIdToRidMap) == 260);

struct MemAlloc {
  std::uint64_t size = 0;
  std::uint32_t host_memory = 0;
  std::uint32_t dram_channel = 0;
  std::uint32_t dram_region = 0;
  std::uint32_t nc_id = 0;
  std::uint64_t mem_handle = 0;
};

struct MemAllocV2 {
  std::uint64_t size = 0;
  std::uint64_t align = 0;
  std::uint32_t host_memory = 0;
  std::uint32_t dram_channel = 0;
  std::uint32_t dram_region = 0;
  std::uint32_t nc_id = 0;
  std::uint64_t mem_handle = 0;
};

struct MemAllocV2MemType {
  std::uint64_t size = 0;
  std::uint64_t align = 0;
  std::uint32_t host_memory = 0;
  std::uint32_t dram_channel = 0;
  std::uint32_t dram_region = 0;
  std::uint32_t nc_id = 0;
  std::uint32_t mem_type = 0;
  std::uint64_t mem_handle = 0;
};

struct MemAllocV2MemType64 {
  std::uint64_t size = 0;
  std::uint64_t align = 0;
  std::uint32_t host_memory = 0;
  std::uint32_t dram_channel = 0;
  std::uint32_t dram_region = 0;
  std::uint32_t nc_id = 0;
  std::uint32_t mem_type = 0;
  std::uint64_t mem_handle = 0;
  std::uint32_t pad = 0;
};

struct MemBufCopy {
  std::uint64_t mem_handle = 0;
  std::uint64_t buffer = 0;
  std::uint32_t size = 0;
  std::uint32_t offset = 0;
  std::uint32_t copy_to_mem_handle = 0;
};

struct MemBufCopy64 {
  std::uint64_t mem_handle = 0;
  std::uint64_t buffer = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
  std::uint32_t copy_to_mem_handle = 0;
};

struct MemBufCopy64zc {
  std::uint64_t mem_handle = 0;
  std::uint64_t buffer = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
  std::uint32_t is_copy_to_device = 0;
  std::uint32_t bar4_wr_threshold = 0;
  std::int32_t h2t_qid = 0;
  std::uint32_t dummy = 0;
};

struct MemBufCopy64zcBatches {
  std::uint64_t sequence_num = 0;
  std::uint64_t batches_ptr = 0;
  std::uint32_t num_batches = 0;
  std::uint16_t is_copy_to_device = 0;
  std::int32_t h2t_qid = 0;
  std::uint16_t flags = 0;
};

struct MemChunkInfo {
  std::uint64_t pa = 0;
  std::uint64_t size = 0;
  std::uint32_t mem_type = 0;
};

struct MemCopy {
  std::uint64_t src_mem_handle = 0;
  std::uint64_t dst_mem_handle = 0;
  std::uint32_t size = 0;
  std::uint32_t src_offset = 0;
  std::uint32_t dst_offset = 0;
};

struct MemCopy64 {
  std::uint64_t src_mem_handle = 0;
  std::uint64_t dst_mem_handle = 0;
  std::uint64_t size = 0;
  std::uint64_t src_offset = 0;
  std::uint64_t dst_offset = 0;
};

struct MemCopyAsync {
  std::uint64_t src_mem_handle = 0;
  std::uint64_t dst_mem_handle = 0;
  std::uint32_t size = 0;
  std::uint32_t src_offset = 0;
  std::uint32_t dst_offset = 0;
  std::uint64_t host_prefetch_addr = 0;
  std::uint32_t pwait_handle = 0;
  std::uint32_t wait_handle = 0;
};

struct MemCopyAsync64 {
  std::uint64_t src_mem_handle = 0;
  std::uint64_t dst_mem_handle = 0;
  std::uint64_t size = 0;
  std::uint64_t src_offset = 0;
  std::uint64_t dst_offset = 0;
  std::uint64_t host_prefetch_addr = 0;
  std::uint32_t pwait_handle = 0;
  std::uint32_t wait_handle = 0;
};

struct MemCopyAsyncWait {
  std::uint64_t src_mem_handle = 0;
  std::uint64_t dst_mem_handle = 0;
  std::uint32_t pwait_handle = 0;
};

struct MemFree {
  std::uint64_t mem_handle = 0;
};

struct MemGetExtendedInfo {
  std::uint64_t mem_handle = 0;
  std::uint32_t version = 0;
  std::uint32_t host_memory = 0;
  std::uint64_t mmap_offset = 0;
  std::uint64_t pa = 0;
  std::uint64_t pid = 0;
  std::uint64_t size = 0;
};

struct MemGetInfo {
  std::uint64_t mem_handle = 0;
  std::uint64_t mmap_offset = 0;
  std::uint64_t pa = 0;
};

struct MemGetMcMmapInfo {
  std::uint64_t pa = 0;
  std::uint64_t mmap_offset = 0;
  std::uint64_t size = 0;
};

struct MemGetMcMmapInfoV2 {
  std::uint64_t pa = 0;
  std::uint64_t mmap_offset = 0;
  std::uint64_t size = 0;
  std::uint64_t mem_handle = 0;
};

struct MemGetPa {
  std::uint64_t mem_handle = 0;
  std::uint64_t pa = 0;
};

struct Memset {
  std::uint64_t mem_handle = 0;
  std::uint64_t offset = 0;
  std::uint32_t value = 0;
  std::uint32_t size = 0;
};

struct Memset64 {
  std::uint64_t mem_handle = 0;
  std::uint64_t offset = 0;
  std::uint32_t value = 0;
  std::uint64_t size = 0;
};

struct MetricsCtrl {
  std::uint32_t mode = 0;
};

struct NcModelStartedCount {
  std::uint32_t nc_id = 0;
  std::uint64_t started_count = 0;
};

struct NcPidStateDump {
  std::uint32_t size = 0;
  std::uint32_t nc_id = 0;
  std::uint32_t filter_log_owner = 0;
  std::uint32_t log_dump_limit = 0;
};

struct DsInfo {
  std::int32_t pid = 0;
  std::uint64_t mmap_offset = 0;
  std::uint32_t size = 0;
};

struct NotificationsInitV1 {
  std::uint32_t nc_id = 0;
  std::uint32_t nq_type = 0;
  std::uint32_t engine_index = 0;
  std::uint32_t size = 0;
  std::uint64_t mmap_offset = 0;
};

struct NotificationsInitV2 {
  std::uint32_t nq_dev_id = 0;
  std::uint32_t nq_dev_type = 0;
  std::uint32_t nq_type = 0;
  std::uint32_t engine_index = 0;
  std::uint32_t size = 0;
  std::uint32_t on_host_memory = 0;
  std::uint32_t dram_channel = 0;
  std::uint32_t dram_region = 0;
  std::uint64_t mmap_offset = 0;
  std::uint64_t mem_handle = 0;
};

struct NotificationsInitWithReallocV2 {
  std::uint32_t nq_dev_id = 0;
  std::uint32_t nq_dev_type = 0;
  std::uint32_t nq_type = 0;
  std::uint32_t engine_index = 0;
  std::uint32_t size = 0;
  std::uint32_t on_host_memory = 0;
  std::uint32_t dram_channel = 0;
  std::uint32_t dram_region = 0;
  std::uint32_t force_alloc_mem = 0;
  std::uint64_t mmap_offset = 0;
  std::uint64_t mem_handle = 0;
};

struct PodCtrl {
  std::uint16_t sz = 0;
  std::uint32_t ctrl = 0;
  std::uint32_t timeout = 0;
  std::uint32_t state = 0;
};

struct PodCtrlV2 {
  PodCtrl v1;
  std::uint32_t mode = 0;
};

struct PodInfo {
  std::uint16_t sz = 0;
  std::uint8_t pod_type = 0;
  std::uint8_t pod_id[256] = {};
  std::uint8_t pod_sz = 0;
};

struct PodStatus {
  std::uint16_t sz = 0;
  std::uint8_t pod_id[256] = {};
  std::uint32_t state = 0;
  std::uint8_t pod_type = 0;
  std::uint8_t pod_sz = 0;
  std::int8_t node_id = 0;
};

struct PodStatusV2 {
  PodStatus v1;
  std::uint32_t mode = 0;
  std::uint32_t modes_supported = 0;
};

struct PostMetric {
  std::uint64_t data = 0;
  std::uint32_t data_size = 0;
};

struct PowerProfile {
  std::uint16_t sz = 0;
  std::uint16_t ctrl = 0;
  std::uint32_t profile = 0;
};

struct Printk {
  std::uint64_t buffer = 0;
  std::uint32_t size = 0;
  std::uint32_t action = 0;
};

struct ProgramEngine {
  std::uint64_t dst = 0;
  std::uint64_t buffer = 0;
  std::uint32_t size = 0;
  std::uint32_t offset = 0;
};

struct ProgramEngineNc {
  std::uint32_t nc_id = 0;
  std::uint64_t dst = 0;
  std::uint64_t buffer = 0;
  std::uint32_t size = 0;
  std::uint32_t offset = 0;
};

struct ProgramEngineNc64 {
  std::uint32_t nc_id = 0;
  std::uint64_t dst = 0;
  std::uint64_t buffer = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
};

struct ReadHwCounters {
  std::uint64_t address = 0;
  std::uint64_t data = 0;
  std::uint32_t count = 0;
};

struct ResourceMmapInfo {
  std::uint32_t block = 0;
  std::uint32_t block_id = 0;
  std::uint32_t resource = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct Semaphore {
  std::uint32_t nc_id = 0;
  std::uint32_t semaphore_index = 0;
  std::uint32_t value = 0;
};

struct ThrottlingNotifications {
  std::uint32_t enable = 0;
};

struct NrtTensorBatchOp {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t buffer = 0;
};
static_assert(sizeof(NrtTensorBatchOp) == 24);

struct DmaEngState {
  std::uint32_t revision_id = 0;
  std::uint32_t max_queues = 0;
  std::uint32_t num_queues = 0;
  std::uint32_t tx_state = 0;
  std::uint32_t rx_state = 0;
};

struct DmaQueueState {
  std::uint32_t hw_status = 0;
  std::uint32_t sw_status = 0;
  std::uint64_t base_addr = 0;
  std::uint32_t length = 0;
  std::uint32_t head_pointer = 0;
  std::uint32_t tail_pointer = 0;
  std::uint64_t completion_base_addr = 0;
  std::uint32_t completion_head = 0;
};

struct MemcpyBatch {
  std::uint64_t mem_handle = 0;
  std::uint64_t mem_handle_offset = 0;
  std::uint64_t ops_ptr = 0;
  std::uint32_t num_ops = 0;
  std::uint16_t bar4_wr_threshold = 0;
  std::uint16_t flags = 0;
  std::uint64_t context = 0;
};
static_assert(sizeof(MemcpyBatch) == 40);

// Both sides agree.
static_assert(sizeof(GetAppsInfo) == sizeof(ndl::ndl_apps_info));
static_assert(sizeof(BarRw) == sizeof(ndl::ndl_bar_access));
static_assert(sizeof(PostMetric) == sizeof(ndl::ndl_post_metric));
static_assert(sizeof(MemAlloc) == sizeof(ndl::ndl_mem_alloc_v1));
static_assert(sizeof(MemFree) == sizeof(ndl::ndl_mem_free));
static_assert(sizeof(MemCopy) == sizeof(ndl::ndl_mem_copy32));
static_assert(sizeof(MemCopy64) == sizeof(ndl::ndl_mem_copy));
static_assert(sizeof(MemBufCopy) == sizeof(ndl::ndl_buf_copy32));
static_assert(sizeof(MemBufCopy64) == sizeof(ndl::ndl_buf_copy));
static_assert(sizeof(MemGetPa) == sizeof(ndl::ndl_mem_pa));
static_assert(sizeof(MemGetInfo) == sizeof(ndl::ndl_mem_info));
static_assert(sizeof(ProgramEngine) == sizeof(ndl::ndl_program_engine_v1));
static_assert(sizeof(Memset) == sizeof(ndl::ndl_mem_set32));
static_assert(sizeof(Memset64) == sizeof(ndl::ndl_mem_set));
static_assert(sizeof(MemGetExtendedInfo) == sizeof(ndl::ndl_mem_extended_info));
static_assert(sizeof(DmaEngSetState) == sizeof(ndl::ndl_dma_engine_set));
static_assert(sizeof(DmaEngGetState) == sizeof(ndl::ndl_dma_engine_query));
static_assert(sizeof(DmaQueueInit) == sizeof(ndl::ndl_dma_queue_init));
static_assert(sizeof(DmaQueueRelease) == sizeof(ndl::ndl_dma_queue_release));
static_assert(sizeof(DmaQueueCopyStart) == sizeof(ndl::ndl_dma_start));
static_assert(sizeof(DmaAckCompleted) == sizeof(ndl::ndl_dma_ack));
static_assert(sizeof(DmaQueueGetState) == sizeof(ndl::ndl_dma_queue_query));
static_assert(sizeof(DmaCopyDescriptors) == sizeof(ndl::ndl_desc_write32));
static_assert(sizeof(DmaCopyDescriptors64) == sizeof(ndl::ndl_desc_write));
static_assert(sizeof(DmaDescriptorCopyout) == sizeof(ndl::ndl_desc_read));
static_assert(sizeof(Semaphore) == sizeof(ndl::ndl_semaphore));
static_assert(sizeof(Event) == sizeof(ndl::ndl_event));
static_assert(sizeof(NotificationsInitV1) == sizeof(ndl::ndl_nq_init_v1));
static_assert(sizeof(NotificationsInitV2) == sizeof(ndl::ndl_nq_init_v2));
static_assert(sizeof(NotificationsInitWithReallocV2) == sizeof(ndl::ndl_nq_init));
static_assert(sizeof(ReadHwCounters) == sizeof(ndl::ndl_hw_counters));
static_assert(sizeof(DsInfo) == sizeof(ndl::ndl_data_store));
static_assert(sizeof(Crwl) == sizeof(ndl::ndl_core_lock));
static_assert(sizeof(CrwlNcMap) == sizeof(ndl::ndl_core_range64));
static_assert(sizeof(CrwlNcMapExt) == sizeof(ndl::ndl_core_range512));
static_assert(sizeof(CinitSet) == sizeof(ndl::ndl_core_init_state));
static_assert(sizeof(NcModelStartedCount) == sizeof(ndl::ndl_started_count));
static_assert(sizeof(MemAllocV2) == sizeof(ndl::ndl_mem_alloc_v2));
static_assert(sizeof(MemAllocV2MemType) == sizeof(ndl::ndl_mem_alloc_v2mt));
static_assert(sizeof(MemAllocV2MemType64) == sizeof(ndl::ndl_mem_alloc_v2mt64));
static_assert(sizeof(DeviceReset) == sizeof(ndl::ndl_core_reset));
static_assert(sizeof(DeviceReady) == sizeof(ndl::ndl_core_ready));
static_assert(sizeof(ProgramEngineNc) == sizeof(ndl::ndl_program_engine32));
static_assert(sizeof(ProgramEngineNc64) == sizeof(ndl::ndl_program_engine));
static_assert(sizeof(DeviceBdfExt) == sizeof(ndl::ndl_bdf_ext));
static_assert(sizeof(DmabufFd) == sizeof(ndl::ndl_dmabuf));
static_assert(sizeof(MemCopyAsync) == sizeof(ndl::ndl_mem_copy_async32));
static_assert(sizeof(MemCopyAsync64) == sizeof(ndl::ndl_mem_copy_async));
static_assert(sizeof(MemCopyAsyncWait) == sizeof(ndl::ndl_mem_copy_wait));
static_assert(sizeof(MemGetMcMmapInfo) == sizeof(ndl::ndl_chunk_info_v1));
static_assert(sizeof(MemGetMcMmapInfoV2) == sizeof(ndl::ndl_chunk_info));
static_assert(sizeof(ResourceMmapInfo) == sizeof(ndl::ndl_resource));
static_assert(sizeof(Printk) == sizeof(ndl::ndl_printk));
static_assert(sizeof(DumpMemChunks) == sizeof(ndl::ndl_mem_dump));
static_assert(sizeof(NcPidStateDump) == sizeof(ndl::ndl_pid_dump));
static_assert(sizeof(HbmScrubStart) == sizeof(ndl::ndl_scrub_start));
static_assert(sizeof(HbmScrubWait) == sizeof(ndl::ndl_scrub_wait));
static_assert(sizeof(PodInfo) == sizeof(ndl::ndl_pod_info));
static_assert(sizeof(PodStatus) == sizeof(ndl::ndl_pod_status_v1));
static_assert(sizeof(PodStatusV2) == sizeof(ndl::ndl_pod_status));
static_assert(sizeof(PodCtrl) == sizeof(ndl::ndl_pod_ctrl_v1));
static_assert(sizeof(PodCtrlV2) == sizeof(ndl::ndl_pod_ctrl));
static_assert(sizeof(MemBufCopy64zc) == sizeof(ndl::ndl_buf_zerocopy));
static_assert(sizeof(H2tDmaAllocQueues) == sizeof(ndl::ndl_h2t_alloc));
static_assert(sizeof(H2tDmaFreeQueues) == sizeof(ndl::ndl_h2t_free));
static_assert(sizeof(PowerProfile) == sizeof(ndl::ndl_perf_profile));
static_assert(sizeof(MetricsCtrl) == sizeof(ndl::ndl_metrics_ctrl));
static_assert(sizeof(MemBufCopy64zcBatches) == sizeof(ndl::ndl_zerocopy_batches));
static_assert(sizeof(ThrottlingNotifications) == sizeof(ndl::ndl_throttling));
static_assert(sizeof(GetVaPlacement) == sizeof(ndl::ndl_va_placement));
static_assert(sizeof(AvailablePerfProfiles) == sizeof(ndl::ndl_perf_profiles));
static_assert(sizeof(DeviceInfo) == sizeof(ndl::ndl_device_info));
static_assert(sizeof(DeviceDriverInfo) == sizeof(ndl::ndl_driver_info));
static_assert(sizeof(DmaQueueInitBatch) == sizeof(ndl::ndl_dma_queue_init_batch));
static_assert(sizeof(DmaQueueState) == sizeof(ndl::ndl_dma_queue_state));
static_assert(sizeof(DmaEngState) == sizeof(ndl::ndl_dma_engine_state));
static_assert(sizeof(AppInfo) == sizeof(ndl::ndl_app_info));
static_assert(sizeof(MemChunkInfo) == sizeof(ndl::ndl_mem_chunk));

}  // namespace opennrt::emu::abi
