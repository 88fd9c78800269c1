// SPDX-License-Identifier: Apache-2.0
//
// Instructions without known fields or formula are refused with the reason.
#include "unit/emulator_act/lab.h"

namespace opennrt::emu::test {
namespace {

class Refusal : public Lab {};

TEST_F(Refusal, NamesTheInstructionAndTheReason) {
  on(NRTP_ENGINE_POOL, isa::Generation::kMariana);
  for (const auto& [opcode, name] : {std::pair{isa::op::SORT, "SORT"},
                                     {isa::op::SPARSITY_COMPRESS, "SPARSITY_COMPRESS"},
                                     {isa::op::BATCH_NORM_BACK_PROP, "BATCH_NORM_BACK_PROP"}})
    refused(record(opcode), {name, "not implemented", "not published"});
  refused(record(isa::op::EXTENDED_INST), {"microcode"});
}

}  // namespace
}  // namespace opennrt::emu::test
