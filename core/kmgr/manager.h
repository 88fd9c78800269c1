// SPDX-License-Identifier: Apache-2.0
//
// KMGR, the exec manager of one initialised runtime: loaded models, their
// placement, and executions.
//
// Threading: every member may be called from any thread; the destructor after
// all calls returned.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "kmgr/async.h"
#include "kmgr/models.h"
#include "kmgr/tensors.h"
#include "kmgr/unit.h"
#include "neff/program.h"
#include "tdrv/tdrv.h"

namespace opennrt::kmgr {

struct StartOptions {
  tdrv::Bindings bindings;
  tdrv::BringUpOptions bring_up;
  // What a model file must fit, except what is chosen per load.
  neff::LoadLimits limits;
};

struct LoadOptions {
  std::int32_t logical_core = -1;  // -1: the one with the fewest models
  std::uint64_t exec_timeout_s = 30;
  bool validate_hash = false;
  bool allow_legacy = false;
};

class Manager {
 public:
  // Brings the devices up.
  static Result<std::unique_ptr<Manager>> start(const StartOptions& options);
  // Over a running TDRV; queue depth and cores as in `bring_up`. devices: of each
  // logical core, empty: all on one.
  static Result<std::unique_ptr<Manager>> over(std::unique_ptr<tdrv::Tdrv> tdrv,
                                               std::uint32_t logical_cores,
                                               std::uint32_t queue_depth,
                                               std::vector<std::uint32_t> devices = {});
  ~Manager();  // unloads all models, tears the devices down
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  std::uint32_t logical_cores() const { return static_cast<std::uint32_t>(units_.size()); }

  Result<TensorHandle> allocate_tensor(nrt_tensor_placement_t placement, std::int32_t logical_core,
                                       std::uint64_t bytes, std::string_view name);

  // Many ranges of many tensors. Nothing moves unless all of them are right.
  // unchecked: does not wait for executions that use the tensors.
  Status copy_batches(std::span<const nrt_tensor_batch_t> batches, tdrv::CopyDirection direction,
                      bool unchecked);
  // NRT_INVALID: no such core.
  Result<tdrv::MemoryUse> memory_use(std::int64_t logical_core);
  // Device or host memory of ours that is mapped around the address.
  std::optional<tdrv::MappedMemory> mapped_memory(const void* address) {
    return tdrv_->mapped_memory(address);
  }
  // Waits until everything submitted to a core before this call has ended.
  Status drain(std::int64_t logical_core);

  // NRT_INVALID, NRT_UNSUPPORTED_NEFF_VERSION, NRT_LOAD_NOT_ENOUGH_NC,
  // NRT_RESOURCE; nothing is left behind by a failure.
  Result<ModelId> load(std::span<const std::byte> neff, const LoadOptions& options);
  Result<ModelId> place(std::shared_ptr<const neff::Program> program, const LoadOptions& options);
  Status unload(ModelId id);
  Models::Reference find_model(ModelId id) { return models_.find(id); }
  std::vector<ModelId> model_ids() { return models_.ids(); }

  // Runs the model once. NRT_INVALID_HANDLE: not loaded. NRT_INVALID: a set is
  // none, or the input set has another number of tensors than the model has
  // inputs. NRT_EXEC_BAD_INPUT: a tensor is missing, without storage, too small
  // or on another core.
  Status execute(ModelId id, TensorSetHandle inputs, TensorSetHandle outputs);
  // The same with a filled binding.
  Status run(ModelRecord& record, Binding& binding);
  AsyncEngine& async() { return *async_; }

  // False after a failure that left the core in an unknown state.
  bool is_usable(std::uint32_t logical_core) const { return !units_[logical_core]->is_fatal(); }
  bool same_device(std::uint32_t a, std::uint32_t b) const { return devices_[a] == devices_[b]; }

 private:
  explicit Manager(std::unique_ptr<tdrv::Tdrv> tdrv) : tdrv_(std::move(tdrv)) {}
  Result<std::uint32_t> take_core(std::int32_t wanted);
  void give_core_back(std::uint32_t core);
  Status check_core(std::int64_t wanted) const;
  Status run_on(Unit::Slot& slot, ModelRecord& record, Binding& binding);

  std::unique_ptr<tdrv::Tdrv> tdrv_;
  neff::LoadLimits limits_;
  std::vector<std::unique_ptr<Unit>> units_;  // by logical core
  std::vector<std::uint32_t> devices_;        // by logical core
  Models models_;
  std::mutex usage_mutex_;
  std::vector<std::uint32_t> usage_;  // models per logical core
  // Models of a core in an unknown state: it may still read their memory.
  std::mutex stuck_mutex_;
  std::vector<std::shared_ptr<tdrv::Model>> stuck_;
  std::unique_ptr<AsyncEngine> async_;  // last: its workers use the others
};

}  // namespace opennrt::kmgr
