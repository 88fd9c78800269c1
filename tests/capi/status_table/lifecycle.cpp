// SPDX-License-Identifier: Apache-2.0
//
// Start, end, and what may be asked at any time.
#include <errno.h>

#include <array>
#include <cstring>

#include "nrt/nrt_experimental.h"
#include "nrt/nrt_version.h"
#include "table.h"

namespace opennrt::status_table {
namespace {

using Count = NRT_STATUS (*)(std::uint32_t*);

template <Count F>
int count(Objects&) {
  std::uint32_t n = 0;
  return F(&n);
}

const std::array kProbes = {
    Probe{"nrt_init", Guard::kInit,
          [](Objects&) -> int { return nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""); }},
    Probe{"nrt_close",
          Guard::kClose,
          [](Objects&) -> int {
            nrt_close();
            return kDone;
          },
          {kDone}},
    Probe{"nrt_get_version", Guard::kNone,
          [](Objects&) -> int {
            nrt_version_t v{};
            return nrt_get_version(&v, sizeof v);
          }},
    Probe{"nrt_get_total_vnc_count", Guard::kNone, count<nrt_get_total_vnc_count>},
    Probe{"nrt_get_total_nc_count", Guard::kNone, count<nrt_get_total_nc_count>},
    Probe{"nrt_get_visible_vnc_count", Guard::kNone, count<nrt_get_visible_vnc_count>},
    Probe{"nrt_get_visible_nc_count", Guard::kNone, count<nrt_get_visible_nc_count>},
    Probe{"nrt_get_instance_info", Guard::kNone,
          [](Objects&) -> int {
            nrt_instance_info_t info;
            return nrt_get_instance_info(&info, sizeof info);
          }},
    Probe{"nrt_get_libnccl_net",
          Guard::kNone,
          [](Objects&) -> int {
            int error = 0;
            char text[64];
            return nrt_get_libnccl_net(&error, text, sizeof text) == nullptr && error != 0
                       ? kNeutral
                       : kAnswer;
          },
          {kNeutral}},
    Probe{"nrt_register_async_exec_callback", Guard::kNone,
          [](Objects&) -> int { return nrt_register_async_exec_callback(nullptr, nullptr); }},
    Probe{"nrt_set_pool_eng_ucode", Guard::kStartOnly,
          [](Objects&) -> int {
            static std::uint8_t code[16];
            const nrt_ucode_info info{{code, sizeof code}, {code, sizeof code}};
            return nrt_set_pool_eng_ucode(&info);
          }},
};

int init() { return nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""); }

// A failed nrt_init leaves the library as it was.
void refused(Report& r, const std::string& how, int want) {
  r.call("nrt_init", {want}, how, init());
  nrt_tensor_t* t = nullptr;
  r.call("nrt_tensor_allocate_empty", {NRT_UNINITIALIZED}, "after a failed nrt_init",
         nrt_tensor_allocate_empty("t", &t));
}

void init_statuses(Report& r) {
  setenv("NEURON_RT_EXEC_TIMEOUT", "soon", 1);
  refused(r, "configuration that is no number", NRT_INVALID);
  unsetenv("NEURON_RT_EXEC_TIMEOUT");
  setenv("NEURON_RT_VISIBLE_CORES", "7", 1);
  refused(r, "core that does not exist", NRT_INVALID);
  unsetenv("NEURON_RT_VISIBLE_CORES");
  setenv("OPENNRT_DEVICE", "no-such-port", 1);
  refused(r, "no device", NRT_INVALID);
  setenv("OPENNRT_DEVICE", "fault", 1);
  // By the first successful attach the port is there.
  r.call("nrt_init", {NRT_SUCCESS}, "after failures", init());
  r.call("nrt_init", {NRT_SUCCESS}, "again", init());
  nrt_close();
  faults().fail("CRWL_NC_RANGE_MARK", EBUSY, 0);
  refused(r, "cores of another process", NRT_FAILURE);
  faults().fail("MEM_ALLOC", ENOMEM, 0);
  refused(r, "device memory exhausted", NRT_RESOURCE);
  faults().fail("BAR_WRITE", EIO, 0);
  refused(r, "register that cannot be written", NRT_HW_ERROR);
  faults().fail("NOTIFICATIONS_INIT", EIO, 0);
  refused(r, "no notification queue", NRT_FAILURE);
  faults().clear();
  if (NoMemory::possible())
    r.call("nrt_init", {NRT_RESOURCE}, "host memory exhausted", OPENNRT_WITHOUT_MEMORY(init()));
  r.call("nrt_init", {NRT_SUCCESS}, "unknown framework",
         nrt_init(static_cast<nrt_framework_type_t>(77), "", ""));
  nrt_close();
  r.null("nrt_init", 1, {NRT_SUCCESS}, nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, nullptr, ""));
  nrt_close();
  r.null("nrt_init", 2, {NRT_SUCCESS}, nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", nullptr));
  nrt_close();
  r.call("nrt_close", {kDone}, "closed already", (nrt_close(), kDone));
}

