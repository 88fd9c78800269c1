// SPDX-License-Identifier: Apache-2.0
#include "ndl-common/record/mappings.h"

#include <algorithm>

namespace opennrt::trace {
namespace {

// Changes closer than this become one.
constexpr uint64_t kGapWords = 8;

// Other threads and the device write while this reads, as they do under a DMA
// engine; whatever aligned word is found is a value the memory had.
using Live = const volatile uint64_t*;
#define ONRT_UNCHECKED __attribute__((no_sanitize("thread"), noinline))

ONRT_UNCHECKED uint64_t load(Live at) { return *at; }

ONRT_UNCHECKED uint64_t first_difference(Live live, const uint64_t* shadow, uint64_t from,
                                         uint64_t words) {
  while (from < words && live[from] == shadow[from]) ++from;
  return from;
}

}  // namespace

uint64_t Mappings::add(void* va, uint64_t bytes, Watch watch, bool* watched) {
  Mapping mapping{++last_, bytes, watch};
  // Whole words: a mapping is made of pages.
  const bool wanted = watch != Watch::kNever && bytes <= kMostWatched &&
                      together_ + bytes <= kMostWatchedTogether &&
                      reinterpret_cast<uintptr_t>(va) % sizeof(uint64_t) == 0;
  if (wanted) mapping.shadow.reset(static_cast<uint64_t*>(std::calloc(bytes / 8, 8)));
  *watched = mapping.shadow != nullptr;
  if (*watched) together_ += bytes;
  mappings_.insert_or_assign(reinterpret_cast<uintptr_t>(va), std::move(mapping));
  return last_;
}

uint64_t Mappings::remove(void* va) {
  const auto at = mappings_.find(reinterpret_cast<uintptr_t>(va));
  if (at == mappings_.end()) return 0;
  const uint64_t number = at->second.number;
  if (at->second.shadow) together_ -= at->second.bytes;
  mappings_.erase(at);
  return number;
}

bool Mappings::holds(uint64_t address, uint64_t bytes) const {
  auto after = mappings_.upper_bound(static_cast<uintptr_t>(address));
  if (after == mappings_.begin()) return false;
  const auto& [begin, mapping] = *--after;
  return address - begin <= mapping.bytes && bytes <= mapping.bytes - (address - begin);
}

void Mappings::changes(std::vector<Change>* out) {
  for (auto& [va, mapping] : mappings_) {
    if (!mapping.shadow) continue;
    const Live live = reinterpret_cast<Live>(va);
    uint64_t* shadow = mapping.shadow.get();
    const uint64_t words = mapping.bytes / 8;
    uint64_t i = 0;
    while ((i = first_difference(live, shadow, i, words)) < words) {
      uint64_t last = i;
      for (uint64_t j = i; j < words && j - last <= kGapWords; ++j) {
        const uint64_t now = load(live + j);
        if (now != shadow[j]) last = j;
        shadow[j] = now;
      }
      const auto* begin = reinterpret_cast<const uint8_t*>(shadow + i);
      out->push_back({mapping.number, i * 8, {begin, begin + (last - i + 1) * 8}});
      i = last + 1;
    }
    if (mapping.watch == Watch::kOnce) {
      mapping.shadow.reset();
      together_ -= mapping.bytes;
    }
  }
}

}  // namespace opennrt::trace
