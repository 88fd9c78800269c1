// SPDX-License-Identifier: Apache-2.0
#include "tdrv/execution_errors.h"

#include <iterator>

namespace opennrt::tdrv {
namespace {

struct ErrorRow {
  const char* name;
  NRT_STATUS status;
  bool numerical, stops_engine;
};

// Index = raw type of the error queue record.
constexpr ErrorRow kErrors[] = {
    {"FP underflow", NRT_SUCCESS, false, false},
    {"FP NaN", NRT_EXEC_COMPLETED_WITH_NUM_ERR, true, false},
    {"FP infinity", NRT_SUCCESS, false, false},
    {"FP overflow", NRT_SUCCESS, false, false},
    {"memory error (uncorrectable)", NRT_EXEC_HW_ERR_NC_UE, false, false},
    {"injected error", NRT_EXEC_COMPLETED_WITH_ERR, false, false},
    {"semaphore error", NRT_EXEC_COMPLETED_WITH_ERR, false, false},
    {"event error", NRT_EXEC_COMPLETED_WITH_ERR, false, false},
    {"PSUM collision", NRT_EXEC_COMPLETED_WITH_ERR, false, false},
    {"sequencer error", NRT_EXEC_COMPLETED_WITH_ERR, false, false},
    {"fatal sequencer error", NRT_EXEC_COMPLETED_WITH_ERR, false, true},
};

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
  if (e.raw_type >= std::size(kErrors)) {
    e.name = "unknown error";
    e.status = NRT_HW_ERROR;
    return e;
  }
  const ErrorRow& row = kErrors[e.raw_type];
  e.name = row.name;
  e.status = row.numerical && !report_numerical ? NRT_SUCCESS : row.status;
  e.numerical = row.numerical;
  e.stops_engine = row.stops_engine;
  return e;
}

CustomRecord classify_custom(std::uint16_t sub_id) {
  switch (sub_id) {
    case 0:
    case 1:
      return {NRT_EXEC_OOB, "embedding update out of bounds"};
    case 2:
    case 3:
      return {NRT_EXEC_OOB, "gather or scatter out of bounds"};
    case 4:
    case 5:
      return {NRT_EXEC_OOB, "gather or scatter through descriptor generation out of bounds"};
    case 9:
    case 10:
      return {NRT_EXEC_OOB, "transposing gather out of bounds"};
    case 6:
      return {NRT_SUCCESS, "debug value"};
    case 7:
      return {NRT_SUCCESS, "output tensor finished"};
    case 8:
      return {NRT_SUCCESS, "debug tensor ready"};
    default:
      return {NRT_HW_ERROR, "unknown custom notification"};
  }
}

}  // namespace opennrt::tdrv
