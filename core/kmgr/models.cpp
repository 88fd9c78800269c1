// SPDX-License-Identifier: Apache-2.0
#include "kmgr/models.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "log/log.h"

namespace opennrt::kmgr {

namespace {

// Runtime logs show 10001 as the first number.
constinit std::atomic<ModelId> g_last_id{10000};
constexpr auto kPoll = std::chrono::milliseconds(1);
constexpr std::uint32_t kPollsPerWarning = 100'000;

}  // namespace

Result<StagingPool::Lease> StagingPool::take() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!free_.empty()) {
      tdrv::IoStaging* staging = free_.back();
      free_.pop_back();
      return Lease(this, staging);
    }
    if (all_.size() + making_ < kMax) break;
    returned_.wait(lock);
  }
  ++making_;
  lock.unlock();
  auto made = tdrv_.make_io_staging(model_);
  lock.lock();
  --making_;
  if (made.is_ok()) {
    all_.reserve(kMax);
    free_.reserve(kMax);
    all_.push_back(*std::move(made));
    return Lease(this, all_.back().get());
  }
  if (all_.empty()) {
    returned_.notify_one();
    return std::move(made).status();
  }
  // Memory is short, but one of the others will come back.
  returned_.wait(lock, [&] { return !free_.empty(); });
  tdrv::IoStaging* staging = free_.back();
  free_.pop_back();
  return Lease(this, staging);
}

void StagingPool::give_back(tdrv::IoStaging* staging) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(staging);
  }
  returned_.notify_one();
}

ModelId Models::next_id() { return ++g_last_id; }

void Models::insert(std::unique_ptr<ModelRecord> record) {
  const std::unique_lock lock(mutex_);
  const ModelId id = record->id;
  records_.emplace(id, std::move(record));
}

Models::Reference Models::find(ModelId id) {
  const std::shared_lock lock(mutex_);
  const auto found = records_.find(id);
  if (found == records_.end()) return {};
  found->second->references.fetch_add(1, std::memory_order_relaxed);
  return Reference(found->second.get());
}

std::unique_ptr<ModelRecord> Models::erase(ModelId id) {
  std::unique_ptr<ModelRecord> record;
  {
    const std::unique_lock lock(mutex_);
    const auto found = records_.find(id);
    if (found == records_.end()) return nullptr;
    record = std::move(found->second);
    records_.erase(found);
  }
  for (std::uint32_t polls = 1; record->references.load(std::memory_order_acquire) != 0; ++polls) {
    std::this_thread::sleep_for(kPoll);
    if (polls % kPollsPerWarning == 0)
      ONRT_LOG(kKmgr, kWarn, "model {} ({}) is still in use by {} call(s), unload waits", id,
               record->program().name, record->references.load());
  }
  return record;
}

std::vector<ModelId> Models::ids() {
  const std::shared_lock lock(mutex_);
  std::vector<ModelId> out;
  for (const auto& [id, record] : records_) out.push_back(id);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace opennrt::kmgr
