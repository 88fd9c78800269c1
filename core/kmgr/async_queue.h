// SPDX-License-Identifier: Apache-2.0
//
// One queue of asynchronous requests: a ring of slots that are reused, and a
// worker thread that runs them one after the other.
//
// Threading: every member may be called from any thread. submit() is serialised
// by a lock of its own, the worker takes none per request unless somebody
// registered for an event.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "kmgr/binding.h"
#include "kmgr/collective.h"
#include "kmgr/models.h"

namespace opennrt::kmgr {

// What one request needs until it is over.
struct AsyncRequest {
  enum class Kind : std::uint8_t { kExecute, kWrite, kRead, kCopy, kCollective };

  Kind kind = Kind::kExecute;
  std::uint64_t number = 0;      // in its queue
  NRT_STATUS* result = nullptr;  // of the caller
  Models::Reference model;       // kExecute
  Binding binding;               // kExecute
  Tensors::Pin tensor, source;   // the others; source: kCopy
  std::uint64_t offset = 0, source_offset = 0, bytes = 0;
  std::unique_ptr<Collective> collective;  // kCollective
  void* out = nullptr;                     // kRead
  const void* in = nullptr;                // kWrite

  // Gives up what the request holds.
  void release() {
    binding.clear();
    tensor = {};
    source = {};
    collective.reset();
    model = {};
  }
};

class AsyncQueue {
 public:
  // Runs a request on the worker thread.
  using Run = std::function<NRT_STATUS(AsyncRequest&)>;
  // Cannot go on: NRT_EXEC_UNIT_UNRECOVERABLE for whoever submits.
  using Usable = std::function<bool()>;

  // name: of the worker thread. The thread starts with the first request.
  AsyncQueue(std::string name, std::uint32_t capacity, Run run, Usable usable);
  ~AsyncQueue();  // runs what is queued, then ends the worker
  AsyncQueue(const AsyncQueue&) = delete;
  AsyncQueue& operator=(const AsyncQueue&) = delete;

  // Calls fill(AsyncRequest&) on the slot of the next request and queues it if
  // that is OK. Returns the request's number. NRT_QUEUE_FULL: nothing happened.
  template <typename Fill>
  Result<std::uint64_t> submit(Fill&& fill) {
    const std::lock_guard lock(submit_mutex_);
    ONRT_TRY(admit());
    AsyncRequest& request = slot(issued_ + 1);
    request.number = issued_ + 1;
    if (Status filled = std::forward<Fill>(fill)(request); !filled) {
      request.release();
      return filled;
    }
    return post();
  }

  // Number of the last request that was accepted, and that was completed.
  std::uint64_t issued() const { return posted_.load(std::memory_order_acquire) & ~kStop; }
  std::uint64_t completed() const { return completed_.load(std::memory_order_acquire); }

  // Adds 1 to an eventfd when the request is complete, at once if it is already.
  // The descriptor is duplicated; a negative one removes the registration.
  Status notify_request(std::uint64_t number, int fd);
  // Adds 1 to an eventfd at every completion from now on.
  Status notify_all(int fd);

  // Waits until everything that was accepted before is complete.
  void drain(const char* what);

 private:
  struct Event {
    std::uint64_t number;
    int fd;
  };
  static constexpr std::uint64_t kStop = std::uint64_t{1} << 63;

  AsyncRequest& slot(std::uint64_t number) { return slots_[number % slots_.size()]; }
  Status admit();
  Result<std::uint64_t> post();
  void work();
  void signal(std::uint64_t number);

  const std::string name_;
  const Run run_;
  const Usable usable_;
  std::vector<AsyncRequest> slots_;
  std::mutex submit_mutex_;  // guards issued_, worker_ and the free slots
  std::uint64_t issued_ = 0;
  std::thread worker_;
  alignas(64) std::atomic<std::uint64_t> posted_{0};  // number, and kStop
  alignas(64) std::atomic<std::uint64_t> completed_{0};
  std::atomic<bool> has_events_{false};
  std::mutex event_mutex_;  // guards the registrations
  std::vector<Event> events_;
  int every_ = -1;
};

}  // namespace opennrt::kmgr
