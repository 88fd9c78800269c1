// SPDX-License-Identifier: Apache-2.0
//
// nrta_*. What executions end with is in execution.cpp.
#include "nrt/nrt_async.h"

#include <errno.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>

#include "table.h"

namespace opennrt::status_table {
namespace {

constexpr NRT_STATUS kUntouched = static_cast<NRT_STATUS>(0x5A5A);

// The result of what was scheduled, or why it was not accepted.
template <typename Schedule>
int outcome(Schedule&& schedule) {
  NRT_STATUS result = kUntouched;
  nrta_seq_t sequence = 0;
  const NRT_STATUS accepted = schedule(&result, &sequence);
  if (accepted != NRT_SUCCESS) return accepted;
  for (bool done = false; !done; sched_yield())
    if (nrta_is_completed(sequence, &done) != NRT_SUCCESS) return kUntouched;
  return result;
}

int write(Objects& o, nrta_seq_t* sequence = nullptr) {
  return outcome([&](NRT_STATUS* result, nrta_seq_t* s) {
    static const char kBytes[16] = {};
    const NRT_STATUS status =
        nrta_tensor_write(o.a, kBytes, 0, sizeof kBytes, 0, o.thread % 2, result, s);
    if (sequence != nullptr) *sequence = *s;
    return status;
  });
}

struct Collective {
  std::uint32_t group[1] = {0};
  nrt_tensor_t *in[1], *out[1];
  nrt_cc_comm_t comm{};
  nrt_tensor_list_t inputs, outputs;
  nrt_cc_context_t* context = nullptr;
  explicit Collective(const Objects& o) : in{o.a}, out{o.b}, inputs{in, 1}, outputs{out, 1} {
    comm.replica_group = group;
    comm.rank_n = comm.ctx_device_count = 1;
    nrt_cc_global_comm_init(0, 0, 1);
  }
  int prepare() {
    return nrta_cc_prepare(&comm, &inputs, &outputs, NRT_DTYPE_FLOAT32, NRT_OP_ADD,
                           NRT_CC_ALLREDUCE, &context);
  }
  int schedule(int queue) {
    return outcome([&](NRT_STATUS* result, nrta_seq_t* s) {
      return nrta_cc_schedule(&context, queue, result, s);
    });
  }
};

// A full queue is what many threads may find.
const std::array kProbes = {
    Probe{"nrta_tensor_write",
          Guard::kAsync,
          [](Objects& o) { return write(o); },
          {0},
          {NRT_QUEUE_FULL}},
    Probe{"nrta_tensor_read",
          Guard::kAsync,
          [](Objects& o) {
            char bytes[16];
            return outcome([&](NRT_STATUS* result, nrta_seq_t* s) {
              return nrta_tensor_read(bytes, o.a, 0, sizeof bytes, 0, 1, result, s);
            });
          },
          {0},
          {NRT_QUEUE_FULL}},
    Probe{"nrta_tensor_copy",
          Guard::kAsync,
          [](Objects& o) {
            return outcome([&](NRT_STATUS* result, nrta_seq_t* s) {
              return nrta_tensor_copy(o.a, 0, o.b, 0, 16, 0, 0, result, s);
            });
          },
          {0},
          {NRT_QUEUE_FULL}},
    Probe{"nrta_execute_schedule",
          Guard::kAsync,
          [](Objects& o) {
            return outcome([&](NRT_STATUS* result, nrta_seq_t* s) {
              return nrta_execute_schedule(o.model, o.in, o.out, 0, result, s);
            });
          },
          {0},
          {NRT_QUEUE_FULL}},
    Probe{"nrta_cc_prepare", Guard::kAsync,
          [](Objects& o) {
            Collective c(o);
            const int status = c.prepare();
            if (status == NRT_SUCCESS) c.schedule(o.thread % 3);
            return status;
          }},
    Probe{"nrta_cc_schedule",
          Guard::kAsync,
          [](Objects& o) {
            Collective c(o);
            c.prepare();
            return c.schedule(o.thread % 3);
          },
          {0},
          {NRT_QUEUE_FULL}},
    Probe{"nrta_is_completed", Guard::kAsync,
          [](Objects& o) -> int {
            nrta_seq_t sequence = 0;
            const int written = write(o, &sequence);
            bool done = false;
            return written == NRT_QUEUE_FULL ? NRT_SUCCESS : nrta_is_completed(sequence, &done);
          }},
    Probe{"nrta_get_sequence", Guard::kAsync,
          [](Objects&) -> int {
            nrta_seq_t sequence = 0;
            return nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, &sequence);
          }},
    Probe{"nrta_event_register_seq_id_completion", Guard::kAsync,
          [](Objects& o) -> int {
            nrta_seq_t sequence = 0;
            const int written = write(o, &sequence);
            if (written == NRT_QUEUE_FULL) return NRT_SUCCESS;
            const int fd = eventfd(0, EFD_CLOEXEC);
            const int status = nrta_event_register_seq_id_completion(sequence, fd);
            close(fd);
            return status;
          }},
    Probe{"nrta_event_register_xu_completion", Guard::kAsync,
          [](Objects&) -> int {
            const int fd = eventfd(0, EFD_CLOEXEC);
            const int status = nrta_event_register_xu_completion(0, NRTA_XU_TENSOR_OP, 0, fd);
            nrta_event_register_xu_completion(0, NRTA_XU_TENSOR_OP, 0, -1);
            close(fd);
            return status;
          }},
};

void null_arguments(Report& r) {
  start(r);
  Objects o;
  o.make(r, load_vecadd(r));
  NRT_STATUS result = kUntouched;
  nrta_seq_t s = 0;
  char b[16] = {};
  const int bad = NRT_INVALID;
  const char* f = "nrta_tensor_write";
  r.null(f, 0, {bad}, nrta_tensor_write(nullptr, b, 0, 16, 0, 0, &result, &s));
  r.null(f, 1, {bad}, nrta_tensor_write(o.a, nullptr, 0, 16, 0, 0, &result, &s));
  r.null(f, 6, {bad}, nrta_tensor_write(o.a, b, 0, 16, 0, 0, nullptr, &s));
  r.null(f, 7, {bad}, nrta_tensor_write(o.a, b, 0, 16, 0, 0, &result, nullptr));
  f = "nrta_tensor_read";
  r.null(f, 0, {bad}, nrta_tensor_read(nullptr, o.a, 0, 16, 0, 0, &result, &s));
  r.null(f, 1, {bad}, nrta_tensor_read(b, nullptr, 0, 16, 0, 0, &result, &s));
  r.null(f, 6, {bad}, nrta_tensor_read(b, o.a, 0, 16, 0, 0, nullptr, &s));
  r.null(f, 7, {bad}, nrta_tensor_read(b, o.a, 0, 16, 0, 0, &result, nullptr));
  f = "nrta_tensor_copy";
  r.null(f, 0, {bad}, nrta_tensor_copy(nullptr, 0, o.b, 0, 16, 0, 0, &result, &s));
  r.null(f, 2, {bad}, nrta_tensor_copy(o.a, 0, nullptr, 0, 16, 0, 0, &result, &s));
  r.null(f, 7, {bad}, nrta_tensor_copy(o.a, 0, o.b, 0, 16, 0, 0, nullptr, &s));
  r.null(f, 8, {bad}, nrta_tensor_copy(o.a, 0, o.b, 0, 16, 0, 0, &result, nullptr));
  f = "nrta_execute_schedule";
  r.null(f, 0, {bad}, nrta_execute_schedule(nullptr, o.in, o.out, 0, &result, &s));
  r.null(f, 1, {bad}, nrta_execute_schedule(o.model, nullptr, o.out, 0, &result, &s));
  r.null(f, 2, {bad}, nrta_execute_schedule(o.model, o.in, nullptr, 0, &result, &s));
  r.null(f, 4, {bad}, nrta_execute_schedule(o.model, o.in, o.out, 0, nullptr, &s));
  r.null(f, 5, {bad}, nrta_execute_schedule(o.model, o.in, o.out, 0, &result, nullptr));
  Collective c(o);
  f = "nrta_cc_prepare";
  const auto prepare = [&](nrt_cc_comm_t* comm, nrt_tensor_list_t* in, nrt_tensor_list_t* out,
                           nrt_cc_context_t** context) -> int {
    return nrta_cc_prepare(comm, in, out, NRT_DTYPE_FLOAT32, NRT_OP_ADD, NRT_CC_ALLREDUCE, context);
  };
  r.null(f, 0, {bad}, prepare(nullptr, &c.inputs, &c.outputs, &c.context));
  r.null(f, 1, {bad}, prepare(&c.comm, nullptr, &c.outputs, &c.context));
  r.null(f, 2, {bad}, prepare(&c.comm, &c.inputs, nullptr, &c.context));
  r.null(f, 6, {bad}, prepare(&c.comm, &c.inputs, &c.outputs, nullptr));
  r.need(c.prepare() == NRT_SUCCESS, "a collective");
  f = "nrta_cc_schedule";
  nrt_cc_context_t* none = nullptr;
  r.null(f, 0, {bad}, nrta_cc_schedule(nullptr, 0, &result, &s));
  r.call(f, {bad}, "context NULL", nrta_cc_schedule(&none, 0, &result, &s));
  r.null(f, 2, {bad}, nrta_cc_schedule(&c.context, 0, nullptr, &s));
  r.null(f, 3, {bad}, nrta_cc_schedule(&c.context, 0, &result, nullptr));
  for (const int queue : {-1, 3})
    r.call(f, {bad}, "queue " + std::to_string(queue),
           nrta_cc_schedule(&c.context, queue, &result, &s));
  r.call(f, {NRT_SUCCESS}, "after failures", c.schedule(2));
  r.null("nrta_is_completed", 1, {bad}, nrta_is_completed(1, nullptr));
  r.null("nrta_get_sequence", 3, {bad}, nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, nullptr));
  // A refused request leaves *ret and the number alone.
  r.call(f, {NRT_SUCCESS}, "refused requests wrote nothing",
         result == kUntouched && s == 0 ? NRT_SUCCESS : NRT_FAILURE);
  nrt_close();
}

