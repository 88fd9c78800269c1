// SPDX-License-Identifier: Apache-2.0
#include "neff/gunzip.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace opennrt::neff {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 18;
constexpr int kGzipOnly = 15 + 16;  // window bits of inflateInit2: gzip wrapper required

}  // namespace

Gunzip::Gunzip(std::span<const std::byte> input, std::uint64_t max_bytes)
    : input_(input),
      max_bytes_(max_bytes),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(kChunkBytes)) {}

Gunzip::~Gunzip() {
  if (open_) inflateEnd(&stream_);
}

Status Gunzip::next(std::span<const std::byte>& chunk) {
  chunk = {};
  if (done_) return Status::ok();
  if (!open_) {
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK)
      return Status::resource("NEFF payload: no memory to decompress it");
    open_ = true;
  }
  stream_.next_out = reinterpret_cast<Bytef*>(buffer_.get());
  stream_.avail_out = kChunkBytes;
  while (stream_.avail_out != 0 && !done_) {
    if (stream_.avail_in == 0) {
      const std::size_t step =
          std::min<std::size_t>(input_.size() - consumed_, std::numeric_limits<uInt>::max());
      if (step == 0)
        return Status::invalid(
            "NEFF payload: the gzip stream ends after {} bytes without its trailer; the file is "
            "truncated, copy it again",
            input_.size());
      stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(&input_[consumed_]));
      stream_.avail_in = static_cast<uInt>(step);
      consumed_ += step;
    }
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      done_ = true;
    } else if (result == Z_MEM_ERROR) {
      return Status::resource("NEFF payload: no memory to decompress it");
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return Status::invalid("NEFF payload: corrupt gzip stream near payload byte {}: {}",
                             consumed_ - stream_.avail_in,
                             stream_.msg ? stream_.msg : "preset dictionary");
    }
  }
  chunk = {buffer_.get(), kChunkBytes - stream_.avail_out};
  produced_ += chunk.size();
  if (produced_ > max_bytes_) {
    over_limit_ = true;
    return Status::invalid("NEFF payload: decompresses to more than {} bytes", max_bytes_);
  }
  return done_ ? finish() : Status::ok();
}

// The packager pads the payload with zeros to a multiple of 10240 bytes.
Status Gunzip::finish() {
  const std::size_t end = consumed_ - stream_.avail_in;
  const auto rest = input_.subspan(end);
  const auto bad =
      std::find_if(rest.begin(), rest.end(), [](std::byte b) { return b != std::byte{0}; });
  if (bad == rest.end()) return Status::ok();
  return Status::invalid(
      "NEFF payload: byte {} behind the gzip trailer is 0x{:02x}; only zero padding may follow",
      end + static_cast<std::size_t>(bad - rest.begin()), std::to_integer<unsigned>(*bad));
}

}  // namespace opennrt::neff
