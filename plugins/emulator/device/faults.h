// SPDX-License-Identifier: Apache-2.0
//
// Faults that a software device produces on request, for tests of programs that
// must live with them. Depends on nothing, so that tools can check what they
// pass on.
//
//   emulator.faults: [{point: error_record, n: 3, engine: ACT, type: 9},
//                     {ioctl: MEM_ALLOC_V2MT64, n: 3, errno: ENOMEM}, ...]
//
// Of the silicon:
//   point             what happens when the request begins          keys
//   error_record      a record in the error queue of the core       engine, type, detail
//   custom_record     a CUSTOM record of the engine                 engine, sub_id, hint
//   queue_overflow    END of the engine is lost, overflow is told   engine
//   hang              the engine does nothing any more              engine
//   dma_abort         a DMA engine of the core aborts               ring
//   sram_uncorrected, hbm_uncorrected, hbm_repairable
//                     a counter of the driver grows                 count
//
// Each of these may have `n`, `device` and `core`. n counts the requests the core
// runs: 0 is the self test of nrt_init, then each execution and each stop by an
// unload counts one. Each entry acts once; several may share one request.
//
// Of the driver; each may have `device`:
//   ioctl: NAME       the driver request of that name takes latency_us longer, and is
//                     answered with -errno (a name or a number) or with the positive
//                     residue without being carried out. Without n every one; with n
//                     the n-th, counted from 1, and the count - 1 that follow it
//   kill_process      SIGKILL for the process that makes its n-th (1) request `ioctl`,
//                     before the request is carried out. It ends a real process
//   memory_exhausted  a pool has after_bytes and no more: HBM `channel`, the host memory
//                     of the device (host: 1), or without either each of them
//   reset_failed      the n-th (1) reset and the count - 1 that follow fail: the device
//                     cannot be opened until it is reset through sysfs. 0: at start-up
//   reset_delayed     they take reset_delay_ms; reset_failed may have that key too
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace opennrt::emu {

struct Fault {
  enum class Point : std::uint8_t {
    kErrorRecord,
    kCustomRecord,
    kQueueOverflow,
    kHang,
    kDmaAbort,
    kSramUncorrected,
    kHbmUncorrected,
    kHbmRepairable,
    // Of the driver.
    kRequest,
    kKillProcess,
    kMemoryExhausted,
    kResetFailed,
    kResetDelayed
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;
  Point point = Point::kHang;
  std::uint64_t n = 1;
  std::uint32_t device = 0, core = 0;
  std::uint32_t engine = 0;            // of the core; PE unless it says otherwise
  std::uint32_t type = 0, detail = 0;  // kErrorRecord
  std::uint32_t sub_id = 0, hint = 0;  // kCustomRecord
  std::uint32_t ring = 0;              // kDmaAbort: among the DMA engines of the core
  std::uint64_t count = 1;             // of the counters; requests or resets in a row

  std::uint32_t request = kNone;     // kRequest, kKillProcess: index in FaultLimits::requests
  bool every = false;                // kRequest: without n
  int error = 0;                     // errno, 0 = none
  std::uint32_t residue = 0;         // 0 = none
  std::uint32_t latency_us = 0;      // kRequest
  std::uint32_t channel = kNone;     // kMemoryExhausted; kNone: not a channel alone
  bool host = false;                 // kMemoryExhausted: host memory alone
  std::uint64_t after_bytes = 0;     // kMemoryExhausted
  std::uint32_t reset_delay_ms = 0;  // kResetFailed, kResetDelayed

  // Sets off when an engine begins the request; the others when the first does.
  bool of_engine() const { return point <= Point::kHang; }
  bool of_driver() const { return point >= Point::kRequest; }
  // The entry names the `number`-th request or reset.
  bool covers(std::uint64_t number) const { return every || (number >= n && number - n < count); }
};

// What the parts of a machine a fault names are numbered up to.
struct FaultLimits {
  std::uint32_t devices = 1, cores = 1, rings = 1, channels = 1;
  std::vector<std::string_view> requests = {};  // names of the driver requests
};

// The list as the configuration gives it (YAML flow form). False: *error names
// the entry, what is wrong and what is expected.
bool parse_faults(std::string_view text, const FaultLimits& limits, std::vector<Fault>* out,
                  std::string* error);

}  // namespace opennrt::emu
