// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>

#include "log/log.h"
#include "tdrv/io_staging.h"
#include "tdrv/tdrv_impl.h"
#include "tdrv/tensor.h"

namespace opennrt::tdrv {
namespace {

ExecutionImpl& impl(Execution& execution) { return static_cast<ExecutionImpl&>(execution); }

}  // namespace

Result<LogicalCore*> TdrvImpl::logical(std::uint32_t index) {
  if (done_.empty()) return Status::make(NRT_CLOSED, "the devices have been closed");
  if (index >= logical_.size()) {
    return Status::invalid("logical core {}: this process has {}", index, logical_.size());
  }
  return logical_[index].get();
}

// --- tensors --------------------------------------------------------------------

Result<std::unique_ptr<Tensor>> TdrvImpl::allocate_tensor(nrt_tensor_placement_t placement,
                                                          std::uint32_t logical_core,
                                                          std::uint64_t bytes,
                                                          std::string_view name) {
  if (bytes == 0) return Status::invalid("tensor '{}': size 0", name);
  std::shared_ptr<Storage> storage;
  switch (placement) {
    case NRT_TENSOR_PLACEMENT_DEVICE:
    case NRT_TENSOR_PLACEMENT_HOST: {
      const bool host = placement == NRT_TENSOR_PLACEMENT_HOST;
      ONRT_ASSIGN(LogicalCore * owner, logical(logical_core));
      if (host && bytes > kHostTensorLimit) {
        return Status::resource(
            "tensor '{}': {} bytes of DMA-able host memory, the limit is {}; use placement VIRTUAL",
            name, bytes, kHostTensorLimit);
      }
      ONRT_ASSIGN(DmemPtr memory, owner->cores.front()->allocator()->allocate(
                                      {.bytes = bytes,
                                       .location = host ? Location::kHost : Location::kDevice,
                                       .usage = Usage::kTensor,
                                       .hint = name}));
      storage = std::make_shared<Storage>(std::move(memory),
                                          host ? -1 : static_cast<std::int32_t>(logical_core));
      break;
    }
    case NRT_TENSOR_PLACEMENT_VIRTUAL: {
      if (bytes > (1ull << 46)) return Status::resource("tensor '{}': {} bytes", name, bytes);
      std::unique_ptr<std::byte[]> heap(new (std::nothrow) std::byte[bytes]);
      if (!heap) return Status::resource("tensor '{}': no host memory for {} bytes", name, bytes);
      storage = std::make_shared<Storage>(std::move(heap), bytes);
      break;
    }
    default:
      return Status::invalid("tensor '{}': placement {} is unknown", name,
                             static_cast<int>(placement));
  }
  return std::unique_ptr<Tensor>(std::make_unique<TensorImpl>(name, std::move(storage), 0, bytes));
}

// --- models ---------------------------------------------------------------------

Result<std::shared_ptr<Model>> TdrvImpl::stage(std::shared_ptr<const neff::Program> program,
                                               std::uint32_t logical_core, std::uint32_t model_id) {
  ONRT_ASSIGN(LogicalCore * owner, logical(logical_core));
  if (program == nullptr) return Status::invalid("model {}: no program", model_id);
  auto model = std::make_shared<ModelImpl>(std::move(program), *owner, model_id);
  ONRT_TRY(model->stage(form_));
  const std::lock_guard lock(models_mutex_);
  if (models_.size() >= models_sweep_at_) {
    std::erase_if(models_, [](const auto& m) { return m.expired(); });
    models_sweep_at_ = std::max(kFewModels, 2 * models_.size());
  }
  models_.push_back(model);
  return std::shared_ptr<Model>(std::move(model));
}

Status TdrvImpl::unstage(std::shared_ptr<Model> model) {
  if (model == nullptr) return Status::invalid("no model to unstage");
  auto& staged = static_cast<ModelImpl&>(*model);
  if (const std::uint32_t n = staged.executions.load(std::memory_order_acquire); n != 0) {
    return Status::failure("model '{}' has {} executions in flight", staged.program().name, n);
  }
  if (is_current(staged)) {
    return Status::failure(
        "model '{}' is still loaded in the engines of logical core {}: stop it "
        "first",
        staged.program().name, staged.logical_core());
  }
  staged.release();
  return Status::ok();
}

bool TdrvImpl::is_current(const Model& model) const {
  const auto& staged = static_cast<const ModelImpl&>(model);
  // Nothing runs any more on a core that lost an execution.
  return !staged.released() && !staged.logical().dead.load(std::memory_order_relaxed) &&
         staged.logical().holds(&staged);
}

bool TdrvImpl::is_lost(std::uint32_t logical_core) const {
  return logical_core < logical_.size() &&
         logical_[logical_core]->dead.load(std::memory_order_relaxed);
}

// --- executions -----------------------------------------------------------------

Result<std::unique_ptr<Execution>> TdrvImpl::make_execution(std::uint32_t logical_core) {
  ONRT_ASSIGN(LogicalCore * owner, logical(logical_core));
  return std::unique_ptr<Execution>(std::make_unique<ExecutionImpl>(*owner));
}

Status TdrvImpl::bind(Execution& execution, Model& model, std::span<Tensor* const> inputs,
                      std::span<Tensor* const> outputs) {
  Status status = impl(execution).bind(static_cast<ModelImpl&>(model), inputs, outputs);
  if (!status.is_ok()) count_failure(model.logical_core(), status.code());
  return status;
}

void TdrvImpl::label(Execution& execution, std::uint64_t exec_id, std::uint32_t model_id) {
  impl(execution).label(exec_id, model_id);
}

Status TdrvImpl::bind_stop(Execution& execution) { return impl(execution).bind_stop(); }
Status TdrvImpl::arm(Execution& execution) { return impl(execution).arm(); }
Status TdrvImpl::kick(Execution& execution) { return impl(execution).kick(); }

StepResult TdrvImpl::step(Execution& execution, std::uint64_t timeout_ms) {
  return impl(execution).step(timeout_ms);
}

const Status& TdrvImpl::status(const Execution& execution) const {
  return static_cast<const ExecutionImpl&>(execution).status();
}

void TdrvImpl::count_failure(std::uint32_t logical_core, NRT_STATUS status) {
  if (logical_core >= logical_.size()) return;
  CoreNode& core = *logical_[logical_core]->cores.front();
  core.device().store().call_failed(core.core(), status);
}

void TdrvImpl::finish(Execution& execution) { impl(execution).finish(); }

void TdrvImpl::relax(std::uint32_t us) { bindings_.ndl->misc->sleep_us(bindings_.ndl_ctx, us); }

// --- host tensors and statistics ------------------------------------------------

Result<std::unique_ptr<IoStaging>> TdrvImpl::make_io_staging(const Model& model) {
  const auto& staged = static_cast<const ModelImpl&>(model);
  if (staged.released()) {
    return Status::make(NRT_INVALID_HANDLE, "model '{}' has been unstaged", staged.program().name);
  }
  return IoStagingImpl::create(staged.program(), staged.logical(), batch_copy_refused_);
}

Result<MemoryUse> TdrvImpl::memory_use(std::uint32_t logical_core) {
  ONRT_ASSIGN(LogicalCore * owner, logical(logical_core));
  MemoryUse use;
  // A software device may have other memory than the product.
  const std::uint64_t channel_bytes =
      owner->software.hbm_channel_bytes().value_or(bindings_.product->hbm_channel_bytes);
  std::vector<std::uint32_t> channels;
  for (CoreNode* core : owner->cores) {
    if (std::find(channels.begin(), channels.end(), core->channel()) != channels.end()) continue;
    channels.push_back(core->channel());
    use.used += core->device().pool()->accounting().channel_total(core->channel());
    use.limit +=
        channel_bytes - std::min(channel_bytes, bindings_.arch->geometry->hbm_reserved_low);
  }
  return use;
}

}  // namespace opennrt::tdrv
