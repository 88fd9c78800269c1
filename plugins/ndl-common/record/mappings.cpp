// SPDX-License-Identifier: Apache-2.0
#include "ndl-common/record/mappings.h"

#include <algorithm>

namespace opennrt::trace {
namespace {

// Changes closer than this become one.
constexpr uint64_t kGapWords = 8;

// Other threads and the device write while this reads, as they do under a DMA
// engine; whatever aligned word is found is a value the memory had.
#define ONRT_UNCHECKED __attribute__((no_sanitize("thread"), noinline))

ONRT_UNCHECKED uint64_t load(const volatile uint64_t* at) { return *at; }

// Without a branch per word, for the compiler to use vectors.
ONRT_UNCHECKED bool same(const uint64_t* live, const uint64_t* shadow, uint64_t words) {
  uint64_t difference = 0;
  for (uint64_t i = 0; i < words; ++i) difference |= live[i] ^ shadow[i];
  return difference == 0;
}

uint64_t first_difference(const uint64_t* live, const uint64_t* shadow, uint64_t from,
                          uint64_t words) {
  constexpr uint64_t kBlock = 512;
  while (from + kBlock <= words && same(live + from, shadow + from, kBlock)) from += kBlock;
  while (from < words && load(live + from) == shadow[from]) ++from;
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

void Mappings::look(uintptr_t va, Mapping& mapping, std::vector<Change>* out) {
  const auto* live = reinterpret_cast<const uint64_t*>(va);
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
  mapping.fresh = false;
  if (mapping.watch != Watch::kOnce) return;
  mapping.shadow.reset();
  together_ -= mapping.bytes;
}

void Mappings::changes(bool all, std::vector<Change>* out) {
  const auto small = [](const Mapping& m) { return m.bytes <= kMostSmall || m.fresh; };
  for (auto& [va, mapping] : mappings_)
    if (mapping.shadow && small(mapping)) look(va, mapping, out);
  if (!all && out->empty()) return;
  for (auto& [va, mapping] : mappings_)
    if (mapping.shadow && mapping.bytes > kMostSmall) look(va, mapping, out);
}

}  // namespace opennrt::trace
