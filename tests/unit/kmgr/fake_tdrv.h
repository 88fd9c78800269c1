// SPDX-License-Identifier: Apache-2.0
//
// A device-driver core without a device: an execution ends after a given number
// of steps, and its "program" adds 1 to every input byte. Calls are recorded and
// misuse (two threads stepping, wrong order) is counted.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tdrv/tdrv.h"

namespace opennrt::kmgr {

class FakeTensor final : public tdrv::Tensor {
 public:
  FakeTensor(std::string name, std::uint64_t bytes, bool device, std::int32_t core)
      : name_(std::move(name)),
        storage_(bytes != 0 ? std::make_shared<std::vector<std::uint8_t>>(bytes) : nullptr),
        bytes_(bytes),
        device_(device),
        core_(core) {}
  std::string_view name() const override { return name_; }
  std::uint64_t size() const override { return bytes_; }
  bool has_storage() const override { return storage_ != nullptr || attached_ != nullptr; }
  bool is_device() const override { return device_; }
  std::int32_t logical_core() const override { return core_; }
  void* va() override {
    if (attached_ != nullptr) return attached_;
    return storage_ ? storage_->data() + offset_ : nullptr;
  }
  Result<std::uint64_t> device_address() const override { return Status::invalid("fake"); }
  Result<tdrv::Allocation> allocation() const override {
    if (!device_) return Status::invalid("fake");
    return tdrv::Allocation{.address = 0x1000 + offset_, .bytes = storage_->size(), .hbm = 0};
  }
  Status read(void* out, std::uint64_t offset, std::uint64_t bytes) override {
    ONRT_TRY(check(offset, bytes));
    std::memcpy(out, static_cast<std::uint8_t*>(va()) + offset, bytes);
    return {};
  }
  Status write(const void* in, std::uint64_t offset, std::uint64_t bytes) override {
    ONRT_TRY(check(offset, bytes));
    std::memcpy(static_cast<std::uint8_t*>(va()) + offset, in, bytes);
    return {};
  }
  Status set(std::uint8_t value, std::uint64_t offset, std::uint64_t bytes) override {
    ONRT_TRY(check(offset, bytes));
    std::memset(static_cast<std::uint8_t*>(va()) + offset, value, bytes);
    return {};
  }
  Status copy_from(tdrv::Tensor& source, std::uint64_t source_offset, std::uint64_t offset,
                   std::uint64_t bytes) override {
    std::vector<std::uint8_t> buffer(bytes);
    ONRT_TRY(source.read(buffer.data(), source_offset, bytes));
    return write(buffer.data(), offset, bytes);
  }
  Result<std::unique_ptr<tdrv::Tensor>> slice(std::uint64_t offset, std::uint64_t bytes,
                                              std::string_view name) override {
    auto view = std::make_unique<FakeTensor>(*this);
    view->name_ = name;
    view->offset_ += offset;
    view->bytes_ = bytes;
    return std::unique_ptr<tdrv::Tensor>(std::move(view));
  }
  Status attach(void* buffer, std::uint64_t bytes) override {
    storage_ = nullptr;
    attached_ = buffer;
    bytes_ = bytes;
    device_ = false;
    return {};
  }
  void begin_access(bool) override {}
  void end_access(bool) override {}

 private:
  Status check(std::uint64_t offset, std::uint64_t bytes) const {
    if (!has_storage() || offset > bytes_ || bytes > bytes_ - offset)
      return Status::invalid("range");
    return {};
  }
  std::string name_;
  std::shared_ptr<std::vector<std::uint8_t>> storage_;
  void* attached_ = nullptr;
  std::uint64_t offset_ = 0, bytes_ = 0;
  bool device_ = false;
  std::int32_t core_ = -1;
};

class FakeModel final : public tdrv::Model {
 public:
  FakeModel(std::shared_ptr<const neff::Program> program, std::uint32_t core, std::uint32_t id)
      : program_(std::move(program)), core_(core), id_(id) {}
  const neff::Program& program() const override { return *program_; }
  std::uint32_t logical_core() const override { return core_; }
  std::uint32_t model_id() const override { return id_; }

