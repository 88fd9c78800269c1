// SPDX-License-Identifier: Apache-2.0
#include "dma/stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "verify/verifier.h"

namespace opennrt::emu {

bool ReadStream::open() {
  Segment s;
  if (!segments_.next(&s)) return false;
  who_.slot = s.slot;
  left_ = s.bytes;
  address_ = s.address;
  memory_ = windows_.find(address_, left_);
  constant_ = dead_ = false;
  if (memory_) {
    if (Verifier* v = bus_.verifier()) v->access(who_, "DMA", address_, memory_, left_, false);
    return true;
  }
  nrtp_addr_class c;
  if (bus_.map().classify(address_, &c) && c.kind == NRTP_ADDR_CONST) {
    constant_ = true;
    value_ = static_cast<std::uint8_t>(c.local);
    phase_ = 0;
  }
  return true;
}

void ReadStream::read(std::uint8_t* to, std::uint64_t bytes) {
  while (bytes != 0) {
    if (left_ == 0 && !open()) {
      std::memset(to, 0, bytes);
      return;
    }
    const std::uint64_t n = std::min(bytes, left_);
    if (memory_) {
      std::memmove(to, memory_, n);
      memory_ += n;
    } else if (constant_) {
      for (std::uint64_t i = 0; i < n; ++i, phase_ = (phase_ + 1) & 3)
        to[i] = phase_ == 0 ? value_ : 0;
    } else if (dead_ || !bus_.bus_read(address_, to, n, who_)) {
      dead_ = true;  // reported once per descriptor
      std::memset(to, 0, n);
    } else {
      address_ += n;
    }
    to += n;
    left_ -= n;
    bytes -= n;
  }
}

const std::uint8_t* ReadStream::take(std::uint64_t n, std::uint64_t align) {
  if (left_ == 0 && !open()) return nullptr;
  if (!memory_ || left_ < n || (reinterpret_cast<std::uintptr_t>(memory_) & (align - 1)) != 0)
    return nullptr;
  const std::uint8_t* p = memory_;
  memory_ += n;
  left_ -= n;
  return p;
}

bool WriteStream::open() {
  Segment s;
  if (!segments_.next(&s)) return false;
  slot_ = s.slot;
  left_ = s.bytes;
  address_ = s.address;
  memory_ = windows_.find(address_, left_);
  dead_ = false;
  if (Verifier* v = bus_.verifier(); v && memory_) {
    const std::uint64_t read_slot = std::exchange(who_.slot, slot_);
    v->access(who_, "DMA", address_, memory_, left_, true);
    who_.slot = read_slot;
  }
  return true;
}

void WriteStream::write(const std::uint8_t* from, std::uint64_t bytes) {
  while (bytes != 0) {
    if (left_ == 0 && !open()) return;
    const std::uint64_t n = std::min(bytes, left_);
    if (memory_) {
      std::memcpy(memory_, from, n);
      memory_ += n;
    } else {
      who_.slot = slot_;
      if (!dead_) dead_ = !bus_.bus_write(address_, from, n, who_);  // reported once
      address_ += n;
    }
    from += n;
    left_ -= n;
    bytes -= n;
  }
}

std::uint8_t* WriteStream::take(std::uint64_t n, std::uint64_t align) {
  if (left_ == 0 && !open()) return nullptr;
  if (!memory_ || left_ < n || (reinterpret_cast<std::uintptr_t>(memory_) & (align - 1)) != 0)
    return nullptr;
  std::uint8_t* p = memory_;
  memory_ += n;
  left_ -= n;
  return p;
}

std::uint8_t* WriteStream::take_segment(std::uint64_t n, std::uint64_t* taken) {
  if (left_ == 0 && !open()) return nullptr;
  *taken = std::min(n, left_);
  return take(*taken, 1);
}

void copy_stream(ReadStream& from, WriteStream& to, std::uint64_t bytes) {
  while (bytes != 0) {
    std::uint64_t n = 0;
    if (std::uint8_t* p = to.take_segment(bytes, &n)) {
      from.read(p, n);
      bytes -= n;
      continue;
    }
    // Registers, semaphores and tables: through a small buffer.
    std::uint8_t piece[1024];
    n = std::min<std::uint64_t>({bytes, to.segment_left(), sizeof piece});
    if (n == 0) return;
    from.read(piece, n);
    to.write(piece, n);
    bytes -= n;
  }
}

}  // namespace opennrt::emu
