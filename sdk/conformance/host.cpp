// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <new>

#include "config/config.h"
#include "link/libraries.h"
#include "plugin/loader.h"

namespace opennrt::conform {

namespace {

// The loader of the runtime over the plugins that lie beside its library.
plugin::Loader& loader() {
  static plugin::Loader& configured = []() -> plugin::Loader& {
    config::Sources sources{.system_file = "", .environment = config::process_environment()};
    sources.environment.erase("OPENNRT_CONFIG");
    sources.environment.try_emplace("OPENNRT_EMULATOR_HBM_BYTES", "256M");
    sources.environment["OPENNRT_DEVICE"] = "emulator";
    std::string& path = sources.environment["OPENNRT_PLUGIN_PATH"];
    const std::string library = tools::own_library();
    if (!library.empty())
      path += (path.empty()                  ? ""
               : path.find(',') == path.npos ? ":"
                                             : ",") +
              (std::filesystem::path(library).parent_path() / "plugins").string();
    plugin::Loader& out = plugin::Loader::instance();
    const config::Loaded loaded = config::load(sources);
    out.configure(loaded.config);
    out.host_services().set_config(loaded.config);
    return out;
  }();
  return configured;
}

const nrtp_host& inner() {
  static const nrtp_host* table = loader().host();
  return *table;
}

}  // namespace

struct TestHost::State {
  std::mutex mutex;  // guards what follows
  std::vector<std::string> lines;
  std::map<void*, std::size_t> live;
};

TestHost& TestHost::instance() {
  static TestHost* const host = new TestHost;
  return *host;
}

TestHost::TestHost() : state_(new State) {
  table_ = inner();
  table_.self = this;
  table_.log = [](void* self, std::uint32_t level, const char*, const char* message) {
    State& state = *static_cast<TestHost*>(self)->state_;
    if (level > NRTP_LOG_WARN) return;
    std::lock_guard lock(state.mutex);
    if (state.lines.size() < 1000) state.lines.emplace_back(message != nullptr ? message : "");
  };
  table_.log_enabled = [](void*, std::uint32_t level, const char*) {
    return std::uint32_t{level <= NRTP_LOG_WARN};
  };
  table_.alloc = [](void* self, std::size_t bytes, std::size_t align) -> void* {
    auto* host = static_cast<TestHost*>(self);
    if (host->fail_) return nullptr;
    void* p = ::operator new(bytes, std::align_val_t(align < 16 ? 16 : align), std::nothrow);
    if (p == nullptr) return nullptr;
    std::lock_guard lock(host->state_->mutex);
    host->state_->live[p] = align < 16 ? 16 : align;
    return p;
  };
  table_.release = [](void* self, void* p) {
    State& state = *static_cast<TestHost*>(self)->state_;
    if (p == nullptr) return;
    std::lock_guard lock(state.mutex);
    const auto found = state.live.find(p);
    if (found == state.live.end()) std::abort();  // not allocated here, or released twice
    ::operator delete(p, std::align_val_t(found->second));
    state.live.erase(found);
  };
  table_.config_get = [](void*, const char* key, char* buf, std::size_t n) {
    return inner().config_get(inner().self, key, buf, n);
  };
  table_.now_ns = [](void*) { return inner().now_ns(inner().self); };
  table_.fault = [](void*, const char*) { return 0; };
  table_.arch = [](void*, std::uint32_t type) { return inner().arch(inner().self, type); };
  table_.arch_of_product = [](void*, const char* product) {
    return inner().arch_of_product(inner().self, product);
  };
}

std::vector<std::string> TestHost::take_log() {
  std::lock_guard lock(state_->mutex);
  return std::exchange(state_->lines, {});
}

std::size_t TestHost::live() const {
  std::lock_guard lock(state_->mutex);
  return state_->live.size();
}

const SoftwareDevice& software_device() {
  static const SoftwareDevice device = [] {
    SoftwareDevice out;
    auto found = loader().port("emulator");
    if (!found.is_ok()) {
      out.problem =
          "no software device (package opennrt-emulator): " + std::string(found.status().message());
      return out;
    }
    const nrtp_host* host = TestHost::instance().table();
    if (const int status = (*found)->attach(host, &out.ctx); status != 0) {
      out.problem = "the software device does not attach: " + std::to_string(status);
      for (const std::string& line : TestHost::instance().take_log()) out.problem += "; " + line;
      return out;
    }
    out.port = *found;
    return out;
  }();
  return device;
}

}  // namespace opennrt::conform
