// SPDX-License-Identifier: Apache-2.0
//
// Records that exist in compiled streams only, and those they become, in typed
// form. All fields little-endian; offsets in the comments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "opennrt/isa/records.h"

namespace opennrt::tdrv::image {

inline constexpr std::uint8_t kOpMove = 0xA7;
inline constexpr std::uint8_t kOpPseudoDmaRearm = 0xC2;
inline constexpr std::uint8_t kOpPseudoDmaBarrier = 0xC3;
inline constexpr std::uint8_t kOpPseudoLoadActFuncSet = 0xC6;
inline constexpr std::uint8_t kOpPseudoTensorStore = 0xCD;
inline constexpr std::uint8_t kOpPseudoTensorLoad = 0xCE;
inline constexpr std::uint8_t kOpPseudoSwapQueueSet = 0xCF;
inline constexpr std::uint8_t kOpPseudoFunctionBegin = 0xD1;
inline constexpr std::uint8_t kOpPseudoFunctionReturn = 0xD2;
inline constexpr std::uint8_t kOpPseudoFunctionCall = 0xD3;
inline constexpr std::uint8_t kOpPseudoSyncBarrier = 0xD5;
inline constexpr std::uint8_t kOpPseudoExtension = 0xDA;
inline constexpr std::uint8_t kOpPseudoPrefetchHint = 0xDD;
inline constexpr std::uint8_t kOpPseudoInst = 0xDF;
inline constexpr std::uint8_t kPseudoInstExit = 1;

// Name of an opcode 0xC0..0xDF.
std::string_view pseudo_name(std::uint8_t opcode);

inline constexpr std::uint8_t kRegisters = 64;  // general registers of a sequencer

#pragma pack(push, 1)

// Address of a stream's operand: what it means depends on the mode.
struct PseudoAddress {
  std::uint32_t offset;   // bytes, or the number of the register that holds them
  std::uint8_t index[3];  // variable id, or entry of the dge-table
  std::uint8_t mode;
  std::uint32_t id() const {
    return index[0] | std::uint32_t{index[1]} << 8 | std::uint32_t{index[2]} << 16;
  }
};
inline constexpr std::uint8_t kAddressVariable = 0x10;
inline constexpr std::uint8_t kAddressTableEntry = 0x20;
inline constexpr std::uint8_t kAddressTableRegister = 0x28;

// DMA_DIRECT2D, and DMAMEMCPY, which it becomes.
struct Direct2dRecord {
  isa::Header h;
  std::uint8_t dma_configs;    // 12: priority class
  std::uint8_t semaphore;      // 13: raised on completion
  std::uint8_t increment;      // 14
  std::uint8_t compute_op;     // 15: 0 = copy
  PseudoAddress src;           // 16
  std::int32_t src_step[2];    // 24: bytes
  std::uint16_t src_count[2];  // 32
  std::uint16_t src_bytes;     // 36: contiguous run, 0 = 65536
  std::uint8_t src_bound;      // 38: 0x80 | register with the size limit
  std::uint8_t dst_bound;      // 39
  PseudoAddress dst;           // 40
  std::int32_t dst_step[2];    // 48
  std::uint16_t dst_count[2];  // 56
  std::uint16_t dst_bytes;     // 60
  std::uint8_t src_dtype;      // 62
  std::uint8_t dst_dtype;      // 63
};

// Follows a DMA record whose bound registers it feeds; word_len is 0.
struct ExtensionRecord {
  isa::Header h;
  std::uint32_t bound;       // 12: bytes of the source variable
  std::uint8_t payload[48];  // 16
};

// TENSOR_LOAD and TENSOR_STORE on a variable.
struct VariableMemRecord {
  isa::Header h;
  std::uint8_t dtype;        // 12
  std::uint8_t r0;           // 13
  std::uint8_t count_inner;  // 14
  std::uint8_t count_outer;  // 15
  std::uint32_t var_id;      // 16
  std::uint32_t offset;      // 20: bytes
  std::int32_t step_inner;   // 24: elements
  std::int32_t step_outer;   // 28
  std::uint8_t reg[32];      // 32
};

struct MoveRecord {
  isa::Header h;
  std::uint8_t count;      // 12: registers written
  std::uint8_t dtype;      // 13
  std::uint8_t immediate;  // 14: 1 = data follow
  std::uint8_t r0;         // 15
  std::uint8_t src[8];     // 16: registers
  std::uint8_t dst[8];     // 24: registers
  std::uint32_t data[8];   // 32
};

struct FunctionBeginRecord {
  isa::Header h;
  char name[36];                  // 12
  std::uint8_t reset_semaphores;  // 48: on return
  std::uint8_t return_lo;         // 49: register
  std::uint8_t return_hi;         // 50: register
  std::uint8_t r0[13];            // 51
};

struct FunctionCallRecord {
  isa::Header h;
  char name[36];                 // 12
  std::uint32_t args_table_var;  // 48
  std::uint8_t r0[12];           // 52
};

struct QueueNameRecord {
  isa::Header h;
  char queue[32];       // 12
  std::uint8_t r0[20];  // 44
};

struct SwapQueueSetRecord {
  isa::Header h;
  char queue[32];         // 12
  std::uint8_t r0[15];    // 44
  std::uint8_t instance;  // 59
  std::uint32_t swap;     // 60: 1
};

struct ActFuncSetRecord {
  isa::Header h;
  char set[32];         // 12
  std::uint8_t r0[20];  // 44
};

struct PseudoInstRecord {
  isa::Header h;
  std::uint8_t code;    // 12
  std::uint8_t r0[51];  // 13
};

#pragma pack(pop)

static_assert(sizeof(Direct2dRecord) == isa::kRecordBytes);
static_assert(offsetof(Direct2dRecord, dst) == 40);
static_assert(sizeof(ExtensionRecord) == isa::kRecordBytes);
static_assert(sizeof(VariableMemRecord) == isa::kRecordBytes);
static_assert(sizeof(MoveRecord) == isa::kRecordBytes);
static_assert(offsetof(MoveRecord, data) == 32);
static_assert(sizeof(FunctionBeginRecord) == isa::kRecordBytes);
static_assert(sizeof(FunctionCallRecord) == isa::kRecordBytes);
static_assert(sizeof(QueueNameRecord) == isa::kRecordBytes);
static_assert(sizeof(SwapQueueSetRecord) == isa::kRecordBytes);
static_assert(offsetof(SwapQueueSetRecord, instance) == 59);
static_assert(sizeof(ActFuncSetRecord) == isa::kRecordBytes);
static_assert(sizeof(PseudoInstRecord) == isa::kRecordBytes);

}  // namespace opennrt::tdrv::image
