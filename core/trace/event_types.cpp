// SPDX-License-Identifier: Apache-2.0
#include "trace/event_types.h"

namespace opennrt::trace {

namespace {

using F = FieldForm;

struct FieldList {
  std::array<Field, kPayloadWords> field{};
  std::size_t count = 0;
  template <std::size_t N>
  constexpr FieldList(const Field (&list)[N]) : count(N) {  // NOLINT
    static_assert(N <= kPayloadWords);
    for (std::size_t i = 0; i < N; ++i) field[i] = list[i];
  }
  constexpr FieldList() = default;
  std::span<const Field> span() const { return {field.data(), count}; }
};

struct TypeRow {
  EventType type;
  std::string_view name;
  FieldList begin{};  // START and INSTANT
  FieldList end{};    // STOP
};

constexpr Field kModel{"model_id", F::kModel};
constexpr Field kExec{"exec_id"};
constexpr Field kDeviceTime{"nc_timestamp_ns", F::kDeviceTime};
constexpr Field kHostTime{"cpu_timestamp_ns"};
constexpr Field kSync[] = {kDeviceTime, kHostTime};
constexpr Field kTensorAndSize[] = {{"tensor_id"}, {"size"}};
constexpr Field kBatches[] = {{"num_batches"}};
constexpr Field kModelOnly[] = {kModel};
constexpr Field kBarrierPeer[] = {{"peer_id"}, kExec, {"nec_dev_id"}};
constexpr Field kExecAndModel[] = {kExec, kModel};
constexpr Field kCopy[] = {{"mem_type", F::kMemoryType}, {"mem_handle"}, {"offset"}, {"size"}};
constexpr Field kBatchCopy[] = {
    {"mem_type", F::kMemoryType}, {"num_batches"}, {"total_num_ops"}, {"total_size"}};
constexpr Field kContext[] = {{"ctx_device_id"}, {"ctx_device_count"}};

constexpr Field kPostRequestFields[] = {kModel, {"request_id"}};
constexpr Field kCcLoadFields[] = {{"g_device_id"}, {"g_device_count"}};
constexpr Field kCcBarrierFields[] = {kModel, kExec, kDeviceTime, kHostTime};
constexpr Field kDeviceExecFields[] = {{"device_core_idx"}, kExec, kDeviceTime, kHostTime, kModel};
constexpr Field kCcExecFields[] = {{"gid"}, {"op_id"}, kExec, kDeviceTime, kHostTime, {"algo"}};
constexpr Field kModelSwitchFields[] = {
    {"device_core_idx"}, kModel, {"is_neuron_core_work", F::kFlag}};
constexpr Field kSemaWaitFields[] = {{"available_request_slots"}, {"has_work", F::kFlag}};
constexpr Field kHwNotifyFields[] = {{"device_core_idx"}, {"hint"}, {"custom_data"}, kExec,
                                     kDeviceTime,         kHostTime};
constexpr Field kTimestampSyncFields[] = {kExec, kDeviceTime, kHostTime};
constexpr Field kNcSwitchFields[] = {{"device_core_idx"}, kModel, kExec, kDeviceTime, kHostTime};
constexpr Field kTensorFreeFields[] = {{"tensor_id"}, {"size"}, {"ref_count"}};
constexpr Field kBlockFields[] = {
    {"tensor_id"}, {"pending_reader_count"}, {"pending_writer_count"}};
constexpr Field kAllocFields[] = {{"hbm_idx"},
                                  {"usage_type", F::kUsage},
                                  {"is_nc_hbm", F::kFlag},
                                  {"is_aligned", F::kFlag},
                                  {"mla_idx"}};
constexpr Field kAllocDoneFields[] = {{"allocated_bytes"},
                                      {"physical_address", F::kHex},
                                      {"return_code"},
                                      {"usage_type_total_bytes"},
                                      {"total_bytes"}};
constexpr Field kDeallocFields[] = {{"hbm_idx"},
                                    {"is_nc_hbm", F::kFlag},
                                    {"mla_idx"},
                                    {"usage_type", F::kUsage},
                                    {"physical_address", F::kHex}};
constexpr Field kDeallocDoneFields[] = {
    {"freed_bytes"}, {"usage_type_total_bytes"}, {"total_bytes"}};
constexpr Field kCcPrepareFields[] = {{"ctx_device_id"}, {"ctx_device_count"}, {"cc_op"}};
constexpr Field kHostCcLoadFields[] = {{"enc_op"}, {"dtype"}, {"num_elem"}};
constexpr Field kStreamFields[] = {{"stream_id"}};
constexpr Field kNotificationFields[] = {{"total_notif_expected"}};

using T = EventType;
constexpr std::array<TypeRow, kEventTypes> kTypes = {{
    {T::kGeneric, "generic"},
    {T::kModelLoad, "model_load", {}, kModelOnly},
    {T::kPostRequest, "post_request", kPostRequestFields},
    {T::kExecuteApi, "nrt_execute", kModelOnly},
    {T::kRuntimeExecute, "runtime_execute", kModelOnly},
    {T::kCcLoad, "cc_load", kCcLoadFields, kModelOnly},
    {T::kCcExecBarrier, "cc_exec_barrier", kCcBarrierFields, kSync},
    {T::kDeviceExec, "nc_exec_running", kDeviceExecFields, kSync},
    {T::kCcExec, "cc_running", kCcExecFields, kSync},
    {T::kTensorRead, "tensor_read", kTensorAndSize},
    {T::kTensorWrite, "tensor_write", kTensorAndSize},
    {T::kTensorReadBatch, "tensor_read_batch", kBatches},
    {T::kTensorWriteBatch, "tensor_write_batch", kBatches},
    {T::kNumErr, "numerical_err", kDeviceExecFields},
    {T::kEncBarrierRecv, "enc_barrier_recv", kBarrierPeer},
    {T::kEncBarrierSend, "enc_barrier_send", kBarrierPeer},
    {T::kEncBarrier, "enc_barrier", kBarrierPeer},
    {T::kExecPre, "kbl_exec_pre", kExecAndModel},
    {T::kExecCore, "kbl_exec_core", kExecAndModel},
    {T::kExecWait, "kbl_exec_wait", kExecAndModel},
    {T::kExecPost, "kbl_exec_post", kExecAndModel},
    {T::kModelSwitch, "model_switch", kModelSwitchFields},
    {T::kModelSubmit, "model_submit", kModelOnly},
    {T::kAsyncSemaWait, "async_sema_wait", kSemaWaitFields},
    {T::kHwNotify, "hw_notify", kHwNotifyFields},
    {T::kTimestampSync, "timestamp_sync_point", kTimestampSyncFields},
    {T::kNcModelSwitch, "nrt_model_switch", kNcSwitchFields, kSync},
    {T::kTensorAlloc, "tensor_alloc", kTensorAndSize},
    {T::kTensorFree, "tensor_free", kTensorFreeFields},
    {T::kTensorBlockWhileExec, "tensor_block_while_exec", kBlockFields},
    {T::kDmemBufCopyin, "dmem_buf_copyin", kCopy},
    {T::kDmemBufCopyout, "dmem_buf_copyout", kCopy},
    {T::kDmemBufBatchCopyin, "dmem_buf_batch_copyin", kBatchCopy},
    {T::kDmemBufBatchCopyout, "dmem_buf_batch_copyout", kBatchCopy},
    {T::kDmaMemAlloc, "dma_mem_alloc", kAllocFields, kAllocDoneFields},
    {T::kDmaMemDealloc, "dma_mem_dealloc", kDeallocFields, kDeallocDoneFields},
    {T::kConsumeTpbStatusNotifications, "consume_tpb_status_notifications", kExecAndModel},
    {T::kConsumeTopspCcNotifications, "consume_topsp_cc_notifications", kExecAndModel},
    {T::kConsumeErrorNotifications, "consume_error_notifications", kExecAndModel},
    {T::kConsumePoolStdio, "consume_pool_stdio", kExecAndModel},
    {T::kCcPrepare, "hostcc_prepare", kCcPrepareFields},
    {T::kCcSchedule, "hostcc_schedule", kContext},
    {T::kHostCcBuildContext, "hostcc_build_context", kContext},
    {T::kHostCcLoad, "hostcc_load", kHostCcLoadFields},
    {T::kHostCcExec, "hostcc_exec", kStreamFields},
    {T::kHostCcWait, "hostcc_wait", kNotificationFields},
}};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kEventTypes; ++i)
    if (static_cast<std::size_t>(kTypes[i].type) != i) return false;
  return true;
}
static_assert(rows_are_in_order());

