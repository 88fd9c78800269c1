// SPDX-License-Identifier: Apache-2.0
//
// Which slots of an image the records of its stream became, found from the
// patches of the image. For reports and inspection only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tdrv/image.h"

namespace opennrt::tdrv {

// What is kept of an image after it was uploaded.
struct ImageLayout {
  std::uint32_t main_offset = 0, postamble_offset = 0, function_offset = 0, bytes = 0;
  std::vector<Patch> patches;  // of MAIN and FUNCTIONS
};
ImageLayout layout_of(const Image& image);

struct RecordPlace {
  std::uint32_t slot = 0, slots = 0;  // 0 slots: nothing is left of the record
};
// By record of the stream, from 0.
std::vector<RecordPlace> record_places(const ImageLayout& layout);
// Record of the stream that the slot came from; empty: one of the runtime's own.
std::optional<std::size_t> record_at(const ImageLayout& layout, std::uint32_t slot);
// Region of a slot: "preamble", "main", "postamble", "functions" or "outside".
const char* region_name(const ImageLayout& layout, std::uint32_t slot);

// "SLOT:RECORD:COUNT" for COUNT records of one slot each, records from 1, or
// "SLOT:RECORD:xSLOTS" for one record of another number of slots; separated by spaces.
std::string runs_text(const ImageLayout& layout);

}  // namespace opennrt::tdrv
