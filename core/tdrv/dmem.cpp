// SPDX-License-Identifier: Apache-2.0
#include "tdrv/dmem.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

#include "log/log.h"
#include "trace/trace.h"

namespace opennrt::tdrv {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMostBytes = 1ull << 46;  // roundings of larger sizes could overflow
constexpr std::uint64_t round_up(std::uint64_t v, std::uint64_t to) {
  return (v + to - 1) / to * to;
}

bool means_no_such_feature(int rc) { return rc == -EOPNOTSUPP || rc == -ENOTTY || rc == -ENOSYS; }

}  // namespace

NRT_STATUS status_of_errno(int negative_errno) {
  switch (-negative_errno) {
    case 0:
      return NRT_SUCCESS;
    case ENOMEM:
      return NRT_RESOURCE;
    case EINVAL:
      return NRT_INVALID;
    case EBUSY:
      return NRT_EXEC_NC_BUSY;
    default:
      return NRT_FAILURE;
  }
}

std::shared_ptr<Allocator> Allocator::make(std::shared_ptr<MemoryPool> pool, std::uint32_t core,
                                           std::uint32_t channel, std::string name) {
  return std::shared_ptr<Allocator>(new Allocator(std::move(pool), core, channel, std::move(name)));
}

Result<DmemPtr> Allocator::allocate(const MemoryRequest& r) {
  const bool host = r.location == Location::kHost;
  const auto name = [&] {
    return fmt::format("{} {} memory '{}' of {} ({} bytes)", host ? "host" : "device",
                       usage_name(r.usage), r.hint, name_, r.bytes);
  };
  if (r.bytes == 0) return Status::invalid("{}: size 0", name());
  if (r.bytes > kMostBytes) {
    return Status::resource("{}: no device has that much; {}", name(),
                            pool_->accounting().report(channel_))
        .because(host ? Cause::kNone : Cause::kDeviceMemory);
  }
  if ((r.alignment & (r.alignment - 1)) != 0) {
    return Status::invalid("{}: alignment {} is not a power of two", name(), r.alignment);
  }
  if (host && (r.usage == Usage::kScratchpad || r.usage == Usage::kCollectives ||
               r.usage == Usage::kScratchpadNotShared)) {
    return Status::invalid("{}: this usage cannot live in host memory", name());
  }
  if (host && r.alignment > kPage) {
    return Status::invalid("{}: host memory is aligned to pages only", name());
  }
  trace::Span span(trace::EventType::kDmaMemAlloc, pool_->logical_core(core_),
                   {channel_, static_cast<std::uint64_t>(r.usage), host ? 0u : 1u, r.alignment != 0,
                    pool_->device_index()});
  const nrtp_ndl_ops& ndl = pool_->ndl();
  const nrtp_mem_type type = driver_memory_type(r.usage, r.location);
  std::uint64_t align = r.alignment > kPage ? r.alignment : 0;
  std::uint64_t granted = round_up(r.bytes, kPage);
  bool own_alignment = align != 0 && pool_->no_alignment_.load(std::memory_order_relaxed);
  std::uint64_t handle = 0;
  int rc = 0;
  for (;;) {
    if (own_alignment) granted = round_up(r.bytes + r.alignment, kPage);
    rc = ndl.mem->alloc(pool_->ctx(), pool_->dev(), granted, own_alignment ? 0 : align,
                        host ? 1 : 0, channel_, 0, core_, type, &handle);
    if (rc == 0 || own_alignment || align == 0 || !means_no_such_feature(rc)) break;
    pool_->no_alignment_.store(true, std::memory_order_relaxed);
    own_alignment = true;
  }
  if (rc != 0) {
    span.stop({0, 0, static_cast<std::uint64_t>(-rc)});
    if (rc == -ENOMEM) {
      return Status::resource("{}: out of memory; {}", name(), pool_->accounting().report(channel_))
          .because(host ? Cause::kNone : Cause::kDeviceMemory);
    }
    return Status::make(status_of_errno(rc) == NRT_EXEC_NC_BUSY ? NRT_EXEC_NC_BUSY : NRT_FAILURE,
                        "{}: the driver refused: {}", name(), std::strerror(-rc));
  }
  std::uint64_t pa = 0;
  rc = ndl.mem->get_pa(pool_->ctx(), handle, &pa);
  if (rc != 0) {
    span.stop({0, 0, static_cast<std::uint64_t>(-rc)});
    ndl.mem->free(pool_->ctx(), handle);
    return Status::failure("{}: no physical address: {}", name(), std::strerror(-rc));
  }
  DmemPtr memory(new Dmem());
  memory->pool_ = pool_;
  memory->allocator_ = shared_from_this();
  memory->handle_ = handle;
  memory->size_ = r.bytes;
  memory->allocated_ = granted;
  memory->pa_ = pa;
  memory->align_offset_ = own_alignment ? round_up(pa, r.alignment) - pa : 0;
  memory->location_ = r.location;
  memory->usage_ = r.usage;
  memory->channel_ = channel_;
  memory->core_ = core_;
  memory->hint_ = r.hint;
  {
    const std::lock_guard lock(mutex_);
    memory->previous_ = last_;
    (last_ != nullptr ? last_->next_ : first_) = memory.get();
    last_ = memory.get();
  }
  pool_->account({.allocated = true,
                  .location = r.location,
                  .usage = r.usage,
                  .channel = channel_,
                  .core = core_,
                  .size = granted,
                  .pa = pa,
                  .align_offset = memory->align_offset_},
                 r.hint);
  if (trace::wanted(trace::EventType::kDmaMemAlloc))
    span.stop({granted, memory->address(), 0, pool_->accounting().usage_total(core_, r.usage),
               pool_->accounting().channel_total(channel_)});
  ONRT_LOG(kTdrv, kTrace, "dmem alloc: {} at {:#x}", name(), memory->address());
  return memory;
}

