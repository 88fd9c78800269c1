// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"

#include <sys/mman.h>

#include <cstring>
#include <stdexcept>

namespace opennrt::replay {

Buffer::Buffer(std::size_t bytes, std::uint8_t fill) : bytes_(bytes) {
  constexpr std::size_t kPageBytes = 4096;
  const std::size_t usable = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  mapped_ = usable + kPageBytes;
  void* p = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::runtime_error("no memory for a buffer");
  mapping_ = static_cast<std::uint8_t*>(p);
  if (usable) mprotect(mapping_, usable, PROT_READ | PROT_WRITE);
  data_ = mapping_ + usable - bytes;
  if (bytes) std::memset(data_, fill, bytes);
}

Buffer::~Buffer() { munmap(mapping_, mapped_); }

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
