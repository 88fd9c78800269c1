// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "tdrv/image/pseudo_records.h"

namespace opennrt::tdrv::image {

// Names of the pseudo-instructions 0xC0..0xDF; they exist in compiled programs
// only, so the device tables do not list them.
std::string_view pseudo_name(std::uint8_t opcode) {
  constexpr std::array<std::string_view, 32> kNames = {
      "",
      "PSEUDO_DMATRIGGER",
      "PSEUDO_DMAREARM",
      "PSEUDO_DMABARRIER",
      "PSEUDO_DMAMEMCPY_FULL_IND",
      "PSEUDO_SEMAPHORE_SET",
      "PSEUDO_LOAD_ACT_FUNC_SET",
      "PSEUDO_TRIGGER_ALL_REDUCE",
      "PSEUDO_TRIGGER_COLLECTIVE",
      "PSEUDO_READ_VAR_ADDR",
      "PSEUDO_EMBEDDING_UPDATE",
      "PSEUDO_SEND_RECV",
      "PSEUDO_BRANCH_LABEL",
      "PSEUDO_TENSOR_STORE",
      "PSEUDO_TENSOR_LOAD",
      "PSEUDO_DMASWAP_QUEUE_SET",
      "PSEUDO_SET_RNG_SEED",
      "PSEUDO_FUNCTION_BEGIN",
      "PSEUDO_FUNCTION_RETURN",
      "PSEUDO_FUNCTION_CALL",
      "PSEUDO_DMA_DIRECT2D",
      "PSEUDO_SYNC_BARRIER",
      "PSEUDO_RANGE_CHECK",
      "PSEUDO_JPEG_DECODE",
      "PSEUDO_CORE_BARRIER",
      "PSEUDO_TRIGGER_COLLECTIVE2",
      "PSEUDO_EXTENSION",
      "PSEUDO_CUR_PROCESSING_RANK_ID",
      "PSEUDO_GID_LOAD",
      "PSEUDO_BRANCH_PREFETCH_HINT",
      "PSEUDO_TENSOR_COMPLETION",
      "PSEUDO_INST",
  };
  const std::string_view name = kNames[opcode & 0x1F];
  return name.empty() ? "unknown pseudo-instruction" : name;
}

}  // namespace opennrt::tdrv::image
