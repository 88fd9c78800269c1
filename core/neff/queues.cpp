// SPDX-License-Identifier: Apache-2.0
#include "neff/queues.h"

#include <algorithm>
#include <utility>

namespace opennrt::neff {
namespace {

constexpr std::size_t kMaxQueueName = 31;  // an instruction holds it in 32 bytes, NUL at the end
constexpr std::size_t kMaxInstanceName = 255;
constexpr std::size_t kMaxInstances = 256;  // an instruction holds the number in a byte
constexpr std::uint64_t kMaxRings = 16;
constexpr std::size_t kMaxSemaphores = 32;

constexpr std::pair<std::string_view, QueueType> kTypes[] = {
    {"in", QueueType::kIn},
    {"out", QueueType::kOut},
    {"data", QueueType::kData},
    {"dynamic", QueueType::kDynamic},
    {"embedding_update", QueueType::kEmbeddingUpdate},
    {"act_load", QueueType::kActLoad},
};

Status read_type(const Json& item, QueueSet& queue) {
  ONRT_ASSIGN(const Json type, item.require("type"));
  ONRT_ASSIGN(const std::string_view text, type.text());
  const auto known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const auto& row) { return row.first == text; });
  if (known == std::end(kTypes))
    return type.invalid("{}: must be in, out, data, dynamic, embedding_update or act_load",
                        quote(text));
  queue.type = known->second;
  return Status::ok();
}

Status read_owner(const Json& item, QueueSet& queue) {
  const auto owner = item.find("owner");
  if (!owner) return Status::ok();
  ONRT_ASSIGN(const std::string_view text, owner->text());
  queue.owner = engine_of_key(text);
  if (!queue.owner) return owner->invalid("{}: must be pe, act, pool, dve or sp", quote(text));
  return Status::ok();
}

Status read_semaphores(const Json& item, const Subgraph& graph, const LoadLimits& limits,
                       QueueSet& queue) {
  const auto add = [&](const Json& element) {
    ONRT_ASSIGN(const std::uint64_t index, element.integer(0, kMaxU32));
    ONRT_TRY(check_semaphore(element, index, graph, limits));
    if (queue.semaphores.size() == kMaxSemaphores)
      return item.invalid("more than {} semaphores", kMaxSemaphores);
    queue.semaphores.push_back(static_cast<std::uint32_t>(index));
    return Status::ok();
  };
  const auto set = item.find("semaphore_set");
  if (set) ONRT_TRY(set->for_each_element(add));
  const auto single = item.find("semaphore");
  if (single) ONRT_TRY(add(*single));
  return Status::ok();
}

Status read_instances(const Json& item, QueueSet& queue) {
  const auto list = item.find("queue_instances");
  if (!list) return Status::ok();
  return list->for_each_element([&](const Json& element) {
    ONRT_ASSIGN(const std::string_view name, element.name(kMaxInstanceName));
    if (queue.instances.size() == kMaxInstances)
      return list->invalid("more than {} instances", kMaxInstances);
    if (std::find(queue.instances.begin(), queue.instances.end(), name) != queue.instances.end())
      return element.invalid("{}: the queue has this instance already", quote(name));
    queue.instances.emplace_back(name);
    return Status::ok();
  });
}

// State buffer bytes per partition where the Pool engine builds descriptors.
Status read_scratch(const Json& item, const LoadLimits& limits, QueueSet& queue) {
  const auto scratch = item.find("dynamic_dma");
  if (!scratch) return Status::ok();
  ONRT_TRY(scratch->expect_object());
  if (queue.type != QueueType::kDynamic || queue.owner != Engine::kPool)
    return scratch->invalid("only a queue of type dynamic owned by pool may have it");
  const std::uint64_t stride = limits.sbuf_partition_stride;
  ONRT_TRY(scratch->get("SB_scratch_partition_offset", 0, stride, queue.dge_scratch_offset));
  ONRT_TRY(scratch->get("SB_scratch_partition_size", 0, stride, queue.dge_scratch_bytes));
  const std::uint64_t end = std::uint64_t{queue.dge_scratch_offset} + queue.dge_scratch_bytes;
  if (end > stride)
    return scratch->invalid("scratch of {} bytes at {} leaves the partition of {} bytes",
                            queue.dge_scratch_bytes, queue.dge_scratch_offset, stride);
  return Status::ok();
}

// Keys of queue kinds that no engine of ours serves.
Status refuse_unsupported(const Json& item, const QueueSet& queue) {
  if (queue.type == QueueType::kEmbeddingUpdate)
    return item.invalid("type \"embedding_update\" is not supported by this release");
  for (const std::string_view key : {"embedding_update_sync_semaphore"}) {
    const auto value = item.find(key);
    if (value) return value->invalid("not supported by this release");
  }
  if (queue.instances.size() <= 1 || queue.type != QueueType::kDynamic) return Status::ok();
  return item.invalid(
      "queue_instances: {} instances of a queue of type dynamic, whose descriptors are generated",
      queue.instances.size());
}

Status read_queue(std::string_view name, const Json& item, const Subgraph& graph,
                  const LoadLimits& limits, QueueSet& queue) {
  ONRT_TRY(item.expect_object());
  if (name.empty() || name.size() > kMaxQueueName || name.find('\0') != std::string_view::npos)
    return item.invalid("queue name {} has {} bytes; must have 1 to {}", quote(name), name.size(),
                        kMaxQueueName);
  queue.name = name;
  ONRT_TRY(read_type(item, queue));
  ONRT_TRY(read_owner(item, queue));
  ONRT_TRY(item.get("num_queues", 1, kMaxRings, queue.num_queues));
  ONRT_TRY(read_semaphores(item, graph, limits, queue));
  ONRT_TRY(read_instances(item, queue));
  ONRT_TRY(refuse_unsupported(item, queue));
  return read_scratch(item, limits, queue);
}

}  // namespace

Status check_semaphore(const Json& item, std::uint64_t index, const Subgraph& graph,
                       const LoadLimits& limits) {
  if (index >= graph.runtime_semaphore_count && index < limits.semaphores) return Status::ok();
  return item.invalid("semaphore {}: programs may use {} to {}", index,
                      graph.runtime_semaphore_count, limits.semaphores - 1);
}

Status read_queues(const LoadLimits& limits, SubgraphReader& reader) {
  const auto section = reader.document->root().find("dma_queue");
  if (!section) return Status::ok();
  auto& queues = reader.graph.queues;
  bool act_load = false;
  ONRT_TRY(section->for_each_member([&](std::string_view name, const Json& item) {
    QueueSet queue;
    ONRT_TRY(read_queue(name, item, reader.graph, limits, queue));
    if (queue.type == QueueType::kActLoad && std::exchange(act_load, true))
      return item.invalid("a second queue of type act_load; one is allowed");
    queues.push_back(std::move(queue));
    return Status::ok();
  }));
  std::sort(queues.begin(), queues.end(),
            [](const QueueSet& a, const QueueSet& b) { return a.name < b.name; });
  return Status::ok();
}

}  // namespace opennrt::neff
