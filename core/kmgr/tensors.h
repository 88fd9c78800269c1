// SPDX-License-Identifier: Apache-2.0
//
// Tensors and tensor sets of the process, by handle.
//
// Threading: as the API says. Every function checks its handles; a stale or
// foreign one is NRT_INVALID.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/handle_table.h"
#include "base/status.h"
#include "tdrv/tdrv.h"

namespace opennrt::kmgr {

using TensorHandle = std::uintptr_t;
using TensorSetHandle = std::uintptr_t;

// Name -> borrowed tensor, in byte order of the name.
class TensorSet {
 public:
  struct Entry {
    std::string name;
    TensorHandle tensor = 0;
  };
  void put(std::string_view name, TensorHandle tensor);
  // 0: no such name.
  TensorHandle get(std::string_view name) const;
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

class Tensors {
  using Table = HandleTable<tdrv::Tensor, HandleKind::kTensor>;
  using SetTable = HandleTable<TensorSet, HandleKind::kTensorSet>;

 public:
  // A tensor or set in use: freeing it waits.
  using Pin = Table::Pin;
  using SetPin = SetTable::Pin;

  // The tables of the process. Handles of a closed runtime stay invalid.
  static Tensors& instance();

  Result<TensorHandle> add(std::unique_ptr<tdrv::Tensor> tensor);
  Result<TensorHandle> allocate_empty(std::string_view name);
  Status attach(TensorHandle tensor, void* buffer, std::uint64_t bytes);
  Result<TensorHandle> slice(TensorHandle source, std::uint64_t offset, std::uint64_t bytes,
                             std::string_view name);
  void free(TensorHandle tensor);
  Status read(TensorHandle tensor, void* out, std::uint64_t offset, std::uint64_t bytes);
  Status write(TensorHandle tensor, const void* in, std::uint64_t offset, std::uint64_t bytes);
  Status set(TensorHandle tensor, std::uint8_t value, std::uint64_t offset, std::uint64_t bytes);
  Status copy(TensorHandle source, std::uint64_t source_offset, TensorHandle destination,
              std::uint64_t offset, std::uint64_t bytes);
  // Between any two tensors, through the host where no device transfer is
  // possible.
  Status move(TensorHandle source, std::uint64_t source_offset, TensorHandle destination,
              std::uint64_t offset, std::uint64_t bytes);
  std::uint64_t size(TensorHandle tensor) const;  // 0 for a bad handle
  void* va(TensorHandle tensor);                  // nullptr for a bad handle
  Result<tdrv::Allocation> allocation(TensorHandle tensor) const;
  Result<std::int32_t> logical_core(TensorHandle tensor) const;  // -1: host memory
  Result<std::uint64_t> completions(TensorHandle tensor) const;
  Status reset_completions(TensorHandle tensor);
  Pin pin(TensorHandle tensor) const noexcept { return tensors_.pin(tensor); }

  Result<TensorSetHandle> allocate_set();
  void free_set(TensorSetHandle set);
  Status add_to_set(TensorSetHandle set, std::string_view name, TensorHandle tensor);
  // NRT_FAILURE: no such name.
  Result<TensorHandle> get_from_set(TensorSetHandle set, std::string_view name) const;
  SetPin pin_set(TensorSetHandle set) const noexcept { return sets_.pin(set); }
  const TensorSet* find_set(TensorSetHandle set) const noexcept { return sets_.find(set); }

  std::size_t tensor_count() const noexcept { return tensors_.size(); }
  std::size_t set_count() const noexcept { return sets_.size(); }

  // Everything is destroyed, every handle becomes invalid.
  void clear();

 private:
  Result<Pin> checked(TensorHandle tensor, std::string_view what) const;

  Table tensors_;
  SetTable sets_;
};

}  // namespace opennrt::kmgr
