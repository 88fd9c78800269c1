// SPDX-License-Identifier: Apache-2.0
//
// Program images: what one core's engines execute, assembled from a subgraph,
// the arch plugin's steps and the core's region order
//   PREAMBLE (SWITCH | GATE | RUN-PROLOGUE) | MAIN | POSTAMBLE | FUNCTIONS.
// Pure functions: addresses come in, bytes go out; nothing here allocates
// device memory. The record-exact form follows device images of real runs
// (runtimes 2.25 to 2.30).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "neff/program.h"
#include "opennrt/arch.h"

namespace opennrt::tdrv {

inline constexpr std::uint32_t kMaxRings = 16;  // hardware rings of a queue set

// Engines that programs run on: those of the five a NEFF names which a core has.
inline std::uint32_t program_engines(const nrtp_arch_plugin& arch) {
  return std::min(arch.geometry->engines, static_cast<std::uint32_t>(neff::kEngines));
}
// Rings of a queue set: one on each DMA engine of a core.
inline std::uint32_t queue_rings(const nrtp_arch_plugin& arch) {
  return std::min(arch.geometry->dma_per_core, kMaxRings);
}

// Descriptors that one trigger of a block releases on every ring of its set.
struct BlockCounts {
  std::uint32_t block_id = 0;
  std::uint32_t m2s = 0;
  std::uint32_t s2m = 0;
};

// The rings of one instance of a queue set.
struct RingPlacement {
  // Ring base addresses; 0 on a side that the IO switch fills per execution.
  std::array<std::uint64_t, kMaxRings> m2s_base{}, s2m_base{};
  std::vector<BlockCounts> blocks;  // ascending id
  std::uint32_t total_s2m = 0;      // of one ring, over all blocks
};

// A queue set as the images see it: hardware queue, ring bases, counts. Itself
// the rings of its first or only instance.
struct QueuePlacement : RingPlacement {
  const neff::QueueSet* set = nullptr;
  std::uint32_t hardware_queue = 0;
  bool caller_sources = false;       // some sources are inputs or outputs of the caller
  bool caller_destinations = false;  // some destinations are
  std::vector<RingPlacement> more;   // instances 1.. of set->instances
  const RingPlacement& instance(std::size_t i) const { return i == 0 ? *this : more[i - 1]; }
  bool is_io() const { return caller_sources || caller_destinations; }
};

// Packets that the run prologue releases from the exec ring: per side of a queue
// set that touches caller tensors one base and one length of each ring, the
// argument table's address, one per pointer to a caller tensor, and last the event. The images
// carry the count, the requests the packets.
inline std::uint32_t io_switch_packets(std::span<const QueuePlacement> queues, std::uint32_t rings,
                                       bool argument_table, std::uint32_t bound_pointers = 0) {
  std::uint32_t sides = 0;
  for (const QueuePlacement& queue : queues) {
    sides += (queue.caller_sources ? 1 : 0) + (queue.caller_destinations ? 1 : 0);
  }
  return 2 * rings * sides + (argument_table ? 1 : 0) + bound_pointers + 1;
}

struct TableRing {
  bool present = false;
  std::uint64_t m2s_base = 0, s2m_base = 0;
  std::uint32_t descriptors = 0;  // released by the kick; 0 = the arch's usual number
};

// Everything one core's images need to know.
struct ImageInputs {
  const nrtp_arch_plugin* arch = nullptr;
  const nrtp_product* product = nullptr;
  std::uint32_t form = 0;  // nrtp_ib_form
  std::uint32_t core = 0;  // index on the device
  std::uint32_t lnc_rank = 0, lnc_size = 1;
  std::uint32_t peer_core = 0;
  std::uint64_t request_pa = 0;
  // Cell that holds the argument table's address; needed by programs with a
  // dge-table (form 2.30).
  std::uint64_t argument_table_pa = 0;
  std::uint32_t bound_pointers = 0;          // pointer variables whose target a caller binds
  const neff::Subgraph* subgraph = nullptr;  // nullptr: the ready program
  std::vector<QueuePlacement> queues;        // hardware queue order
  TableRing dve, act;
  // Image of the POOL library in device memory, where the form loads one; 0 bytes
  // = the program needs none.
  std::uint64_t ulib_pa = 0;
  std::uint32_t ulib_bytes = 0;
  // var_id -> device address; UINT64_MAX = bound per execution or not staged.
  std::vector<std::uint64_t> variable_address;
};

enum class Section : std::uint8_t { kPreamble = 0, kPostamble = 1, kMain = 2, kFunction = 3 };
enum class PatchType : std::uint8_t { kInsert = 0, kModify = 1, kDelete = 2 };

// Maps a device program counter back to a record of the NEFF stream.
struct Patch {
  std::uint32_t offset = 0;  // bytes in the image
  std::uint32_t slots = 0;
  PatchType type = PatchType::kInsert;
  Section section = Section::kPreamble;
};

// A 4-byte field that holds half of the address of a slot of the image.
struct Relocation {
  std::uint32_t offset = 0;  // of the field
  std::uint32_t target = 0;  // byte offset of the slot
  bool high = false;
};

struct Image {
  // Whole 64-byte records; position independent but for the relocations.
  std::vector<std::uint8_t> bytes;
  std::uint32_t gate_offset = 0;  // first GATE record
  std::uint32_t main_offset = 0, main_bytes = 0;
  std::uint32_t postamble_offset = 0;
  std::uint32_t function_offset = 0;  // end of the image when there are no functions
  std::vector<Patch> patches;
  std::vector<Relocation> relocations;
  // Pseudo-instructions used whose meaning is partly our reading (isa::device_reading),
  // each once.
  std::vector<std::uint8_t> readings;
};

// Empty for engines that the silicon lacks.
using ImageSet = std::array<Image, neff::kEngines>;

// Writes the addresses that depend on where the image lies.
void relocate(std::vector<std::uint8_t>& bytes, std::span<const Relocation> relocations,
              std::uint64_t image_address);

// Assembles the images of one core. NRT_INVALID: the stream holds an
// instruction this arch or this release cannot run; the message names member,
// record and opcode.
Result<ImageSet> assemble_images(const ImageInputs& inputs);

}  // namespace opennrt::tdrv
