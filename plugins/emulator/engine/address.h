// SPDX-License-Identifier: Apache-2.0
//
// 8-byte device addresses of memory and DMA records. Byte 7 tells the form:
//
//   0x00  the address itself
//   0x80  in a register pair: numbers in bytes 0 (low) and 1 (high)
//   0x20  entry of the argument table (bytes 4 to 6) plus an offset (bytes 0 to 3)
//   0x28  the same with the offset in the register of byte 0
//   0x2C  the same with the offset in a register pair, bytes 0 and 1
//
// 0x20 as in device images of real runs; the register forms follow the published
// fields of variables in compiled programs. An entry is the u64 at table base +
// 8 x entry; registers 0x82 and 0x83 hold the base.
#pragma once

#include <cstdint>
#include <string>

#include "engine/sequencer.h"

namespace opennrt::emu {

struct DeviceAddress {
  std::uint64_t base = 0;    // of the argument; the address itself in forms without a table
  std::uint64_t offset = 0;  // into the argument
};

// The form's parts of the field at `bytes`. `name` is for messages: "source".
bool check_address(const char* name, const std::uint8_t* bytes, std::string* error);
// Forms whose offset can be compared with a bound.
bool address_has_offset(const std::uint8_t* bytes);
// Of a field that was checked. False: *error says what the table lacks.
bool resolve_address(Sequencer& s, const char* name, const std::uint8_t* bytes, DeviceAddress* out,
                     std::string* error);

}  // namespace opennrt::emu
