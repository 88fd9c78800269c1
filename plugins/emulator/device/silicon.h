// SPDX-License-Identifier: Apache-2.0
//
// The Device: address decoding, registers with their effects, and the cores.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "device/address_map.h"
#include "device/bus.h"
#include "device/device.h"
#include "device/fault_injector.h"
#include "device/notification.h"
#include "device/register_store.h"
#include "device/sync_bank.h"
#include "dma/fabric.h"
#include "engine/core.h"
#include "verify/verifier.h"

namespace opennrt::emu {

class Silicon final : public Device, public Bus {
 public:
  Silicon(const DeviceConfig& config, std::shared_ptr<DeviceMemory> memory, std::uint32_t cores);

  // Device
  std::uint8_t* memory_at(std::uint64_t device_pa, std::uint64_t bytes) override;
  int read(std::uint64_t device_pa, void* out, std::uint64_t bytes) override;
  int write(std::uint64_t device_pa, const void* in, std::uint64_t bytes) override;
  int bar0_read32(std::uint64_t offset, std::uint32_t* out) override;
  int bar0_write32(std::uint64_t offset, std::uint32_t value) override;
  std::uint32_t semaphore_read(std::uint32_t core, std::uint32_t index) override;
  void semaphore_set(std::uint32_t core, std::uint32_t index, std::uint32_t value) override;
  void semaphore_add(std::uint32_t core, std::uint32_t index, std::int32_t delta) override;
  std::uint32_t event_read(std::uint32_t core, std::uint32_t index) override;
  void event_write(std::uint32_t core, std::uint32_t index, std::uint32_t value) override;
  void queue_init(std::uint32_t engine, std::uint32_t queue, const RingConfig& tx,
                  const RingConfig& rx) override;
  int queue_start(std::uint32_t engine, std::uint32_t queue, std::uint32_t tx_count,
                  std::uint32_t rx_count) override;
  void queue_state(std::uint32_t engine, std::uint32_t queue, RingState* tx,
                   RingState* rx) override;
  void reset_cores(std::uint32_t mask) override;
  bool run(std::uint64_t max_records) override;
  bool runnable() override;
  bool idle(std::uint32_t cores) override;
  std::uint64_t progress(std::uint32_t cores) override;
  std::string describe(std::uint32_t core) override;
  std::string describe_engine(std::uint32_t core, std::uint32_t engine,
                              std::uint64_t* program_counter) override;
  bool notification_overflow(std::uint32_t core) override;
  ErrorCounters error_counters() override;
  void memory_allocated(std::uint64_t pa, std::uint64_t bytes) override;
  void memory_freed(std::uint64_t pa, std::uint64_t bytes) override;
  void memory_mapped(std::uint64_t pa, std::uint64_t bytes) override;
  void end_programs(std::span<const MemoryRange> gone) override;
  Verifier* verifier() override { return verifier_.get(); }
  Inspector* inspector() override { return inspector_.get(); }

  // Bus
  const AddressMap& map() const override { return map_; }
  bool bus_read(std::uint64_t pa, void* out, std::uint64_t bytes, const Origin& who) override;
  bool bus_write(std::uint64_t pa, const void* in, std::uint64_t bytes, const Origin& who) override;
  std::uint64_t table_version() const override {
    return table_version_.load(std::memory_order_acquire);
  }
  SyncBank& sync(std::uint32_t core) override { return cores_[core]->sync(); }
  void notify(std::uint32_t core, std::uint32_t queue, const Notification& record) override;
  bool accept_unconfirmed(std::uint8_t opcode, const char* reading, std::string* error) override;
  void report(const Origin& who, ErrorType type, std::uint16_t detail,
              const std::string& text) override;

 private:
  // What an offset in the synchronisation block is: a window and an index.
  struct SyncTarget {
    int window;  // -1 event, else enum nrtp_sem_op
    std::uint32_t index;
  };

  // One aligned word of a register-like region. False: nothing there.
  bool read_word(const nrtp_addr_class& c, std::uint64_t pa, std::uint32_t* out);
  bool write_word(const nrtp_addr_class& c, std::uint64_t pa, std::uint32_t value,
                  const Origin& who);
  void add_semaphore(std::uint32_t core, std::uint32_t index, std::uint32_t delta,
                     const Origin& who);
  bool sync_target(std::uint64_t local, SyncTarget* out) const;
  std::uint32_t queue_register(std::uint32_t dir, std::uint32_t reg) const;
  bool dma_write(std::uint32_t engine, const nrtp_addr_class& c, std::uint64_t pa,
                 std::uint32_t value, const Origin& who);
  bool dma_read(std::uint32_t engine, const nrtp_addr_class& c, std::uint64_t pa,
                std::uint32_t* out);
  bool engine_write(const nrtp_addr_class& c, std::uint32_t value);
  bool engine_read(const nrtp_addr_class& c, std::uint32_t* out);
  void poison_core(std::uint32_t core);
  bool run_in_random_order(std::uint64_t max_records);
  void push_record(std::uint32_t core, std::uint32_t queue, const Notification& record);
  void inject(std::uint32_t core, std::uint32_t engine, const Fault& fault);
  bool has_core(std::uint32_t core) const { return core < cores_.size(); }
  std::uint64_t time_ps() const;
  // After a write to a region that only keeps what is written.
  void kept(std::uint32_t kind) {
    if (kind == NRTP_ADDR_TABLE) table_version_.fetch_add(1, std::memory_order_release);
  }
  void nothing_at(const Origin& who, bool write, std::uint64_t pa, std::uint64_t bytes);
  void log(std::uint32_t level, const std::string& text) const;

  DeviceConfig config_;
  std::shared_ptr<DeviceMemory> memory_;
  AddressMap map_;
  RegisterStore store_;
  std::atomic<std::uint64_t> table_version_{0};
  std::uint64_t clock_start_ns_ = 0;

  // Positions taken from the arch plugin once.
  std::uint64_t event_base_ = 0;
  std::array<std::uint64_t, 4> semaphore_base_{};
  std::array<std::uint64_t, NRTP_MAX_ENGINES> nx_offset_{};   // NX block in a sequencer's region
  std::array<std::array<std::uint32_t, 8>, 2> queue_regs_{};  // page offset by side, register

  std::vector<std::unique_ptr<Core>> cores_;
  std::unique_ptr<DmaFabric> dma_;
  std::unique_ptr<Verifier> verifier_;
  std::unique_ptr<Inspector> inspector_;
  std::unique_ptr<FaultInjector> faults_;  // nullptr: none are asked for
  std::mutex order_mutex_;                 // one thread at a time in random order; guards random_
  std::mt19937_64 random_;
  std::atomic<std::uint32_t> reported_{0};             // error lines written to the log
  std::array<std::atomic<bool>, 256> reading_told_{};  // by opcode
};

}  // namespace opennrt::emu
