// SPDX-License-Identifier: Apache-2.0
//
// Recorded events as the JSON text clients parse:
//   {"events":[{"event_type":"nrt_execute","phase":"start",...}],"data_version":2}
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "trace/event.h"

namespace opennrt::trace {

// Text in one block of the C heap, NUL-terminated.
class TextBlock {
 public:
  TextBlock() = default;
  ~TextBlock();
  TextBlock(const TextBlock&) = delete;
  TextBlock& operator=(const TextBlock&) = delete;

  // False: out of memory. What was appended before stays.
  bool append(std::string_view text) noexcept;
  std::string_view view() const { return {data_ != nullptr ? data_ : "", size_}; }
  // The block is the caller's to free().
  char* release();

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

// NRT_RESOURCE: out of memory.
Status append_json(std::span<const Record> records, TextBlock& out);

// Interned strings (core/strings) and the names of the event types:
//   {"<number>":"<text>",...}
std::string interned_json();

// A JSON string with its quotes.
void append_quoted(std::string_view text, std::string& out);

}  // namespace opennrt::trace
