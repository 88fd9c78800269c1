// SPDX-License-Identifier: Apache-2.0
//
// TDRV, the device-driver core: the public face of this layer for KMGR.
// Bring-up and tear-down of the devices, device memory and tensors, staged
// models, and the life of one execution on one logical core.
//
// Threading: every member may be called from any thread unless it says
// otherwise. No lock is held while waiting for the device.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "nds/records.h"
#include "neff/program.h"
#include "nrt/nrt.h"
#include "opennrt/arch.h"
#include "opennrt/ndl.h"

namespace opennrt::tdrv {

// Plugin tables in use, valid until process exit.
struct Bindings {
  const nrtp_host* host = nullptr;
  const nrtp_ndl_ops* ndl = nullptr;
  void* ndl_ctx = nullptr;
  const nrtp_arch_plugin* arch = nullptr;
  const nrtp_product* product = nullptr;
  std::uint32_t platform = NRTP_PLATFORM_SILICON;
};

// A physical core: driver's device index and the core's index on that device.
struct PhysicalCore {
  std::uint32_t device = 0;
  std::uint32_t core = 0;
};

struct BringUpOptions {
  std::vector<std::vector<PhysicalCore>> logical_cores;  // process-local index -> its cores
  std::uint32_t lnc_size = 1;
  std::uint32_t form = 0;  // nrtp_ib_form; 0 = default of the arch
  bool reset_cores = true;
  std::uint32_t queue_depth = 8;  // executions of one logical core in flight, 1..63
  std::uint32_t self_test_timeout_ms = 10'000;
  // Checked only: the scratchpad is one contiguous region, which has no pages.
  std::uint64_t scratchpad_page_bytes = 512ull << 20;
  bool report_numerical_errors = false;  // a NaN record fails the execution with 1003
  // Instances of a model (same uuid) on one HBM use one copy of its constants.
  bool share_weights = false;
  nds::Process process;  // what monitoring programs are shown; its tag outlives the runtime
};

class Tensor;
class Model;
class Execution;
class IoStaging;

enum class StepResult { kInFlight, kDone, kFailed };

struct MemoryUse {
  std::uint64_t used = 0, limit = 0;
};

// Ranges of one tensor and the host memory they are copied from or to.
struct TensorRanges {
  Tensor* tensor = nullptr;
  std::span<const nrt_tensor_batch_op_t> ops;
};
enum class CopyDirection : std::uint32_t { kToTensor = 0, kFromTensor = 1 };

// Memory of ours that is mapped for the CPU.
struct MappedMemory {
  const void* begin = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t device = 0;  // driver's index
  std::uint32_t hbm = 0;
  bool on_device = false;
};

class Tdrv {
 public:
  // Opens the devices and leaves every core waiting in the ready program, its
  // self-test request answered. On failure everything done is undone.
  static Result<std::unique_ptr<Tdrv>> bring_up(const Bindings&, const BringUpOptions&);
  virtual ~Tdrv() = default;  // calls tear_down()
  // Stops all cores, frees what is left and closes the devices. Models and
  // device storage of tensors are gone afterwards. Idempotent.
  virtual void tear_down() = 0;

  // --- tensors: bytes without dtype or shape --------------------------------
  virtual Result<std::unique_ptr<Tensor>> allocate_tensor(nrt_tensor_placement_t placement,
                                                          std::uint32_t logical_core,
                                                          std::uint64_t bytes,
                                                          std::string_view name) = 0;

  // Checks every range before anything moves: NRT_INVALID. wait: for executions
  // that use the tensors, as read and write of a tensor do. Ranges of device
  // memory travel in one request per device where the driver can.
  virtual Status copy_ranges(std::span<const TensorRanges> tensors, CopyDirection direction,
                             bool wait) = 0;
  // What contains the address, if it is mapped.
  virtual std::optional<MappedMemory> mapped_memory(const void* address) = 0;

  // --- models ---------------------------------------------------------------
  // Places weights and scratch, builds rings and images, uploads them. A
  // failure leaves nothing behind.
  virtual Result<std::shared_ptr<Model>> stage(std::shared_ptr<const neff::Program> program,
                                               std::uint32_t logical_core,
                                               std::uint32_t model_id) = 0;
  // The model must be idle. If it is still the current program of a core the
  // caller has stopped it before (bind_stop).
  virtual Status unstage(std::shared_ptr<Model> model) = 0;
  // True when the logical core would still run this model's image at its gate.
  virtual bool is_current(const Model& model) const = 0;
  // True when an execution on the logical core was lost: what its engines do is
  // unknown until the core is reset.
  virtual bool is_lost(std::uint32_t logical_core) const = 0;

