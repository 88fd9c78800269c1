// SPDX-License-Identifier: Apache-2.0
//
// What this process shows of itself on one device: the writer's side. Nothing
// here fails a call of the runtime; a device without a store is told once, and
// every member does nothing then.
//
// Threading: open and close when nobody else is inside; all others from any
// thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "nds/records.h"
#include "nds/slab.h"
#include "opennrt/ndl.h"

namespace opennrt::nds {

// How an execution ended on one physical core.
struct ExecutionFacts {
  NRT_STATUS status = NRT_SUCCESS;
  std::uint32_t errors = 0;  // ErrorKind bits
  std::uint64_t device_us = 0, total_us = 0;
  std::uint64_t macs = 0;
};

enum class Memory : std::uint32_t { kHost = 0, kDevice = 1 };

class ProcessStore {
 public:
  ProcessStore(const nrtp_ndl_ops* ndl, void* ctx) : ndl_(ndl), ctx_(ctx) {}
  ~ProcessStore() { close(); }
  ProcessStore(const ProcessStore&) = delete;
  ProcessStore& operator=(const ProcessStore&) = delete;

  void open(std::uint64_t dev, std::uint32_t device_index);
  // The driver keeps what the counters say.
  void close();

  void describe(const Process& process);
  void execution_ended(std::uint32_t core, const ExecutionFacts& facts);
  // Of a call that reached no device.
  void call_failed(std::uint32_t core, NRT_STATUS status);
  void feature_used(feature_bitmap_bit_index_t feature);
  // slot: NDS_DMA_MEM_USAGE_SLOT_*.
  void memory_changed(std::uint32_t core, Memory where, std::uint32_t slot, std::uint64_t bytes,
                      bool allocated);

  // Slot of the record and 0, or -errno.
  int add_model(const nds_model_node_info_t& info, const nds_model_node_mem_usage_info_t& memory);
  void remove_model(int slot);

 private:
  // Empty before open and after close: memory may be given back later than that.
  Slab slab() const { return open_.load(std::memory_order_acquire) ? slab_ : Slab(); }

  const nrtp_ndl_ops* ndl_;
  void* ctx_;
  std::atomic<bool> open_{false};
  Slab slab_;
  void* mapped_ = nullptr;
  std::uint64_t bytes_ = 0, dev_ = 0;
  std::mutex models_mutex_;  // one writer of records at a time
};

}  // namespace opennrt::nds
