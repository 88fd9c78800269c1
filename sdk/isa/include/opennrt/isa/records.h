// SPDX-License-Identifier: Apache-2.0
//
// The 64-byte instruction records that the runtime itself writes and the
// software device executes: layouts as found in device images of real runs
// (runtimes 2.23 to 2.30). All fields little-endian. The complete instruction
// table is generated from opcodes.yaml; this header holds the control records
// in typed form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace opennrt::isa {

inline constexpr std::size_t kRecordBytes = 64;

enum Opcode : std::uint8_t {
  kOpLoadWeights = 0x01,
  kOpMatmul = 0x02,
  kOpActivate = 0x21,
  kOpActivationTableLoad = 0x23,
  kOpTensorTensor = 0x41,
  kOpTensorReduce = 0x42,
  kOpTensorScalar = 0x43,
  kOpCopy = 0x46,
  kOpCast = 0x47,
  kOpReciprocal = 0x48,
  kOpMemset = 0x49,
  kOpPoolConfig = 0x95,
  kOpEventSemaphore = 0xA0,
  kOpHalt = 0xA1,
  kOpDrain = 0xA2,
  kOpNop = 0xA4,
  kOpWrite = 0xA5,
  kOpNotify = 0xA6,
  kOpAlu = 0xA8,
  kOpCompareBranch = 0xA9,
  kOpTensorLoad = 0xAA,
  kOpTensorStore = 0xAB,
  kOpRangeClear = 0xB0,
  kOpSetOrderingMode = 0xB1,
  kOpDmaMemcpy = 0xB8,
  kOpPseudoDmaTrigger = 0xC1,
  kOpPseudoBranchLabel = 0xCC,
  kOpPseudoDmaDirect2d = 0xD4,
  kOpPseudoCoreBarrier = 0xD8,
};

enum WaitMode : std::uint8_t {
  kWaitNone = 0x00,
  kWaitSemEq = 0x01,
  kWaitSemLt = 0x02,
  kWaitSemLe = 0x03,
  kWaitSemGt = 0x04,
  kWaitSemGe = 0x05,
  kWaitEvtSet = 0x06,
  kWaitEvtSetThenClear = 0x07,
  kWaitEvtClear = 0x0E,
  kWaitEvtClearThenSet = 0x0F,
};
inline constexpr std::uint8_t kWaitRegisterBit = 0x80;  // value field = register number

// Low nibble: action; bit 4 clear = at operand read, set = at completion.
enum UpdateMode : std::uint8_t {
  kUpdateNone = 0x00,
  kUpdateEvtSet = 0x11,
  kUpdateEvtClear = 0x12,
  kUpdateSemInc = 0x13,
  kUpdateSemDec = 0x14,
  kUpdateSemAdd = 0x15,
  kUpdateSemSub = 0x17,
  kUpdateSemWrite = 0x19,
};

enum NotifyKind : std::uint16_t {
  kNotifyStart = 2,
  kNotifyEnd = 3,
  kNotifyCustom = 6,
  kNotifyModelSwitchStart = 7,
  kNotifyModelSwitchEnd = 8,
};

enum BranchOp : std::uint8_t {
  kBranchAlways = 0,
  kBranchLtImm = 1,
  kBranchLeImm = 2,
  kBranchEqImm = 3,
  kBranchNeImm = 4,
  kBranchGeImm = 5,
  kBranchGtImm = 6,
};
enum BranchTarget : std::uint8_t { kTargetRegister = 1, kTargetRelative = 3 };

// Data type codes of the instruction set.
enum DType : std::uint8_t {
  kDtUint64 = 1,
  kDtInt8 = 2,
  kDtUint8 = 3,
  kDtInt16 = 4,
  kDtUint16 = 5,
  kDtBfloat16 = 6,
  kDtFloat16 = 7,
  kDtInt32 = 8,
  kDtUint32 = 9,
  kDtFloat32 = 10,
  kDtFloat32r = 11,
  kDtInt64 = 12,
  kDtFloat8e3 = 13,
  kDtFloat8e4 = 14,
  kDtFloat8e5 = 15,
};

// Register numbers above the 64 general registers.
inline constexpr std::uint8_t kRegArgTableLo = 0x82;
inline constexpr std::uint8_t kRegArgTableHi = 0x83;

#pragma pack(push, 1)

// First 12 bytes of every record.
struct Header {
  std::uint8_t opcode;
  std::uint8_t word_len;    // 0x10
  std::uint8_t debug_cmd;   // 9 on NOTIFY
  std::uint8_t debug_hint;  // 2 on unconditional relative branches of the runtime
  std::uint8_t wait_mode;
  std::uint8_t wait_index;
  std::uint8_t update_mode;
  std::uint8_t update_index;
  std::uint32_t value;  // threshold of the wait, or operand of the update
};

// NOP, HALT, DRAIN, NOTIFY, ACTIVATION_TABLE_LOAD.
struct ControlRecord {
  Header h;
  std::uint32_t setter_signature;  // 12: 1 in NOPs of the runtime
  std::uint8_t r0[19];
  std::uint8_t act_set_index;   // 35
  std::uint16_t notify_kind;    // 36
  std::uint8_t r1;              // 38
  std::uint8_t notify_count;    // 39: 1, or 2 for custom
  std::uint8_t drain_count;     // 40
  std::uint8_t r2[3];           // 41
  std::uint16_t notify_sub_id;  // 44
  std::uint8_t r3;              // 46
  std::uint8_t notify_group2;   // 47: 1 for custom
  std::uint8_t r4[16];          // 48
};

