// SPDX-License-Identifier: Apache-2.0
//
// Pseudo-instructions that order engines, cores and DMA, and those that choose
// among what is loaded: the device instructions they become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "tdrv/image.h"
#include "tdrv/image/pseudo_records.h"
#include "tdrv/image/records_builder.h"

namespace opennrt::tdrv::image {

// One record becomes several: its wait comes first, its update last.
void append_wait_of(isa::Header header, RecordBuilder& out);
void append_update_of(isa::Header header, RecordBuilder& out);

// Rendezvous of the two cores of a logical core.
Status lower_core_barrier(const ImageInputs& in, const isa::CoreBarrierRecord& barrier,
                          RecordBuilder& out);

// PSEUDO_LOAD_ACT_FUNC_SET: ACTIVATION_TABLE_LOAD of the set of that name.
Status lower_act_func_set(const ImageInputs& in, std::uint32_t engine,
                          const ActFuncSetRecord& record, RecordBuilder& out);

// A queue set and one of its instances; a name may be that of either.
struct QueueName {
  std::size_t queue = 0;  // in ImageInputs::queues
  std::optional<std::size_t> instance;
};
std::optional<QueueName> find_queue_name(const ImageInputs& in, std::string_view name);

// What PSEUDO_DMASWAP_QUEUE_SET makes active. Compilers put the name of the
// instance into the record, or the name of the set and the instance's place.
Result<QueueName> swapped_instance(const ImageInputs& in, const SwapQueueSetRecord& record);

// The DMA that one engine's stream has started so far: each block or transfer
// raises its semaphore by a fixed amount, and semaphores start a run at 0.
class DmaProgress {
 public:
  void started(std::uint32_t semaphore, std::uint32_t amount);
  // `what` raises no semaphore: nothing can wait for it.
  void started_unseen(std::string what) { unseen_ = std::move(what); }
  // Waits for all that was started and not waited for before.
  Status append_waits(const ImageInputs& in, std::uint32_t engine, RecordBuilder& out);

 private:
  struct Count {
    std::uint64_t total = 0, waited = 0;
  };
  std::map<std::uint32_t, Count> semaphores_;
  std::string unseen_;
};

}  // namespace opennrt::tdrv::image
