// SPDX-License-Identifier: Apache-2.0
//
// Execution unit: what runs programs on one logical core, in submission order,
// on the threads of the callers. The thread whose execution is the oldest in
// flight drives the device; the others sleep until it is their turn.
//
// Threading: every member may be called from any thread. Lock order: submit,
// then queue. No lock is held while waiting for the device.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/status.h"
#include "kmgr/tensors.h"
#include "tdrv/tdrv.h"

namespace opennrt::kmgr {

class Unit {
 public:
  // Place of one execution, reused. The arrays are scratch for its user, so
  // that the steady path allocates nothing.
  struct Slot {
    std::unique_ptr<tdrv::Execution> execution;
    std::vector<tdrv::Tensor*> inputs, outputs;            // what the device uses
    std::vector<tdrv::Tensor*> host_inputs, host_outputs;  // what the caller gave
    std::vector<Tensors::Pin> pins;                        // of both
    // What traces call the run; 0 and 0 for one of the unit itself.
    std::uint64_t exec_id = 0;
    std::uint32_t model_id = 0;

   private:
    friend class Unit;
    std::condition_variable turn;
    Slot* next = nullptr;  // in flight, or free
  };

  // depth: executions in flight at most.
  static Result<std::unique_ptr<Unit>> create(tdrv::Tdrv& tdrv, std::uint32_t logical_core,
                                              std::uint32_t depth);

  // Waits for a free place.
  Slot& acquire();
  void release(Slot& slot);
  class Lease {
   public:
    explicit Lease(Unit& unit) : unit_(unit), slot_(unit.acquire()) {}
    ~Lease() { unit_.release(slot_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Slot& operator*() const { return slot_; }
    Slot* operator->() const { return &slot_; }

   private:
    Unit& unit_;
    Slot& slot_;
  };

  // Runs the model once on slot.inputs / slot.outputs and waits.
  // NRT_EXEC_UNIT_UNRECOVERABLE: an earlier execution left the core in an
  // unknown state.
  Status run(Slot& slot, tdrv::Model& model, std::uint64_t timeout_ms);
  // Waits until everything submitted before this call has ended.
  void settle();
  // Brings the core back to the ready program, after everything in flight.
  Status stop(std::uint64_t timeout_ms);

  std::uint64_t next_exec_id() { return 1 + exec_ids_.fetch_add(1, std::memory_order_relaxed); }

  bool is_fatal() const { return fatal_.load(std::memory_order_acquire); }

 private:
  Unit(tdrv::Tdrv& tdrv, std::uint32_t logical_core) : tdrv_(tdrv), logical_core_(logical_core) {}
  Status submit(Slot& slot);
  Status complete(Slot& slot, std::uint64_t timeout_ms);
  Status drive(Slot& slot, std::uint64_t timeout_ms);
  Status unrecoverable() const;

  tdrv::Tdrv& tdrv_;
  const std::uint32_t logical_core_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::atomic<bool> fatal_{false};
  std::atomic<std::uint64_t> exec_ids_{0};
  std::mutex submit_mutex_;  // arm and kick of one execution, in queue order
  std::mutex queue_mutex_;   // guards the lists below
  std::condition_variable slot_free_;
  Slot* free_ = nullptr;
  Slot* oldest_ = nullptr;  // in flight, submission order
  Slot* newest_ = nullptr;
  std::uint64_t submitted_ = 0, ended_ = 0;
  std::condition_variable one_ended_;
};

}  // namespace opennrt::kmgr
