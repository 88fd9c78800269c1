// SPDX-License-Identifier: Apache-2.0
//
// Transfers between logical cores of this process.
#include "nrt/nrt_async_sendrecv.h"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <mutex>

#include "table.h"

namespace opennrt::status_table {
namespace {

constexpr char kHere[] = "127.0.0.1";

// One connected pair for all threads.
struct Pair {
  nrt_async_sendrecv_comm_t *sender = nullptr, *receiver = nullptr;
};
Pair connected(int core) {
  Pair p;
  bool done = false;
  nrt_async_sendrecv_connect(kHere, core, core, &p.sender);
  nrt_async_sendrecv_accept(kHere, core, core, &p.receiver);
  nrt_async_sendrecv_test_comm(p.sender, &done);
  return p;
}
const Pair& pair() {
  static std::mutex mutex;
  static Pair one;
  const std::lock_guard lock(mutex);
  if (one.sender == nullptr) {
    nrt_async_sendrecv_init(0);
    one = connected(0);
  }
  return one;
}

// Sends 16 bytes to the receiver. Returns what `which` of send, receive and test
// came to: 0, 1 or 2.
int transfer(Objects& o, int which) {
  const Pair p = o.a != nullptr ? pair() : Pair{};
  nrt_async_sendrecv_request_t *send = nullptr, *receive = nullptr;
  const int sent = nrt_async_sendrecv_send_tensor(o.a, 0, 16, p.sender, &send);
  const int received = nrt_async_sendrecv_recv_tensor(o.b, 0, 16, p.receiver, &receive);
  int tested = NRT_FAILURE;
  for (nrt_async_sendrecv_request_t* request : {send, receive}) {
    bool done = false;
    std::size_t size = 0;
    do {
      tested = nrt_async_sendrecv_test_request(request, &done, &size);
      if (!done) sched_yield();
    } while (tested == NRT_SUCCESS && !done);
  }
  return which == 0 ? sent : which == 1 ? received : tested;
}

using Limit = NRT_STATUS (*)(int*);
template <Limit F>
int limit(Objects&) {
  int n = 0;
  return F(&n);
}

// Ends of core 1, which may be taken by another thread or full.
int begin(bool accept) {
  nrt_async_sendrecv_comm_t* c = nullptr;
  nrt_async_sendrecv_init(1);
  return accept ? nrt_async_sendrecv_accept(kHere, 1, 1, &c)
                : nrt_async_sendrecv_connect(kHere, 1, 1, &c);
}

const std::array kProbes = {
    Probe{"nrt_async_sendrecv_get_max_num_communicators_per_lnc", Guard::kEngine,
          limit<nrt_async_sendrecv_get_max_num_communicators_per_lnc>},
    Probe{"nrt_async_sendrecv_get_max_num_pending_request", Guard::kEngine,
          limit<nrt_async_sendrecv_get_max_num_pending_request>},
    Probe{"nrt_async_sendrecv_init",
          Guard::kEngine,
          [](Objects&) -> int {
            const int status = nrt_async_sendrecv_init(1);
            if (status == NRT_SUCCESS) nrt_async_sendrecv_close(1);
            return status;
          },
          {0},
          {NRT_FAILURE}},
    Probe{"nrt_async_sendrecv_close",
          Guard::kEngine,
          [](Objects&) -> int {
            nrt_async_sendrecv_init(1);
            return nrt_async_sendrecv_close(1);
          },
          {0},
          {NRT_FAILURE}},
    Probe{"nrt_async_sendrecv_connect",
          Guard::kEngine,
          [](Objects&) { return begin(false); },
          {0},
          {NRT_RESOURCE}},
    Probe{"nrt_async_sendrecv_accept",
          Guard::kEngine,
          [](Objects&) { return begin(true); },
          {0},
          {NRT_RESOURCE}},
    Probe{"nrt_async_sendrecv_test_comm", Guard::kEngine,
          [](Objects& o) -> int {
            bool done = false;
            return nrt_async_sendrecv_test_comm(o.a != nullptr ? pair().sender : nullptr, &done);
          }},
    Probe{"nrt_async_sendrecv_send_tensor", Guard::kEngine,
          [](Objects& o) { return transfer(o, 0); }},
    Probe{"nrt_async_sendrecv_recv_tensor", Guard::kEngine,
          [](Objects& o) { return transfer(o, 1); }},
    Probe{"nrt_async_sendrecv_test_request", Guard::kEngine,
          [](Objects& o) { return transfer(o, 2); }},
    Probe{"nrt_async_sendrecv_flush", Guard::kEngine,
          [](Objects& o) -> int {
            if (o.a != nullptr) pair();
            return nrt_async_sendrecv_flush(0);
          }},
};

void gates(Report& r) {
  const int f1 = NRT_FAILURE;
  const char* f = "nrt_async_sendrecv_init";
  const char* const kSwitch = "NEURON_RT_ASYNC_SENDRECV_EXPERIMENTAL_ENABLED";
  const char* const kPort = "NEURON_RT_ASYNC_SENDRECV_BOOTSTRAP_PORT";
  const std::string port = getenv(kPort);
  // The settings are those of nrt_init.
  unsetenv(kSwitch);
  start(r);
  r.call(f, {f1}, "not enabled", nrt_async_sendrecv_init(0));
  nrt_close();
  setenv(kSwitch, "1", 1);
  unsetenv(kPort);
  start(r);
  r.call(f, {f1}, "no port", nrt_async_sendrecv_init(0));
  nrt_close();
  setenv(kPort, port.c_str(), 1);
  start(r);
  for (const int core : {-1, 2, 128})
    r.call(f, {f1}, "logical core " + std::to_string(core), nrt_async_sendrecv_init(core));
  nrt_async_sendrecv_comm_t* c = nullptr;
  const auto both = [&](const char* how, const char* ip, int peer, int lnc, int want) {
    r.call("nrt_async_sendrecv_connect", {want}, how,
           nrt_async_sendrecv_connect(ip, peer, lnc, &c));
    r.call("nrt_async_sendrecv_accept", {want}, how, nrt_async_sendrecv_accept(ip, peer, lnc, &c));
  };
  both("not initialised", kHere, 0, 0, f1);
  for (const char* name : {"nrt_async_sendrecv_flush", "nrt_async_sendrecv_close"})
    r.call(name, {f1}, "not initialised",
           name[19] == 'f' ? nrt_async_sendrecv_flush(0) : nrt_async_sendrecv_close(0));
  r.call(f, {NRT_SUCCESS}, "enabled", nrt_async_sendrecv_init(0));
  r.call(f, {f1}, "again", nrt_async_sendrecv_init(0));
  both("peer 128", kHere, 128, 0, f1);
  both("no address", "nowhere", 0, 0, f1);
  both("another host", "192.0.2.1", 0, 0, f1);
  r.null("nrt_async_sendrecv_connect", 0, {f1}, nrt_async_sendrecv_connect(nullptr, 0, 0, &c));
  r.null("nrt_async_sendrecv_connect", 3, {f1}, nrt_async_sendrecv_connect(kHere, 0, 0, nullptr));
  r.null("nrt_async_sendrecv_accept", 0, {f1}, nrt_async_sendrecv_accept(nullptr, 0, 0, &c));
  r.null("nrt_async_sendrecv_accept", 3, {f1}, nrt_async_sendrecv_accept(kHere, 0, 0, nullptr));
  r.null("nrt_async_sendrecv_get_max_num_communicators_per_lnc", 0, {f1},
         nrt_async_sendrecv_get_max_num_communicators_per_lnc(nullptr));
  r.null("nrt_async_sendrecv_get_max_num_pending_request", 0, {f1},
         nrt_async_sendrecv_get_max_num_pending_request(nullptr));
  for (int i = 0; i < 128; ++i)
    r.need(nrt_async_sendrecv_connect(kHere, 1, 0, &c) == NRT_SUCCESS, "128 communicators");
  both("128 communicators exist", kHere, 1, 0, NRT_RESOURCE);
  r.call("nrt_async_sendrecv_close", {f1}, "unconnected communicators",
         nrt_async_sendrecv_close(0));
  r.call(f, {f1}, "after a failed close", nrt_async_sendrecv_init(0));
  nrt_close();
}

void posting(Report& r) {
  start(r);
  Objects o;
  o.make(r, load_vecadd(r));
  r.need(nrt_async_sendrecv_init(0) == NRT_SUCCESS, "the engine");
  const Pair p = connected(0);
  nrt_async_sendrecv_comm_t* alone = nullptr;
  r.need(nrt_async_sendrecv_connect(kHere, 1, 0, &alone) == NRT_SUCCESS, "half a connection");
  nrt_async_sendrecv_request_t* q = nullptr;
  int nothing = 0;
  auto* const foreign = reinterpret_cast<nrt_async_sendrecv_comm_t*>(&nothing);
  nrt_tensor_t *host = nullptr, *far = nullptr;
  r.need(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_VIRTUAL, -1, 64, "h", &host) == 0 &&
             nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 1, 64, "f", &far) == 0,
         "tensors");
  using Post = NRT_STATUS (*)(nrt_tensor_t*, std::size_t, std::size_t, nrt_async_sendrecv_comm_t*,
                              nrt_async_sendrecv_request_t**);
  struct End {
    const char* function;
    Post post;
    nrt_async_sendrecv_comm_t *mine, *other;
  };
  for (const auto& [f, post, mine, other] :
       {End{"nrt_async_sendrecv_send_tensor", nrt_async_sendrecv_send_tensor, p.sender, p.receiver},
        End{"nrt_async_sendrecv_recv_tensor", nrt_async_sendrecv_recv_tensor, p.receiver,
            p.sender}}) {
    r.null(f, 0, {NRT_FAILURE}, post(nullptr, 0, 16, mine, &q));
    r.null(f, 3, {NRT_FAILURE}, post(o.a, 0, 16, nullptr, &q));
    r.null(f, 4, {NRT_FAILURE}, post(o.a, 0, 16, mine, nullptr));
    r.call(f, {NRT_FAILURE}, "wrong direction", post(o.a, 0, 16, other, &q));
    r.call(f, {NRT_FAILURE}, "range behind the tensor", post(o.a, o.bytes, 1, mine, &q));
    r.call(f, {NRT_FAILURE}, "offset and size wrap", post(o.a, 8, ~std::size_t{0}, mine, &q));
    r.call(f, {NRT_FAILURE}, "tensor of another core", post(far, 0, 16, mine, &q));
    r.call(f, {NRT_FAILURE}, "host tensor", post(host, 0, 16, mine, &q));
    r.call(f, {NRT_INVALID_HANDLE}, "foreign communicator", post(o.a, 0, 16, foreign, &q));
    for (int i = 0; i < 128; ++i)
      r.need(post(o.a, 0, 16, mine, &q) == NRT_SUCCESS, "128 pending requests");
    r.call(f, {NRT_RESOURCE}, "128 requests pending", post(o.a, 0, 16, mine, &q));
  }
  r.call("nrt_async_sendrecv_send_tensor", {NRT_INVALID_HANDLE}, "not connected",
         nrt_async_sendrecv_send_tensor(o.a, 0, 16, alone, &q));
  nrt_async_sendrecv_comm_t* half = nullptr;
  r.need(nrt_async_sendrecv_accept(kHere, 1, 0, &half) == NRT_SUCCESS, "half a connection");
  r.call("nrt_async_sendrecv_recv_tensor", {NRT_INVALID_HANDLE}, "not connected",
         nrt_async_sendrecv_recv_tensor(o.a, 0, 16, half, &q));
  bool done = false;
  std::size_t size = 0;
  const char* f = "nrt_async_sendrecv_test_comm";
  r.null(f, 0, {NRT_INVALID_HANDLE, NRT_FAILURE}, nrt_async_sendrecv_test_comm(nullptr, &done));
  r.null(f, 1, {NRT_FAILURE}, nrt_async_sendrecv_test_comm(p.sender, nullptr));
  r.call(f, {NRT_INVALID_HANDLE}, "foreign communicator",
         nrt_async_sendrecv_test_comm(foreign, &done));
  f = "nrt_async_sendrecv_test_request";
  r.null(f, 0, {NRT_INVALID_HANDLE, NRT_FAILURE},
         nrt_async_sendrecv_test_request(nullptr, &done, &size));
  r.null(f, 1, {NRT_FAILURE}, nrt_async_sendrecv_test_request(q, nullptr, &size));
  r.null(f, 2, {NRT_FAILURE}, nrt_async_sendrecv_test_request(q, &done, nullptr));
  r.call(f, {NRT_INVALID_HANDLE}, "foreign request",
         nrt_async_sendrecv_test_request(reinterpret_cast<nrt_async_sendrecv_request_t*>(&nothing),
                                         &done, &size));
  r.call("nrt_async_sendrecv_flush", {NRT_FAILURE}, "logical core 128",
         nrt_async_sendrecv_flush(128));
  // A message that does not fit fails at both ends.
  r.need(nrt_async_sendrecv_init(1) == NRT_SUCCESS, "the engine");
  const Pair second = connected(1);
  nrt_async_sendrecv_request_t *sent = nullptr, *received = nullptr;
  r.need(nrt_async_sendrecv_send_tensor(far, 0, 32, second.sender, &sent) == 0 &&
             nrt_async_sendrecv_recv_tensor(far, 32, 16, second.receiver, &received) == 0,
         "requests");
  r.call(f, {NRT_FAILURE}, "message longer than its buffer",
         nrt_async_sendrecv_test_request(sent, &done, &size));
  r.call("nrt_async_sendrecv_close", {NRT_FAILURE}, "requests in flight",
         nrt_async_sendrecv_close(0));
  r.call("nrt_async_sendrecv_test_comm", {NRT_INVALID_HANDLE}, "communicator of a closed core",
         nrt_async_sendrecv_test_comm(p.sender, &done));
  nrt_close();
}

