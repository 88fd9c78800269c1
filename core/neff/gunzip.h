// SPDX-License-Identifier: Apache-2.0
//
// Streaming gzip reader over a buffer. The archive library does not check the
// CRC and length of a gzip trailer, zlib does; so the stream is inflated here
// and the archive library sees only the tar.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"

namespace opennrt::neff {

class Gunzip {
 public:
  // max_bytes: total output; more is refused; over_limit() then tells so.
  Gunzip(std::span<const std::byte> input, std::uint64_t max_bytes);
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  // The next chunk, valid until the next call; empty after the trailer, whose
  // checks have then passed.
  Status next(std::span<const std::byte>& chunk);
  bool over_limit() const { return over_limit_; }

 private:
  Status finish();

  std::span<const std::byte> input_;
  std::size_t consumed_ = 0;
  std::uint64_t produced_ = 0, max_bytes_;
  std::unique_ptr<std::byte[]> buffer_;
  z_stream stream_{};
  bool open_ = false, done_ = false, over_limit_ = false;
};

}  // namespace opennrt::neff
