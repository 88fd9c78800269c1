// SPDX-License-Identifier: Apache-2.0
//
// The explicit asynchronous interface: queues by logical core, unit type and
// queue number. A queue comes into being with its first request.
//
// Threading: every member may be called from any thread. Lock order: queue
// table, then the submit lock of a queue.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/handle_table.h"
#include "kmgr/async_queue.h"
#include "kmgr/sequence.h"

namespace opennrt::kmgr {

class Manager;

class AsyncEngine {
 public:
  // compute_capacity: requests a compute queue holds; the others hold 64.
  AsyncEngine(Manager& manager, std::uint32_t logical_cores, std::uint32_t compute_capacity);
  ~AsyncEngine();  // completes everything that is queued

  // Waits until everything that was accepted before is complete.
  void drain();

  // Each puts the id of the request into *sequence. `result` is written when the
  // request is complete. NRT_INVALID, NRT_QUEUE_FULL,
  // NRT_EXEC_UNIT_UNRECOVERABLE; for execute also NRT_INVALID_HANDLE and
  // NRT_EXEC_BAD_INPUT. Nothing is queued then and `result` stays as it is.
  Status execute(ModelId model, TensorSetHandle inputs, TensorSetHandle outputs, int queue,
                 NRT_STATUS* result, std::uint64_t* sequence);
  Status write(TensorHandle tensor, const void* in, std::uint64_t offset, std::uint64_t bytes,
               int core, int queue, NRT_STATUS* result, std::uint64_t* sequence);
  Status read(TensorHandle tensor, void* out, std::uint64_t offset, std::uint64_t bytes, int core,
              int queue, NRT_STATUS* result, std::uint64_t* sequence);
  Status copy(TensorHandle source, std::uint64_t source_offset, TensorHandle destination,
              std::uint64_t offset, std::uint64_t bytes, int core, int queue, NRT_STATUS* result,
              std::uint64_t* sequence);

  // Keeps a collective until it is scheduled. NRT_INVALID as Collective::pin().
  Result<std::uintptr_t> prepare(std::unique_ptr<Collective> operation);
  // Takes the prepared collective: *prepared is 0 after success. It stays when
  // the call fails, possibly by another handle.
  Status schedule(std::uintptr_t* prepared, int queue, NRT_STATUS* result, std::uint64_t* sequence);

  // NRT_INVALID: no such unit, or a number that was never issued.
  Status is_completed(std::uint64_t sequence, bool* completed);
  // Id of the last completed request, number 0 before the first.
  Status last_completed(std::uint32_t core, std::uint32_t type, int queue, std::uint64_t* sequence);
  Status notify_request(std::uint64_t sequence, int fd);
  Status notify_unit(std::uint32_t core, std::uint32_t type, int queue, int fd);

 private:
  static constexpr std::uint32_t kQueuesPerCore = 6;
  using Slot = std::atomic<AsyncQueue*>;

  Status no_such_core(std::int64_t core) const;
  Result<Slot*> find(std::uint64_t core, std::uint32_t type, std::int64_t queue);
  Result<AsyncQueue*> open(std::uint64_t core, XuType type, std::int64_t queue);
  Status check_transfer(const tdrv::Tensor& tensor, const char* name, std::uint64_t offset,
                        std::uint64_t bytes, int core) const;
  template <typename Fill>
  Status submit(int core, XuType type, int queue, std::uint64_t* sequence, Fill&& fill);
  // Between a tensor and host memory; `fill` says which way.
  template <typename Fill>
  Status transfer_host(TensorHandle tensor, std::uint64_t offset, std::uint64_t bytes, int core,
                       int queue, NRT_STATUS* result, std::uint64_t* sequence, Fill&& fill);

  Manager& manager_;
  const std::uint32_t logical_cores_, compute_capacity_;
  HandleTable<Collective, HandleKind::kCollective> prepared_;
  std::mutex mutex_;  // for making queues
  std::vector<std::array<Slot, kQueuesPerCore>> queues_;
};

}  // namespace opennrt::kmgr
