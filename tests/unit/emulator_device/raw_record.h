// SPDX-License-Identifier: Apache-2.0
//
// A record of any opcode whose fields are set by name: r.set(layout::X::y, 3).
#pragma once

#include <cstring>

#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu::test {

struct RawRecord {
  isa::Header h{};
  std::uint8_t payload[52] = {};

  explicit RawRecord(std::uint8_t opcode) {
    h.opcode = opcode;
    h.word_len = 0x10;
  }
  template <typename Field, typename Value>
  RawRecord& set(const Field& field, Value value, std::size_t i = 0) {
    const auto v = static_cast<typename Field::Type>(value);
    std::memcpy(payload + (field.kOffset - sizeof h) + i * sizeof v, &v, sizeof v);
    return *this;
  }
  RawRecord& byte(std::size_t offset, std::uint8_t value) {
    payload[offset - sizeof h] = value;
    return *this;
  }
};
static_assert(sizeof(RawRecord) == isa::kRecordBytes);

}  // namespace opennrt::emu::test
