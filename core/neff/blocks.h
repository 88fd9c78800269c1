// SPDX-License-Identifier: Apache-2.0
//
// DMA descriptor blocks: the list "dma" of an engine or of a definition.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "neff/definition.h"

namespace opennrt::neff {

// Collects the blocks of one subgraph; its queues and variables are complete.
class BlockReader {
 public:
  BlockReader(const LoadLimits& limits, SubgraphReader& reader);

  // root: the engine's JSON, or the definition (engine = nullopt).
  Status read(const Json& root, std::optional<Engine> engine);
  // After the last read(): blocks of every queue in ascending order.
  void finish();

 private:
  Status read_block(const Json& item, std::optional<Engine> engine);
  Result<std::size_t> find_queue(const Json& item, std::optional<Engine> engine, Block& block);
  Result<std::uint64_t> instance_number(const Json& item, const QueueSet& queue,
                                        const Block& block) const;
  Status read_completion(const Json& item, Block& block);

  const LoadLimits& limits_;
  SubgraphReader& reader_;
  std::unordered_map<std::string_view, std::size_t> queues_, instances_;  // to queue index
  // Per queue: number of the instance << 32 | id.
  std::vector<std::unordered_set<std::uint64_t>> ids_;
};

}  // namespace opennrt::neff
