// SPDX-License-Identifier: Apache-2.0
//
// Figures of a program: memory, instructions, DMA.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "neff/model.h"

namespace opennrt::tools {

struct EngineFigures {
  std::uint64_t records = 0;
  std::array<std::uint64_t, 256> opcodes{};  // records per opcode
};

struct QueueFigures {
  const neff::QueueSet* queue = nullptr;
  std::uint64_t blocks = 0, descriptors = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0;
};

// Bytes in device memory, or of one partition where said so.
struct MemoryFigures {
  std::uint64_t constants = 0;   // variables filled from members
  std::uint64_t scratchpad = 0;  // shared with other models
  std::uint64_t buffers = 0;     // private variables, pointers and tables of addresses
  std::uint64_t tables = 0;      // activation and DVE tables
  std::uint64_t instructions = 0;
  std::uint64_t descriptors = 0;  // rings of the queues, 16 bytes for each side of an element run
  std::uint64_t sbuf_partition = 0, psum_partition = 0;  // highest byte used + 1
  std::uint64_t device() const {
    return constants + scratchpad + buffers + tables + instructions + descriptors;
  }
};

struct GraphFigures {
  MemoryFigures memory;
  std::array<EngineFigures, neff::kEngines> engines;
  std::vector<QueueFigures> queues;
  std::uint64_t dynamic_copies = 0;  // DMA whose descriptors are made at run time
  std::uint64_t dynamic_bytes = 0;
  std::uint64_t multiply_accumulates = 0;  // issued by the PE records, all passes
  std::uint64_t engine_bytes = 0;          // read and written by resolved operands
  std::uint64_t unresolved_operands = 0;
};

struct Figures {
  std::vector<GraphFigures> graphs;
  std::uint64_t input_bytes = 0, output_bytes = 0;
  std::uint64_t largest_device_memory() const;  // of one core, inputs and outputs included
};

Figures count(const Model& model);

// Highest byte of a partition that a walk over the state buffer touches, + 1.
std::uint64_t partition_reach(const neff::AccessPattern& walk, const OnChip& memories);

const char* queue_type_name(neff::QueueType type);

}  // namespace opennrt::tools
