// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "nrt/nrt.h"

namespace opennrt::neff {

struct DmaDtype {
  std::uint8_t code;    // of the instruction set and the DMA engine
  std::uint32_t bytes;  // per element
};

// dtype strings of DMA descriptors; nullopt for an unknown one.
std::optional<DmaDtype> dma_dtype(std::string_view name);

struct TensorDtype {
  nrt_dtype_t dtype;
  std::uint32_t bytes;
};

// dtype strings of neff.json; an unknown one counts as opaque bytes.
TensorDtype tensor_dtype(std::string_view name);
// "float32"; "unknown" for what neff.json cannot name.
std::string_view tensor_dtype_name(nrt_dtype_t dtype);

}  // namespace opennrt::neff