void init_from_threads(Report& r) {
  from_threads(r, "nrt_init", {NRT_SUCCESS}, [](int) { return init(); });
  from_threads(r, "nrt_close", {kDone}, [](int) {
    nrt_close();
    return kDone;
  });
  // Against each other: success, or the close of another thread is under way.
  from_threads(r, "nrt_init", {NRT_SUCCESS, NRT_CLOSED}, [](int t) -> int {
    if (t % 2 == 0) return init();
    nrt_close();
    return NRT_SUCCESS;
  });
  nrt_close();
}

void queries(Report& r) {
  nrt_version_t v{};
  r.null("nrt_get_version", 0, {NRT_INVALID}, nrt_get_version(nullptr, sizeof v));
  r.call("nrt_get_version", {NRT_FAILURE}, "size 159", nrt_get_version(&v, 159));
  r.call("nrt_get_version", {NRT_SUCCESS}, "size 160", nrt_get_version(&v, 160));
  constexpr std::pair<const char*, Count> kCounts[] = {
      {"nrt_get_total_vnc_count", nrt_get_total_vnc_count},
      {"nrt_get_total_nc_count", nrt_get_total_nc_count},
      {"nrt_get_visible_vnc_count", nrt_get_visible_vnc_count},
      {"nrt_get_visible_nc_count", nrt_get_visible_nc_count}};
  std::uint32_t n = 0;
  for (const auto& [name, f] : kCounts) r.null(name, 0, {NRT_INVALID}, f(nullptr));
  // Before the machine has been seen by this process.
  setenv("OPENNRT_DEVICE", "no-such-port", 1);
  for (const auto& [name, f] : kCounts) r.call(name, {NRT_INVALID}, "no device", f(&n));
  nrt_instance_info_t info;
  r.call("nrt_get_instance_info", {NRT_INVALID}, "no device",
         nrt_get_instance_info(&info, sizeof info));
  setenv("OPENNRT_DEVICE", "fault", 1);
  for (const char* bad : {"0-", "7", "x"}) {
    setenv("NEURON_RT_VISIBLE_CORES", bad, 1);
    for (const auto& [name, f] : {kCounts[2], kCounts[3]})
      r.call(name, {NRT_INVALID}, std::string("visible cores ") + bad, f(&n));
  }
  unsetenv("NEURON_RT_VISIBLE_CORES");
  r.null("nrt_get_instance_info", 0, {NRT_INVALID}, nrt_get_instance_info(nullptr, 32));
  r.call("nrt_get_instance_info", {NRT_SUCCESS}, "older caller", nrt_get_instance_info(&info, 8));
  const auto found = [](const void* p) { return p == nullptr ? kNeutral : kAnswer; };
  char text[8];
  int error = 0;
  r.null("nrt_get_libnccl_net", 0, {kNeutral}, found(nrt_get_libnccl_net(nullptr, text, 8)));
  r.null("nrt_get_libnccl_net", 1, {kNeutral}, found(nrt_get_libnccl_net(&error, nullptr, 8)));
  static std::uint8_t code[16];
  nrt_ucode_info ucode{{code, 16}, {code, 0}};
  r.null("nrt_set_pool_eng_ucode", 0, {NRT_INVALID}, nrt_set_pool_eng_ucode(nullptr));
  r.call("nrt_set_pool_eng_ucode", {NRT_INVALID}, "no bytes", nrt_set_pool_eng_ucode(&ucode));
  ucode = {{nullptr, 16}, {code, 16}};
  r.call("nrt_set_pool_eng_ucode", {NRT_INVALID}, "bytes at NULL", nrt_set_pool_eng_ucode(&ucode));
  r.null("nrt_register_async_exec_callback", 0, {NRT_SUCCESS},
         nrt_register_async_exec_callback(nullptr, &n));
  r.null("nrt_register_async_exec_callback", 1, {NRT_SUCCESS},
         nrt_register_async_exec_callback(
             [](void*, std::uint32_t, std::uint32_t, std::uint64_t, NRT_STATUS) {}, nullptr));
}

constexpr std::array kScenes = {Scene{"nrt_init", init_statuses},
                                Scene{"nrt_init from threads", init_from_threads},
                                Scene{"queries", queries}};

}  // namespace

std::span<const Probe> lifecycle_probes() { return kProbes; }
std::span<const Scene> lifecycle_scenes() { return kScenes; }

}  // namespace opennrt::status_table
