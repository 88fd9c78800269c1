// SPDX-License-Identifier: Apache-2.0
//
// The entries of emulator.faults that name driver requests: which of them act on
// the request at hand. Made once; a machine without such entries has none, and a
// request then costs one branch.
//
// Threading: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "device/faults.h"

namespace opennrt::emu {

class RequestFaults {
 public:
  // requests: how many there are; Fault::request is an index below it.
  RequestFaults(const std::vector<Fault>& faults, std::uint32_t devices, std::size_t requests);
  bool empty() const { return items_.empty(); }

  struct Outcome {
    std::uint32_t latency_us = 0;
    bool kill = false;
    std::int64_t result = 0;  // 0: the request is carried out
  };
  // Counts the request. Of several entries the latencies add up and the first
  // result holds.
  Outcome next(std::uint32_t device, std::size_t request);

 private:
  struct Item {
    explicit Item(const Fault& f) : fault(f) {}
    Fault fault;
    std::atomic<std::uint64_t> seen{0};
  };
  std::size_t requests_;
  std::deque<Item> items_;
  std::vector<std::vector<Item*>> by_request_;  // device * requests_ + request
};

}  // namespace opennrt::emu
