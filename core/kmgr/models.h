// SPDX-License-Identifier: Apache-2.0
//
// The model database and its reference protocol: finding takes a reference
// under the read lock; erasing removes the entry under the write lock, drops
// the lock and then waits until the last reference is gone.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "tdrv/tdrv.h"

namespace opennrt::kmgr {

// Number of a loaded model; never reused in a process.
using ModelId = std::uint32_t;

// Device-side stand-ins for host tensors, a few per model so that several
// threads may use one model; made when first needed, then reused.
class StagingPool {
 public:
  StagingPool(tdrv::Tdrv& tdrv, const tdrv::Model& model) : tdrv_(tdrv), model_(model) {}

  class Lease {
   public:
    Lease() = default;
    Lease(StagingPool* pool, tdrv::IoStaging* staging) : pool_(pool), staging_(staging) {}
    Lease(Lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), staging_(other.staging_) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(staging_, other.staging_);
      return *this;
    }
    ~Lease() {
      if (pool_ != nullptr) pool_->give_back(staging_);
    }
    tdrv::IoStaging* operator->() const { return staging_; }
    explicit operator bool() const { return pool_ != nullptr; }

   private:
    StagingPool* pool_ = nullptr;
    tdrv::IoStaging* staging_ = nullptr;
  };

  // Waits while all are in use and no more may be made.
  Result<Lease> take();

 private:
  static constexpr std::size_t kMax = 4;
  void give_back(tdrv::IoStaging* staging);

  tdrv::Tdrv& tdrv_;
  const tdrv::Model& model_;
  std::mutex mutex_;  // guards the lists
  std::condition_variable returned_;
  std::vector<std::unique_ptr<tdrv::IoStaging>> all_;
  std::vector<tdrv::IoStaging*> free_;
  std::size_t making_ = 0;
};

struct ModelRecord {
  ModelRecord(tdrv::Tdrv& tdrv, ModelId id_, std::shared_ptr<tdrv::Model> model_,
              std::uint64_t timeout_ms_)
      : id(id_), model(std::move(model_)), timeout_ms(timeout_ms_), staging(tdrv, *model) {}

  const ModelId id;
  const std::shared_ptr<tdrv::Model> model;
  const std::uint64_t timeout_ms;
  StagingPool staging;
  std::atomic<std::uint64_t> references{0};
  std::atomic<bool> submitted{false};  // at least once: engines may have been in its code

  const neff::Program& program() const { return model->program(); }
};

class Models {
 public:
  // A reference to a loaded model.
  class Reference {
   public:
    Reference() = default;
    explicit Reference(ModelRecord* record) : record_(record) {}
    Reference(Reference&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
    Reference& operator=(Reference&& other) noexcept {
      std::swap(record_, other.record_);
      return *this;
    }
    ~Reference() {
      if (record_ != nullptr) record_->references.fetch_sub(1, std::memory_order_release);
    }
    ModelRecord* operator->() const { return record_; }
    ModelRecord& operator*() const { return *record_; }
    explicit operator bool() const { return record_ != nullptr; }

   private:
    ModelRecord* record_ = nullptr;
  };

  static ModelId next_id();
  void insert(std::unique_ptr<ModelRecord> record);
  Reference find(ModelId id);  // empty: not loaded
  // Waits for the references. nullptr: not loaded.
  std::unique_ptr<ModelRecord> erase(ModelId id);
  std::vector<ModelId> ids();

 private:
  std::shared_mutex mutex_;  // guards records_
  std::unordered_map<ModelId, std::unique_ptr<ModelRecord>> records_;
};

}  // namespace opennrt::kmgr
