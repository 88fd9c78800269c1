// SPDX-License-Identifier: Apache-2.0
#include "tdrv/scratchpad.h"

namespace opennrt::tdrv {

Result<DmemPtr> Scratchpad::acquire(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  DmemPtr current = region_.lock();
  if (current && current->size() >= bytes) return current;
  const std::uint64_t rounded = (bytes + kUnit - 1) / kUnit * kUnit;
  ONRT_ASSIGN(current, allocator_->allocate(
                           {.bytes = rounded, .usage = Usage::kScratchpad, .hint = "scratchpad"}));
  region_ = current;
  return current;
}

}  // namespace opennrt::tdrv
