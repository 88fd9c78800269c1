// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"

#include <sys/mman.h>
#include <unistd.h>

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
    int file = -1;
    std::uint8_t* begin = nullptr;
  };
  std::mutex mutex;
  Room rooms[4] = {{kPageBytes, 4096, {}},
                   {128 << 10, 512, {}},
                   {4 << 20, 32, {}},
                   {std::size_t{128} << 20, 4, {}}};
  // Where no loader and no sanitizer puts anything: programs that are started later map it
  // there.
  static constexpr std::uintptr_t kPlace = 0x200000000000;

  Arena() {
    std::uintptr_t place = kPlace;
    for (Room& room : rooms) {
      const std::size_t step = room.bytes + kPageBytes;
      room.file = memfd_create("buffers", MFD_CLOEXEC);
      void* p = MAP_FAILED;
      if (ftruncate(room.file, static_cast<off_t>(step * room.count)) == 0)
        p = mmap(reinterpret_cast<void*>(place), step * room.count, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, room.file, 0);
      if (p == MAP_FAILED) throw std::runtime_error("no memory for buffers");
      room.begin = static_cast<std::uint8_t*>(p);
      place += step * room.count;
      for (std::size_t i = 0; i < room.count; ++i) {
        std::uint8_t* buffer = room.begin + i * step;
        mprotect(buffer + room.bytes, kPageBytes, PROT_NONE);
        room.free.push_back(buffer);
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

std::vector<BufferRoom> buffer_rooms() {
  std::vector<BufferRoom> all;
  for (const Arena::Room& room : arena().rooms)
    all.push_back(
        {room.file, reinterpret_cast<std::uintptr_t>(room.begin), room.bytes, room.count});
  return all;
}

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
