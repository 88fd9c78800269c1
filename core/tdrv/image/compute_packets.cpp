// SPDX-License-Identifier: Apache-2.0
#include "tdrv/image/compute_packets.h"

#include <bit>
#include <cstring>

#include "tdrv/image/descriptor_bits.h"

namespace opennrt::tdrv::image {

namespace {

// Operation words of META descriptors.
constexpr std::uint32_t kCastWord = 0x2400000 | 1;
constexpr std::uint32_t kReduceWord = 0x2000000;
constexpr std::uint32_t kTransposeWord = 0x0900000;
constexpr std::uint32_t kSrcDtypeShift = 12, kDstDtypeShift = 16, kPermutationShift = 8;
constexpr std::uint32_t kConstantSource = 0xFFFF;

std::uint32_t reduce_code(neff::DmaOp op) {
  switch (op) {
    case neff::DmaOp::kFma:
      return 1;
    case neff::DmaOp::kMax:
      return 2;
    case neff::DmaOp::kMin:
      return 3;
    default:
      return 0;  // add
  }
}

// Codes of nrtp_dma_op.
std::uint32_t plugin_code(neff::DmaOp op) {
  switch (op) {
    case neff::DmaOp::kCast:
      return 1;
    case neff::DmaOp::kAdd:
      return 2;
    case neff::DmaOp::kMin:
      return 3;
    case neff::DmaOp::kMax:
      return 4;
    case neff::DmaOp::kFma:
      return 5;
    case neff::DmaOp::kTranspose:
      return 6;
    default:
      return 0;
  }
}

std::uint32_t operation_word(const ComputePacket& p) {
  const std::uint32_t dtypes =
      std::uint32_t{p.src_dtype} << kSrcDtypeShift | std::uint32_t{p.dst_dtype} << kDstDtypeShift;
  if (p.op == neff::DmaOp::kCast) return kCastWord | dtypes;
  if (p.op != neff::DmaOp::kTranspose) return kReduceWord | reduce_code(p.op) | dtypes;
  std::uint32_t permutation = 0;
  for (std::size_t d = 0; d < p.permutation.size(); ++d) {
    permutation |= std::uint32_t{p.permutation[d]} << (2 * d);
  }
  return kTransposeWord | p.element_bytes | permutation << kPermutationShift;
}

std::uint64_t parameters(const ComputePacket& p, const PacketSource& source) {
  if (p.op == neff::DmaOp::kCast) return p.elements;
  if (p.op != neff::DmaOp::kTranspose) {
    return p.elements | std::uint64_t{std::bit_cast<std::uint32_t>(source.scale)} << 32;
  }
  std::uint64_t sizes = 0;
  for (std::size_t d = 0; d < p.shape.size(); ++d) sizes |= std::uint64_t{p.shape[d]} << (16 * d);
  return sizes;
}

DmaDescriptor meta(std::uint32_t source, std::uint32_t word, std::uint64_t parameters) {
  return {.len_ctrl = kMeta | kLinearRingId << kRingIdShift | source,
          .meta_ctrl = word,
          .address = parameters};
}

std::size_t tx_count(const ComputePacket& p) {
  std::size_t n = p.constant ? 1 : 0;
  for (const PacketSource& source : p.sources) n += 1 + source.pieces.size();
  return n;
}

// FIRST, LAST and CONCAT of the descriptors from `first` on.
void close_side(std::vector<DmaDescriptor>& side, std::size_t first) {
  for (std::size_t i = first; i < side.size(); ++i) side[i].len_ctrl |= kConcat;
  side[first].len_ctrl |= kFirst;
  side.back().len_ctrl = (side.back().len_ctrl & ~kConcat) | kLast;
}

void append_own(const ComputePacket& p, VirtualRing& out) {
  const std::size_t first_tx = out.tx.size(), first_rx = out.rx.size();
  const std::uint32_t word = operation_word(p);
  for (std::size_t s = 0; s < p.sources.size(); ++s) {
    const PacketSource& source = p.sources[s];
    out.tx.push_back(meta(static_cast<std::uint32_t>(s), word, parameters(p, source)));
    for (const Piece& piece : source.pieces) {
      out.tx.push_back(make_descriptor(piece.address, piece.bytes, true));
    }
  }
  if (p.constant) {
    out.tx.push_back(meta(kConstantSource, word,
                          std::uint64_t{std::bit_cast<std::uint32_t>(*p.constant)} << 32));
  }
  for (const Piece& piece : p.to) {
    out.rx.push_back(make_descriptor(piece.address, piece.bytes, false));
  }
  close_side(out.tx, first_tx);
  close_side(out.rx, first_rx);
}

std::vector<nrtp_dma_run> runs_of(const std::vector<Piece>& pieces) {
  std::vector<nrtp_dma_run> runs;
  runs.reserve(pieces.size());
  for (const Piece& piece : pieces) runs.push_back({piece.address, piece.bytes});
  return runs;
}

Status append_by_plugin(const ComputePacket& p, const nrtp_arch_dma& dma, VirtualRing& out) {
  std::vector<std::vector<nrtp_dma_run>> runs;
  std::vector<nrtp_dma_source> sources;
  for (const PacketSource& source : p.sources) {
    runs.push_back(runs_of(source.pieces));
    sources.push_back(
        {runs.back().data(), static_cast<std::uint32_t>(runs.back().size()), source.scale});
  }
  const std::vector<nrtp_dma_run> to = runs_of(p.to);
  nrtp_dma_op op{};
  op.size = sizeof op;
  op.op = plugin_code(p.op);
  op.src_dtype = p.src_dtype;
  op.dst_dtype = p.dst_dtype;
  op.sources = sources.data();
  op.n_sources = static_cast<std::uint32_t>(sources.size());
  op.has_constant = p.constant ? 1 : 0;
  op.constant = p.constant.value_or(0.0f);
  op.n_dst = static_cast<std::uint32_t>(to.size());
  op.dst = to.data();
  op.element_bytes = p.element_bytes;
  for (std::size_t d = 0; d < p.shape.size(); ++d) {
    op.shape[d] = p.shape[d];
    op.perm[d] = p.permutation[d];
  }
  std::uint32_t n_tx = dma.max_tx_per_packet, n_rx = dma.max_rx_per_packet;
  const std::uint32_t room_tx = n_tx, room_rx = n_rx;
  std::vector<DmaDescriptor> tx(room_tx), rx(room_rx);
  static_assert(sizeof(DmaDescriptor) == sizeof(std::uint8_t[16]));
  const int rc = dma.encode_compute_op(&op, reinterpret_cast<std::uint8_t(*)[16]>(tx.data()), &n_tx,
                                       reinterpret_cast<std::uint8_t(*)[16]>(rx.data()), &n_rx);
  if (rc != NRTP_OK || n_tx == 0 || n_rx == 0 || n_tx > room_tx || n_rx > room_rx) {
    return Status::invalid(
        "the arch plugin cannot encode this operation as one packet (status {}, {} and {} "
        "descriptors of {} and {})",
        rc, n_tx, n_rx, room_tx, room_rx);
  }
  out.tx.insert(out.tx.end(), tx.begin(), tx.begin() + n_tx);
  out.rx.insert(out.rx.end(), rx.begin(), rx.begin() + n_rx);
  return Status::ok();
}

}  // namespace

bool fits_packet(const ComputePacket& packet, const nrtp_arch_dma& dma) {
  return tx_count(packet) <= dma.max_tx_per_packet && packet.to.size() <= dma.max_rx_per_packet;
}

Status append_compute_packet(const ComputePacket& packet, const nrtp_arch_dma& dma,
                             VirtualRing& out) {
  if (dma.encode_compute_op != nullptr) return append_by_plugin(packet, dma, out);
  append_own(packet, out);
  return Status::ok();
}

}  // namespace opennrt::tdrv::image
