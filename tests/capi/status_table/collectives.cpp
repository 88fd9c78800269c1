// SPDX-License-Identifier: Apache-2.0
//
// Communicators of one rank, which need no network; several ranks do not meet.
#include <array>

#include "nrt/nrt_experimental.h"
#include "table.h"

namespace opennrt::status_table {
namespace {

int gather(int vnc, std::uint32_t id, std::uint32_t n) {
  char in[8] = {}, out[8];
  return nrt_all_gather(vnc, id, n, sizeof in, in, out);
}

const std::array kProbes = {
    Probe{"nrt_build_global_comm", Guard::kFull,
          [](Objects&) -> int { return nrt_build_global_comm(0, 0, 1); }},
    Probe{"nrt_cc_global_comm_init", Guard::kFull,
          [](Objects&) -> int { return nrt_cc_global_comm_init(0, 0, 1); }},
    Probe{"nrt_cc_create_stream", Guard::kNone,
          [](Objects&) -> int { return nrt_cc_create_stream(3); }},
    Probe{"nrt_barrier", Guard::kFull, [](Objects&) -> int { return nrt_barrier(0, 0, 1); }},
    Probe{"nrt_all_gather", Guard::kFull, [](Objects&) { return gather(0, 0, 1); }},
};

struct Way {
  const char* function;
  int (*call)(int vnc, std::uint32_t id, std::uint32_t n);
};
constexpr Way kWays[] = {
    {"nrt_build_global_comm",
     [](int vnc, std::uint32_t id, std::uint32_t n) -> int {
       return nrt_build_global_comm(vnc, id, n);
     }},
    {"nrt_cc_global_comm_init",
     [](int vnc, std::uint32_t id, std::uint32_t n) -> int {
       return nrt_cc_global_comm_init(static_cast<std::uint32_t>(vnc), id, n);
     }},
    {"nrt_barrier",
     [](int vnc, std::uint32_t id, std::uint32_t n) -> int { return nrt_barrier(vnc, id, n); }},
    {"nrt_all_gather", gather},
};

void ranks(Report& r) {
  for (const auto& [f, call] : kWays) {
    start(r);
    for (const int vnc : {-1, 2, 256})
      r.call(f, {NRT_INVALID}, "logical core " + std::to_string(vnc), call(vnc, 0, 1));
    r.call(f, {NRT_INVALID}, "rank 1 of 1", call(0, 1, 1));
    r.call(f, {NRT_INVALID}, "no ranks", call(0, 0, 0));
    r.call(f, {NRT_FAILURE}, "ranks that do not meet", call(1, 0, 2));
    r.call(f, {NRT_SUCCESS}, "one rank", call(0, 0, 1));
    r.call(f, {NRT_SUCCESS}, "again", call(0, 0, 1));
    r.call(f, {NRT_INVALID}, "another rank than before", call(0, 1, 2));
    nrt_close();
  }
  start(r);
  r.call("nrt_barrier", {NRT_FAILURE}, "ranks that do not meet", nrt_barrier(1, 0, 2));
  r.call("nrt_barrier", {NRT_FAILURE}, "after a failed set-up", nrt_barrier(1, 0, 1));
  char b[8] = {};
  r.null("nrt_all_gather", 4, {NRT_INVALID}, nrt_all_gather(0, 0, 1, 8, nullptr, b));
  r.null("nrt_all_gather", 5, {NRT_INVALID}, nrt_all_gather(0, 0, 1, 8, b, nullptr));
  nrt_close();
}

constexpr std::array kScenes = {Scene{"ranks", ranks}};

}  // namespace

std::span<const Probe> collectives_probes() { return kProbes; }
std::span<const Scene> collectives_scenes() { return kScenes; }

}  // namespace opennrt::status_table
