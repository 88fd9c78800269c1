// SPDX-License-Identifier: Apache-2.0
#include "tdrv/io_rings.h"

#include <algorithm>

namespace opennrt::tdrv {
namespace {

constexpr std::uint32_t kM2s = 0, kS2m = 1;
constexpr std::uint64_t kSlotsPerChunk = 16;
constexpr std::uint64_t kTableAlignment = 64;

}  // namespace

Status IoTemplate::add_queue(const CoreNode& core, std::uint32_t hardware_queue,
                             const QueueRings& rings, std::span<const std::uint32_t> binding_of) {
  // m2s before s2m: the order the images count on is per set, not per side.
  if (rings.caller_sources) {
    ONRT_TRY(add_side(core, hardware_queue, kM2s, rings, binding_of));
  }
  if (rings.caller_destinations) {
    ONRT_TRY(add_side(core, hardware_queue, kS2m, rings, binding_of));
  }
  return Status::ok();
}

Status IoTemplate::add_side(const CoreNode& core, std::uint32_t hardware_queue,
                            std::uint32_t direction, const QueueRings& rings,
                            std::span<const std::uint32_t> binding_of) {
  const Bindings& bindings = core.bindings();
  const nrtp_arch_dma& dma = *bindings.arch->dma;
  const std::uint64_t base = dma.queue_reg(hardware_queue, direction, NRTP_QREG_BASE_LO);
  const std::uint64_t length = dma.queue_reg(hardware_queue, direction, NRTP_QREG_LENGTH);
  if (base == UINT64_MAX || length == UINT64_MAX ||
      dma.queue_reg(hardware_queue, direction, NRTP_QREG_BASE_HI) != base + 4) {
    return Status::failure("arch {}: queue {} has no adjacent base registers", bindings.arch->name,
                           hardware_queue);
  }
  Side side;
  rings_ = queue_rings(*bindings.arch);
  for (std::uint32_t i = 0; i < rings_; ++i) {
    const auto& list = direction == kM2s ? rings.rings[i].tx : rings.rings[i].rx;
    const std::uint64_t offset = image_.add(list);
    const std::uint64_t window =
        dma.udma_device(bindings.product, dma.core_engine(bindings.product, core.core(), i));
    side.rings[i] = {offset, window + base, window + length};
    for (std::size_t d = 0; d < list.size(); ++d) {
      if (!is_template(list[d])) continue;
      const std::uint32_t var = template_variable(list[d].address);
      const std::uint32_t binding = var < binding_of.size() ? binding_of[var] : UINT32_MAX;
      if (binding == UINT32_MAX) {
        return Status::invalid("queue {} refers to variable {}, which is no input or output",
                               hardware_queue, var);
      }
      fixups_.push_back({offset + d * sizeof(DmaDescriptor) + offsetof(DmaDescriptor, address),
                         binding, template_offset(list[d].address)});
    }
  }
  sides_.push_back(side);
  return Status::ok();
}

Result<HostWords::Slot> HostWords::acquire() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    const std::uint64_t slot_bytes = words_ * sizeof(std::uint64_t);
    ONRT_ASSIGN(DmemPtr chunk, allocator_->allocate({.bytes = slot_bytes * kSlotsPerChunk,
                                                     .location = Location::kHost,
                                                     .usage = Usage::kDmaRingIo,
                                                     .hint = "io switch words"}));
    ONRT_ASSIGN(void* va, chunk->map());
    free_.reserve((chunks_.size() + 1) * kSlotsPerChunk);
    for (std::uint64_t i = kSlotsPerChunk; i-- > 0;) {
      free_.push_back(
          {chunk->address() + i * slot_bytes, static_cast<std::uint64_t*>(va) + i * words_});
    }
    chunks_.push_back(std::move(chunk));
  }
  const Slot slot = free_.back();
  free_.pop_back();
  return slot;
}

void HostWords::release(Slot slot) {
  const std::lock_guard lock(mutex_);
  free_.push_back(slot);  // capacity was reserved with the chunk
}

