// SPDX-License-Identifier: Apache-2.0
#include "tdrv/scratchpad.h"

#include <algorithm>

namespace opennrt::tdrv {

Status Scratchpad::reserve(Pages& held, std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t page = offset / page_bytes_;
  const std::uint64_t end = offset % page_bytes_ + bytes;
  if (page >= kMaxPages) {
    return Status::resource("scratchpad offset {} needs page {}, the limit is {} pages of {} MiB",
                            offset, page, kMaxPages, page_bytes_ >> 20);
  }
  const std::uint64_t needed = std::min(page_bytes_, (end + kPageUnit - 1) / kPageUnit * kPageUnit);
  if (held.size() <= page) held.resize(page + 1);
  if (held[page] && held[page]->size() >= needed) return Status::ok();
  const std::lock_guard lock(mutex_);
  if (pages_.size() <= page) pages_.resize(page + 1);
  DmemPtr current = pages_[page].lock();
  if (!current || current->size() < needed) {
    // A larger page than the present one: models placed on the old page keep it.
    ONRT_ASSIGN(current,
                allocator_->allocate(
                    {.bytes = needed, .usage = Usage::kScratchpad, .hint = "scratchpad page"}));
    pages_[page] = current;
  }
  held[page] = std::move(current);
  return Status::ok();
}

Result<std::uint64_t> Scratchpad::place(Pages& held, std::string_view variable,
                                        std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t page = offset / page_bytes_;
  const std::uint64_t inside = offset % page_bytes_;
  if (bytes > page_bytes_ - inside) {
    return Status::resource(
        "scratchpad variable '{}' [{}, +{}) crosses a page of {} MiB: raise the scratchpad page "
        "size",
        variable, offset, bytes, page_bytes_ >> 20);
  }
  ONRT_TRY(reserve(held, offset, bytes));
  return held[page]->address() + inside;
}

}  // namespace opennrt::tdrv
