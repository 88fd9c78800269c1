// SPDX-License-Identifier: Apache-2.0
//
// Tensors are two objects: a view (name, offset, size) and the storage it looks
// at. Storages are shared by slices and carry the fences: counters of device
// reads and writes in flight.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "tdrv/dmem.h"
#include "tdrv/tdrv.h"

namespace opennrt::tdrv {

// Limit of one HOST tensor: DMA-able host memory is scarce.
inline constexpr std::uint64_t kHostTensorLimit = 4ull << 20;

class Storage {
 public:
  // Device or DMA-able host memory.
  Storage(DmemPtr memory, std::int32_t logical_core)
      : memory_(std::move(memory)), bytes_(memory_->size()), logical_core_(logical_core) {}
  // Heap memory of our own.
  Storage(std::unique_ptr<std::byte[]> heap, std::uint64_t bytes)
      : heap_(std::move(heap)), base_(heap_.get()), bytes_(bytes) {}
  // Memory of the caller; never freed here.
  Storage(void* base, std::uint64_t bytes) : base_(static_cast<std::byte*>(base)), bytes_(bytes) {}

  const DmemPtr& memory() const { return memory_; }
  bool is_device() const { return memory_ && memory_->location() == Location::kDevice; }
  std::uint64_t bytes() const { return bytes_; }
  std::int32_t logical_core() const { return logical_core_; }
  std::byte* base() const { return base_; }  // NULL for device and DMA-able memory

  Status copy_in(std::uint64_t offset, const void* in, std::uint64_t n);
  Status copy_out(std::uint64_t offset, void* out, std::uint64_t n);
  Status fill(std::uint64_t offset, std::uint8_t value, std::uint64_t n);

  // Fences. Uncontended begin and end are one atomic addition each.
  void begin(bool write) { (write ? writers_ : readers_).fetch_add(1); }
  void end(bool write);
  // tensor: what traces call the one that waits; 0: none.
  void wait_for_writers(std::uint64_t tensor = 0);
  void wait_for_all(std::uint64_t tensor = 0);

 private:
  template <typename Idle>
  void wait_until(Idle idle, std::uint64_t tensor);

  DmemPtr memory_;
  std::unique_ptr<std::byte[]> heap_;
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::int32_t logical_core_ = -1;
  std::atomic<std::uint32_t> readers_{0}, writers_{0};  // device accesses in flight
  std::atomic<std::uint32_t> waiting_{0};
  std::mutex mutex_;
  std::condition_variable idle_;
};

class TensorImpl final : public Tensor {
 public:
  TensorImpl(std::string_view name, std::shared_ptr<Storage> storage, std::uint64_t offset,
             std::uint64_t size)
      : name_(name), storage_(std::move(storage)), offset_(offset), size_(size) {}

  std::string_view name() const override { return name_; }
  std::uint64_t size() const override { return size_; }
  bool has_storage() const override { return storage_ != nullptr; }
  bool is_device() const override { return storage_ && storage_->is_device(); }
  std::int32_t logical_core() const override { return storage_ ? storage_->logical_core() : -1; }
  void* va() override;
  Result<std::uint64_t> device_address() const override;
  Result<Allocation> allocation() const override;
  Status read(void* out, std::uint64_t offset, std::uint64_t bytes) override;
  Status write(const void* in, std::uint64_t offset, std::uint64_t bytes) override;
  Status set(std::uint8_t value, std::uint64_t offset, std::uint64_t bytes) override;
  Status copy_from(Tensor& source, std::uint64_t source_offset, std::uint64_t offset,
                   std::uint64_t bytes) override;
  Result<std::unique_ptr<Tensor>> slice(std::uint64_t offset, std::uint64_t bytes,
                                        std::string_view name) override;
  Status attach(void* buffer, std::uint64_t bytes) override;
  void begin_access(bool write) override;
  void end_access(bool write) override;

  const std::shared_ptr<Storage>& storage() const { return storage_; }
  std::uint64_t offset() const { return offset_; }
  // NRT_INVALID: no storage, or the range is not inside the view.
  Status check(const char* what, std::uint64_t offset, std::uint64_t bytes) const;

 private:
  std::string name_;
  std::shared_ptr<Storage> storage_;
  std::uint64_t offset_ = 0;  // of the view in the storage
  std::uint64_t size_ = 0;
};

}  // namespace opennrt::tdrv
