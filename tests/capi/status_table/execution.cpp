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

// What the device reports or counts during the first execution.
struct Fault {
  const char* points;  // emulator.faults
  int status;
  const char* how;
  bool kills;  // the unit is dead then
};

// Raw types of error records and custom sub-ids: behaviour of the published
// runtime 2.31.
constexpr Fault kFaults[] = {
    {"[{point: error_record, type: 0}]", NRT_SUCCESS, "FP underflow", false},
    {"[{point: error_record, type: 1}]", NRT_SUCCESS, "NaN", false},
    {"[{point: error_record, type: 2}]", NRT_SUCCESS, "FP infinity", false},
    {"[{point: error_record, type: 3}]", NRT_SUCCESS, "FP overflow", false},
    {"[{point: error_record, type: 5}]", NRT_EXEC_COMPLETED_WITH_ERR, "injected error", false},
    {"[{point: error_record, type: 6}]", NRT_EXEC_COMPLETED_WITH_ERR, "semaphore error", false},
    {"[{point: error_record, type: 7}]", NRT_EXEC_COMPLETED_WITH_ERR, "event error", false},
    {"[{point: error_record, type: 8}]", NRT_EXEC_COMPLETED_WITH_ERR, "PSUM collision", false},
    {"[{point: error_record, type: 9}]", NRT_EXEC_COMPLETED_WITH_ERR, "sequencer error", false},
    {"[{point: custom_record, engine: PE, sub_id: 0}]", NRT_EXEC_OOB,
     "embedding update out of bounds", false},
    {"[{point: custom_record, engine: ACT, sub_id: 3}]", NRT_EXEC_OOB,
     "indirect copy out of bounds", false},
    {"[{point: custom_record, engine: SP, sub_id: 10}]", NRT_EXEC_OOB,
     "transposing gather out of bounds", false},
    {"[{point: custom_record, engine: POOL, sub_id: 6}]", NRT_SUCCESS, "debug value", false},
    // The higher rank is reported.
    {"[{point: custom_record, sub_id: 0}, {point: error_record, type: 5}]",
     NRT_EXEC_COMPLETED_WITH_ERR, "out of bounds and an error", false},
    {"[{point: error_record, type: 4}]", NRT_EXEC_HW_ERR_NC_UE, "memory error", true},
    {"[{point: error_record, type: 99}]", NRT_HW_ERROR, "error of unknown type", true},
    {"[{point: custom_record, sub_id: 99}]", NRT_HW_ERROR, "unknown custom record", true},
    // A hang is called after what the device counted meanwhile.
    {"[{point: hbm_uncorrected}, {point: hang}]", NRT_EXEC_HW_ERR_HBM_UE, "hang, HBM error", true},
    {"[{point: hbm_repairable}, {point: hang}]", NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE,
     "hang, repairable HBM error", true},
    {"[{point: dma_abort}, {point: hang}]", NRT_EXEC_HW_ERR_DMA_ABORT, "hang, DMA abort", true},
    {"[{point: sram_uncorrected}, {point: hang}]", NRT_EXEC_HW_ERR_NC_UE, "hang, SRAM error", true},
    {"[{point: queue_overflow}]", NRT_EXEC_SW_NQ_OVERFLOW, "lost notifications", true},
};

void expect_fault(Report& r, const std::pair<const char*, Execute>& way, const Fault& fault) {
  const auto& [f, execute] = way;
  setenv("OPENNRT_EMULATOR_FAULTS", fault.points, 1);
  start(r);
  Objects o;
  o.make(r, load_vecadd(r));
  r.about(f, fault.how);
  r.call(f, {fault.status}, fault.how, execute(o.model, o.in, o.out));
  const int next = fault.kills ? NRT_EXEC_UNIT_UNRECOVERABLE : NRT_SUCCESS;
  r.call(f, {next}, std::string("after ") + fault.how, execute(o.model, o.in, o.out));
  nrt_close();
  unsetenv("OPENNRT_EMULATOR_FAULTS");
}

void device_errors(Report& r) {
  setenv("NEURON_RT_EXEC_TIMEOUT", "2", 1);
  for (const auto& way : kWays)
    for (const Fault& fault : kFaults) expect_fault(r, way, fault);
}

// NaN is an error only for those who ask.
void numerical_errors(Report& r) {
  setenv("NEURON_FAIL_ON_NAN", "1", 1);
  for (const auto& way : kWays)
    expect_fault(r, way,
                 {"[{point: error_record, type: 1}]", NRT_EXEC_COMPLETED_WITH_NUM_ERR,
                  "NaN with fail-on-NaN", false});
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

constexpr std::array kScenes = {
    Scene{"execution: arguments", arguments}, Scene{"execution: device errors", device_errors},
    Scene{"execution: numerical errors", numerical_errors}, Scene{"execution: hangs", hangs},
    Scene{"execution: driver errors", driver_errors}};

}  // namespace

std::span<const Probe> execution_probes() { return kProbes; }
std::span<const Scene> execution_scenes() { return kScenes; }

}  // namespace opennrt::status_table
