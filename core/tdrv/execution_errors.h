// SPDX-License-Identifier: Apache-2.0
//
// Classification of what a device reports about an execution, and of an
// execution that does not end.
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

enum class ErrorSubtype : std::uint8_t {
  kNone = 0,
  kNumerical = 1,
  kTransient = 2,
  kMemory = 3,
  kFake = 4,
  kSemaphore = 5,
  kEvent = 6,
  kPsumCollision = 7,
  kSequencer = 8,
  kUnknown = 15,  // a raw type beyond the list
};

// Record of the error queue.
struct DeviceError {
  NRT_STATUS status = NRT_SUCCESS;  // NRT_SUCCESS: informational
  const char* name = "";
  ErrorSubtype subtype = ErrorSubtype::kNone;
  std::uint32_t raw_type = 0, engine = 0, detail = 0;
  bool corrected = false;     // memory error that did no harm
  bool stops_engine = false;  // the engine will not finish

  bool numerical() const { return subtype == ErrorSubtype::kNumerical; }
  // Its bit among the kinds of errors of one execution.
  std::uint32_t bit() const {
    return 1u << (static_cast<std::uint32_t>(subtype) + (corrected ? 16 : 0));
  }
};
DeviceError classify_error(const Notification& record, bool report_numerical);

// Layout of the software device: this bit of the detail of a memory error.
inline constexpr std::uint32_t kCorrectedMemoryError = 0x8000;

// CUSTOM record of a status queue. NRT_SUCCESS: nothing is wrong.
enum class CustomKind : std::uint8_t { kError, kDebugValue, kOutputFinished, kDebugTensor };
struct CustomRecord {
  NRT_STATUS status = NRT_SUCCESS;
  const char* name = "";
  CustomKind kind = CustomKind::kError;
};
CustomRecord classify_custom(std::uint16_t sub_id);

// What is known about an execution that does not end.
struct HangEvidence {
  bool overflow = false;            // of a notification queue
  bool hbm_uncorrected = false;     // the counter has grown
  bool hbm_repairable = false;      // the counter has grown
  bool dma_abort = false;           // some DMA queue gave up
  bool collective_missing = false;  // END of a collective
  bool sram_uncorrected = false;    // the counter has grown
};
struct HangClass {
  NRT_STATUS status = NRT_TIMEOUT;
  const char* name = "";
};
// The first that applies, in the order above; NRT_TIMEOUT without any.
HangClass classify_hang(const HangEvidence& evidence);

}  // namespace opennrt::tdrv
