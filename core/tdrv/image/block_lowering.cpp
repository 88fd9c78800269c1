// SPDX-License-Identifier: Apache-2.0
//
// build_queue_rings: NEFF DMA blocks -> 16 rings of descriptors.
//
// A block's rows (outermost dimension) are divided over the rings; a ring's
// rows form two chunks, each a packet; every ring ends its part with a
// semaphore increment (descriptor counts of real profiles agree). A trigger
// releases the same count on all rings, so shorter rings are padded.
#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

#include "tdrv/image/block_split.h"
#include "tdrv/image/compute_lowering.h"
#include "tdrv/image/descriptor_bits.h"
#include "tdrv/vring.h"

namespace opennrt::tdrv {

namespace {

using image::kMaxRingDescriptors;
using image::PatternWalk;
using image::Piece;

constexpr std::uint64_t kChunksPerRing = 2;
constexpr std::uint32_t kWordBytes = 4;  // of increments and padding packets
constexpr std::size_t kMaxSources = 16;
// A trigger's count is the 16-bit half of a broadcast word.
constexpr std::size_t kMaxBlockDescriptors = 0xFFFF;
constexpr std::uint64_t kMaxTemplateOffset = (1ull << 36) - 1;
constexpr std::uint32_t kMaxTemplateVariable = (1u << 19) - 1;

// Number of rings a broadcast trigger reaches.
using RingParts = std::array<VirtualRing, kMaxRings>;

// Padding packets that raise a ring by (tx, rx) descriptors: each moves one
// word in at most kWordBytes pieces a side, so both counts must be non-zero
// and within that ratio.
bool can_pad(std::uint64_t tx, std::uint64_t rx) {
  const auto [less, more] = std::minmax(tx, rx);
  return more <= kWordBytes * less;
}

class BlockLowering {
 public:
  BlockLowering(const neff::QueueSet& set, const neff::Block& block, const RingInputs& in)
      : set_(set), block_(block), in_(in), dma_(*in.arch->dma) {}

  Status run(QueueRings& out) {
    ONRT_TRY(check_completion());
    for (index_ = 0; index_ < block_.descriptors.size(); ++index_) {
      ONRT_TRY(lower_descriptor(block_.descriptors[index_], out));
    }
    ONRT_TRY(finish_parts(out));
    return Status::ok();
  }

 private:
  std::string place() const {
    return fmt::format("block {} of queue set '{}' in {}", block_.id, set_.name,
                       in_.subgraph->name);
  }
  std::string descriptor_place() const { return fmt::format("{}, descriptor {}", place(), index_); }

  Status check_completion() const {
    if (block_.event) {
      return Status::invalid("{} completes by an event; this release knows semaphores only",
                             place());
    }
    if (!block_.remote_semaphores.empty() && !in_.peer_core) {
      return Status::invalid(
          "{} signals remote semaphores, of the other core of a logical core; the program runs on "
          "one core",
          place());
    }
    if (block_.semaphore) ONRT_TRY(check_semaphore(*block_.semaphore));
    for (const std::uint32_t semaphore : block_.remote_semaphores) {
      ONRT_TRY(check_semaphore(semaphore));
    }
    return Status::ok();
  }

  Status check_semaphore(std::uint32_t semaphore) const {
    if (semaphore < in_.arch->geometry->semaphores) return Status::ok();
    return Status::invalid("{} signals semaphore {}; the core has {}", place(), semaphore,
                           in_.arch->geometry->semaphores);
  }

  // Increments that end each ring's part: the own semaphore first.
  std::uint32_t signals() const {
    return (block_.semaphore ? 1 : 0) + static_cast<std::uint32_t>(block_.remote_semaphores.size());
  }

  Status lower_descriptor(const neff::Descriptor& desc, QueueRings& out) {
    if (desc.op != neff::DmaOp::kCopy) return lower_compute(desc, out);
    if (desc.from.size() != 1) {
      return Status::invalid("{}: a copy has one source, this one has {}", descriptor_place(),
                             desc.from.size());
    }
    bool caller = false;
    ONRT_ASSIGN(const PatternWalk from, place_pattern(desc.from[0], "source", caller));
    out.caller_sources |= caller;
    caller = false;
    ONRT_ASSIGN(const PatternWalk to, place_pattern(desc.to, "destination", caller));
    out.caller_destinations |= caller;
    if (from.total_bytes() != to.total_bytes()) {
      return Status::invalid("{}: copies {} bytes into {} bytes", descriptor_place(),
                             from.total_bytes(), to.total_bytes());
    }
    return split_rows(from, to);
  }

