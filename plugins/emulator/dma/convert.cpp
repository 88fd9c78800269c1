// SPDX-License-Identifier: Apache-2.0
#include "dma/convert.h"

#include <algorithm>
#include <cstring>

#include "compute/operand.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

constexpr std::uint64_t kMaxElementBytes = 8;

// One run of up to kChunk elements for the conversion kernels.
const Pattern& dense_chunk() {
  static const Pattern pattern = [] {
    const std::int16_t step = 1;
    const std::uint16_t count = kChunk;
    return Pattern::make(&step, &count, 1);
  }();
  return pattern;
}

// Elements of one type from a stream, as FP32. Elements may cross segments and
// stand at any address, the kernels need them together and aligned.
class ElementReader {
 public:
  ElementReader(ReadStream& stream, std::uint32_t dtype)
      : stream_(&stream), bytes_(element_bytes(dtype)), load_(load_kernel(dtype)) {}

  void read(float* out, std::uint64_t n) {
    alignas(16) std::uint8_t staging[kChunk * kMaxElementBytes];
    const std::uint8_t* from = stream_->take(n * bytes_, bytes_);
    if (!from) {
      stream_->read(staging, n * bytes_);
      from = staging;
    }
    Cursor cursor(dense_chunk());
    load_(from, cursor, out, n);
  }

 private:
  ReadStream* stream_;
  std::uint32_t bytes_;
  LoadKernel load_;
};

class ElementWriter {
 public:
  ElementWriter(WriteStream& stream, std::uint32_t dtype)
      : stream_(&stream), bytes_(element_bytes(dtype)), store_(store_kernel(dtype)) {}

  void write(const float* in, std::uint64_t n) {
    alignas(16) std::uint8_t staging[kChunk * kMaxElementBytes];
    std::uint8_t* to = stream_->take(n * bytes_, bytes_);
    const bool staged = !to;
    if (staged) to = staging;
    Cursor cursor(dense_chunk());
    store_(to, cursor, in, n);
    if (staged) stream_->write(staging, n * bytes_);
  }

 private:
  WriteStream* stream_;
  std::uint32_t bytes_;
  StoreKernel store_;
};

void accumulate(Combine op, float scale, const float* in, float* sum, std::uint64_t n) {
  switch (op) {
    case Combine::kAdd:
      for (std::uint64_t i = 0; i < n; ++i) sum[i] += in[i];
      break;
    case Combine::kFma:
      for (std::uint64_t i = 0; i < n; ++i) sum[i] += scale * in[i];
      break;
    case Combine::kMax:
      for (std::uint64_t i = 0; i < n; ++i)
        sum[i] = sum[i] > in[i] || sum[i] != sum[i] ? sum[i] : in[i];
      break;
    case Combine::kMin:
      for (std::uint64_t i = 0; i < n; ++i)
        sum[i] = sum[i] < in[i] || sum[i] != sum[i] ? sum[i] : in[i];
      break;
  }
}

// One dimension of a transpose's output: extent, and distance in bytes of
// neighbours on both sides.
struct Dim {
  std::uint64_t count, from, to;
};

// count_a x count_b elements; b is the faster dimension of the output. In tiles,
// so that both sides stay in the cache.
template <std::uint64_t Bytes>
void move_tiles(const std::uint8_t* from, std::uint8_t* to, const Dim& a, const Dim& b,
                std::uint64_t element) {
  constexpr std::uint64_t kTile = 32;
  const std::uint64_t bytes = Bytes ? Bytes : element;
  for (std::uint64_t ia = 0; ia < a.count; ia += kTile)
    for (std::uint64_t ib = 0; ib < b.count; ib += kTile) {
      const std::uint64_t ea = std::min(a.count, ia + kTile), eb = std::min(b.count, ib + kTile);
      for (std::uint64_t i = ia; i < ea; ++i) {
        const std::uint8_t* f = from + i * a.from + ib * b.from;
        std::uint8_t* t = to + i * a.to + ib * b.to;
        for (std::uint64_t j = ib; j < eb; ++j, f += b.from, t += b.to) std::memcpy(t, f, bytes);
      }
    }
}

