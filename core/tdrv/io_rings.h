// SPDX-License-Identifier: Apache-2.0
//
// Rings that touch the caller's tensors. Their descriptors are templates until
// an execution binds device addresses; the result is kept in an LRU keyed by
// those addresses, so that running again with the same tensors costs nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tdrv/core_node.h"
#include "tdrv/pring.h"

namespace opennrt::tdrv {

// The template of one core: ring image, what to patch, where bases go, and the
// argument table and pointers that name the same tensors.
class IoTemplate {
 public:
  // binding_of: var_id -> index of the bound tensor, UINT32_MAX = none.
  Status add_queue(const CoreNode& core, std::uint32_t hardware_queue, const QueueRings& rings,
                   std::span<const std::uint32_t> binding_of);
  // A cell that receives the address of a bound tensor.
  void add_pointer(std::uint64_t cell, std::uint32_t binding) {
    pointers_.push_back({cell, binding});
  }
  // One 8-byte address per entry; `cell` receives the address of the table.
  struct TableEntry {
    std::uint32_t binding = UINT32_MAX;  // UINT32_MAX: `address` is fixed
    std::uint64_t address = 0;
  };
  void set_argument_table(std::uint64_t cell, std::vector<TableEntry> entries) {
    table_cell_ = cell;
    has_table_ = true;
    table_ = std::move(entries);
  }

  bool empty() const { return sides_.empty() && pointers_.empty() && !has_table_; }
  std::uint32_t bound_pointers() const { return static_cast<std::uint32_t>(pointers_.size()); }
  // Packets of one execution without the event that ends the switch.
  std::uint64_t transfers() const {
    return 2 * sides_.size() * rings_ + (has_table_ ? 1 : 0) + pointers_.size();
  }
  // 8-byte words the packets are read from: a base per ring, the addresses.
  std::uint64_t words() const {
    return sides_.size() * rings_ + (has_table_ ? 1 : 0) + pointers_.size();
  }

 private:
  friend class IoRingSet;
  struct Fixup {
    std::uint64_t at = 0;  // byte offset of the address in the image
    std::uint32_t binding = 0;
    std::uint64_t offset = 0;  // in the tensor
  };
  struct Ring {
    std::uint64_t offset = 0;                              // in the image
    std::uint64_t base_register = 0, length_register = 0;  // device addresses
  };
  struct Side {
    std::array<Ring, kMaxRings> rings;
  };
  struct Pointer {
    std::uint64_t cell = 0;
    std::uint32_t binding = 0;
  };
  Status add_side(const CoreNode& core, std::uint32_t hardware_queue, std::uint32_t direction,
                  const QueueRings& rings, std::span<const std::uint32_t> binding_of);

  RingImage image_;
  std::vector<Fixup> fixups_;
  std::vector<Side> sides_;
  std::uint32_t rings_ = 0;  // of each side
  std::vector<Pointer> pointers_;
  std::uint64_t table_cell_ = 0;
  bool has_table_ = false;
  std::vector<TableEntry> table_;
};

// 8-byte words in mapped host memory that the IO switch reads ring bases from.
class HostWords {
 public:
  void configure(std::shared_ptr<Allocator> allocator, std::uint64_t words_per_slot) {
    allocator_ = std::move(allocator);
    words_ = words_per_slot;
  }
  struct Slot {
    std::uint64_t address = 0;  // device address through the host window
    std::uint64_t* words = nullptr;
  };
  Result<Slot> acquire();
  void release(Slot slot);

 private:
  std::mutex mutex_;
  std::shared_ptr<Allocator> allocator_;
  std::uint64_t words_ = 0;
  std::vector<DmemPtr> chunks_;
  std::vector<Slot> free_;
};

// Resolved rings of one physical core for one set of bound addresses.
class IoRingSet {
 public:
  IoRingSet() = default;
  ~IoRingSet();
  IoRingSet(const IoRingSet&) = delete;
  IoRingSet& operator=(const IoRingSet&) = delete;

  Status build(CoreNode& core, const IoTemplate& source, const std::shared_ptr<Allocator>& owner,
               HostWords& words, std::span<const std::uint64_t> bound);
  std::span<const Transfer> transfers() const { return transfers_; }

 private:
  DmemPtr rings_;
  HostWords* words_ = nullptr;
  HostWords::Slot slot_;
  std::vector<Transfer> transfers_;
};

// Ring sets of all physical cores of a logical core for one key.
struct IoBinding {
  std::vector<std::uint64_t> key;  // bound device addresses, inputs then outputs
  std::vector<std::unique_ptr<IoRingSet>> per_core;
};

// Most recently used first; bounded. Entries in use outlive their eviction.
class IoBindingCache {
 public:
  static constexpr std::size_t kCapacity = 16;

  IoBindingCache() { entries_.reserve(kCapacity); }
  // NULL: not cached. Never allocates.
  std::shared_ptr<IoBinding> find(std::span<const std::uint64_t> key);
  // Returns the entry to use: `fresh`, or the one another thread was faster with.
  std::shared_ptr<IoBinding> insert(std::shared_ptr<IoBinding> fresh);
  void clear();
  std::size_t size() const;

 private:
  std::shared_ptr<IoBinding> find_locked(std::span<const std::uint64_t> key);
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<IoBinding>> entries_;
};

}  // namespace opennrt::tdrv