  Status lower_compute(const neff::Descriptor& desc, QueueRings& out) {
    if (in_.platform == NRTP_PLATFORM_SILICON && dma_.encode_compute_op == nullptr) {
      return Status::invalid(
          "{}: DMA {} has no published encoding for silicon; the software device runs it "
          "(device: emulator)",
          descriptor_place(), neff::dma_op_name(desc.op));
    }
    const bool many = desc.op != neff::DmaOp::kCast && desc.op != neff::DmaOp::kTranspose;
    if (desc.from.empty() || desc.from.size() > (many ? kMaxSources : 1)) {
      return Status::invalid("{}: {} has 1 to {} sources, this one has {}", descriptor_place(),
                             neff::dma_op_name(desc.op), many ? kMaxSources : 1, desc.from.size());
    }
    image::ComputeJob job;
    job.descriptor = &desc;
    for (const neff::AccessPattern& pattern : desc.from) {
      bool caller = false;
      ONRT_ASSIGN(const PatternWalk from, place_pattern(pattern, "source", caller));
      out.caller_sources |= caller;
      job.from.push_back(from);
    }
    bool caller = false;
    ONRT_ASSIGN(job.to, place_pattern(desc.to, "destination", caller));
    out.caller_destinations |= caller;
    Status status = image::append_compute(job, dma_, kMaxBlockDescriptors,
                                          std::span(parts_).first(set_.num_queues));
    if (status.is_ok()) return status;
    return std::move(status).with_context(
        fmt::format("{}: DMA {}", descriptor_place(), neff::dma_op_name(desc.op)));
  }

  // Rows i*R/Q .. (i+1)*R/Q - 1 go to ring i, in two chunks.
  Status split_rows(const PatternWalk& from, const PatternWalk& to) {
    const std::uint64_t rows = std::max(from.rows(), to.rows());
    const std::uint64_t row_bytes = to.total_bytes() / rows;
    for (std::uint32_t ring = 0; ring < set_.num_queues; ++ring) {
      const std::uint64_t first = rows * ring / set_.num_queues;
      const std::uint64_t last = rows * (ring + 1) / set_.num_queues;
      const std::uint64_t per_chunk = (last - first + kChunksPerRing - 1) / kChunksPerRing;
      for (std::uint64_t row = first; row < last; row += per_chunk) {
        const std::uint64_t end = std::min(row + per_chunk, last);
        ONRT_TRY(append_chunk(from, to, row * row_bytes, end * row_bytes, parts_[ring]));
      }
    }
    return Status::ok();
  }

  Status append_chunk(const PatternWalk& from, const PatternWalk& to, std::uint64_t begin,
                      std::uint64_t end, VirtualRing& part) {
    tx_.clear();
    rx_.clear();
    const bool fits = from.append_pieces(begin, end, kMaxBlockDescriptors, tx_) &&
                      to.append_pieces(begin, end, kMaxBlockDescriptors, rx_);
    if (fits) append_packets(tx_, rx_, dma_.max_tx_per_packet, dma_.max_rx_per_packet, part);
    if (!fits || part.tx.size() >= kMaxBlockDescriptors || part.rx.size() >= kMaxBlockDescriptors) {
      return Status::invalid(
          "{}: more than {} descriptors on one ring; one trigger cannot release "
          "them, split the block",
          descriptor_place(), kMaxBlockDescriptors);
    }
    return Status::ok();
  }

  // Address of a pattern's variable, and whether its bytes belong to it.
  Result<PatternWalk> place_pattern(const neff::AccessPattern& pattern, std::string_view side,
                                    bool& caller) const {
    const auto& variables = in_.subgraph->variables;
    if (pattern.var_id >= variables.size()) {
      return Status::invalid("{}: {} variable {} does not exist; there are {}", descriptor_place(),
                             side, pattern.var_id, variables.size());
    }
    const neff::Variable& var = variables[pattern.var_id];
    ONRT_ASSIGN(const std::uint64_t base, base_address(var, side, caller));
    const auto walk = PatternWalk::make(pattern, base);
    if (!walk) {
      return Status::invalid("{}: the {} pattern over '{}' is empty or exceeds 2^40 elements",
                             descriptor_place(), side, var.name);
    }
    const std::uint64_t limit = var.type == neff::VariableType::kStateBuffer
                                    ? in_.arch->geometry->sbuf_window_bytes
                                    : var.size;
    if (walk->lowest() < 0 || static_cast<std::uint64_t>(walk->end()) > limit) {
      return Status::invalid("{}: the {} pattern reaches bytes {}..{} of '{}', which has {}",
                             descriptor_place(), side, walk->lowest(), walk->end() - 1, var.name,
                             limit);
    }
    return *walk;
  }

