// SPDX-License-Identifier: Apache-2.0
//
// Debug streams: one client per logical core reads what programs send for
// debugging. The descriptor given out is for polling only.
//
// Threading: every function may be called from any thread; a publisher never
// waits for a client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"

namespace opennrt::trace::debug_stream {

// The header of a public event, without the reserved part.
struct Header {
  std::uint64_t bytes = 0;
  std::uint32_t type = 0;
};

// NRT_INVALID: the core has a client. capacity: events kept, later ones are dropped.
Result<int> connect(std::uint32_t core, std::uint64_t capacity);
// NRT_INVALID: no stream. NRT_QUEUE_EMPTY: no event. *payload is from malloc.
Status read(int fd, Header& header, void** payload);
// Drops what is queued and closes the descriptor. False: no stream.
bool close(int fd);
void close_all();

// Whether somebody would read an event of the core; a relaxed load.
bool has_client(std::uint32_t core) noexcept;
// The payload is the parts one after the other. Dropped without a client, when
// the stream is full or memory is short.
void publish(std::uint32_t core, std::uint32_t type,
             std::span<const std::span<const std::byte>> parts) noexcept;

// After fork, in the child.
void enter_forked_child() noexcept;

}  // namespace opennrt::trace::debug_stream
