// SPDX-License-Identifier: Apache-2.0
#include "tdrv/image/record_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "opennrt/isa/records.h"

namespace opennrt::tdrv {

namespace {

constexpr auto kSlotBytes = static_cast<std::uint32_t>(isa::kRecordBytes);

// Appends the records of one region: one per slot, unless a patch says other.
void walk(const ImageLayout& layout, Section section, std::uint32_t first, std::uint32_t end,
          std::vector<RecordPlace>& out) {
  auto patch = layout.patches.begin();
  const auto last = layout.patches.end();
  for (std::uint32_t slot = first / kSlotBytes;;) {
    while (patch != last && patch->section != section) ++patch;
    RecordPlace place{slot, 1};
    if (patch != last && patch->offset == slot * kSlotBytes) {
      place.slots = patch->type == PatchType::kInsert ? 1 + patch->slots : 0;
      ++patch;
    } else if (slot >= end / kSlotBytes) {
      return;
    }
    out.push_back(place);
    slot += place.slots;
  }
}

}  // namespace

ImageLayout layout_of(const Image& image) {
  ImageLayout layout;
  layout.main_offset = image.main_offset;
  layout.postamble_offset = image.postamble_offset;
  layout.function_offset = image.function_offset;
  layout.bytes = static_cast<std::uint32_t>(image.bytes.size());
  std::copy_if(image.patches.begin(), image.patches.end(), std::back_inserter(layout.patches),
               [](const Patch& p) {
                 return (p.section == Section::kMain || p.section == Section::kFunction) &&
                        p.type != PatchType::kModify;
               });
  return layout;
}

std::vector<RecordPlace> record_places(const ImageLayout& layout) {
  std::vector<RecordPlace> places;
  walk(layout, Section::kMain, layout.main_offset, layout.postamble_offset, places);
  walk(layout, Section::kFunction, layout.function_offset, layout.bytes, places);
  return places;
}

std::optional<std::size_t> record_at(const ImageLayout& layout, std::uint32_t slot) {
  const std::vector<RecordPlace> places = record_places(layout);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (slot >= places[i].slot && slot - places[i].slot < places[i].slots) return i;
  }
  return std::nullopt;
}

const char* region_name(const ImageLayout& layout, std::uint32_t slot) {
  const std::uint32_t offset = slot * kSlotBytes;
  if (offset < layout.main_offset) return "preamble";
  if (offset < layout.postamble_offset) return "main";
  if (offset < layout.function_offset) return "postamble";
  return offset < layout.bytes ? "functions" : "outside";
}

std::string runs_text(const ImageLayout& layout) {
  const std::vector<RecordPlace> places = record_places(layout);
  std::string text;
  for (std::size_t i = 0; i < places.size();) {
    const char* separator = text.empty() ? "" : " ";
    if (places[i].slots != 1) {
      fmt::format_to(std::back_inserter(text), "{}{}:{}:x{}", separator, places[i].slot, i + 1,
                     places[i].slots);
      ++i;
      continue;
    }
    std::size_t n = 1;
    while (i + n < places.size() && places[i + n].slots == 1 &&
           places[i + n].slot == places[i].slot + n)
      ++n;
    fmt::format_to(std::back_inserter(text), "{}{}:{}:{}", separator, places[i].slot, i + 1, n);
    i += n;
  }
  return text;
}

}  // namespace opennrt::tdrv
