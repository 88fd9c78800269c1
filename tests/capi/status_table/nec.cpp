// SPDX-License-Identifier: Apache-2.0
//
// What a collectives library calls: mostly answers, few statuses.
#include "nrt/nec.h"

#include <errno.h>

#include <array>

#include "table.h"

namespace opennrt::status_table {
namespace {

// Four rows of u32 for two ranks.
struct Table {
  std::uint32_t rows[4][2] = {{3, 4}, {5, 6}, {7, 8}, {9, 10}};
  enc_host_mem_t memory{nullptr, rows, 0, sizeof rows};
};

int answer(bool yes) { return yes ? kAnswer : kNeutral; }

int device_count() {
  int ids[4];
  return answer(nec_get_device_count(ids, 4) > 0);
}

int address(int device) {
  std::uint32_t domain = 0, bus = 0;
  std::uint8_t slot = 0, function = 0;
  return answer(nec_get_device_pci_bdf(device, &domain, &bus, &slot, &function) == 0);
}

int build() {
  int positions[1] = {0}, hosts[1] = {0};
  return nec_build_port_and_rid_map(0, positions, hosts, 1);
}

const std::array kProbes = {
    Probe{"nec_inc_semaphore",
          Guard::kNone,
          [](Objects&) -> int {
            volatile std::uint32_t word = 0;
            nec_inc_semaphore(&word, 5);
            return word == 5 ? kDone : kNeutral;
          },
          {kDone}},
    Probe{"nec_get_dynamic_send_size_bytes",
          Guard::kNone,
          [](Objects&) {
            Table t;
            return answer(nec_get_dynamic_send_size_bytes(&t.memory, 4, 1, 2) != 0);
          },
          {kAnswer}},
    Probe{"nec_get_dynamic_send_offset_bytes",
          Guard::kNone,
          [](Objects&) {
            Table t;
            return answer(nec_get_dynamic_send_offset_bytes(&t.memory, 4, 1, 2) != 0);
          },
          {kAnswer}},
    Probe{"nec_get_dynamic_recv_offset_bytes",
          Guard::kNone,
          [](Objects&) {
            Table t;
            return answer(nec_get_dynamic_recv_offset_bytes(&t.memory, 4, 1, 2) != 0);
          },
          {kAnswer}},
    Probe{"nec_set_recv_size_bytes",
          Guard::kNone,
          [](Objects&) -> int {
            Table t;
            nec_set_recv_size_bytes(&t.memory, 400, 4, 1, 2);
            return kDone;
          },
          {kDone}},
    Probe{"nec_get_device_count", Guard::kNone, [](Objects&) { return device_count(); }, {kAnswer}},
    Probe{"nec_get_device_pci_bdf",
          Guard::kNone,
          [](Objects&) { return address(0); },
          {kAnswer},
          {},
          {},
          {kNeutral}},
    Probe{"nec_get_virtual_core_size", Guard::kNone,
          [](Objects&) -> int {
            std::uint32_t size = 0;
            return nec_get_virtual_core_size(&size);
          }},
    Probe{"nec_build_port_and_rid_map",
          Guard::kNone,
          [](Objects&) { return build(); },
          {0},
          {},
          {},
          {NRT_FAILURE}},
    Probe{"nec_is_mla_available",
          Guard::kNone,
          [](Objects&) {
            build();
            return answer(nec_is_mla_available(0, 0));
          },
          {kAnswer},
          {},
          {},
          {kNeutral}},
    Probe{"nec_mla_idx_to_rid",
          Guard::kNone,
          [](Objects&) {
            build();
            return answer(nec_mla_idx_to_rid(0, 0) >= 0);
          },
          {kAnswer},
          {},
          {},
          {kNeutral}},
    Probe{"nec_rid_to_mla_idx",
          Guard::kNone,
          [](Objects&) {
            build();
            return answer(nec_rid_to_mla_idx(0, nec_mla_idx_to_rid(0, 0)) == 0);
          },
          {kAnswer},
          {},
          {},
          {kNeutral}},
    // The wiring of ports and pods is not published: always unknown.
    Probe{"nec_get_peer_mla_idx",
          Guard::kNone,
          [](Objects&) { return answer(nec_get_peer_mla_idx(0, 0, 0) >= 0); },
          {kNeutral}},
    Probe{"nec_get_p2p_pod_peer_node",
          Guard::kNone,
          [](Objects&) {
            int node = 0;
            return answer(nec_get_p2p_pod_peer_node(0, 0, 1, &node) == 0);
          },
          {kNeutral}},
    Probe{"nec_pod_node_can_access_peer_node", Guard::kNone,
          [](Objects&) -> int {
            int can = 0;
            return nec_pod_node_can_access_peer_node(NEC_POD_TYPE_P2P, 0, 0, 0, 1, &can);
          }},
    Probe{"nec_ndl_printk",
          Guard::kNone,
          [](Objects&) -> int {
            char text[] = "a line";
            nec_ndl_printk(text, sizeof text, 0);
            return kDone;
          },
          {kDone}},
};

void arguments(Report& r) {
  Table t;
  const char* f = "nec_inc_semaphore";
  nec_inc_semaphore(nullptr, 1);
  r.null(f, 0, {kDone}, kDone);
  r.null("nec_get_dynamic_send_size_bytes", 0, {kNeutral},
         answer(nec_get_dynamic_send_size_bytes(nullptr, 4, 0, 2) != 0));
  r.null("nec_get_dynamic_send_offset_bytes", 0, {kNeutral},
         answer(nec_get_dynamic_send_offset_bytes(nullptr, 4, 0, 2) != 0));
  r.null("nec_get_dynamic_recv_offset_bytes", 0, {kNeutral},
         answer(nec_get_dynamic_recv_offset_bytes(nullptr, 4, 0, 2) != 0));
  nec_set_recv_size_bytes(nullptr, 4, 4, 0, 2);
  r.null("nec_set_recv_size_bytes", 0, {kDone}, kDone);
  r.call("nec_get_dynamic_send_size_bytes", {kNeutral}, "rank 2 of 2",
         answer(nec_get_dynamic_send_size_bytes(&t.memory, 4, 2, 2) != 0));
  r.null("nec_get_device_count", 0, {kAnswer}, answer(nec_get_device_count(nullptr, 0) > 0));
  std::uint32_t a = 0, b = 0;
  std::uint8_t c = 0, d = 0;
  f = "nec_get_device_pci_bdf";
  const auto bdf = [&](std::uint32_t* domain, std::uint32_t* bus, std::uint8_t* slot,
                       std::uint8_t* function, int device = 0) {
    const int result = nec_get_device_pci_bdf(device, domain, bus, slot, function);
    return result < 0 && result > -4096 ? kNeutral : kAnswer;  // a negative errno
  };
  r.null(f, 1, {kNeutral}, bdf(nullptr, &b, &c, &d));
  r.null(f, 2, {kNeutral}, bdf(&a, nullptr, &c, &d));
  r.null(f, 3, {kNeutral}, bdf(&a, &b, nullptr, &d));
  r.null(f, 4, {kNeutral}, bdf(&a, &b, &c, nullptr));
  for (const int device : {-1, 9})
    r.call(f, {kNeutral}, "device " + std::to_string(device), bdf(&a, &b, &c, &d, device));
  r.null("nec_get_virtual_core_size", 0, {NRT_INVALID}, nec_get_virtual_core_size(nullptr));
  f = "nec_build_port_and_rid_map";
  int positions[2] = {0, 0}, hosts[2] = {0, 0};
  r.null(f, 1, {NRT_INVALID}, nec_build_port_and_rid_map(0, nullptr, hosts, 1));
  r.null(f, 2, {NRT_INVALID}, nec_build_port_and_rid_map(0, positions, nullptr, 1));
  for (const int n : {0, -1, 1000})
    r.call(f, {NRT_INVALID}, std::to_string(n) + " entries",
           nec_build_port_and_rid_map(0, positions, hosts, n));
  r.call(f, {NRT_INVALID}, "device 9", nec_build_port_and_rid_map(9, positions, hosts, 1));
  r.call(f, {NRT_INVALID}, "one position twice",
         nec_build_port_and_rid_map(0, positions, hosts, 2));
  r.call("nec_is_mla_available", {kNeutral}, "no table", answer(nec_is_mla_available(0, 0)));
  r.call("nec_mla_idx_to_rid", {kNeutral}, "no table", answer(nec_mla_idx_to_rid(0, 0) != -1));
  r.call("nec_rid_to_mla_idx", {kNeutral}, "no table", answer(nec_rid_to_mla_idx(0, 0) != -1));
  const int p2p = nec_get_p2p_pod_peer_node(0, 0, 1, nullptr);
  r.null("nec_get_p2p_pod_peer_node", 3, {kNeutral}, p2p < 0 ? kNeutral : kAnswer);
  f = "nec_pod_node_can_access_peer_node";
  int can = 0;
  r.null(f, 5, {NRT_INVALID},
         nec_pod_node_can_access_peer_node(NEC_POD_TYPE_P2P, 0, 0, 0, 1, nullptr));
  r.call(f, {NRT_INVALID}, "pod type 99",
         nec_pod_node_can_access_peer_node(static_cast<nec_pod_type_t>(99), 0, 0, 0, 1, &can));
  nec_ndl_printk(nullptr, 4, 0);
  r.null("nec_ndl_printk", 0, {kDone}, kDone);
  start(r);
  faults().fail("HOST_DEVICE_ID_TO_RID_MAP", EIO, 0);
  r.call("nec_build_port_and_rid_map", {NRT_FAILURE}, "driver fails", build());
  faults().clear();
  nrt_close();
}

// Nothing to ask: neither count nor size nor address.
void no_device(Report& r) {
  setenv("OPENNRT_DEVICE", "no-such-port", 1);
  r.call("nec_get_device_count", {kNeutral}, "no device", device_count());
  std::uint32_t size = 0;
  r.call("nec_get_virtual_core_size", {NRT_INVALID}, "no device", nec_get_virtual_core_size(&size));
  r.call("nec_get_device_pci_bdf", {kNeutral}, "no device", address(0));
  r.call("nec_build_port_and_rid_map", {NRT_INVALID}, "no device", build());
}

constexpr std::array kScenes = {Scene{"nec: arguments", arguments},
                                Scene{"nec: no device", no_device}};

}  // namespace

std::span<const Probe> nec_probes() { return kProbes; }
std::span<const Scene> nec_scenes() { return kScenes; }

}  // namespace opennrt::status_table
