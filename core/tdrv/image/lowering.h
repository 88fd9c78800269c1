// SPDX-License-Identifier: Apache-2.0
//
// MAIN and FUNCTIONS of an image: the compiler's stream of one engine with its
// pseudo-instructions replaced by device instructions.
#pragma once

#include <array>
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
  explicit TriggerLedger(std::size_t queues)
      : next_(queues, 0), engine_(queues), instance_(queues, 0) {}
  // Empty when `position` is the set's next block and the engine may trigger it.
  std::optional<std::string> take(std::size_t queue, std::size_t position, std::uint32_t engine);
  // The set starts again with its first block.
  std::optional<std::string> rearm(std::size_t queue, std::uint32_t engine);
  // Another instance becomes active and starts with its first block.
  std::optional<std::string> swap(std::size_t queue, std::size_t instance, std::uint32_t engine);
  std::size_t instance(std::size_t queue) const { return instance_[queue]; }

  // Barriers of all engines that a stream holds.
  void add_barrier(std::uint32_t engine) { ++barriers_[engine]; }
  // When all streams are lowered: each barrier needs every engine, the first `engines`.
  Status check_barriers(std::uint32_t engines) const;

 private:
  std::vector<std::size_t> next_;
  std::vector<std::optional<std::uint32_t>> engine_;
  std::vector<std::size_t> instance_;  // active
  std::array<std::uint32_t, neff::kEngines> barriers_{};
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
