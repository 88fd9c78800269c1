// SPDX-License-Identifier: Apache-2.0
//
// A mapped slab: header, counters and records. It does not know whose it is.
// Results are 0 or -errno, as those of the public functions.
//
// Threading: counters may be changed from any thread and process; records of
// one slab by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nds/layout.h"

namespace opennrt::nds {

class Slab {
 public:
  Slab() = default;
  // -EINVAL of every member while fewer than kLeastBytes are mapped.
  Slab(void* base, std::size_t bytes)
      : base_(bytes >= kLeastBytes ? static_cast<unsigned char*>(base) : nullptr) {}
  explicit operator bool() const { return base_ != nullptr; }

  void commit_header();
  // Waits once for a writer that is about to commit.
  int check_header() const;
  std::uint64_t header() const;  // as it is

  // nullptr: there is no such counter.
  std::uint64_t* core_counter(std::int64_t core, std::uint32_t counter) const;
  std::uint64_t* device_counter(std::uint32_t counter) const;

  // Slot of a new model record; -ENOSPC: all are taken.
  int take_model();
  void drop_model(std::uint32_t slot);
  std::uint64_t model_map() const;  // bit = slot in use

  template <typename Record>
  void publish(std::size_t offset, const Record& record);
  // The record as it is, checked by its hash; twice at most.
  template <typename Record>
  void read(std::size_t offset, Record* out) const;
  // Without a second look; false: it is not what its hash says.
  template <typename Record>
  bool read_once(std::size_t offset, Record* out) const;
  static std::size_t model_offset(std::uint32_t slot) {
    return kModelsAt + slot * sizeof(ModelRecord);
  }

 private:
  void publish_bytes(std::size_t offset, const void* record, std::size_t bytes);
  void read_bytes(std::size_t offset, void* record, std::size_t bytes) const;
  bool copy_bytes(std::size_t offset, void* record, std::size_t bytes) const;

  unsigned char* base_ = nullptr;
};

// FNV-1a of 32 bits.
std::uint32_t hash_of(const void* data, std::size_t bytes);

template <typename Record>
void Slab::publish(std::size_t offset, const Record& record) {
  publish_bytes(offset, &record, sizeof record);
}

template <typename Record>
void Slab::read(std::size_t offset, Record* out) const {
  read_bytes(offset, out, sizeof *out);
}

template <typename Record>
bool Slab::read_once(std::size_t offset, Record* out) const {
  return copy_bytes(offset, out, sizeof *out);
}

// Atomic on the shared word. nullptr: -EINVAL.
int add(std::uint64_t* counter, std::uint64_t value);
int subtract(std::uint64_t* counter, std::uint64_t value);
int set_bit(std::uint64_t* counter, std::uint64_t bit);
int store(std::uint64_t* counter, std::uint64_t value);
int load(const std::uint64_t* counter, std::uint64_t* out);

}  // namespace opennrt::nds