  Result<std::uint64_t> base_address(const neff::Variable& var, std::string_view side,
                                     bool& caller) const {
    if (var.type == neff::VariableType::kStateBuffer) {
      return in_.arch->address->local_to_device(in_.product, in_.core, 0);
    }
    const std::uint64_t address = var.var_id < in_.variable_address.size()
                                      ? in_.variable_address[var.var_id]
                                      : std::numeric_limits<std::uint64_t>::max();
    if (address != std::numeric_limits<std::uint64_t>::max()) return address;
    // A remote one without an address is a caller tensor of the other subgraph.
    if (var.type != neff::VariableType::kInput && var.type != neff::VariableType::kOutput &&
        var.type != neff::VariableType::kRemote) {
      return Status::invalid("{}: {} variable '{}' has no device address", descriptor_place(), side,
                             var.name);
    }
    if (var.var_id > kMaxTemplateVariable || var.size > kMaxTemplateOffset) {
      return Status::invalid(
          "{}: caller tensor '{}' (variable {}, {} bytes) exceeds what a ring "
          "template can name: variable {}, {} bytes",
          descriptor_place(), var.name, var.var_id, var.size, kMaxTemplateVariable,
          kMaxTemplateOffset);
    }
    caller = true;
    return template_address(var.var_id, 0);
  }

  // Padding, increment, ordering; then the parts join the rings.
  Status finish_parts(QueueRings& out) {
    const std::uint32_t rings = queue_rings(*in_.arch);
    std::array<std::uint64_t, kMaxRings> tx{}, rx{};
    for (std::uint32_t i = 0; i < rings; ++i) {
      const std::uint64_t increment = i < set_.num_queues ? signals() : 0;
      tx[i] = parts_[i].tx.size() + increment;
      rx[i] = parts_[i].rx.size() + increment;
    }
    std::uint64_t most_tx = *std::max_element(tx.begin(), tx.end());
    std::uint64_t most_rx = *std::max_element(rx.begin(), rx.end());
    // A packet raises both sides: where only one side of a ring is short, all
    // rings grow until every difference can be filled.
    const auto fillable = [&] {
      for (std::uint32_t i = 0; i < rings; ++i) {
        if (!can_pad(most_tx - tx[i], most_rx - rx[i])) return false;
      }
      return true;
    };
    while (!fillable()) {
      ++most_tx;
      ++most_rx;
    }
    if (most_tx > kMaxBlockDescriptors || most_rx > kMaxBlockDescriptors) {
      return Status::invalid("{}: {} descriptors on one ring; one trigger releases at most {}",
                             place(), std::max(most_tx, most_rx), kMaxBlockDescriptors);
    }
    for (std::uint32_t i = 0; i < rings; ++i) {
      VirtualRing& part = parts_[i];
      append_padding(part, most_tx - tx[i], most_rx - rx[i]);
      finish_ring(part, i < set_.num_queues, out.rings[i]);
      if (out.rings[i].tx.size() > kMaxRingDescriptors ||
          out.rings[i].rx.size() > kMaxRingDescriptors) {
        return Status::resource("queue set '{}' in {} needs more than {} descriptors on a ring",
                                set_.name, in_.subgraph->name, kMaxRingDescriptors);
      }
    }
    out.blocks.push_back({.block_id = block_.id,
                          .m2s = static_cast<std::uint32_t>(most_tx),
                          .s2m = static_cast<std::uint32_t>(most_rx)});
    return Status::ok();
  }

  // Packets of one word from the constant 0 to the filler word.
  void append_padding(VirtualRing& part, std::uint64_t tx, std::uint64_t rx) {
    for (std::uint64_t packets = std::min(tx, rx); packets != 0; --packets) {
      const std::uint64_t n_tx = std::min<std::uint64_t>(tx - (packets - 1), kWordBytes);
      const std::uint64_t n_rx = std::min<std::uint64_t>(rx - (packets - 1), kWordBytes);
      word_pieces(dma_.event_const_addr[0], n_tx, tx_);
      word_pieces(in_.filler_pa, n_rx, rx_);
      append_packets(tx_, rx_, kWordBytes, kWordBytes, part);
      tx -= n_tx;
      rx -= n_rx;
    }
  }

  static void word_pieces(std::uint64_t address, std::uint64_t count, std::vector<Piece>& out) {
    out.clear();
    for (std::uint64_t i = 0; i + 1 < count; ++i) out.push_back({address + i, 1});
    out.push_back({address + count - 1, kWordBytes - (count - 1)});
  }

