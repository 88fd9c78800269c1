// SPDX-License-Identifier: Apache-2.0
//
// MAIN and FUNCTIONS of an image: the compiler's stream of one engine with its
// pseudo-instructions replaced by device instructions.
#pragma once

#include <cstdint>
#include <memory>
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
  // The set starts again with its first block.
  std::optional<std::string> rearm(std::size_t queue, std::uint32_t engine);

 private:
  std::vector<std::size_t> next_;
  std::vector<std::optional<std::uint32_t>> engine_;
};

// Lowers one stream. Functions lie behind the POSTAMBLE, so the stream is
// appended in two steps; branches get their targets in the second.
class StreamLowering;
struct StreamLoweringDeleter {
  void operator()(StreamLowering* lowering) const;
};
using StreamLoweringPtr = std::unique_ptr<StreamLowering, StreamLoweringDeleter>;

// `env` is that of the engine; everything must outlive the result.
StreamLoweringPtr make_lowering(const CorePlan& plan, const nrtp_ib_env& env, TriggerLedger& ledger,
                                Image& image);
Status append_main(StreamLowering& lowering);
// postamble_slot: where a program that exits goes on.
Status append_functions(StreamLowering& lowering, std::uint32_t postamble_slot);

}  // namespace opennrt::tdrv::image
