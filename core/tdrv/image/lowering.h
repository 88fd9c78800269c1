// SPDX-License-Identifier: Apache-2.0
//
// MAIN of an image: the compiler's stream of one engine with its
// pseudo-instructions replaced by device instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "tdrv/image.h"
#include "tdrv/image/region_steps.h"

namespace opennrt::tdrv::image {

// Rings are built in block order and a trigger releases the next block, so the
// triggers of a queue set must follow that order; this remembers how far each
// set has come, over the streams of all engines.
class TriggerLedger {
 public:
  explicit TriggerLedger(std::size_t queues) : next_(queues, 0), engine_(queues) {}
  // Empty when `position` is the set's next block and the engine may trigger it.
  std::optional<std::string> take(std::size_t queue, std::size_t position, std::uint32_t engine);

 private:
  std::vector<std::size_t> next_;
  std::vector<std::optional<std::uint32_t>> engine_;
};

// Appends MAIN to `bytes` and its patches. `env` is that of the engine.
Status append_main(const CorePlan& plan, const nrtp_ib_env& env, TriggerLedger& ledger,
                   std::vector<std::uint8_t>& bytes, std::vector<Patch>& patches);

}  // namespace opennrt::tdrv::image
