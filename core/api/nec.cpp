// SPDX-License-Identifier: Apache-2.0
//
// What a collectives library asks of the runtime, in every state.
#include "nrt/nec.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <span>

#include "api/entry.h"
#include "book/devices.h"
#include "collectives/dynamic_table.h"
#include "collectives/topology.h"
#include "collectives/unsupported.h"

using namespace opennrt;
using namespace opennrt::api;
using collectives::DynamicTable;

namespace {

constexpr int kUnknown = -1;
constexpr int kMostPlaces = 64;  // devices of a host

collectives::Topology& topology() {
  static collectives::Topology* const one = new collectives::Topology;
  return *one;
}

DynamicTable table_of(const enc_host_mem_t* memory, int ranks) {
  if (memory == nullptr) return {{}, 0};
  return {{static_cast<std::byte*>(memory->va), memory->size}, ranks};
}

// The topology has a lock, which another thread may have held at the fork.
bool usable() { return state() != State::kChild; }

}  // namespace

extern "C" {

// The register adds what is stored.
void nec_inc_semaphore(volatile uint32_t* sem_inc_addr, uint32_t val) {
  if (sem_inc_addr != nullptr) *sem_inc_addr = val;
}

size_t nec_get_dynamic_send_size_bytes(enc_host_mem_t* dyn_input, size_t data_type_sz, int dst_rank,
                                       int rank_n) {
  return table_of(dyn_input, rank_n).bytes(DynamicTable::Row::kSendCount, dst_rank, data_type_sz);
}

size_t nec_get_dynamic_send_offset_bytes(enc_host_mem_t* dyn_input, size_t data_type_sz,
                                         int dst_rank, int rank_n) {
  return table_of(dyn_input, rank_n).bytes(DynamicTable::Row::kSendOffset, dst_rank, data_type_sz);
}

size_t nec_get_dynamic_recv_offset_bytes(enc_host_mem_t* dyn_input, size_t data_type_sz,
                                         int src_rank, int rank_n) {
  return table_of(dyn_input, rank_n).bytes(DynamicTable::Row::kRecvOffset, src_rank, data_type_sz);
}

void nec_set_recv_size_bytes(enc_host_mem_t* dyn_input, size_t recv_size_bytes, size_t data_type_sz,
                             int src_rank, int rank_n) {
  table_of(dyn_input, rank_n)
      .set_bytes(DynamicTable::Row::kRecvCount, src_rank, data_type_sz, recv_size_bytes);
}

int nec_get_device_count(int* available_devices_array, uint32_t array_size) {
  int count = 0;
  unguarded(__func__, [&] {
    return with_machine([&](const book::Machine& machine, const config::Config&) -> Status {
      const auto& devices = machine.devices;
      count = static_cast<int>(devices.size());
      if (available_devices_array == nullptr) return {};
      const size_t n = std::min<size_t>(array_size, devices.size());
      std::transform(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(n),
                     available_devices_array, [](uint32_t i) { return static_cast<int>(i); });
      return {};
    });
  });
  return count;
}

int nec_get_device_pci_bdf(int neuron_dev, uint32_t* domain, uint32_t* bus_num, uint8_t* pci_slot,
                           uint8_t* dev_func) {
  if (domain == nullptr || bus_num == nullptr || pci_slot == nullptr || dev_func == nullptr)
    return -EINVAL;
  const NRT_STATUS code = unguarded(__func__, [&] {
    return on_machine([&](const MachineView& view) -> Status {
      const book::Devices devices(view.driver, view.machine);
      ONRT_ASSIGN(const nrtp_ndl_bdf found, devices.pci_address(neuron_dev));
      *domain = found.domain;
      *bus_num = found.bus;
      *pci_slot = static_cast<uint8_t>(found.slot);
      *dev_func = static_cast<uint8_t>(found.function);
      return {};
    });
  });
  if (code == NRT_SUCCESS) return 0;
  return code == NRT_INVALID ? -ENODEV : -EIO;
}

NRT_STATUS nec_get_virtual_core_size(uint32_t* virtual_core_size) {
  return unguarded(__func__, [&]() -> Status {
    ONRT_TRY(require(virtual_core_size, "virtual_core_size"));
    return with_machine([&](const book::Machine& machine, const config::Config& config) -> Status {
      ONRT_ASSIGN(*virtual_core_size, book::lnc_size(machine, config));
      return {};
    });
  });
}

NRT_STATUS nec_build_port_and_rid_map(int local_nec_dev_id, int* mla_indexes, int* host_device_ids,
                                      int count) {
  return unguarded(__func__, [&]() -> Status {
    ONRT_TRY(require(mla_indexes, "mla_indexes"));
    ONRT_TRY(require(host_device_ids, "host_device_ids"));
    if (count < 1 || count > kMostPlaces)
      return Status::invalid("count is {}, must be 1 to {}", count, kMostPlaces);
    std::vector<collectives::Topology::Place> places;
    for (int i = 0; i < count; ++i) places.push_back({mla_indexes[i], host_device_ids[i]});
    return on_machine([&](const MachineView& view) -> Status {
      const book::Devices devices(view.driver, view.machine);
      // Says whether there is such a device.
      ONRT_TRY(devices.pci_address(local_nec_dev_id).status().with_context("local_nec_dev_id"));
      ONRT_ASSIGN(const std::vector<uint32_t> routing_ids, devices.routing_ids());
      return topology().set_view(local_nec_dev_id, places, routing_ids);
    });
  });
}

bool nec_is_mla_available(int local_nec_dev_id, int mla_idx) {
  return usable() && topology().has(local_nec_dev_id, mla_idx);
}

int nec_mla_idx_to_rid(int local_nec_dev_id, int mla_idx) {
  return usable() ? topology().routing_id(local_nec_dev_id, mla_idx).value_or(kUnknown) : kUnknown;
}

int nec_rid_to_mla_idx(int local_nec_dev_id, int rid) {
  return usable() ? topology().position(local_nec_dev_id, rid).value_or(kUnknown) : kUnknown;
}

int nec_get_peer_mla_idx(int local_nec_dev_id, int mla_idx, int port) {
  ONRT_LOG(kNrt, kDebug, "device {}, position {}, port {}: {}", local_nec_dev_id, mla_idx, port,
           collectives::unsupported(collectives::kPorts).message());
  return kUnknown;
}

int nec_get_p2p_pod_peer_node(uint32_t nec_dev_id, int node, uint32_t port_distance,
                              int* peer_node) {
  if (peer_node == nullptr) return -EINVAL;
  ONRT_LOG(kNrt, kDebug, "device {}, node {}, distance {}: {}", nec_dev_id, node, port_distance,
           collectives::unsupported(collectives::kUltraServer).message());
  return -EOPNOTSUPP;
}

NRT_STATUS nec_pod_node_can_access_peer_node(nec_pod_type_t pod_type, uint32_t,
                                             uint32_t local_node_id, uint32_t,
                                             uint32_t remote_node_id, int* can_access_peer) {
  return unguarded(__func__, [&]() -> Status {
    ONRT_TRY(require(can_access_peer, "can_access_peer"));
    if (pod_type != NEC_POD_TYPE_NONE && pod_type != NEC_POD_TYPE_P2P &&
        pod_type != NEC_POD_TYPE_SWITCH)
      return Status::invalid("pod_type is {}", static_cast<int>(pod_type));
    // Between nodes nothing is reached, so that nobody relies on it.
    *can_access_peer = local_node_id == remote_node_id ? 1 : 0;
    if (*can_access_peer == 0)
      ONRT_LOG(kNrt, kInfo, "node {} to {}: {}", local_node_id, remote_node_id,
               collectives::unsupported(collectives::kUltraServer).message());
    return {};
  });
}

void nec_ndl_printk(char* str, uint32_t size, uint32_t action) {
  constexpr uint32_t kMostBytes = 1024;
  if (str == nullptr || size == 0) return;
  const Entry entry;
  if (!entry) return;
  const book::Driver& driver = session().driver();
  // A driver without this request loses the line; nobody waits for it.
  driver.ndl().misc->printk(driver.ctx(), str, std::min(size, kMostBytes), action);
}

}  // extern "C"
