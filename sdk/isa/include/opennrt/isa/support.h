// SPDX-License-Identifier: Apache-2.0
//
// Which instructions the software device executes: `device` of opcodes.yaml. A
// pseudo-instruction executes when the loader lowers or removes it.
#pragma once

#include <cstdint>
#include <string>

namespace opennrt::isa {

// nullptr: executed (or no instruction), else why a program that uses it is refused.
const char* device_refusal(std::uint8_t opcode);
// `reading` of opcodes.yaml: what of an executed instruction's meaning is our
// reading, confirmed by no public source and no real program. nullptr: nothing.
const char* device_reading(std::uint8_t opcode);

// "131 of 166 opcodes execute, 35 only decode"
std::string support_summary();
// Text of SUPPORT.md.
std::string support_markdown();
// {"instructions": [...], "executes": N, "decodes": N}
std::string support_json();
// One line per instruction: code, name, engines, families, "executes" (and the reading) or the
// reason.
std::string support_listing();

}  // namespace opennrt::isa