void move_plane(const std::uint8_t* from, std::uint8_t* to, const Dim& a, const Dim& b,
                std::uint64_t element) {
  switch (element) {
    case 1:
      return move_tiles<1>(from, to, a, b, element);
    case 2:
      return move_tiles<2>(from, to, a, b, element);
    case 4:
      return move_tiles<4>(from, to, a, b, element);
    case 8:
      return move_tiles<8>(from, to, a, b, element);
    default:
      return move_tiles<0>(from, to, a, b, element);
  }
}

}  // namespace

bool can_convert(std::uint32_t from_dtype, std::uint32_t to_dtype) {
  const std::uint32_t bytes = element_bytes(from_dtype);
  if (from_dtype == to_dtype) return bytes != 0;
  return bytes != 0 && element_bytes(to_dtype) != 0 && load_kernel(from_dtype) &&
         store_kernel(to_dtype);
}

void cast_stream(ReadStream& from, std::uint32_t from_dtype, WriteStream& to,
                 std::uint32_t to_dtype, std::uint64_t count) {
  if (from_dtype == to_dtype) {
    copy_stream(from, to, count * element_bytes(from_dtype));
    return;
  }
  ElementReader reader(from, from_dtype);
  ElementWriter writer(to, to_dtype);
  float values[kChunk];
  for (std::uint64_t n; count != 0; count -= n) {
    n = std::min<std::uint64_t>(count, kChunk);
    reader.read(values, n);
    writer.write(values, n);
  }
}

void combine_streams(Combine op, std::span<const CombineSource> sources, const float* start,
                     WriteStream& to, std::uint32_t to_dtype, std::uint64_t count) {
  ElementWriter writer(to, to_dtype);
  float result[kChunk], values[kChunk];
  for (std::uint64_t n; count != 0; count -= n) {
    n = std::min<std::uint64_t>(count, kChunk);
    if (start) std::fill_n(result, n, *start);
    bool first = !start;
    for (const CombineSource& s : sources) {
      ElementReader reader(*s.stream, s.dtype);
      if (first) {
        reader.read(result, n);
        if (op == Combine::kFma)
          for (std::uint64_t i = 0; i < n; ++i) result[i] *= s.scale;
        first = false;
        continue;
      }
      reader.read(values, n);
      accumulate(op, s.scale, values, result, n);
    }
    writer.write(result, n);
  }
}

void transpose(const std::uint8_t* from, std::uint8_t* to, const Transpose& shape) {
  std::uint64_t stride[4];
  stride[0] = shape.element_bytes;
  for (int i = 1; i < 4; ++i) stride[i] = stride[i - 1] * shape.size[i - 1];
  // Output dimensions, fastest first; those that stay neighbours are one.
  Dim dims[4];
  std::uint32_t n = 0;
  std::uint64_t out = shape.element_bytes;
  for (int k = 0; k < 4; ++k) {
    const Dim d{shape.size[shape.order[k]], stride[shape.order[k]], out};
    out *= d.count;
    if (d.count == 1) continue;
    if (n != 0 && d.from == dims[n - 1].from * dims[n - 1].count)
      dims[n - 1].count *= d.count;
    else
      dims[n++] = d;
  }
  // What is contiguous on both sides moves as one element.
  std::uint64_t element = shape.element_bytes;
  Dim* d = dims;
  if (n != 0 && d->from == element) {
    element *= d->count;
    ++d;
    --n;
  }
  const Dim one{1, 0, 0};
  const Dim b = n > 0 ? d[0] : one;
  // The plane is made with the dimension that is nearest in the source.
  std::uint32_t near = 1;
  for (std::uint32_t k = 2; k < n; ++k)
    if (d[k].from < d[near].from) near = k;
  if (n > 1) std::swap(d[1], d[near]);
  const Dim a = n > 1 ? d[1] : one, c = n > 2 ? d[2] : one, e = n > 3 ? d[3] : one;
  for (std::uint64_t i = 0; i < e.count; ++i)
    for (std::uint64_t j = 0; j < c.count; ++j)
      move_plane(from + i * e.from + j * c.from, to + i * e.to + j * c.to, a, b, element);
}

}  // namespace opennrt::emu
