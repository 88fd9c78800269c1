// SPDX-License-Identifier: Apache-2.0
//
// A program to be packed into a NEFF, in the container's own terms: variables,
// DMA queue sets, descriptor blocks and one instruction stream per engine.
// Nothing is implied: triggers, waits and semaphore numbers are what the author
// wrote.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "opennrt/isa/codec.h"

namespace opennrt::neffkit {

inline constexpr std::size_t kEngines = 5;  // PE, ACT, POOL, DVE, SP
inline constexpr std::array<const char*, kEngines> kEngineNames = {"pe", "act", "pool", "dve",
                                                                   "sp"};

// An input or output as the caller sees it.
struct Tensor {
  std::string name;
  std::string dtype;  // "float32", ...
  std::vector<std::uint64_t> shape;
  std::uint64_t bytes = 0;
  int line = 0;  // in the source; 0 = not from a file
};

// A variable besides the state buffer (SB), the inputs and the outputs.
struct Variable {
  std::string name;
  std::string type;  // file, tmp-buf, virtual
  std::uint64_t size = 0;
  std::uint64_t alignment = 0;
  std::uint64_t backing_offset = 0;   // virtual
  std::vector<std::uint8_t> content;  // file
  int line = 0;
};

struct QueueSet {
  std::string name;
  std::string type;  // in, out, data, dynamic
  std::uint32_t owner = 0;
  std::uint32_t num_queues = 16;
  std::vector<std::uint32_t> semaphores;
  int line = 0;
};

// Walk over a variable, innermost dimension first: sizes[0] bytes in a run,
// steps in bytes, steps[0] = 1.
struct Pattern {
  std::string variable;
  std::uint64_t offset = 0;
  std::vector<std::uint64_t> sizes;
  std::vector<std::int64_t> steps;
  std::string dtype = "uint8";
  int line = 0;
};

struct Descriptor {
  std::string op = "copy";    // copy, cast, add, min, max, fma
  std::vector<Pattern> from;  // one for copy and cast
  Pattern to;
  std::vector<double> scale;  // fma, one per source
  std::optional<double> constant;
  int line = 0;
};

struct Block {
  std::string queue;
  std::uint32_t id = 0;
  std::optional<std::uint32_t> semaphore;
  std::vector<Descriptor> descriptors;
  int line = 0;
};

struct Record {
  isa::RecordBytes bytes{};
  int line = 0;
};

struct Subgraph {
  std::string name = "sg00";
  std::vector<Variable> variables;
  std::vector<QueueSet> queues;
  std::vector<Block> blocks;
  std::array<std::vector<Record>, kEngines> streams;
  std::uint32_t runtime_events = 12, runtime_semaphores = 3;
};

// Silicon that is none of the built-in families: what the container and the checks
// need to know of it.
struct Silicon {
  std::string target;  // name in the container
  std::uint32_t sbuf_partitions = 128;
  std::uint64_t sbuf_partition_stride = 0, sbuf_partition_bytes = 0;
  std::uint32_t semaphores = 256;
  // Instructions of its own; the names and fields they point to live in `owned`.
  std::vector<isa::Instruction> instructions;
  struct OwnedLayout {
    std::string name;
    std::vector<std::string> field_names;
    std::vector<isa::Field> fields;
    isa::RecordLayout layout{};
  };
  std::vector<std::shared_ptr<const OwnedLayout>> owned;
};

struct Program {
  std::string source = "program";  // file name for messages
  std::string name;
  isa::Generation target = isa::Generation::kSunda;  // whose record layouts
  std::optional<Silicon> silicon;
  std::uint64_t feature_bits = 0;
  std::vector<Tensor> inputs, outputs;
  std::vector<Subgraph> subgraphs;  // one per physical core
};

}  // namespace opennrt::neffkit
