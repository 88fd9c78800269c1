// SPDX-License-Identifier: Apache-2.0
//
// The random generator of the software device: Philox4x32-10 with the channel
// and the number of the draw as counter and the core and engine as key. The
// streams of real devices are not published; the distribution is.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace opennrt::emu {

// Draws 4n to 4n + 3 of a channel.
inline std::array<std::uint32_t, 4> philox(std::uint64_t n, std::uint32_t channel,
                                           std::uint32_t key0, std::uint32_t key1) {
  std::array<std::uint32_t, 4> c = {static_cast<std::uint32_t>(n),
                                    static_cast<std::uint32_t>(n >> 32), channel, 0};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * c[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key1, static_cast<std::uint32_t>(a)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return c;
}

// In [0, 1), from the upper 23 bits.
inline float uniform_of(std::uint32_t bits) {
  return std::bit_cast<float>((bits >> 9) | 0x3F800000u) - 1.0f;
}

// Successive draws of one channel.
class Draws {
 public:
  Draws(std::uint64_t* position, std::uint32_t channel, std::uint32_t core, std::uint32_t engine)
      : position_(position), channel_(channel), core_(core), engine_(engine) {}

  std::uint32_t next() {
    const std::uint64_t at = (*position_)++;
    if (at / 4 != block_) {
      block_ = at / 4;
      words_ = philox(block_, channel_, core_, engine_);
    }
    return words_[at % 4];
  }

 private:
  std::uint64_t* position_;
  std::uint32_t channel_, core_, engine_;
  std::uint64_t block_ = ~std::uint64_t{0};
  std::array<std::uint32_t, 4> words_{};
};

}  // namespace opennrt::emu
