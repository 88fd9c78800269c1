// SPDX-License-Identifier: Apache-2.0
//
// Samples made by hand: a machine, processes, counters.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "watch/figures.h"

namespace opennrt::tools::test {

// `devices` devices with `cores` physical cores each.
inline Sample machine(std::uint32_t devices, std::uint32_t cores, std::uint32_t lnc = 1) {
  Sample out;
  out.at_s = 100;
  out.wall_s = 1'700'000'000;
  out.machine.served_by = "kernel";
  out.machine.driver = "2.27.4.0";
  out.machine.product = "trn1.32xlarge";
  out.machine.lnc = lnc;
  for (std::uint32_t i = 0; i < devices; ++i) {
    Device device;
    device.index = i;
    device.silicon = "Trainium1";
    device.arch = "sunda";
    device.arch_type = 2;
    device.version = "v3";
    device.memory_used = 1024;
    device.memory_total = std::uint64_t{32} << 30;
    device.sram_uncorrected = 3;
    for (std::uint32_t c = 0; c < cores; ++c)
      device.cores.push_back({.core = c, .logical = (i * cores + c) / lnc, .holder = {}});
    out.machine.devices.push_back(std::move(device));
  }
  return out;
}

inline ProcessSample& add_process(Sample* sample, long pid, std::uint32_t device = 0) {
  ProcessSample process;
  process.pid = pid;
  process.command = "python3 serve.py";
  process.started = 17;
  process.lnc = sample->machine.lnc.value_or(1);
  process.stores.push_back({.device = device, .store = {}});
  process.stores.back().store.readable = nds::Readable::kYes;
  sample->processes.push_back(std::move(process));
  return sample->processes.back();
}

inline nds::StoreReading& store(Sample* sample, std::size_t process = 0, std::size_t index = 0) {
  return sample->processes.at(process).stores.at(index).store;
}

// `count` executions of so many microseconds.
inline void execute(nds::StoreReading* store, std::uint32_t core, std::uint64_t count,
                    std::uint64_t us = 1000) {
  auto& counters = store->cores.at(core);
  counters[nds::kInferences] += count;
  counters[nds::kCompleted] += count;
  counters[nds::kTimeInUse] += count * us;
  counters[nds::kLatencyDevice] = us;
  counters[nds::kLatencyTotal] = us + 500;
}

inline nds::ModelReading model(std::uint32_t id, std::uint32_t core, std::uint32_t node = 0) {
  nds::ModelReading out;
  out.model_id = id;
  out.node_id = out.subgraph = node;
  out.core = core;
  out.name = "net";
  out.uuid.fill(0xAB);
  return out;
}

}  // namespace opennrt::tools::test
