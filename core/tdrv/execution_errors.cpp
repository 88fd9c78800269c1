// SPDX-License-Identifier: Apache-2.0
#include "tdrv/execution_errors.h"

#include <iterator>

namespace opennrt::tdrv {
namespace {

struct ErrorRow {
  const char* name;
  ErrorSubtype subtype;
  bool stops_engine;
};

// Index = raw type of the error queue record.
constexpr ErrorRow kErrors[] = {
    {"FP underflow", ErrorSubtype::kNone, false},
    {"FP NaN", ErrorSubtype::kNumerical, false},
    {"FP infinity", ErrorSubtype::kNone, false},
    {"FP overflow", ErrorSubtype::kNone, false},
    {"uncorrectable memory error", ErrorSubtype::kMemory, false},
    {"injected error", ErrorSubtype::kFake, false},
    {"semaphore error", ErrorSubtype::kSemaphore, false},
    {"event error", ErrorSubtype::kEvent, false},
    {"PSUM collision", ErrorSubtype::kPsumCollision, false},
    {"sequencer error", ErrorSubtype::kTransient, false},
    {"fatal sequencer error", ErrorSubtype::kSequencer, true},
};

NRT_STATUS status_of(const DeviceError& error, bool report_numerical) {
  switch (error.subtype) {
    case ErrorSubtype::kNone:
      return NRT_SUCCESS;
    case ErrorSubtype::kNumerical:
      return report_numerical ? NRT_EXEC_COMPLETED_WITH_NUM_ERR : NRT_SUCCESS;
    case ErrorSubtype::kMemory:
      return error.corrected ? NRT_SUCCESS : NRT_EXEC_HW_ERR_NC_UE;
    case ErrorSubtype::kUnknown:
      return NRT_HW_ERROR;
    default:
      return NRT_EXEC_COMPLETED_WITH_ERR;
  }
}

}  // namespace

std::uint32_t status_rank(NRT_STATUS status) {
  switch (status) {
    case NRT_SUCCESS:
      return 0;
    case NRT_TIMEOUT:
    case NRT_HW_ERROR:
    case NRT_EXEC_SW_NQ_OVERFLOW:
    case NRT_NETWORK_PROXY_FAILURE:
      return 2;
    case NRT_EXEC_COMPLETED_WITH_ERR:
    case NRT_EXEC_HW_ERR_COLLECTIVES:
    case NRT_EXEC_HW_ERR_HBM_UE:
    case NRT_EXEC_HW_ERR_NC_UE:
    case NRT_EXEC_HW_ERR_DMA_ABORT:
    case NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE:
      return 3;
    default:
      return 1;
  }
}

DeviceError classify_error(const Notification& record, bool report_numerical) {
  DeviceError e;
  e.raw_type = record.sub_id & 0xFF;
  e.engine = record.sub_id >> 8;
  e.detail = record.kind;
  if (e.raw_type < std::size(kErrors)) {
    const ErrorRow& row = kErrors[e.raw_type];
    e.name = row.name;
    e.subtype = row.subtype;
    e.stops_engine = row.stops_engine;
  } else {
    e.name = "unknown error";
    e.subtype = ErrorSubtype::kUnknown;
  }
  e.corrected = e.subtype == ErrorSubtype::kMemory && (e.detail & kCorrectedMemoryError) != 0;
  if (e.corrected) e.name = "corrected memory error";
  e.status = status_of(e, report_numerical);
  return e;
}

CustomRecord classify_custom(std::uint16_t sub_id) {
  switch (sub_id) {
    case 0:
    case 1:
      return {NRT_EXEC_OOB, "embedding update out of bounds", CustomKind::kError};
    case 2:
    case 3:
      return {NRT_EXEC_OOB, "gather or scatter out of bounds", CustomKind::kError};
    case 4:
    case 5:
      return {NRT_EXEC_OOB, "gather or scatter through descriptor generation out of bounds",
              CustomKind::kError};
    case 9:
    case 10:
      return {NRT_EXEC_OOB, "transposing gather out of bounds", CustomKind::kError};
    case 6:
      return {NRT_SUCCESS, "debug value", CustomKind::kDebugValue};
    case 7:
      return {NRT_SUCCESS, "output tensor finished", CustomKind::kOutputFinished};
    case 8:
      return {NRT_SUCCESS, "debug tensor ready", CustomKind::kDebugTensor};
    default:
      return {NRT_HW_ERROR, "unknown custom notification", CustomKind::kError};
  }
}

HangClass classify_hang(const HangEvidence& evidence) {
  if (evidence.overflow) return {NRT_EXEC_SW_NQ_OVERFLOW, "notification queue overflow"};
  if (evidence.hbm_uncorrected) return {NRT_EXEC_HW_ERR_HBM_UE, "uncorrectable HBM error"};
  if (evidence.hbm_repairable) return {NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE, "repairable HBM error"};
  if (evidence.dma_abort) return {NRT_EXEC_HW_ERR_DMA_ABORT, "DMA abort"};
  if (evidence.collective_missing) return {NRT_EXEC_HW_ERR_COLLECTIVES, "hang in a collective"};
  if (evidence.sram_uncorrected) return {NRT_EXEC_HW_ERR_NC_UE, "on-chip memory parity error"};
  return {NRT_TIMEOUT, "hang on compute"};
}

}  // namespace opennrt::tdrv
