// SPDX-License-Identifier: Apache-2.0
#include "trace/names.h"

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>

#include "strings/interned.h"
#include "trace/event.h"

namespace opennrt::trace {

namespace {

constexpr std::size_t kKeptAfterUnload = 256;

struct ModelNames {
  std::mutex mutex;  // guards the members
  std::map<std::uint32_t, strings::StringId> names;
  std::deque<std::uint32_t> unloaded;  // oldest first
};
ModelNames& models() {
  static ModelNames* const names = new ModelNames;
  return *names;
}

constinit std::atomic<const char* const*> g_usages{nullptr};
constinit std::atomic<std::size_t> g_usage_count{0};

// rank + 1, so that zero is "none".
constinit std::array<std::atomic<std::int32_t>, kMaxCores> g_ranks{};

}  // namespace

void name_model(std::uint32_t id, std::string_view name, std::int32_t core) {
  const strings::StringId text = strings::intern(core, name);
  ModelNames& m = models();
  const std::lock_guard lock(m.mutex);
  m.names.insert_or_assign(id, text);
}

void forget_model(std::uint32_t id) {
  ModelNames& m = models();
  const std::lock_guard lock(m.mutex);
  if (!m.names.contains(id)) return;
  m.unloaded.push_back(id);
  if (m.unloaded.size() <= kKeptAfterUnload) return;
  m.names.erase(m.unloaded.front());
  m.unloaded.pop_front();
}

std::string model_name(std::uint32_t id) {
  strings::StringId text = strings::kNoString;
  {
    ModelNames& m = models();
    const std::lock_guard lock(m.mutex);
    if (const auto found = m.names.find(id); found != m.names.end()) text = found->second;
  }
  return text == strings::kNoString ? std::string() : strings::text_of(text);
}

void name_memory_usages(std::span<const char* const> names) {
  g_usage_count.store(0, std::memory_order_relaxed);
  g_usages.store(names.data(), std::memory_order_relaxed);
  g_usage_count.store(names.size(), std::memory_order_release);
}

std::string_view memory_usage_name(std::uint64_t usage) {
  return usage < g_usage_count.load(std::memory_order_acquire)
             ? g_usages.load(std::memory_order_relaxed)[usage]
             : "unknown";
}

void set_core_rank(std::uint32_t core, std::int32_t rank) {
  if (core < kMaxCores) g_ranks[core].store(rank + 1, std::memory_order_relaxed);
}

std::int32_t core_rank(std::uint32_t core) {
  return core < kMaxCores ? g_ranks[core].load(std::memory_order_relaxed) - 1 : -1;
}

}  // namespace opennrt::trace
