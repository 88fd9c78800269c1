// SPDX-License-Identifier: Apache-2.0
#include "collectives/dynamic_table.h"

#include <algorithm>
#include <cstring>

namespace opennrt::collectives {

DynamicTable::DynamicTable(std::span<std::byte> memory, std::int64_t ranks) {
  if (memory.data() == nullptr || ranks <= 0) return;
  if (memory.size() / (kRows * sizeof(std::uint32_t)) < static_cast<std::uint64_t>(ranks)) return;
  memory_ = memory.data();
  ranks_ = static_cast<std::uint64_t>(ranks);
}

std::byte* DynamicTable::entry(Row row, std::int64_t rank) const {
  if (rank < 0 || static_cast<std::uint64_t>(rank) >= ranks_) return nullptr;
  return memory_ + (static_cast<std::uint64_t>(row) * ranks_ + static_cast<std::uint64_t>(rank)) *
                       sizeof(std::uint32_t);
}

std::size_t DynamicTable::bytes(Row row, std::int64_t rank, std::size_t element) const {
  const std::byte* const at = entry(row, rank);
  if (at == nullptr) return 0;
  std::uint32_t count = 0;
  std::memcpy(&count, at, sizeof count);
  return count * element;
}

void DynamicTable::set_bytes(Row row, std::int64_t rank, std::size_t element, std::size_t bytes) {
  std::byte* const at = entry(row, rank);
  if (at == nullptr || element == 0) return;
  const auto count =
      static_cast<std::uint32_t>(std::min<std::size_t>(bytes / element, std::size_t{UINT32_MAX}));
  std::memcpy(at, &count, sizeof count);
}

}  // namespace opennrt::collectives
