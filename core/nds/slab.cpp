// SPDX-License-Identifier: Apache-2.0
#include "nds/slab.h"

#include <errno.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstring>

namespace opennrt::nds {

namespace {

constexpr std::uint32_t kFirstCores = 4;      // with two areas of counters each
constexpr std::uint32_t kFirstCounters = 31;  // in the first of them
constexpr useconds_t kHeaderPauseUs = 500, kRecordPauseUs = 200;

std::atomic_ref<std::uint64_t> atomic(std::uint64_t* word) {
  return std::atomic_ref<std::uint64_t>(*word);
}

}  // namespace

void Slab::commit_header() {
  if (base_) atomic(reinterpret_cast<std::uint64_t*>(base_)).store(kHeader);
}

int Slab::check_header() const {
  if (!base_) return -EINVAL;
  auto* word = reinterpret_cast<std::uint64_t*>(base_);
  if (atomic(word).load() == kHeader) return 0;
  usleep(kHeaderPauseUs);
  return atomic(word).load() == kHeader ? 0 : -EINVAL;
}

std::uint64_t Slab::header() const {
  return base_ ? atomic(reinterpret_cast<std::uint64_t*>(base_)).load() : 0;
}

std::uint64_t* Slab::core_counter(std::int64_t core, std::uint32_t counter) const {
  if (!base_ || core < 0 || core >= kCores || counter >= kCoreCounters) return nullptr;
  const auto c = static_cast<std::uint64_t>(core);
  std::uint64_t index = 0;
  if (c >= kFirstCores)
    index = 7248 + 96 * (c - kFirstCores) + counter;
  else if (counter < kFirstCounters)
    index = 32 + std::uint64_t{kFirstCounters} * c + counter;
  else
    index = 6992 + 64 * c + (counter - kFirstCounters);
  return reinterpret_cast<std::uint64_t*>(base_) + index;
}

std::uint64_t* Slab::device_counter(std::uint32_t counter) const {
  if (!base_ || counter >= kDeviceCounters) return nullptr;
  return reinterpret_cast<std::uint64_t*>(base_) + 1 + counter;
}

std::uint64_t Slab::model_map() const {
  return base_ ? atomic(reinterpret_cast<std::uint64_t*>(base_ + kModelMapAt)).load() : 0;
}

int Slab::take_model() {
  if (!base_) return -EINVAL;
  const auto word = atomic(reinterpret_cast<std::uint64_t*>(base_ + kModelMapAt));
  std::uint64_t map = word.load();
  for (;;) {
    if (map == UINT64_MAX) return -ENOSPC;
    const int slot = std::countr_one(map);
    if (word.compare_exchange_weak(map, map | std::uint64_t{1} << slot)) return slot;
  }
}

void Slab::drop_model(std::uint32_t slot) {
  if (!base_ || slot >= kModels) return;
  std::memset(base_ + model_offset(slot), 0, sizeof(ModelRecord));
  atomic(reinterpret_cast<std::uint64_t*>(base_ + kModelMapAt))
      .fetch_and(~(std::uint64_t{1} << slot));
}

void Slab::publish_bytes(std::size_t offset, const void* record, std::size_t bytes) {
  if (!base_) return;
  unsigned char image[sizeof(ModelRecord)];
  std::memcpy(image, record, bytes);
  std::memset(image, 0, sizeof(std::uint32_t));
  const std::uint32_t hash = hash_of(image, bytes);
  std::memcpy(image, &hash, sizeof hash);
  std::memcpy(base_ + offset, image, bytes);
}

bool Slab::copy_bytes(std::size_t offset, void* record, std::size_t bytes) const {
  if (!base_) {
    std::memset(record, 0, bytes);
    return false;
  }
  std::memcpy(record, base_ + offset, bytes);
  std::uint32_t stored = 0;
  std::memcpy(&stored, record, sizeof stored);
  std::memset(record, 0, sizeof stored);
  const bool whole = stored != 0 && hash_of(record, bytes) == stored;
  std::memcpy(record, &stored, sizeof stored);
  return whole;
}

// A writer that keeps writing wins: the second copy is taken as it is.
void Slab::read_bytes(std::size_t offset, void* record, std::size_t bytes) const {
  if (copy_bytes(offset, record, bytes) || !base_) return;
  usleep(kRecordPauseUs);
  copy_bytes(offset, record, bytes);
}

std::uint32_t hash_of(const void* data, std::size_t bytes) {
  constexpr std::uint32_t kBasis = 0x811C9DC5, kPrime = 0x01000193;
  std::uint32_t hash = kBasis;
  for (std::size_t i = 0; i < bytes; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * kPrime;
  return hash;
}

int add(std::uint64_t* counter, std::uint64_t value) {
  if (!counter) return -EINVAL;
  atomic(counter).fetch_add(value, std::memory_order_relaxed);
  return 0;
}

int subtract(std::uint64_t* counter, std::uint64_t value) {
  if (!counter) return -EINVAL;
  atomic(counter).fetch_sub(value, std::memory_order_relaxed);
  return 0;
}

int set_bit(std::uint64_t* counter, std::uint64_t bit) {
  if (!counter || bit >= 64) return -EINVAL;
  atomic(counter).fetch_or(std::uint64_t{1} << bit, std::memory_order_relaxed);
  return 0;
}

int store(std::uint64_t* counter, std::uint64_t value) {
  if (!counter) return -EINVAL;
  atomic(counter).store(value, std::memory_order_relaxed);
  return 0;
}

int load(const std::uint64_t* counter, std::uint64_t* out) {
  if (!counter || !out) return -EINVAL;
  *out = atomic(const_cast<std::uint64_t*>(counter)).load(std::memory_order_relaxed);
  return 0;
}

}  // namespace opennrt::nds
