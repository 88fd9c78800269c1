// SPDX-License-Identifier: Apache-2.0
//
// Executions, also those of nrta_execute_schedule: every status an execution can
// end with.
#include <errno.h>
#include <sched.h>

#include <array>
#include <thread>

#include "nrt/nrt_async.h"
#include "nrt/nrt_experimental.h"
#include "opennrt/neffkit/neffkit.h"
#include "table.h"

namespace opennrt::status_table {
namespace {

const std::array kProbes = {
    Probe{"nrt_execute", Guard::kFull,
          [](Objects& o) -> int { return nrt_execute(o.model, o.in, o.out); }},
    Probe{"nrt_execute_repeat", Guard::kFull,
          [](Objects& o) -> int { return nrt_execute_repeat(o.model, o.in, o.out, 2); }},
    Probe{"nrt_async_drain_queued_execs", Guard::kFull,
          [](Objects&) -> int { return nrt_async_drain_queued_execs(0); }},
};

using Execute = int (*)(nrt_model_t*, const nrt_tensor_set_t*, nrt_tensor_set_t*);

int once(nrt_model_t* model, const nrt_tensor_set_t* in, nrt_tensor_set_t* out) {
  return nrt_execute(model, in, out);
}
int repeated(nrt_model_t* model, const nrt_tensor_set_t* in, nrt_tensor_set_t* out) {
  return nrt_execute_repeat(model, in, out, 3);
}
// The result of the request, or why it was not accepted.
int scheduled(nrt_model_t* model, const nrt_tensor_set_t* in, nrt_tensor_set_t* out) {
  NRT_STATUS result = NRT_FAILURE;
  nrta_seq_t sequence = 0;
  const NRT_STATUS accepted = nrta_execute_schedule(model, in, out, 0, &result, &sequence);
  if (accepted != NRT_SUCCESS) return accepted;
  for (bool done = false; !done; sched_yield()) nrta_is_completed(sequence, &done);
  return result;
}

constexpr std::pair<const char*, Execute> kWays[] = {
    {"nrt_execute", once}, {"nrt_execute_repeat", repeated}, {"nrta_execute_schedule", scheduled}};

void arguments(Report& r) {
  start(r);
  nrt_model_t* const model = load_vecadd(r);
  Objects o;
  o.make(r, model);
  r.null("nrt_execute", 0, {NRT_INVALID}, nrt_execute(nullptr, o.in, o.out));
  r.null("nrt_execute", 1, {NRT_INVALID}, nrt_execute(model, nullptr, o.out));
  r.null("nrt_execute", 2, {NRT_INVALID}, nrt_execute(model, o.in, nullptr));
  r.null("nrt_execute_repeat", 0, {NRT_INVALID}, nrt_execute_repeat(nullptr, o.in, o.out, 2));
  r.null("nrt_execute_repeat", 1, {NRT_INVALID}, nrt_execute_repeat(model, nullptr, o.out, 2));
  r.null("nrt_execute_repeat", 2, {NRT_INVALID}, nrt_execute_repeat(model, o.in, nullptr, 2));
  for (const int n : {-1, 0, 1})
    r.call("nrt_execute_repeat", {NRT_SUCCESS}, std::to_string(n) + " times",
           nrt_execute_repeat(model, o.in, o.out, n));
  for (const int vnc : {-1, 2})
    r.call("nrt_async_drain_queued_execs", {NRT_INVALID}, "logical core " + std::to_string(vnc),
           nrt_async_drain_queued_execs(vnc));
  nrt_tensor_t *small = nullptr, *far = nullptr;
  constexpr auto kDevice = NRT_TENSOR_PLACEMENT_DEVICE;
  r.need(nrt_tensor_allocate(kDevice, 0, o.bytes - 4, "s", &small) == NRT_SUCCESS &&
             nrt_tensor_allocate(kDevice, 1, o.bytes, "f", &far) == NRT_SUCCESS,
         "tensors");
  // NRT_INVALID or NRT_EXEC_BAD_INPUT: sources differ, clients take either.
  const std::initializer_list<int> bad = {NRT_EXEC_BAD_INPUT, NRT_INVALID};
  for (const auto& [f, execute] : kWays) {
    r.call(f, {NRT_INVALID}, "one input of two", execute(model, o.out, o.out));
    r.call(f, {NRT_EXEC_BAD_INPUT}, "no output of that name", execute(model, o.in, o.in));
    nrt_add_tensor_to_tensor_set(o.out, "out", small);
    r.call(f, {NRT_EXEC_BAD_INPUT}, "output too small", execute(model, o.in, o.out));
    nrt_add_tensor_to_tensor_set(o.out, "out", far);
    r.call(f, {NRT_EXEC_BAD_INPUT}, "output of another core", execute(model, o.in, o.out));
    nrt_add_tensor_to_tensor_set(o.out, "out", o.sum);
    r.call(f, {NRT_SUCCESS}, "after failures", execute(model, o.in, o.out));
  }
  r.need(nrt_unload(model) == NRT_SUCCESS, "unloading");
  for (const auto& [f, execute] : kWays)
    r.call(f, {NRT_INVALID_HANDLE}, "unloaded model", execute(model, o.in, o.out));
  nrt_tensor_t* const input = o.a;
  nrt_tensor_free(&o.a);
  nrt_model_t* const again = load_vecadd(r);
  for (const auto& [f, execute] : kWays) r.call(f, bad, "freed input", execute(again, o.in, o.out));
  static_cast<void>(input);
  nrt_close();
}

struct Fault {
  const char* records[2];  // for the device, before the execution
  int status;
  const char* how;
  bool kills;  // the unit is dead then
};

// Raw types of error records and custom sub-ids: behaviour of the published
// runtime 2.31; the other bytes are the unit and the detail.
constexpr Fault kFaults[] = {
    {{"inject 0 0 error 0 0"}, NRT_SUCCESS, "FP underflow", false},
    {{"inject 0 0 error 2 0"}, NRT_SUCCESS, "FP infinity", false},
    {{"inject 0 0 error 3 0"}, NRT_SUCCESS, "FP overflow", false},
    {{"inject 0 0 error 5 0"}, NRT_EXEC_COMPLETED_WITH_ERR, "injected error", false},
    {{"inject 0 0 error 6 0"}, NRT_EXEC_COMPLETED_WITH_ERR, "semaphore error", false},
    {{"inject 0 0 error 7 0"}, NRT_EXEC_COMPLETED_WITH_ERR, "event error", false},
    {{"inject 0 0 error 8 0"}, NRT_EXEC_COMPLETED_WITH_ERR, "PSUM collision", false},
    {{"inject 0 0 error 9 0"}, NRT_EXEC_COMPLETED_WITH_ERR, "sequencer error", false},
    {{"inject 0 0 0 0 6"}, NRT_EXEC_OOB, "embedding update out of bounds", false},
    {{"inject 0 0 1 3 6"}, NRT_EXEC_OOB, "indirect copy out of bounds", false},
    {{"inject 0 0 4 10 6"}, NRT_EXEC_OOB, "transposing gather out of bounds", false},
    {{"inject 0 0 2 6 6"}, NRT_SUCCESS, "debug value", false},
    // The higher rank is reported.
    {{"inject 0 0 0 0 6", "inject 0 0 error 5 0"},
     NRT_EXEC_COMPLETED_WITH_ERR,
     "out of bounds and an error",
     false},
    {{"inject 0 0 error 4 0"}, NRT_EXEC_HW_ERR_NC_UE, "memory error", true},
    {{"inject 0 0 error 99 0"}, NRT_HW_ERROR, "error of unknown type", true},
    {{"inject 0 0 2 99 6"}, NRT_HW_ERROR, "unknown custom record", true},
    {{"inject 0 0 2 0 3"}, NRT_FAILURE, "END before START", true},
};

void device_errors(Report& r) {
  setenv("NEURON_RT_EXEC_TIMEOUT", "2", 1);
  for (const auto& [f, execute] : kWays) {
    bool alive = false;
    Objects o;
    for (const Fault& fault : kFaults) {
      if (!alive) {
        start(r);
        o.make(r, load_vecadd(r));
        alive = true;
      }
      for (const char* record : fault.records)
        if (record != nullptr)
          r.need(faults().control(record, nullptr, 0) >= 0, "injecting a record");
      r.about(f, fault.how);
      r.call(f, {fault.status}, fault.how, execute(o.model, o.in, o.out));
      if (!fault.kills) {
        r.call(f, {NRT_SUCCESS}, std::string("after ") + fault.how, execute(o.model, o.in, o.out));
        continue;
      }
      r.call(f, {NRT_EXEC_UNIT_UNRECOVERABLE}, std::string("after ") + fault.how,
             execute(o.model, o.in, o.out));
      nrt_close();
      alive = false;
      o = {};
    }
    if (alive) nrt_close();
  }
}

// A hang is called after what the device counted meanwhile.
void lost_executions(Report& r) {
  struct Loss {
    const char* faults;
    int status;
    const char* how;
  };
  constexpr Loss kLosses[] = {
      {"[{point: hbm_uncorrected}, {point: hang}]", NRT_EXEC_HW_ERR_HBM_UE, "hang, HBM error"},
      {"[{point: hbm_repairable}, {point: hang}]", NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE,
       "hang, repairable HBM error"},
      {"[{point: dma_abort}, {point: hang}]", NRT_EXEC_HW_ERR_DMA_ABORT, "hang, DMA abort"},
      {"[{point: sram_uncorrected}, {point: hang}]", NRT_EXEC_HW_ERR_NC_UE, "hang, SRAM error"},
      {"[{point: queue_overflow}]", NRT_EXEC_SW_NQ_OVERFLOW, "lost notifications"},
  };
  for (const auto& [f, execute] : kWays)
    for (const Loss& loss : kLosses) {
      setenv("OPENNRT_EMULATOR_FAULTS", loss.faults, 1);
      start(r);
      Objects o;
      o.make(r, load_vecadd(r));
      r.about(f, loss.how);
      r.call(f, {loss.status}, loss.how, execute(o.model, o.in, o.out));
      r.call(f, {NRT_EXEC_UNIT_UNRECOVERABLE}, std::string("after ") + loss.how,
             execute(o.model, o.in, o.out));
      nrt_close();
    }
  unsetenv("OPENNRT_EMULATOR_FAULTS");
}

// NaN is an error only for those who ask.
void numerical_errors(Report& r) {
  setenv("NEURON_FAIL_ON_NAN", "1", 1);
  start(r);
  Objects o;
  o.make(r, load_vecadd(r));
  for (const auto& [f, execute] : kWays) {
    faults().control("inject 0 0 error 1 0", nullptr, 0);
    r.call(f, {NRT_EXEC_COMPLETED_WITH_NUM_ERR}, "NaN with fail-on-NaN",
           execute(o.model, o.in, o.out));
    r.call(f, {NRT_SUCCESS}, "after NaN", execute(o.model, o.in, o.out));
  }
  nrt_close();
  unsetenv("NEURON_FAIL_ON_NAN");
  start(r);
  o = {};
  o.make(r, load_vecadd(r));
  for (const auto& [f, execute] : kWays) {
    faults().control("inject 0 0 error 1 0", nullptr, 0);
    r.call(f, {NRT_SUCCESS}, "NaN", execute(o.model, o.in, o.out));
  }
  nrt_close();
}

// vecadd whose last wait is for a transfer that never comes.
nrt_model_t* load_stuck(Report& r) {
  const std::vector<char> bytes = file_bytes(OPENNRT_VECADD_SOURCE);
  std::string text(bytes.begin(), bytes.end());
  const std::string from = "NOP wait=SEM_GE_IMM(13) value=16";
  const auto at = text.rfind(from);
  r.need(at != std::string::npos, "the last wait of vecadd.yaml");
  text.replace(at, from.size(), "NOP wait=SEM_GE_IMM(13) value=17");
  neffkit::Program program;
  std::string error;
  std::vector<std::uint8_t> neff;
  r.need(neffkit::parse_program(text, "stuck.yaml", &program, &error) &&
             neffkit::pack_neff(program, neffkit::make_members(program), &neff, &error),
         "a program that waits for ever");
  nrt_model_t* model = nullptr;
  r.need(nrt_load(neff.data(), neff.size(), 0, 1, &model) == NRT_SUCCESS, "loading it");
  return model;
}

void hangs(Report& r) {
  setenv("NEURON_RT_EXEC_TIMEOUT", "1", 1);
  for (const auto& [f, execute] : kWays) {
    start(r);
    Objects o;
    o.make(r, load_vecadd(r));
    nrt_model_t* const stuck = load_stuck(r);
    r.about(f, "hang");
    r.call(f, {NRT_TIMEOUT}, "program that never ends", execute(stuck, o.in, o.out));
    r.call(f, {NRT_EXEC_UNIT_UNRECOVERABLE}, "after a timeout", execute(o.model, o.in, o.out));
    r.about("nrt_unload", "dead unit");
    nrt_unload(stuck);
    nrt_close();

    start(r);
    o = {};
    o.make(r, load_vecadd(r));
    // Nobody reads what is not needed between executions: the queue fills up.
    for (int i = 0; i < 100'000; ++i)
      if (faults().control("inject 0 0 4 6 6", nullptr, 0) < 0) break;
    r.about(f, "overflow");
    r.call(f, {NRT_EXEC_SW_NQ_OVERFLOW}, "notification queue full", execute(o.model, o.in, o.out));
    r.call(f, {NRT_EXEC_UNIT_UNRECOVERABLE}, "after an overflow", execute(o.model, o.in, o.out));
    nrt_close();
  }
}

void driver_errors(Report& r) {
  for (const auto& [f, execute] : kWays) {
    for (const auto& [error, status] : {std::pair<int, int>{EIO, NRT_FAILURE},
                                        {EBUSY, NRT_EXEC_NC_BUSY},
                                        {ENOMEM, NRT_RESOURCE}}) {
      start(r);
      Objects o;
      o.make(r, load_vecadd(r));
      r.need(execute(o.model, o.in, o.out) == NRT_SUCCESS, "an execution");
      faults().fail("SEMAPHORE_INCREMENT", error, 0);
      r.about(f, "kick");
      r.call(f, {status}, "kick refused with errno " + std::to_string(error),
             execute(o.model, o.in, o.out));
      faults().clear();
      nrt_close();
    }
  }
}

constexpr std::array kScenes = {Scene{"execution: arguments", arguments},
                                Scene{"execution: device errors", device_errors},
                                Scene{"execution: numerical errors", numerical_errors},
                                Scene{"execution: hangs", hangs},
                                Scene{"execution: lost executions", lost_executions},
                                Scene{"execution: driver errors", driver_errors}};

}  // namespace

std::span<const Probe> execution_probes() { return kProbes; }
std::span<const Scene> execution_scenes() { return kScenes; }

}  // namespace opennrt::status_table
