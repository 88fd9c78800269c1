// SPDX-License-Identifier: Apache-2.0
//
// The random generators of the software device: XORWOW (Marsaglia 2003), four a
// channel on the vector engine and one on the pool engine. A record takes its
// draws from the generators in turn, from the first one. Before a program sets
// their state it comes from Philox4x32-10 with the channel as counter and core
// and engine as key: streams of real devices are not published.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "compute/engine_state.h"

namespace opennrt::emu {

// Words 4n to 4n + 3 of a channel.
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

struct Xorwow {
  static constexpr std::uint32_t kWords = 6;
  std::array<std::uint32_t, kWords> words;  // x, y, z, w, v, d

  std::uint32_t next() {
    auto& [x, y, z, w, v, d] = words;
    const std::uint32_t t = x ^ (x >> 2);
    x = y;
    y = z;
    z = w;
    w = v;
    v = (v ^ (v << 4)) ^ (t ^ (t << 1));
    d += 362437;
    return d + v;
  }
};

// What the random instructions of one engine share.
class Generators {
 public:
  static constexpr std::uint32_t kChannels = 128;
  static constexpr std::uint32_t kMost = 4;  // generators of a channel

  static Generators& of(EngineState& state);
  // Of a channel of an engine.
  static std::uint32_t count(std::uint32_t engine);

  std::array<Xorwow, kMost>& channel(std::uint32_t c) { return channels_[c]; }

 private:
  std::array<std::array<Xorwow, kMost>, kChannels> channels_{};
  bool seeded_ = false;
};

// Draws of one channel for one record.
class Draws {
 public:
  Draws(EngineState& state, std::uint32_t channel)
      : generators_(Generators::of(state).channel(channel).data()),
        count_(Generators::count(state.engine)) {}

  std::uint32_t next() {
    const std::uint32_t bits = generators_[turn_].next();
    turn_ = turn_ + 1 == count_ ? 0 : turn_ + 1;
    return bits;
  }

 private:
  Xorwow* generators_;
  std::uint32_t count_, turn_ = 0;
};

}  // namespace opennrt::emu
