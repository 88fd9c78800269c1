// SPDX-License-Identifier: Apache-2.0
#include "tdrv/io_staging.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace opennrt::tdrv {
namespace {

// Stand-ins start on lines of their own.
constexpr std::uint64_t kTensorAlign = 512;

}  // namespace

Result<std::unique_ptr<IoStaging>> IoStagingImpl::create(
    const neff::Program& program, LogicalCore& logical,
    std::shared_ptr<std::atomic<bool>> batch_refused) {
  auto self = std::make_unique<IoStagingImpl>();
  self->batch_refused_ = std::move(batch_refused);
  std::uint64_t bytes = 0;
  const auto lay_out = [&bytes](const std::vector<neff::TensorInfo>& list) {
    std::vector<Area> areas;
    for (const neff::TensorInfo& info : list) {
      areas.push_back({bytes, info.size});
      bytes += (info.size + kTensorAlign - 1) / kTensorAlign * kTensorAlign;
    }
    return areas;
  };
  self->input_areas_ = lay_out(program.inputs);
  self->output_areas_ = lay_out(program.outputs);
  bytes = std::max<std::uint64_t>(bytes, kTensorAlign);

  self->allocator_ = logical.cores.front()->allocator();
  ONRT_ASSIGN(self->device_,
              self->allocator_->allocate(
                  {.bytes = bytes, .usage = Usage::kIo, .hint = "host tensor stand-ins"}));
  const auto storage =
      std::make_shared<Storage>(self->device_, static_cast<std::int32_t>(logical.index));
  const auto views = [&](const std::vector<neff::TensorInfo>& list, const std::vector<Area>& areas,
                         std::vector<Tensor*>& out) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      self->tensors_.push_back(
          std::make_unique<TensorImpl>(list[i].name, storage, areas[i].offset, areas[i].bytes));
      out.push_back(self->tensors_.back().get());
    }
  };
  views(program.inputs, self->input_areas_, self->inputs_);
  views(program.outputs, self->output_areas_, self->outputs_);
  self->ops_.reserve(std::max(program.inputs.size(), program.outputs.size()));
  // The host mirror is made when the first copy finds no batched form.
  return std::unique_ptr<IoStaging>(std::move(self));
}

Status IoStagingImpl::check(std::span<Tensor* const> host, const std::vector<Area>& areas,
                            const char* role, Range& range) {
  if (host.size() != areas.size()) {
    return Status::invalid("{} host {}s are given, the model has {}", host.size(), role,
                           areas.size());
  }
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (host[i] == nullptr) continue;
    if (host[i]->size() < areas[i].bytes) {
      return Status::make(NRT_EXEC_BAD_INPUT, "{} '{}' has {} bytes, the model needs {}", role,
                          host[i]->name(), host[i]->size(), areas[i].bytes);
    }
    if (host[i]->va() == nullptr) {
      return Status::make(NRT_EXEC_BAD_INPUT, "{} '{}' has no host memory", role, host[i]->name());
    }
    range.begin = std::min(range.begin, areas[i].offset);
    range.end = std::max(range.end, areas[i].offset + areas[i].bytes);
  }
  return Status::ok();
}

int IoStagingImpl::batch(std::span<Tensor* const> host, const std::vector<Area>& areas,
                         std::uint32_t direction) {
  if (batch_refused_->load(std::memory_order_relaxed)) return -EINVAL;
  ops_.clear();
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (host[i] != nullptr && areas[i].bytes != 0) {
      ops_.push_back({areas[i].offset, areas[i].bytes, host[i]->va()});
    }
  }
  MemoryPool& pool = device_->pool();
  const nrtp_copy_batch one{.mem = device_->handle(),
                            .mem_offset = device_->align_offset(),
                            .ops = ops_.data(),
                            .n_ops = static_cast<std::uint32_t>(ops_.size()),
                            .bar4_threshold = 0};
  const int rc = pool.ndl().copy->batch(pool.ctx(), pool.dev(), &one, 1, direction, -1);
  if (rc == -EINVAL) batch_refused_->store(true, std::memory_order_relaxed);
  return rc;
}

Status IoStagingImpl::copy_in(std::span<Tensor* const> host) {
  Range range;
  ONRT_TRY(check(host, input_areas_, "input", range));
  if (range.end <= range.begin) return Status::ok();
  int rc = batch(host, input_areas_, 0);
  if (rc == 0) return Status::ok();
  if (rc != -EINVAL) return Status::failure("copying inputs failed: {}", std::strerror(-rc));
  ONRT_TRY(map_host());
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (host[i] != nullptr) {
      std::memcpy(host_va_ + input_areas_[i].offset, host[i]->va(), input_areas_[i].bytes);
    }
  }
  // Gaps and stand-ins of other tensors in between are moved along: nobody
  // reads them.
  return Dmem::copy(*device_, range.begin, *host_, range.begin, range.end - range.begin);
}

Status IoStagingImpl::copy_out(std::span<Tensor* const> host) {
  Range range;
  ONRT_TRY(check(host, output_areas_, "output", range));
  if (range.end <= range.begin) return Status::ok();
  int rc = batch(host, output_areas_, 1);
  if (rc == 0) return Status::ok();
  if (rc != -EINVAL) return Status::failure("copying outputs failed: {}", std::strerror(-rc));
  ONRT_TRY(map_host());
  ONRT_TRY(Dmem::copy(*host_, range.begin, *device_, range.begin, range.end - range.begin));
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (host[i] != nullptr) {
      std::memcpy(host[i]->va(), host_va_ + output_areas_[i].offset, output_areas_[i].bytes);
    }
  }
  return Status::ok();
}

Status IoStagingImpl::map_host() {
  if (host_va_ != nullptr) return Status::ok();
  if (!device_->alive()) return Status::make(NRT_CLOSED, "the device has been closed");
  ONRT_ASSIGN(host_, allocator_->allocate({.bytes = device_->size(),
                                           .location = Location::kHost,
                                           .usage = Usage::kIo,
                                           .hint = "host tensor mirror"}));
  ONRT_ASSIGN(void* va, host_->map());
  host_va_ = static_cast<std::byte*>(va);
  return Status::ok();
}

}  // namespace opennrt::tdrv
