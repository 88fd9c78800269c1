// SPDX-License-Identifier: Apache-2.0
#include "neff/program.h"

#include <algorithm>

namespace opennrt::neff {

const char* engine_name(Engine engine) {
  switch (engine) {
    case Engine::kPe:
      return "PE";
    case Engine::kAct:
      return "ACT";
    case Engine::kPool:
      return "POOL";
    case Engine::kDve:
      return "DVE";
    case Engine::kSp:
      return "SP";
  }
  return "?";
}

const Block* QueueSet::find_block(std::uint32_t id) const {
  const auto it =
      std::lower_bound(blocks.begin(), blocks.end(), id,
                       [](const Block& b, std::uint32_t wanted) { return b.id < wanted; });
  return it != blocks.end() && it->id == id ? &*it : nullptr;
}

const Variable* Subgraph::find_variable(std::string_view wanted) const {
  const auto it = std::find_if(variables.begin(), variables.end(),
                               [&](const Variable& v) { return v.name == wanted; });
  return it == variables.end() ? nullptr : &*it;
}

const QueueSet* Subgraph::find_queue(std::string_view wanted) const {
  const auto it =
      std::lower_bound(queues.begin(), queues.end(), wanted,
                       [](const QueueSet& q, std::string_view text) { return q.name < text; });
  return it != queues.end() && it->name == wanted ? &*it : nullptr;
}

const QueueSet* Subgraph::find_queue_or_instance(std::string_view wanted) const {
  if (const QueueSet* set = find_queue(wanted)) return set;
  const auto it = std::find_if(queues.begin(), queues.end(), [&](const QueueSet& q) {
    return std::find(q.instances.begin(), q.instances.end(), wanted) != q.instances.end();
  });
  return it != queues.end() ? &*it : nullptr;
}

}  // namespace opennrt::neff
