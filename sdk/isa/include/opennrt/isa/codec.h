// SPDX-License-Identifier: Apache-2.0
//
// Text form of a record and back, without loss:
//
//   TENSOR_TENSOR_ARITH_OP wait=SEM_GE_IMM(9) value=16 in0_in1_dtype=FP32/FP32
//       op=ADD src0.addr=0x0 src0.step=1,0,0 src0.num=1000,1,1 ...
//
// A mnemonic and key=value pairs in any order; a field that is not named is
// zero. Header keys: wait=MODE(index), update=MODE(index), value, debug_cmd,
// debug_hint, word_len (default 0x10). Values by kind of the field: numbers
// (decimal, 0x.., signed where the field is), names of enumerations or their
// number, r5 for registers, FP32/BFLOAT16 for type pairs, 1.5 or 0x.. for
// floats, 1.5f or 0x.. for immediates, a,b,c for arrays, hex:0a0b for bytes,
// "text" for names. Bytes that no field covers: @<offset>=hex:0a0b. A record
// whose opcode the family does not have: .record hex:<128 digits>.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "opennrt/isa/records.h"
#include "opennrt/isa/table.h"

namespace opennrt::isa {

using RecordBytes = std::array<std::uint8_t, kRecordBytes>;
using RecordView = std::span<const std::uint8_t, kRecordBytes>;

// All fields that are not zero, on one line.
std::string disassemble(RecordView record, Generation generation);

// One line of the form above; '#' starts a comment. nullopt: *error says which
// key or value is wrong and what is allowed.
// own: further instructions, found first by their names.
std::optional<RecordBytes> assemble(std::string_view line, Generation generation,
                                    std::string* error, std::span<const Instruction> own = {});

}  // namespace opennrt::isa
