// SPDX-License-Identifier: Apache-2.0
//
// What DMA queues and sequencers see of the device around them: device space,
// the synchronisation bank of a core, notifications and error reports.
//
// Threading: every member may be called from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/address_map.h"
#include "device/sync_bank.h"

namespace opennrt::emu {

// A register write that makes a DMA queue work: performed at once, or kept by
// the DMA transfer that caused it until that transfer holds no queue.
struct Doorbell {
  enum class Kind : std::uint8_t { kTailIncrement, kReset };
  Kind kind;
  std::uint8_t dir;  // 0 TX, 1 RX
  std::uint16_t queue;
  std::uint32_t engine;
  std::uint32_t count;
};

// Who performs an access, for error texts and error records.
struct Origin {
  // kGenerator: the descriptor generator of an engine, which copies for it.
  enum class Kind : std::uint8_t { kHost, kEngine, kDma, kGenerator };
  Kind kind = Kind::kHost;
  std::uint32_t core = 0;
  std::uint32_t unit = 0;   // engine of the core, or DMA engine of the device
  std::uint32_t queue = 0;  // DMA queue
  std::uint64_t slot = 0;   // address of the instruction record or descriptor
  std::vector<Doorbell>* deferred = nullptr;
};

// Raw types of error records (the runtime maps both to a sequencer error).
enum class ErrorType : std::uint8_t {
  kDroppedAccess = 9,  // the access had no effect, its unit goes on
  kUnitStopped = 10    // the engine or queue stopped
};

class Verifier;
class Inspector;

// Content of a notification record besides phase and timestamp.
struct Notification {
  std::uint32_t word0;  // line and hint; bits 28:24 tag
  std::uint32_t word1;  // sub-id, kind << 16
};

class Bus {
 public:
  virtual const AddressMap& map() const = 0;

  // False: nothing at the address; reported, and for reads *out is zeroed.
  virtual bool bus_read(std::uint64_t pa, void* out, std::uint64_t bytes, const Origin& who) = 0;
  virtual bool bus_write(std::uint64_t pa, const void* in, std::uint64_t bytes,
                         const Origin& who) = 0;

  // Changes after every write to ACT or DVE table memory, for caches of it. A bus
  // whose table memory never changes keeps 0.
  virtual std::uint64_t table_version() const { return 0; }

  virtual SyncBank& sync(std::uint32_t core) = 0;
  virtual void notify(std::uint32_t core, std::uint32_t queue, const Notification& record) = 0;
  // nullptr: nothing is verified.
  virtual Verifier* verifier() { return nullptr; }
  // nullptr: nothing is inspected.
  virtual Inspector* inspector() { return nullptr; }
  // Asked when a record is decoded whose meaning is partly our reading. False:
  // *error, this device refuses such records.
  virtual bool accept_unconfirmed(std::uint8_t opcode, const char* reading, std::string* error) {
    (void)opcode, (void)reading, (void)error;
    return true;
  }
  // One host log line and one error record. `text` follows the name of the unit.
  virtual void report(const Origin& who, ErrorType type, std::uint16_t detail,
                      const std::string& text) = 0;

 protected:
  ~Bus() = default;
};

// "0x1f", for texts.
std::string hex(std::uint64_t value);

}  // namespace opennrt::emu
