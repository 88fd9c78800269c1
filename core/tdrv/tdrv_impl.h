// SPDX-License-Identifier: Apache-2.0
//
// The TDRV object: devices, cores and what has been staged on them. Bring-up is
// a table of steps over devices, cores and logical cores; each completed step
// is remembered so that tear-down, and a failed bring-up, undo exactly those in
// reverse order.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "tdrv/execution.h"
#include "tdrv/logical_core.h"
#include "tdrv/tdrv.h"

namespace opennrt::tdrv {

class TdrvImpl final : public Tdrv {
 public:
  TdrvImpl(const Bindings& bindings, const BringUpOptions& options)
      : bindings_(bindings), options_(options) {}
  ~TdrvImpl() override { TdrvImpl::tear_down(); }

  Status run_bring_up();
  void tear_down() override;

  Result<std::unique_ptr<Tensor>> allocate_tensor(nrt_tensor_placement_t placement,
                                                  std::uint32_t logical_core, std::uint64_t bytes,
                                                  std::string_view name) override;
  Status copy_ranges(std::span<const TensorRanges> tensors, CopyDirection direction,
                     bool wait) override;
  std::optional<MappedMemory> mapped_memory(const void* address) override;
  Result<std::shared_ptr<Model>> stage(std::shared_ptr<const neff::Program> program,
                                       std::uint32_t logical_core, std::uint32_t model_id) override;
  Status unstage(std::shared_ptr<Model> model) override;
  bool is_current(const Model& model) const override;
  bool is_lost(std::uint32_t logical_core) const override;
  Result<std::unique_ptr<Execution>> make_execution(std::uint32_t logical_core) override;
  Status bind(Execution& execution, Model& model, std::span<Tensor* const> inputs,
              std::span<Tensor* const> outputs) override;
  void label(Execution& execution, std::uint64_t exec_id, std::uint32_t model_id) override;
  Status bind_stop(Execution& execution) override;
  Status arm(Execution& execution) override;
  Status kick(Execution& execution) override;
  StepResult step(Execution& execution, std::uint64_t timeout_ms) override;
  const Status& status(const Execution& execution) const override;
  void count_failure(std::uint32_t logical_core, NRT_STATUS status) override;
  void finish(Execution& execution) override;
  void relax(std::uint32_t us) override;
  Result<std::unique_ptr<IoStaging>> make_io_staging(const Model& model) override;
  Result<MemoryUse> memory_use(std::uint32_t logical_core) override;

 private:
  struct CoreEntry {
    std::unique_ptr<CoreNode> node;
    std::size_t device = 0;  // index in devices_
    std::uint32_t lnc_rank = 0, peer_core = 0;
    LogicalCore* logical = nullptr;
  };
  enum class Scope { kProcess, kDevice, kCore, kLogicalCore };
  struct Step {
    const char* name;
    Scope scope;
    Status (TdrvImpl::*up)(std::size_t item);
    void (TdrvImpl::*down)(std::size_t item);  // NULL: nothing to undo
  };
  struct Done {
    const Step* step;
    std::size_t item;
  };
  static std::span<const Step> steps();
  std::size_t items(Scope scope) const;

  Status check_options(std::size_t);
  Status open_device(std::size_t device);
  void close_device(std::size_t device);
  Status reset_device(std::size_t device);
  Status create_allocator(std::size_t core);
  void release_core(std::size_t core);
  Status register_regions(std::size_t device);
  Status attach_arch(std::size_t device);
  void detach_arch(std::size_t device);
  Status initialise_hal(std::size_t core);
  void finish_hal(std::size_t core);
  Status create_notification_queues(std::size_t core);
  void destroy_notification_queues(std::size_t core);
  Status create_exec_queue(std::size_t core);
  Status create_scratchpad(std::size_t core);
  Status place_ready_program(std::size_t core);
  Status guard_halt(std::size_t device);
  void halt_device(std::size_t device);
  Status start_ready_program(std::size_t logical);
  void stop_logical_core(std::size_t logical);

  Status run_to_end(ExecutionImpl& execution, std::uint64_t timeout_ms);
  Result<LogicalCore*> logical(std::uint32_t index);
  std::uint32_t core_mask(std::size_t device) const;
  void release_models();

  Bindings bindings_;
  BringUpOptions options_;
  std::uint32_t form_ = 0;
  std::vector<std::unique_ptr<DeviceNode>> devices_;
  std::vector<CoreEntry> cores_;
  std::vector<std::unique_ptr<LogicalCore>> logical_;
  std::vector<Done> done_;
  std::mutex models_mutex_;  // guards models_ and models_sweep_at_
  std::vector<std::weak_ptr<ModelImpl>> models_;
  // Size at which entries of models that are gone are dropped: rare enough that
  // many models at once cost no more each than few.
  static constexpr std::size_t kFewModels = 64;
  std::size_t models_sweep_at_ = kFewModels;
  std::shared_ptr<std::atomic<bool>> batch_copy_refused_ =
      std::make_shared<std::atomic<bool>>(false);
};

}  // namespace opennrt::tdrv