  // --- one execution ----------------------------------------------------------
  // Execution objects are reusable and preallocated: the steady path allocates
  // nothing. Order: bind -> arm -> kick -> step ... -> finish.
  virtual Result<std::unique_ptr<Execution>> make_execution(std::uint32_t logical_core) = 0;
  // What traces call this run from now on: its number on the logical core, and
  // the model.
  virtual void label(Execution&, std::uint64_t exec_id, std::uint32_t model_id) {
    static_cast<void>(exec_id), static_cast<void>(model_id);
  }
  // inputs/outputs: device tensors in the order of program().inputs/outputs.
  // NRT_EXEC_BAD_INPUT when a tensor is missing, too small or on another core.
  virtual Status bind(Execution& execution, Model& model, std::span<Tensor* const> inputs,
                      std::span<Tensor* const> outputs) = 0;
  // Request that switches the logical core back to the ready program.
  virtual Status bind_stop(Execution& execution) = 0;
  // Stages the request on every physical core. Calls for one logical core must
  // be serialised by the caller and made in execution order, arm and kick of
  // one execution together.
  virtual Status arm(Execution& execution) = 0;
  virtual Status kick(Execution& execution) = 0;
  // Never blocks. Must be called for one execution of a logical core at a time,
  // oldest first. On kFailed: status() of the execution tells why.
  virtual StepResult step(Execution& execution, std::uint64_t timeout_ms) = 0;
  virtual const Status& status(const Execution& execution) const = 0;
  // For the counters of monitoring programs: a call that never reached the core.
  virtual void count_failure(std::uint32_t logical_core, NRT_STATUS status) {
    static_cast<void>(logical_core), static_cast<void>(status);
  }
  // Releases tensor fences and the references taken by bind.
  virtual void finish(Execution& execution) = 0;
  // Waits about `us`, letting a software device run on this thread.
  virtual void relax(std::uint32_t us) = 0;

  // --- host tensors -------------------------------------------------------------
  // Device-side stand-ins for host tensors of one execution of a model: one
  // contiguous device area and one mapped host area, so that all inputs travel
  // in one copy request, and all outputs in one.
  virtual Result<std::unique_ptr<IoStaging>> make_io_staging(const Model& model) = 0;

  virtual Result<MemoryUse> memory_use(std::uint32_t logical_core) = 0;
};

// Executions that finished writing a view. Every view counts for itself.
class CompletionCount {
 public:
  CompletionCount() = default;
  CompletionCount(const CompletionCount&) noexcept {}
  CompletionCount& operator=(const CompletionCount&) = delete;
  std::uint64_t get() const { return count_.load(std::memory_order_seq_cst); }
  void add() { count_.fetch_add(1, std::memory_order_seq_cst); }
  void reset() { count_.store(0, std::memory_order_seq_cst); }

 private:
  std::atomic<std::uint64_t> count_{0};
};

// Device memory behind a view.
struct Allocation {
  std::uint64_t address = 0;  // device address of byte 0 of the view
  std::uint64_t bytes = 0;    // of the whole storage
  std::uint32_t hbm = 0;
};

// View of a storage. Views and storages are reference counted; the destructor
// drops one reference of the storage.
class Tensor {
 public:
  virtual ~Tensor() = default;
  virtual std::string_view name() const = 0;
  virtual std::uint64_t size() const = 0;  // bytes of the view
  virtual bool has_storage() const = 0;
  virtual bool is_device() const = 0;  // storage the device can address as a model tensor
  virtual std::int32_t logical_core() const = 0;  // -1: host memory
  // CPU address of byte 0 of the view, NULL without storage.
  virtual void* va() = 0;
  virtual Result<std::uint64_t> device_address() const = 0;
  virtual Result<Allocation> allocation() const = 0;  // NRT_INVALID: no device tensor

  // Waits for pending device writes, then copies. Ranges are checked:
  // NRT_INVALID. Zero bytes succeed.
  virtual Status read(void* out, std::uint64_t offset, std::uint64_t bytes) = 0;
  // Waits for pending device reads and writes, then copies.
  virtual Status write(const void* in, std::uint64_t offset, std::uint64_t bytes) = 0;
  virtual Status set(std::uint8_t value, std::uint64_t offset, std::uint64_t bytes) = 0;
  // Different HBM channels, both device: NRT_INVALID.
  virtual Status copy_from(Tensor& source, std::uint64_t source_offset, std::uint64_t offset,
                           std::uint64_t bytes) = 0;
  // New view of the same storage; offset is relative to this view.
  virtual Result<std::unique_ptr<Tensor>> slice(std::uint64_t offset, std::uint64_t bytes,
                                                std::string_view name) = 0;
  // Drops the old storage and uses the caller's buffer from now on.
  virtual Status attach(void* buffer, std::uint64_t bytes) = 0;
  // Fences of an execution, on the storage. Called by Tdrv.
  virtual void begin_access(bool write) = 0;
  virtual void end_access(bool write) = 0;

  CompletionCount completions;
  std::uint64_t trace_id = 0;  // what traces call it
};

// View without storage; needs no device.
Result<std::unique_ptr<Tensor>> make_empty_tensor(std::string_view name);

// A program staged on one logical core.
class Model {
 public:
  virtual ~Model() = default;
  virtual const neff::Program& program() const = 0;
  virtual std::uint32_t logical_core() const = 0;
  virtual std::uint32_t model_id() const = 0;
};

// Told during step() what the program reports before it ends.
class ExecutionListener {
 public:
  virtual void output_finished(std::size_t output) = 0;  // index in program().outputs

 protected:
  ~ExecutionListener() = default;
};

class Execution {
 public:
  virtual ~Execution() = default;
  ExecutionListener* listener = nullptr;  // of the next runs; NULL: nobody
};

class IoStaging {
 public:
  virtual ~IoStaging() = default;
  // Stand-ins in the order of program().inputs / outputs.
  virtual std::span<Tensor* const> inputs() = 0;
  virtual std::span<Tensor* const> outputs() = 0;
  // host[i] == nullptr: that tensor is not a host tensor and is left alone. One
  // copy request moves all of them.
  virtual Status copy_in(std::span<Tensor* const> host) = 0;
  virtual Status copy_out(std::span<Tensor* const> host) = 0;
};

}  // namespace opennrt::tdrv
