// SPDX-License-Identifier: Apache-2.0
#include "tdrv/image/compute_lowering.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "tdrv/image/compute_packets.h"
#include "tdrv/image/descriptor_bits.h"

namespace opennrt::tdrv::image {

namespace {

// Reduction packets of the smallest silicon hold 1024 elements, in pieces of 32.
constexpr std::uint64_t kMaxReduceElements = 1024;
constexpr std::uint64_t kReduceUnit = 32;
constexpr std::uint64_t kMaxTransposeSize = 0xFFFF;  // 16 bits of the META descriptor

// Bytes of an element by its ISA dtype code; 0 = no such code.
std::uint64_t dtype_bytes(std::uint8_t code) {
  constexpr std::uint8_t kBytes[] = {0, 8, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8, 1, 1, 1};
  return code < std::size(kBytes) ? kBytes[code] : 0;
}

Status too_many(std::size_t limit) {
  return Status::invalid(
      "more than {} descriptors on one ring; one trigger cannot release them, split the block",
      limit);
}

bool is_full(const VirtualRing& part, std::size_t limit) {
  return part.tx.size() >= limit || part.rx.size() >= limit;
}

// Elementwise operations: ring i takes rows i*R/Q .. (i+1)*R/Q - 1, one packet
// per row, or more where a row exceeds a packet.
class Elementwise {
 public:
  Elementwise(const ComputeJob& job, const nrtp_arch_dma& dma, std::size_t limit)
      : job_(job), desc_(*job.descriptor), dma_(dma), limit_(limit) {}

  Status run(std::span<VirtualRing> parts) {
    src_bytes_ = dtype_bytes(desc_.from[0].dtype);
    dst_bytes_ = dtype_bytes(desc_.to.dtype);
    if (src_bytes_ == 0 || dst_bytes_ == 0) {
      return Status::invalid("dtype code {} has no size",
                             src_bytes_ == 0 ? desc_.from[0].dtype : desc_.to.dtype);
    }
    ONRT_TRY(check());
    packet_.op = desc_.op;
    packet_.src_dtype = desc_.from[0].dtype;
    packet_.dst_dtype = desc_.to.dtype;
    packet_.constant = desc_.constant;
    packet_.sources.resize(job_.from.size());
    for (std::size_t s = 0; s < desc_.scale.size() && s < packet_.sources.size(); ++s) {
      packet_.sources[s].scale = desc_.scale[s];
    }
    const std::uint64_t elements = job_.to.total_bytes() / dst_bytes_;
    std::uint64_t rows = job_.to.rows();
    for (const PatternWalk& from : job_.from) rows = std::max(rows, from.rows());
    if (elements % rows != 0) rows = 1;  // an element lies in two rows
    const std::uint64_t row = elements / rows;
    for (std::size_t ring = 0; ring < parts.size(); ++ring) {
      const std::uint64_t first = rows * ring / parts.size();
      const std::uint64_t last = rows * (ring + 1) / parts.size();
      for (std::uint64_t r = first; r < last; ++r) {
        ONRT_TRY(append_row(r * row, (r + 1) * row, parts[ring]));
      }
    }
    return Status::ok();
  }

 private:
  Status check() const {
    const std::uint64_t elements = job_.to.total_bytes() / dst_bytes_;
    for (std::size_t s = 0; s < job_.from.size(); ++s) {
      if (desc_.from[s].dtype != desc_.from[0].dtype) {
        return Status::invalid(
            "source {} has dtype code {}, source 0 has {}; the sources of one {} have one dtype", s,
            desc_.from[s].dtype, desc_.from[0].dtype, neff::dma_op_name(desc_.op));
      }
      if (job_.from[s].total_bytes() != elements * src_bytes_) {
        return Status::invalid("source {} has {} bytes, {} elements of {} bytes are needed", s,
                               job_.from[s].total_bytes(), elements, src_bytes_);
      }
    }
    if (job_.to.total_bytes() % dst_bytes_ == 0) return Status::ok();
    return Status::invalid("the destination of {} bytes holds no whole number of {}-byte elements",
                           job_.to.total_bytes(), dst_bytes_);
  }

  Status append_row(std::uint64_t begin, std::uint64_t end, VirtualRing& part) {
    const bool reduce = desc_.op != neff::DmaOp::kCast;
    while (begin < end) {
      std::uint64_t n = end - begin;
      if (reduce) n = std::min(n, kMaxReduceElements);
      while (!gather(begin, begin + n)) {
        if (n == 1) {
          return Status::invalid("one element needs more descriptors than a packet holds ({}, {})",
                                 dma_.max_tx_per_packet, dma_.max_rx_per_packet);
        }
        n = n > 2 * kReduceUnit ? n / 2 / kReduceUnit * kReduceUnit : n / 2;
      }
      ONRT_TRY(append_compute_packet(packet_, dma_, part));
      if (is_full(part, limit_)) return too_many(limit_);
      begin += n;
    }
    return Status::ok();
  }

