// SPDX-License-Identifier: Apache-2.0
#include "engine/address.h"

#include <cstring>

namespace opennrt::emu {

namespace {

constexpr std::uint8_t kAbsolute = 0x00, kRegisterPair = 0x80, kTable = 0x20, kTableRegister = 0x28,
                       kTableRegisterPair = 0x2C;

std::uint32_t entry_of(const std::uint8_t* bytes) {
  return bytes[4] | std::uint32_t{bytes[5]} << 8 | std::uint32_t{bytes[6]} << 16;
}

}  // namespace

bool address_has_offset(const std::uint8_t* bytes) {
  return bytes[7] == kTable || bytes[7] == kTableRegister || bytes[7] == kTableRegisterPair;
}

bool check_address(const char* name, const std::uint8_t* bytes, std::string* error) {
  const auto fail = [&](const std::string& text) {
    return refuse(error, std::string(name) + ": " + text);
  };
  const auto one_register = [&](std::uint32_t number) {
    return known_register(number) ||
           fail("address register " + std::to_string(number) + " does not exist");
  };
  // Bytes between the register numbers and the entry or form.
  const auto rest_is_zero = [&](std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t i = first; i < end; ++i)
      if (bytes[i] != 0)
        return fail("byte " + std::to_string(i) + " of address form " + hex(bytes[7]) + " is " +
                    hex(bytes[i]) + ", no field is known there");
    return true;
  };
  switch (bytes[7]) {
    case kAbsolute:
    case kTable:
      return true;
    case kRegisterPair:
      return one_register(bytes[0]) && one_register(bytes[1]) && rest_is_zero(2, 7);
    case kTableRegister:
      return one_register(bytes[0]) && rest_is_zero(1, 4);
    case kTableRegisterPair:
      return one_register(bytes[0]) && one_register(bytes[1]) && rest_is_zero(2, 4);
    default:
      break;
  }
  std::string why = " is not implemented";
  if ((bytes[7] & ~0x04) == 0x10) why = " names a variable, which is resolved when loading";
  if ((bytes[7] & 0x40) != 0) why += ": the move and transpose forms are not published";
  return fail("address marker " + hex(bytes[7]) + why);
}

bool resolve_address(Sequencer& s, const char* name, const std::uint8_t* bytes, DeviceAddress* out,
                     std::string* error) {
  const auto pair = [&] { return std::uint64_t{*s.reg(bytes[1])} << 32 | *s.reg(bytes[0]); };
  if (bytes[7] == kAbsolute) {
    std::memcpy(&out->base, bytes, sizeof out->base);
    out->offset = 0;
    return true;
  }
  if (bytes[7] == kRegisterPair) {
    out->base = pair();
    out->offset = 0;
    return true;
  }
  if (bytes[7] == kTable) {
    std::uint32_t offset;
    std::memcpy(&offset, bytes, sizeof offset);
    out->offset = offset;
  } else {
    out->offset = bytes[7] == kTableRegister ? *s.reg(bytes[0]) : pair();
  }
  const std::uint64_t table =
      std::uint64_t{*s.reg(isa::kRegArgTableHi)} << 32 | *s.reg(isa::kRegArgTableLo);
  const std::uint64_t at = table + 8ull * entry_of(bytes);
  const std::uint8_t* entry = s.bus().map().memory(at, 8);
  if (!entry)
    return refuse(error, std::string(name) + ": entry " + std::to_string(entry_of(bytes)) +
                             " of the argument table at " + hex(table) +
                             " (registers 0x82, 0x83) is not in memory");
  std::memcpy(&out->base, entry, sizeof out->base);
  return true;
}

}  // namespace opennrt::emu
