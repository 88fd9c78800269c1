// SPDX-License-Identifier: Apache-2.0
//
// `lnc` physical cores that run one program together.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "tdrv/core_node.h"

namespace opennrt::tdrv {

class ModelImpl;

struct LogicalCore {
  std::uint32_t index = 0;  // process-local
  std::uint32_t form = 0;   // nrtp_ib_form of all its images
  bool report_numerical = false;
  std::vector<CoreNode*> cores;
  Scratchpad shared_scratchpad;  // in the HBM of the first core
  // Program in which the last armed request ends; NULL = the ready program.
  std::atomic<const ModelImpl*> posted{nullptr};
  // Set when an execution was lost: engines and rings are in an unknown state
  // until the core is reset.
  std::atomic<bool> dead{false};

  std::uint32_t lnc_size() const { return static_cast<std::uint32_t>(cores.size()); }
};

}  // namespace opennrt::tdrv
