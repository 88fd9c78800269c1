// SPDX-License-Identifier: Apache-2.0
#include "arch-common/validate.h"

#include <array>
#include <cstdio>

#include "opennrt/isa/records.h"

namespace opennrt::arch_common {
namespace {

constexpr std::uint32_t kEngines = 5;
constexpr std::uint8_t kOpPseudoExtension = 0xDA;  // the only record of length 0
constexpr std::uint8_t kOpPseudoInst = 0xDF;

int refuse(nrtp_diag* out, std::uint32_t slot, std::uint8_t opcode, const char* what,
           std::uint32_t engine) {
  static constexpr std::array<const char*, kEngines> kNames = {"PE", "ACT", "POOL", "DVE", "SP"};
  if (out != nullptr) {
    out->slot = slot;
    out->opcode = opcode;
    std::snprintf(out->msg, sizeof out->msg, "slot %u, opcode 0x%02x %s on %s: %s", slot, opcode,
                  isa::opcode_name(opcode), kNames[engine], what);
  }
  return NRTP_INVALID;
}

int check(isa::Generation generation, std::uint32_t engine, const std::uint8_t* in,
          std::uint32_t slot, nrtp_diag* out) {
  const std::uint8_t opcode = in[0];
  const isa::Instruction* instruction = isa::find_instruction(opcode);
  if (instruction == nullptr || instruction->kind == isa::Kind::kInvalid ||
      !instruction->exists_on(generation)) {
    char what[48];
    std::snprintf(what, sizeof what, "not an instruction of %s", isa::generation_name(generation));
    return refuse(out, slot, opcode, what, engine);
  }
  if (!instruction->runs_on(engine)) {
    return refuse(out, slot, opcode, "this engine does not execute it", engine);
  }
  if (in[1] != 0x10 && opcode != kOpPseudoExtension) {
    return refuse(out, slot, opcode, "length byte is not 0x10", engine);
  }
  return NRTP_OK;
}

}  // namespace

int validate_inst(isa::Generation generation, std::uint32_t engine, const std::uint8_t in[64],
                  nrtp_diag* out) {
  if (engine >= kEngines || in == nullptr) return NRTP_INVALID;
  return check(generation, engine, in, 0, out);
}

int validate_image(isa::Generation generation, std::uint32_t engine, const std::uint8_t* image,
                   std::uint64_t bytes, nrtp_diag* out) {
  if (engine >= kEngines || (image == nullptr && bytes != 0)) return NRTP_INVALID;
  if (bytes % isa::kRecordBytes != 0) {
    return refuse(out, static_cast<std::uint32_t>(bytes / isa::kRecordBytes), 0,
                  "the image ends inside a record", engine);
  }
  for (std::uint64_t at = 0; at < bytes; at += isa::kRecordBytes) {
    const std::uint8_t* record = image + at;
    const auto slot = static_cast<std::uint32_t>(at / isa::kRecordBytes);
    if (int status = check(generation, engine, record, slot, out); status != NRTP_OK) {
      return status;
    }
    // The exit sentinel is the one pseudo-instruction an image may hold.
    const bool exit = record[0] == kOpPseudoInst && record[12] == 1;
    if (isa::find_instruction(record[0])->kind == isa::Kind::kPseudo && !exit) {
      return refuse(out, slot, record[0], "pseudo-instruction was not lowered", engine);
    }
  }
  return NRTP_OK;
}

}  // namespace opennrt::arch_common