  // Elements [begin, end) as the packet at hand; false: it holds fewer.
  bool gather(std::uint64_t begin, std::uint64_t end) {
    packet_.elements = end - begin;
    for (std::size_t s = 0; s < job_.from.size(); ++s) {
      auto& pieces = packet_.sources[s].pieces;
      pieces.clear();
      if (!job_.from[s].append_pieces(begin * src_bytes_, end * src_bytes_, dma_.max_tx_per_packet,
                                      pieces)) {
        return false;
      }
    }
    packet_.to.clear();
    return job_.to.append_pieces(begin * dst_bytes_, end * dst_bytes_, dma_.max_rx_per_packet,
                                 packet_.to) &&
           fits_packet(packet_, dma_);
  }

  const ComputeJob& job_;
  const neff::Descriptor& desc_;
  const nrtp_arch_dma& dma_;
  std::size_t limit_;
  std::uint64_t src_bytes_ = 0, dst_bytes_ = 0;
  ComputePacket packet_;
};

// A transpose, cut into boxes until each fits a packet; a single element is
// copied. Cuts go where they save descriptors: through the output's outermost
// dimension when the destination has too many, through the source's when it has.
class Transpose {
 public:
  Transpose(const ComputeJob& job, const nrtp_arch_dma& dma, std::size_t limit)
      : job_(job), desc_(*job.descriptor), dma_(dma), limit_(limit) {}

  Status run(std::span<VirtualRing> parts) {
    constexpr std::string_view kNames = "XYZW";  // source dimensions, innermost first
    if (desc_.transpose_op.size() != kDims) {
      return Status::invalid("transpose_op '{}' does not name four dimensions", desc_.transpose_op);
    }
    std::uint32_t named = 0;
    std::uint64_t bytes = desc_.transpose_element_bytes;
    for (std::size_t d = 0; d < kDims; ++d) {
      const std::size_t at = kNames.find(desc_.transpose_op[kDims - 1 - d]);
      if (at == std::string_view::npos) {
        return Status::invalid("transpose_op '{}': must name W, X, Y and Z", desc_.transpose_op);
      }
      named |= 1u << at;
      packet_.permutation[d] = static_cast<std::uint8_t>(at);
      source_[d] = desc_.transpose_shape[kDims - 1 - d];
      if (source_[d] == 0 || __builtin_mul_overflow(bytes, source_[d], &bytes)) {
        return Status::invalid("transpose_shape is empty or too large");
      }
    }
    if (named != 0xF) {
      return Status::invalid("transpose_op '{}': must name W, X, Y and Z", desc_.transpose_op);
    }
    if (bytes != job_.from[0].total_bytes() || bytes != job_.to.total_bytes()) {
      return Status::invalid("transpose_shape has {} bytes, the patterns {} and {}", bytes,
                             job_.from[0].total_bytes(), job_.to.total_bytes());
    }
    packet_.op = neff::DmaOp::kTranspose;
    packet_.element_bytes = desc_.transpose_element_bytes;
    packet_.src_dtype = desc_.from[0].dtype;
    packet_.dst_dtype = desc_.to.dtype;
    packet_.sources.resize(1);
    return distribute(parts);
  }

 private:
  static constexpr std::size_t kDims = 4;
  // Ranges of the output dimensions, innermost first.
  struct Box {
    std::array<std::uint64_t, kDims> first{}, count{};
  };

  // Rings share the outermost output dimension where it is the destination's
  // row; else the whole is one row.
  Status distribute(std::span<VirtualRing> parts) {
    Box all;
    for (std::size_t d = 0; d < kDims; ++d) all.count[d] = source_[packet_.permutation[d]];
    const std::size_t outer = outermost(all);
    const std::uint64_t rows = all.count[outer] == job_.to.rows() ? job_.to.rows() : 1;
    for (std::size_t ring = 0; ring < parts.size(); ++ring) {
      const std::uint64_t first = rows * ring / parts.size();
      const std::uint64_t last = rows * (ring + 1) / parts.size();
      if (first == last) continue;
      Box box = all;
      if (rows != 1) {
        box.first[outer] = first;
        box.count[outer] = last - first;
      }
      ONRT_TRY(append_box(box, parts[ring]));
    }
    return Status::ok();
  }

  static std::size_t outermost(const Box& box) {
    std::size_t d = kDims - 1;
    while (d != 0 && box.count[d] == 1) --d;
    return d;
  }