// Other spellings in documents of the SDK, and the plain enumerator names.
constexpr struct {
  std::string_view name;
  EventType type;
} kSecondNames[] = {
    {"nrt_load", T::kModelLoad},
    {"cc_exec", T::kCcExec},
    {"device_exec", T::kDeviceExec},
    {"execute_api", T::kExecuteApi},
    {"nrt_tensor_read", T::kTensorRead},
    {"nrt_tensor_write", T::kTensorWrite},
    {"num_err", T::kNumErr},
    {"nc_model_switch", T::kNcModelSwitch},
    {"exec_pre", T::kExecPre},
    {"exec_core", T::kExecCore},
    {"exec_wait", T::kExecWait},
    {"exec_post", T::kExecPost},
    {"timestamp_sync", T::kTimestampSync},
};

std::optional<std::uint64_t> group_or_type(std::string_view name) {
  if (name == "all") return kAllTypes;
  if (name == "hardware") return kHardwareTypes;
  if (name == "software") return kAllTypes & ~kHardwareTypes;
  if (const auto type = type_of(name)) return bit_of(*type);
  return std::nullopt;
}

}  // namespace

std::string_view name_of(EventType type) {
  const auto i = static_cast<std::size_t>(type);
  return i < kEventTypes ? kTypes[i].name : "unknown";
}

std::optional<EventType> type_of(std::string_view name) {
  for (const TypeRow& row : kTypes)
    if (row.name == name) return row.type;
  for (const auto& second : kSecondNames)
    if (second.name == name) return second.type;
  return std::nullopt;
}

std::span<const Field> fields_of(EventType type, Phase phase) {
  const auto i = static_cast<std::size_t>(type);
  if (i >= kEventTypes) return {};
  return phase == Phase::kStop ? kTypes[i].end.span() : kTypes[i].begin.span();
}

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::kStart:
      return "start";
    case Phase::kStop:
      return "stop";
    default:
      return "instant";
  }
}

Result<std::uint64_t> types_of_filter(std::span<const std::string> items) {
  std::uint64_t included = 0, excluded = 0;
  bool any_included = false;
  for (const std::string& item : items) {
    std::string_view name = item;
    const bool out = name.starts_with('^');
    if (out) name.remove_prefix(1);
    const auto types = group_or_type(name);
    if (!types)
      return Status::invalid(
          "'{}' is no event type; use names of nrt_sys_trace_get_event_types, hardware, software "
          "or all, with ^ in front to leave one out",
          item);
    (out ? excluded : included) |= *types;
    any_included = any_included || !out;
  }
  return (any_included ? included : kAllTypes) & ~excluded;
}

}  // namespace opennrt::trace
