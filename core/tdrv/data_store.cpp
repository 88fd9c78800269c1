// SPDX-License-Identifier: Apache-2.0
//
// What monitoring programs are shown of memory, models and executions.
#include <algorithm>
#include <cstring>

#include "nds/process_store.h"
#include "tdrv/dmem.h"
#include "tdrv/execution.h"
#include "tdrv/execution_errors.h"
#include "tdrv/logical_core.h"
#include "tdrv/model.h"

namespace opennrt::tdrv {

namespace {

nds::Memory place(Location location) {
  return location == Location::kHost ? nds::Memory::kHost : nds::Memory::kDevice;
}

std::uint32_t error_kinds(std::uint32_t errors) {
  struct Row {
    ErrorSubtype subtype;
    bool corrected;
    nds::ErrorKind kind;
  };
  static constexpr Row kRows[] = {
      {ErrorSubtype::kTransient, false, nds::kTransient},
      {ErrorSubtype::kMemory, true, nds::kMemoryCorrected},
      {ErrorSubtype::kMemory, false, nds::kMemoryUncorrected},
      {ErrorSubtype::kSemaphore, false, nds::kSemaphore},
      {ErrorSubtype::kEvent, false, nds::kEvent},
      {ErrorSubtype::kPsumCollision, false, nds::kPsumCollision},
      {ErrorSubtype::kSequencer, false, nds::kSequencer},
  };
  std::uint32_t kinds = 0;
  for (const Row& row : kRows)
    if ((errors & DeviceError{.subtype = row.subtype, .corrected = row.corrected}.bit()) != 0)
      kinds |= row.kind;
  return kinds;
}

}  // namespace

std::uint32_t data_store_slot(Usage usage, Location location) {
  switch (driver_memory_type(usage, location)) {
    case NRTP_MEM_CODE_HOST:
    case NRTP_MEM_CODE_DEVICE:
      return NDS_DMA_MEM_USAGE_SLOT_CODE;
    case NRTP_MEM_TENSORS_HOST:
    case NRTP_MEM_TENSORS_DEVICE:
      return NDS_DMA_MEM_USAGE_SLOT_TENSORS;
    case NRTP_MEM_CONSTANTS_HOST:
    case NRTP_MEM_CONSTANTS_DEVICE:
      return NDS_DMA_MEM_USAGE_SLOT_CONSTANTS;
    case NRTP_MEM_SCRATCHPAD_DEVICE:
    case NRTP_MEM_SCRATCHPAD_NONSHARED_DEVICE:
    case NRTP_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE:
      return NDS_DMA_MEM_USAGE_SLOT_SCRATCHPAD;
    default:
      return NDS_DMA_MEM_USAGE_SLOT_MISC;
  }
}

void MemoryPool::account(const MemoryEvent& event, std::string_view hint) {
  accounting_.record(event, hint);
  if (store_)
    store_->memory_changed(event.core, place(event.location),
                           data_store_slot(event.usage, event.location), event.size,
                           event.allocated);
}

nds_model_node_mem_usage_info_t Allocator::usage() const {
  nds_model_node_mem_usage_info_t out{};
  const std::lock_guard lock(mutex_);
  for (const Dmem* m = first_; m != nullptr; m = m->next_) {
    nds_mem_usage_info_t& sum = out.model_mem_usage[static_cast<std::uint32_t>(place(m->location_))]
                                                   [data_store_slot(m->usage_, m->location_)];
    sum.total_size += m->allocated_;
    ++sum.chunk_count;
  }
  return out;
}

void ModelImpl::enter_store() {
  for (std::size_t rank = 0; rank < cores_.size(); ++rank) {
    CoreModel& core = *cores_[rank];
    nds::ProcessStore& store = core.core->device().store();
    nds_model_node_info_t info{};
    info.model_id = model_id_;
    info.model_node_id = static_cast<std::uint32_t>(rank);
    const std::size_t n = std::min(program_->name.size(), sizeof info.name - 1);
    std::memcpy(info.name, program_->name.data(), n);
    static_assert(sizeof info.uuid == sizeof program_->uuid);
    std::memcpy(info.uuid, program_->uuid.data(), sizeof info.uuid);
    info.nc_index = static_cast<std::uint8_t>(core.core->core());
    info.sg_index = static_cast<std::uint8_t>(rank);
    core.store_slot = store.add_model(info, core.allocator->usage());
    if (cores_.size() > 1) store.feature_used(BIT_INDEX_MULTICORE_FEATURE);
  }
}

void ModelImpl::leave_store() {
  for (const auto& core : cores_) {
    core->core->device().store().remove_model(core->store_slot);
    core->store_slot = -1;
  }
}

void ExecutionImpl::tell_store() const {
  if (stop_ || !model_) return;
  const std::uint64_t total_us = (now_ns() - kicked_ns_) / 1000;
  for (std::size_t c = 0; c < used_; ++c) {
    const CoreOutcome& outcome = cores_[c].outcome;
    const auto& engines = cores_[c].engines;
    const bool ended = std::all_of(engines.begin(), engines.end(),
                                   [](EngineState e) { return e == EngineState::kComplete; });
    const bool timed = outcome.start != UINT64_MAX && outcome.end >= outcome.start;
    const CoreNode& core = *logical_->cores[c];
    core.device().store().execution_ended(
        core.core(), {.status = ended ? outcome.status : status_.code(),
                      .errors = error_kinds(outcome.errors),
                      .device_us = timed ? device_ns(outcome.end - outcome.start) / 1000 : 0,
                      .total_us = total_us,
                      .macs = model_->program().mac_count});
  }
}

}  // namespace opennrt::tdrv
