// SPDX-License-Identifier: Apache-2.0
//
// Packets of a TX ring: a run of descriptors from FIRST to LAST, either a plain
// copy or an operation. An operation begins with META descriptors, whose form is
// the software device's own:
//
//   word 0  META bit, ring id, flags; bits 15:0 source number
//   word 1  operation, source and destination type
//   word 2  element count of the source (transpose: with word 3 four u16 sizes,
//           innermost first)
//   word 3  FP32 bits: scale (fma) or constant
//
// followed by the source's data descriptors.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "dma/convert.h"
#include "dma/descriptor.h"

namespace opennrt::emu {

inline constexpr std::uint32_t kMaxPacketSources = 16;
inline constexpr std::uint32_t kConstantSource = 0xFFFF;

// Word 1 of a META descriptor.
inline constexpr std::uint32_t kMetaOpCast = 0x2400000 | 1;
inline constexpr std::uint32_t kMetaOpCombine = 0x2000000;  // | code: add 0, fma 1, max 2, min 3
inline constexpr std::uint32_t kMetaOpTranspose = 0x0900000;

struct PacketSource {
  std::uint32_t first = 0, count = 0;  // data descriptors, by position in the packet
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;
  std::uint32_t dtype = 0;
  float scale = 1;
};

struct Packet {
  enum class Kind : std::uint8_t { kCopy, kCast, kCombine, kTranspose };
  Kind kind = Kind::kCopy;
  std::uint32_t descriptors = 0;   // on the TX ring
  std::uint64_t output_bytes = 0;  // on the RX ring
  Combine combine = Combine::kAdd;
  std::uint32_t dtype = 0;  // of the destination
  std::uint32_t sources = 0;
  bool has_constant = false;
  float constant = 0;
  std::array<PacketSource, kMaxPacketSources> source;
  Transpose shape{};
};

enum class PacketState : std::uint8_t { kComplete, kIncomplete, kWrong };

// Reads the next packet of `view`. kWrong: descriptor *at cannot be performed,
// *error says why.
PacketState read_packet(const RingView& view, std::uint32_t arch_flags, Packet* packet,
                        std::uint32_t* at, std::string* error);

}  // namespace opennrt::emu
