// SPDX-License-Identifier: Apache-2.0
//
// The program model: what a NEFF says, validated, before anything is placed on
// a device. Produced by load_program() without a device; consumed by TDRV.
// Immutable after loading; owns all bytes it refers to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "nrt/nrt_experimental.h"

namespace opennrt::neff {

inline constexpr std::size_t kEngines = 5;
enum class Engine : std::uint8_t { kPe = 0, kAct = 1, kPool = 2, kDve = 3, kSp = 4 };
const char* engine_name(Engine engine);  // "PE", "ACT", ...

enum class VariableType : std::uint8_t {
  kStateBuffer,
  kInput,
  kOutput,
  kFile,
  kTmpBuf,
  kVirtual,
  kPointer,
  kList,
  kDgeTable,
  kRemote,
};
enum class BackingBuffer : std::uint8_t { kLocal = 0, kShared = 1, kSharded = 2, kMain = 3 };

struct RemoteReference {
  std::uint32_t subgraph = 0;
  std::uint32_t var_id = 0;
};

struct Variable {
  std::string name;
  VariableType type = VariableType::kTmpBuf;
  std::uint32_t var_id = 0;
  std::uint64_t size = 0;       // bytes
  std::uint64_t alignment = 0;  // 0 = default
  std::uint64_t backing_offset = 0;
  BackingBuffer backing = BackingBuffer::kMain;
  std::uint32_t referenced_var_id = 0;    // kPointer
  std::vector<std::uint32_t> list;        // kList, kDgeTable: var ids
  std::optional<RemoteReference> remote;  // kRemote
  std::span<const std::byte> content;     // kFile: exactly `size` bytes, owned by the Program
};

// Strided walk over a variable: element d of sizes/steps is dimension d,
// innermost first; sizes[0] is a run of bytes, steps are bytes, steps[0] = 1.
struct AccessPattern {
  std::uint32_t var_id = 0;
  std::uint64_t offset = 0;  // bytes; state buffer: partition * 0x40000 + byte
  std::uint32_t dims = 1;    // 1..4
  std::array<std::uint64_t, 4> sizes{1, 1, 1, 1};
  std::array<std::int64_t, 4> steps{1, 0, 0, 0};
  std::uint8_t dtype = 3;  // ISA code, default uint8
};

enum class DmaOp : std::uint8_t { kCopy, kCast, kAdd, kMin, kMax, kFma, kTranspose };
// For messages.
constexpr const char* dma_op_name(DmaOp op) {
  constexpr const char* kNames[] = {"copy", "cast", "add", "min", "max", "fma", "transpose"};
  return static_cast<std::size_t>(op) < 7 ? kNames[static_cast<std::size_t>(op)] : "?";
}

struct Descriptor {
  DmaOp op = DmaOp::kCopy;
  AccessPattern to;
  std::vector<AccessPattern> from;                 // one, or up to 16 for add/min/max/fma
  std::vector<float> scale;                        // fma: one per source
  std::optional<float> constant;                   // min, max
  std::array<std::uint32_t, 4> transpose_shape{};  // W, Z, Y, X; X innermost
  std::uint32_t transpose_element_bytes = 0;
  std::string transpose_op;  // e.g. "WZXY"
  std::uint32_t tiling_dimensions = 1;
};

struct Block {
  std::uint32_t id = 0;
  std::optional<std::uint32_t> semaphore;
  std::optional<std::uint32_t> event;
  std::vector<std::uint32_t> remote_semaphores;
  std::vector<Descriptor> descriptors;
  std::string instance_name;
  std::string function_start;
  std::uint32_t priority_class = 0;  // no effect on results
};

enum class QueueType : std::uint8_t { kIn, kOut, kData, kDynamic, kEmbeddingUpdate, kActLoad };

struct QueueSet {
  std::string name;
  QueueType type = QueueType::kData;
  std::optional<Engine> owner;
  std::uint32_t num_queues = 1;  // 1..16
  std::vector<std::uint32_t> semaphores;
  // Rings that take turns on the hardware queue; the first is active when a run starts.
  std::vector<std::string> instances;
  std::uint32_t dge_scratch_offset = 0, dge_scratch_bytes = 0;
  std::vector<Block> blocks;  // ascending id; instances number theirs on their own
  const Block* find_block(std::uint32_t id) const;  // of any instance
};

struct ActTableSet {
  std::string name;
  std::span<const std::byte> buckets, control;
  std::string profile_json;  // text of <set>.json, validated
};

struct NamedBlob {
  std::string name;  // slot name: opcode, control_fast, control_slow, datapath
  std::span<const std::byte> data;
};

struct Fp8Config {
  bool range_extension = false;
  std::uint32_t emax_e4m3 = 0, emax_e5m2 = 0;
  bool ocp_sat = false, sis = false, sns = false;
};

struct Subgraph {
  std::string name;                                          // "sg00"
  std::vector<Variable> variables;                           // index = var_id
  std::vector<QueueSet> queues;                              // byte order of the name
  std::array<std::span<const std::byte>, kEngines> streams;  // 64-byte records
  std::array<std::string, kEngines> stream_members;          // member names, for messages
  std::vector<ActTableSet> act_sets;                         // index = set number of opcode 0x23
  std::vector<NamedBlob> dve_tables;
  std::uint32_t runtime_event_count = 0, runtime_semaphore_count = 0;
  std::vector<std::string> features;  // names of neff_features; the header's bits decide
  std::optional<Fp8Config> fp8;
  std::uint64_t scratchpad_bytes = 0;  // max of backing_offset + size over kVirtual
  const Variable* find_variable(std::string_view name) const;
  const QueueSet* find_queue(std::string_view name) const;
  // Of a set or of one of its instances.
  const QueueSet* find_queue_or_instance(std::string_view name) const;
};

// One input or output of the model as the caller sees it.
struct TensorInfo {
  std::string name;
  nrt_dtype_t dtype = NRT_DTYPE_UNKNOWN;
  std::vector<std::uint32_t> shape;
  std::uint64_t size = 0;  // bytes
};

struct Program {
  std::string name;
  std::array<std::uint8_t, 16> uuid{};
  std::string compiler_version;
  std::uint64_t feature_bits = 0;
  std::uint32_t lnc_size = 0;  // header value
  std::string target;          // "sunda", "v2", ...; "*" = any
  std::uint64_t mac_count = 0;
  std::vector<TensorInfo> inputs, outputs;  // byte order of the name
  std::vector<Subgraph> subgraphs;
  std::shared_ptr<const void> storage;  // keeps every span above alive
};

// What the program must fit, known without touching a device.
struct LoadLimits {
  std::vector<std::string> targets;        // target names of the running arch
  std::vector<std::string> known_targets;  // of all arch plugins found, for the message
  std::string running_on;                  // e.g. "sunda (trn1.2xlarge)"
  // What makes a model for another target run here, e.g. a setting to change;
  // asked only when one is refused. Empty: choose another device.
  std::function<std::string(std::string_view target)> remedy;
  std::uint32_t lnc_size = 1;         // physical cores per logical core
  std::uint32_t visible_cores = ~0u;  // physical cores of this process
  std::uint32_t semaphores = 256, events = 256;
  std::uint32_t min_runtime_semaphores = 3, min_runtime_events = 9;
  std::uint64_t sbuf_partition_stride = 0x40000, sbuf_partitions = 128;
  bool sbuf_reservation_required = false;
  bool allow_legacy = false;
  bool validate_hash = false;
  std::uint64_t max_decompressed_bytes = 0;  // 0 = half of the memory limit
};

// bytes: the whole NEFF; not referenced after return. Errors: NRT_INVALID,
// NRT_UNSUPPORTED_NEFF_VERSION, NRT_RESOURCE; the message names member, key
// path and offending value.
Result<Program> load_program(std::span<const std::byte> bytes, const LoadLimits& limits);

// What a NEFF was compiled for, of a file that may not fit this process.
struct Outline {
  std::string target;
  std::uint32_t lnc_size = 0;  // 0: the file does not bind it
};
Result<Outline> read_outline(std::span<const std::byte> bytes);

}  // namespace opennrt::neff