// Both time limits are 30 s.
void time_limits(Report& r) {
  start(r);
  Objects o;
  o.make(r, load_vecadd(r));
  r.need(nrt_async_sendrecv_init(0) == NRT_SUCCESS, "the engine");
  const Pair p = connected(0);
  nrt_async_sendrecv_comm_t* alone = nullptr;
  nrt_async_sendrecv_request_t* request = nullptr;
  bool done = true;
  std::size_t size = 0;
  r.need(nrt_async_sendrecv_connect(kHere, 1, 0, &alone) == NRT_SUCCESS, "half a connection");
  r.need(nrt_async_sendrecv_send_tensor(o.a, 0, 16, p.sender, &request) == NRT_SUCCESS,
         "a message nobody takes");
  r.call("nrt_async_sendrecv_test_comm", {NRT_SUCCESS}, "peer is not there",
         nrt_async_sendrecv_test_comm(alone, &done));
  r.call("nrt_async_sendrecv_test_request", {NRT_SUCCESS}, "under way",
         nrt_async_sendrecv_test_request(request, &done, &size));
  sleep(31);
  r.call("nrt_async_sendrecv_test_comm", {NRT_TIMEOUT}, "peer does not come",
         nrt_async_sendrecv_test_comm(alone, &done));
  r.call("nrt_async_sendrecv_test_request", {NRT_TIMEOUT}, "nobody takes the message",
         nrt_async_sendrecv_test_request(request, &done, &size));
  nrt_close();
}

constexpr std::array kScenes = {Scene{"send/recv: time limits", time_limits},
                                Scene{"send/recv: gates", gates},
                                Scene{"send/recv: posting", posting}};

}  // namespace

std::span<const Probe> sendrecv_probes() { return kProbes; }
std::span<const Scene> sendrecv_scenes() { return kScenes; }

}  // namespace opennrt::status_table
