// SPDX-License-Identifier: Apache-2.0
#include "nds/reader.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "nds/slab.h"

namespace opennrt::nds {

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 56;
constexpr std::uint64_t kNameMask = 0xFFFFFFFF;

// Up to its zero or the end of the field.
template <std::size_t N>
std::string text_of(const char (&field)[N]) {
  return {field, static_cast<std::size_t>(std::find(field, field + N, '\0') - field)};
}

// The record as its hash says; false: it is not there, or damaged.
template <typename Record>
bool read_record(const Slab& slab, std::size_t offset, Record* out, bool* damaged) {
  slab.read(offset, out);
  if (out->hash == 0) return false;
  Record plain = *out;
  std::memset(&plain, 0, sizeof plain.hash);
  *damaged = hash_of(&plain, sizeof plain) != out->hash;
  return !*damaged;
}

void read_process(const Slab& slab, StoreReading* out) {
  ProcessInfoRecord process{};
  bool damaged = false;
  if (read_record(slab, kProcessInfoAt, &process, &damaged)) {
    out->tag = text_of(process.info.tag);
    out->framework_type = process.info.framework_type;
    out->runtime = process.info.runtime_version;
    out->framework = process.info.framework_version;
  }
  out->damaged_process = damaged;
  // The same tag in full length.
  ProcessInfoExtRecord extended{};
  damaged = false;
  if (read_record(slab, kProcessInfoExtAt, &extended, &damaged))
    out->tag = text_of(extended.info.tag);
  out->damaged_process |= damaged;
}

void read_models(const Slab& slab, StoreReading* out) {
  const std::uint64_t map = slab.model_map();
  bool waited = false;
  for (std::uint32_t slot = 0; slot < kModels; ++slot) {
    if ((map >> slot & 1) == 0) continue;
    // One pause is enough for all records that are being written.
    ModelRecord record{};
    bool damaged = false;
    const bool whole = waited ? slab.read_once(Slab::model_offset(slot), &record)
                              : read_record(slab, Slab::model_offset(slot), &record, &damaged);
    waited |= !whole;
    if (!whole) {
      // Taken and not written, or given back since.
      out->damaged_models += record.hash != 0;
      continue;
    }
    if (record.info.nc_index >= kCores) {
      ++out->damaged_models;
      continue;
    }
    ModelReading model{.model_id = record.info.model_id,
                       .node_id = record.info.model_node_id,
                       .name = text_of(record.info.name),
                       .uuid = {},
                       .core = record.info.nc_index,
                       .subgraph = record.info.sg_index,
                       .bytes = {}};
    std::memcpy(model.uuid.data(), record.info.uuid, model.uuid.size());
    for (std::size_t place = 0; place < model.bytes.size(); ++place)
      for (std::size_t use = 0; use < kMemorySlots; ++use)
        model.bytes[place][use] = record.memory.model_mem_usage[place][use].total_size;
    out->models.push_back(std::move(model));
  }
}

}  // namespace

StoreReading read_store(const void* memory, std::size_t bytes) {
  StoreReading out;
  // Slab is for writers too; nothing below writes.
  const Slab slab(const_cast<void*>(memory), bytes);
  if (!slab) {
    out.readable = Readable::kTooSmall;
    return out;
  }
  const bool current = slab.check_header() == 0;
  const std::uint64_t header = slab.header();
  out.version = static_cast<std::uint32_t>(header >> 32);
  if (!current) {
    out.readable = header == 0                                     ? Readable::kNotYet
                   : (header & kNameMask) == (kHeader & kNameMask) ? Readable::kOtherVersion
                                                                   : Readable::kNoStore;
    return out;
  }
  for (std::uint32_t i = 0; i < kDeviceCounters; ++i) load(slab.device_counter(i), &out.device[i]);
  for (std::uint32_t core = 0; core < kCores; ++core)
    for (std::uint32_t i = 0; i < kCoreCounters; ++i)
      load(slab.core_counter(core, i), &out.cores[core][i]);
  read_process(slab, &out);
  read_models(slab, &out);
  // Cleared meanwhile: the owner has ended, and what was read is of nobody.
  out.readable = slab.header() == kHeader ? Readable::kYes : Readable::kNotYet;
  return out;
}

std::string reason_of(const StoreReading& reading, std::size_t bytes) {
  switch (reading.readable) {
    case Readable::kYes:
      return {};
    case Readable::kTooSmall:
      return "its data store has " + std::to_string(bytes) + " bytes, " +
             std::to_string(kLeastBytes) + " are needed";
    case Readable::kNotYet:
      return "its data store is empty: it is starting or ending";
    case Readable::kNoStore:
      return "its data store does not begin as one: another program writes there";
    case Readable::kOtherVersion:
      break;
  }
  return "its data store has layout version " + std::to_string(reading.version) +
         ", this program reads version " + std::to_string(kHeader >> 32);
}

std::optional<std::uint64_t> plausible_bytes(std::uint64_t counter) {
  return counter < kMostBytes ? std::optional(counter) : std::nullopt;
}

}  // namespace opennrt::nds
