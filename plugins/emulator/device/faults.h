// SPDX-License-Identifier: Apache-2.0
//
// Faults that a software device produces on request, for tests of programs that
// must live with them. Depends on nothing, so that tools can check what they
// pass on.
//
//   emulator.faults: [{point: error_record, n: 3, engine: ACT, type: 9}, ...]
//
//   point             what happens when the request begins          keys
//   error_record      a record in the error queue of the core       engine, type, detail
//   custom_record     a CUSTOM record of the engine                 engine, sub_id, hint
//   queue_overflow    END of the engine is lost, overflow is told   engine
//   hang              the engine does nothing any more              engine
//   dma_abort         a DMA engine of the core aborts               ring
//   sram_uncorrected, hbm_uncorrected, hbm_repairable
//                     a counter of the driver grows                 count
//
// Every entry may have `n`, `device` and `core`. n counts the requests the core
// runs: 0 is the self test of nrt_init, then each execution and each stop by an
// unload counts one. Each entry acts once; several may share one request.
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
    kHbmRepairable
  };
  Point point = Point::kHang;
  std::uint64_t n = 1;
  std::uint32_t device = 0, core = 0;
  std::uint32_t engine = 0;            // of the core; PE unless it says otherwise
  std::uint32_t type = 0, detail = 0;  // kErrorRecord
  std::uint32_t sub_id = 0, hint = 0;  // kCustomRecord
  std::uint32_t ring = 0;              // kDmaAbort: among the DMA engines of the core
  std::uint64_t count = 1;             // of the counters

  // Sets off when an engine begins the request; the others when the first does.
  bool of_engine() const { return point <= Point::kHang; }
};

// What the parts of a machine a fault names are numbered up to.
struct FaultLimits {
  std::uint32_t devices = 1, cores = 1, rings = 1;
};

// The list as the configuration gives it (YAML flow form). False: *error names
// the entry, what is wrong and what is expected.
bool parse_faults(std::string_view text, const FaultLimits& limits, std::vector<Fault>* out,
                  std::string* error);

}  // namespace opennrt::emu