void Allocator::release_locked(Dmem& m) {
  if (m.handle_ == 0) return;
  (m.previous_ != nullptr ? m.previous_->next_ : first_) = m.next_;
  (m.next_ != nullptr ? m.next_->previous_ : last_) = m.previous_;
  m.previous_ = m.next_ = nullptr;
  trace::Span span(trace::EventType::kDmaMemDealloc, pool_->logical_core(m.core_),
                   {m.channel_, m.location_ == Location::kDevice, pool_->device_index(),
                    static_cast<std::uint64_t>(m.usage_), m.address()});
  const nrtp_ndl_ops& ndl = pool_->ndl();
  if (m.va_.load(std::memory_order_relaxed) != nullptr) {
    ndl.mem->unmap(pool_->ctx(), m.handle_);  // before free: the pages may be handed out again
    m.va_.store(nullptr, std::memory_order_relaxed);
  }
  const int rc = ndl.mem->free(pool_->ctx(), m.handle_);
  if (rc != 0) {
    ONRT_LOG(kTdrv, kWarn, "device {}: freeing '{}' failed: {}", pool_->device_index(), m.hint_,
             std::strerror(-rc));
  }
  m.handle_ = 0;
  pool_->account({.allocated = false,
                  .location = m.location_,
                  .usage = m.usage_,
                  .channel = m.channel_,
                  .core = m.core_,
                  .size = m.allocated_,
                  .pa = m.pa_,
                  .align_offset = m.align_offset_},
                 m.hint_);
  if (trace::wanted(trace::EventType::kDmaMemDealloc))
    span.stop({m.allocated_, pool_->accounting().usage_total(m.core_, m.usage_),
               pool_->accounting().channel_total(m.channel_)});
}

void Allocator::release_all() {
  const std::lock_guard lock(mutex_);
  while (last_ != nullptr) release_locked(*last_);
}

std::size_t Allocator::live() const {
  const std::lock_guard lock(mutex_);
  std::size_t n = 0;
  for (const Dmem* m = first_; m != nullptr; m = m->next_) ++n;
  return n;
}

std::optional<MappedMemory> Allocator::mapped(const void* address) const {
  const std::lock_guard lock(mutex_);
  for (const Dmem* m = first_; m != nullptr; m = m->next_) {
    const auto* mapping = static_cast<const char*>(m->va_.load(std::memory_order_acquire));
    if (mapping == nullptr) continue;
    const char* const begin = mapping + m->align_offset_;
    if (std::less<>()(address, begin) || !std::less<>()(address, begin + m->size_)) continue;
    return MappedMemory{.begin = begin,
                        .bytes = m->size_,
                        .device = pool_->device_index(),
                        .hbm = m->channel_,
                        .on_device = m->location_ == Location::kDevice};
  }
  return std::nullopt;
}

Dmem::~Dmem() {
  if (!allocator_) return;
  const std::lock_guard lock(allocator_->mutex_);
  allocator_->release_locked(*this);
}

Result<void*> Dmem::map() {
  void* mapped = va_.load(std::memory_order_acquire);
  if (mapped == nullptr) {
    const std::lock_guard lock(map_mutex_);
    mapped = va_.load(std::memory_order_relaxed);
    if (mapped == nullptr) {
      ONRT_TRY(check(0, 0));
      const int rc = pool_->ndl().mem->map(pool_->ctx(), handle_, &mapped);
      if (rc != 0) return failed("mapping", 0, size_, rc);
      va_.store(mapped, std::memory_order_release);
    }
  }
  return static_cast<void*>(static_cast<char*>(mapped) + align_offset_);
}

Status Dmem::check(std::uint64_t offset, std::uint64_t bytes) const {
  if (handle_ == 0) {
    return Status::make(NRT_CLOSED, "memory '{}': the runtime that owned it has been closed",
                        hint_);
  }
  if (offset > size_ || bytes > size_ - offset) {
    return Status::invalid("memory '{}': range [{}, +{}) is outside its {} bytes", hint_, offset,
                           bytes, size_);
  }
  return Status::ok();
}

Status Dmem::failed(const char* what, std::uint64_t offset, std::uint64_t bytes, int rc) const {
  const NRT_STATUS code = rc == -ENOMEM ? NRT_RESOURCE : NRT_FAILURE;
  return Status::make(code, "[ND {}][NC {}] {} {} bytes at offset {} of '{}' failed: {}",
                      pool_->device_index(), core_, what, bytes, offset, hint_, std::strerror(-rc));
}

}  // namespace opennrt::tdrv