  void finish_ring(VirtualRing& part, bool signals, VirtualRing& ring) {
    const bool strong_order = (dma_.flags & NRTP_DMA_STRONG_ORDER_WRITE) != 0;
    if (!strong_order && !part.tx.empty()) part.tx.back().len_ctrl |= image::kDataBarrier;
    if (signals && block_.semaphore) append_increment(part, in_.core, *block_.semaphore);
    if (signals) {
      for (const std::uint32_t semaphore : block_.remote_semaphores) {
        append_increment(part, *in_.peer_core, semaphore);
      }
    }
    if (strong_order) {
      for (DmaDescriptor& d : part.rx) d.len_ctrl |= image::kStrongOrder;
    }
    ring.tx.insert(ring.tx.end(), part.tx.begin(), part.tx.end());
    ring.rx.insert(ring.rx.end(), part.rx.begin(), part.rx.end());
  }

  void append_increment(VirtualRing& part, std::uint32_t core, std::uint32_t semaphore) const {
    append_copy(part, dma_.event_const_addr[1],
                in_.arch->address->sem_addr(in_.product, core, semaphore, NRTP_SEM_INC),
                kWordBytes);
  }

  const neff::QueueSet& set_;
  const neff::Block& block_;
  const RingInputs& in_;
  const nrtp_arch_dma& dma_;
  std::size_t index_ = 0;
  RingParts parts_;
  std::vector<Piece> tx_, rx_;  // of the chunk at hand
};

}  // namespace

Result<QueueRings> build_queue_rings(const neff::QueueSet& set, const RingInputs& inputs) {
  if (inputs.arch == nullptr || inputs.product == nullptr || inputs.subgraph == nullptr) {
    return Status::failure("rings of queue set '{}' need an arch plugin, a product and a subgraph",
                           set.name);
  }
  if (const std::uint32_t most = queue_rings(*inputs.arch);
      set.num_queues < 1 || set.num_queues > most) {
    return Status::invalid("queue set '{}' in {} has {} queues; 1 to {} are possible", set.name,
                           inputs.subgraph->name, set.num_queues, most);
  }
  if (set.type == neff::QueueType::kEmbeddingUpdate || set.type == neff::QueueType::kActLoad) {
    return Status::invalid(
        "queue set '{}' in {} is of type {}, which is not supported by this "
        "release",
        set.name, inputs.subgraph->name,
        set.type == neff::QueueType::kActLoad ? "act_load" : "embedding_update");
  }
  if (set.type == neff::QueueType::kDynamic && !set.blocks.empty()) {
    return Status::invalid(
        "queue set '{}' in {} is dynamic, its descriptors are generated; it cannot have {} blocks",
        set.name, inputs.subgraph->name, set.blocks.size());
  }
  for (const neff::Block& block : set.blocks) {
    if (!block.function_start.empty()) {
      return Status::invalid(
          "block {} of queue set '{}' in {} belongs to function '{}'; this release runs blocks of "
          "the main program only",
          block.id, set.name, inputs.subgraph->name, block.function_start);
    }
    // The rings of one instance: build_instance_rings divides the others.
    if (block.instance_name != set.blocks.front().instance_name) {
      return Status::invalid(
          "queue set '{}' in {} has blocks of the ring instances '{}' and '{}', which its "
          "queue_instances do not list",
          set.name, inputs.subgraph->name, set.blocks.front().instance_name, block.instance_name);
    }
  }
  QueueRings out;
  out.blocks.reserve(set.blocks.size());
  for (const neff::Block& block : set.blocks) {
    ONRT_TRY(BlockLowering(set, block, inputs).run(out));
  }
  return out;
}

Result<std::vector<QueueRings>> build_instance_rings(const neff::QueueSet& set,
                                                     const RingInputs& inputs) {
  std::vector<QueueRings> all;
  if (set.instances.size() < 2) {
    ONRT_ASSIGN(QueueRings rings, build_queue_rings(set, inputs));
    all.push_back(std::move(rings));
    return all;
  }
  neff::QueueSet part = set;
  for (const std::string& instance : set.instances) {
    part.blocks.clear();
    std::copy_if(set.blocks.begin(), set.blocks.end(), std::back_inserter(part.blocks),
                 [&](const neff::Block& b) { return b.instance_name == instance; });
    ONRT_ASSIGN(QueueRings rings, build_queue_rings(part, inputs));
    if (rings.caller_sources || rings.caller_destinations) {
      return Status::invalid(
          "queue set '{}' in {} has {} instances and '{}' touches inputs or outputs, whose "
          "addresses "
          "are bound per execution; that is not supported by this release",
          set.name, inputs.subgraph->name, set.instances.size(), instance);
    }
    all.push_back(std::move(rings));
  }
  return all;
}

}  // namespace opennrt::tdrv
