// SPDX-License-Identifier: Apache-2.0
#include "neff/digest.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace opennrt::neff {

namespace {

constexpr std::size_t kBlock = 64;

// Calls `block` for every 64 bytes of data, padding and bit count, which both
// algorithms append alike except for the byte order of the count.
template <typename F>
void for_each_block(std::span<const std::byte> data, std::endian count_order, F block) {
  std::size_t done = 0;
  for (; data.size() - done >= kBlock; done += kBlock) block(data.data() + done);
  std::array<std::byte, 2 * kBlock> tail{};
  const std::size_t rest = data.size() - done;
  if (rest != 0) std::memcpy(tail.data(), data.data() + done, rest);
  tail[rest] = std::byte{0x80};
  const std::size_t bytes = rest + 9 <= kBlock ? kBlock : 2 * kBlock;
  const std::uint64_t bits = std::uint64_t{data.size()} * 8;
  for (std::size_t i = 0; i < 8; ++i) {
    const std::size_t shift = count_order == std::endian::little ? 8 * i : 56 - 8 * i;
    tail[bytes - 8 + i] = static_cast<std::byte>(bits >> shift & 0xFF);
  }
  for (std::size_t at = 0; at < bytes; at += kBlock) block(tail.data() + at);
}

std::uint32_t word(const std::byte* p, std::endian order) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i)
    out |= std::to_integer<std::uint32_t>(p[i])
           << (order == std::endian::little ? 8 * i : 24 - 8 * i);
  return out;
}

template <std::size_t N>
std::array<std::byte, 4 * N> bytes_of(const std::array<std::uint32_t, N>& state,
                                      std::endian order) {
  std::array<std::byte, 4 * N> out;
  for (std::size_t i = 0; i < 4 * N; ++i) {
    const std::size_t shift = order == std::endian::little ? 8 * (i % 4) : 24 - 8 * (i % 4);
    out[i] = static_cast<std::byte>(state[i / 4] >> shift & 0xFF);
  }
  return out;
}

// floor(2^32 * |sin(i + 1)|), as RFC 1321 defines the table.
const std::array<std::uint32_t, 64>& sines() {
  static const auto table = [] {
    std::array<std::uint32_t, 64> t{};
    for (std::size_t i = 0; i < t.size(); ++i)
      t[i] = static_cast<std::uint32_t>(
          std::floor(std::fabs(std::sin(static_cast<double>(i + 1))) * 4294967296.0));
    return t;
  }();
  return table;
}

void md5_block(std::array<std::uint32_t, 4>& state, const std::byte* p) {
  constexpr int kShift[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  auto [a, b, c, d] = state;
  for (std::uint32_t i = 0; i < 64; ++i) {
    std::uint32_t f = 0, g = 0;
    switch (i / 16) {
      case 0:
        f = (b & c) | (~b & d);
        g = i;
        break;
      case 1:
        f = (d & b) | (~d & c);
        g = (5 * i + 1) % 16;
        break;
      case 2:
        f = b ^ c ^ d;
        g = (3 * i + 5) % 16;
        break;
      default:
        f = c ^ (b | ~d);
        g = 7 * i % 16;
    }
    const std::uint32_t sum = a + f + sines()[i] + word(p + 4 * g, std::endian::little);
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kShift[i / 16][i % 4]);
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

// FIPS 180-4, 4.2.2.
constexpr std::array<std::uint32_t, 64> kSha256 = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void sha256_block(std::array<std::uint32_t, 8>& state, const std::byte* p) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i) w[i] = word(p + 4 * i, std::endian::big);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t x = w[i - 15], y = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3)) + w[i - 7] +
           (std::rotr(y, 17) ^ std::rotr(y, 19) ^ (y >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                             ((e & f) ^ (~e & g)) + kSha256[i] + w[i];
    const std::uint32_t t2 =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> add = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state[i] += add[i];
}

}  // namespace

std::array<std::byte, 16> md5(std::span<const std::byte> data) {
  std::array<std::uint32_t, 4> state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  for_each_block(data, std::endian::little, [&](const std::byte* p) { md5_block(state, p); });
  return bytes_of(state, std::endian::little);
}

std::array<std::byte, 32> sha256(std::span<const std::byte> data) {
  std::array<std::uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for_each_block(data, std::endian::big, [&](const std::byte* p) { sha256_block(state, p); });
  return bytes_of(state, std::endian::big);
}

}  // namespace opennrt::neff
