// SPDX-License-Identifier: Apache-2.0
#include "plugin/host.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "base/keep.h"
#include "log/log.h"
#include "plugin/loader.h"

namespace opennrt::plugin {

namespace {

constinit thread_local CapturedErrors* t_captured = nullptr;

}  // namespace

CapturedErrors::CapturedErrors() : outer_(t_captured) { t_captured = this; }
CapturedErrors::~CapturedErrors() { t_captured = outer_; }

bool CapturedErrors::take(std::string_view text) noexcept {
  if (t_captured == nullptr) return false;
  try {
    std::string& all = t_captured->text_;
    if (!all.empty()) all += "; ";
    all += text;
    return true;
  } catch (...) {
    return false;
  }
}

struct Host::State {
  explicit State(Loader& l) : loader(l) {}
  Loader& loader;
  std::mutex mutex;  // guards config and faults
  std::shared_ptr<const config::Config> config;
  struct Fault {
    std::uint64_t calls_left;
    int status;
  };
  std::map<std::string, Fault, std::less<>> faults;
  std::atomic<bool> any_fault{false};

  static State& of(void* self) { return *static_cast<State*>(self); }

  static log::Level level_of(std::uint32_t level) {
    return static_cast<log::Level>(
        std::clamp<std::uint32_t>(level, NRTP_LOG_ERROR, NRTP_LOG_TRACE));
  }
  static log::Module module_of(const char* component) {
    return log::module_of(component != nullptr ? component : "").value_or(log::Module::kPlugin);
  }

  static void log_line(void*, std::uint32_t level, const char* component,
                       const char* msg) noexcept {
    const log::Module module = module_of(component);
    if (msg != nullptr && level <= NRTP_LOG_ERROR && CapturedErrors::take(msg)) return;
    if (msg != nullptr && log::enabled(module, level_of(level)))
      log::write_from_plugin(module, level_of(level), component != nullptr ? component : "plugin",
                             msg);
  }

  static std::uint32_t log_enabled(void*, std::uint32_t level, const char* component) noexcept {
    return log::enabled(module_of(component), level_of(level)) ? 1 : 0;
  }

  static void* alloc(void*, std::size_t bytes, std::size_t align) noexcept {
    void* p = nullptr;
    align = std::max(align, sizeof(void*));
    if ((align & (align - 1)) != 0) return nullptr;  // no such alignment
    return ::posix_memalign(&p, align, std::max<std::size_t>(bytes, 1)) == 0 ? p : nullptr;
  }

  static void release(void*, void* p) noexcept { ::free(p); }

  static int config_get(void* self, const char* key, char* buf, std::size_t n) noexcept {
    if (key == nullptr || buf == nullptr || n == 0) return NRTP_INVALID;
    try {
      std::shared_ptr<const config::Config> config;
      {
        const std::lock_guard lock(of(self).mutex);
        config = of(self).config;
      }
      const auto text = config ? config->get(key) : std::nullopt;
      if (!text) return NRTP_INVALID;
      if (text->size() + 1 > n) return NRTP_RESOURCE;
      memcpy(buf, text->c_str(), text->size() + 1);
      return NRTP_OK;
    } catch (...) {
      return NRTP_RESOURCE;
    }
  }

  static std::uint64_t now_ns(void*) noexcept {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(t.tv_nsec);
  }

  static int fault(void* self, const char* point) noexcept {
    State& s = of(self);
    if (!s.any_fault.load(std::memory_order_relaxed) || point == nullptr) return 0;
    const std::lock_guard lock(s.mutex);
    const auto found = s.faults.find(std::string_view(point));
    if (found == s.faults.end()) return 0;
    if (found->second.calls_left > 1) {
      --found->second.calls_left;
      return 0;
    }
    return found->second.status;
  }

  static const nrtp_arch_plugin* answer(Result<const nrtp_arch_plugin*> found) {
    if (found.is_ok()) return *found;
    if (!CapturedErrors::take(found.status().message()))
      ONRT_LOG(kPlugin, kError, "{}", found.status().message());
    return nullptr;
  }

  static const nrtp_arch_plugin* arch(void* self, std::uint32_t arch_type) noexcept {
    try {
      return answer(of(self).loader.arch(arch_type));
    } catch (...) {
      return nullptr;
    }
  }

  static const nrtp_arch_plugin* arch_of_product(void* self, const char* product) noexcept {
    try {
      return product == nullptr ? nullptr : answer(of(self).loader.arch_of_product(product));
    } catch (...) {
      return nullptr;
    }
  }
};

Host::Host(Loader& loader) : state_(keep_until_exit(std::make_unique<State>(loader))) {
  table_.size = sizeof table_;
  table_.abi_major = NRTP_ABI_MAJOR;
  table_.abi_minor = NRTP_ABI_MINOR;
  table_.self = state_;
  table_.log = &State::log_line;
  table_.log_enabled = &State::log_enabled;
  table_.alloc = &State::alloc;
  table_.release = &State::release;
  table_.config_get = &State::config_get;
  table_.now_ns = &State::now_ns;
  table_.fault = &State::fault;
  table_.arch = &State::arch;
  table_.arch_of_product = &State::arch_of_product;
}

void Host::set_config(std::shared_ptr<const config::Config> config) {
  const std::lock_guard lock(state_->mutex);
  state_->config.swap(config);
}

void Host::arm_fault(const std::string& point, std::uint64_t n, int status) {
  const std::lock_guard lock(state_->mutex);
  if (status == 0)
    state_->faults.erase(point);
  else
    state_->faults[point] = {n, status};
  state_->any_fault = !state_->faults.empty();
}

}  // namespace opennrt::plugin
