// SPDX-License-Identifier: Apache-2.0
//
// A set is read again whenever table memory was written since it was last
// looked at, and compiled again only when its bytes changed.
#include "compute/activation_tables.h"

#include <cstring>

#include "device/bus.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

enum Part : std::uint32_t { kDirectory, kControl, kProfiles, kBuckets, kParts };
constexpr std::uint64_t kEntryBytes = 32;
// More sets than the act_set_index byte can select are a corrupt directory.
constexpr std::uint32_t kMaxSets = 256;

enum DirectoryWord {
  kControlAt,
  kControlCount,
  kProfileAt,
  kProfileCount,
  kBucketAt,
  kBucketCount
};

// Reads `bytes` of a part at `offset`. False: outside the part or not readable.
bool read_part(const EngineState& state, Part part, std::uint64_t offset, std::uint64_t bytes,
               std::uint8_t* out) {
  const AddressMap& map = state.bus->map();
  const nrtp_arch_tables& tables = *map.arch().tables;
  const nrtp_table_slot& slot = tables.act[part];
  if (offset > slot.bytes || bytes > slot.bytes - offset) return false;
  if (bytes == 0) return true;
  const std::uint64_t address =
      map.arch().address->local_to_device(map.product(), state.core, slot.local + offset);
  const Origin who{.kind = Origin::Kind::kEngine,
                   .core = state.core,
                   .unit = state.engine,
                   .queue = 0,
                   .slot = address};
  return state.bus->bus_read(address, out, bytes, who);
}

}  // namespace

bool ActivationState::refresh(const EngineState& state, std::string* error) {
  const nrtp_arch_tables* tables = state.bus->map().arch().tables;
  if (!tables || tables->n_act < kParts) return true;  // no table memory: set_count_ stays 0
  // Read before the content: a write that overlaps changes the version again.
  const std::uint64_t version = state.bus->table_version();
  if (!known_ || version != version_) {
    for (auto& set : sets_)
      if (set) set->current = false;
    std::uint32_t count = 0;
    if (!read_part(state, kDirectory, 0, sizeof count, reinterpret_cast<std::uint8_t*>(&count))) {
      *error = "the directory of the activation tables cannot be read";
      return false;
    }
    if (count > kMaxSets) {
      *error = "the activation tables claim " + std::to_string(count) + " sets, the limit is " +
               std::to_string(kMaxSets);
      return false;
    }
    set_count_ = count;
    sets_.resize(count);
    version_ = version;
    known_ = true;
  }
  if (set_count_ == 0) return true;
  const std::uint32_t index = state.activation_set;
  if (index >= set_count_) {
    *error = "activation set " + std::to_string(index) + " is selected, table memory has " +
             std::to_string(set_count_);
    return false;
  }
  auto& slot = sets_[index];
  if (slot && slot->current) return true;

  std::uint32_t entry[8];
  const auto corrupt = [&] {
    slot.reset();
    *error =
        "the tables of activation set " + std::to_string(index) + " lie outside of table memory";
    return false;
  };
  if (!read_part(state, kDirectory, kEntryBytes * (index + 1), sizeof entry,
                 reinterpret_cast<std::uint8_t*>(entry)))
    return corrupt();
  const struct {
    Part part;
    std::uint64_t offset, bytes;
  } pieces[] = {{kControl, entry[kControlAt], entry[kControlCount] * kEntryBytes},
                {kProfiles, entry[kProfileAt], entry[kProfileCount] * sizeof(ActivationProfile)},
                {kBuckets, entry[kBucketAt], entry[kBucketCount] * kEntryBytes}};
  std::uint64_t total = 0;
  for (const auto& piece : pieces) {
    if (piece.bytes > tables->act[piece.part].bytes) return corrupt();
    total += piece.bytes;
  }
  std::vector<std::uint8_t> raw(total);
  std::uint8_t* to = raw.data();
  for (const auto& piece : pieces) {
    if (!read_part(state, piece.part, piece.offset, piece.bytes, to)) return corrupt();
    to += piece.bytes;
  }
  if (slot && std::memcmp(slot->directory, entry, sizeof entry) == 0 && slot->raw == raw) {
    slot->current = true;
    return true;
  }
  slot = std::make_unique<Set>();
  std::memcpy(slot->directory, entry, sizeof entry);
  slot->control.resize(entry[kControlCount]);
  slot->profiles.resize(entry[kProfileCount]);
  slot->buckets.resize(entry[kBucketCount]);
  const std::uint8_t* from = raw.data();
  for (std::uint32_t& word : slot->control) {
    std::memcpy(&word, from, sizeof word);  // the rest of the entry is unused
    from += kEntryBytes;
  }
  if (!slot->profiles.empty())
    std::memcpy(slot->profiles.data(), from, slot->profiles.size() * sizeof(ActivationProfile));
  from += slot->profiles.size() * sizeof(ActivationProfile);
  if (!slot->buckets.empty())
    std::memcpy(slot->buckets.data(), from, slot->buckets.size() * sizeof(ActivationBucket));
  slot->raw = std::move(raw);
  slot->current = true;
  return true;
}

const ActivationFunction* ActivationState::function(const EngineState& state, std::uint32_t code,
                                                    std::string* error) {
  if (!refresh(state, error)) return nullptr;
  code &= 0xFF;
  if (set_count_ != 0) {
    Set& set = *sets_[state.activation_set];
    if (set.functions[code]) return set.functions[code].get();
    for (const ActivationProfile& profile : set.profiles) {
      if (profile.func_id != code) continue;
      auto compiled = std::make_unique<ActivationFunction>();
      if (!compiled->compile(profile, set.control, set.buckets, error)) {
        *error = "activation set " + std::to_string(state.activation_set) + ", " + *error;
        return nullptr;
      }
      set.functions[code] = std::move(compiled);
      return set.functions[code].get();
    }
    if (!activation_is_fixed(code)) {
      *error = "activation set " + std::to_string(state.activation_set) + " has no table of " +
               activation_function_name(code);
      return nullptr;
    }
  }
  if (exact_[code]) return exact_[code].get();
  auto exact = std::make_unique<ActivationFunction>();
  if (!exact->make_exact(code)) {
    *error = activation_function_name(code) + " is not known and the program brings no table of it";
    return nullptr;
  }
  exact_[code] = std::move(exact);
  return exact_[code].get();
}

}  // namespace opennrt::emu
