// SPDX-License-Identifier: Apache-2.0
//
// Instruction streams as text and back, without loss:
//
//   .target cayman            family of all that follows
//   .stream sg00/PE.bin       the records below are this file
//   SET_ORDERING_MODE  # 1    opennrt/isa/codec.h; a comment shows the number
//   .record hex:..            a record that the family does not have
//   .bytes hex:..             what is behind the last whole record
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "opennrt/isa/codec.h"

namespace opennrt::tools {

struct Stream {
  std::string name;  // of the .stream line, empty when there is none
  std::vector<std::byte> bytes;
};

// Records first..last, counted from 1, one line each.
void append_records(std::span<const std::byte> stream, isa::Generation generation,
                    std::uint64_t first, std::uint64_t last, std::string* out);
// The .bytes line of what is behind the last whole record; nothing if there is none.
void append_rest(std::span<const std::byte> stream, std::string* out);

// Refusals: "<source>:<line>: ...". target: when the text has no .target line.
Result<std::vector<Stream>> assemble_listing(std::string_view text, std::string_view source,
                                             std::optional<isa::Generation> target);

inline isa::RecordBytes record_at(std::span<const std::byte> stream, std::size_t index) {
  isa::RecordBytes record;
  for (std::size_t i = 0; i < record.size(); ++i)
    record[i] = std::to_integer<std::uint8_t>(stream[index * isa::kRecordBytes + i]);
  return record;
}

}  // namespace opennrt::tools