IoRingSet::~IoRingSet() {
  if (words_ != nullptr) words_->release(slot_);
}

Status IoRingSet::build(CoreNode& core, const IoTemplate& source,
                        const std::shared_ptr<Allocator>& owner, HostWords& words,
                        std::span<const std::uint64_t> bound) {
  if (source.empty()) return Status::ok();
  std::vector<std::byte> image = source.image_.bytes();
  for (const IoTemplate::Fixup& f : source.fixups_) {
    const std::uint64_t address = bound[f.binding] + f.offset;
    std::memcpy(image.data() + f.at, &address, sizeof(address));
  }
  // The argument table lies behind the rings.
  const std::uint64_t table = (image.size() + kTableAlignment - 1) & ~(kTableAlignment - 1);
  if (!source.table_.empty()) {
    image.resize(table + source.table_.size() * sizeof(std::uint64_t));
    for (std::size_t i = 0; i < source.table_.size(); ++i) {
      const IoTemplate::TableEntry& entry = source.table_[i];
      const std::uint64_t address =
          entry.binding == UINT32_MAX ? entry.address : bound[entry.binding];
      std::memcpy(image.data() + table + i * sizeof(address), &address, sizeof(address));
    }
  }
  if (!image.empty()) {
    ONRT_ASSIGN(rings_, owner->allocate({.bytes = image.size(),
                                         .alignment = RingImage::kBoundary,
                                         .usage = Usage::kDmaRingIo,
                                         .hint = "io rings"}));
    ONRT_TRY(rings_->copy_in(0, image.data(), image.size()));
  }
  ONRT_ASSIGN(slot_, words.acquire());
  words_ = &words;
  const std::uint64_t length_word = core.exec().length_word_pa();
  transfers_.reserve(source.transfers());
  std::size_t word = 0;
  const auto add_word = [&](std::uint64_t value, std::uint64_t to) {
    slot_.words[word] = value;
    transfers_.push_back({slot_.address + word * sizeof value, to, sizeof value});
    ++word;
  };
  for (const IoTemplate::Side& side : source.sides_) {
    for (const IoTemplate::Ring& ring : std::span(side.rings).first(source.rings_)) {
      add_word(rings_->address() + ring.offset, ring.base_register);
      transfers_.push_back({length_word, ring.length_register, 4});
    }
  }
  if (source.has_table_) add_word(rings_ ? rings_->address() + table : 0, source.table_cell_);
  for (const IoTemplate::Pointer& pointer : source.pointers_) {
    add_word(bound[pointer.binding], pointer.cell);
  }
  return Status::ok();
}

std::shared_ptr<IoBinding> IoBindingCache::find_locked(std::span<const std::uint64_t> key) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return std::equal(entry->key.begin(), entry->key.end(), key.begin(), key.end());
  });
  if (found == entries_.end()) return nullptr;
  std::rotate(entries_.begin(), found, found + 1);
  return entries_.front();
}

std::shared_ptr<IoBinding> IoBindingCache::find(std::span<const std::uint64_t> key) {
  const std::lock_guard lock(mutex_);
  return find_locked(key);
}

std::shared_ptr<IoBinding> IoBindingCache::insert(std::shared_ptr<IoBinding> fresh) {
  std::shared_ptr<IoBinding> evicted;  // freed outside the lock
  const std::lock_guard lock(mutex_);
  if (auto present = find_locked(fresh->key); present != nullptr) return present;
  if (entries_.size() == kCapacity) {
    evicted = std::move(entries_.back());
    entries_.pop_back();
  }
  entries_.insert(entries_.begin(), fresh);
  return fresh;
}

void IoBindingCache::clear() {
  std::vector<std::shared_ptr<IoBinding>> gone;
  const std::lock_guard lock(mutex_);
  gone.swap(entries_);
  entries_.reserve(kCapacity);
}

std::size_t IoBindingCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace opennrt::tdrv
