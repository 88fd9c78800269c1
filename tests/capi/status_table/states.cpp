// SPDX-License-Identifier: Apache-2.0
//
// Every probe in every state of the library, and from 8 threads at once.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "table.h"

namespace opennrt::status_table {
namespace {

enum class State { kStart, kInit, kChild, kClosed };

// What the guard lets through: the success of the probe, else the rejection.
std::vector<int> expected(const Probe& p, State state) {
  const bool start = state == State::kStart, child = state == State::kChild;
  const auto rejected = [&](int in_start, int in_child, int in_closed) {
    return std::vector<int>{start ? in_start : child ? in_child : in_closed};
  };
  switch (p.guard) {
    case Guard::kFull:
    case Guard::kAsync:
      if (state == State::kInit) return p.success;
      return rejected(NRT_UNINITIALIZED, NRT_FAILURE, NRT_CLOSED);
    case Guard::kFullVoid:
      return {kDone};
    case Guard::kProbe:
      if (state == State::kInit || p.success.front() == kDone) return p.success;
      return {kNeutral};
    case Guard::kNone: {
      if (start && !p.without_objects.empty()) return p.without_objects;
      std::vector<int> all = p.success;
      if (child) all.insert(all.end(), p.in_child.begin(), p.in_child.end());
      return all;
    }
    case Guard::kStartOnly:
      return start ? p.success : std::vector<int>{NRT_FAILURE};
    case Guard::kEngine:
      return state == State::kInit ? p.success : std::vector<int>{NRT_FAILURE};
    case Guard::kInit:
      return state == State::kInit ? std::vector<int>{NRT_SUCCESS}
                                   : rejected(NRT_SUCCESS, NRT_FAILURE, NRT_CLOSED);
    case Guard::kClose:
      return {kDone};
  }
  return {};
}

// Calls that end the state are made last, in an order of their own.
bool ends(const Probe& p, State state) {
  return (p.guard == Guard::kInit && state == State::kStart) ||
         (p.guard == Guard::kClose && state == State::kInit);
}

void call_all(Report& r, State state, Objects& o) {
  const char* const name = kStates[static_cast<int>(state)];
  for (const bool last : {false, true})
    for (const Probe& p : all_probes()) {
      if (ends(p, state) != last) continue;
      r.about(p.function, name);
      r.call(p.function, expected(p, state), name, p.call(o));
    }
}

void in_start(Report& r) {
  Objects none;
  call_all(r, State::kStart, none);
  nrt_close();
  // Closed is uninitialised again.
  for (const Probe& p : all_probes())
    if (!ends(p, State::kStart) && p.guard == Guard::kFull)
      r.call(p.function, {NRT_UNINITIALIZED}, "after nrt_close", p.call(none));
}

void in_init(Report& r) {
  start(r);
  Objects o;
  o.make(r, load_vecadd(r));
  call_all(r, State::kInit, o);
}

void in_child(Report& r) {
  start(r);
  Objects o;
  o.make(r, load_vecadd(r));
  for (const Probe& p : all_probes())  // what the parent knows, the child may know
    if (p.guard == Guard::kNone) p.call(o);
  const pid_t child = fork();
  if (child == 0) {
    call_all(r, State::kChild, o);
    _exit(0);
  }
  int status = 0;
  r.need(waitpid(child, &status, 0) == child, "the child");
  r.need(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child that ends normally");
  r.call("nrt_execute", {NRT_SUCCESS}, "parent of a forked child",
         nrt_execute(o.model, o.in, o.out));
  nrt_close();
}

// The call in a thread of its own, which is left alone when it hangs.
int with_limit(int (*call)(Objects&), Objects& o) {
  struct Call {
    std::mutex mutex;
    std::condition_variable ended;
    int outcome = kHang;
    bool done = false;
  };
  const auto shared = std::make_shared<Call>();
  std::thread([shared, call, &o] {
    const int outcome = call(o);
    const std::lock_guard lock(shared->mutex);
    shared->outcome = outcome;
    shared->done = true;
    shared->ended.notify_all();
  }).detach();
  std::unique_lock lock(shared->mutex);
  shared->ended.wait_for(lock, std::chrono::seconds(5), [&] { return shared->done; });
  return shared->outcome;
}

template <typename Condition>
bool wait_until(Condition&& condition) {
  for (int i = 0; i < 5000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// A call that is held inside the driver keeps nrt_close from going on.
void in_closed(Report& r) {
  start(r);
  static Objects o;
  o.make(r, load_vecadd(r));
  for (const Probe& p : all_probes())
    if (p.guard == Guard::kNone) p.call(o);
  faults().hold("MEM_");
  std::thread held([] {
    char bytes[64] = {};
    nrt_tensor_write(o.a, bytes, 0, sizeof bytes);
  });
  r.need(wait_until([] { return faults().is_held(); }), "a call held in the driver");
  std::thread closer([] { nrt_close(); });
  const auto closed = [] {
    nrt_tensor_t* t = nullptr;
    const NRT_STATUS status = nrt_tensor_allocate_empty("t", &t);
    nrt_tensor_free(&t);
    return status == NRT_CLOSED;
  };
  r.need(wait_until(closed), "nrt_close under way");
  for (const Probe& p : all_probes()) {
    r.about(p.function, "CLOSED");
    r.call(p.function, expected(p, State::kClosed), "CLOSED", with_limit(p.call, o));
  }
  faults().release();
  held.join();
  closer.join();
  nrt_tensor_t* t = nullptr;
  r.call("nrt_tensor_allocate_empty", {NRT_UNINITIALIZED}, "after nrt_close",
         nrt_tensor_allocate_empty("t", &t));
}

void in_threads(Report& r) {
  Objects none;
  for (const Probe& p : all_probes())
    if (p.guard == Guard::kStartOnly)
      from_threads(r, p.function, p.success, [&](int) { return p.call(none); });
  start(r);
  nrt_model_t* const model = load_vecadd(r);
  std::array<Objects, 8> objects;
  for (int t = 0; t < 8; ++t) {
    objects[static_cast<std::size_t>(t)].make(r, model);
    objects[static_cast<std::size_t>(t)].thread = t;
  }
  for (const Probe& p : all_probes()) {
    if (p.guard == Guard::kStartOnly || p.guard == Guard::kInit || p.guard == Guard::kClose)
      continue;
    std::vector<int> want = p.success;
    want.insert(want.end(), p.crowded.begin(), p.crowded.end());
    from_threads(r, p.function, want,
                 [&](int t) { return p.call(objects[static_cast<std::size_t>(t)]); });
    // Somebody has it.
    if (!p.crowded.empty()) r.call(p.function, want, "after 8 threads", p.call(objects[0]));
  }
  nrt_close();
}

constexpr std::array kScenes = {Scene{"state START", in_start}, Scene{"state INIT", in_init},
                                Scene{"state CHILD", in_child}, Scene{"state CLOSED", in_closed},
                                Scene{"8 threads", in_threads}};

}  // namespace

std::span<const Scene> state_scenes() { return kScenes; }

}  // namespace opennrt::status_table
