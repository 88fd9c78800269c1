// SPDX-License-Identifier: Apache-2.0
#include "strings/siphash.h"

#include <bit>

namespace opennrt::strings {

namespace {

struct State {
  std::uint64_t v0, v1, v2, v3;

  explicit State(SipKey key)
      : v0(key.k0 ^ 0x736f6d6570736575),
        v1(key.k1 ^ 0x646f72616e646f6d),
        v2(key.k0 ^ 0x6c7967656e657261),
        v3(key.k1 ^ 0x7465646279746573) {}

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  void block(std::uint64_t m) {
    v3 ^= m;
    round();
    v0 ^= m;
  }
};

}  // namespace

std::uint64_t siphash13(SipKey key, std::string_view bytes, std::string_view more) {
  State state(key);
  std::uint64_t word = 0, count = 0;
  const auto take = [&](std::string_view part) {
    for (const char c : part) {
      word |= std::uint64_t{static_cast<unsigned char>(c)} << (8 * (count % 8));
      if (++count % 8 != 0) continue;
      state.block(word);
      word = 0;
    }
  };
  take(bytes);
  take(more);
  state.block(word | count << 56);
  state.v2 ^= 0xFF;
  for (int i = 0; i < 3; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace opennrt::strings
