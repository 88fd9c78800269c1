// SPDX-License-Identifier: Apache-2.0
#include "tdrv/vring.h"

#include <algorithm>

#include "tdrv/image/descriptor_bits.h"

namespace opennrt::tdrv {

void append_copy(VirtualRing& ring, std::uint64_t src, std::uint64_t dst, std::uint64_t bytes) {
  while (bytes != 0) {
    const std::uint64_t n = std::min(bytes, image::kMaxDescriptorBytes);
    DmaDescriptor tx = image::make_descriptor(src, n, true);
    DmaDescriptor rx = image::make_descriptor(dst, n, false);
    tx.len_ctrl |= image::kFirst | image::kLast;
    rx.len_ctrl |= image::kFirst | image::kLast;
    ring.tx.push_back(tx);
    ring.rx.push_back(rx);
    src += n;
    dst += n;
    bytes -= n;
  }
}

}  // namespace opennrt::tdrv
