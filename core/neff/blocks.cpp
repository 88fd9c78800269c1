// SPDX-License-Identifier: Apache-2.0
#include "neff/blocks.h"

#include <algorithm>
#include <utility>

#include "neff/descriptors.h"
#include "neff/queues.h"

namespace opennrt::neff {

BlockReader::BlockReader(const LoadLimits& limits, SubgraphReader& reader)
    : limits_(limits), reader_(reader), ids_(reader.graph.queues.size()) {
  for (std::size_t index = 0; index < reader.graph.queues.size(); ++index) {
    const QueueSet& queue = reader.graph.queues[index];
    queues_.emplace(queue.name, index);
    for (const std::string& instance : queue.instances) instances_.emplace(instance, index);
  }
}

Status BlockReader::read(const Json& root, std::optional<Engine> engine) {
  const auto list = root.find("dma");
  if (!list) return Status::ok();
  return list->for_each_element([&](const Json& item) { return read_block(item, engine); });
}

void BlockReader::finish() {
  for (QueueSet& queue : reader_.graph.queues)
    std::sort(queue.blocks.begin(), queue.blocks.end(),
              [](const Block& a, const Block& b) { return a.id < b.id; });
}

Status BlockReader::read_block(const Json& item, std::optional<Engine> engine) {
  ONRT_TRY(item.expect_object());
  Block block;
  ONRT_ASSIGN(const Json id, item.require("id"));
  ONRT_ASSIGN(const std::uint64_t number, id.integer(0, kMaxU32));
  block.id = static_cast<std::uint32_t>(number);
  ONRT_ASSIGN(const std::size_t index, find_queue(item, engine, block));
  QueueSet& queue = reader_.graph.queues[index];
  ONRT_ASSIGN(const std::uint64_t instance, instance_number(item, queue, block));
  if (!ids_[index].insert(instance << 32 | block.id).second)
    return id.invalid("{}: queue {} has this block already", block.id, quote(queue.name));
  ONRT_TRY(read_completion(item, block));
  ONRT_TRY(item.get("priority_class", 0, kMaxU32, block.priority_class));
  bool section_start = false;
  ONRT_TRY(item.get("section_start_desc", section_start));
  if (section_start)
    return item.invalid(
        "section_start_desc true: placing a block on one ring of its set is not supported by this "
        "release");
  std::string_view function;
  ONRT_TRY(item.get("function_start", function));
  block.function_start = function;
  ONRT_ASSIGN(const Json list, item.require("desc"));
  ONRT_TRY(list.for_each_element([&](const Json& element) {
    ONRT_ASSIGN(Descriptor descriptor, read_descriptor(element, reader_));
    block.descriptors.push_back(std::move(descriptor));
    return Status::ok();
  }));
  if (block.descriptors.empty()) return list.invalid("no descriptors in the block");
  queue.blocks.push_back(std::move(block));
  return Status::ok();
}

// Blocks of a queue with several instances are numbered within theirs.
Result<std::uint64_t> BlockReader::instance_number(const Json& item, const QueueSet& queue,
                                                   const Block& block) const {
  if (queue.instances.size() < 2) return std::uint64_t{0};
  const auto found = std::find(queue.instances.begin(), queue.instances.end(), block.instance_name);
  if (found == queue.instances.end())
    return item.invalid("key \"instance_name\" is missing: queue {} has {} instances",
                        quote(queue.name), queue.instances.size());
  return static_cast<std::uint64_t>(found - queue.instances.begin());
}

// The name of a ring instance wins over that of the queue.
Result<std::size_t> BlockReader::find_queue(const Json& item, std::optional<Engine> engine,
                                            Block& block) {
  const auto instance = item.find("instance_name");
  const auto queue = item.find("queue");
  if (!instance && !queue) return item.invalid("key \"queue\" is missing");
  const Json& value = instance ? *instance : *queue;
  ONRT_ASSIGN(const std::string_view name, value.text());
  const auto& known = instance ? instances_ : queues_;
  const auto found = known.find(name);
  if (found == known.end())
    return value.invalid("{}: no such {} in {}", quote(name), instance ? "queue instance" : "queue",
                         printable(reader_.definition));
  if (instance) block.instance_name = name;
  const QueueSet& set = reader_.graph.queues[found->second];
  if (engine && set.owner && *set.owner != *engine)
    return value.invalid("{}: the queue is owned by {}, not by {}", quote(name),
                         engine_key(*set.owner), engine_key(*engine));
  return found->second;
}

Status BlockReader::read_completion(const Json& item, Block& block) {
  const auto semaphore = item.find("semaphore");
  if (semaphore) {
    ONRT_ASSIGN(const std::uint64_t index, semaphore->integer(0, kMaxU32));
    ONRT_TRY(check_semaphore(*semaphore, index, reader_.graph, limits_));
    block.semaphore = static_cast<std::uint32_t>(index);
  }
  const auto event = item.find("event");
  if (event) {
    ONRT_ASSIGN(const std::uint64_t index, event->integer(0, kMaxU32));
    if (index < reader_.graph.runtime_event_count || index >= limits_.events)
      return event->invalid("event {}: programs may use {} to {}", index,
                            reader_.graph.runtime_event_count, limits_.events - 1);
    block.event = static_cast<std::uint32_t>(index);
  }
  const auto remote = item.find("remote_semaphores");
  if (!remote) return Status::ok();
  return remote->for_each_element([&](const Json& element) {
    ONRT_ASSIGN(const std::uint64_t index, element.integer(0, kMaxU32));
    ONRT_TRY(check_semaphore(element, index, reader_.graph, limits_));
    block.remote_semaphores.push_back(static_cast<std::uint32_t>(index));
    return Status::ok();
  });
}

}  // namespace opennrt::neff
