// SPDX-License-Identifier: Apache-2.0
#include "api/exec_callback.h"

#include <mutex>

#include "api/entry.h"

using namespace opennrt;
using namespace opennrt::api;

namespace opennrt::api {

namespace {

struct Registered {
  std::mutex mutex;
  NRT_ASYNC_EXEC_STATUS_CALLBACK callback = nullptr;
  void* params = nullptr;
};

Registered& registered() {
  static Registered* const one = new Registered;
  return *one;
}

}  // namespace

void report_execution(std::uint32_t model_id, std::uint32_t vnc, std::uint64_t job_id,
                      NRT_STATUS status) {
  NRT_ASYNC_EXEC_STATUS_CALLBACK callback = nullptr;
  void* params = nullptr;
  {
    Registered& one = registered();
    const std::lock_guard lock(one.mutex);
    callback = one.callback;
    params = one.params;
  }
  if (callback != nullptr) callback(params, model_id, vnc, job_id, status);
}

}  // namespace opennrt::api

extern "C" {

NRT_STATUS nrt_register_async_exec_callback(NRT_ASYNC_EXEC_STATUS_CALLBACK callback, void* params) {
  return unguarded(__func__, [&]() -> Status {
    // Another thread may have held the lock at the fork; nobody calls back in the child.
    if (state() == State::kChild) return {};
    Registered& one = registered();
    const std::lock_guard lock(one.mutex);
    one.callback = callback;
    one.params = params;
    return {};
  });
}

NRT_STATUS nrt_async_drain_queued_execs(int32_t vnc) {
  return guarded(__func__, [&](Session& s) { return s.manager().drain(vnc); });
}

}  // extern "C"
