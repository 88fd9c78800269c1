// SPDX-License-Identifier: Apache-2.0
//
// `lnc` physical cores that run one program together.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "tdrv/core_node.h"
#include "tdrv/software_device.h"

namespace opennrt::tdrv {

class ModelImpl;

struct LogicalCore {
  static constexpr std::size_t kMaxCores = 2;

  std::uint32_t index = 0;  // process-local
  std::uint32_t form = 0;   // nrtp_ib_form of all its images
  bool report_numerical = false;
  bool share_weights = false;
  std::vector<CoreNode*> cores;
  std::optional<nrtp_ndl_memory_errors> errors_at_start;  // of its device
  SoftwareDevice software;                                // of all its cores
  Scratchpad shared_scratchpad;                           // in the HBM of the first core
  // Per core the program in which its last armed request ends; NULL = the ready
  // program. A program of fewer subgraphs leaves the other cores where they are.
  std::array<std::atomic<const ModelImpl*>, kMaxCores> posted{};
  // Set when an execution was lost: engines and rings are in an unknown state
  // until the core is reset.
  std::atomic<bool> dead{false};

  std::uint32_t lnc_size() const { return static_cast<std::uint32_t>(cores.size()); }
  // Some core's engines are in this program's code.
  bool holds(const ModelImpl* model) const {
    return std::any_of(posted.begin(), posted.end(), [&](const auto& program) {
      return program.load(std::memory_order_relaxed) == model;
    });
  }
  // All cores idle in the ready program.
  bool is_ready() const {
    return std::all_of(posted.begin(), posted.end(), [](const auto& program) {
      return program.load(std::memory_order_relaxed) == nullptr;
    });
  }
};

}  // namespace opennrt::tdrv
