// SPDX-License-Identifier: Apache-2.0
#include "driver/request_faults.h"

namespace opennrt::emu {

RequestFaults::RequestFaults(const std::vector<Fault>& faults, std::uint32_t devices,
                             std::size_t requests)
    : requests_(requests), by_request_(devices * requests) {
  for (const Fault& fault : faults) {
    if (fault.request >= requests || fault.device >= devices) continue;
    Item& item = items_.emplace_back(fault);
    by_request_[fault.device * requests + fault.request].push_back(&item);
  }
}

RequestFaults::Outcome RequestFaults::next(std::uint32_t device, std::size_t request) {
  Outcome outcome;
  for (Item* item : by_request_[device * requests_ + request]) {
    const Fault& fault = item->fault;
    if (!fault.covers(item->seen.fetch_add(1, std::memory_order_relaxed) + 1)) continue;
    if (fault.point == Fault::Point::kKillProcess) outcome.kill = true;
    outcome.latency_us += fault.latency_us;
    if (outcome.result == 0)
      outcome.result = fault.error ? -std::int64_t{fault.error} : std::int64_t{fault.residue};
  }
  return outcome;
}

}  // namespace opennrt::emu