// EVENT_SEMAPHORE: second wait and the update.
struct EventSemaphoreRecord {
  Header h;
  std::uint32_t setter_signature;  // 12
  std::uint8_t r0[16];             // 16
  std::uint8_t wait_mode;          // 32
  std::uint8_t wait_index;         // 33
  std::uint8_t update_mode;        // 34
  std::uint8_t update_index;       // 35
  std::uint32_t wait_value;        // 36
  std::uint32_t update_value;      // 40
  std::uint8_t r1[20];             // 44
};

// WRITE: one or two 4-byte writes, write 0 first.
struct WriteRecord {
  Header h;
  std::uint8_t size0;      // 12: 4
  std::uint8_t size1;      // 13: 4, or 0 = single write
  std::uint8_t r0[2];      // 14
  std::uint64_t address0;  // 16
  std::uint64_t address1;  // 24
  std::uint64_t data0;     // 32
  std::uint64_t data1;     // 40
  std::uint8_t r1[16];     // 48
};

// TENSOR_LOAD and TENSOR_STORE.
struct MemRecord {
  Header h;
  std::uint8_t dtype;        // 12: 9
  std::uint8_t immediate;    // 13: STORE: 1 = data follow as u32, 0 = register numbers
  std::uint8_t count_inner;  // 14
  std::uint8_t count_outer;  // 15
  std::uint64_t address;     // 16
  std::int32_t step_inner;   // 24: in elements
  std::int32_t step_outer;   // 28: in elements
  union {
    std::uint8_t reg[32];   // 32: one register number per element, inner first
    std::uint32_t data[8];  // 32: immediate data, inner first
  };
};

struct CompareBranchRecord {
  Header h;
  std::uint8_t op;           // 12: enum BranchOp
  std::uint8_t dtype;        // 13
  std::uint8_t target_mode;  // 14: enum BranchTarget
  std::uint8_t r0;           // 15
  std::uint32_t immediate;   // 16
  std::uint8_t r1[12];       // 20
  std::uint8_t lhs;          // 32: register
  std::uint8_t rhs;          // 33: register of the register forms
  std::uint8_t target_lo;    // 34: register
  std::uint8_t target_hi;    // 35: register
  std::uint8_t r2[12];       // 36
  std::int32_t offset;       // 48: bytes, relative to this record
  std::uint8_t r3[12];       // 52
};

struct RangeClearRecord {
  Header h;
  std::uint8_t mode;   // 12: 1 = first..last
  std::uint8_t first;  // 13
  std::uint8_t last;   // 14: inclusive
  std::uint8_t r0[49];
};

struct OrderingRecord {
  Header h;
  std::uint8_t mode;  // 12: 1 in runtime parts, 0 from the compiler
  std::uint8_t r0[51];
};

// Pseudo-instruction 0xC1 of a NEFF stream.
struct DmaTriggerRecord {
  Header h;
  char queue[32];          // 12: NUL-terminated, at most 31 characters
  std::uint8_t r0[4];      // 44
  std::uint32_t block_id;  // 48
  std::uint8_t r1[12];     // 52
};

// Rendezvous of the two cores of a logical core.
struct CoreBarrierRecord {
  Header h;
  std::uint32_t barrier_id;  // 12: 0, 1 .. in program order, the same on both cores
  std::uint32_t semaphore;   // 16: counts the peer's arrivals
  std::uint8_t r0[44];       // 20
};

// Access patterns of compute instructions; steps in elements, index 0 fastest.
struct Tensor3d {
  std::uint32_t address;
  std::int16_t step[3];
  std::uint16_t count[3];
};

struct TensorTensorRecord {
  Header h;
  std::uint8_t src_dtypes;  // 12: low nibble source 0, high nibble source 1
  std::uint8_t dst_dtype;   // 13
  std::uint8_t op;          // 14: ALU op
  std::uint8_t partitions;  // 15
  Tensor3d src0;            // 16
  Tensor3d src1;            // 32
  Tensor3d dst;             // 48
};

#pragma pack(pop)

static_assert(sizeof(Header) == 12);
static_assert(sizeof(ControlRecord) == kRecordBytes);
static_assert(offsetof(ControlRecord, notify_kind) == 36);
static_assert(offsetof(ControlRecord, drain_count) == 40);
static_assert(offsetof(ControlRecord, notify_group2) == 47);
static_assert(sizeof(EventSemaphoreRecord) == kRecordBytes);
static_assert(offsetof(EventSemaphoreRecord, update_value) == 40);
static_assert(sizeof(WriteRecord) == kRecordBytes);
static_assert(sizeof(MemRecord) == kRecordBytes);
static_assert(offsetof(MemRecord, data) == 32);
static_assert(sizeof(CompareBranchRecord) == kRecordBytes);
static_assert(offsetof(CompareBranchRecord, offset) == 48);
static_assert(sizeof(RangeClearRecord) == kRecordBytes);
static_assert(sizeof(OrderingRecord) == kRecordBytes);
static_assert(sizeof(DmaTriggerRecord) == kRecordBytes);
static_assert(offsetof(DmaTriggerRecord, block_id) == 48);
static_assert(sizeof(CoreBarrierRecord) == kRecordBytes);
static_assert(sizeof(TensorTensorRecord) == kRecordBytes);

template <typename Record>
Record zero_record(std::uint8_t opcode) {
  Record r{};
  r.h.opcode = opcode;
  r.h.word_len = 0x10;
  return r;
}

template <typename Record>
Record load_record(const void* bytes) {
  Record r;
  static_assert(sizeof(Record) == kRecordBytes);
  std::memcpy(&r, bytes, sizeof r);
  return r;
}

}  // namespace opennrt::isa
