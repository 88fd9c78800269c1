// SPDX-License-Identifier: Apache-2.0
//
// Requests and argument structures of the character device
// (aws-neuron-driver 2.24.7.0 .. 2.27.4.0, LP64 little endian).
#pragma once

#include <cstdint>

namespace opennrt::emu::abi {

// Request codes.
inline constexpr std::uint32_t kDeviceReset = 0x00004e01;
inline constexpr std::uint32_t kDeviceReady = 0x80014e02;
inline constexpr std::uint32_t kDeviceInfo = 0x80084e03;
inline constexpr std::uint32_t kDeviceInit = 0x80084e04;
inline constexpr std::uint32_t kDeviceRelease = 0x00004e05;
inline constexpr std::uint32_t kDeviceAppPid = 0x80044e06;
inline constexpr std::uint32_t kDeviceGetAllAppsInfo = 0x80084e07;
inline constexpr std::uint32_t kBarRead = 0x80084e0b;
inline constexpr std::uint32_t kBarWrite = 0x40084e0c;
inline constexpr std::uint32_t kPostMetric = 0x40084e0d;
inline constexpr std::uint32_t kMemAlloc = 0x80084e15;
inline constexpr std::uint32_t kMemFree = 0x80084e16;
inline constexpr std::uint32_t kMemCopy = 0x80084e17;
inline constexpr std::uint32_t kMemCopy64 = 0x80284e17;
inline constexpr std::uint32_t kMemBufCopy = 0xc0084e18;
inline constexpr std::uint32_t kMemBufCopy64 = 0xc0284e18;
inline constexpr std::uint32_t kMemGetPa = 0x80084e19;
inline constexpr std::uint32_t kMemGetInfo = 0x80084e1a;
inline constexpr std::uint32_t kProgramEngine = 0xc0084e1b;
inline constexpr std::uint32_t kMemset = 0x80084e1c;
inline constexpr std::uint32_t kMemset64 = 0x80204e1c;
inline constexpr std::uint32_t kMemGetExtendedInfo = 0x80084e1d;
inline constexpr std::uint32_t kDmaEngInit = 0x80084e1e;
inline constexpr std::uint32_t kDmaEngSetState = 0x80084e1f;
inline constexpr std::uint32_t kDmaEngGetState = 0xc0084e20;
inline constexpr std::uint32_t kDmaQueueInit = 0x80084e21;
inline constexpr std::uint32_t kDmaQueueRelease = 0x80084e22;
inline constexpr std::uint32_t kDmaQueueCopyStart = 0x80084e23;
inline constexpr std::uint32_t kDmaAckCompleted = 0x80084e24;
inline constexpr std::uint32_t kDmaQueueGetState = 0xc0084e25;
inline constexpr std::uint32_t kDmaCopyDescriptors = 0x80084e26;
inline constexpr std::uint32_t kDmaCopyDescriptors64 = 0x80284e26;
inline constexpr std::uint32_t kDmaDescriptorCopyout = 0xc0084e27;
inline constexpr std::uint32_t kDmaQuiesceQueues = 0x80084e28;
inline constexpr std::uint32_t kSemaphoreIncrement = 0x80084e29;
inline constexpr std::uint32_t kSemaphoreDecrement = 0x80084e2a;
inline constexpr std::uint32_t kSemaphoreRead = 0xc0084e2b;
inline constexpr std::uint32_t kSemaphoreWrite = 0x80084e2c;
inline constexpr std::uint32_t kEventSet = 0x80084e2d;
inline constexpr std::uint32_t kEventGet = 0xc0084e2e;
inline constexpr std::uint32_t kNotificationsInitV1 = 0x80084e33;
inline constexpr std::uint32_t kNotificationsDestroyV1 = 0x80084e34;
inline constexpr std::uint32_t kNotificationsInitV2 = 0x80084e35;
inline constexpr std::uint32_t kNotificationsInitWithReallocV2 = 0x80084e36;
inline constexpr std::uint32_t kNotificationsQueueInfo = 0x80084e3a;
inline constexpr std::uint32_t kReadHwCounters = 0x80084e3d;
inline constexpr std::uint32_t kAcquireNeuronDs = 0x80084e47;
inline constexpr std::uint32_t kReleaseNeuronDs = 0x80084e48;
inline constexpr std::uint32_t kCrwlReaderEnter = 0x40084e51;
inline constexpr std::uint32_t kCrwlReaderExit = 0x40084e52;
inline constexpr std::uint32_t kCrwlWriterEnter = 0x40084e53;
inline constexpr std::uint32_t kCrwlWriterDowngrade = 0x40084e54;
inline constexpr std::uint32_t kCrwlNcRangeMark = 0x40084e55;
inline constexpr std::uint32_t kCrwlNcRangeMarkExt0 = 0xc0504e55;
inline constexpr std::uint32_t kCrwlNcRangeUnmark = 0x40084e56;
inline constexpr std::uint32_t kCrwlNcRangeUnmarkExt0 = 0x40504e56;
inline constexpr std::uint32_t kCinitSetState = 0x40084e5b;
inline constexpr std::uint32_t kNcModelStartedCount = 0x40084e5c;
inline constexpr std::uint32_t kCompatibleVersion = 0x40084e5d;
inline constexpr std::uint32_t kDeviceBasicInfo = 0x40084e64;
inline constexpr std::uint32_t kDeviceBdf = 0x80084e65;
inline constexpr std::uint32_t kMemAllocV2 = 0x80084e66;
inline constexpr std::uint32_t kMemAllocV2mt = 0x80304e66;
inline constexpr std::uint32_t kMemAllocV2mt64 = 0x80384e66;
inline constexpr std::uint32_t kMemAllocV2mt64Pa = 0xc0404e66;
inline constexpr std::uint32_t kNcReset = 0x80084e67;
inline constexpr std::uint32_t kNcResetReady = 0x80084e68;
inline constexpr std::uint32_t kProgramEngineNc = 0xc0084e69;
inline constexpr std::uint32_t kProgramEngineNc64 = 0xc0284e69;
inline constexpr std::uint32_t kDeviceResetStatus = 0x80014e6a;
inline constexpr std::uint32_t kDeviceBdfExt = 0x80084e6a;
inline constexpr std::uint32_t kDmabufFd = 0x80084e6b;
inline constexpr std::uint32_t kMemCopyAsync = 0xc0304e6c;
inline constexpr std::uint32_t kMemCopyAsync64 = 0xc0384e6c;
inline constexpr std::uint32_t kMemCopyAsyncWait = 0x40184e6d;
inline constexpr std::uint32_t kDriverInfoGet = 0x80184e6e;
inline constexpr std::uint32_t kDriverInfoSet = 0x40184e6e;
inline constexpr std::uint32_t kMemMcGetInfo = 0xc0184e6f;
inline constexpr std::uint32_t kMemMcGetInfoV2 = 0xc0204e6f;
inline constexpr std::uint32_t kResourceMmapInfo = 0xc0204e70;
inline constexpr std::uint32_t kPrintk = 0x40104e71;
inline constexpr std::uint32_t kHostDeviceId = 0x80044e72;
inline constexpr std::uint32_t kHostDeviceIdToRidMap = 0xc1044e73;
inline constexpr std::uint32_t kDumpMemChunks = 0x80084e74;
inline constexpr std::uint32_t kNcPidStateDump = 0xc0104e75;
inline constexpr std::uint32_t kHbmScrubStart = 0xc0104e76;
inline constexpr std::uint32_t kHbmScrubWait = 0xc0084e77;
inline constexpr std::uint32_t kGetLogicalToPhysicalNcMap = 0xc0104e78;
inline constexpr std::uint32_t kPodInfo = 0xc1044e79;
inline constexpr std::uint32_t kPodStatus = 0xc10c4e7a;
inline constexpr std::uint32_t kPodStatusV2 = 0xc1144e7a;
inline constexpr std::uint32_t kPodCtrl = 0xc0104e7b;
inline constexpr std::uint32_t kPodCtrlV2 = 0xc0144e7b;
inline constexpr std::uint32_t kMemBufZerocopy64V224 = 0xc0284e7c;
inline constexpr std::uint32_t kMemBufZerocopy64 = 0xc0304e7c;
inline constexpr std::uint32_t kMemBufZerocopy64Seq = 0xc0404e7c;
inline constexpr std::uint32_t kH2tDmaAllocQueues = 0xc0144e7d;
inline constexpr std::uint32_t kH2tDmaFreeQueues = 0xc0084e7e;
inline constexpr std::uint32_t kPowerProfile = 0x40084e7f;
inline constexpr std::uint32_t kMetricsCtrl = 0x40044e80;
inline constexpr std::uint32_t kMemBufZerocopy64Batches = 0xc0204e81;
inline constexpr std::uint32_t kThrottlingNotifications = 0x40044e82;
inline constexpr std::uint32_t kGetVaPlacement = 0x40104e83;
inline constexpr std::uint32_t kGetPerformanceProfile = 0xc0084e84;
inline constexpr std::uint32_t kDmaQueueInitBatch = 0xb0084e85;
inline constexpr std::uint32_t kAvailablePerfProfiles = 0xc0244e86;
inline constexpr std::uint32_t kGetAsyncH2tDmaComplQueues = 0xc1084e87;
inline constexpr std::uint32_t kHostMemPin = 0xc0184e88;
inline constexpr std::uint32_t kHostMemUnpin = 0x40084e89;
inline constexpr std::uint32_t kDmabufFdV2 = 0x80084e8a;

struct AvailablePerfProfiles {
  std::uint16_t requested_feature = 0;
  std::uint8_t num_profiles = 0;
  std::uint8_t bitmap[32] = {};
};
static_assert(sizeof(AvailablePerfProfiles) == 36);

struct BarRw {
  std::uint32_t bar = 0;
  std::uint64_t address = 0;
  std::uint64_t data = 0;
  std::uint32_t count = 0;
};
static_assert(sizeof(BarRw) == 32);

struct CinitSet {
  std::uint32_t nc_id = 0;
  std::uint32_t state = 0;
  std::uint32_t new_state = 0;
};
static_assert(sizeof(CinitSet) == 12);

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
static_assert(sizeof(Crwl) == 36);

struct CrwlNcMap {
  std::uint32_t nc_count = 0;
  std::uint32_t start_nc_index = 0;
  std::uint32_t end_nc_index = 0;
  std::uint32_t max_nc_available = 0;
  std::uint64_t bitmap = 0;
};
static_assert(sizeof(CrwlNcMap) == 24);

struct CrwlNcMapExt {
  std::uint32_t nc_count = 0;
  std::uint32_t start_nc_index = 0;
  std::uint32_t end_nc_index = 0;
  std::uint32_t max_nc_available = 0;
  std::uint64_t bitmap[8] = {};
};
static_assert(sizeof(CrwlNcMapExt) == 80);

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
static_assert(sizeof(DeviceBdfExt) == 16);

struct DeviceDriverInfo {
  std::uint32_t architecture = 0;
  std::uint32_t revision = 0;
  std::uint32_t version = 0;
  std::uint32_t size = 0;
  std::uint64_t feature_flags1 = 0;
};
static_assert(sizeof(DeviceDriverInfo) == 24);

struct DeviceInfo {
  std::uint32_t architecture = 0;
  std::uint32_t revision = 0;
  std::uint32_t connected_device_count = 0;
  std::uint32_t connected_devices[8] = {};
  std::uint64_t bar_address[2] = {};
  std::uint64_t bar_size[2] = {};
};
static_assert(sizeof(DeviceInfo) == 80);

struct DeviceInit {
  std::uint32_t mem_regions = 0;
};
static_assert(sizeof(DeviceInit) == 4);

struct DeviceReady {
  std::uint32_t request_id = 0;
  std::int32_t result = 0;
};
static_assert(sizeof(DeviceReady) == 8);

struct DeviceReset {
  std::uint32_t nc_map = 0;
  std::uint32_t request_id = 0;
};
static_assert(sizeof(DeviceReset) == 8);

struct DmaAckCompleted {
  std::uint32_t eng_id = 0;
  std::uint32_t qid = 0;
  std::uint32_t count = 0;
};
static_assert(sizeof(DmaAckCompleted) == 12);

struct DmaCopyDescriptors {
  std::uint64_t mem_handle = 0;
  std::uint64_t buffer = 0;
  std::uint32_t num_descs = 0;
  std::uint32_t offset = 0;
  std::uint32_t queue_type = 0;
};
static_assert(sizeof(DmaCopyDescriptors) == 32);

struct DmaCopyDescriptors64 {
  std::uint64_t mem_handle = 0;
  std::uint64_t buffer = 0;
  std::uint32_t num_descs = 0;
  std::uint64_t offset = 0;
  std::uint32_t queue_type = 0;
};
static_assert(sizeof(DmaCopyDescriptors64) == 40);

struct DmaDescriptorCopyout {
  std::uint32_t eng_id = 0;
  std::uint32_t qid = 0;
  std::uint32_t type = 0;
  std::uint32_t start_index = 0;
  std::uint32_t count = 0;
  std::uint64_t buffer = 0;
};
static_assert(sizeof(DmaDescriptorCopyout) == 32);

struct DmaEngGetState {
  std::uint32_t eng_id = 0;
  std::uint64_t state = 0;
};
static_assert(sizeof(DmaEngGetState) == 16);

struct DmaEngInit {
  std::uint32_t eng_id = 0;
};
static_assert(sizeof(DmaEngInit) == 4);

struct DmaEngSetState {
  std::uint32_t eng_id = 0;
  std::uint32_t state = 0;
};
static_assert(sizeof(DmaEngSetState) == 8);

struct DmaQueueCopyStart {
  std::uint32_t eng_id = 0;
  std::uint32_t qid = 0;
  std::uint32_t tx_desc_count = 0;
  std::uint32_t rx_desc_count = 0;
};
static_assert(sizeof(DmaQueueCopyStart) == 16);

struct DmaQueueGetState {
  std::uint32_t eng_id = 0;
  std::uint32_t qid = 0;
  std::uint64_t tx = 0;
  std::uint64_t rx = 0;
};
static_assert(sizeof(DmaQueueGetState) == 24);

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
static_assert(sizeof(DmaQueueInit) == 48);

struct DmaQueueInitBatch {
  std::uint32_t count = 0;
  DmaQueueInit entries[256] = {};
};
static_assert(sizeof(DmaQueueInitBatch) == 12296);

struct DmaQueueRelease {
  std::uint32_t eng_id = 0;
  std::uint32_t qid = 0;
};
static_assert(sizeof(DmaQueueRelease) == 8);

struct DmaQuiesceQueues {
  std::uint32_t nc_id = 0;
  std::uint32_t engine_count = 0;
  std::uint32_t queue_mask[64] = {};
};
static_assert(sizeof(DmaQuiesceQueues) == 264);

struct DmabufFd {
  std::uint64_t va = 0;
  std::uint64_t size = 0;
  std::uint64_t fd = 0;
};
static_assert(sizeof(DmabufFd) == 24);

struct DumpMemChunks {
  std::uint32_t hbm_index = 0;
  std::uint32_t num_entries_in = 0;
  std::uint32_t num_entries_out = 0;
  std::uint64_t data = 0;
};
static_assert(sizeof(DumpMemChunks) == 24);

struct Event {
  std::uint32_t nc_id = 0;
  std::uint32_t event_index = 0;
  std::uint32_t value = 0;
};
static_assert(sizeof(Event) == 12);

struct AppInfo {
  std::int32_t pid = 0;
  std::uint8_t nc_lock_map = 0;
  Uuid uuid_data[4] = {};
  std::uint64_t host_mem_size = 0;
  std::uint64_t device_mem_size = 0;
};
static_assert(sizeof(AppInfo) == 152);

struct GetAppsInfo {
  std::uint16_t apps_info_flags = 0;
  std::uint32_t capacity = 0;
  std::uint32_t size = 0;
  std::uint32_t pad = 0;  // an array of AppInfo follows
};
static_assert(sizeof(GetAppsInfo) == 16);

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
static_assert(sizeof(GetVaPlacement) == 16);

struct H2tDmaAllocQueues {
  std::uint16_t sz = 0;
  std::uint16_t nc_id = 0;
  std::uint16_t copy_queue_cnt = 0;
  std::uint16_t service_queue_cnt = 0;
  std::uint32_t copy_queue_bmap = 0;
  std::uint32_t service_queue_bmap = 0;
  std::uint32_t copy_default_queue = 0;
};
static_assert(sizeof(H2tDmaAllocQueues) == 20);

struct H2tDmaFreeQueues {
  std::uint16_t sz = 0;
  std::uint8_t nc_id = 0;
  std::uint8_t fill0 = 0;
  std::uint32_t queue_bmap = 0;
};
static_assert(sizeof(H2tDmaFreeQueues) == 8);

struct HbmScrubStart {
  std::uint32_t nc_id = 0;
  std::uint32_t hbm_index = 0;
  std::uint32_t axi_port = 0;
  std::uint32_t init_val = 0;
};
static_assert(sizeof(HbmScrubStart) == 16);

struct HbmScrubWait {
  std::uint32_t nc_id = 0;
  std::uint32_t hbm_index = 0;
};
static_assert(sizeof(HbmScrubWait) == 8);

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
static_assert(sizeof(MemAlloc) == 32);

struct MemAllocV2 {
  std::uint64_t size = 0;
  std::uint64_t align = 0;
  std::uint32_t host_memory = 0;
  std::uint32_t dram_channel = 0;
  std::uint32_t dram_region = 0;
  std::uint32_t nc_id = 0;
  std::uint64_t mem_handle = 0;
};
static_assert(sizeof(MemAllocV2) == 40);

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
static_assert(sizeof(MemAllocV2MemType) == 48);

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
static_assert(sizeof(MemAllocV2MemType64) == 56);

struct MemBufCopy {
  std::uint64_t mem_handle = 0;
  std::uint64_t buffer = 0;
  std::uint32_t size = 0;
  std::uint32_t offset = 0;
  std::uint32_t copy_to_mem_handle = 0;
};
static_assert(sizeof(MemBufCopy) == 32);

struct MemBufCopy64 {
  std::uint64_t mem_handle = 0;
  std::uint64_t buffer = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
  std::uint32_t copy_to_mem_handle = 0;
};
static_assert(sizeof(MemBufCopy64) == 40);

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
static_assert(sizeof(MemBufCopy64zc) == 48);

struct MemBufCopy64zcBatches {
  std::uint64_t sequence_num = 0;
  std::uint64_t batches_ptr = 0;
  std::uint32_t num_batches = 0;
  std::uint16_t is_copy_to_device = 0;
  std::int32_t h2t_qid = 0;
  std::uint16_t flags = 0;
};
static_assert(sizeof(MemBufCopy64zcBatches) == 32);

struct MemChunkInfo {
  std::uint64_t pa = 0;
  std::uint64_t size = 0;
  std::uint32_t mem_type = 0;
};
static_assert(sizeof(MemChunkInfo) == 24);

struct MemCopy {
  std::uint64_t src_mem_handle = 0;
  std::uint64_t dst_mem_handle = 0;
  std::uint32_t size = 0;
  std::uint32_t src_offset = 0;
  std::uint32_t dst_offset = 0;
};
static_assert(sizeof(MemCopy) == 32);

struct MemCopy64 {
  std::uint64_t src_mem_handle = 0;
  std::uint64_t dst_mem_handle = 0;
  std::uint64_t size = 0;
  std::uint64_t src_offset = 0;
  std::uint64_t dst_offset = 0;
};
static_assert(sizeof(MemCopy64) == 40);

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
static_assert(sizeof(MemCopyAsync) == 48);

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
static_assert(sizeof(MemCopyAsync64) == 56);

struct MemCopyAsyncWait {
  std::uint64_t src_mem_handle = 0;
  std::uint64_t dst_mem_handle = 0;
  std::uint32_t pwait_handle = 0;
};
static_assert(sizeof(MemCopyAsyncWait) == 24);

struct MemFree {
  std::uint64_t mem_handle = 0;
};
static_assert(sizeof(MemFree) == 8);

struct MemGetExtendedInfo {
  std::uint64_t mem_handle = 0;
  std::uint32_t version = 0;
  std::uint32_t host_memory = 0;
  std::uint64_t mmap_offset = 0;
  std::uint64_t pa = 0;
  std::uint64_t pid = 0;
  std::uint64_t size = 0;
};
static_assert(sizeof(MemGetExtendedInfo) == 48);

struct MemGetInfo {
  std::uint64_t mem_handle = 0;
  std::uint64_t mmap_offset = 0;
  std::uint64_t pa = 0;
};
static_assert(sizeof(MemGetInfo) == 24);

struct MemGetMcMmapInfo {
  std::uint64_t pa = 0;
  std::uint64_t mmap_offset = 0;
  std::uint64_t size = 0;
};
static_assert(sizeof(MemGetMcMmapInfo) == 24);

struct MemGetMcMmapInfoV2 {
  std::uint64_t pa = 0;
  std::uint64_t mmap_offset = 0;
  std::uint64_t size = 0;
  std::uint64_t mem_handle = 0;
};
static_assert(sizeof(MemGetMcMmapInfoV2) == 32);

struct MemGetPa {
  std::uint64_t mem_handle = 0;
  std::uint64_t pa = 0;
};
static_assert(sizeof(MemGetPa) == 16);

struct Memset {
  std::uint64_t mem_handle = 0;
  std::uint64_t offset = 0;
  std::uint32_t value = 0;
  std::uint32_t size = 0;
};
static_assert(sizeof(Memset) == 24);

struct Memset64 {
  std::uint64_t mem_handle = 0;
  std::uint64_t offset = 0;
  std::uint32_t value = 0;
  std::uint64_t size = 0;
};
static_assert(sizeof(Memset64) == 32);

struct MetricsCtrl {
  std::uint32_t mode = 0;
};
static_assert(sizeof(MetricsCtrl) == 4);

struct NcMapEntry {
  std::uint32_t device_id = 0;
  std::uint32_t device_nc_idx = 0;
};
static_assert(sizeof(NcMapEntry) == 8);

struct NcMap {
  std::uint32_t num_entries = 0;
};
static_assert(sizeof(NcMap) == 4);

struct NcModelStartedCount {
  std::uint32_t nc_id = 0;
  std::uint64_t started_count = 0;
};
static_assert(sizeof(NcModelStartedCount) == 16);

struct NcPidStateDump {
  std::uint32_t size = 0;
  std::uint32_t nc_id = 0;
  std::uint32_t filter_log_owner = 0;
  std::uint32_t log_dump_limit = 0;
};
static_assert(sizeof(NcPidStateDump) == 16);

struct DsInfo {
  std::int32_t pid = 0;
  std::uint64_t mmap_offset = 0;
  std::uint32_t size = 0;
};
static_assert(sizeof(DsInfo) == 24);

struct NotificationsDestroy {
  std::uint64_t mmap_offset = 0;
};
static_assert(sizeof(NotificationsDestroy) == 8);

struct NotificationsInitV1 {
  std::uint32_t nc_id = 0;
  std::uint32_t nq_type = 0;
  std::uint32_t engine_index = 0;
  std::uint32_t size = 0;
  std::uint64_t mmap_offset = 0;
};
static_assert(sizeof(NotificationsInitV1) == 24);

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
static_assert(sizeof(NotificationsInitV2) == 48);

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
static_assert(sizeof(NotificationsInitWithReallocV2) == 56);

struct NotificationsQueueInfo {
  std::uint8_t nq_dev_id = 0;
  std::uint8_t nq_dev_type = 0;
  std::uint8_t nq_type = 0;
  std::uint8_t engine_index = 0;
  std::uint32_t head = 0;
  std::uint32_t phase_bit = 0;
};
static_assert(sizeof(NotificationsQueueInfo) == 12);

struct PodCtrl {
  std::uint16_t sz = 0;
  std::uint32_t ctrl = 0;
  std::uint32_t timeout = 0;
  std::uint32_t state = 0;
};
static_assert(sizeof(PodCtrl) == 16);

struct PodCtrlV2 {
  PodCtrl v1;
  std::uint32_t mode = 0;
};
static_assert(sizeof(PodCtrlV2) == 20);

struct PodInfo {
  std::uint16_t sz = 0;
  std::uint8_t pod_type = 0;
  std::uint8_t pod_id[256] = {};
  std::uint8_t pod_sz = 0;
};
static_assert(sizeof(PodInfo) == 260);

struct PodStatus {
  std::uint16_t sz = 0;
  std::uint8_t pod_id[256] = {};
  std::uint32_t state = 0;
  std::uint8_t pod_type = 0;
  std::uint8_t pod_sz = 0;
  std::int8_t node_id = 0;
};
static_assert(sizeof(PodStatus) == 268);

struct PodStatusV2 {
  PodStatus v1;
  std::uint32_t mode = 0;
  std::uint32_t modes_supported = 0;
};
static_assert(sizeof(PodStatusV2) == 276);

struct PostMetric {
  std::uint64_t data = 0;
  std::uint32_t data_size = 0;
};
static_assert(sizeof(PostMetric) == 16);

struct PowerProfile {
  std::uint16_t sz = 0;
  std::uint16_t ctrl = 0;
  std::uint32_t profile = 0;
};
static_assert(sizeof(PowerProfile) == 8);

struct Printk {
  std::uint64_t buffer = 0;
  std::uint32_t size = 0;
  std::uint32_t action = 0;
};
static_assert(sizeof(Printk) == 16);

struct ProgramEngine {
  std::uint64_t dst = 0;
  std::uint64_t buffer = 0;
  std::uint32_t size = 0;
  std::uint32_t offset = 0;
};
static_assert(sizeof(ProgramEngine) == 24);

struct ProgramEngineNc {
  std::uint32_t nc_id = 0;
  std::uint64_t dst = 0;
  std::uint64_t buffer = 0;
  std::uint32_t size = 0;
  std::uint32_t offset = 0;
};
static_assert(sizeof(ProgramEngineNc) == 32);

struct ProgramEngineNc64 {
  std::uint32_t nc_id = 0;
  std::uint64_t dst = 0;
  std::uint64_t buffer = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
};
static_assert(sizeof(ProgramEngineNc64) == 40);

struct ReadHwCounters {
  std::uint64_t address = 0;
  std::uint64_t data = 0;
  std::uint32_t count = 0;
};
static_assert(sizeof(ReadHwCounters) == 24);

struct ResourceMmapInfo {
  std::uint32_t block = 0;
  std::uint32_t block_id = 0;
  std::uint32_t resource = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};
static_assert(sizeof(ResourceMmapInfo) == 32);

struct Semaphore {
  std::uint32_t nc_id = 0;
  std::uint32_t semaphore_index = 0;
  std::uint32_t value = 0;
};
static_assert(sizeof(Semaphore) == 12);

struct ThrottlingNotifications {
  std::uint32_t enable = 0;
};
static_assert(sizeof(ThrottlingNotifications) == 4);

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
static_assert(sizeof(DmaEngState) == 20);

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
static_assert(sizeof(DmaQueueState) == 48);

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

}  // namespace opennrt::emu::abi
