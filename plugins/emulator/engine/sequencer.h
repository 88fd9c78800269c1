// SPDX-License-Identifier: Apache-2.0
//
// One instruction sequencer (PE, ACT, POOL, DVE or SP) of a core: a state
// machine over 64-byte records fetched from device memory, one record at a
// time: waits, effect, update.
//
// Threading: everything under the core's run token, except the start registers,
// which any thread may use.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <string>

#include "device/bus.h"
#include "engine/decode.h"
#include "engine/generated_transfer.h"

namespace opennrt::emu {

class Sequencer {
 public:
  static constexpr std::uint32_t kRegisters = EngineState::kRegisters;

  // `sync` is the bank of the core.
  void configure(Bus* bus, SyncBank* sync, std::uint32_t core, std::uint32_t engine);

  // Executes records until the engine blocks, stops or records of the weight
  // `budget` have retired. Returns their weight; a start counts as one.
  std::uint64_t run(std::uint64_t budget);

  // Start registers, any thread. start_ctrl 1: a stopped engine starts at the
  // start address, a running one continues after its next HALT.
  void set_start_ctrl(std::uint32_t v) { start_ctrl_.store(v, std::memory_order_release); }
  void set_start_lo(std::uint32_t v) { start_lo_.store(v, std::memory_order_release); }
  void set_start_hi(std::uint32_t v) { start_hi_.store(v, std::memory_order_release); }
  std::uint32_t start_ctrl() const { return start_ctrl_.load(std::memory_order_acquire); }
  std::uint32_t start_lo() const { return start_lo_.load(std::memory_order_acquire); }
  std::uint32_t start_hi() const { return start_hi_.load(std::memory_order_acquire); }

  void reset();
  // Does nothing any more until a reset; from a handler of the engine.
  void hang() {
    running_ = false;
    hung_ = true;
  }
  // Stops, or is not started any more, when its next instruction lies in `gone`;
  // under the run token.
  void end_program(std::span<const MemoryRange> gone);
  // Device memory was given back; under the run token.
  void memory_freed(std::uint64_t address, std::uint64_t bytes) { cache_.forget(address, bytes); }

  // "PE at 0x1040 waits for semaphore 2 == 8 (value 5)"; empty when stopped.
  std::string describe() const;
  // "waits for semaphore 2 == 8 (value 5)", "stopped by an error" or "runs";
  // empty when stopped.
  std::string describe_state() const;

  // New slots reached since the engine was started or sent its last START
  // record. Unlike the records retired it stands still in an endless loop.
  std::uint64_t slots_reached() const { return slots_reached_.load(std::memory_order_relaxed); }

  std::uint64_t program_counter() const { return pc_; }
  bool running() const { return running_; }
  bool failed() const { return failed_; }

  // For the handlers.
  Bus& bus() { return *bus_; }
  SyncBank& sync() { return *sync_; }
  // nullptr: nothing is verified.
  Verifier* verifier() { return verifier_; }
  EngineState& state() { return state_; }
  std::uint32_t core() const { return state_.core; }
  std::uint32_t engine() const { return state_.engine; }
  Origin origin() const {
    return {
        .kind = Origin::Kind::kEngine, .core = core(), .unit = engine(), .queue = 0, .slot = pc_};
  }
  Origin generator(std::uint64_t slot) const {
    return {.kind = Origin::Kind::kGenerator,
            .core = core(),
            .unit = engine(),
            .queue = 0,
            .slot = slot};
  }
  // Takes and clears a written start_ctrl.
  bool take_arm() {
    std::uint32_t expected = 1;
    return start_ctrl_.compare_exchange_strong(expected, 0, std::memory_order_acq_rel);
  }
  void jump(std::uint64_t target) { pc_ = target; }
  // Registers 0..63 and the argument-table pair; nullptr for other numbers.
  std::uint32_t* reg(std::uint32_t number);
  const std::uint32_t* reg(std::uint32_t number) const {
    return const_cast<Sequencer*>(this)->reg(number);
  }
  bool wait_holds(std::uint32_t mode, std::uint32_t index, std::uint32_t value) const;
  // Sets the wait that run() asks for before it looks at the record again.
  Outcome block_on(std::uint32_t mode, std::uint32_t index, std::uint32_t value) {
    blocked_on_ = {mode, index, value};
    return Outcome::kBlocked;
  }
  // Second half of the event modes that consume; false: somebody was faster.
  bool consume(std::uint32_t mode, std::uint32_t index);
  void undo_consume(std::uint32_t mode, std::uint32_t index);
  void set_semaphore(std::uint32_t index, std::int32_t value) {
    sync_->set_semaphore(index, value);
    if (verifier_) [[unlikely]]
      tell_semaphore_set(index, value);
  }
  void update(std::uint32_t mode, std::uint32_t index, std::uint32_t value);
  // A record in the engine's status queue.
  void notify(std::uint32_t kind, std::uint32_t sub_id, std::uint32_t hint);
  // What a wait of this engine that holds says to the verifier.
  void note_wait(std::uint32_t mode, std::uint32_t index, std::uint32_t value);
  // Descriptor generator: `transfer` now, or later when the order is random.
  void start_transfer(const GeneratedTransfer& transfer);
  // Room for an indirect transfer that keeps its memory from record to record.
  GeneratedTransfer& indirect_transfer() { return indirect_; }
  bool perform_pending_transfer();
  // Stops with an error record: "<engine> at <slot>: opcode <op>: <text>".
  Outcome fail(std::uint32_t opcode, const std::string& text);

 private:
  struct Wait {
    std::uint32_t mode = 0, index = 0, value = 0;
  };

  bool step();
  void tell_semaphore_set(std::uint32_t index, std::int32_t value);
  void tell_verifier(const isa::Header& h, const Decoded& d);
  bool decode(Decoded* d, const std::uint8_t* memory);
  void perform(const GeneratedTransfer& transfer);
  std::uint64_t start_address() const;

  Bus* bus_ = nullptr;
  SyncBank* sync_ = nullptr;
  const AddressMap* map_ = nullptr;
  Verifier* verifier_ = nullptr;
  Wait blocked_on_;  // mode 0: on nothing
  EngineState state_;
  isa::Generation generation_ = isa::Generation::kSunda;
  bool running_ = false, failed_ = false, hung_ = false;
  std::uint64_t pc_ = 0;
  std::uint64_t furthest_ = 0;  // highest slot since then
  std::atomic<std::uint64_t> slots_reached_{0};
  std::uint32_t arg_table_[2] = {};
  std::atomic<std::uint32_t> start_ctrl_{0}, start_lo_{0}, start_hi_{0};
  DecodeCache cache_;
  Inspector* inspector_ = nullptr;
  std::uint64_t weight_ = 1;  // of the last record
  bool defer_transfers_ = false;
  std::deque<GeneratedTransfer> pending_transfers_;
  GeneratedTransfer indirect_;
};

// "PE", "ACT", ...
const char* engine_name(std::uint32_t engine);

// Modes the device knows.
bool valid_wait_mode(std::uint32_t mode);
bool valid_update_mode(std::uint32_t mode);

}  // namespace opennrt::emu
