// SPDX-License-Identifier: Apache-2.0
#include "neff/streams.h"

#include <cstring>

namespace opennrt::neff {
namespace {

constexpr std::size_t kRecordBytes = 64;
constexpr std::uint64_t kMaxStreamBytes = std::uint64_t{1} << 32;
constexpr std::size_t kMaxMemberName = 4096;

// PSEUDO_DMA_TRIGGER: opcode in byte 0, queue name from byte 12, block id at
// byte 48 (little endian).
constexpr std::byte kOpTrigger{0xC1};
constexpr std::size_t kNameOffset = 12, kNameBytes = 32, kBlockOffset = 48;

// The record is empty of faults nearly always: its place is made for messages only.
template <typename Place>
Status check_trigger(const Subgraph& graph, Engine engine, const Place& place,
                     std::span<const std::byte> record) {
  const char* raw = reinterpret_cast<const char*>(record.data()) + kNameOffset;
  const std::string_view name(raw, strnlen(raw, kNameBytes));
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < 4; ++i)
    id |= std::to_integer<std::uint32_t>(record[kBlockOffset + i]) << (8 * i);
  if (name.size() == kNameBytes)
    return Status::invalid("{}: DMA trigger with a queue name of more than {} bytes: {}", place(),
                           kNameBytes - 1, quote(name));
  const QueueSet* queue = graph.find_queue_or_instance(name);
  if (!queue)
    return Status::invalid("{}: DMA trigger of queue {}, which does not exist", place(),
                           quote(name));
  if (queue->owner && *queue->owner != engine)
    return Status::invalid("{}: DMA trigger of queue {}, which is owned by {}, not by {}", place(),
                           quote(name), engine_key(*queue->owner), engine_key(engine));
  if (!queue->find_block(id))
    return Status::invalid(
        "{}: DMA trigger of block {} of queue {}, which has no such block "
        "({} blocks)",
        place(), id, quote(name), queue->blocks.size());
  return Status::ok();
}

}  // namespace

Status read_stream(const Json& root, Engine engine, MemberTable& members, SubgraphReader& reader) {
  ONRT_ASSIGN(const Json instr, root.require("instr"));
  ONRT_ASSIGN(const std::string_view file, instr.name(kMaxMemberName));
  const std::string name = sibling(root.member(), file);
  const Member* member = members.keep(name);
  if (!member) return instr.invalid("member {} is not in the NEFF", quote(name));
  const auto bytes = member->bytes();
  if (bytes.size() % kRecordBytes != 0)
    return instr.invalid("member {} has {} bytes, which is no multiple of {}", quote(name),
                         bytes.size(), kRecordBytes);
  if (bytes.size() >= kMaxStreamBytes)
    return instr.invalid("member {} has {} bytes; a stream must be smaller than {}", quote(name),
                         bytes.size(), kMaxStreamBytes);
  reader.graph.streams[static_cast<std::size_t>(engine)] = bytes;
  reader.graph.stream_members[static_cast<std::size_t>(engine)] = name;
  return Status::ok();
}

Status check_triggers(const Subgraph& graph) {
  for (std::size_t engine = 0; engine < kEngines; ++engine) {
    const auto stream = graph.streams[engine];
    for (std::size_t at = 0; at < stream.size(); at += kRecordBytes) {
      if (stream[at] != kOpTrigger) continue;
      // Records are counted from 1, as debuggers of these streams do.
      const auto place = [&] {
        return fmt::format("{}: record {} (byte {})", printable(graph.stream_members[engine]),
                           at / kRecordBytes + 1, at);
      };
      ONRT_TRY(check_trigger(graph, static_cast<Engine>(engine), place,
                             stream.subspan(at, kRecordBytes)));
    }
  }
  return Status::ok();
}

}  // namespace opennrt::neff
