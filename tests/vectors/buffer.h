// SPDX-License-Identifier: Apache-2.0
//
// Memory of a replayed caller, which forked processes share: ends at an unmapped page, so that a
// driver that moves too much is caught, and can be made partly readable on purpose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace opennrt::replay {

inline constexpr std::uint8_t kCanary = 0xA5;

// Makes the memory of all buffers. Processes that are to see them are forked
// after it.
void make_buffer_arena();

// For programs that are started: `count` buffers of `bytes`, each with a page
// behind it that must be unreadable, from `address` on; in `file`.
struct BufferRoom {
  int file;
  std::uintptr_t address;
  std::size_t bytes, count;
};
std::vector<BufferRoom> buffer_rooms();

class Buffer {
 public:
  explicit Buffer(std::size_t bytes, std::uint8_t fill = 0);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::uint8_t* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  std::uint64_t address() const;
  bool untouched() const;  // still all canary

 private:
  std::size_t room_;  // size class of the arena
  std::uint8_t* page_;
  std::size_t bytes_;
  std::uint8_t* data_;
};

// Byte i of pattern s.
inline std::uint8_t pattern(std::uint64_t i, std::uint32_t s) {
  return static_cast<std::uint8_t>(31 * s + 7 * i + 13 * (i >> 8));
}
std::uint32_t crc32(const std::uint8_t* data, std::size_t bytes);
std::string hex(const std::uint8_t* data, std::size_t bytes);
std::vector<std::string> split(const std::string& text, char separator);

}  // namespace opennrt::replay
