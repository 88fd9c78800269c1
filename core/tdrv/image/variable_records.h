// SPDX-License-Identifier: Apache-2.0
//
// Pseudo-instructions that name variables: generated DMA and register loads and
// stores. Variables become device addresses; references to the caller's tensors
// stay entries of the argument table (registers 0x82/0x83).
#pragma once

#include <cstdint>

#include "base/status.h"
#include "tdrv/image.h"
#include "tdrv/image/pseudo_records.h"
#include "tdrv/image/records_builder.h"

namespace opennrt::tdrv::image {

// DMA_DIRECT2D of `engine` -> DMAMEMCPY. `extension`: the record after it, if
// it is one; it becomes a MOVE of the size limit in front.
Status lower_direct2d(const ImageInputs& in, std::uint32_t engine, const Direct2dRecord& record,
                      const ExtensionRecord* extension, RecordBuilder& out);

// TENSOR_LOAD or TENSOR_STORE of a variable -> the same on a device address.
Status lower_variable_mem(const ImageInputs& in, const VariableMemRecord& record,
                          RecordBuilder& out);

// One register := value.
MoveRecord move_record(std::uint8_t reg, std::uint32_t value);

}  // namespace opennrt::tdrv::image