void bad_arguments(Report& r) {
  start(r);
  Objects o;
  o.make(r, load_vecadd(r));
  nrt_tensor_t *host = nullptr, *far = nullptr;
  r.need(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_VIRTUAL, -1, o.bytes, "h", &host) == 0 &&
             nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 1, o.bytes, "f", &far) == 0,
         "tensors");
  NRT_STATUS result = kUntouched;
  nrta_seq_t s = 0;
  char b[16] = {};
  const int bad = NRT_INVALID;
  for (const int queue : {-1, 2}) {
    const std::string how = "queue " + std::to_string(queue);
    r.call("nrta_tensor_write", {bad}, how,
           nrta_tensor_write(o.a, b, 0, 16, 0, queue, &result, &s));
    r.call("nrta_tensor_read", {bad}, how, nrta_tensor_read(b, o.a, 0, 16, 0, queue, &result, &s));
    r.call("nrta_tensor_copy", {bad}, how,
           nrta_tensor_copy(o.a, 0, o.b, 0, 16, 0, queue, &result, &s));
  }
  for (const int core : {-1, 2, 1 << 30}) {
    const std::string how = "logical core " + std::to_string(core);
    r.call("nrta_tensor_write", {bad}, how, nrta_tensor_write(o.a, b, 0, 16, core, 0, &result, &s));
    r.call("nrta_tensor_read", {bad}, how, nrta_tensor_read(b, o.a, 0, 16, core, 0, &result, &s));
    r.call("nrta_tensor_copy", {bad}, how,
           nrta_tensor_copy(o.a, 0, o.b, 0, 16, core, 0, &result, &s));
    r.call("nrta_get_sequence", {bad}, how,
           nrta_get_sequence(static_cast<std::uint32_t>(core), NRTA_XU_COMPUTE, 0, &s));
    r.call("nrta_event_register_xu_completion", {bad}, how,
           nrta_event_register_xu_completion(core, NRTA_XU_COMPUTE, 0, -1));
  }
  r.call("nrta_tensor_write", {bad}, "host tensor",
         nrta_tensor_write(host, b, 0, 16, 0, 0, &result, &s));
  r.call("nrta_tensor_read", {bad}, "host tensor",
         nrta_tensor_read(b, host, 0, 16, 0, 0, &result, &s));
  r.call("nrta_tensor_copy", {bad}, "host tensor",
         nrta_tensor_copy(o.a, 0, host, 0, 16, 0, 0, &result, &s));
  r.call("nrta_tensor_copy", {bad}, "device memory of different HBMs",
         nrta_tensor_copy(o.a, 0, far, 0, 16, 0, 0, &result, &s));
  for (const auto& [offset, size] : {std::pair{std::uint64_t{o.bytes}, std::uint64_t{1}},
                                     {std::uint64_t{8}, ~std::uint64_t{0}}}) {
    const std::string how = "offset " + std::to_string(offset) + ", size " + std::to_string(size);
    r.call("nrta_tensor_write", {bad}, how,
           nrta_tensor_write(o.a, b, offset, size, 0, 0, &result, &s));
    r.call("nrta_tensor_read", {bad}, how,
           nrta_tensor_read(b, o.a, offset, size, 0, 0, &result, &s));
    r.call("nrta_tensor_copy", {bad}, how,
           nrta_tensor_copy(o.a, offset, o.b, 0, size, 0, 0, &result, &s));
  }
  for (const int queue : {-1, 1})
    r.call("nrta_execute_schedule", {bad}, "queue " + std::to_string(queue),
           nrta_execute_schedule(o.model, o.in, o.out, queue, &result, &s));
  nrt_tensor_set_t* hosts = nullptr;
  r.need(nrt_allocate_tensor_set(&hosts) == 0 &&
             nrt_add_tensor_to_tensor_set(hosts, "a", host) == 0 &&
             nrt_add_tensor_to_tensor_set(hosts, "b", o.b) == 0,
         "a set");
  r.call("nrta_execute_schedule", {bad}, "host tensor",
         nrta_execute_schedule(o.model, hosts, o.out, 0, &result, &s));
  bool done = false;
  for (const nrta_seq_t sequence :
       {nrta_seq_t{0}, nrta_seq_t{1}, ~nrta_seq_t{0}, nrta_seq_t{1} << 48, nrta_seq_t{9} << 56}) {
    const std::string how = "number that was never given out, " + std::to_string(sequence);
    r.call("nrta_is_completed", {bad}, how, nrta_is_completed(sequence, &done));
    r.call("nrta_event_register_seq_id_completion", {bad}, how,
           nrta_event_register_seq_id_completion(sequence, 0));
  }
  for (const auto& [unit, queue] : {std::pair{3u, 0}, {1u, 1}, {1u, -1}, {0u, 2}, {2u, 3}}) {
    const auto xu = static_cast<nrta_xu_t>(unit);
    const std::string how = "unit " + std::to_string(unit) + ", queue " + std::to_string(queue);
    r.call("nrta_get_sequence", {bad}, how, nrta_get_sequence(0, xu, queue, &s));
    r.call("nrta_event_register_xu_completion", {bad}, how,
           nrta_event_register_xu_completion(0, xu, queue, -1));
  }
  r.call("nrta_event_register_xu_completion", {bad}, "a descriptor that is no eventfd",
         nrta_event_register_xu_completion(0, NRTA_XU_COMPUTE, 0, 100'000));
  r.call("nrta_get_sequence", {NRT_SUCCESS}, "unused unit",
         nrta_get_sequence(1, NRTA_XU_COLLECTIVES, 2, &s));
  nrt_close();
}

void collectives(Report& r) {
  start(r);
  Objects o;
  o.make(r, load_vecadd(r));
  const char* const f = "nrta_cc_prepare";
  Collective c(o);
  nrt_close();
  start(r);
  o = {};
  o.make(r, load_vecadd(r));
  c.in[0] = o.a;
  c.out[0] = o.b;
  r.call(f, {NRT_FAILURE}, "no communicator", c.prepare());
  r.need(nrt_cc_global_comm_init(0, 0, 1) == NRT_SUCCESS, "a communicator");
  const auto prepare = [&](nrt_op_type_t op, nrt_cc_op_type_t cc_op) -> int {
    return nrta_cc_prepare(&c.comm, &c.inputs, &c.outputs, NRT_DTYPE_FLOAT32, op, cc_op,
                           &c.context);
  };
  r.call(f, {NRT_INVALID}, "reduction FMA", prepare(NRT_OP_FMA, NRT_CC_ALLREDUCE));
  r.call(f, {NRT_INVALID}, "operation 9", prepare(NRT_OP_ADD, static_cast<nrt_cc_op_type_t>(9)));
  c.comm.vnc = 7;
  r.call(f, {NRT_INVALID}, "logical core 7", c.prepare());
  c.comm.vnc = 0;
  c.comm.rank_n = 0;
  r.call(f, {NRT_INVALID}, "no ranks", c.prepare());
  c.comm.rank_n = 1;
  c.inputs.num_tensors = 0;
  r.call(f, {NRT_INVALID}, "no tensors", c.prepare());
  c.inputs.num_tensors = 1;
  if (NoMemory::possible())
    r.call(f, {NRT_RESOURCE}, "host memory exhausted", OPENNRT_WITHOUT_MEMORY(c.prepare()));
  r.call(f, {NRT_SUCCESS}, "after failures", c.prepare());
  nrt_close();
}

// A worker that is held inside the driver: its queue fills up.
void full_queues(Report& r) {
  start(r);
  Objects o;
  o.make(r, load_vecadd(r));
  static std::array<NRT_STATUS, 256> results;
  static char bytes[16];
  nrta_seq_t s = 0;
  Collective c(o);
  const auto fill = [&](const char* f, const char* request, unsigned capacity,
                        const std::function<NRT_STATUS(NRT_STATUS*)>& schedule) {
    faults().hold(request);
    unsigned accepted = 0;
    NRT_STATUS last = NRT_SUCCESS;
    while (accepted < results.size() && (last = schedule(&results[accepted])) == NRT_SUCCESS)
      ++accepted;
    r.call(f, {NRT_QUEUE_FULL}, "after " + std::to_string(capacity) + " requests",
           accepted == capacity ? last : kUntouched);
    faults().release();
    for (bool done = false; !done; sched_yield()) nrta_is_completed(s, &done);
    r.call(f, {NRT_SUCCESS}, "room again", schedule(&results[0]));
    for (bool done = false; !done; sched_yield()) nrta_is_completed(s, &done);
  };
  r.need(nrt_execute(o.model, o.in, o.out) == NRT_SUCCESS, "an execution");
  fill("nrta_execute_schedule", "SEMAPHORE_INCREMENT", 8, [&](NRT_STATUS* result) {
    return nrta_execute_schedule(o.model, o.in, o.out, 0, result, &s);
  });
  fill("nrta_tensor_write", "MEM_", 64, [&](NRT_STATUS* result) {
    return nrta_tensor_write(o.a, bytes, 0, sizeof bytes, 0, 0, result, &s);
  });
  fill("nrta_tensor_read", "MEM_", 64, [&](NRT_STATUS* result) {
    return nrta_tensor_read(bytes, o.a, 0, sizeof bytes, 0, 0, result, &s);
  });
  fill("nrta_tensor_copy", "MEM_", 64,
       [&](NRT_STATUS* result) { return nrta_tensor_copy(o.a, 0, o.b, 0, 16, 0, 1, result, &s); });
  fill("nrta_cc_schedule", "MEM_", 64, [&](NRT_STATUS* result) {
    if (c.prepare() != NRT_SUCCESS) return NRT_FAILURE;
    return nrta_cc_schedule(&c.context, 0, result, &s);
  });
  // The transfer itself fails: its own result, and the queue goes on.
  faults().fail("MEM_", EIO, 0);
  r.call("nrta_tensor_write", {NRT_FAILURE, NRT_HW_ERROR}, "copy fails", write(o));
  faults().clear();
  r.call("nrta_tensor_write", {NRT_SUCCESS}, "after a failed copy", write(o));
  nrt_close();
}

// Implicit asynchronous mode excludes this interface.
void implicit_mode(Report& r) {
  setenv("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "4", 1);
  start(r);
  Objects o;
  o.make(r, load_vecadd(r));
  for (const Probe& probe : kProbes)
    r.call(probe.function, {NRT_FAILURE}, "implicit asynchronous mode", probe.call(o));
  nrt_close();
}

constexpr std::array kScenes = {
    Scene{"async: NULL", null_arguments}, Scene{"async: arguments", bad_arguments},
    Scene{"async: collectives", collectives}, Scene{"async: full queues", full_queues},
    Scene{"async: implicit mode", implicit_mode}};

}  // namespace

std::span<const Probe> async_probes() { return kProbes; }
std::span<const Scene> async_scenes() { return kScenes; }

}  // namespace opennrt::status_table
