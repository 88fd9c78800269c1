// SPDX-License-Identifier: Apache-2.0
//
// One execution on one logical core: bind -> arm -> kick -> step ... -> finish.
// Reusable; nothing is allocated when it is bound to the same tensors again.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "tdrv/execution_errors.h"
#include "tdrv/io_rings.h"
#include "tdrv/logical_core.h"
#include "tdrv/model.h"
#include "tdrv/tdrv.h"
#include "tdrv/tensor.h"

namespace opennrt::tdrv {

// Device time of a record. On cayman and on the software device the unit is
// 1 ps (device profiles); sunda counts in engine clocks that differ by queue,
// and traces there carry its raw value scaled the same way.
constexpr std::uint64_t device_ns(std::uint64_t timestamp) { return timestamp / 1000; }

// How a run went on one physical core.
struct CoreOutcome {
  NRT_STATUS status = NRT_SUCCESS;  // highest rank
  std::uint32_t errors = 0;         // bits of DeviceError
  // Device time of the earliest START and the latest END, raw units.
  std::uint64_t start = UINT64_MAX, end = 0;
};

class ExecutionImpl final : public Execution {
 public:
  explicit ExecutionImpl(LogicalCore& logical);
  ~ExecutionImpl() override { finish(); }

  Status bind(ModelImpl& model, std::span<Tensor* const> inputs, std::span<Tensor* const> outputs);
  void label(std::uint64_t exec_id, std::uint32_t model_id) {
    exec_id_ = exec_id;
    model_id_ = model_id;
  }
  Status bind_stop();
  Status arm();
  Status kick();
  StepResult step(std::uint64_t timeout_ms);
  void finish();

  const Status& status() const { return status_; }
  LogicalCore& logical() const { return *logical_; }
  const CoreOutcome& outcome(std::size_t core) const { return cores_[core].outcome; }
  // Device time of the earliest START and the latest END, raw units.
  std::uint64_t device_start() const { return device_start_; }
  std::uint64_t device_end() const { return device_end_; }

 private:
  enum class State { kIdle, kBound, kArmed, kRunning, kDone, kFailed };
  enum class EngineState : std::uint8_t { kStartPending, kEndPending, kComplete };
  struct CoreState {
    std::array<EngineState, neff::kEngines> engines{};
    std::uint32_t descriptors = 0;
    CoreOutcome outcome;
  };

  Status check_tensor(const ModelImpl& model, const Tensor* tensor, const neff::TensorInfo& info,
                      const char* role) const;
  const char* program_name() const;
  std::uint64_t now_ns() const;
  // Keeps the highest rank.
  void record(std::size_t core, NRT_STATUS code, std::string message);
  // Reads what has arrived. True: something has.
  bool collect();
  bool consume(std::size_t core, std::uint32_t engine, const Notification& record);
  void consume_custom(std::size_t core, std::uint32_t engine, const Notification& record);
  void publish_debug_tensor(std::size_t core, std::uint32_t engine, const Notification& record);
  void sweep_errors();
  void consume_error(std::size_t core, const Notification& record);
  bool complete() const;
  std::string missing() const;
  std::string cores_missing() const;
  // Asks driver and device; appends what it found.
  HangEvidence hang_evidence(std::string& found) const;
  // For an engine that has not ended: what its program waits for.
  void append_open_wait(const CoreNode& core, std::size_t subgraph, std::uint32_t engine,
                        std::string& out) const;
  // Coverage of the outputs, when a software device checks it.
  void expect_outputs() const;
  void check_outputs();
  // For inspection: where the tensors of this execution lie.
  void announce_tensors() const;
  // Engines and what they wait for, when no part of a software device can move.
  std::string deadlock() const;
  // "image slot 37, sg00/SP.bin instruction 5": what stands at a program counter.
  std::string place_of(std::size_t core, std::uint32_t engine, std::uint64_t address) const;
  // Counters of monitoring programs: how the run ended on each physical core.
  void tell_store() const;
  // Device events of the run, when somebody records them.
  void trace_run(bool ended) const;
  StepResult finish_ok();
  StepResult lose(NRT_STATUS code, std::string_view what);  // the core is unusable afterwards

  LogicalCore* logical_;
  // Physical cores of this run: one per subgraph, all of them for a stop.
  std::size_t used_ = 0;
  State state_ = State::kIdle;
  bool stop_ = false;
  std::shared_ptr<ModelImpl> model_;
  std::shared_ptr<IoBinding> io_;
  std::vector<std::uint64_t> key_;
  std::vector<std::shared_ptr<Storage>> reads_, writes_;
  std::vector<CoreState> cores_;
  Status status_;
  bool engine_stopped_ = false;  // an error record says an engine will not finish
  bool order_broken_ = false;
  std::uint64_t stuck_asked_ns_ = 0;  // when the software device was last asked
  bool was_stuck_ = false;            // its answers
  std::uint64_t progress_seen_ = 0;
  std::uint64_t kicked_ns_ = 0;
  std::uint64_t idle_since_ns_ = 0;  // 0: there was progress in the last step
  std::uint64_t device_start_ = 0, device_end_ = 0;
  std::uint64_t switch_start_ = 0, switch_end_ = 0;  // 0: no model switch reported
  std::uint64_t exec_id_ = 0;                        // of traces
  std::uint32_t model_id_ = 0;
};

}  // namespace opennrt::tdrv