  Status append_box(const Box& box, VirtualRing& part) {
    if (box.count == std::array<std::uint64_t, kDims>{1, 1, 1, 1}) return append_element(box, part);
    const std::optional<std::size_t> cut = gather(box);
    if (!cut) {
      ONRT_TRY(append_compute_packet(packet_, dma_, part));
      return is_full(part, limit_) ? too_many(limit_) : Status::ok();
    }
    Box low = box, high = box;
    low.count[*cut] = box.count[*cut] / 2;
    high.first[*cut] += low.count[*cut];
    high.count[*cut] -= low.count[*cut];
    ONRT_TRY(append_box(low, part));
    return append_box(high, part);
  }

  std::uint64_t output_index(const Box& box) const {
    std::uint64_t index = 0;
    for (std::size_t d = kDims; d-- != 0;) {
      index = index * source_[packet_.permutation[d]] + box.first[d];
    }
    return index;
  }

  // The box as the packet at hand; else the output dimension to cut: the
  // outermost one of the side that has too many descriptors.
  std::optional<std::size_t> gather(const Box& box) {
    using Dims = std::array<std::uint64_t, kDims>;
    Dims first{}, count{}, output{};  // the first two by source dimension
    packet_.elements = 1;
    for (std::size_t d = 0; d < kDims; ++d) {
      const std::size_t s = packet_.permutation[d];
      output[d] = source_[s];
      first[s] = box.first[d];
      count[s] = box.count[d];
      if (box.count[d] > kMaxTransposeSize) return d;
      packet_.shape[s] = static_cast<std::uint32_t>(box.count[d]);
      packet_.elements *= box.count[d];
    }
    if (!gather_side(job_.to, output, box.first, box.count, dma_.max_rx_per_packet, packet_.to)) {
      return outermost(box);
    }
    // The META descriptor takes one place.
    if (!gather_side(job_.from[0], source_, first, count, dma_.max_tx_per_packet - 1,
                     packet_.sources[0].pieces)) {
      std::size_t s = kDims - 1;
      while (s != 0 && count[s] == 1) --s;
      const auto* at = std::find(packet_.permutation.begin(), packet_.permutation.end(), s);
      return static_cast<std::size_t>(at - packet_.permutation.begin());
    }
    return std::nullopt;
  }

  // Runs of one side's flat order; whole inner dimensions join into one run.
  bool gather_side(const PatternWalk& walk, const std::array<std::uint64_t, kDims>& size,
                   const std::array<std::uint64_t, kDims>& first,
                   const std::array<std::uint64_t, kDims>& count, std::size_t limit,
                   std::vector<Piece>& pieces) const {
    pieces.clear();
    std::size_t inner = 0;
    std::uint64_t run = count[0];
    while (inner + 1 < kDims && count[inner] == size[inner]) run *= count[++inner];
    std::array<std::uint64_t, kDims> at = first;
    while (true) {
      std::uint64_t index = 0;
      for (std::size_t d = kDims; d-- != 0;) index = index * size[d] + at[d];
      const std::uint64_t begin = index * packet_.element_bytes;
      if (!walk.append_pieces(begin, begin + run * packet_.element_bytes, limit, pieces)) {
        return false;
      }
      std::size_t d = inner + 1;
      while (d < kDims && ++at[d] == first[d] + count[d]) {
        at[d] = first[d];
        ++d;
      }
      if (d >= kDims) return true;
    }
  }

  Status append_element(const Box& box, VirtualRing& part) {
    std::vector<Piece> tx, rx;
    std::uint64_t from = 0;
    std::array<std::uint64_t, kDims> at{};
    for (std::size_t d = 0; d < kDims; ++d) at[packet_.permutation[d]] = box.first[d];
    for (std::size_t d = kDims; d-- != 0;) from = from * source_[d] + at[d];
    const std::uint64_t element = packet_.element_bytes, to = output_index(box);
    if (!job_.from[0].append_pieces(from * element, (from + 1) * element, limit_, tx) ||
        !job_.to.append_pieces(to * element, (to + 1) * element, limit_, rx)) {
      return too_many(limit_);
    }
    append_packets(tx, rx, dma_.max_tx_per_packet, dma_.max_rx_per_packet, part);
    return is_full(part, limit_) ? too_many(limit_) : Status::ok();
  }

  const ComputeJob& job_;
  const neff::Descriptor& desc_;
  const nrtp_arch_dma& dma_;
  std::size_t limit_;
  std::array<std::uint64_t, kDims> source_{};  // sizes in elements, innermost first
  ComputePacket packet_;
};

}  // namespace

Status append_compute(const ComputeJob& job, const nrtp_arch_dma& dma, std::size_t limit,
                      std::span<VirtualRing> parts) {
  if (job.descriptor->op == neff::DmaOp::kTranspose) return Transpose(job, dma, limit).run(parts);
  return Elementwise(job, dma, limit).run(parts);
}

}  // namespace opennrt::tdrv::image
