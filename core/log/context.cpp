// SPDX-License-Identifier: Apache-2.0
#include "log/context.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

#include "log/bounded_lock.h"
#include "log/collector.h"
#include "log/hold_back.h"
#include "log/log.h"
#include "log/ring.h"

namespace opennrt::log {

namespace {

struct ThreadState {
  const char* api = nullptr;
  std::int32_t core = kNoCore;
  Collector* collector = nullptr;
  bool ending = false;  // the thread is
};
constinit thread_local ThreadState t_state;
constinit std::atomic<bool> g_coalesce{false};

// Frees the collector with its thread; lines that come later are not held back.
struct Owner {
  std::unique_ptr<Collector> collector = std::make_unique<Collector>();
  ~Owner() {
    t_state.collector = nullptr;
    t_state.ending = true;
  }
};

Collector* collector() {
  if (t_state.collector == nullptr && !t_state.ending) {
    thread_local Owner owner;
    t_state.collector = owner.collector.get();
  }
  return t_state.collector;
}

// Empty: nothing is held back.
std::string take_block() {
  Collector* const held = t_state.collector;
  if (held == nullptr || held->empty()) return {};
  std::string out = held->block();
  held->clear();
  return out;
}

struct Recent {
  static constexpr std::size_t kMost = 16;
  std::mutex mutex;  // guards lines
  std::deque<std::string> lines;
};
Recent& recent() {
  static Recent* const one = new Recent;
  return *one;
}

void remember(std::string_view api, std::string_view text) {
  std::string line = line_of_now(Module::kNrt, Level::kError, api, text.substr(0, kBodyBytes));
  Recent& r = recent();
  const BoundedLock lock(r.mutex);
  if (!lock) return;
  r.lines.push_back(std::move(line));
  if (r.lines.size() > Recent::kMost) r.lines.pop_front();
}

}  // namespace

CallContext::CallContext(const char* api) noexcept : outer_(t_state.api == nullptr) {
  if (!outer_) return;
  t_state.api = api;
  t_state.core = kNoCore;
}

CallContext::~CallContext() {
  if (!outer_) return;
  const char* const api = t_state.api;
  t_state.api = nullptr;
  Collector* const held = t_state.collector;
  if (held == nullptr || held->empty()) return;
  try {
    if (succeeded_) {
      write_console(Level::kWarn, held->lines());
      held->clear();
    } else {
      write_with_block(Module::kNlog, Level::kError, api, "Generic API Failure", take_block());
    }
  } catch (...) {  // out of memory: the lines went to the other sinks
    held->clear();
  }
}

const char* current_api() noexcept { return t_state.api; }
void set_core(std::int32_t core) noexcept { t_state.core = core; }
std::int32_t current_core() noexcept { return t_state.core; }
void set_coalescing(bool on) noexcept { g_coalesce.store(on, std::memory_order_relaxed); }

bool hold_back(Level level, std::string_view line) {
  if (level > Level::kWarn || t_state.api == nullptr || !g_coalesce.load(std::memory_order_relaxed))
    return false;
  Collector* const to = collector();
  if (to == nullptr) return false;
  to->add(line);
  return true;
}

void api_error(std::string_view api, const char* name, NRT_STATUS code, std::string_view message,
               Cause cause) noexcept {
  try {
    std::string text = fmt::format("{} ({}): {}", name, static_cast<int>(code), message);
    if (const std::string_view remedy = resolution(cause); !remedy.empty())
      text += fmt::format(" Resolution: {}", remedy);
    remember(api, text);
    const std::string block = take_block();
    if (enabled(Module::kNrt, Level::kError))
      write_with_block(Module::kNrt, Level::kError, api, text, block);
  } catch (...) {  // out of memory: the caller still gets the code
  }
}

std::vector<std::string> recent_failures() {
  Recent& r = recent();
  const BoundedLock lock(r.mutex);
  if (!lock) return {};
  return {r.lines.begin(), r.lines.end()};
}

}  // namespace opennrt::log
