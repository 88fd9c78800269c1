// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"

#include <sys/mman.h>

#include <cstring>
#include <iterator>
#include <mutex>
#include <stdexcept>

namespace opennrt::replay {

namespace {

constexpr std::size_t kPageBytes = 4096;

// Places of a few sizes, each with an unmapped page behind it.
struct Arena {
  struct Room {
    std::size_t bytes, count;
    std::vector<std::uint8_t*> free;
  };
  std::mutex mutex;
  Room rooms[4] = {{kPageBytes, 4096, {}},
                   {128 << 10, 512, {}},
                   {4 << 20, 32, {}},
                   {std::size_t{128} << 20, 4, {}}};

  Arena() {
    for (Room& room : rooms) {
      const std::size_t step = room.bytes + kPageBytes;
      void* p = mmap(nullptr, step * room.count, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p == MAP_FAILED) throw std::runtime_error("no memory for buffers");
      for (std::size_t i = 0; i < room.count; ++i) {
        std::uint8_t* place = static_cast<std::uint8_t*>(p) + i * step;
        mprotect(place + room.bytes, kPageBytes, PROT_NONE);
        room.free.push_back(place);
      }
    }
  }
};

Arena& arena() {
  static Arena* const all = new Arena;
  return *all;
}

}  // namespace

void make_buffer_arena() { arena(); }

Buffer::Buffer(std::size_t bytes, std::uint8_t fill) : bytes_(bytes) {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  for (room_ = 0; room_ < std::size(a.rooms); ++room_) {
    Arena::Room& room = a.rooms[room_];
    if (bytes > room.bytes || room.free.empty()) continue;
    page_ = room.free.back();
    room.free.pop_back();
    data_ = page_ + room.bytes - bytes;
    std::memset(data_, fill, bytes);
    return;
  }
  throw std::runtime_error("no memory for a buffer");
}

Buffer::~Buffer() {
  Arena& a = arena();
  const std::lock_guard lock(a.mutex);
  a.rooms[room_].free.push_back(page_);
}

std::uint64_t Buffer::address() const { return reinterpret_cast<std::uintptr_t>(data_); }

bool Buffer::untouched() const {
  for (std::size_t i = 0; i < bytes_; ++i)
    if (data_[i] != kCanary) return false;
  return true;
}

std::uint32_t crc32(const std::uint8_t* data, std::size_t bytes) {
  std::uint32_t crc = ~0u;
  for (std::size_t i = 0; i < bytes; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

std::string hex(const std::uint8_t* data, std::size_t bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    text += kDigits[data[i] >> 4];
    text += kDigits[data[i] & 15];
  }
  return text;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

}  // namespace opennrt::replay