 private:
  std::shared_ptr<const neff::Program> program_;
  std::uint32_t core_, id_;
};

struct FakeExecution final : tdrv::Execution {
  std::uint32_t core = 0;
  FakeModel* model = nullptr;  // nullptr: stop
  std::vector<tdrv::Tensor*> inputs, outputs;
  std::uint64_t number = 0;  // order of the kick on its core
  int steps_left = 0;
  Status status;
};

class FakeTdrv final : public tdrv::Tdrv {
 public:
  // What the next steps and calls do; set before use.
  std::atomic<int> steps_per_execution{3};
  std::atomic<bool> lost{false};
  std::vector<std::size_t> reports;  // outputs a program says it has finished, at its first step
  std::function<Status(std::uint64_t number)> outcome;  // of the n-th kick, 1-based
  std::function<Status()> on_stage, on_bind, on_arm, on_kick, on_unstage, on_staging;

  // Observations.
  std::atomic<int> misuse{0}, live_models{0}, stops{0}, torn_down{0}, stagings{0}, copies_in{0},
      copies_out{0}, binds{0}, finishes{0}, waited_batches{0};
  std::mutex mutex;
  std::vector<std::string> calls;

  void tear_down() override { ++torn_down; }
  Result<std::unique_ptr<tdrv::Tensor>> allocate_tensor(nrt_tensor_placement_t placement,
                                                        std::uint32_t core, std::uint64_t bytes,
                                                        std::string_view name) override;
  Status copy_ranges(std::span<const tdrv::TensorRanges> tensors, tdrv::CopyDirection direction,
                     bool wait) override;
  std::optional<tdrv::MappedMemory> mapped_memory(const void*) override { return std::nullopt; }
  Result<std::shared_ptr<tdrv::Model>> stage(std::shared_ptr<const neff::Program> program,
                                             std::uint32_t core, std::uint32_t id) override;
  Status unstage(std::shared_ptr<tdrv::Model> model) override;
  bool is_current(const tdrv::Model& model) const override;
  bool is_lost(std::uint32_t) const override { return lost; }
  Result<std::unique_ptr<tdrv::Execution>> make_execution(std::uint32_t core) override;
  Status bind(tdrv::Execution&, tdrv::Model&, std::span<tdrv::Tensor* const>,
              std::span<tdrv::Tensor* const>) override;
  Status bind_stop(tdrv::Execution&) override;
  Status arm(tdrv::Execution&) override;
  Status kick(tdrv::Execution&) override;
  tdrv::StepResult step(tdrv::Execution&, std::uint64_t timeout_ms) override;
  const Status& status(const tdrv::Execution& e) const override {
    return static_cast<const FakeExecution&>(e).status;
  }
  void finish(tdrv::Execution&) override { ++finishes; }
  void relax(std::uint32_t) override;
  Result<std::unique_ptr<tdrv::IoStaging>> make_io_staging(const tdrv::Model& model) override;
  Result<tdrv::MemoryUse> memory_use(std::uint32_t) override { return tdrv::MemoryUse{}; }

 private:
  struct Core {
    std::uint64_t kicked = 0, finished = 0;
    const tdrv::Model* current = nullptr;
    bool stepping = false;
    FakeExecution* armed = nullptr;
  };
  mutable std::mutex core_mutex_;
  std::map<std::uint32_t, Core> cores_;
};

// A program with the given tensors (name -> bytes) and nothing to run.
std::shared_ptr<const neff::Program> fake_program(
    const std::string& name, const std::map<std::string, std::uint64_t>& inputs,
    const std::map<std::string, std::uint64_t>& outputs);

}  // namespace opennrt::kmgr
