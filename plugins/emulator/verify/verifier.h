// SPDX-License-Identifier: Apache-2.0
//
// Watches the memory accesses and the synchronisation of one device and reports
// what a program must not do. Null in a device that verifies nothing.
//
// Threading: any thread; one lock inside, taken per call.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "device/bus.h"
#include "verify/clocks.h"
#include "verify/options.h"
#include "verify/shadow.h"

namespace opennrt::emu {

class ComputePlan;
class EngineState;

class Verifier {
 public:
  // report: one finding of the unit `who`; called without the lock held.
  using Report = std::function<void(const Origin& who, const std::string& text)>;
  Verifier(const VerifyOptions& options, const AddressMap& map, Report report);

  const VerifyOptions& options() const { return options_; }

  // --- order: `who` is the unit that acts
  // A record or packet begins; who.slot is its address.
  void begin(const Origin& who);
  // The value of a semaphore after `who` changed it.
  void semaphore_added(const Origin& who, std::uint32_t core, std::uint32_t index,
                       std::int32_t value);
  void semaphore_set(const Origin& who, std::uint32_t core, std::uint32_t index,
                     std::int32_t value);
  // A wait of `who` holds. rising: for "at least threshold" the threshold.
  void semaphore_passed(const Origin& who, std::uint32_t core, std::uint32_t index,
                        const std::int32_t* rising);
  void event_written(const Origin& who, std::uint32_t core, std::uint32_t index);
  void event_passed(const Origin& who, std::uint32_t core, std::uint32_t index);
  // An engine handed a transfer to its descriptor generator.
  void generator_started(const Origin& engine, const Origin& generator);
  // Semaphores and events of a core start anew.
  void core_reset(std::uint32_t core);
  // `who` released descriptors of a DMA queue; the queue takes them up.
  void doorbell(const Origin& who, std::uint32_t engine, std::uint32_t queue);
  void doorbell_taken(std::uint32_t engine, std::uint32_t queue);

  // --- memory; pa: device address, host: where it lies
  void access(const Origin& who, std::string_view what, std::uint64_t pa, const std::uint8_t* host,
              std::uint64_t bytes, bool write);
  // Operands of a compute record, and when it posts its update: before it writes
  // or after. What is ordered after an update when read may not see the result.
  enum class Update : std::uint8_t { kWhenRead, kWhenComplete };
  void operands(const Origin& who, const ComputePlan& plan, EngineState& state, Update update);
  // The host: after everything so far, and before everything to come.
  void host_wrote(const std::uint8_t* host, std::uint64_t bytes);
  // From now on the bytes count as not written.
  void never_written(const std::uint8_t* host, std::uint64_t bytes);
  // A range of HBM was allocated or given back: its bytes were never written.
  void allocated(std::uint64_t pa, const std::uint8_t* host, std::uint64_t bytes);
  void freed(std::uint64_t pa, std::uint64_t bytes);

  // --- coverage: never_written() before, first_unwritten() after an execution
  // Offset of the first byte that was not written, or `bytes`.
  std::uint64_t first_unwritten(const std::uint8_t* host, std::uint64_t bytes);

  // --- names for the findings
  void name_range(std::uint64_t pa, std::uint64_t bytes, const std::string& name);
  void forget_names(std::uint64_t pa, std::uint64_t bytes);
  // Accesses inside the range are not checked: nobody uses what lies there.
  void ignore_range(std::uint64_t pa, std::uint64_t bytes);

  // One that somebody else has reported.
  void count_finding() { findings_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t findings() const { return findings_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kMaxReports = 50;  // then only counted
  struct Range {
    std::uint64_t bytes;
    std::string name;
  };

  Actor actor(const Origin& who);
  Actor queue_actor(std::uint32_t engine, std::uint32_t queue);
  Actor intern(std::uint64_t key, std::string name);
  // Text of the first finding of an access, empty when it is fine.
  // Puts the first finding into `finding` unless it has one.
  void check(Actor actor, std::string_view what, std::uint64_t pa, const std::uint8_t* host,
             std::uint64_t bytes, bool write, std::string& finding);
  bool is_allocated(std::uint64_t pa, std::uint64_t bytes) const;
  std::string place(std::uint64_t pa) const;
  std::string unit(Moment moment) const;
  void emit(const Origin& who, const std::string& text);

  const VerifyOptions options_;
  const AddressMap& map_;
  const Report report_;
  std::mutex mutex_;  // guards everything below
  Clocks clocks_;
  Shadow shadow_;
  std::unordered_map<std::uint64_t, Actor> actors_;
  std::vector<std::string> actor_names_{"the host"};
  std::unordered_map<std::uint64_t, SemaphoreOrder> semaphores_;
  std::unordered_map<std::uint64_t, Release> events_, doorbells_;
  std::map<std::uint64_t, std::uint64_t> allocations_;  // HBM address -> bytes
  std::map<std::uint64_t, Range> names_;
  std::map<std::uint64_t, std::uint64_t> ignored_;  // bytes by address
  std::atomic<std::uint64_t> findings_{0};
};

}  // namespace opennrt::emu
