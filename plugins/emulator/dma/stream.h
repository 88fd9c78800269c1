// SPDX-License-Identifier: Apache-2.0
//
// Device space as byte streams: a list of segments (descriptors of a packet, or
// the runs of an access pattern) read or written from front to back.
#pragma once

#include <cstdint>

#include "device/bus.h"

namespace opennrt::emu {

struct Segment {
  std::uint64_t address, bytes;
  std::uint64_t slot;  // of the descriptor, for error reports
};

class SegmentList {
 public:
  // False: no more.
  virtual bool next(Segment* out) = 0;

 protected:
  ~SegmentList() = default;
};

// The last memory window found: neighbouring descriptors mostly share it.
class WindowCache {
 public:
  explicit WindowCache(const AddressMap& map) : map_(map) {}
  // Host pointer to a range that lies in one memory window, else nullptr.
  std::uint8_t* find(std::uint64_t pa, std::uint64_t bytes) {
    if (!last_ || pa - last_->base >= last_->bytes) {
      last_ = map_.window(pa);
      if (!last_) return nullptr;
    }
    const std::uint64_t offset = pa - last_->base;
    return bytes <= last_->bytes - offset ? last_->host + offset : nullptr;
  }

 private:
  const AddressMap& map_;
  const AddressMap::Window* last_ = nullptr;
};

class ReadStream {
 public:
  ReadStream(Bus& bus, WindowCache& windows, SegmentList& segments, Origin& who)
      : bus_(bus), windows_(windows), segments_(segments), who_(who) {}

  // Moves the next n bytes to `to`. What lies nowhere is reported and reads 0.
  void read(std::uint8_t* to, std::uint64_t n);
  // The next n bytes in place, when one run of memory aligned to `align` (a
  // power of two) holds them; else nullptr and nothing is taken.
  const std::uint8_t* take(std::uint64_t n, std::uint64_t align);

 private:
  bool open();

  Bus& bus_;
  WindowCache& windows_;
  SegmentList& segments_;
  Origin& who_;
  std::uint64_t left_ = 0, address_ = 0;
  const std::uint8_t* memory_ = nullptr;
  bool constant_ = false, dead_ = false;
  std::uint8_t value_ = 0;   // of a constant source
  std::uint32_t phase_ = 0;  // byte of the constant's word
};

class WriteStream {
 public:
  WriteStream(Bus& bus, WindowCache& windows, SegmentList& segments, Origin& who)
      : bus_(bus), windows_(windows), segments_(segments), who_(who) {}

  // Registers take words: pieces that end inside a segment are multiples of 4.
  void write(const std::uint8_t* from, std::uint64_t n);
  std::uint8_t* take(std::uint64_t n, std::uint64_t align);
  // Everything that is left of the current segment, at most n bytes, when it is
  // memory; else nullptr.
  std::uint8_t* take_segment(std::uint64_t n, std::uint64_t* taken);
  // Bytes left in the current segment.
  std::uint64_t segment_left() { return left_ != 0 || open() ? left_ : 0; }

 private:
  bool open();

  Bus& bus_;
  WindowCache& windows_;
  SegmentList& segments_;
  Origin& who_;
  std::uint64_t left_ = 0, address_ = 0, slot_ = 0;
  std::uint8_t* memory_ = nullptr;
  bool dead_ = false;
};

void copy_stream(ReadStream& from, WriteStream& to, std::uint64_t bytes);

}  // namespace opennrt::emu
