// SPDX-License-Identifier: Apache-2.0
#include "nds/process_store.h"

#include <errno.h>
#include <string.h>

#include "log/log.h"

namespace opennrt::nds {

void ProcessStore::open(std::uint64_t dev, std::uint32_t device_index) {
  if (ndl_ == nullptr || ndl_->share == nullptr || ndl_->share->nds_open == nullptr) return;
  void* data = nullptr;
  std::uint64_t bytes = 0;
  const int error = ndl_->share->nds_open(ctx_, dev, 0, &data, &bytes);
  if (error != 0) {
    ONRT_LOG(kTdrv, kWarn,
             "device {}: no data store ({}): monitoring programs will not see this process",
             device_index, strerror(-error));
    return;
  }
  slab_ = Slab(data, bytes);
  mapped_ = data;
  bytes_ = bytes;
  dev_ = dev;
  open_.store(true, std::memory_order_release);
  if (!slab_)
    ONRT_LOG(kTdrv, kWarn,
             "device {}: the data store has {} bytes, {} are needed: monitoring programs will not "
             "see this process",
             device_index, bytes, kLeastBytes);
}

void ProcessStore::close() {
  if (mapped_ == nullptr) return;
  open_.store(false, std::memory_order_release);
  ndl_->share->nds_close(ctx_, dev_, 0, mapped_, bytes_);
  mapped_ = nullptr;
}

void ProcessStore::describe(const Process& process) {
  Slab slab = this->slab();
  store(slab.device_counter(kRuntimeVersion), packed(process.runtime));
  store(slab.device_counter(kFrameworkVersion),
        packed(process.framework, static_cast<std::uint16_t>(process.framework_type)));
  store(slab.device_counter(kFalVersion), packed(process.fal));
  slab.publish(kProcessInfoAt, process_record(process));
  slab.publish(kProcessInfoExtAt, extended_process_record(process));
  slab.commit_header();
}

void ProcessStore::execution_ended(std::uint32_t core, const ExecutionFacts& facts) {
  Slab slab = this->slab();
  add(slab.core_counter(core, kInferences), 1);
  add(slab.core_counter(core, kMacs), facts.macs);
  add(slab.core_counter(core, kTimeInUse), facts.device_us);
  store(slab.core_counter(core, kCoreTime), facts.device_us);
  store(slab.core_counter(core, kLatencyDevice), facts.device_us);
  store(slab.core_counter(core, kLatencyTotal), facts.total_us);
  if (const std::uint32_t counter = counter_of(facts.status); counter != UINT32_MAX)
    add(slab.core_counter(core, counter), 1);
  if (facts.status == NRT_EXEC_COMPLETED_WITH_NUM_ERR)
    add(slab.core_counter(core, kErrorNumerical), 1);
  std::uint32_t counters[kErrorKinds];
  const std::size_t n = counters_of(facts.errors, counters);
  for (std::size_t i = 0; i < n; ++i) add(slab.core_counter(core, counters[i]), 1);
}

void ProcessStore::call_failed(std::uint32_t core, NRT_STATUS status) {
  const std::uint32_t counter = counter_of(status);
  if (counter == UINT32_MAX) return;
  Slab slab = this->slab();
  add(slab.core_counter(core, counter), 1);
}

void ProcessStore::feature_used(feature_bitmap_bit_index_t feature) {
  Slab slab = this->slab();
  set_bit(slab.device_counter(kFeatures), static_cast<std::uint64_t>(feature));
}

void ProcessStore::memory_changed(std::uint32_t core, Memory where, std::uint32_t slot,
                                  std::uint64_t bytes, bool allocated) {
  if (slot > NDS_DMA_MEM_USAGE_SLOT_MISC) return;
  Slab slab = this->slab();
  std::uint64_t* const counter = where == Memory::kHost
                                     ? slab.device_counter(kHostMemory + slot)
                                     : slab.core_counter(core, kDeviceMemory + slot);
  allocated ? add(counter, bytes) : subtract(counter, bytes);
}

int ProcessStore::add_model(const nds_model_node_info_t& info,
                            const nds_model_node_mem_usage_info_t& memory) {
  Slab slab = this->slab();
  add(slab.core_counter(info.nc_index, kModelLoads), 1);
  const std::lock_guard lock(models_mutex_);
  const int slot = slab.take_model();
  if (slot < 0) return slot;
  slab.publish(Slab::model_offset(static_cast<std::uint32_t>(slot)),
               ModelRecord{.hash = 0, .info = info, .memory = memory});
  return slot;
}

void ProcessStore::remove_model(int slot) {
  if (slot < 0) return;
  Slab slab = this->slab();
  const std::lock_guard lock(models_mutex_);
  slab.drop_model(static_cast<std::uint32_t>(slot));
}

}  // namespace opennrt::nds
