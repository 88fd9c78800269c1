// SPDX-License-Identifier: Apache-2.0
//
// Classification of what a device reports about an execution.
#pragma once

#include <cstdint>

#include "nrt/nrt_status.h"
#include "tdrv/notification.h"

namespace opennrt::tdrv {

// Of the statuses of one execution the highest rank is reported, the first seen
// on ties.
std::uint32_t status_rank(NRT_STATUS status);
inline bool outranks(NRT_STATUS candidate, NRT_STATUS current) {
  return status_rank(candidate) > status_rank(current);
}

// Record of the error queue.
struct DeviceError {
  NRT_STATUS status = NRT_SUCCESS;  // NRT_SUCCESS: informational
  const char* name = "";
  std::uint32_t raw_type = 0, engine = 0, detail = 0;
  bool numerical = false;     // NaN, whether or not it fails the execution
  bool stops_engine = false;  // the engine will not finish
};
DeviceError classify_error(const Notification& record, bool report_numerical);

// CUSTOM record of a status queue. NRT_SUCCESS: nothing is wrong.
struct CustomRecord {
  NRT_STATUS status = NRT_SUCCESS;
  const char* name = "";
};
CustomRecord classify_custom(std::uint16_t sub_id);

}  // namespace opennrt::tdrv
