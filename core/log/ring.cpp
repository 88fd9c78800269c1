// SPDX-License-Identifier: Apache-2.0
#include "log/ring.h"

#include <string.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>

#include "log/bounded_lock.h"

namespace opennrt::log {

namespace {

// Made when a line comes, never destroyed: lines may come while the process
// exits.
constinit std::array<std::atomic<LineRing*>, kRingCores + 1> g_rings{};

std::atomic<LineRing*>& place(std::int32_t core) {
  return g_rings[core < 0 || core >= kRingCores ? 0 : static_cast<std::size_t>(core) + 1];
}

}  // namespace

void LineRing::put(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t at = end_ % kBytes;
    const std::size_t n = std::min(bytes.size(), kBytes - at);
    memcpy(buffer_.get() + at, bytes.data(), n);
    end_ += n;
    bytes.remove_prefix(n);
  }
}

void LineRing::append(std::string_view body) {
  const BoundedLock lock(mutex_);
  if (!lock) return;
  if (!buffer_) buffer_ = std::make_unique<char[]>(kBytes);
  put(body.substr(0, kBodyBytes));
  put("\n");
}

LineRing::Text LineRing::since(std::uint64_t begin) const {
  Text out;
  const BoundedLock lock(mutex_);
  out.end = lock ? end_ : begin;
  if (!lock || begin >= end_) return out;
  const std::uint64_t oldest = end_ > kBytes ? end_ - kBytes : 0;
  out.gap = begin < oldest;
  begin = std::max(begin, oldest);
  out.lines.reserve(static_cast<std::size_t>(end_ - begin));
  for (std::uint64_t at = begin; at < end_;) {
    const std::size_t offset = at % kBytes;
    const std::size_t n = std::min<std::uint64_t>(end_ - at, kBytes - offset);
    out.lines.append(buffer_.get() + offset, n);
    at += n;
  }
  // What is left of an overwritten line is none.
  if (out.gap) out.lines.erase(0, out.lines.find('\n') + 1);
  return out;
}

void keep_line(std::int32_t core, std::string_view body) noexcept {
  try {
    std::atomic<LineRing*>& slot = place(core);
    LineRing* ring = slot.load(std::memory_order_acquire);
    if (ring == nullptr) {
      auto fresh = std::make_unique<LineRing>();
      if (slot.compare_exchange_strong(ring, fresh.get(), std::memory_order_acq_rel))
        ring = fresh.release();
    }
    ring->append(body);
  } catch (...) {  // no memory for a ring: the line went to the other sinks
  }
}

const LineRing* ring_of(std::int32_t core) noexcept {
  return place(core).load(std::memory_order_acquire);
}

}  // namespace opennrt::log
